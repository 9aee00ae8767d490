"""A client by HTTP/2 whose origin answers before it reads: http2_withheld.py PROXY_1 CA_1 PROXY_2 CA_2 CERTIFICATE KEY

The origin behind the proxy on port PROXY_1 speaks HTTP/1.1, the one behind PROXY_2 HTTP/2. CA_… are the files of the authorities that the
client trusts. A line of JSON for each scene: its name, and what the client and the origin have seen.

The client sends a long body. It asks for the answer to a PING once it has a response, and what was sent before that answer has come by then.
"""

import json
import socket
import sys
import threading

import h2.errors
import h2.events
import h2.exceptions

from http2_scenes import Broken, Client, LONG, Origin, digest

BODY = LONG * 8


class Upload:
    """A client that sends and looks at the response at the same time."""

    def __init__(self, port, proxy, authority):
        self.client = Client(port, proxy, authority, print)
        self.peer = self.client.peer
        self.stream = self.client.request("POST", "/x", end=False)
        self.body, self.has_ended, self.acknowledged = BODY, False, 0
        self.seen = []

    def go_on(self, is_over):
        """Sends and receives until the condition holds."""
        while not is_over():
            self.send()
            self.peer.pump()
            for event in self.peer.events.pop(self.stream, []):
                if isinstance(event, h2.events.ResponseReceived):
                    self.seen.append(dict(event.headers)[":status"])
                elif isinstance(event, h2.events.DataReceived) and event.data:
                    self.seen.append(event.data.decode())
                elif isinstance(event, h2.events.StreamEnded):
                    self.seen.append("end")
                elif isinstance(event, h2.events.StreamReset):
                    self.seen.append(f"reset {h2.errors.ErrorCodes(event.error_code).name}")

    def send(self):
        try:
            while self.body:
                room = min(self.peer.h2.local_flow_control_window(self.stream), self.peer.h2.max_outbound_frame_size)
                if room <= 0:
                    return
                self.peer.h2.send_data(self.stream, self.body[:room])
                self.body = self.body[room:]
                self.peer.flush()
            if not self.has_ended:
                self.has_ended = True
                self.peer.h2.end_stream(self.stream)
                self.peer.flush()
        except h2.exceptions.H2Error:
            # The stream was reset.
            self.body, self.has_ended = b"", True

    def ping(self):
        """Waits until all has come that was sent to this client by now."""
        answers = self.peer.pongs
        self.peer.h2.ping(b"all seen")
        self.peer.flush()
        self.go_on(lambda: self.peer.pongs > answers)


def play(protocol, proxy, authority, certificate, key, is_cut):
    may_read, read = threading.Event(), []

    def script(exchange):
        exchange.head(200)
        exchange.data(b"ok")
        exchange.end()
        may_read.wait()
        if is_cut:
            # Not only the stream: what was not read is gone for good.
            exchange.is_over = True
            raw = exchange.raw if protocol == "http/1.1" else exchange.peer.raw
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            raise Broken
        exchange.read()

    origin = Origin(protocol, certificate, key)
    # The kernel is to take a part of the body only.
    origin.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    origin.script, origin.log, origin.done = script, read.append, threading.Event()
    upload = Upload(origin.port, proxy, authority)
    upload.go_on(lambda: "ok" in upload.seen)
    upload.ping()
    early = list(upload.seen)
    may_read.set()
    upload.go_on(lambda: upload.seen[-1].startswith(("end", "reset")))
    if not is_cut:
        origin.done.wait(60)
    return {"early": early, "late": upload.seen[len(early):], "isWhole": any(digest(BODY) in line for line in read)}


def main():
    proxy_1, ca_1, proxy_2, ca_2, certificate, key = sys.argv[1:]
    for protocol, proxy, authority in [("http/1.1", proxy_1, ca_1), ("h2", proxy_2, ca_2)]:
        for is_cut in [False, True]:
            facts = play(protocol, int(proxy), authority, certificate, key, is_cut)
            print(json.dumps({"name": f"{protocol}, {'cut' if is_cut else 'whole'}", **facts}), flush=True)


main()
