"""Clients that give up on a server that hangs: leaving_clients.py PROXY_PORT ADMIN_PORT HUNG_PORT AUTHORITY_FILE PROXY_PID DESCRIPTORS_MAX

Runs the server that hangs on HUNG_PORT, a healthy one, and 2 800 clients of the proxy: by FIN, by RST, by RST_STREAM of HTTP/2; with GET
and POST; before and after the head of the response. Another client uses the healthy server meanwhile. The proxy must intercept the host
`localhost` and send its requests to the server that hangs.
The clients come in batches: the next one comes once the proxy has at most DESCRIPTORS_MAX descriptors open, as before the one that left.
Prints one object of JSON."""

import http.client
import http.server
import json
import os
import selectors
import socket
import ssl
import struct
import sys
import threading
import time

proxy, admin, hung_port, authority = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
proxy_pid, descriptors_max = int(sys.argv[5]), int(sys.argv[6])
BY_SOCKET, BY_STREAM, BATCH = 200, 300, 100
DATA, HEADERS, RST_STREAM, SETTINGS, PING = 0, 1, 3, 4, 6
END_STREAM, END_HEADERS, ACK = 1, 4, 1


class HungServer(threading.Thread):
    """Reads requests, and says nothing, or a head and the beginning of a body where the path asks for that."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", hung_port), backlog=2048)
        self.open, self.seen, self.lock = {}, {}, threading.Lock()

    def run(self):
        selector = selectors.DefaultSelector()
        selector.register(self.listener, selectors.EVENT_READ)
        heads = {}
        while True:
            for key, _ in selector.select():
                connection = key.fileobj
                if connection is self.listener:
                    accepted, _ = connection.accept()
                    heads[accepted] = b""
                    selector.register(accepted, selectors.EVENT_READ)
                    continue
                try:
                    data = connection.recv(65536)
                except OSError:
                    data = b""
                if not data:
                    selector.unregister(connection)
                    connection.close()
                    heads.pop(connection, None)
                    with self.lock:
                        self.open.pop(connection, None)
                    continue
                if connection in heads:
                    heads[connection] += data
                    if b"\r\n\r\n" in heads[connection]:
                        self.begin(connection, heads.pop(connection))

    def begin(self, connection, head):
        path = head.split(b" ")[1].decode()
        kind = path.strip("/")
        with self.lock:
            self.open[connection] = kind
            self.seen[kind] = self.seen.get(kind, 0) + 1
        if "after" in kind:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc")

    def count(self, kind):
        with self.lock:
            return self.seen.get(kind, 0)

    def open_kinds(self):
        with self.lock:
            return set(self.open.values())


class Healthy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class User(threading.Thread):
    """Goes on using another server."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.uses, self.failures, self.is_over = port, 0, [], False

    def run(self):
        while not self.is_over:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=20)
                connection.request("GET", f"http://127.0.0.1:{self.port}/")
                response = connection.getresponse()
                if response.status != 200 or response.read() != b"ok":
                    self.failures.append(response.status)
                connection.close()
            except OSError as error:
                self.failures.append(str(error))
            self.uses += 1
            time.sleep(0.02)


