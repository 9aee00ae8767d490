"""A parent proxy for tests: http, https or socks5h, with or without credentials.

It writes one line of JSON for each request or connection: what was asked for, and with which Proxy-Authorization.
"""

import argparse
import base64
import json
import os
import socket
import ssl
import struct
import threading

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--port-file", required=True)
parser.add_argument("--log", required=True)
parser.add_argument("--scheme", choices=["http", "https", "socks5h"], default="http")
parser.add_argument("--credentials", default="")
parser.add_argument("--certificate")
parser.add_argument("--key")
options = parser.parse_args()
log_lock = threading.Lock()


def note(**facts):
    with log_lock, open(options.log, "a", encoding="utf-8") as log:
        log.write(json.dumps(facts) + "\n")


def relay(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def join(client, origin):
    other = threading.Thread(target=relay, args=(origin, client), daemon=True)
    other.start()
    relay(client, origin)
    other.join()
    origin.close()


def read_head(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return None, b""
        head += data
    head, rest = head.split(b"\r\n\r\n", 1)
    return head.decode("latin-1"), rest


def split(authority):
    host, port = authority.rsplit(":", 1)
    return host.strip("[]"), int(port)


def connect(address):
    # A name that only the parent proxy knows: whatever ends in .behind is this machine.
    host, port = address
    return socket.create_connection(("127.0.0.1" if host.endswith(".behind") else host, port), timeout=10)


def serve_http(client):
    head, rest = read_head(client)
    if head is None:
        return
    lines = head.split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in lines[1:]}
    given = fields.get("proxy-authorization")
    note(method=method, target=target, authorization=given, fields=sorted(fields))
    if options.credentials:
        wanted = "Basic " + base64.b64encode(options.credentials.encode()).decode()
        if given != wanted:
            client.sendall(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
    if method == "CONNECT":
        try:
            origin = connect(split(target))
        except OSError:
            client.sendall(b"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        if rest:
            origin.sendall(rest)
        return join(client, origin)
    authority, path = target.removeprefix("http://").split("/", 1)
    try:
        origin = connect(split(authority if ":" in authority else authority + ":80"))
    except OSError:
        client.sendall(b"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        return
    kept = [line for line in lines[1:] if not line.lower().startswith(("proxy-", "connection:"))]
    origin.sendall("\r\n".join([f"{method} /{path} HTTP/1.1", *kept, "Connection: close"]).encode("latin-1") + b"\r\n\r\n" + rest)
    join(client, origin)


def read_exactly(client, count):
    data = b""
    while len(data) < count:
        more = client.recv(count - len(data))
        if not more:
            raise OSError("closed")
        data += more
    return data


def serve_socks(client):
    _, count = read_exactly(client, 2)
    methods = read_exactly(client, count)
    user = None
    if options.credentials:
        if 2 not in methods:
            client.sendall(b"\x05\xff")
            return
        client.sendall(b"\x05\x02")
        _, length = read_exactly(client, 2)
        name = read_exactly(client, length)
        secret = read_exactly(client, read_exactly(client, 1)[0])
        user = (name + b":" + secret).decode()
        client.sendall(b"\x01\x00" if user == options.credentials else b"\x01\x01")
        if user != options.credentials:
            return
    else:
        client.sendall(b"\x05\x00")
    kind = read_exactly(client, 4)[3]
    if kind == 3:
        host = read_exactly(client, read_exactly(client, 1)[0]).decode()
    else:
        host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, read_exactly(client, 4 if kind == 1 else 16))
    (port,) = struct.unpack(">H", read_exactly(client, 2))
    note(method="SOCKS", target=f"{host}:{port}", authorization=user, fields=[])
    reply, origin = 0, None
    try:
        origin = connect((host, port))
    except OSError:
        reply = 5
    client.sendall(bytes([5, reply, 0, 1]) + b"\0" * 6)
    if origin:
        join(client, origin)


def serve(client):
    try:
        if options.scheme == "https":
            client = context.wrap_socket(client, server_side=True)
        (serve_socks if options.scheme == "socks5h" else serve_http)(client)
    except OSError:
        pass
    finally:
        client.close()


if options.scheme == "https":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
listener = socket.create_server(("127.0.0.1", options.port), backlog=100)
with open(options.port_file + ".new", "w", encoding="utf-8") as file:
    file.write(str(listener.getsockname()[1]))
os.rename(options.port_file + ".new", options.port_file)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
