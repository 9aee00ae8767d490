"""What a run of tests and a build say in the end."""

import importlib.util
import os
import subprocess
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")


def failures():
    spec = importlib.util.spec_from_file_location("test_script", os.path.join(SCRIPTS, "test.py"))
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.FAILURES


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
            self.assertTrue(failures().search(line), line)

    def test_what_passed_is_not_shown(self):
        for line in [
            "◇ Test everyCrashCountsAsOneAttempt() started.",
            "✔ Test attemptCutOffByACrashHasARecord(isRepeatable:) with 2 test cases passed after 0.001 seconds.",
            "◇ Test case passing 1 argument why → .exhausted to retryIsMadeAfterACrash(why:) started.",
        ]:
            self.assertFalse(failures().search(line), line)


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
