"""Tickets: durable acceptances beside raw SQLite inserts on the same disk, a restart with many that wait, and how
fast they are delivered once their origin is there.
"""

import json
import os
import sqlite3
import statistics
import time

from .held import get, put
from .peers import Contender, start_layover
from .processes import BenchError, free_port
from .small import load

CLIENTS = 64
BODY_BYTES = 1024
# What raw SQLite commits at once: as many as there are clients that wait for it.
GROUP = CLIENTS

# One fixed request in absolute form: a kibibyte that is to be delivered later.
SCRIPT = """
local body = string.rep("x", {bytes})
local text = "POST {url} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nPrefer: respond-async, wait=0\\r\\n" ..
    "Content-Type: text/plain\\r\\nContent-Length: {bytes}\\r\\n\\r\\n" .. body
request = function() return text end
"""

# An origin that answers every request at once, so that the drain is bound by us.
ORIGIN = """
worker_processes 1;
pid {folder}/sink.pid;
error_log {folder}/logs/sink-error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 100000000;
    client_body_temp_path {folder}/sink-body;
    proxy_temp_path {folder}/sink-proxy;
    fastcgi_temp_path {folder}/sink-fastcgi;
    uwsgi_temp_path {folder}/sink-uwsgi;
    scgi_temp_path {folder}/sink-scgi;
    server {{ listen 127.0.0.1:{port}; location / {{ return 204; }} }}
}}
"""


def measure(workshop, options):
    waiting = options.tickets
    settings = {
        "limits": {"entries": waiting * 2 + 10_000_000}, "reachability": {"mode": "offline"},
        "log": {"level": "warning"},
    }
    contender = Contender(
        "Layover", "forward",
        lambda shop, port, *_: start_layover(shop, port, settings=settings, threads=None))
    origin_port = free_port()
    script = workshop.write("ticket.lua", SCRIPT.format(
        url=f"http://127.0.0.1:{origin_port}/orders", port=origin_port, bytes=BODY_BYTES))

    raw, accepted = [], []
    layover = contender.start(workshop, None)
    layover.wait_for_port(layover.admin_port)
    for _ in range(options.rounds):
        raw.append(raw_inserts(workshop.path("layover", "raw.sqlite"), options.seconds))
        before = layover.cpu_seconds()
        figures = load(layover.port, script, options.seconds, CLIENTS)
        figures["cpu_us"] = (layover.cpu_seconds() - before) / figures["requests"] * 1e6
        accepted.append(figures)
    result = {key: statistics.median(figures[key] for figures in accepted) for key in accepted[0]}
    result["raw"] = statistics.median(raw)

    count = counted(layover)
    while count < waiting:
        load(layover.port, script, min(30, 1 + int((waiting - count) / result["per_second"])), CLIENTS)
        count = counted(layover)
    layover.stop()

    begun = time.monotonic()
    layover = contender.start(workshop, None)
    layover.wait_for_port(layover.admin_port, 120)
    result["waiting"] = counted(layover)
    result["start_s"] = time.monotonic() - begun
    if result["waiting"] < count:
        raise BenchError(f"{count} tickets waited, {result['waiting']} are there after a restart")
    pages = []
    for _ in range(9):
        asked = time.monotonic()
        if len(get(layover.admin_port, "/v1/pending?limit=100")["data"]) != 100:
            raise BenchError("a page of the list is not whole")
        pages.append((time.monotonic() - asked) * 1000)
    result["page_ms"] = statistics.median(pages)
    result["gib"] = layover.resident_bytes() / (1 << 30)
    result.update(drain(workshop, layover, origin_port, options.seconds))
    layover.stop()
    return result


def raw_inserts(path, seconds):
    """Rows of one kibibyte a second, in groups, each group on the disk before the next."""
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE row (id BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID")
    body, done, end = b"x" * BODY_BYTES, 0, time.monotonic() + seconds
    begun = time.monotonic()
    while time.monotonic() < end:
        rows = [(os.urandom(16), body) for _ in range(GROUP)]
        database.execute("BEGIN")
        database.executemany("INSERT INTO row VALUES (?, ?)", rows)
        database.execute("COMMIT")
        done += GROUP
    per_second = done / (time.monotonic() - begun)
    database.close()
    os.remove(path)
    return per_second


def drain(workshop, layover, origin_port, seconds):
    """Deliveries a second while the origin answers at once."""
    configuration = workshop.write("sink.conf", ORIGIN.format(folder=workshop.folder, port=origin_port))
    sink = workshop.start("sink", ["nginx", "-c", configuration, "-g", "daemon off;"])
    sink.wait_for_port(origin_port)
    put(layover.admin_port, "/v1/reachability", {"mode": "auto"})
    # The window begins at one; it is open after the first moments.
    first = counted(layover)
    begun, cpu = time.monotonic(), layover.cpu_seconds()
    time.sleep(seconds)
    left = counted(layover)
    passed = time.monotonic() - begun
    spent = layover.cpu_seconds() - cpu
    if left >= first:
        raise BenchError("nothing was delivered although the origin is there")
    sink.stop()
    return {"drain_per_second": (first - left) / passed, "drain_cpu_us": spent / (first - left) * 1e6}


def counted(layover):
    return sum(get(layover.admin_port, "/v1/pending?limit=1")["counts"].values())
