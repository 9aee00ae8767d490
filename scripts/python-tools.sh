#!/bin/sh
# Makes the virtual environment of a Python tool that tests use, and prints its folder: `python-tools.sh NAME`.
#
# It has exactly what Tests/Fixtures/NAME/requirements.txt lists, and lies in .build/python/NAME. An environment that is
# whole and has the same list is taken as it is, without the network.
set -eu
name=${1:?usage: python-tools.sh NAME}
root=$(cd "$(dirname "$0")/.." && pwd)
list="$root/Tests/Fixtures/$name/requirements.txt"
folder="$root/.build/python/$name"
done="$folder/requirements.txt"

if [ -f "$done" ] && cmp -s "$list" "$done"; then
    echo "$folder"
    exit 0
fi
# Where two tests ask at the same time, the second one waits for the first.
mkdir -p "$root/.build/python"
exec 9> "$root/.build/python/$name.lock"
flock 9
if [ ! -f "$done" ] || ! cmp -s "$list" "$done"; then
    rm -rf "$folder"
    if ! /usr/bin/python3 -m venv "$folder" >&2; then
        echo "python-tools.sh: no virtual environment could be made; the Debian package python3-venv is needed (make setup)" >&2
        exit 1
    fi
    if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --retries 2 --requirement "$list" >&2; then
        echo "python-tools.sh: $name could not be installed from PyPI. Is the network there, and does pip reach pypi.org?" >&2
        exit 1
    fi
    cp "$list" "$done"
fi
echo "$folder"
