#!/usr/bin/python3
"""Sends a ClientHello as browsers do: client_hello.py PROXY_PORT HOST:PORT NAME VERSION

With GREASE in every list (RFC 8701), a GREASE ECH extension, and a key share of X25519MLKEM768 beside one of X25519. Prints
`ServerHello`, and behind it the names of the certificate where VERSION is 1.2, in which it is not encrypted.
"""

import os
import re
import socket
import sys

proxy, target, name, version = sys.argv[1:]


def block(data, size):
    return len(data).to_bytes(size, "big") + data


def extension(kind, data):
    return kind.to_bytes(2, "big") + block(data, 2)


GREASE = b"\x2a\x2a"
X25519_PUBLIC = (9).to_bytes(32, "little")
ciphers = GREASE + b"\x13\x01\x13\x02\x13\x03\xc0\x2b\xc0\x2c"
shares = GREASE + block(b"\0", 2) + b"\x11\xec" + block(os.urandom(1216), 2) + b"\0\x1d" + block(X25519_PUBLIC, 2)
extensions = [
    extension(0x1A1A, b""),
    extension(0, block(b"\0" + block(name.encode(), 2), 2)),
    extension(16, block(block(GREASE, 1) + block(b"h2", 1) + block(b"http/1.1", 1), 2)),
    extension(10, block(GREASE + b"\x11\xec\0\x1d\0\x17", 2)),
    extension(11, block(b"\0", 1)),
    extension(13, block(b"\x04\x03\x08\x04\x04\x01", 2)),
    extension(0xFE0D, b"\0\0\1\0\1\x7f" + block(os.urandom(32), 2) + block(os.urandom(240), 2)),
    extension(0x4469, block(block(b"h2", 1), 2)),
]
if version == "1.3":
    extensions += [extension(43, block(GREASE + b"\x03\x04\x03\x03", 1)), extension(51, block(shares, 2)), extension(45, b"\1\1")]
extensions.append(extension(0xDADA, b"\0"))
hello = b"\x03\x03" + os.urandom(32) + block(os.urandom(32), 1) + block(ciphers, 2) + b"\1\0" + block(b"".join(extensions), 2)
record = b"\x16\x03\x01" + block(b"\x01" + block(hello, 3), 2)

connection = socket.create_connection(("127.0.0.1", int(proxy)), timeout=20)
connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
stream = connection.makefile("rb")
while stream.readline().strip():
    pass
connection.sendall(record)


def next_record():
    head = stream.read(5)
    return head[:1], stream.read(int.from_bytes(head[3:5], "big"))


kind, data = next_record()
if kind != b"\x16" or data[:1] != b"\x02":
    sys.exit(f"no ServerHello: {kind} {data}")
print("ServerHello")
while version == "1.2" and b"\x55\x1d\x11" not in data:  # subjectAltName
    data = next_record()[1]
if version == "1.2":
    found = re.search(rb"\x55\x1d\x11(?:\x01\x01\xff)?\x04(.)\x30.\x82(.)", data, re.S)
    print(data[found.end():found.end() + found[2][0]].decode())
