#!/bin/sh
# Breaks one rule after the other, and expects the simulation to notice: each mutant in Tests/Mutants (scripts/mutate.py
# says what one is) is applied to a copy of the sources, the simulation is built and run, and must fail.
#
# Usage: scripts/mutants.sh [NAME…]     the mutants by name, all of them by default
#   SIM_SEEDS   seeds that each mutant has to survive (default 600)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
work="$root/.build/mutants"
seeds=${SIM_SEEDS:-600}
mkdir -p "$work/tree"

# A copy of its own: what somebody edits meanwhile changes nothing here, and the other way round.
fresh() {
    rm -rf "$work/tree/Sources" "$work/tree/Tests"
    mkdir -p "$work/tree/Tests"
    cp -Rp "$root/Sources" "$work/tree/Sources"
    cp -Rp "$root/Tests/LayoverSimulationTests" "$work/tree/Tests/"
    cp -p "$root/Package.swift" "$work/tree/"
    [ ! -f "$root/Package.resolved" ] || cp -p "$root/Package.resolved" "$work/tree/"
}

simulate() {
    cd "$work/tree" || return 2
    LAYOVER_ONLY=LayoverSimulationTests swift build --build-tests --scratch-path "$work/build" >"$work/build.log" 2>&1 || return 2
    LAYOVER_ONLY=LayoverSimulationTests SIM_SEEDS=$seeds timeout 600 swift test --skip-build --disable-xctest --no-parallel \
        --scratch-path "$work/build" --filter allInvariantsHoldForManySeeds >"$work/run.log" 2>&1
}

fresh
printf 'The simulation without a mutant: '
if ! simulate; then
    echo 'does not pass; see below'
    tail -n 20 "$work/build.log" "$work/run.log" 2>/dev/null
    exit 1
fi
echo 'passes'

[ $# -gt 0 ] || set -- $(cd "$root/Tests/Mutants" && ls ./*.mutant | sed 's|^\./||; s|\.mutant$||')
bad=0
for name in "$@"; do
    if ! "$root/scripts/mutate.py" "$name" "$work/tree"; then
        result='does not fit'
    else
        simulate
        status=$?
        if [ $status = 0 ]; then
            result=survived
        elif grep -q 'make sim SEED' "$work/run.log" && [ $status != 2 ]; then
            result="killed   $(sed -n 's/^↳ \([A-Za-z]*\) at step.*/\1/p' "$work/run.log" | sort -u | tr '\n' ' ')"
        elif [ $status = 2 ]; then
            result='does not build'
        else
            result="crashed or hung (status $status)"
        fi
    fi
    case $result in killed*) ;; *) bad=$((bad + 1)) ;; esac
    printf '%-20s %s\n' "$name" "$result"
    fresh
done
echo "mutants: $# tried, $bad not killed"
[ $bad = 0 ]
