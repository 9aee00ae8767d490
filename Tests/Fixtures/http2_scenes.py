"""A client that speaks HTTP/2 and an origin, with and without Layover between them: http2_scenes.py PROXY_1 CA_1 PROXY_2 CA_2 CA CERTIFICATE KEY

Each scene is played directly with an origin that speaks HTTP/2, by the proxy on port PROXY_1 with an origin that speaks HTTP/1.1, and by the
one on PROXY_2 with the first origin. CA_… are the files of the authorities that the client trusts then, CA the one of the origin.
A line of JSON for each scene: its name, and what the origin received and the client saw by each of the three ways.
"""

import concurrent.futures
import hashlib
import json
import socket
import ssl
import sys
import threading
import time

import kernel_queues

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

OF_CONNECTIONS = {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "via", "date", "proxy-status"}
LONG = b"".join(number.to_bytes(4, "big") for number in range(500_000))


def essence(fields):
    pairs = [(name.lower(), value) for name, value in fields if not name.startswith(":")]
    return " | ".join(f"{name}: {value}" for name, value in pairs if name not in OF_CONNECTIONS)


def digest(body):
    return f"{len(body)} bytes {hashlib.sha256(body).hexdigest()[:16]}"


class Broken(Exception):
    pass


class Peer:
    """One end of a connection by HTTP/2. One thread uses it."""

    def __init__(self, raw, is_client, window=None):
        self.raw, self.events, self.pongs = raw, {}, 0
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=is_client, header_encoding="utf-8"))
        self.h2.initiate_connection()
        if window:
            self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.fresh = []
        self.flush()

    def flush(self):
        try:
            self.raw.sendall(self.h2.data_to_send())
        except OSError:
            raise Broken("connection")

    def pump(self):
        try:
            data = self.raw.recv(65536)
        except OSError:
            data = b""
        if not data:
            raise Broken("connection")
        for event in self.h2.receive_data(data):
            stream = getattr(event, "stream_id", None)
            if isinstance(event, h2.events.PingAckReceived):
                self.pongs += 1
            if isinstance(event, h2.events.RequestReceived):
                self.fresh.append(stream)
            if isinstance(event, h2.events.DataReceived):
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            if stream:
                self.events.setdefault(stream, []).append(event)
        self.flush()

    def event(self, stream):
        while not self.events.get(stream):
            self.pump()
        event = self.events[stream].pop(0)
        if isinstance(event, h2.events.StreamReset):
            raise Broken("reset")
        return event

    def send(self, stream, body, end=False):
        while body:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if room <= 0:
                # The window of a stream that was reset stays shut.
                if any(isinstance(event, h2.events.StreamReset) for event in self.events.get(stream, [])):
                    raise Broken("reset")
                self.pump()
                continue
            self.h2.send_data(stream, body[:room])
            body = body[room:]
            self.flush()
        if end:
            self.h2.end_stream(stream)
            self.flush()

    def body(self, stream, pause=0):
        """A body and its trailers."""
        body, trailers = b"", ""
        while True:
            event = self.event(stream)
            if isinstance(event, h2.events.DataReceived):
                time.sleep(pause)
                body += event.data
            elif isinstance(event, h2.events.TrailersReceived):
                trailers = essence(event.headers)
            elif isinstance(event, h2.events.StreamEnded):
                return body, trailers


class Exchange2:
    """A request in the hands of an origin that speaks HTTP/2."""

    # Fields of a response after which no more of the request is read.
    last = ()

    def __init__(self, peer, stream, log):
        self.peer, self.stream, self.log = peer, stream, log
        self.fields = peer.event(stream).headers
        start = dict(self.fields)
        log(f"{start[':method']} {start[':path']} | {essence(self.fields)}")

    def read(self, pause=0):
        try:
            body, trailers = self.peer.body(self.stream, pause)
            self.log(f"{digest(body)} {trailers}")
        except Broken:
            self.log("incomplete")

    def head(self, status, *fields, end=False):
        self.peer.h2.send_headers(self.stream, [(":status", str(status)), *fields], end_stream=end)
        self.peer.flush()

    interim = head

    def data(self, body):
        self.peer.send(self.stream, body)

    def end(self, *trailers):
        if trailers:
            self.peer.h2.send_headers(self.stream, trailers, end_stream=True)
        else:
            self.peer.h2.end_stream(self.stream)
        self.peer.flush()

    def take_all(self):
        """Lets the client send all of the body before any of it is read."""
        self.peer.h2.increment_flow_control_window(len(LONG))
        self.peer.h2.increment_flow_control_window(len(LONG), self.stream)
        self.peer.flush()

    def wait_until_sent(self, count):
        """Waits until the kernel has so many bytes of the request."""
        kernel_queues.wait_until_sent(self.peer.raw, count)

    def send_frame(self):
        """Sends a frame as origins do while they read."""
        self.peer.h2.increment_flow_control_window(1)
        self.peer.flush()

    def abort(self, code=h2.errors.ErrorCodes.INTERNAL_ERROR):
        self.peer.h2.reset_stream(self.stream, code)
        self.peer.flush()

    def stop(self):
        """Asks the client to send no more (RFC 9113 section 8.1)."""
        self.abort(h2.errors.ErrorCodes.NO_ERROR)


