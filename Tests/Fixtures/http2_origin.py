"""An origin that speaks HTTP/2 over TLS: http2_origin.py CERTIFICATE KEY

The first line on standard output is its port; then a line of JSON for each request. The path says what it does:
/echo answers with the body, without a length; /length/echo with one; /refused refuses the first stream for each path (REFUSED_STREAM);
/dies/… ends the connection behind the first request for each path; /broken resets the stream in the middle of the body; /early answers
before the body is there; /breaks/N has N bytes of a pattern and resets the stream after half of what was asked for,
until few are left; /ends/N ends the connection instead."""

import json
import socket
import ssl
import sys
import threading

import kernel_queues

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

certificate, key = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2"])
lock = threading.Lock()
seen = set()


def log(**facts):
    with lock:
        print(json.dumps(facts), flush=True)


def is_first(path):
    with lock:
        if path in seen:
            return False
        seen.add(path)
        return True


class Connection:
    def __init__(self, raw, number):
        self.raw, self.number = raw, number
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests, self.outgoing, self.breaking = {}, {}, []

    def serve(self):
        self.h2.initiate_connection()
        self.raw.sendall(self.h2.data_to_send())
        while data := self.receive():
            for event in self.h2.receive_data(data):
                if self.take(event):
                    return
            self.push()
            self.raw.sendall(self.h2.data_to_send())

    def receive(self):
        """The next bytes. Streams that are to break do so when nothing more has come for a moment, and the half before was read a moment
        earlier: by then it is passed on."""
        is_read = False
        while True:
            self.raw.settimeout(0.3 if self.breaking else None)
            try:
                return self.raw.recv(65536)
            except TimeoutError:
                if not is_read:
                    is_read = kernel_queues.is_read(self.raw)
                    continue
                is_read = False
                for stream in self.breaking:
                    if stream is None:
                        return b""
                    self.h2.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
                self.breaking = []
                self.raw.sendall(self.h2.data_to_send())

    def take(self, event):
        """True ends the connection."""
        if isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = [event.headers, b""]
            path = dict(event.headers)[":path"]
            if path.startswith("/refused") and is_first(path):
                log(path=path, what="refused")
                self.h2.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
                del self.requests[event.stream_id]
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.requests:
                self.requests[event.stream_id][1] += event.data
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.requests:
            return self.answer(event.stream_id, *self.requests.pop(event.stream_id))
        return False

    def answer(self, stream, fields, body):
        path, method = dict(fields)[":path"], dict(fields)[":method"]
        if path.startswith(("/breaks/", "/ends/")):
            return self.rest(stream, int(path.rpartition("/")[2]), dict(fields))
        log(path=path, method=method, connection=self.number, bytes=len(body), fields=fields)
        if path.startswith("/dies") and is_first(path):
            return True
        answer = [(":status", "200"), ("content-type", "application/octet-stream"), ("etag", '"one"')]
        if path.startswith("/length") or path.startswith("/broken"):
            answer.append(("content-length", str(len(body))))
        if path.startswith("/broken"):
            self.h2.send_headers(stream, answer)
            half = body[:len(body) // 2]
            for start in range(0, len(half), 16384):
                self.h2.send_data(stream, half[start:start + 16384])
            self.breaking.append(stream)
            return False
        if method == "HEAD":
            self.h2.send_headers(stream, answer, end_stream=True)
            return False
        self.h2.send_headers(stream, answer)
        self.outgoing[stream] = body
        return False

    def rest(self, stream, total, fields):
        first = int(fields.get("range", "bytes=0-")[6:-1])
        log(path=fields[":path"], connection=self.number, range=fields.get("range"), condition=fields.get("if-range"))
        answer = [(":status", "206" if "range" in fields else "200"), ("etag", '"one"'), ("content-length", str(total - first))]
        if "range" in fields:
            answer.append(("content-range", f"bytes {first}-{total - 1}/{total}"))
        body = bytes(index * 7 % 251 for index in range(first, total))
        is_whole = len(body) <= 1000
        if not is_whole:
            body = body[:len(body) // 2]
            self.breaking.append(stream if fields[":path"].startswith("/breaks/") else None)
        self.h2.send_headers(stream, answer)
        parts = [body[start:start + 16384] for start in range(0, len(body), 16384)]
        for part in parts:
            self.h2.send_data(stream, part, end_stream=is_whole and part is parts[-1])
        return False

    def push(self):
        """Sends as much as the windows allow."""
        for stream in list(self.outgoing):
            body = self.outgoing[stream]
            while True:
                room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
                if len(body) <= room:
                    self.h2.send_data(stream, body, end_stream=True)
                    del self.outgoing[stream]
                    break
                if room <= 0:
                    self.outgoing[stream] = body
                    break
                self.h2.send_data(stream, body[:room])
                body = body[room:]


def serve(raw, number):
    try:
        raw = context.wrap_socket(raw, server_side=True)
        Connection(raw, number).serve()
    except (OSError, h2.exceptions.H2Error):
        pass
    finally:
        raw.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
number = 0
while True:
    number += 1
    threading.Thread(target=serve, args=(listener.accept()[0], number), daemon=True).start()
