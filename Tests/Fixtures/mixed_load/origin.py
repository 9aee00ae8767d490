"""The origins of the load: one that answers, one that comes and goes, and one that echoes what a tunnel carries."""

import random
import socket
import threading
import time

import exchange as wire


def listener(port=0):
    result = socket.socket()
    result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    result.bind(("127.0.0.1", port))
    result.listen(256)
    return result


class Listener:
    """Accepts connections and serves each on a thread of its own."""

    def __init__(self, context=None):
        """`context`: of TLS, which is spoken on every connection; None: it is not."""
        self.context = context
        self.socket = listener()
        self.port = self.socket.getsockname()[1]
        self.connections = {}  # connection: whether a request is under way on it
        self.lock = threading.Lock()
        self.is_up = True
        threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()

    def accept(self, accepting):
        while True:
            try:
                connection, _ = accepting.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections[connection] = False
            threading.Thread(target=self.run, args=(connection,), daemon=True).start()

    def run(self, connection):
        try:
            if self.context:
                connection = self.secure(connection)
            with connection, connection.makefile("rb", buffering=1 << 17) as stream:
                while self.serve(connection, stream):
                    pass
                if self.context:
                    # Without it a body that ends with the connection would be one that was cut off.
                    connection.unwrap()
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.connections.pop(connection, None)

    def secure(self, connection):
        secured = self.context.wrap_socket(connection, server_side=True)
        with self.lock:
            self.connections[secured] = self.connections.pop(connection)
        return secured

    def go_away(self):
        """Listens no more and closes the connections on which nothing is under way; the others are let finish."""
        with self.lock:
            self.is_up = False
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()
            for connection, is_busy in self.connections.items():
                if not is_busy:
                    self.cut(connection)

    @staticmethod
    def cut(connection):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def come_back(self):
        self.socket = self.listener_again()
        self.is_up = True
        threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()


    def listener_again(self):
        """At the same port, which a connection of somebody else may have for a moment."""
        for _ in range(100):
            try:
                return listener(self.port)
            except OSError:
                time.sleep(0.1)
        return listener(self.port)


class Echo(Listener):
    def serve(self, connection, stream):
        data = stream.read1(1 << 16)
        connection.sendall(data)
        return bool(data)


class Origin(Listener):
    def __init__(self, ledger, context=None):
        self.ledger = ledger
        super().__init__(context)

    def serve(self, connection, stream):
        """One request. False: the connection ends."""
        try:
            head = wire.read_head(stream)
        except wire.Ended:
            return False
        except wire.Breach as breach:
            self.ledger.breach(f"the origin, in the head of a request: {breach}")
            return False
        if head is None:
            return False
        with self.lock:
            self.connections[connection] = True
        exchange = self.ledger.find(self.number(head[0]))
        if exchange is None:
            self.ledger.breach(f"the origin: a request that nobody sent, or that ended long ago: {head[0]!r}")
            return False
        try:
            goes_on = self.answer(exchange, head, connection, stream)
        except wire.Breach as breach:
            self.ledger.breach(f"the origin, {exchange}: {breach}")
            return False
        with self.lock:
            self.connections[connection] = False
            return goes_on and self.is_up

    @staticmethod
    def number(line):
        words = line.split(" ")
        return int(words[1][1:]) if len(words) == 3 and words[1][1:].isdigit() else 0

    def answer(self, exchange, head, connection, stream):
        line, fields = head
        if line != f"{exchange.method} /{exchange.number} HTTP/1.1":
            raise wire.Breach(f"the request line {line!r}")
        arrival = len(exchange.arrivals)
        if exchange.method == "POST" and arrival > 0:
            raise wire.Breach("a POST arrived twice")
        trouble = exchange.troubles[arrival] if arrival < len(exchange.troubles) else "ok"
        exchange.arrivals.append("part")
        if trouble == "deaf":
            return False
        if trouble == "early":
            self.send_answer(exchange, connection)
        elif "expect" in fields:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            self.read_body(exchange, fields, stream)
        except wire.Ended:
            return False
        exchange.arrivals[arrival] = "whole"
        if exchange.is_broken_off:
            raise wire.Breach("a request that was broken off arrived whole")
        if trouble != "ok":
            return False
        if exchange.break_count:
            return self.send_rest(exchange, fields, connection, breaks=arrival < exchange.break_count)
        self.send_answer(exchange, connection)
        return exchange.answer_framing != "close"

    def read_body(self, exchange, fields, stream):
        framing = ("chunked" if fields.get("transfer-encoding") == "chunked"
                   else "length" if "content-length" in fields else "none")
        if framing != exchange.framing and not (exchange.kind == "ticket" and framing == "length"):
            raise wire.Breach(f"a body framed as {framing}: {fields}")
        # The body of a ticket had come whole before the request was sent, so its length is known.
        if framing == "none":
            return
        body = wire.Comparison(exchange.body, "the request's body")
        try:
            if framing == "chunked":
                wire.check_trailers(exchange.trailers, wire.read_chunks(stream, body.take), "the request")
            else:
                wire.read_exactly(stream, int(fields["content-length"]), body.take)
            body.whole()
        finally:
            # The beginning of a body that breaks off has been compared too.
            self.ledger.count(up=body.count)

    @staticmethod
    def send_rest(exchange, fields, connection, breaks):
        """The answer, or what is missing of it, or a part of that and the end of the connection."""
        total, tag, start = len(exchange.answer), f'"{exchange.number}"', 0
        status = "200 Fine"
        if exchange.arrivals[1:]:
            wanted = fields.get("range", "")
            if not wanted.startswith("bytes=") or not wanted.endswith("-") or fields.get("if-range") != tag:
                raise wire.Breach(f"asked for the rest by {fields}")
            start = int(wanted[6:-1])
            status = f"206 Part\r\nContent-Range: bytes {start}-{total - 1}/{total}"
        elif "range" in fields:
            raise wire.Breach(f"a range at first: {fields}")
        connection.sendall(f"HTTP/1.1 {status}\r\nX-Number: {exchange.number}\r\nETag: {tag}\r\n"
                           f"Content-Length: {total - start}\r\n\r\n".encode())
        # Short of the last byte: what is whole is not asked for again.
        end = random.Random(f"{exchange.seed} {start}").randrange(start, total) if breaks else total
        connection.sendall(exchange.answer[start:end])
        return not breaks

    @staticmethod
    def send_answer(exchange, connection):
        framing = {"length": f"Content-Length: {len(exchange.answer)}", "chunked": "Transfer-Encoding: chunked",
                   "close": "Connection: close"}[exchange.answer_framing]
        connection.sendall(f"HTTP/1.1 {exchange.status} Fine\r\nX-Number: {exchange.number}\r\n{framing}\r\n\r\n".encode())
        if exchange.method == "HEAD":
            return
        chance = random.Random(exchange.seed)
        for part in wire.body_parts(exchange.answer, exchange.answer_framing, exchange.answer_trailers, chance):
            connection.sendall(part)
