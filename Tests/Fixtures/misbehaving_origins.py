"""Origins that misbehave: misbehaving_origins.py DIRECT DIRECT_ADMIN LIBCURL LIBCURL_ADMIN CERTIFICATE KEY

The first ports are those of a Layover as it ships, the others those of one with `proxy.upstream: "libcurl"`. Each behaviour is played to
each way on which Layover speaks HTTP/1.1, at a port of its own: a GET by `direct` and by `libcurl`, a WebSocket by `upgrade`, and the same
with TLS (`direct-tls`). A line of JSON for each: the behaviour, the way, and what Layover reports of the failure. If the client gets a
response instead, `kind` is its status.

A behaviour is a list of steps behind the request. ("send", bytes); ("drip", bytes, seconds) sends one byte at a time; ("read",) waits until
the peer has read it; ("reset",) resets the connection; ("hang",) keeps it open until the peer closes. A name that begins with `later` closes its first connection
after the request: then the request is an entry, which reports the failure of a response that has begun. Only the paths of `LIMITED` have a
limit on the time of a response, so a slow origin is none that hangs.
"""

import concurrent.futures
import http.client
import json
import socket
import ssl
import struct
import sys
import threading
import time

import kernel_queues

HEAD = b"HTTP/1.1 200 OK\r\n"
REST = b"Content-Length: 2\r\n\r\nok"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\n"
# Seconds that an attempt waits for a head, or for the rest of a body.
LIMIT = 2
# Paths with a limit, by the behaviour that takes longer.
LIMITED = {
    "silent": "/head", "stall in the head": "/head", "stall after an interim head": "/head", "slow head": "/head",
    "later stall in the body": "/body",
}


def stays(data):
    return [("send", data), ("hang",)]


def closes(data):
    return [("send", data)]


def resets(data):
    # What was sent is read before the reset comes, which would take it away.
    return [("send", data), ("read",), ("reset",)]


