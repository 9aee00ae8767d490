#!/usr/bin/python3
"""A load in which everything is mixed, with every byte of every body compared at both ends.

Clients and origins are threads of this one process; between them is the proxy at --proxy. What is mixed: uploads by
length, chunked, with trailers, with Expect, refused early, broken off, and with connections that die under them;
downloads by length, chunked, up to the close, slow, cancelled, resumed after breaks; HEAD; tickets; requests that wait for an origin that
comes and goes; clients that leave; tunnels.

The last line on standard output is the report, as JSON. It ends with 1 where anything differed, or a kind never came.
"""

import argparse
import collections
import concurrent.futures
import json
import random
import ssl
import sys
import threading
import time

import client
import exchange
import origin

KINDS = [name[3:] for name in dir(client.Client) if name.startswith("do_")]
# How often, where it is not once.
WEIGHTS = {"upload_chunked": 4, "upload_trailers": 3, "download_length": 3, "replayed": 2, "parked": 2}
# Of each ten clients two do this alone: what breaks memory is often one thing again and again.
ONLY_CHUNKED = ("upload_chunked", "upload_trailers")
BREACHES_MAX = 20


class Load:
    def __init__(self, options):
        self.ledger = exchange.Ledger(options.seed, options.patience)
        self.proxy, self.patience = options.proxy, options.patience
        self.download_max, self.upload_max = options.download, options.upload
        self.origin, self.flaky = origin.Origin(self.ledger), origin.Origin(self.ledger)
        self.secure = None
        if options.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(options.certificate, options.key)
            self.secure = origin.Origin(self.ledger, context)
        self.echo = origin.Echo()
        gone = origin.listener()
        self.dead_port = gone.getsockname()[1]
        gone.close()
        self.first = collections.deque(KINDS)
        self.ends_at = time.monotonic() + options.seconds
        self.has_ended = threading.Event()

    def upload_size(self, most, chance):
        """A size up to the one that was asked for, which often is exactly that."""
        return min(most, self.upload_max) * chance.choice((10, 10, chance.randint(5, 10))) // 10

    def download_size(self, chance):
        return chance.choice((self.download_max, chance.randint(1, self.download_max), chance.randint(1, 20_000)))

    def next_kind(self, chance, kinds):
        """What a client does next; None: it ends. Each kind comes once before chance chooses."""
        if len(self.ledger.breaches) >= BREACHES_MAX:
            return None
        try:
            return self.first.popleft()
        except IndexError:
            pass
        if time.monotonic() >= self.ends_at:
            return None
        return chance.choices(kinds, [WEIGHTS.get(kind, 1) for kind in kinds])[0]

    def come_and_go(self):
        chance = random.Random(self.ledger.seed)
        while not self.has_ended.wait(chance.uniform(0.3, 1.5)):
            self.flaky.go_away()
            self.has_ended.wait(chance.uniform(0.1, 0.6))
            self.flaky.come_back()

    def fill_history(self, count):
        """Has that many entries end, tickets and others in turn. As long as fewer have ended than are remembered, or smaller ones,
        memory grows by design."""
        takers = [client.Client(self, number) for number in range(10)]
        for first in range(0, count, 400):
            clients = [client.Client(self, 0) for _ in range(first, min(first + 200, count))]
            for number, each in enumerate(clients):
                each.send_to_nobody(1 + number)
            # Meanwhile the first attempt of the last one fails; then they wait, and their clients leave.
            with concurrent.futures.ThreadPoolExecutor(10) as threads:
                for _ in range(min(200, max(0, count - first - 200)) // 10):
                    list(threads.map(lambda each: each.run("ticket", sizes=(2_000,)), takers))
            time.sleep(0.3)
            for each in clients:
                each.drop()
        for each in takers:
            each.drop()

    def run(self, client_count):
        threading.Thread(target=self.come_and_go, daemon=True).start()
        traffic = [client.Traffic(self, number, ONLY_CHUNKED if number % 10 in (3, 7) else KINDS)
                   for number in range(client_count)]
        for thread in traffic:
            thread.start()
        for thread in traffic:
            # Everything a client waits for has a limit; this one is for what nobody thought of.
            thread.join(max(0, self.ends_at - time.monotonic()) + 3 * self.patience)
            if thread.is_alive():
                self.ledger.breach("a client did not come to an end")
        self.has_ended.set()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--proxy", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=60, help="seconds that nothing may take longer than")
    parser.add_argument("--download", type=int, default=6_000_000, help="most bytes of a download")
    parser.add_argument("--upload", type=int, default=1_000_000, help="most bytes of an upload")
    parser.add_argument("--certificate", help="PEM file of an origin that speaks TLS; without it there is none")
    parser.add_argument("--key", help="PEM file of its key")
    parser.add_argument("--ended", type=int, default=0, help="entries that come to their end before all else")
    options = parser.parse_args()
    load = Load(options)
    load.fill_history(options.ended)
    load.run(options.clients)
    ledger = load.ledger
    for kind in KINDS:
        if kind not in ledger.counts:
            ledger.breach(f"{kind} never came to its end")
    print(json.dumps({
        "seed": options.seed, "exchanges": sum(ledger.counts.values()), "kinds": ledger.counts,
        "bytesUp": ledger.bytes_up, "bytesDown": ledger.bytes_down, "waited": ledger.waited_count,
        "breachCount": len(ledger.breaches), "breaches": ledger.breaches[:BREACHES_MAX]}))
    sys.stdout.flush()
    return 1 if ledger.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
