"""A client of an intercepted host that sends HTTP/2 frame by frame: http2_frames.py PROXY_PORT ORIGIN_PORT AUTHORITY_FILE COUNT

So many requests that the server resets, frames on these streams that come behind the reset, so many stream errors, a sound request, and in the
end an error of the connection.
Prints one object of JSON."""

import json
import socket
import ssl
import struct
import sys

import hpack

proxy, port, authority, count = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1

raw = socket.create_connection(("127.0.0.1", proxy), timeout=60)
raw.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
head = b""
while b"\r\n\r\n" not in head:
    head += raw.recv(1)
context = ssl.create_default_context(cafile=authority)
context.set_alpn_protocols(["h2"])
connection = context.wrap_socket(raw, server_hostname="localhost")
encoder, decoder = hpack.Encoder(), hpack.Decoder()
resets, statuses, goaway, is_closed, received = {}, {}, None, False, b""


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def request(stream, method, path, flags):
    fields = [(":method", method), (":scheme", "https"), (":authority", f"localhost:{port}"), (":path", path)]
    return frame(HEADERS, END_HEADERS | flags, stream, encoder.encode(fields))


def read_until(is_done):
    """Takes frames until the condition holds, or the connection ends."""
    global received, goaway, is_closed
    while not is_done():
        while len(received) < 9 or len(received) < 9 + int.from_bytes(received[:3], "big"):
            data = connection.recv(65536)
            if not data:
                is_closed = True
                return
            received += data
        length, kind, flags = int.from_bytes(received[:3], "big"), received[3], received[4]
        stream, payload = int.from_bytes(received[5:9], "big") & 0x7FFFFFFF, received[9:9 + length]
        received = received[9 + length:]
        if kind == HEADERS:
            statuses[stream] = dict(decoder.decode(payload))[":status"]
        elif kind == RST_STREAM:
            resets[stream] = int.from_bytes(payload, "big")
        elif kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            connection.sendall(frame(PING, ACK, 0, payload))
        elif kind == GOAWAY:
            goaway = int.from_bytes(payload[4:8], "big")


def all_reset(streams):
    return lambda: all(stream in resets for stream in streams)


connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0))
malformed = range(1, 2 * count, 2)
connection.sendall(b"".join(request(stream, "POST", "no-slash", 0) for stream in malformed))
read_until(all_reset(malformed))
connection.sendall(b"".join(frame(DATA, 0, stream, b"x") + frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 1)) for stream in malformed))
wrong = range(2 * count + 1, 4 * count, 2)
# A window that grows by nothing is a stream error (RFC 9113 section 6.9).
connection.sendall(b"".join(request(stream, "POST", "/sink", 0) + frame(WINDOW_UPDATE, 0, stream, bytes(4)) for stream in wrong))
read_until(all_reset(wrong))
last = 4 * count + 1
connection.sendall(request(last, "GET", "/echo", END_STREAM))
read_until(lambda: last in statuses)
was_open = goaway is None and not is_closed
connection.sendall(frame(SETTINGS, 0, 0, b"short"))
read_until(lambda: False)
print(json.dumps({"resets": len(resets), "status": int(statuses.get(last, 0)), "wasOpen": was_open, "goaway": goaway}))
