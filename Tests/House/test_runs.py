"""How a run of tests is divided, and what it and a build say in the end."""

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")


def loaded():
    spec = importlib.util.spec_from_file_location("test_script", os.path.join(SCRIPTS, "test.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = loaded()


class Batches(unittest.TestCase):
    LISTED = """\
Build complete!
LayoverCoreTests.GateTests/opens()
LayoverCoreTests.GateTests/shuts(kind:)
LayoverCoreTests.OrderTests/byPriority()
LayoverEndToEndTests.CrashTests/nothingIsLost()
LayoverEndToEndTests.EndToEnd/runs()
LayoverEndToEndTests.EndToEnd/Stories/held()
LayoverEndToEndTests.EndToEnd/Stories/paid()
"""

    def test_every_suite_is_in_one_batch(self):
        counts = script.suites(self.LISTED)
        self.assertEqual(sum(counts.values()), 7)
        together, alone = script.batches(counts)
        self.assertEqual(
            together, [
                ["LayoverEndToEndTests.EndToEnd/Stories"], ["LayoverEndToEndTests.EndToEnd"],
                ["LayoverCoreTests.GateTests", "LayoverCoreTests.OrderTests"],
            ])
        self.assertEqual(alone, [["LayoverEndToEndTests.CrashTests"]])

    def test_the_longest_begin_first(self):
        counts = {"LayoverCoreTests.GateTests": 9, "LayoverEndToEndTests.EndToEnd/Stories": 3, "LayoverSimulationTests.SimulationTests": 1}
        self.assertEqual(script.batches(counts)[0][0], ["LayoverSimulationTests.SimulationTests"])

    def test_a_batch_has_a_limit(self):
        counts = {f"LayoverCoreTests.Suite{number}": 25 for number in range(5)}
        self.assertEqual([len(batch) for batch in script.batches(counts)[0]], [2, 2, 1])

    def test_a_batch_is_chosen_without_the_suites_inside(self):
        _, pattern = script.only(["LayoverEndToEndTests.EndToEnd"])
        self.assertTrue(re.search(pattern, "LayoverEndToEndTests.EndToEnd/runs()/EndToEnd.swift:7:4"))
        self.assertFalse(re.search(pattern, "LayoverEndToEndTests.EndToEnd/Stories/held()/Stories.swift:7:4"))
        self.assertFalse(re.search(pattern, "LayoverEndToEndTests.EndToEndOther/runs()/Other.swift:7:4"))


@contextlib.contextmanager
def scripted():
    """The test bundle is a shell script that is told by its last argument what to say. What it says is not shown."""
    command, real = script.COMMAND, sys.stdout
    script.COMMAND = ["sh", "-c", 'eval "$3"', "sh"]
    try:
        with open(os.devnull, "w", encoding="utf-8") as sys.stdout:
            yield
    finally:
        script.COMMAND, sys.stdout = command, real


class Pools(unittest.TestCase):

    def run_all(self, *work):
        with scripted():
            return script.Pool([["--filter", one] for one in work]).run(3)

    def failures(self, work):
        return self.run_all(work).failed[0].failures

    def test_all_batches_run(self):
        pool = self.run_all(*["echo Test run with 2 tests in 1 suite passed"] * 7)
        self.assertEqual((pool.count, pool.failed), (14, []))

    def test_a_failure_is_told(self):
        pool = self.run_all(
            "echo Test run with 1 test passed", "echo '✘ Test a() recorded an issue at A.swift:1:1: no'; echo Test run with 1 test failed; exit 1")
        self.assertEqual(len(pool.failed), 1)
        self.assertIn("recorded an issue", pool.failed[0].failures[0])

    def test_a_process_that_crashes_or_runs_nothing_is_a_failure(self):
        self.assertEqual(self.failures("kill -9 $$"), ["ended by signal 9"])
        self.assertEqual(self.failures("echo Test run with 0 tests passed"), ["Test run with 0 tests passed"])
        self.assertEqual(self.failures("exit 3"), ["no test ran"])


class Unsteady(unittest.TestCase):
    """A test that failed runs by itself, by the arguments of its process with its name in place of any name."""

    SAYS = "echo 'Test {0}(a:) recorded an issue with 1 argument'; echo 'Test {0}(a:) failed after 1 second with 1 issue.'; "
    ENDS = "echo 'Suite PayTests failed after 1 second with 1 issue.'; echo 'Test run with 1 test failed after 1 second with 1 issue.'; exit 1"
    PASSES = "echo 'Test run with 1 test in 1 suite passed after 1 second.'"

    def failures(self, *works, may_be_unsteady=True):
        with scripted():
            pool = script.Pool([["--filter", work] for work in works]).run(1)
            return script.failures_of(pool.failed, may_be_unsteady)

    def once(self, name, alone=PASSES):
        """A process in which this test fails, and that does as told when it has the test alone."""
        return f"if [ '{script.ANY_TEST}' = {name} ]; then {alone}; else {self.SAYS.format(name)}{self.ENDS}; fi"

    def test_a_test_that_passes_alone_is_unsteady(self):
        failures, unsteady = self.failures(self.once("paysOnce"))
        self.assertEqual(failures, [])
        self.assertEqual(len(unsteady), 4)

    def test_a_test_that_fails_alone_is_a_failure(self):
        failures, unsteady = self.failures(self.once("paysOnce", self.SAYS.format("paysOnce") + self.ENDS))
        self.assertEqual((len(failures), unsteady), (4, []))

    def test_a_test_that_does_not_run_alone_is_a_failure(self):
        failures, _ = self.failures(self.once("paysOnce", "echo 'Test run with 0 tests passed'"))
        self.assertEqual(len(failures), 4)

    def test_each_repetition_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            third = f"echo >>{folder}/runs; if [ $(wc -l <{folder}/runs) = 3 ]; then {self.ENDS}; else {self.PASSES}; fi"
            failures, _ = self.failures(self.once("paysOnce", third))
        self.assertEqual(len(failures), 4)

    def test_a_crash_is_no_unsteady_test(self):
        failures, unsteady = self.failures(self.once("paysOnce").replace("exit 1", "kill -9 $$"))
        self.assertEqual((len(failures), unsteady), (5, []))
        self.assertIn("ended by signal 9", failures)

    def test_unsteady_tests_have_a_limit(self):
        failures, unsteady = self.failures(*[self.once(f"pays{number}") for number in range(4)])
        self.assertEqual((len(failures), len(unsteady)), (8, 8))

    def test_a_part_of_the_tests_has_no_unsteady_ones(self):
        failures, unsteady = self.failures(self.once("paysOnce"), may_be_unsteady=False)
        self.assertEqual((len(failures), unsteady), (4, []))


class Failures(unittest.TestCase):
    """The lines that are shown again at the end of a run. A name with the word Crash in it once filled the list."""

    def test_what_failed_is_shown(self):
        for line in [
            '✘ Test paysOnce() recorded an issue at PayTests.swift:7:9: Expectation failed: (1 → 1) == 2',
            "✘ Test paysOnce() failed after 0.001 seconds with 1 issue.",
            "Core/Heap.swift:12: Fatal error: Index out of range",
            "*** Program crashed: Bad pointer dereference at 0x10 ***",
            "*** Signal 11: Backtracing from 0x10",
        ]:
            self.assertTrue(script.FAILURES.search(line), line)

    def test_what_passed_is_not_shown(self):
        for line in [
            "◇ Test everyCrashCountsAsOneAttempt() started.",
            "✔ Test attemptCutOffByACrashHasARecord(isRepeatable:) with 2 test cases passed after 0.001 seconds.",
            "◇ Test case passing 1 argument why → .exhausted to retryIsMadeAfterACrash(why:) started.",
        ]:
            self.assertFalse(script.FAILURES.search(line), line)


class Warnings(unittest.TestCase):
    def build(self, script):
        command = [os.path.join(SCRIPTS, "without-warnings.sh"), "sh", "-c", script]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_warning_of_our_own_code_fails_the_build(self):
        result = self.build('echo "$PWD/Sources/A/File.swift:3:5: warning: never used"')
        self.assertEqual(result.returncode, 1)
        self.assertIn("never used", result.stderr)

    def test_a_warning_of_others_does_not(self):
        for line in [
            "$PWD/.build/checkouts/nio/Sources/A/File.swift:3:5: warning: never used", "warning: 'nio': found 1 file", "/usr/lib/a.o: warning: mktemp",
        ]:
            self.assertEqual(self.build(f'echo "{line}"').returncode, 0, line)

    def test_a_build_that_fails_keeps_its_exit_code(self):
        self.assertEqual(self.build("exit 3").returncode, 3)
        self.assertEqual(self.build("exit 0").returncode, 0)


if __name__ == "__main__":
    unittest.main()
