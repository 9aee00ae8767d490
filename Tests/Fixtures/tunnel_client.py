#!/usr/bin/python3
"""A client that speaks TLS through CONNECT, as oddly as it is told, and prints what it got as one line of JSON.

    tunnel_client.py --proxy PORT --connect HOST:PORT --ca FILE
        --name NAME          the name that it asks for (SNI); without it there is none
        --version 1.2        no newer TLS
        --offers N           ALPN with names of N bytes together, `http/1.1` last
        --record-size N      the ClientHello in TLS records of N bytes
        --segment-size N     the ClientHello in TCP segments of N bytes, each acknowledged before the next
        --get PATH           a request after the handshake
        --post PATH          the same with a body of 1000 bytes
        --body N             only N bytes of that body
        --end WHAT           after the request: `notify` = close_notify, `silent` = the end of the connection without it, `flood` = close_notify
                             behind the first 64 KiB of the response, and then other bytes for as long as they are taken, 64 MiB at most
        --leave WHEN         ends the connection without a request: behind the first `flight` of the server, or behind the `handshake`
        --reset              it does so by a reset
        --host NAME          Host, where it is not that of CONNECT
"""

import argparse
import fcntl
import json
import select
import socket
import ssl
import struct
import termios

options = argparse.ArgumentParser()
for name in ("proxy", "connect", "ca", "name", "version", "get", "post", "end", "host", "leave"):
    options.add_argument(f"--{name}")
for name in ("offers", "record-size", "segment-size"):
    options.add_argument(f"--{name}", type=int)
options.add_argument("--body", type=int, default=1000)
options.add_argument("--reset", action="store_true")
options = options.parse_args()


def connected():
    connection = socket.create_connection(("127.0.0.1", int(options.proxy)), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(f"CONNECT {options.connect} HTTP/1.1\r\nHost: {options.connect}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1) or exit(f"CONNECT: {head}")
    if b" 200 " not in head:
        exit(f"CONNECT: {head}")
    return connection


def send_in_segments(connection, data, size):
    for start in range(0, len(data), size):
        connection.sendall(data[start:start + size])
        while struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0\0\0\0"))[0]:
            pass


def in_records(data, size):
    """The same handshake message; how it is divided into records is no part of it (RFC 8446 section 5.1)."""
    message, version = b"", data[1:3]
    while data:
        length = int.from_bytes(data[3:5], "big")
        message, data = message + data[5:5 + length], data[5 + length:]
    pieces = [message[start:start + size] for start in range(0, len(message), size)]
    return b"".join(b"\x16" + version + len(piece).to_bytes(2, "big") + piece for piece in pieces)


class Client:
    def __init__(self):
        # The strictest that there is; names are compared by the caller.
        context = ssl.create_default_context(cafile=options.ca)
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        if options.version == "1.2":
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        if options.offers:
            names = ["x" * 250 + "%05d" % number for number in range(options.offers // 256)]
            context.set_alpn_protocols(names + ["http/1.1"])
        self.connection, self.incoming, self.outgoing = connected(), ssl.MemoryBIO(), ssl.MemoryBIO()
        # Otherwise an end without close_notify looks like one with it.
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=options.name)
        self.has_sent = False

    def flush(self):
        data = self.outgoing.read()
        if not data:
            return
        if not self.has_sent and options.record_size:
            data = in_records(data, options.record_size)
        if not self.has_sent and options.segment_size:
            send_in_segments(self.connection, data, options.segment_size)
        else:
            self.connection.sendall(data)
        self.has_sent = True

    def run(self, step):
        while True:
            try:
                result = step()
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                data = self.connection.recv(65536)
                self.incoming.write(data) if data else self.incoming.write_eof()

    def notify(self):
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            self.flush()

    def flood(self):
        """How many bytes behind the end were taken; two seconds without any are the end of it."""
        count = 0
        while count < 1 << 16:
            count += len(self.run(lambda: self.tls.read(65536)))
        self.notify()
        self.connection.setblocking(False)
        sent = 0
        while sent < 64 << 20 and select.select([], [self.connection], [], 2)[1]:
            sent += self.connection.send(bytes(1 << 16))
        return str(sent)

    def leave(self):
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self.flush()
        self.incoming.write(self.connection.recv(65536))
        if options.leave == "handshake":
            self.run(self.tls.do_handshake)
            # The server's tickets come once it is done too.
            self.connection.recv(1)
        if options.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            self.connection.shutdown(socket.SHUT_WR)
            while self.connection.recv(65536):
                pass
        self.connection.close()

    def exchange(self):
        method, path = ("POST", options.post) if options.post else ("GET", options.get)
        head = f"{method} {path} HTTP/1.1\r\nHost: {options.host or options.connect}\r\nConnection: close\r\n"
        head += "Content-Length: 1000\r\n\r\n" if options.post else "\r\n"
        self.run(lambda: self.tls.write(head.encode() + b"b" * (options.body if options.post else 0)))
        if options.end == "flood":
            return b"", self.flood()
        if options.end:
            if options.end == "notify":
                self.notify()
            self.connection.shutdown(socket.SHUT_WR)
        response = b""
        try:
            while data := self.run(lambda: self.tls.read(65536)):
                response += data
        except ssl.SSLZeroReturnError:
            pass
        except ssl.SSLError as error:
            return response, type(error).__name__
        return response, "close_notify"


client = Client()
if options.leave:
    client.leave()
    raise SystemExit
client.run(client.tls.do_handshake)
facts = {"version": client.tls.version(), "protocol": client.tls.selected_alpn_protocol(),
         "names": [value for _, value in client.tls.getpeercert()["subjectAltName"]]}
if options.get or options.post:
    response, end = client.exchange()
    head, _, body = response.partition(b"\r\n\r\n")
    facts |= {"status": int(head.split()[1]) if head else 0, "body": body.decode("latin-1"), "end": end}
print(json.dumps(facts))
