#!/bin/sh
# Makes a folder with Python packages: venv.sh NAME REQUIREMENTS. Prints the path of its python.
#
# It is made once for each content of the requirements, below .build, and needs PyPI then.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder="$root/.build/python/$1"
if ! cmp -s "$2" "$folder/requirements.txt"; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$2" >&2; then
        echo "venv.sh: the Python packages of $2 cannot be installed; they come from PyPI" >&2
        exit 1
    fi
    cp "$2" "$folder/requirements.txt"
fi
echo "$folder/bin/python"
