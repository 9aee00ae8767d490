#!/bin/sh
# Packs the release binary, man page, completions and units: .build/package/layover-VERSION-linux-MACHINE.tar.gz.
set -eu
cd "$(dirname "$0")/../.."
version=$(.build/release/layover --version | sed 's/^layover //')
name="layover-$version-linux-$(uname -m)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
scripts/package/tree.sh "$work/$name"
cp README.md CHANGELOG.md "$work/$name/"
mkdir -p .build/package
tar --create --gzip --file ".build/package/$name.tar.gz" --directory "$work" --owner=0 --group=0 --sort=name "$name"
echo ".build/package/$name.tar.gz"
