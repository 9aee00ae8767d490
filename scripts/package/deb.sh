#!/bin/sh
# Builds the Debian package from the release binary: .build/package/layover_VERSION_ARCHITECTURE.deb. VERSION= overrides the program's.
set -eu
cd "$(dirname "$0")/../.."
version=${VERSION:-$(.build/release/layover --version | sed 's/^layover //')}
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root="$work/root"
mkdir -p "$root/DEBIAN" "$work/debian" .build/package
# Whatever the umask of the caller is.
chmod 755 "$root"
umask 022
scripts/package/tree.sh "$root"

# Which packages have the libraries that the binary is linked to.
touch "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "root/usr/bin/layover" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
size=$(du -sk --apparent-size "$root" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" -e "s/@DEPENDS@/$depends/" \
    packaging/debian/control > "$root/DEBIAN/control"
for script in postinst prerm postrm; do install --mode 755 "packaging/debian/$script" "$root/DEBIAN/$script"; done
echo /etc/layover/config.json > "$root/DEBIAN/conffiles"
documents="$root/usr/share/doc/layover"
install -D --mode 644 packaging/debian/copyright "$documents/copyright"
{
    echo "layover ($version) stable; urgency=medium"
    echo
    echo "  * See CHANGELOG.md of the project."
    echo
    echo " -- The Layover authors <maintainers@layover.example>  $(date --utc --date="@$(git log -1 --format=%ct 2>/dev/null || date +%s)" -R)"
} | gzip -9n > "$documents/changelog.gz"
install -D --mode 644 packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/layover"
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
package=".build/package/layover_${version}_$architecture.deb"
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package"
