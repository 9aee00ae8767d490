#!/usr/bin/python3
"""The origin of the crash tests: it survives the proxy and writes down everything that reached it.

Each line of --log is one JSON array, in the order of things: [event, id, attempt, …]

    ["head", id, attempt, method, target]     a head has arrived; `attempt` counts the arrivals of this id from 1
    ["body", id, attempt, length, whole]      its body was read; `whole` = it is what its client had made of the id
    ["answered", id, attempt, status]         written just before the answer's first byte

A line is written before anything that follows from it happens. The id is the field X-Id, and its body says it too.
What the origin does with a request is the field X-Trouble of the request: a list of words for the arrivals one by one,
`ok` after its end:

    ok    slow (answers after 40 ms)    reset (reads all and resets)    half (sends half a head and resets)
    early (resets once the head was read)    busy (answers 503)    big (answers 100 000 bytes)

A connection in --resets per cent of all cases is reset before anything was read.

--port-file receives {"port":…,"control":…}. On the control port a line `down` closes the listening socket and resets
every connection; `up` listens again; the answer `done` comes when it has happened.
"""

import argparse
import json
import os
import random
import socket
import socketserver
import struct
import threading
import time

RESET = struct.pack("ii", 1, 0)


def expected_body(name, length):
    """What a client makes of an id: a line with it, again and again."""
    line = name.encode() + b"\n"
    return (line * (length // len(line) + 1))[:length]


class Origin:
    def __init__(self, arguments):
        self.log = os.open(arguments.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.port = arguments.port
        self.resets = arguments.resets
        self.random = random.Random(arguments.seed)
        self.lock = threading.Lock()
        self.arrivals = {}
        self.connections = set()
        self.listener = None
        self.up()

    def record(self, *facts):
        os.write(self.log, (json.dumps(facts) + "\n").encode())

    def arrived(self, name, method, target):
        with self.lock:
            attempt = self.arrivals[name] = self.arrivals.get(name, 0) + 1
            self.record("head", name, attempt, method, target)
            return attempt

    def up(self):
        if self.listener:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(128)
        self.listener = listener
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def down(self):
        listener, self.listener = self.listener, None
        if listener:
            # A close alone does not wake the thread in accept(2).
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            try:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            if self.random.uniform(0, 100) < self.resets:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                connection.close()
                continue
            with self.lock:
                self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with connection.makefile("rb") as stream:
                while self.exchange(connection, stream):
                    pass
        except (OSError, ValueError):
            pass
        with self.lock:
            self.connections.discard(connection)
        connection.close()

    def exchange(self, connection, stream):
        line = stream.readline().decode("latin-1").split()
        if len(line) != 3:
            return False
        fields = {}
        while (text := stream.readline().decode("latin-1").strip()):
            name, _, value = text.partition(":")
            fields[name.lower()] = value.strip()
        name = fields.get("x-id", "")
        attempt = self.arrived(name, line[0], line[1])
        words = fields.get("x-trouble", "").split(",")
        word = words[attempt - 1].strip() if attempt <= len(words) else "ok"
        if word == "early":
            return self.reset(connection)
        body = self.body(stream, fields)
        self.record("body", name, attempt, len(body), body == expected_body(name, len(body)))
        if word == "reset":
            return self.reset(connection)
        if word == "half":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")
            return self.reset(connection)
        if word == "slow":
            time.sleep(0.04)
        status = "503 Busy" if word == "busy" else "200 OK"
        answer = name.encode() * (100_000 // max(1, len(name))) if word == "big" else name.encode()
        self.record("answered", name, attempt, int(status[:3]))
        connection.sendall(f"HTTP/1.1 {status}\r\nX-Id: {name}\r\nContent-Length: {len(answer)}\r\n\r\n".encode() + answer)
        return True

    def reset(self, connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        return False

    def body(self, stream, fields):
        if "chunked" not in fields.get("transfer-encoding", ""):
            return self.exactly(stream, int(fields.get("content-length", 0)))
        parts = []
        while size := int(stream.readline().split(b";")[0], 16):
            parts.append(self.exactly(stream, size))
            stream.readline()
        while stream.readline().strip():
            pass
        return b"".join(parts)

    def exactly(self, stream, length):
        body = stream.read(length)
        if len(body) < length:
            raise OSError("the body ended early")
        return body


class Control(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if line.strip() == b"down":
                self.server.origin.down()
            else:
                self.server.origin.up()
            self.wfile.write(b"done\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resets", type=float, default=0)
    arguments = parser.parse_args()
    origin = Origin(arguments)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Control) as control:
        control.daemon_threads = True
        control.origin = origin
        draft = arguments.port_file + ".new"
        with open(draft, "w") as file:
            json.dump({"port": origin.port, "control": control.server_address[1]}, file)
        os.rename(draft, arguments.port_file)
        control.serve_forever()


if __name__ == "__main__":
    main()
