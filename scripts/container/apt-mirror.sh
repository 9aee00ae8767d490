#!/bin/sh
# Prints the Debian mirror that apt is set up with on this machine, for a release (default bookworm).
#
# Nothing is asked over the network. Where apt has none for that release, the name that serves all of Debian.
set -eu
release=${1:-bookworm}
mirror=$(apt-get --print-uris update 2>/dev/null |
    sed -n "s|^'\(https\{0,1\}://.*\)/dists/$release/InRelease'.*|\1|p" | head -n 1)
echo "${mirror:-http://deb.debian.org/debian}"
