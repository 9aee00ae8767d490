#!/usr/bin/env -S python3 -B
"""Runs the tests that are built, and says in the end what failed: the lines that matter are far up by then.

Most tests wait for sockets and clocks, so several processes take one batch of suites after the other from a list. Inside a process one test
runs after the other. What needs the machine for itself runs alone in the end. A test that failed then runs three times by itself: if it
passes each time it is unsteady, which the last lines say, and the run passes with it (docs/decisions/0098-unsteady-tests.md).

Usage: scripts/test.py                      all of them, by PROCESSES processes (default: 4; 1: one test after the other);
                                            STEADY=1: unsteady tests fail the run
       scripts/test.py quick                the units that need no sockets, and one story
       scripts/test.py --filter F --skip S  some of them, in one process
"""

import os
import re
import subprocess
import sys
import threading
import time

BUNDLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".build", "debug", "layoverPackageTests.xctest")
COMMAND = [BUNDLE, "--testing-library", "swift-testing"]
UNITS = "Core|HTTP|Text|Configuration|Engine|Replay|Command|System"
# Suites that take more than ten seconds.
QUICK_SKIPS = "PendingWalkTests|ManyTicketsTests|PageSelectionTests|BulkOrderTests|ReloaderTests|StrangeConfigurationTests"
QUICK = [
    ["--filter", "postArrivesOnceAndComplete"],
    ["--filter", f"Layover({UNITS})Tests|RetryTests", "--skip", QUICK_SKIPS],
]
# These load the machine, or measure what it uses.
ALONE = re.compile(r"\b(CrashTests|MemoryTests)\b")
END_TO_END = "LayoverEndToEndTests"
# Batches with one of these take over two minutes, and begin first.
LONGEST = re.compile(r"\b(SimulationTests|SchemathesisTests|AuthorityVariablesTests|EndToEnd/Direct|EarlyResponseTests|PendingWalkTests)$")
# Tests of a batch, when it has several suites. Default: 60. The start of a process takes 0.4 seconds.
BATCH_MAX = 60
# A test may have any of these words in its name but the punctuation.
FAILURES = re.compile(r"recorded an issue|failed after .* issues?\.$|Fatal error: |\*\*\* (Program crashed|Signal)|^Program crashed: ")
# The failures that name a test, and those that only count them.
FAILED_TEST = re.compile(r"Test (\w+)\(.*(recorded an issue|failed after )")
COUNTS = re.compile(r"(Suite \w+|Test run with .*) failed after .* issues?\.$")
# How often a failed test runs by itself.
REPEATS = 3
# Unsteady tests with which a run passes. Default: 2.
UNSTEADY_MAX = 2
# Lines of failures that are shown again. Default: 40.
FAILURES_SHOWN = 40


def suites(listed):
    """The suites in the output of --list-tests, and how many tests each has."""
    counts = {}
    for line in listed.splitlines():
        if re.match(r"\w+Tests\.", line):
            suite = line.rsplit("/", 1)[0]
            counts[suite] = counts.get(suite, 0) + 1
    return counts


def batches(counts):
    """What runs side by side, and what runs alone: lists of suites.

    The longest come first, then those from end to end, each by itself. The others come in batches of one target.
    """
    ends, others, alone = [], {}, []
    for suite, count in counts.items():
        target = suite.split(".")[0]
        if ALONE.search(suite):
            alone.append([suite])
        elif target == END_TO_END:
            ends.append((count, [suite]))
        else:
            parts = others.setdefault(target, [[0, []]])
            if parts[-1][1] and parts[-1][0] + count > BATCH_MAX:
                parts.append([0, []])
            parts[-1][0] += count
            parts[-1][1].append(suite)
    ends.sort(key=lambda end: -end[0])
    together = [batch for _, batch in ends] + [batch for parts in others.values() for _, batch in parts]
    together.sort(key=lambda batch: not any(LONGEST.search(suite) for suite in batch))
    return together, alone


ANY_TEST = "[^/]+"


def only(batch):
    """The arguments for the tests of these suites, without those of suites inside them."""
    return ["--filter", "^(" + "|".join(re.escape(suite) for suite in batch) + f")/{ANY_TEST}[(]"]


