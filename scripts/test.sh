#!/bin/sh
# Runs the tests that are built, and says in the end what failed: the lines that matter are far up by then.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ swift test --skip-build --disable-xctest --no-parallel "$@" 2>&1; echo "exit $?"; } | tee "$log" | sed '/^exit [0-9]*$/d'
status=$(sed -n 's/^exit \([0-9]*\)$/\1/p' "$log" | tail -n 1)
if [ "$status" != 0 ]; then
    printf '\nWhat failed:\n'
    grep -E 'recorded an issue|Fatal error|error: Exited' "$log" | cut -c 1-600 | head -n 20
fi
exit "${status:-1}"
