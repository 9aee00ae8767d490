#!/usr/bin/python3 -B
"""Times requests while a reload changes the policy of very many tickets (`make bench-reload`).

Writes tickets into a store, starts Layover on it, and reloads the configuration several times; each reload concerns all tickets. In the
meantime other processes send three kinds of requests every 10 ms: one to an origin that is there, a small call of the admin API, and
one that becomes a ticket. Prints the longest time of each kind, without and during a reload. Ends with 1 if one is too slow.
"""

import argparse
import http.client
import http.server
import json
import multiprocessing
import os
import signal
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

# Milliseconds.
LIMIT = 100
INTERVAL = 0.010
HOUR = 3_600_000_000_000


def policy(**changes):
    """Nothing falls due during the measurement, and nothing wakes the tickets."""
    return {"delay": {"type": "constant", "every": "10h", "jitter": "none"}, "wakeOnReachable": False, **changes}


# Each concerns all tickets and differs from the one before.
RELOADS = [
    ("lifetime and attempts", {"policies": {"default": policy(lifetime="48h", automaticAttemptsMax=9)}}, None),
    ("priority", {"policies": {"default": policy(priority=1)}}, 1),
    ("wakeOnReachable", {"policies": {"default": policy(wakeOnReachable=True, priority=2)}}, 2),
    ("parent proxy", {"policies": {"default": policy(priority=4)}, "upstreamProxy": {"url": "http://127.0.0.1:9", "noProxy": ["127.0.0.1"]}}, 4),
    ("no parent proxy", {"policies": {"default": policy(priority=5)}}, 5),
]


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one write: the body would wait for an acknowledgement of the head, 40 ms.
    wbufsize = -1

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        self.wfile.flush()

    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def serve(ready):
    server = Server(("127.0.0.1", 0), Origin)
    ready.send(server.server_port)
    server.serve_forever()


