#!/bin/sh
# Runs a build, and fails if it shows a warning of our own code. A file that is not compiled anew shows none.
#
# Usage: scripts/without-warnings.sh COMMAND...
set -eu
cd "$(dirname "$0")/.."
mkdir -p .build
output=.build/build-output.txt
status=.build/build-status.txt
{ "$@" && echo 0 >"$status" || echo $? >"$status"; } 2>&1 | tee "$output"
[ "$(cat "$status")" = 0 ] || exit "$(cat "$status")"
if grep -E "^$(pwd)/(Package|Sources|Tests)[^:]*:[0-9]+:[0-9]+: warning:" "$output" | sort -u >"$status.warnings" && [ -s "$status.warnings" ]; then
    echo "Warnings of our own code:" >&2
    cat "$status.warnings" >&2
    exit 1
fi
