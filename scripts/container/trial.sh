#!/bin/sh
# Builds the image where no registry can be reached, and runs it once.
#
# The two images the Dockerfile starts from are made here under the same names: a minimal Debian by
# debootstrap, and for the build stage the same with the Swift toolchain of this machine. Needs root.
# Everything lies in one folder (LAYOVER_TRIAL, default /var/tmp/layover-trial), which may be removed.
set -eu
cd "$(dirname "$0")/../.."
scripts/setup.sh container

folder=${LAYOVER_TRIAL:-/var/tmp/layover-trial}
# The one that apt uses here, which may be the only one that this machine reaches. DEBIAN_MIRROR names another one.
mirror=${DEBIAN_MIRROR:-$(scripts/container/apt-mirror.sh bookworm)}
mkdir -p "$folder"
# Storage of its own: the machine's images, if it has any, are not touched.
export CONTAINERS_STORAGE_CONF="$folder/storage.conf"
cat > "$CONTAINERS_STORAGE_CONF" <<STORAGE
[storage]
driver = "vfs"
graphroot = "$folder/storage"
runroot = "$folder/run"
STORAGE
export BUILDAH_ISOLATION=chroot
image=layover:0.1

have() { buildah images --quiet "$1" >/dev/null 2>&1; }

if ! have debian:bookworm-slim; then
    [ -e "$folder/debian/etc/debian_version" ] ||
        debootstrap --variant=minbase bookworm "$folder/debian" "$mirror" >"$folder/debootstrap.log"
    base=$(buildah from scratch)
    buildah add --quiet "$base" "$folder/debian" /
    buildah commit --quiet --rm "$base" debian:bookworm-slim
fi

if ! have swift:6.3-bookworm; then
    toolchain=$(dirname "$(dirname "$(command -v swift)")")
    base=$(buildah from --pull-never debian:bookworm-slim)
    # What the official image installs beside the toolchain, as far as a build needs it.
    buildah run "$base" -- sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install \
        --yes -qq --no-install-recommends binutils-gold ca-certificates git libc6-dev libcurl4-openssl-dev \
        libedit2 libgcc-12-dev libncurses6 libpython3.11 libsqlite3-0 libstdc++-12-dev libxml2-dev libz3-4 \
        pkg-config tzdata zlib1g-dev >/dev/null'
    buildah add --quiet "$base" "$toolchain" /usr
    # What this machine trusts, for a mirror of the dependencies that has a private authority.
    buildah add --quiet "$base" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
    buildah commit --quiet --rm "$base" swift:6.3-bookworm
fi

started=$(date +%s)
# LAYOVER_TRIAL_VOLUMES names what the build must see of this machine, as `from:to:ro`, for instance a
# git configuration that points to a local mirror of the dependencies, and that mirror.
set --
for volume in ${LAYOVER_TRIAL_VOLUMES:-}; do set -- "$@" --volume "$volume"; done
buildah build --format docker --pull-never "$@" --tag "$image" .
echo "built $image in $(($(date +%s) - started)) s"
buildah images "$image"

# The image is run as its own user, with its own command, in a container of chroot isolation: it has
# this machine's network, so ports other than the usual ones keep out of the way of what runs here.
container=$(buildah from --pull-never "$image")
buildah run "$container" -- layover version
buildah run "$container" -- sh -c 'id; ls -ld /data'
proxy=${LAYOVER_TRIAL_PROXY_PORT:-18080}
admin=${LAYOVER_TRIAL_ADMIN_PORT:-18081}
origin=${LAYOVER_TRIAL_ORIGIN_PORT:-18082}
buildah run "$container" -- sh -c "
    layover run --config /etc/layover/config.json --listen 0.0.0.0:$proxy --admin 127.0.0.1:$admin --port-file /data/ports &
    running=\$!
    tries=0
    until LAYOVER_ADMIN_URL=http://127.0.0.1:$admin layover healthcheck; do
        tries=\$((tries + 1)); [ \$tries -lt 50 ] || exit 1; sleep 0.1
    done
    echo 'healthcheck passed'; cat /data/ports
    busybox httpd -f -p 127.0.0.1:$origin -h /etc/layover &
    files=\$!
    http_proxy=http://127.0.0.1:$proxy busybox wget -q -O - http://127.0.0.1:$origin/config.json >/dev/null
    echo 'a request went through'; kill \$files
    kill -TERM \$running; wait \$running; echo \"ended with \$?\""
buildah rm "$container" >/dev/null