def probe(port, method, url, fields, expected, results):
    """Sends a request every 10 ms, and reports when each began and how long it took."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while True:
        begun = time.monotonic()
        connection.request(method, url, headers=fields)
        answer = connection.getresponse()
        answer.read()
        results.send((begun, time.monotonic() - begun))
        if answer.status != expected:
            raise SystemExit(f"{method} {url} was answered {answer.status}")
        time.sleep(max(0, INTERVAL - (time.monotonic() - begun)))


class Probe:
    """A kind of request, sent by a process of its own."""

    def __init__(self, name, *arguments):
        self.name = name
        self.times = []
        receiver, sender = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=probe, args=(*arguments, sender), daemon=True)
        self.process.start()
        sender.close()
        threading.Thread(target=self.collect, args=(receiver,), daemon=True).start()

    def collect(self, receiver):
        try:
            while True:
                self.times.append(receiver.recv())
        except EOFError:
            pass

    def wait(self, ended):
        """Until a request has been answered that began after that time, so that none of before is under way."""
        deadline = time.monotonic() + 120
        while not self.times or self.times[-1][0] < ended:
            if time.monotonic() > deadline or not self.process.is_alive():
                raise SystemExit(f"{self.name}: no answer")
            time.sleep(0.02)

    def worst(self, begun, ended):
        """Of the requests that were under way in that time: count and longest time in milliseconds."""
        times = [took * 1000 for start, took in list(self.times) if start + took >= begun and start <= ended]
        return len(times), max(times, default=0)


def write(folder, configuration):
    with open(f"{folder}/config.json", "w") as file:
        json.dump(configuration, file)


def run(layover, folder):
    if os.path.exists(f"{folder}/ports"):
        os.remove(f"{folder}/ports")
    process = subprocess.Popen(
        [layover, "run", "--config", f"{folder}/config.json", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
         "--port-file", f"{folder}/ports"],
        env={**os.environ, "STATE_DIRECTORY": folder, "RUNTIME_DIRECTORY": folder}, stdout=subprocess.DEVNULL)
    while not os.path.exists(f"{folder}/ports"):
        if process.poll() is not None:
            raise SystemExit("layover has ended")
        time.sleep(0.05)
    with open(f"{folder}/ports") as file:
        return process, json.load(file)


def call(port, path, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path)
    return json.loads(connection.getresponse().read())


def make_store(layover, folder, count, origins):
    """One ticket is accepted, and the others are copies of its row."""
    write(folder, {"reachability": {"mode": "offline"}, "log": {"level": "warning"}})
    process, ports = run(layover, folder)
    connection = http.client.HTTPConnection("127.0.0.1", ports["proxy"])
    connection.request(
        "PUT", "http://shop0.invalid/first", headers={"Prefer": "respond-async, wait=0", "Content-Length": "0", "User-Agent": "bench"})
    if connection.getresponse().status != 202:
        raise SystemExit("no ticket was accepted")
    process.terminate()
    process.wait()
    database = sqlite3.connect(f"{folder}/layover.sqlite")
    columns = [row[1] for row in database.execute("PRAGMA table_info(ticket)")]
    values = {"sequence": "n", "id": "randomblob(16)", "host": f"'shop' || (n % {origins}) || '.invalid'",
              "url": f"'http://shop' || (n % {origins}) || '.invalid/orders/' || n || '?page=1'",
              "dueAt": f"createdAt + {10 * HOUR}", "expiresAt": f"expiresAt + {10 * HOUR}"}
    taken = ", ".join(values.get(column, column) for column in columns)
    numbers = f"WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < {count})"
    database.execute(f"{numbers} INSERT INTO ticket ({', '.join(columns)}) SELECT {taken} FROM number, (SELECT * FROM ticket)")
    columns = [row[1] for row in database.execute("PRAGMA table_info(request)")]
    values = {"sequence": "n", "host": f"'shop' || (n % {origins}) || '.invalid'"}
    taken = ", ".join(values.get(column, column) for column in columns)
    database.execute(f"{numbers} INSERT INTO request ({', '.join(columns)}) SELECT {taken} FROM number, (SELECT * FROM request)")
    database.execute("UPDATE facts SET lastSequence = ?", (count,))
    database.commit()
    database.close()


def reload(process, port, folder, configuration, newest, priority):
    """Until the newest ticket, whose turn is the last, has its new priority."""
    write(folder, configuration)
    begun = time.monotonic()
    process.send_signal(signal.SIGHUP)
    while True:
        entry = call(port, f"/v1/pending/{newest}")
        if priority is None or entry["priority"] == priority:
            break
        if time.monotonic() - begun > 120:
            raise SystemExit("the reload did not reach the newest ticket")
        time.sleep(0.05)
    # Without a priority that tells: as long as the slowest of the others.
    if priority is None:
        time.sleep(10)
    return begun, time.monotonic()


def report(name, probes, span, limit):
    slow = 0
    for one in probes:
        one.wait(span[1])
        count, worst = one.worst(*span)
        late = limit is not None and worst > limit
        slow += late
        print(f"{name:24} {span[1] - span[0]:6.1f} s  {one.name:16} {worst:8.1f} ms at most of {count}{'  TOO SLOW' if late else ''}",
              flush=True)
    return slow


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layover", required=True, help="the release binary")
    parser.add_argument("--entries", type=int, default=400_000)
    parser.add_argument("--origins", type=int, default=50)
    parser.add_argument("--limit", type=float, default=LIMIT, help="most milliseconds that a request may take during a reload")
    options = parser.parse_args()
    mine, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(theirs,), daemon=True).start()
    origin = f"http://127.0.0.1:{mine.recv()}"
    with tempfile.TemporaryDirectory() as folder:
        make_store(options.layover, folder, options.entries, options.origins)
        common = {"limits": {"entries": options.entries + 100_000}, "log": {"level": "warning"}}
        write(folder, {**common, "policies": {"default": policy()}})
        begun = time.monotonic()
        probes = []
        process, ports = run(options.layover, folder)
        try:
            admin = ports["admin"]
            while call(admin, "/v1/status")["counts"]["waiting"] < options.entries:
                time.sleep(0.1)
            print(f"{options.entries} tickets of {options.origins} origins resumed in {time.monotonic() - begun:.1f} s", flush=True)
            newest = call(admin, "/v1/pending?sort=-url&host=shop1.invalid&limit=1")["data"][0]["id"]
            newest = call(admin, "/v1/pending?sort=-parkedAt&limit=1")["data"][0]["id"] if options.origins == 1 else newest
            probes = [
                Probe("proxied request", ports["proxy"], "GET", f"{origin}/", {}, 200),
                Probe("admin call", admin, "GET", "/v1/reachability", {}, 200),
                Probe("new ticket", ports["proxy"], "PUT", f"{origin}/", {"Prefer": "respond-async, wait=0", "Content-Length": "0"}, 202),
            ]
            time.sleep(1)
            begun = time.monotonic()
            time.sleep(10)
            report("without a reload", probes, (begun, time.monotonic()), None)
            slow = 0
            for name, changes, priority in RELOADS:
                span = reload(process, admin, folder, {**common, **changes}, newest, priority)
                slow += report(name, probes, span, options.limit)
                time.sleep(1)
            # One reload after the other, the next before the one before it is done.
            begun = time.monotonic()
            for number in range(6):
                write(folder, {**common, "policies": {"default": policy(priority=number % 2, lifetime=f"{60 + number}h")}})
                process.send_signal(signal.SIGHUP)
                time.sleep(0.2)
            last = reload(process, admin, folder, {**common, "policies": {"default": policy(priority=6)}}, newest, 6)
            slow += report("seven reloads", probes, (begun, last[1]), options.limit)
            # What they have left behind is tidied up.
            time.sleep(10)
            slow += report("afterwards", probes, (last[1], time.monotonic()), options.limit)
        finally:
            for one in probes:
                one.process.kill()
            process.terminate()
            process.wait()
    sys.exit(1 if slow else 0)


main()
