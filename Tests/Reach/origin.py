#!/usr/bin/python3 -B
"""The origin of the reach test: serves a folder on ports 80 and 443, and misbehaves as the name of the host says.

A host is `<cell>--<fault>.reach.test`. The fault `busy` answers the first two requests for each path with 503; `broken` breaks the first
response of each large path in its middle; any other behaves. Every file has a strong ETag and knows Range and If-Range.

`origin.py FOLDER CERTIFICATE KEY`; prints "ready" once both ports listen, and a line of JSON for each request.
"""

import hashlib
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = 256 << 10
BUSY_COUNT = 2

folder, certificate, key = sys.argv[1:4]
counts = {}
lock = threading.Lock()
reports = {}


def log(**facts):
    with lock:
        print(json.dumps(facts), flush=True)


def count(*key_):
    with lock:
        counts[key_] = counts.get(key_, 0) + 1
        return counts[key_]


def content_type(path, file):
    kinds = {".html": "text/html; charset=utf-8", ".json": "application/json", ".js": "text/javascript", ".xml": "text/xml"}
    name = os.path.basename(file)
    if path.startswith("/npm/") and name == "index.html":
        return "application/json"
    if "." not in name:
        return "text/plain"
    return kinds.get(os.path.splitext(name)[1], "application/octet-stream")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (OSError, ssl.SSLError):
            pass

    @property
    def host(self):
        return (self.headers.get("Host") or "").split(":")[0]

    @property
    def fault(self):
        return self.host.split(".")[0].rpartition("--")[2]

    def do_GET(self):
        self.answer()

    do_HEAD = do_GET

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) if not self.is_chunked() else self.chunks()
        self.answer()

    def is_chunked(self):
        return (self.headers.get("Transfer-Encoding") or "").lower() == "chunked"

    def chunks(self):
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self):
        path = unquote(urlsplit(self.path).path)
        number = count(self.host, self.command, self.path)
        log(host=self.host, method=self.command, path=self.path, number=number, range=self.headers.get("Range"), via=self.headers.get("Via"))
        if self.fault == "busy" and number <= BUSY_COUNT:
            return self.simple(503, b"busy\n")
        if path == "/report":
            with lock:
                reports[self.host] = parse_qs(urlsplit(self.path).query).get("sum", [""])[0]
            return self.simple(200, b"thanks\n")
        if path == "/reported":
            with lock:
                return self.simple(200, json.dumps(reports).encode())
        if path.startswith("/smart/"):
            return self.git(path)
        file = os.path.normpath(os.path.join(folder, path.lstrip("/")))
        if os.path.isdir(file):
            file = os.path.join(file, "index.html")
        if not file.startswith(folder) or not os.path.isfile(file):
            return self.simple(404, b"no such file\n")
        with open(file, "rb") as opened:
            self.file(path, file, opened.read(), number)

    def simple(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def file(self, path, file, data, number):
        # Indexes name the host that they are asked by.
        if len(data) < LARGE and b"@BASE@" in data:
            scheme = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
            data = data.replace(b"@BASE@", f"{scheme}://{self.host}".encode())
        tag = '"%s"' % hashlib.sha256(data).hexdigest()[:32]
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.send_header("ETag", tag)
            return self.end_headers()
        first, last = 0, len(data) - 1
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if wanted and self.headers.get("If-Range") in (None, tag) and int(wanted[1]) < len(data):
            first = int(wanted[1])
            last = min(last, int(wanted[2] or last))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Type", content_type(path, file))
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("ETag", tag)
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if self.command == "HEAD":
            return
        part = data[first:last + 1]
        if self.fault == "broken" and len(data) >= LARGE and number == 1:
            self.wfile.write(part[:len(part) // 2])
            return self.break_off()
        self.wfile.write(part)

    def break_off(self):
        """Resets the connection once the peer has what was sent."""
        self.wfile.flush()
        self.close_connection = True
        raw = self.connection
        # A reset at once would take away what the peer has not read yet.
        remaining = struct.pack("i", 0)
        for _ in range(200):
            import fcntl
            import termios
            remaining = fcntl.ioctl(raw.fileno(), termios.TIOCOUTQ, remaining)
            if struct.unpack("i", remaining)[0] == 0:
                break
            threading.Event().wait(0.05)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(raw.detach())

    def git(self, path):
        """git-http-backend(1), the smart protocol."""
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": os.path.join(folder, "smart"), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path[len("/smart"):], "QUERY_STRING": urlsplit(self.path).query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "", "REMOTE_ADDR": self.client_address[0],
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "", "HOME": "/nonexistent",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or ""}
        body = getattr(self, "body", b"")
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=False)
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.send_response(status)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.fault == "broken" and len(data) >= LARGE and count(self.host, "broken", self.path) == 1:
            self.wfile.write(data[:len(data) // 2])
            return self.break_off()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


class SecureServer(Server):
    """The handshake is made on the thread of the connection: a client that says nothing holds up no other."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)

    def finish_request(self, request, client_address):
        request.settimeout(60)
        secured = self.context.wrap_socket(request, server_side=True)
        super().finish_request(secured, client_address)


servers = [Server(("", 80), Handler), SecureServer(("", 443), Handler)]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
