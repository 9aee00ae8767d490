"""Ten thousand clients wait for an origin that is away, and are all served when it returns.

The clients are one process with an epoll loop, the origin another, so that neither slows the other.
"""

import json
import os
import resource
import subprocess
import sys
import time
import urllib.error
import urllib.request

from .peers import Contender, start_layover
from .processes import BenchError, clean_environment

HERE = os.path.dirname(os.path.abspath(__file__))
WAIT_SECONDS = 120


def measure(workshop, options):
    clients = options.held
    raise_descriptor_limit(clients + 2000)
    settings = {
        "limits": {"heldClients": clients + 100, "entries": clients * 2, "connections": clients * 2},
    }
    contender = Contender(
        "Layover", "forward",
        lambda shop, port, *_: start_layover(shop, port, settings=settings))
    layover = contender.start(workshop, None)
    layover.wait_for_port(layover.admin_port)

    origin = Piece([os.path.join(HERE, "held_origin.py")])
    port = int(origin.line("port"))
    before = layover.resident_bytes()
    load = Piece([os.path.join(HERE, "held_clients.py"), str(layover.port), str(port), str(clients)])
    load.line("sent")
    wait_until_held(layover, clients)
    kib = (layover.resident_bytes() - before) / clients / 1024

    # The origin's clock and ours are the same monotonic clock of the machine.
    origin.say("listen")
    origin.line("listening")
    trigger = time.monotonic()
    put(layover.admin_port, "/v1/reachability", {"hint": "changed"})
    served = json.loads(load.line("served"))
    origin.say("report")
    arrivals = json.loads(origin.line("report"))
    load.end()
    origin.end()
    layover.stop()
    if served["right"] != clients:
        raise BenchError(f"only {served['right']} of {clients} held clients got the right answer: {served}")
    if arrivals["requests"] != clients:
        raise BenchError(f"the origin saw {arrivals['requests']} requests for {clients} clients")
    return {
        "clients": clients,
        "kib_per_client": kib,
        "first_ms": (arrivals["first"] - trigger) * 1000,
        "last_s": served["last"] - trigger,
        "connections_max": arrivals["connections_max"],
    }


def raise_descriptor_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise BenchError(f"needs {wanted} descriptors, the hard limit is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def wait_until_held(layover, clients):
    """Asks the admin API until every client is an entry of the pending set."""
    deadline = time.monotonic() + WAIT_SECONDS
    counted = 0
    while time.monotonic() < deadline:
        listing = get(layover.admin_port, "/v1/pending?limit=1")
        counted = sum(listing["counts"].values())
        if counted >= clients and listing["counts"].get("attempting", 0) == 0:
            return
        time.sleep(0.1)
    raise BenchError(f"only {counted} of {clients} clients were held after {WAIT_SECONDS} s")


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        return json.load(answer)


def put(port, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(),
        {"Content-Type": "application/json"}, method="PUT")
    try:
        urllib.request.urlopen(request, timeout=30).close()
    except urllib.error.HTTPError as error:
        raise BenchError(f"PUT {path} was answered {error.code}: {error.read()!r}") from error


class Piece:
    """One of our own processes, spoken to by lines: `word rest`."""

    def __init__(self, arguments):
        self.child = subprocess.Popen(
            [sys.executable] + arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=clean_environment())

    def say(self, word):
        self.child.stdin.write(word + "\n")
        self.child.stdin.flush()

    def line(self, word):
        text = self.child.stdout.readline()
        first, _, rest = text.strip().partition(" ")
        if first != word:
            raise BenchError(f"expected '{word}' from {self.child.args[1]}, got {text!r}")
        return rest

    def end(self):
        self.child.stdin.close()
        self.child.wait(10)
