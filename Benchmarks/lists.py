#!/usr/bin/python3 -B
"""Times the lists of the admin API with many requests waiting (`make bench-lists`).

Parks tickets for an origin that is away, asks for pages, and prints the median of each; then gives all of them up, starts anew, and
asks for the history. Ends with 1 if one is too slow.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# Milliseconds, from the answer's first request byte to its last byte.
LIMITS = {
    "default page": ("/v1/pending", 20),
    "newest first": ("/v1/pending?sort=-parkedAt", 20),
    "search, few found": ("/v1/pending?q=order-99999", 100),
    "search, nothing found": ("/v1/pending?q=nothing+has+this", 100),
    "search in another alphabet": ("/v1/pending?q=STRASSE+9999", 100),
    "search and sort": ("/v1/pending?q=ORDER&sort=-url", 100),
    "sort by url": ("/v1/pending?sort=url", 100),
    "sort by host": ("/v1/pending?sort=-host", 100),
    "sort by next attempt": ("/v1/pending?sort=nextAttemptAt", 100),
    "search by digits": ("/v1/pending?q=abc123", 100),
    "host": ("/v1/pending?host=SHOP7.INVALID&sort=createdAt", 100),
}


FINAL = "state=delivered,cancelled,expired,failed"
# The same for tickets that ended before the process was started, of which only the store knows.
HISTORY_LIMITS = {
    "history, newest first": (f"/v1/pending?{FINAL}&sort=-endedAt", 20),
    "history, default order": (f"/v1/pending?{FINAL}", 100),
    "history, few found": (f"/v1/pending?{FINAL}&q=order-99999", 100),
    "history, nothing found": (f"/v1/pending?{FINAL}&q=nothing+has+this", 100),
    "history, another alphabet": (f"/v1/pending?{FINAL}&q=STRASSE+9999", 100),
    "history, search and sort": (f"/v1/pending?{FINAL}&q=ORDER&sort=-url", 100),
    "history, by host": (f"/v1/pending?{FINAL}&host=SHOP7.INVALID&sort=host", 100),
}


def park(port, numbers):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    fields = {"Prefer": "respond-async, wait=0", "Content-Length": "0"}
    for number in numbers:
        name = f"caf%C3%A9-stra%C3%9Fe%20{number}" if number % 10 == 0 else f"order-{number}"
        connection.request("PUT", f"http://shop{number % 50}.invalid/shop/{name}?page={number}&token=secret", headers=fields)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 202:
            raise SystemExit(f"a request was answered {answer.status}")


def measure(port, path, rounds):
    times = []
    connection = http.client.HTTPConnection("127.0.0.1", port)
    count = None
    for _ in range(rounds):
        begun = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        times.append((time.perf_counter() - begun) * 1000)
        if answer.status != 200:
            raise SystemExit(f"{path} was answered {answer.status}: {body[:300]}")
        count = len(json.loads(body)["data"])
    return statistics.median(times), max(times), count


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


def stop(process):
    process.terminate()
    process.wait()


def report(port, limits, rounds):
    slow = 0
    for name, (path, limit) in limits.items():
        median, worst, count = measure(port, path, rounds)
        slow += median > limit
        print(f"{name:28} {median:8.1f} ms  (worst {worst:.1f}, limit {limit}, {count} shown){'  TOO SLOW' if median > limit else ''}",
              flush=True)
    return slow


def cancel_all(port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/v1/pending/cancel", body='{"all":true}', headers={"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    print(f"{answer['done']} cancelled")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layover", required=True, help="the release binary")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/config.json", "w") as file:
            # Long delays, so that little else goes on than what is measured.
            json.dump({"reachability": {"mode": "offline"}, "limits": {"entries": options.entries + 1000},
                       "log": {"level": "warning"}}, file)
        process, ports = run(options.layover, folder)
        try:
            begun = time.monotonic()
            threads = [threading.Thread(target=park, args=(ports["proxy"], range(first, options.entries, 8))) for first in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(f"{options.entries} requests parked in {time.monotonic() - begun:.0f} s", flush=True)
            slow = report(ports["admin"], LIMITS, options.rounds)
            cancel_all(ports["admin"])
            stop(process)
            process, ports = run(options.layover, folder)
            slow += report(ports["admin"], HISTORY_LIMITS, options.rounds)
        finally:
            stop(process)
    sys.exit(1 if slow else 0)


main()
