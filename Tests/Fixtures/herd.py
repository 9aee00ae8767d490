#!/usr/bin/python3
"""Many clients of one proxy, and their origin, which is away at first.

The clients come one after the other over --over seconds; each sends one request and waits for its response. The origin listens
on --port from --away seconds on. It answers each request with 200, those to /slow after --slow seconds; the first --refusals
arrivals of each request get --status with `Retry-After: 1`.

Prints one JSON object:

    statuses      how many clients got which status; "none" where the connection ended without one
    late          seconds from the return of the origin to the last response to a request that is not for /slow
    longest       the longest wait of a client, in seconds
    applied       how many requests the origin has answered with 200
    doubled       how many of them more than once
"""

import argparse
import asyncio
import collections
import json
import time


class Herd:
    def __init__(self, arguments):
        self.arguments = arguments
        self.refused = collections.Counter()
        self.applied = collections.Counter()
        self.returned = 0
        self.results = []

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                assert body == b"x" * len(body)
                name, path = fields["x-client"], lines[0].split()[1]
                if self.refused[name] < self.arguments.refusals:
                    self.refused[name] += 1
                    writer.write(b"HTTP/1.1 %d Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n" % self.arguments.status)
                    continue
                if path == "/slow":
                    await asyncio.sleep(self.arguments.slow)
                self.applied[name] += 1
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def client(self, number):
        arguments = self.arguments
        await asyncio.sleep(arguments.over * number / arguments.clients)
        path = arguments.paths[number % len(arguments.paths)]
        body = b"x" * 100 if arguments.method == "POST" else b""
        started = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", arguments.proxy)
        writer.write(
            f"{arguments.method} http://127.0.0.1:{arguments.port}{path} HTTP/1.1\r\nHost: 127.0.0.1:{arguments.port}\r\n"
            f"X-Client: {number}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        try:
            head = (await reader.read()).decode("latin-1").split()
            status = head[1] if len(head) > 1 else "none"
        except OSError:
            status = "none"
        writer.close()
        self.results.append((path, status, started, time.monotonic()))

    async def run(self):
        clients = [asyncio.create_task(self.client(number)) for number in range(self.arguments.clients)]
        await asyncio.sleep(self.arguments.away)
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.arguments.port)
        self.returned = time.monotonic()
        await asyncio.wait_for(asyncio.gather(*clients), 60)
        server.close()
        print(json.dumps({
            "statuses": collections.Counter(status for _, status, _, _ in self.results),
            "late": max((end - self.returned for path, _, _, end in self.results if path != "/slow"), default=0),
            "longest": max(end - start for _, _, start, end in self.results),
            "applied": len(self.applied),
            "doubled": sum(1 for count in self.applied.values() if count > 1),
        }))


parser = argparse.ArgumentParser()
for name, kind, default in [
    ("proxy", int, 0), ("port", int, 0), ("clients", int, 1), ("over", float, 0), ("away", float, 0), ("slow", float, 0),
    ("refusals", int, 0), ("status", int, 503), ("method", str, "GET"), ("paths", lambda text: text.split(","), ["/"]),
]:
    parser.add_argument("--" + name, type=kind, default=default)
asyncio.run(Herd(parser.parse_args()).run())
