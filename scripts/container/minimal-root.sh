#!/bin/sh
# Makes the root of the image in a folder: the binary that is given, the libraries that it loads, the trusted certificates, the
# user, and busybox for `docker exec … sh`. Nothing else of the Debian that it runs in comes along.
#
#     minimal-root.sh FOLDER [BINARY]
set -eu
root=$1
binary=${2:-/usr/local/bin/layover}

# Copies a file with the folders above it; a symbolic link becomes the file that it names.
take() { install -D --preserve-timestamps --mode "$(stat --dereference --format %a "$1")" "$1" "$root$1"; }

install -D --mode 0755 "$binary" "$root/usr/local/bin/layover"
# As in Debian, so that a library has one place, whichever of its names the loader uses.
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/sbin"
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$root/$name"; done

# The loader has no arrow in the output of ldd. libgcc_s is loaded by name when a thread is cancelled.
ldd "$binary" | sed -n 's|^[^/]*\(/[^ ]*\) (.*|\1|p' | while read -r library; do take "$library"; done
take "$(ldconfig -p | sed -n 's|^[[:space:]]*libgcc_s\.so\.1 .*=> ||p' | head -n 1)"

take /etc/ssl/certs/ca-certificates.crt
take /etc/ssl/openssl.cnf
mkdir -p "$root/usr/lib/ssl"
ln -s /etc/ssl/certs /etc/ssl/openssl.cnf "$root/usr/lib/ssl/"
take /etc/nsswitch.conf
take /usr/bin/busybox
chroot "$root" /usr/bin/busybox --install -s /usr/bin

# What the licences of all this ask to be kept.
find "$root/usr/bin/busybox" "$root/usr/lib" -type f | sed "s|^$root||" | while read -r file; do
    # Before and after the move of /lib below /usr.
    dpkg-query --search "$file" "${file#/usr}" 2>/dev/null | sed -n 's|^\([^:]*\):.*|\1|p'
done | sort -u | while read -r package; do take "/usr/share/doc/$package/copyright"; done

grep -E '^(root|layover):' /etc/passwd > "$root/etc/passwd"
grep -E '^(root|layover):' /etc/group > "$root/etc/group"
install --directory --mode 1777 "$root/tmp"
install --directory --owner layover --group layover --mode 0700 "$root/data"
