#!/bin/sh
# Breaks one rule after the other, and expects the simulation to notice. Every mutant in Tests/Mutants (scripts/mutate.py says what
# one is) is put into one build of a copy of the sources, behind a switch; the simulation is run with each, and must fail. A line
# `By: TESTS` in the words of a mutant names tests of the core that must fail in its place: what it breaks is too rare in the simulation.
#
# Usage: scripts/mutants.sh [NAME…]     the mutants by name, all of them by default
#   SIM_SEEDS   seeds that each mutant has to survive (default 600)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
work="$root/.build/mutants"
seeds=${SIM_SEEDS:-600}
export LAYOVER_ONLY=LayoverSimulationTests,LayoverCoreTests

# A copy of its own: what somebody edits meanwhile changes nothing here, and the other way round.
rm -rf "$work/tree"
mkdir -p "$work/tree/Tests"
cp -Rp "$root/Sources" "$work/tree/Sources"
cp -Rp "$root/Tests/LayoverTestSupport" "$root/Tests/LayoverSimulationTests" "$root/Tests/LayoverCoreTests" "$work/tree/Tests/"
cp -p "$root/Package.swift" "$work/tree/"
[ ! -f "$root/Package.resolved" ] || cp -p "$root/Package.resolved" "$work/tree/"
"$root/scripts/mutate.py" --switches "$work/tree" || exit 1
cd "$work/tree" || exit 1
if ! swift build --build-tests --scratch-path "$work/build" >"$work/build.log" 2>&1; then
    grep error: "$work/build.log" | sort -u | head -n 20
    exit 1
fi

# $1: the mutant; $2: seeds.
simulate() {
    run "$1" allInvariantsHoldForManySeeds "$2"
}

# $1: the mutant; $2: the tests; $3: seeds of the simulation.
run() {
    MUTANT=$1 SIM_SEEDS=${3:-$seeds} timeout 600 swift test --skip-build --disable-xctest --no-parallel \
        --scratch-path "$work/build" --filter "$2" >"$work/run.log" 2>&1
}

printf 'The simulation without a mutant: '
if ! simulate none "$seeds"; then
    echo 'does not pass; see below'
    tail -n 20 "$work/run.log"
    exit 1
fi
echo 'passes'

[ $# -gt 0 ] || set -- $(cd "$root/Tests/Mutants" && ls ./*.mutant | sed 's|^\./||; s|\.mutant$||')
bad=0
for name in "$@"; do
    tests=$(sed -n 's/^By: //p' "$root/Tests/Mutants/$name.mutant")
    # Most are found by the first seeds.
    if [ -n "$tests" ]; then run "$name" "$tests"; else simulate "$name" 60 && simulate "$name" "$seeds"; fi
    status=$?
    if [ $status = 0 ]; then
        result=survived
    elif [ -n "$tests" ] && grep -q 'recorded an issue' "$work/run.log"; then
        result="killed   by $tests"
    elif grep -q 'make sim SEED' "$work/run.log"; then
        result="killed   $(sed -n 's/^↳ \([A-Za-z]*\) at step.*/\1/p' "$work/run.log" | sort -u | tr '\n' ' ')"
    elif grep -q 'Assertion failed: from ' "$work/run.log"; then
        # The machine of an exchange refused a step that its table does not have.
        result="killed   transition $(sed -n 's/.*Assertion failed: from //p' "$work/run.log" | sort -u | tr '\n' ' ')"
    else
        result="crashed or hung (status $status)"
    fi
    case $result in killed*) ;; *) bad=$((bad + 1)) ;; esac
    printf '%-20s %s\n' "$name" "$result"
done
echo "mutants: $# tried, $bad not killed"
[ $bad = 0 ]
