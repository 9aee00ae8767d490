#!/usr/bin/env -S python3 -B
"""Runs the tests that are built, and says in the end what failed: the lines that matter are far up by then.

One test runs after the other: many of them measure time. With LANES=2 those from end to end, which mostly wait, run beside all others.

Usage: scripts/test.py                      all of them
       scripts/test.py quick                the units that need no sockets, and one story
       scripts/test.py --filter F --skip S  some of them, in one process
"""

import os
import re
import subprocess
import sys
import threading
import time

BUNDLE = os.path.join(os.path.dirname(__file__), "..", ".build", "debug", "layoverPackageTests.xctest")
# Clients from end to end have deadlines of real programs: they get the processor first.
LANES = [("end to end", ["--filter", "LayoverEndToEndTests"], 0), ("others", ["--skip", "LayoverEndToEndTests"], 5)]
UNITS = "Core|HTTP|Text|Configuration|Engine|Replay|Command|Crypto|Passwords"
# Suites that take more than ten seconds.
QUICK_SKIPS = "PendingWalkTests|ManyTicketsTests|PageSelectionTests|BulkOrderTests|ReloaderTests|StrangeConfigurationTests"
QUICK_LANES = [
    ("story", ["--filter", "postArrivesOnceAndComplete"], 0),
    ("units", ["--filter", f"Layover({UNITS})Tests|RetryTests", "--skip", QUICK_SKIPS], 0),
]
# A test may have any of these words in its name but the punctuation.
FAILURES = re.compile(r"recorded an issue|failed after .* issues?\.$|Fatal error: |\*\*\* (Program crashed|Signal)|^Program crashed: ")
# Lines of failures that are shown again. Default: 20.
FAILURES_SHOWN = 20


class Lane:
    def __init__(self, name, arguments, niceness):
        self.name, self.failures, self.result = name, [], "no test ran"
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            ["nice", "-n", str(niceness), BUNDLE, "--testing-library", "swift-testing", "--no-parallel", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            text = line.decode(errors="replace").rstrip()
            if FAILURES.search(text):
                self.failures.append(text[:600])
            if "Test run with" in text:
                self.result = text

    def end(self):
        """Waits for the end, and returns whether all is well."""
        self.reader.join()
        status = self.process.wait()
        self.seconds = time.monotonic() - self.began
        if status < 0:
            self.failures.append(f"ended by signal {-status}")
        return status == 0


def main(arguments):
    if arguments == ["quick"]:
        chosen = QUICK_LANES
    elif not arguments and os.environ.get("LANES") == "2":
        chosen = LANES
    else:
        chosen = [("tests", arguments, 0)]
    lanes = [Lane(*lane) for lane in chosen]
    try:
        failed = [lane for lane in lanes if not lane.end()]
    except KeyboardInterrupt:
        for lane in lanes:
            lane.process.terminate()
        raise
    for lane in failed:
        print(f"\nWhat failed in {lane.name}:", *lane.failures[:FAILURES_SHOWN], sep="\n")
    for lane in lanes:
        print(f"{lane.name}, {lane.seconds:.0f} s: {lane.result}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