class Exchange1:
    """The same for HTTP/1.1."""

    last = (("connection", "close"),)

    def __init__(self, raw, file, log):
        self.raw, self.file, self.log, self.is_over, self.chunked = raw, file, log, False, False
        line = file.readline().decode().split()
        if not line:
            raise Broken("connection")
        fields = []
        while text := file.readline().decode("latin-1").strip():
            fields.append(tuple(text.split(": ", 1)))
        self.fields = {name.lower(): value for name, value in fields}
        self.method = line[0]
        log(f"{line[0]} {line[1]} | {essence(fields)}")

    def read(self, pause=0):
        body, trailers = b"", []
        try:
            if self.fields.get("transfer-encoding") == "chunked":
                while size := int(self.file.readline() or b"x", 16):
                    part = self.file.read(size + 2)
                    if len(part) < size + 2:
                        raise ValueError
                    body += part[:-2]
                    time.sleep(pause)
                while text := self.file.readline().decode().strip():
                    trailers.append(tuple(text.split(": ", 1)))
            else:
                length = int(self.fields.get("content-length", 0))
                while len(body) < length:
                    part = self.file.read(min(16384, length - len(body)))
                    if not part:
                        raise ValueError
                    body += part
                    time.sleep(pause)
            self.log(f"{digest(body)} {essence(trailers)}")
        except (ValueError, OSError):
            self.log("incomplete")
            self.is_over = True

    def take_all(self):
        """HTTP/1.1 has no windows."""

    send_frame = take_all

    def wait_until_sent(self, count):
        """A proxy takes no more from its client while the kernel takes no more from the proxy."""

    def write(self, data):
        try:
            self.raw.sendall(data)
        except OSError:
            self.is_over = True

    def lines(self, status, fields):
        text = [f"HTTP/1.1 {status} Reason", *(f"{name}: {value}" for name, value in fields)]
        self.write("\r\n".join(text + ["", ""]).encode())

    def interim(self, status, *fields):
        self.lines(status, fields)

    def head(self, status, *fields, end=False):
        self.chunked = not end and "content-length" not in dict(fields)
        extra = [("Transfer-Encoding", "chunked")] if self.chunked else []
        if end and status not in (204, 304) and self.method != "HEAD":
            extra = [("Content-Length", "0")]
        self.lines(status, [*fields, *extra])

    def data(self, body):
        self.write(f"{len(body):x}\r\n".encode() + body + b"\r\n" if self.chunked else body)

    def end(self, *trailers):
        if self.chunked:
            self.write("".join(["0\r\n", *(f"{name}: {value}\r\n" for name, value in trailers), "\r\n"]).encode())

    def abort(self):
        self.is_over = True
        self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def stop(self):
        """Says that nothing more follows, and throws away what comes: a close with unread bytes is a reset, which may overtake the response."""
        self.is_over = True
        self.raw.shutdown(socket.SHUT_WR)
        try:
            while self.raw.recv(65536):
                pass
        except OSError:
            pass


class Origin:
    def __init__(self, protocol, certificate, key):
        self.protocol, self.script, self.log = protocol, None, None
        # Set when the head of a request has arrived, when the client has the head of its response and all of it, and when a script has ended.
        self.arrived, self.answered, self.told, self.done = (threading.Event() for _ in range(4))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols([protocol])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def exchange(self, exchange):
        exchange.answered, exchange.told = self.answered, self.told
        self.arrived.set()
        self.script(exchange)
        self.done.set()

    def serve(self, raw):
        try:
            raw = self.context.wrap_socket(raw, server_side=True)
            raw.settimeout(20)
            if self.protocol == "h2":
                peer = Peer(raw, False)
                while True:
                    while not peer.fresh:
                        peer.pump()
                    self.exchange(Exchange2(peer, peer.fresh.pop(0), self.log))
            file = raw.makefile("rb")
            while True:
                exchange = Exchange1(raw, file, self.log)
                self.exchange(exchange)
                if exchange.is_over:
                    break
        except (OSError, Broken, h2.exceptions.H2Error):
            pass
        finally:
            raw.close()


