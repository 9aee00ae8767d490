#!/usr/bin/python3
"""The origin of the end-to-end tests: a small HTTP/1.1 server that writes down what it received.

    /echo            any method; answers what arrived, as JSON
    /made            makes something: 201 with its Location, /made/7, and the facts about it as JSON
    /made/…          answers what arrived, as JSON
    /closing         the same, and closes the connection after it
    /cut             reads the request and closes the connection without a word
    /large/N         N bytes of a fixed pattern
    /stalled/N       promises N bytes, sends 64 KiB, logs `stalled`, and sends no more
    /parts/N         the same with an ETag, and answers a Range up to the end likewise: another 64 KiB; the last ones complete it
    /sink            reads a body with small reads and a small buffer, answers its length and hash
    /git/…           git over http, by `git http-backend`
    anything else    a file below --root; with ?max-age=N it says that it stays fresh so many seconds

Every request is one line of JSON in --log once its body was read whole, with the time of CLOCK_MONOTONIC at which
its head had arrived. --port-file is written when the port listens.
"""

import argparse
import hashlib
import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

BLOCK = bytes(range(256)) * 256  # 64 KiB
LOCK = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, ssl.SSLError):
            self.close_connection = True

    def log_message(self, *_):
        pass

    def __getattr__(self, name):
        # Any method token is answered: BaseHTTPRequestHandler looks for do_<METHOD>.
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def answer(self):
        self.arrived_at = time.clock_gettime(time.CLOCK_MONOTONIC)
        path = urllib.parse.urlsplit(self.path).path
        for prefix, action in (
                ("/large/", self.large), ("/stalled/", self.stalled), ("/parts/", self.parts), ("/busy/", self.busy),
                ("/broken/", self.broken)):
            if path.startswith(prefix):
                self.read_body()
                return action(int(path[len(prefix):]))
        if path.startswith("/git/"):
            return self.git(path)
        if path == "/events":
            return self.events()
        if path == "/trailers":
            return self.trailers()
        chunks = [] if path.startswith("/made") else None
        length, digest = self.read_body(keep=chunks)
        if path == "/cut":
            self.close_connection = True
            return
        if path == "/made":
            return self.send_json({"id": 7, "owner": {"name": "Æ & \"Co\""}}, 201, Location="/made/7", ETag='"v1"')
        if path in ("/echo", "/sink", "/closing") or path.startswith("/made/"):
            self.close_connection = path == "/closing" or self.close_connection
            return self.send_json({
                "method": self.command, "target": self.path, "length": length, "sha256": digest,
                "body": b"".join(chunks or []).decode("latin-1"),
                "fields": [[name, value] for name, value in self.headers.items()]})
        self.file(path)

    def body_chunks(self, trailers=None):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            while line := self.rfile.readline().strip():
                if trailers is not None:
                    trailers.append(line)
            return
        left = int(self.headers.get("Content-Length", 0))
        while left:
            chunk = self.rfile.read1(min(left, 16384))
            if not chunk:
                raise ConnectionError("the body ended early")
            left -= len(chunk)
            yield chunk

    def read_body(self, keep=None, trailers=None):
        if self.headers.get("Expect", "").lower() == "100-continue":
            pass  # BaseHTTPRequestHandler has sent the 100 already.
        digest, length = hashlib.sha256(), 0
        for chunk in self.body_chunks(trailers):
            digest.update(chunk)
            length += len(chunk)
            if keep is not None:
                keep.append(chunk)
        self.record("request", length=length, sha256=digest.hexdigest(), fields=[[name, value] for name, value in self.headers.items()])
        return length, digest.hexdigest()

    def record(self, event, **facts):
        write_record(self.server.log, event, method=self.command, target=self.path, at=self.arrived_at, **facts)

    def send_json(self, value, status=200, **fields):
        self.send_whole(status, "application/json", json.dumps(value).encode(), **fields)

    def send_whole(self, status, kind, body, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for age in urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("max-age", []):
            self.send_header("Cache-Control", "max-age=" + age)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def large(self, count):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(count))
        self.end_headers()
        while count:
            part = BLOCK[: min(count, len(BLOCK))]
            self.wfile.write(part)
            count -= len(part)

    def stalled(self, count):
        self.send_response(200)
        self.send_header("Content-Length", str(count))
        self.end_headers()
        self.wfile.write(BLOCK)
        self.record("stalled")
        # Until the other side goes away, which is what the tests that come here do.
        self.connection.recv(1)
        self.close_connection = True

    def parts(self, count):
        asked = self.headers.get("Range", "")
        first = int(asked[len("bytes="):-1]) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(count - first))
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{count - 1}/{count}")
        self.end_headers()
        self.wfile.write(BLOCK[: count - first])
        if count - first > len(BLOCK):
            self.record("stalled")
            self.connection.recv(1)
            self.close_connection = True

    def events(self):
        """One server-sent event; the next would come some day."""
        self.read_body()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"b\r\ndata: one\n\n\r\n")
        self.connection.recv(1)
        self.close_connection = True

    def trailers(self):
        """A 103, and the length of the longest field and the trailers of the request as the trailers of the response."""
        came = []
        length, _ = self.read_body(trailers=came)
        longest = max(len(value) for value in self.headers.values())
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Came\r\n\r\n")
        self.wfile.write(b"5\r\nhello\r\n0\r\nX-Came: %d %d %s\r\n\r\n" % (length, longest, b"; ".join(came)))

    def is_one_of_the_first(self, count):
        """Whether fewer requests for this path have come before."""
        with LOCK:
            self.server.counts[self.path] = self.server.counts.get(self.path, 0) + 1
            return self.server.counts[self.path] <= count

    def busy(self, count):
        """503 to so many requests, then a 200."""
        if self.is_one_of_the_first(count):
            return self.send_whole(503, "text/plain", b"busy\n")
        self.send_whole(200, "text/plain", b"at last\n")

    def broken(self, count):
        """So many bytes, whose connection ends in the middle: three times, each later than the one before."""
        asked = self.headers.get("Range", "")
        first = int(asked[len("bytes="):-1]) if asked else 0
        body = (BLOCK * (count // len(BLOCK) + 1))[first:count]
        self.send_response(206 if asked else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(len(body)))
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{count - 1}/{count}")
        self.end_headers()
        if self.is_one_of_the_first(3):
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(body)

    def file(self, path):
        name = os.path.normpath(os.path.join(self.server.root, urllib.parse.unquote(path).lstrip("/")))
        if not name.startswith(self.server.root) or not os.path.exists(name):
            return self.send_whole(404, "text/plain", b"not here\n")
        if os.path.isdir(name):
            name = os.path.join(name, "index.html")
        if not os.path.exists(name):
            return self.send_whole(404, "text/plain", b"not here\n")
        kind = "text/html" if name.endswith(".html") else "application/octet-stream"
        with open(name, "rb") as file:
            self.send_whole(200, kind, file.read())

    def git(self, path):
        """RFC 3875 in a few lines, as much as `git http-backend` asks for."""
        chunks = []
        length, _ = self.read_body(keep=chunks)
        environment = dict(
            os.environ, GIT_PROJECT_ROOT=os.path.join(self.server.root, "git"), GIT_HTTP_EXPORT_ALL="1",
            REQUEST_METHOD=self.command, PATH_INFO=path[len("/git"):],
            QUERY_STRING=urllib.parse.urlsplit(self.path).query,
            CONTENT_TYPE=self.headers.get("Content-Type", ""), CONTENT_LENGTH=str(length),
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
            GIT_PROTOCOL=self.headers.get("Git-Protocol", ""), REMOTE_ADDR="127.0.0.1")
        answer = subprocess.run(
            ["git", "http-backend"], input=b"".join(chunks), env=environment, capture_output=True).stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        status, kind = 200, "application/octet-stream"
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name.lower() == "status":
                status = int(value.split()[0])
            if name.lower() == "content-type":
                kind = value
        self.send_whole(status, kind, body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        pass  # A client that goes away is part of the tests.


def write_record(log, event, **facts):
    line = json.dumps(dict(facts, event=event)) + "\n"
    with LOCK:
        log.write(line)
        log.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    options = parser.parse_args()

    server = Server((options.address, options.port), Handler, bind_and_activate=False)
    server.server_bind()
    # A small receive buffer, so that reading slowly is felt by the sender at once.
    server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    server.server_activate()
    listens_at = time.monotonic()
    server.root = os.path.abspath(options.root)
    server.log = open(options.log, "a")
    server.counts = {}
    write_record(server.log, "listening", method="-", target="-", at=listens_at)
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
        # The handshake then happens on the connection's own thread, not on the one that accepts.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    temporary = options.port_file + ".new"
    with open(temporary, "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(temporary, options.port_file)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
