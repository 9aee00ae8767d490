#!/bin/sh
# Lays out what is installed: tree.sh FOLDER. The release binary has to be built.
set -eu
cd "$(dirname "$0")/../.."
root=$1
binary=.build/release/layover
install -D --strip --mode 755 "$binary" "$root/usr/bin/layover"
mkdir -p "$root/usr/share/man/man1"
scripts/package/manpage.py "$binary" | gzip -9n > "$root/usr/share/man/man1/layover.1.gz"
for shell in bash zsh fish; do
    case $shell in
        bash) file=usr/share/bash-completion/completions/layover ;;
        zsh) file=usr/share/zsh/vendor-completions/_layover ;;
        fish) file=usr/share/fish/vendor_completions.d/layover.fish ;;
    esac
    mkdir -p "$(dirname "$root/$file")"
    # A file that is sourced needs no interpreter line.
    "$binary" completions "$shell" | sed "1{/^#!/d}" > "$root/$file"
done
install -D --mode 644 packaging/systemd/layover.service "$root/lib/systemd/system/layover.service"
install -D --mode 644 packaging/systemd/layover.socket "$root/lib/systemd/system/layover.socket"
install -D --mode 644 packaging/systemd/layover-user.service "$root/usr/lib/systemd/user/layover.service"
scripts/package/notices.py "$root/usr/share/doc/layover/THIRD-PARTY-NOTICES"
install -D --mode 644 packaging/config.json "$root/etc/layover/config.json"
