"""An origin behind TLS that does one thing to each connection: tls_origin.py WHAT CERTIFICATE KEY VERSION

The first line on standard output is its port."""

import socket
import ssl
import sys
import threading

what, certificate, key, version = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2"] if what.startswith("http2") else ["http/1.1", "h2"])
if what == "wantsACertificate":
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(certificate)
names = {}
context.sni_callback = lambda connection, name, _: names.__setitem__(connection, name)
if version == "-tls1_2":
    context.maximum_version = ssl.TLSVersion.TLSv1_2
if version == "-tls1_3":
    context.minimum_version = ssl.TLSVersion.TLSv1_3


def answer(body):
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


END_STREAM, ACK, END_HEADERS = 1, 1, 4
DATA, HEADERS, SETTINGS = 0, 1, 4


def frame(kind, flags, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def serve_http2(connection, stream):
    """Answers one request with 200, and never closes the connection: `http2` with all of a response, `http2Endless` with its head."""
    connection.sendall(frame(SETTINGS, 0) + frame(SETTINGS, ACK))
    # The preface (RFC 9113 section 3.4).
    stream.read(24)
    while head := stream.read(9):
        stream.read(int.from_bytes(head[:3], "big"))
        if head[3] in (DATA, HEADERS) and head[4] & END_STREAM:
            end = END_STREAM if what == "http2" else 0
            # 0x88 is `:status: 200` (RFC 7541, appendix A).
            connection.sendall(frame(HEADERS, END_HEADERS | end, stream=1, payload=b"\x88"))
    threading.Event().wait()


def serve(connection):
    try:
        connection = context.wrap_socket(connection, server_side=True)
        stream = connection.makefile("rb")
        if what.startswith("http2"):
            return serve_http2(connection, stream)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                return
            head += line
        if what == "endsWell":
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nall of it")
            connection.unwrap()
        elif what == "isCutOff":
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        elif what == "isCutOffBehindALength":
            connection.sendall(answer("all of it"))
        elif what == "tellsTheHandshake":
            connection.sendall(answer("resumed" if connection.session_reused else "new"))
            stream.read(1)
        elif what == "tellsTheNames":
            connection.sendall(answer(f"{names.get(connection)} {connection.selected_alpn_protocol()}"))
            stream.read(1)
        elif what == "echoes":
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode())
            while length > 0:
                piece = stream.read(min(length, 100_000))
                connection.sendall(piece)
                length -= len(piece)
            stream.read(1)
    except OSError:
        pass
    finally:
        # Without a word where `unwrap` was not called.
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=16)
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