BEHAVIOURS = {
    "silent": [("hang",)],
    "closes": [],
    "resets": [("reset",)],
    "words": stays(b"lorem ipsum dolor\r\n\r\n"),
    "settings of HTTP/2": stays(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"),
    "alert of TLS": stays(b"\x15\x03\x01\x00\x02\x02\x46"),
    "status 099": stays(b"HTTP/1.1 099 Odd\r\n" + REST),
    "cut in the status line": closes(b"HTTP/1."),
    "cut in the head": closes(HEAD + b"Content-Le"),
    "reset in the head": resets(HEAD + b"Content-Le"),
    "cut after an interim head": closes(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "stall in the head": stays(HEAD + b"Content-Le"),
    "stall after an interim head": stays(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "slow head": [("drip", HEAD + REST, LIMIT / 4), ("hang",)],
    "head of 20 KB": stays(HEAD + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 2000) for i in range(10)) + REST),
    "line of 150 KB": stays(HEAD + b"X-Big: " + b"a" * 150_000 + b"\r\n" + REST),
    "status line of 150 KB": stays(b"HTTP/1.1 200 " + b"a" * 150_000 + b"\r\n" + REST),
    "1500 fields": stays(HEAD + b"".join(b"X-%04d:\r\n" % i for i in range(1500)) + REST),
    "100 interim heads": stays(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100 + HEAD + REST),
    "field without a colon": stays(HEAD + b"nonsense\r\n" + REST),
    "two lengths": stays(HEAD + b"Content-Length: 3\r\n" + REST),
    "unknown coding": stays(HEAD + b"Transfer-Encoding: frobnicate\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "101 without Upgrade": stays(SWITCH + b"\r\n"),
    "101 with another token": stays(SWITCH + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    "101 with two tokens": stays(SWITCH + b"Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n"),
    "101 of HTTP/1.0": stays(SWITCH.replace(b"1.1", b"1.0") + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    "101 as asked for": stays(SWITCH + b"Connection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n"),
    "later cut in the body": closes(HEAD + b"Content-Length: 100\r\n\r\nok"),
    "later reset in the body": resets(HEAD + b"Content-Length: 100\r\n\r\nok"),
    "later stall in the body": stays(HEAD + b"Content-Length: 100\r\n\r\nok"),
    "later cut in a chunk": closes(CHUNKED + b"64\r\nok"),
    "later chunk of no size": stays(CHUNKED + b"xyz\r\nok\r\n0\r\n\r\n"),
    "later chunk of 17 digits": stays(CHUNKED + b"F" * 17 + b"\r\nok\r\n0\r\n\r\n"),
    "later chunk without its end": stays(CHUNKED + b"2\r\nok!!0\r\n\r\n"),
    "later trailers of 20 KB": stays(
        CHUNKED + b"2\r\nok\r\n0\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 2000) for i in range(10)) + b"\r\n"),
}


class Origin:
    def __init__(self, name, tls):
        self.name, self.tls, self.count = name, tls, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            peer, _ = self.listener.accept()
            self.count += 1
            threading.Thread(target=self.serve, args=(peer, self.count), daemon=True).start()

    def serve(self, peer, number):
        peer.settimeout(20)
        try:
            if self.tls:
                peer = self.tls.wrap_socket(peer, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                part = peer.recv(65536)
                if not part:
                    return
                head += part
            if number > 1 or not self.name.startswith("later"):
                for step in BEHAVIOURS[self.name]:
                    self.play(peer, *step)
            if self.tls:
                peer.unwrap()
        except OSError:
            pass
        finally:
            peer.close()

    @staticmethod
    def play(peer, what, *facts):
        if what == "send":
            peer.sendall(facts[0])
        elif what == "drip":
            for byte in facts[0]:
                peer.sendall(bytes([byte]))
                time.sleep(facts[1])
        elif what == "read":
            kernel_queues.wait_until_read(peer)
        elif what == "hang":
            while peer.recv(65536):
                pass
        elif what == "reset":
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            socket.socket(fileno=peer.detach()).close()


class FinalResponse(http.client.HTTPResponse):
    """The response behind the interim ones, of which http.client skips 100 only."""

    def begin(self):
        super().begin()
        while self.status < 200 and self.status != 101:
            self.headers = self.msg = None
            super().begin()


def exchange(proxy, origin, is_upgrade):
    """Status and body that the client gets."""
    fields = {"Host": f"127.0.0.1:{origin.port}", "Connection": "close"}
    if is_upgrade:
        fields = {**fields, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    client = http.client.HTTPConnection("127.0.0.1", proxy, timeout=20)
    client.response_class = FinalResponse
    path = LIMITED.get(origin.name, "/")
    client.request("GET", f"http{'s' if origin.tls else ''}://127.0.0.1:{origin.port}{path}", headers=fields)
    response = client.getresponse()
    try:
        body = b"" if response.status == 101 else response.read()
    except (http.client.HTTPException, OSError):
        body = b""
    client.close()
    return response.status, body


def entry(admin, origin):
    """The last failure of the request's entry, once it has ended."""
    for _ in range(600):
        client = http.client.HTTPConnection("127.0.0.1", admin, timeout=20)
        client.request("GET", f"/v1/pending?state=delivered,failed,cancelled,expired&q={origin.port}", headers={"Host": "localhost"})
        found = json.loads(client.getresponse().read())["data"]
        client.close()
        # The id of another entry may have the digits of the port.
        for one in found:
            if f":{origin.port}/" in one["url"]:
                return {**one["lastFailure"], "attempts": one["attempts"]}
        time.sleep(0.05)
    return {"kind": "no entry"}


def play(name, way, proxy, admin, tls):
    origin = Origin(name, tls)
    status, body = exchange(proxy, origin, way.startswith("upgrade"))
    if name.startswith("later"):
        facts = entry(admin, origin)
    elif body.startswith(b"{"):
        facts = json.loads(body)
        facts["message"] = facts["detail"].removesuffix(" No automatic attempts are left.")
    else:
        facts = {"kind": str(status)}
    # A failure by a limit needs no origin that has accepted the connection yet.
    for _ in range(600):
        if origin.count >= facts.get("attempts", 1):
            break
        time.sleep(0.05)
    return {
        "behaviour": name, "way": way, "kind": facts["kind"], "phase": facts.get("phase", ""), "evidence": facts.get("evidence", ""),
        "attempts": facts.get("attempts", 1), "connections": origin.count, "text": facts.get("message", "")}


def main():
    direct, direct_admin, libcurl, libcurl_admin = map(int, sys.argv[1:5])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*sys.argv[5:7])
    ways = {"direct": (direct, direct_admin), "libcurl": (libcurl, libcurl_admin), "upgrade": (direct, direct_admin)}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        runs = [
            pool.submit(play, name, way + end, *ports, context)
            for name in BEHAVIOURS for end, context in [("", None), ("-tls", tls)] for way, ports in ways.items()]
        for run in runs:
            print(json.dumps(run.result()), flush=True)


main()
