"""How a run of tests is divided, and what it and a build say in the end."""

import importlib.util
import os
import re
import subprocess
import sys
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


class Pools(unittest.TestCase):
    """The test bundle is a shell script that is told by its last argument what to say."""

    def run_all(self, *work):
        command = script.COMMAND
        script.COMMAND = ["sh", "-c", 'eval "$3"', "sh"]
        try:
            with open(os.devnull, "w", encoding="utf-8") as sink:
                real, sys.stdout = sys.stdout, sink
                try:
                    return script.Pool([["--filter", one] for one in work]).run(3)
                finally:
                    sys.stdout = real
        finally:
            script.COMMAND = command

    def test_all_batches_run(self):
        pool = self.run_all(*["echo Test run with 2 tests in 1 suite passed"] * 7)
        self.assertEqual((pool.count, pool.failures), (14, []))

    def test_a_failure_is_told(self):
        pool = self.run_all(
            "echo Test run with 1 test passed", "echo '✘ Test a() recorded an issue at A.swift:1:1: no'; echo Test run with 1 test failed; exit 1")
        self.assertEqual(len(pool.failures), 1)
        self.assertIn("recorded an issue", pool.failures[0])

    def test_a_process_that_crashes_or_runs_nothing_is_a_failure(self):
        self.assertEqual(self.run_all("kill -9 $$").failures, ["ended by signal 9"])
        self.assertEqual(self.run_all("echo Test run with 0 tests passed").failures, ["Test run with 0 tests passed"])
        self.assertEqual(self.run_all("exit 3").failures, ["no test ran"])


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
