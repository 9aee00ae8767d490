#!/usr/bin/python3
"""Sends bytes that are no TLS through CONNECT, and compares: tunnel_bytes.py PROXY_PORT HOST ORIGIN_PORT

The server speaks first, then sends back all that it got, once the client has closed its side. Prints what went wrong.
"""

import os
import socket
import sys
import threading

proxy, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
BANNER = b"SSH-2.0-server\r\n"


def serve(connection):
    connection.sendall(BANNER)
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.close()


def accept(server):
    while True:
        threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()


def tunnel():
    connection = socket.create_connection(("127.0.0.1", int(proxy)), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    return connection


def received(connection, count=None):
    data = b""
    while count is None or len(data) < count:
        part = connection.recv(65536)
        if not part:
            break
        data += part
    return data


# A whole one would be answered.
hello = b"\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" + os.urandom(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0"
cases = {
    "SSH": b"SSH-2.0-client\r\n" + os.urandom(300),
    "plain HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "HTTP/2 without TLS": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "one byte of a record": b"\x16",
    "another handshake message": b"\x16\x03\x01\x00\x05\x02\0\0\x01\0",
    "another kind of record": b"\x17\x03\x03\x00\x05\x01\x01\x01\x01\x01",
    "a hello of SSL 2": b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10" + os.urandom(37),
    "a hello that ends early": hello[:-9],
    "a hello with a wrong length inside": hello[:44] + b"\xff" + hello[45:],
    "a hello of no length": b"\x16\x03\x01\x00\x04\x01\0\0\0" + b"more",
    "a record of impossible length": b"\x16\x03\x01\xff\xff\x01" + os.urandom(3000),
    "a hello of impossible length": b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + os.urandom(16380),
    "100 KB after the like of a hello": b"\x16\x03\x01\x40\x00\x01\x01\xf0\x00" + os.urandom(16380) + (b"\x16\x03\x01\x40\x00" + b"x" * 16384) * 6,
}

server = socket.create_server(("127.0.0.1", port))
threading.Thread(target=accept, args=[server], daemon=True).start()
for what, data in cases.items():
    for pieces in ([data], [data[:1], data[1:]], [data[:6], data[6:]]):
        connection, back = tunnel(), b""
        for piece in pieces:
            connection.sendall(piece)
        # The end of what it sends decides only where the bytes leave it open.
        if what != "a hello that ends early" and len(pieces) > 1:
            back = received(connection, len(BANNER))
        connection.shutdown(socket.SHUT_WR)
        back += received(connection)
        if back != BANNER + data:
            print(f"{what} in {len(pieces)}: {len(data)} bytes sent, back came {back[:60]} ({len(back)})")

silent = tunnel()
if received(silent, len(BANNER)) != BANNER:
    print("a silent client gets no banner")
silent.sendall(b"after it")
silent.shutdown(socket.SHUT_WR)
if received(silent) != b"after it":
    print("a silent client gets nothing after the banner")
