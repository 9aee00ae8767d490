#!/bin/sh
# Prepares the runtime stage of the Dockerfile: libraries, the user, the data folder.
set -eu
export DEBIAN_FRONTEND=noninteractive

apt-get update -qq
# libcurl4, libssl3, libsqlite3-0, zlib1g and libmimalloc2.0 are linked by the binary; ca-certificates is the trust store upstreams are verified with.
apt-get install --yes -qq --no-install-recommends libcurl4 libssl3 libsqlite3-0 zlib1g libmimalloc2.0 ca-certificates >/dev/null
rm -rf /var/lib/apt/lists/*

# A fixed number, so that a volume can be given the right owner from outside.
groupadd --gid 10001 layover
useradd --uid 10001 --gid layover --home-dir /data --no-create-home --shell /usr/sbin/nologin layover
install --directory --owner layover --group layover --mode 0700 /data
