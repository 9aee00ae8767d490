"""Small answers over kept-alive connections: CPU per request, requests per second, latency."""

import hashlib
import re
import statistics
import subprocess

from .fetch import fetch
from .origin import SMALL
from .processes import BenchError, clean_environment

SAMPLE = 50

# One fixed request in absolute form, as a client of a forward proxy sends it.
SCRIPT = """
local text = "GET {url} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n"
request = function() return text end
"""


def measure(workshop, origin, contenders, options):
    """Runs every contender in turn, `rounds` times; gives per name the median of each figure."""
    script = workshop.write("absolute.lua", SCRIPT.format(url=origin.url("small"), port=origin.port))
    rounds = {contender.name: [] for contender in contenders}
    for _ in range(options.rounds):
        for contender in contenders:
            process = contender.start(workshop, origin.port)
            check(process.port, origin)
            load(process.port, script, 1, options.clients)
            rounds[contender.name].append(
                one_round(process, script, options.seconds, options.clients))
            check(process.port, origin)
            process.stop()
    return {name: median(figures) for name, figures in rounds.items()}


def check(port, origin):
    """Each of a sample of answers must have the origin's bytes."""
    expected = hashlib.sha256(SMALL).hexdigest()
    for _ in range(SAMPLE):
        fetch(port, origin.url("small"), expected, len(SMALL))


def one_round(process, script, seconds, clients):
    before = process.cpu_seconds()
    figures = load(process.port, script, seconds, clients)
    figures["cpu_us"] = (process.cpu_seconds() - before) / figures["requests"] * 1e6
    figures["peak_mib"] = process.peak_bytes() / (1 << 20)
    return figures


def load(port, script, seconds, clients):
    text = subprocess.run(
        ["wrk", "--threads", "1", "--connections", str(clients), "--duration", f"{seconds}s",
         "--latency", "--script", script, f"http://127.0.0.1:{port}/"],
        capture_output=True, text=True, timeout=seconds + 30, env=clean_environment()).stdout
    # tinyproxy closes after each answer, which wrk counts as a read error of the next request on
    # that connection; every other error, and every answer that is not 2xx, makes the round void.
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    timeouts = re.search(r"timeout (\d+)", text)
    if wrong or (timeouts and int(timeouts[1])) or "requests in" not in text:
        raise BenchError(f"the load on port {port} went wrong:\n{text}")
    requests = int(re.search(r"(\d+) requests in", text)[1])
    return {
        "requests": requests,
        "per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        "p50_us": microseconds(re.search(r"50%\s+([\d.]+)(us|ms|s)", text)),
        "p99_us": microseconds(re.search(r"99%\s+([\d.]+)(us|ms|s)", text)),
    }


def microseconds(match):
    return float(match[1]) * {"us": 1, "ms": 1e3, "s": 1e6}[match[2]]


def median(figures):
    result = {key: statistics.median(f[key] for f in figures) for key in figures[0]}
    result["spread"] = (min(f["cpu_us"] for f in figures), max(f["cpu_us"] for f in figures))
    return result