class Watch(threading.Thread):
    """Looks at what the proxy says of its limits."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.last, self.streams_most, self.is_over = 0, None, 0, False

    def run(self):
        while not self.is_over:
            now = status()
            self.last = now["limits"]["unattended"]["used"]
            self.streams_most = max(self.streams_most, now["upstream"]["streams"])
            self.most = max(self.most, self.last)
            time.sleep(0.05)


def status():
    connection = http.client.HTTPConnection("127.0.0.1", admin, timeout=20)
    connection.request("GET", "/v1/status")
    return json.loads(connection.getresponse().read())


def wait(is_done, seconds, what):
    """Seconds until it was done."""
    start = time.monotonic()
    while not is_done():
        if time.monotonic() - start > seconds:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return time.monotonic() - start


def descriptor_count():
    return len(os.listdir(f"/proc/{proxy_pid}/fd"))


def settled(kind):
    """A batch of clients has left, and the proxy has closed what it had opened for them."""
    seconds = wait(lambda: descriptor_count() <= descriptors_max, 60, f"descriptors of {kind} are closed")
    closed[kind] = max(closed.get(kind, 0), seconds)


def by_socket(kind, method, way):
    """Clients by HTTP/1.1."""
    body = "Content-Length: 3\r\n\r\nabc" if method == "POST" else "\r\n"
    request = f"{method} http://127.0.0.1:{hung_port}/{kind} HTTP/1.1\r\nHost: 127.0.0.1:{hung_port}\r\n{body}".encode()
    for _ in range(BY_SOCKET // BATCH):
        before = hung.count(kind)
        clients = [socket.create_connection(("127.0.0.1", proxy), timeout=60) for _ in range(BATCH)]
        for client in clients:
            client.sendall(request)
        wait(lambda: hung.count(kind) == before + BATCH, 60, f"{kind} is sent")
        for client in clients:
            if "after" in kind:
                received = b""
                while not received.endswith(b"abc"):
                    received += client.recv(65536)
            if way == "RST":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        most[kind] = max(most.get(kind, 0), descriptor_count())
        for client in clients:
            client.close()
        settled(kind)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fields(method, path):
    """Literal fields without indexing (RFC 7541 section 6.2.2)."""
    block = b""
    for name, value in [(":method", method), (":scheme", "https"), (":authority", "localhost:443"), (":path", path)]:
        block += b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    return block


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            sys.exit("The proxy ended the connection by HTTP/2.")
        data += part
    return data


def receive_data(connection, streams):
    """Reads until each stream has got the beginning of its body."""
    missing = set(streams)
    while missing:
        head = exactly(connection, 9)
        payload = exactly(connection, int.from_bytes(head[:3], "big"))
        if head[3] == DATA and payload.endswith(b"abc"):
            missing.discard(int.from_bytes(head[5:], "big"))


def by_stream(connection, kind, method, first):
    """Streams of one connection by HTTP/2."""
    for _ in range(BY_STREAM // BATCH):
        before = hung.count(kind)
        streams = range(first, first + 2 * BATCH, 2)
        connection.sendall(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, stream, fields(method, "/" + kind)) for stream in streams))
        wait(lambda: hung.count(kind) == before + BATCH, 60, f"{kind} is sent")
        if "after" in kind:
            receive_data(connection, streams)
        # They stay open until the proxy was asked how many there are.
        wait(lambda: watch.streams_most >= BATCH, 60, f"streams of {kind} are counted")
        most[kind] = max(most.get(kind, 0), descriptor_count())
        connection.sendall(b"".join(frame(RST_STREAM, 0, stream, struct.pack(">I", 8)) for stream in streams))
        settled(kind)
        first += 2 * BATCH
    return first


def http2():
    raw = socket.create_connection(("127.0.0.1", proxy), timeout=60)
    raw.sendall(b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n")
    head = b""
    while b"\r\n\r\n" not in head:
        head += raw.recv(1)
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    connection = context.wrap_socket(raw, server_hostname="localhost")
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0) + frame(SETTINGS, ACK, 0))
    return connection


hung = HungServer()
hung.start()
healthy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
threading.Thread(target=healthy.serve_forever, daemon=True).start()
user, watch = User(healthy.server_address[1]), Watch()
user.start()
watch.start()

plan = [
    ("get-before-fin", "GET", "FIN"), ("get-before-rst", "GET", "RST"), ("get-after-fin", "GET", "FIN"), ("get-after-rst", "GET", "RST"),
    ("post-before-fin", "POST", "FIN"), ("post-before-rst", "POST", "RST"), ("post-after-fin", "POST", "FIN"),
    ("post-after-rst", "POST", "RST"),
]
gone = {}
# Descriptors of the proxy by kind of client: most while a batch was there, and seconds until at most DESCRIPTORS_MAX were open.
most, closed = {}, {}
for kind, method, way in plan:
    by_socket(kind, method, way)
stream = http2()
stream_plan = [
    ("get-before-stream", "GET"), ("get-after-stream", "GET"), ("post-before-stream", "POST"), ("post-after-stream", "POST"),
]
following = 1
for kind, method in stream_plan:
    following = by_stream(stream, kind, method, following)
left_at = time.monotonic()
unattended = {"post-before-fin", "post-before-rst", "post-before-stream"}
kinds = [kind for kind, _, _ in plan] + [kind for kind, _ in stream_plan]
for kind in kinds:
    if kind not in unattended:
        wait(lambda: kind not in hung.open_kinds(), 60, f"{kind} has ended")
        gone[kind] = time.monotonic() - left_at
for kind in unattended:
    wait(lambda: kind not in hung.open_kinds(), 60, f"{kind} has ended")
    gone[kind] = time.monotonic() - left_at
wait(lambda: watch.last == 0, 20, "no attempt is unattended")
user.is_over = watch.is_over = True
user.join()
watch.join()
print(json.dumps({
    "gone": gone, "sent": {kind: hung.count(kind) for kind in kinds}, "unattendedMost": watch.most, "uses": user.uses,
    "failures": [str(failure) for failure in user.failures], "streamsMost": watch.streams_most,
    "descriptorsMost": most, "closedWithin": closed,
}))
