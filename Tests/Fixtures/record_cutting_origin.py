"""An origin behind TLS whose connections end in the middle of a record: record_cutting_origin.py FILE CERTIFICATE KEY SEED

It serves the file, and what a Range asks of it, under a strong ETag. Each connection ends after 50 to 250 KiB, inside a record: by
turns with an end and with a reset. For /endless the response has no length, and its part is read before the end. The first line on standard output is its port."""

import random
import re
import socket
import ssl
import struct
import sys
import threading

import kernel_queues

file, certificate, key, seed = sys.argv[1:]
body = open(file, "rb").read()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)


def cut(bytes, chance):
    """So many of the bytes as end inside a record; all of them where there are few."""
    wanted = chance.randint(50 << 10, 250 << 10)
    start = 0
    while start < len(bytes):
        end = start + 5 + struct.unpack(">H", bytes[start + 3 : start + 5])[0]
        if end > wanted:
            return bytes[: start + 5 + (end - start - 5) // 2]
        start = end
    return bytes


def serve(connection, number):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_side=True)

    def until(step):
        while True:
            try:
                result = step()
                connection.sendall(outgoing.read())
                return result
            except ssl.SSLWantReadError:
                connection.sendall(outgoing.read())
                received = connection.recv(65536)
                if not received:
                    raise OSError
                incoming.write(received)

    until(tls.do_handshake)
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += until(lambda: tls.read(65536))
    found = re.search(rb"\r\nRange: bytes=(\d+)-\r\n", head)
    first = int(found[1]) if found else 0
    fields = f'ETag: "v1"\r\nContent-Length: {len(body) - first}\r\n'
    status = "200 OK"
    if found:
        status = "206 Partial Content"
        fields += f"Content-Range: bytes {first}-{len(body) - 1}/{len(body)}\r\n"
    if b" /endless " in head:
        fields = ""
    tls.write(f"HTTP/1.1 {status}\r\n{fields}\r\n".encode())
    for start in range(first, len(body), 16384):
        tls.write(body[start : start + 16384])
    whole = outgoing.read()
    part = cut(whole, random.Random(f"{seed} {number}"))
    connection.sendall(part)
    if b" /endless " in head:
        kernel_queues.wait_until_read(connection)
    if part == whole:
        try:
            tls.unwrap()
        except ssl.SSLError:
            pass
        connection.sendall(outgoing.read())
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)
    elif number % 2:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def run(connection, number):
    try:
        serve(connection, number)
    except OSError:
        pass
    finally:
        connection.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=16)
print(listener.getsockname()[1], flush=True)
number = 0
while True:
    number += 1
    threading.Thread(target=run, args=(listener.accept()[0], number), daemon=True).start()
