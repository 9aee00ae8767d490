"""Small answers over kept-alive connections: CPU per request, requests per second, latency."""

import hashlib
import os
import re
import shutil
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


def measure(workshop, origin, contenders, options, clients, tls=False):
    """Runs every contender in turn, `rounds` times; gives per name the median of each figure.

    `tls`: the way to the origin is encrypted, the way to the proxy is not."""
    port = origin.tls_port if tls else origin.port
    script = workshop.write("absolute.lua", SCRIPT.format(url=origin.url("small", tls), port=port))
    rounds = {contender.name: [] for contender in contenders}
    for _ in range(options.rounds):
        for contender in contenders:
            process = contender.start(workshop, origin, tls)
            check(process.port, origin, tls)
            load(process.port, script, 1, clients)
            rounds[contender.name].append(one_round(process, script, options.seconds, clients))
            check(process.port, origin, tls)
            process.stop()
    results = {name: median(figures) for name, figures in rounds.items()}
    if not tls:
        floor = libcurl_alone(workshop, origin, options, clients)
        if floor:
            results[FLOOR] = floor
    return results


FLOOR = "libcurl alone, no proxy"


def libcurl_program(workshop):
    """The path of the program that reads answers by libcurl; None without a C compiler."""
    program = workshop.path("libcurl_alone")
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "libcurl_alone.c")
    if not os.path.exists(program):
        made = subprocess.run(["cc", "-O2", "-o", program, source, "-lcurl"], capture_output=True) if shutil.which("cc") else None
        if made is None or made.returncode != 0:
            return None
    return program


def libcurl_alone(workshop, origin, options, clients):
    """CPU of a program that only reads the answers by libcurl; None without a C compiler."""
    program = libcurl_program(workshop)
    if not program:
        return None
    costs, rates = [], []
    for _ in range(options.rounds):
        text = subprocess.run(
            [program, origin.url("small"), str(clients), str(options.seconds)],
            capture_output=True, text=True, timeout=options.seconds + 30, env=clean_environment()).stdout
        requests, failures, microseconds_used = (int(word) for word in text.split())
        if failures:
            raise BenchError(f"libcurl alone: {failures} transfers failed")
        costs.append(microseconds_used / requests)
        rates.append(requests / options.seconds)
    return {"cpu_us": statistics.median(costs), "per_second": statistics.median(rates), "spread": (min(costs), max(costs))}


def check(port, origin, tls=False):
    """Each of a sample of answers must have the origin's bytes."""
    expected = hashlib.sha256(SMALL).hexdigest()
    for _ in range(SAMPLE):
        fetch(port, origin.url("small", tls), expected, len(SMALL))


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
