"""Starts processes, knows what they cost, and ends only what it started."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class BenchError(Exception):
    """Something that makes every figure worthless; the run stops with its text."""


class Workshop:
    """A temporary folder and the processes of one run."""

    def __init__(self, layover):
        self.layover = os.path.abspath(layover) if layover else None
        self.folder = None
        self.running = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="layover-bench-")
        # Squid gives up root and must still reach its own folder.
        os.chmod(self.folder, 0o755)
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, text):
        path = self.path(name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def start(self, name, command, environment=None):
        log = open(self.path("logs", f"{name}.log"), "ab")
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=dict(clean_environment(), **(environment or {})), start_new_session=True)
        log.close()
        process = Running(name, child, self.path("logs", f"{name}.log"))
        self.running.append(process)
        return process


class Running:
    """One started process with its descendants."""

    def __init__(self, name, child, log):
        self.name, self.child, self.log = name, child, log

    def pids(self):
        """This process and all its descendants, now."""
        children = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                stat = read_stat(int(entry))
                if stat:
                    children.setdefault(int(stat[1]), []).append(int(entry))
        found, todo = [], [self.child.pid]
        while todo:
            pid = todo.pop()
            found.append(pid)
            todo.extend(children.get(pid, []))
        return found

    def cpu_seconds(self):
        """User and system time so far, over all processes, those that ended and were waited for too."""
        ticks = 0
        for pid in self.pids():
            stat = read_stat(pid)
            if stat:
                ticks += sum(int(stat[i]) for i in (11, 12, 13, 14))
        return ticks / TICKS_PER_SECOND

    def resident_bytes(self):
        return sum(status_kib(pid, "VmRSS") for pid in self.pids()) * 1024

    def peak_bytes(self):
        return sum(status_kib(pid, "VmHWM") for pid in self.pids()) * 1024

    def reset_peak(self):
        """Starts the peak anew from what is resident now (proc(5), clear_refs, value 5)."""
        for pid in self.pids():
            try:
                with open(f"/proc/{pid}/clear_refs", "w") as file:
                    file.write("5")
            except OSError:
                pass

    def wait_for_port(self, port, seconds=15):
        """Polls until something of ours accepts on the port; a readiness check, not a pause."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.child.poll() is not None:
                raise BenchError(f"{self.name} ended with {self.child.returncode}:\n{self.log_tail()}")
            with socket.socket() as probe:
                probe.settimeout(0.5)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.02)
        raise BenchError(f"{self.name} did not listen on port {port}:\n{self.log_tail()}")

    def log_tail(self):
        with open(self.log, errors="replace") as file:
            return file.read()[-2000:]

    def stop(self):
        if self.child.poll() is not None:
            return
        pids = self.pids()
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.child.wait(5)


def read_stat(pid):
    """The fields of /proc/<pid>/stat after the name: [0] state, [1] parent, [11] utime, [12] stime."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def status_kib(pid, name):
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def clean_environment():
    """The environment without settings that would send a measured program through another proxy."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