class Client:
    def __init__(self, port, proxy, authority, log, window=None):
        raw = socket.create_connection(("127.0.0.1", proxy or port), timeout=20)
        if proxy:
            raw.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += raw.recv(1) or exit(f"CONNECT: {head}")
        context = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols(["h2"])
        raw = context.wrap_socket(raw, server_hostname="localhost")
        self.peer, self.log, self.authority = Peer(raw, True, window), log, f"localhost:{port}"
        # Events of the origin.
        self.arrived, self.answered, self.told = threading.Event(), threading.Event(), threading.Event()

    def request(self, method, path, *fields, end=True):
        stream = self.peer.h2.get_next_available_stream_id()
        start = [(":method", method), (":scheme", "https"), (":authority", self.authority), (":path", path)]
        self.peer.h2.send_headers(stream, [*start, *fields], end_stream=end)
        self.peer.flush()
        return stream

    def send(self, stream, body, end=False, is_noted=True):
        try:
            self.peer.send(stream, body, end)
        except (Broken, h2.exceptions.H2Error):
            if is_noted:
                self.log("could not send all")

    def response(self, stream, pause=0):
        try:
            while True:
                event = self.peer.event(stream)
                if isinstance(event, h2.events.InformationalResponseReceived):
                    self.log(f"interim {dict(event.headers)[':status']} | {essence(event.headers)}")
                if isinstance(event, h2.events.ResponseReceived):
                    break
            self.log(f"{dict(event.headers)[':status']} | {essence(event.headers)}")
            self.answered.set()
            body, trailers = self.peer.body(stream, pause)
            self.log(f"{digest(body)} {trailers}")
            self.told.set()
        except Broken as error:
            self.log(f"broken: {error}")


def answering(status=200, *fields, body=b"ok", trailers=(), pause=0):
    def script(exchange):
        exchange.read(pause)
        exchange.head(status, *fields, end=body is None)
        if body is not None:
            exchange.data(body)
            exchange.end(*trailers)
    return script


def asking(method, *fields, body=None, trailers=(), pause=0):
    def script(client):
        stream = client.request(method, "/x?y=%2F", *fields, end=body is None)
        if body is not None:
            client.send(stream, body, end=not trailers)
            if trailers:
                client.peer.h2.send_headers(stream, trailers, end_stream=True)
                client.peer.flush()
        client.response(stream, pause)
    return script


def interim(exchange):
    exchange.read()
    exchange.interim(103, ("link", "</a>"))
    answering()(Answered(exchange))


class Answered:
    """An exchange whose request was read."""

    def __init__(self, exchange):
        self.head, self.data, self.end = exchange.head, exchange.data, exchange.end

    def read(self, pause=0):
        pass


def breaking(exchange):
    exchange.read()
    exchange.head(200)
    exchange.data(b"half")
    # The head is to be read before the reset.
    exchange.answered.wait(10)
    exchange.abort()


def early(status, *fields, body=b"ok"):
    """Answers before the end of the request, and reads it then."""
    def script(exchange):
        exchange.head(status, *fields, end=body is None)
        if body is not None:
            exchange.data(body)
            exchange.end()
        exchange.read()
    return script


def read_late(exchange):
    """Answers before the end of the request, and reads it when the client has all of the response."""
    exchange.take_all()
    exchange.head(200, ("content-length", "2"))
    exchange.data(b"ok")
    exchange.end()
    exchange.told.wait(20)
    exchange.read()


def read_after_all(exchange):
    """Answers when the kernel has all of the request, and reads it when the client has all of the response."""
    exchange.take_all()
    exchange.wait_until_sent(140_000)
    exchange.head(200, ("content-length", "2"))
    exchange.data(b"ok")
    exchange.end()
    exchange.told.wait(20)
    exchange.send_frame()
    # An idle connection on which something has come is closed after two seconds at most.
    time.sleep(3)
    exchange.send_frame()
    exchange.read()


def refusing(exchange):
    """Answers, and reads no more."""
    exchange.head(413, ("content-length", "3"), *exchange.last)
    exchange.data(b"big")
    exchange.end()
    exchange.stop()


