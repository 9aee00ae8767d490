"""Runs a command on a pseudo-terminal and prints all that the terminal received.

    terminal.py [--columns N] [--rows N] [--steps JSON] [--errors-apart] -- COMMAND...

Steps are done in order: each waits for the text "expect" in what came since the step before, or for what the regular expression
"match" matches, or for two different texts that the regular expression "change" matches. Then it acts: "resize" [columns, rows], "send"
a text, "signal" a number to the command, "touch" a file once the command has taken the signal. The exit code is the command's, or 124 if
a text did not come within 60 seconds.
With --errors-apart standard error is no terminal.
"""
import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

WAIT_MAX = 60


def resize(descriptor, columns, rows):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def has_come(step, since):
    if "change" in step:
        return len(set(re.findall(step["change"].encode(), since))) > 1
    if "match" in step:
        return re.search(step["match"].encode(), since, re.DOTALL)
    return step.get("expect", "").encode() in since


def has_taken(child, number):
    """Whether the signal is no longer pending for the process (proc_pid_status(5))."""
    try:
        with open(f"/proc/{child}/status") as status:
            facts = dict(line.split(":", 1) for line in status)
    except OSError:
        return True
    return facts["State"].split()[0] in "ZX" or not int(facts["ShdPnd"], 16) >> (number - 1) & 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--steps", type=json.loads, default=[])
    parser.add_argument("--errors-apart", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    apart = os.dup(2)
    # The command starts when its terminal has its size.
    ready, go = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        # As a shell on a terminal does: a run of tests in the background ignores them (nohup, &), and what it starts would, too.
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        if options.errors_apart:
            os.dup2(apart, 2)
        os.execvp(options.command[0], options.command)
    resize(terminal, options.columns, options.rows)
    os.close(ready)
    os.close(go)
    steps, since, deadline = list(options.steps), b"", time.monotonic() + WAIT_MAX
    while True:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            sys.exit(124)
        readable, _, _ = select.select([terminal], [], [], 0.2)
        if readable:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # EIO: the command has closed its side.
                break
            if not data:
                break
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            since += data
        while steps and has_come(steps[0], since):
            step, since, deadline = steps.pop(0), b"", time.monotonic() + WAIT_MAX
            if "resize" in step:
                resize(terminal, *step["resize"])
            if "send" in step:
                os.write(terminal, step["send"].encode())
            if "signal" in step:
                os.kill(child, step["signal"])
            if "touch" in step:
                while not has_taken(child, step["signal"]) and time.monotonic() < deadline:
                    time.sleep(0.005)
                open(step["touch"], "w").close()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


main()
