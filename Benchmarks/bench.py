#!/usr/bin/env python3
"""Compares Layover with Squid, tinyproxy, HAProxy and nginx, side by side in one run.

The machines this runs on are noisy, so the figure that counts is the CPU time a proxy spends per
request (user and system, over all its processes) and its ratio to Squid's in the same minutes.
Prints one Markdown report. A missed target is marked, it is not an error: the exit code is 0 as long
as every answer was whole and correct.
"""

import argparse
import sys

from layover_bench import allocations, bodies, durable, held, intercepted, report, small
from layover_bench.origin import Origin
from layover_bench.peers import LAYOVER, PEERS
from layover_bench.processes import BenchError, Workshop


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layover", help="the release binary; without it only the peers are measured")
    parser.add_argument("--seconds", type=int, default=5, help="length of one load, default 5")
    parser.add_argument("--rounds", type=int, default=3, help="loads per proxy, in turn, default 3")
    parser.add_argument("--clients", type=int, default=32, help="keep-alive clients, default 32")
    parser.add_argument("--held", type=int, default=10000, help="clients held at once, default 10000")
    parser.add_argument("--only", choices=["small", "bodies", "intercepted", "held", "durable"], help="run one part")
    parser.add_argument("--tools", help="virtual environment with mitmproxy; without it mitmproxy is not measured")
    parser.add_argument("--tickets", type=int, default=1000000, help="tickets that wait at a restart, default 1000000")
    parser.add_argument("--body-mib", type=int, default=1024, help="size of a large body, default 1024")
    return parser.parse_args()


def main():
    options = arguments()
    contenders = list(PEERS)
    if options.layover:
        contenders.insert(0, LAYOVER)
    results = {}
    with Workshop(options.layover) as workshop:
        if options.only in (None, "small", "bodies", "intercepted"):
            with Origin(workshop, options.body_mib) as origin:
                if options.only in (None, "small"):
                    results["small"] = small.measure(workshop, origin, contenders, options, options.clients)
                    results["one"] = small.measure(workshop, origin, contenders, options, 1)
                    results["many"] = small.measure(workshop, origin, contenders, options, 256)
                    # Squid and tinyproxy of Debian make no TLS for requests in absolute form; nginx does not check certificates.
                    over_tls = [contender for contender in contenders if contender.name in ("Layover", "HAProxy")]
                    results["tls"] = small.measure(workshop, origin, over_tls, options, options.clients, tls=True)
                if options.layover and options.only in (None, "small"):
                    results["allocations"] = allocations.measure(workshop, origin, options)
                if options.only in (None, "bodies"):
                    results["bodies"] = bodies.measure(workshop, origin, contenders, options)
                if options.only in (None, "intercepted"):
                    results["intercepted"] = intercepted.measure(workshop, origin, options)
        if options.layover and options.only in (None, "held"):
            results["held"] = held.measure(workshop, options)
        if options.layover and options.only in (None, "durable"):
            results["durable"] = durable.measure(workshop, options)
    print(report.markdown(results, options))


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"bench: {error}")