def refused(client):
    stream = client.request("POST", "/x", end=False)
    # How much of it is sent is a race; the response is not.
    client.send(stream, LONG, end=True, is_noted=False)
    client.response(stream)


def leaving(client):
    stream = client.request("POST", "/left", end=False)
    client.send(stream, b"part")
    # A request whose client leaves before Layover is connected to the origin is never sent.
    client.arrived.wait(20)
    client.peer.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
    client.peer.flush()


def six(client):
    for stream in [client.request("POST", f"/{number}", ("x-number", str(number)), end=False) for number in range(6)]:
        client.send(stream, LONG[:50_000 + stream], end=True)
        client.response(stream)


SCENES = {
    "GET": (asking("GET", ("x-a", "1"), ("x-b", "2"), ("x-a", "3")), answering(200, ("x-c", "1"), ("x-c", "2"))),
    "cookies in crumbs": (asking("GET", ("cookie", "a=1"), ("cookie", "b=2")), answering()),
    "HEAD": (asking("HEAD"), answering(200, ("etag", '"a"'), body=None)),
    "no content": (asking("DELETE"), answering(204, body=None)),
    "not modified": (asking("GET", ("if-none-match", '"a"')), answering(304, ("etag", '"a"'), body=None)),
    "empty response": (asking("PUT", body=b""), answering(201, ("location", "/x"), body=None)),
    "upload without a length": (asking("POST", body=LONG), answering()),
    "upload with a length": (asking("PUT", ("content-length", str(len(LONG))), body=LONG), answering()),
    "origin that reads slowly": (asking("POST", body=LONG[:600_000]), answering(pause=0.01)),
    "long response": (asking("GET"), answering(body=LONG)),
    "client that reads slowly": (asking("GET", pause=0.005), answering(body=LONG[:800_000])),
    "trailers both ways": (
        asking("POST", ("te", "trailers"), body=b"abc", trailers=[("x-sum", "1")]), answering(trailers=[("x-total", "2")])),
    "interim response": (asking("GET"), interim),
    "response that breaks": (asking("POST", body=b"abc"), breaking),
    "client that resets its stream": (leaving, lambda exchange: exchange.read()),
    "early success": (asking("POST", body=LONG), early(200)),
    "early success with a length": (asking("POST", body=LONG), early(200, ("content-length", "2"))),
    "early success without a body": (asking("POST", body=LONG), early(204, body=None)),
    "early success, read late": (asking("POST", body=LONG), read_late),
    "success of an upload that nobody has read": (asking("POST", body=LONG[:140_000]), read_after_all),
    "success of a repeatable upload that is read late": (asking("PUT", body=LONG[:140_000]), read_after_all),
    "early error": (asking("POST", body=LONG), early(404, ("content-length", "2"))),
    "early refusal": (refused, refusing),
    "six streams": (six, answering()),
}


def play(origin, proxy, authority, scripts):
    lines, lock = {"origin": [], "client": []}, threading.Lock()

    def log(side):
        def note(line):
            with lock:
                lines[side].append(f"{side}: {line.strip()}")
        return note

    origin.script, origin.log, origin.done = scripts[1], log("origin"), threading.Event()
    origin.arrived, origin.answered, origin.told = (threading.Event() for _ in range(3))
    client = Client(origin.port, proxy, authority, log("client"))
    client.arrived, client.answered, client.told = origin.arrived, origin.answered, origin.told
    scripts[0](client)
    if not origin.done.wait(20):
        lines["origin"].append("origin: its script has not ended")
    client.peer.raw.close()
    # Streams reach the origin in any order.
    return (sorted(lines["origin"]) if scripts[0] is six else lines["origin"]) + lines["client"]


def main():
    proxy_1, ca_1, proxy_2, ca_2, ca, certificate, key = sys.argv[1:]

    def lines(scene):
        name, scripts = scene
        new, old = Origin("h2", certificate, key), Origin("http/1.1", certificate, key)
        ways = [("direct", new, None, ca), ("http1", old, int(proxy_1), ca_1), ("http2", new, int(proxy_2), ca_2)]
        return {"name": name, **{way: play(origin, proxy, authority, scripts) for way, origin, proxy, authority in ways}}

    # One thread prints: two calls of print at a time mix up their lines.
    with concurrent.futures.ThreadPoolExecutor(len(SCENES)) as threads:
        for facts in threads.map(lines, SCENES.items()):
            print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