class Run:
    """One process of tests, whose lines are passed on."""

    def __init__(self, arguments):
        self.arguments, self.failures, self.count, self.result = arguments, [], 0, "no test ran"
        # Programs from end to end have time limits of their own: they get the processor first.
        niceness = "0" if END_TO_END in " ".join(arguments) else "5"
        self.process = subprocess.Popen(
            ["nice", "-n", niceness, *COMMAND, "--no-parallel", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end(self):
        """Waits for the end, and returns the lines that tell of failures."""
        with self.process.stdout as lines:
            for line in lines:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
                text = line.decode(errors="replace").rstrip()
                if FAILURES.search(text):
                    self.failures.append(text[:600])
                if found := re.search(r"Test run with (\d+) test", text):
                    self.count, self.result = int(found[1]), text
        status = self.process.wait()
        if status < 0:
            self.failures.append(f"ended by signal {-status}")
        if not self.failures and (status or not self.count):
            self.failures.append(self.result)
        return self.failures

    def failed_tests(self):
        """The names of the tests that failed; none if something else failed, too, as in a crash."""
        lines = [line for line in self.failures if not COUNTS.search(line)]
        names = [FAILED_TEST.search(line) for line in lines]
        return {name[1] for name in names} if all(names) else set()

    def is_unsteady(self):
        """Whether each test that failed passes by itself, REPEATS times."""
        names = self.failed_tests()
        for name in names:
            print(f"\n{name} failed, and runs {REPEATS} times by itself", flush=True)
            again = [argument.replace(ANY_TEST, name) for argument in self.arguments]
            if any(Run(again).end() for _ in range(REPEATS)):
                return False
        return bool(names)


class Pool:
    """Processes that take their arguments from a list until it is empty."""

    def __init__(self, work):
        self.work, self.lock, self.running = list(reversed(work)), threading.Lock(), set()
        self.failed, self.count = [], 0

    def run(self, processes):
        threads = [threading.Thread(target=self.drain, daemon=True) for _ in range(processes)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            with self.lock:
                self.work.clear()
                for run in self.running:
                    run.process.terminate()
            raise
        return self

    def drain(self):
        while True:
            with self.lock:
                if not self.work:
                    return
                run = Run(self.work.pop())
                self.running.add(run)
            failures = run.end()
            with self.lock:
                self.running.discard(run)
                self.count += run.count
                if failures:
                    self.failed.append(run)


def failures_of(runs, may_be_unsteady):
    """The lines of the runs that failed, and the lines of those whose tests are only unsteady."""
    failures, unsteady, names = [], [], set()
    for run in runs:
        tests = run.failed_tests()
        if may_be_unsteady and tests and len(names | tests) <= UNSTEADY_MAX and run.is_unsteady():
            names |= tests
            unsteady += run.failures
        else:
            failures += run.failures
    return failures, unsteady


def main(arguments):
    began = time.monotonic()
    expected = None
    if arguments == ["quick"]:
        pools = [Pool(QUICK).run(2)]
    elif arguments:
        pools = [Pool([arguments]).run(1)]
    else:
        counts = suites(subprocess.run([*COMMAND, "--list-tests"], stdout=subprocess.PIPE, check=True, text=True).stdout)
        expected = sum(counts.values())
        together, alone = batches(counts)
        pools = [
            Pool([only(batch) for batch in together]).run(int(os.environ.get("PROCESSES", "4"))), Pool([only(batch) for batch in alone]).run(1),
        ]
    failed = [run for pool in pools for run in pool.failed]
    failures, unsteady = failures_of(failed, may_be_unsteady=expected is not None and not os.environ.get("STEADY"))
    count = sum(pool.count for pool in pools)
    if expected is not None and count != expected:
        failures.append(f"{expected} tests are listed, {count} ran")
    if failures:
        print("\nWhat failed:", *failures[:FAILURES_SHOWN], sep="\n")
    if unsteady:
        print(f"\nUnsteady: failed once, then passed {REPEATS} times. The cause is a fault of the test or of Layover:", *unsteady, sep="\n")
    print(f"{count} tests in {time.monotonic() - began:.0f} s: {'failed' if failures else 'passed'}{', with unsteady ones' if unsteady else ''}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
