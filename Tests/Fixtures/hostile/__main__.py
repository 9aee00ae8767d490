#!/usr/bin/python3
"""A load in which origins and clients break the rules, with the bytes compared at both ends.

Origins answer legally and illegally, early or not at all, and break off at any byte by FIN or RST. Clients send malformed requests and
leave in every phase. Tunnels are ended by FIN and RST after any byte, and frozen by mode `offline` from time to time. Clients and origins
are threads of this process; between them is the proxy at --proxy. All that is sent is decided by --seed: `--only 3-17` plays the one
exchange 17 of client 3, which is how a breach is named.

Rules that are checked:
- a request that was not sent to its end, or is malformed, never arrives complete; one that arrives complete has the bytes that were sent
- a POST that reached the origin is not sent a second time by the proxy
- a response that is complete for the client is one that an attempt of the origin sent completely, or the proxy's own problem
- a success is not told for an upload that did not arrive
- where both ends keep to the rules, the response comes
- nothing hangs

The last line on standard output is the report, as JSON. It ends with 1 where a rule was broken.
"""

import argparse
import collections
import json
import socket
import sys
import threading
import time
import urllib.request

import client
import origin
import plan as plans
import tunnel

BREACHES_MAX = 30


class Seen:
    """One exchange, as both ends have seen it."""

    def __init__(self, plan):
        self.plan, self.arrivals, self.bodies, self.may_see = plan, 0, [], set()
        self.is_whole = self.is_sent = False
        self.ended_at, self.told = None, None


class Ledger:
    def __init__(self, seed):
        self.lock, self.seed = threading.Lock(), seed
        self.known, self.breaches, self.counts = {}, [], collections.Counter()

    def breach(self, plan, text):
        with self.lock:
            self.breaches.append(f"--seed {self.seed} --only {plan.id}: {text}. Plan {plan}")

    def count(self, kind):
        with self.lock:
            self.counts[kind] += 1

    def begin(self, plan):
        seen = Seen(plan)
        with self.lock:
            self.known[plan.id] = seen
        return seen

    def arrived(self, identifier, head):
        with self.lock:
            seen = self.known.get(identifier)
            if seen:
                seen.arrivals += 1
        if not seen:
            return None
        plan = seen.plan
        if plan.method == "POST" and seen.arrivals > 1:
            self.breach(plan, f"a POST arrived {seen.arrivals} times")
        if plan.malformed and plan.malformed not in plans.MALFORMED_CHUNKS:
            self.breach(plan, f"a malformed request arrived: {head[:300]!r}")
        return seen

    def received(self, seen, body):
        seen.bodies.append(origin.digest(body))
        if not seen.is_whole:
            self.breach(seen.plan, f"a request that was not sent to its end, or is malformed, arrived complete, with {len(body)} bytes")
        elif body != seen.plan.body:
            self.breach(seen.plan, f"{len(body)} bytes arrived that are not the {len(seen.plan.body)} that were sent")

    def may_see(self, seen, status, body):
        with self.lock:
            seen.may_see.add((status, origin.digest(body)))

    def finish(self, seen, response):
        wrong = client.judge(seen, response)
        if wrong:
            self.breach(seen.plan, wrong)
        kind = "none" if response is None or not response.is_complete else "own" if response.is_own else "answer"
        with self.lock:
            self.counts[kind] += 1
            seen.ended_at = time.monotonic()
            if kind == "answer" and response.status < 300:
                seen.told = response.status

    def settle(self, patience):
        """Forgets what ended a while ago; the upload of an early answer had that time to arrive."""
        now = time.monotonic()
        with self.lock:
            over = [seen for seen in self.known.values() if seen.ended_at is not None and now - seen.ended_at > patience]
            for seen in over:
                del self.known[seen.plan.id]
        for seen in over:
            plan = seen.plan
            reads_all = plan.early_at is None or plan.reads_on and plan.answer.cut_at is None
            if seen.told and seen.is_sent and plan.body and reads_all and not plan.leaves and not seen.bodies:
                self.breach(plan, f"{seen.told} was told for an upload that did not arrive")


class Load:
    def __init__(self, options):
        self.seed, self.proxy, self.patience = options.seed, options.proxy, options.patience
        self.ledger = Ledger(options.seed)
        self.origin = origin.Origin(self.ledger)
        self.tunnels = tunnel.TunnelOrigin(self.patience)
        self.admin = options.admin
        self.ends_at = time.monotonic() + options.seconds

    def goes_on(self):
        return time.monotonic() < self.ends_at and len(self.ledger.breaches) < BREACHES_MAX

    def fill_history(self, count):
        """Has that many entries end. As long as fewer have ended than are remembered, memory grows by design."""
        for first in range(0, count, 200):
            clients = [socket.create_connection(("127.0.0.1", self.proxy), timeout=10) for _ in range(first, min(first + 200, count))]
            for number, each in enumerate(clients):
                # Nobody listens on port 1, so it waits until its client leaves.
                each.sendall(b"GET http://127.0.0.1:1/%d HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n" % (first + number))
            time.sleep(0.3)
            for each in clients:
                each.close()

    def change_mode(self):
        """Sets the mode `offline` from time to time: open tunnels are frozen, and requests wait."""
        while self.goes_on():
            time.sleep(2)
            for mode in ("offline", "auto"):
                request = urllib.request.Request(f"http://127.0.0.1:{self.admin}/v1/reachability", json.dumps({"mode": mode}).encode(),
                                                 {"Content-Type": "application/json"}, method="PUT")
                urllib.request.urlopen(request, timeout=self.patience).close()
                time.sleep(0.2)

    def run(self, client_count):
        threads = [threading.Thread(target=client.Client(self, number).run, daemon=True) for number in range(client_count)]
        for thread in threads:
            thread.start()
        if self.admin:
            threads.append(threading.Thread(target=self.change_mode, daemon=True))
            threads[-1].start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(1)
            self.ledger.settle(15)
        time.sleep(5)
        self.ledger.settle(4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--proxy", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=30, help="seconds that an exchange may take at most")
    parser.add_argument("--admin", type=int, help="port of the admin API; without it the mode stays")
    parser.add_argument("--ended", type=int, default=0, help="entries that come to their end before all else")
    parser.add_argument("--only", help="the one exchange to play, as client-number")
    options = parser.parse_args()
    load = Load(options)
    if options.only:
        number, exchange = map(int, options.only.split("-"))
        print(plans.Plan(options.seed, number, exchange))
        client.Client(load, number).run_one(exchange)
        time.sleep(5)
        load.ledger.settle(4)
    else:
        load.fill_history(options.ended)
        load.ends_at = time.monotonic() + options.seconds
        load.run(options.clients)
    ledger = load.ledger
    print(json.dumps({
        "seed": options.seed, "exchanges": sum(ledger.counts.values()), "kinds": ledger.counts,
        "breachCount": len(ledger.breaches), "breaches": ledger.breaches[:BREACHES_MAX]}))
    sys.stdout.flush()
    return 1 if ledger.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
