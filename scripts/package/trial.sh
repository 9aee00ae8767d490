#!/bin/sh
# Installs, runs, upgrades, removes and purges the Debian package in a root made by debootstrap. Needs root. The binary and the package
# have to be built.
#
# Everything lies in one folder (LAYOVER_PACKAGE_TRIAL, default /var/tmp/layover-package), which may be removed.
set -eu
cd "$(dirname "$0")/../.."
folder=${LAYOVER_PACKAGE_TRIAL:-/var/tmp/layover-package}
mirror=${DEBIAN_MIRROR:-$(scripts/container/apt-mirror.sh bookworm)}
root="$folder/root"
started=""
finish() {
    for pid in $started; do kill "$pid" 2>/dev/null || true; done
    umount "$root/proc" 2>/dev/null || true
}
trap finish EXIT
fail() { echo "test-package: $1" >&2; exit 1; }
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

echo "checking the package"
package=$(scripts/package/deb.sh)
newer=$(VERSION=999.0 scripts/package/deb.sh)
lintian --fail-on error "$package"
units=$(mktemp -d)
cp packaging/systemd/layover.service packaging/systemd/layover.socket "$units/"
systemd-analyze security --offline=true --threshold=20 "$units/layover.service" > "$folder.units" || { tail -n 3 "$folder.units"; fail "the unit is too open"; }
tail -n 1 "$folder.units"
sed -i 's|^ExecStart=/usr/bin/layover|ExecStart=/bin/true|' "$units/layover.service"
systemd-analyze verify --man=no "$units/layover.service" "$units/layover.socket" 2>&1 | grep -i layover && fail "the units are not right"
scripts/package/manpage.py .build/release/layover > "$units/layover.1"
groff -man -ww -Tutf8 -z "$units/layover.1" 2> "$units/warnings"
[ ! -s "$units/warnings" ] || { cat "$units/warnings"; fail "the man page has errors"; }
rm -rf "$units" "$folder.units"

promtool check rules packaging/prometheus/alerts.yaml
python3 - <<'END'
import json, yaml
for path in ("packaging/compose/compose.yaml", "packaging/kubernetes/sidecar.yaml"):
    with open(path) as file:
        documents = list(yaml.safe_load_all(file))
    assert documents and all(documents), path
with open("packaging/grafana/dashboard.json") as file:
    assert json.load(file)["panels"]
END

echo "making a fresh root"
rm -rf "$root"
mkdir -p "$root"
debootstrap --variant=minbase bookworm "$root" "$mirror" > "$folder/debootstrap.log" || fail "debootstrap: see $folder/debootstrap.log"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/layover.deb"
cp "$newer" "$root/layover-newer.deb"

echo "installing"
in_root apt-get install --yes -qq --no-install-recommends ./layover.deb > "$folder/install.log" 2>&1 || { cat "$folder/install.log"; fail "apt-get install"; }
in_root getent passwd layover > /dev/null || fail "there is no user"
[ "$(in_root stat -c '%U %a' /var/lib/layover)" = "layover 700" ] || fail "the folder of the state"
for notice in "Gwendal" "The SwiftNIO Project" "Apache License"; do
    grep -q "$notice" "$root/usr/share/doc/layover/THIRD-PARTY-NOTICES" || fail "the notices lack: $notice"
done
for file in /usr/share/man/man1/layover.1.gz /usr/share/bash-completion/completions/layover /usr/share/zsh/vendor-completions/_layover \
    /usr/share/fish/vendor_completions.d/layover.fish /lib/systemd/system/layover.service /usr/lib/systemd/user/layover.service; do
    [ -s "$root$file" ] || fail "$file is missing"
done

echo "the tour, as the user of the service"
proxy=$(free_port) admin=$(free_port) server=$(free_port)
as_service="setpriv --reuid layover --regid layover --init-groups env STATE_DIRECTORY=/var/lib/layover"
in_root $as_service layover run --config /etc/layover/config.json --listen "127.0.0.1:$proxy" --admin "127.0.0.1:$admin" > "$folder/run.log" 2>&1 &
started="$started $!"
wait_for() { # WHAT COMMAND…
    what=$1
    shift
    end=$(($(date +%s) + 30))
    until "$@" > "$folder/wait.log" 2>&1; do
        [ "$(date +%s)" -lt "$end" ] || { cat "$folder/wait.log" "$folder/run.log"; fail "$what, not in time"; }
        sleep 0.1
    done
}
layover() { in_root env "LAYOVER_ADMIN_URL=http://127.0.0.1:$admin" layover "$@"; }
wait_for "the proxy runs" layover healthcheck
curl --silent --show-error --noproxy '' --proxy "http://127.0.0.1:$proxy" "http://127.0.0.1:$server/" > "$folder/answer" &
client=$!
wait_for "the request is parked" sh -c "chroot '$root' /usr/bin/layover pending --admin-url http://127.0.0.1:$admin --json | grep -q waiting"
mkdir -p "$folder/site" && echo "hello from the server" > "$folder/site/index.html"
python3 -m http.server "$server" --bind 127.0.0.1 --directory "$folder/site" > /dev/null 2>&1 &
started="$started $!"
wait_for "the server listens" curl --silent --noproxy '*' "http://127.0.0.1:$server/"
layover retry --all > /dev/null || true
wait "$client"
grep -q "hello from the server" "$folder/answer" || fail "the response of the tour"
kill $(pgrep --full "layover run --config /etc/layover/config.json --listen 127.0.0.1:$proxy") 2>/dev/null || true

echo "upgrading, removing, purging"
echo '{ "proxy": { "listen": "127.0.0.1:18099" } }' > "$root/etc/layover/config.json"
in_root dpkg --force-confold --install ./layover-newer.deb > "$folder/upgrade.log" 2>&1 || { cat "$folder/upgrade.log"; fail "the upgrade"; }
grep -q 18099 "$root/etc/layover/config.json" || fail "the upgrade overwrote the configuration"
[ -s "$root/var/lib/layover/layover.sqlite" ] || fail "the upgrade lost the store"
in_root apt-get remove --yes -qq layover > "$folder/remove.log" 2>&1 || { cat "$folder/remove.log"; fail "the removal"; }
[ ! -e "$root/usr/bin/layover" ] || fail "the removal left the binary"
[ -e "$root/etc/layover/config.json" ] && [ -e "$root/var/lib/layover/layover.sqlite" ] || fail "the removal took configuration or state"
in_root apt-get purge --yes -qq layover > "$folder/purge.log" 2>&1 || { cat "$folder/purge.log"; fail "the purge"; }
for place in /etc/layover /var/lib/layover; do [ ! -e "$root$place" ] || fail "the purge left $place"; done
rm -f "$newer"
echo "test-package: installed, toured, upgraded, removed and purged"
