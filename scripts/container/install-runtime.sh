#!/bin/sh
# Prepares the stage of the Dockerfile that the image's root is taken from: libraries and the user.
set -eu
export DEBIAN_FRONTEND=noninteractive

apt-get update -qq
# libcurl4, libssl3, libsqlite3-0, zlib1g and libmimalloc2.0 are linked by the binary; ca-certificates is the trust store upstreams are verified with;
# busybox-static is for people who look into a container.
apt-get install --yes -qq --no-install-recommends \
    libcurl4 libssl3 libsqlite3-0 zlib1g libmimalloc2.0 ca-certificates openssl busybox-static >/dev/null
rm -rf /var/lib/apt/lists/*

# A fixed number, so that a volume can be given the right owner from outside.
groupadd --gid 10001 layover
useradd --uid 10001 --gid layover --home-dir /data --no-create-home --shell /usr/sbin/nologin layover
