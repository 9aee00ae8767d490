#!/bin/sh
# Writes a local apt repository with one tiny package: make_apt_repository.sh FOLDER
set -eu
root=$1/apt
mkdir -p "$root/tree/DEBIAN" "$root/tree/usr/share/layover-demo"
echo "it arrived" > "$root/tree/usr/share/layover-demo/note"
cat > "$root/tree/DEBIAN/control" <<CONTROL
Package: layover-demo
Version: 1.0
Architecture: all
Maintainer: Nobody <nobody@example.com>
Description: a package for a test
CONTROL
dpkg-deb --build --root-owner-group "$root/tree" "$root/layover-demo_1.0_all.deb" >/dev/null
{
    cat "$root/tree/DEBIAN/control"
    echo "Filename: ./layover-demo_1.0_all.deb"
    echo "Size: $(stat -c %s "$root/layover-demo_1.0_all.deb")"
    echo "SHA256: $(sha256sum "$root/layover-demo_1.0_all.deb" | cut -d ' ' -f 1)"
} > "$root/Packages"
rm -r "$root/tree"
