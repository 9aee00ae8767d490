"""The origin of the hostile load: reads requests by the rules, and answers them as their plans say."""

import hashlib
import re
import socket
import struct
import threading
import time


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def reset(connection):
    """Closes by RST (SO_LINGER in socket(7))."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    connection.close()


class Ended(Exception):
    """The connection ended before the message did."""


class Reader:
    def __init__(self, connection):
        self.connection, self.buffer = connection, b""

    def more(self):
        data = self.connection.recv(65536)
        if not data:
            raise Ended
        self.buffer += data

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def take(self, count):
        while len(self.buffer) < count:
            self.more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def head(self):
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head.decode("latin-1")

    def body(self, head, came):
        """Reads the body piece by piece; `came` is told how many bytes there are."""
        lower, parts, count = head.lower(), [], 0
        if "\r\ntransfer-encoding: chunked" in lower:
            while True:
                size = int(self.line().split(b";")[0], 16)
                if size == 0:
                    while self.line():
                        pass
                    return b"".join(parts)
                parts.append(self.take(size))
                count += size
                if self.line():
                    raise ValueError("chunk")
                came(count)
        length = re.search(r"\r\ncontent-length: *(\d+)", lower)
        left = int(length.group(1)) if length else 0
        while left:
            if not self.buffer:
                self.more()
            part = self.take(min(left, len(self.buffer)))
            parts.append(part)
            left -= len(part)
            count += len(part)
            came(count)
        return b"".join(parts)


class Listener:
    """A server on a port of its own: `serve` has each connection, on a thread."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()


class Origin(Listener):
    def __init__(self, ledger):
        self.ledger = ledger
        super().__init__()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(180)
        reader = Reader(connection)
        try:
            while self.serve_one(connection, reader):
                pass
        except (Ended, OSError, ValueError):
            pass
        connection.close()

    def serve_one(self, connection, reader):
        head = reader.head()
        identifier = re.search(r"\r\nX-Id: (\S+)", head)
        seen = self.ledger.arrived(identifier.group(1) if identifier else "?", head)
        if seen is None:
            return False
        plan, number = seen.plan, seen.arrivals
        is_answered = False

        def came(count):
            nonlocal is_answered
            if number == 1 and plan.early_at is not None and count >= plan.early_at and not is_answered:
                is_answered = True
                if not self.answer(connection, seen, number) or not plan.reads_on:
                    raise Ended

        if number == 1 and plan.deaf:
            (reset if plan.reads_on else socket.socket.close)(connection)
            return False
        body = reader.body(head, came)
        self.ledger.received(seen, body)
        if is_answered:
            return not plan.answer.closes
        if plan.delay:
            time.sleep(plan.delay)
        return self.answer(connection, seen, number) and not (plan.answer.closes if number == 1 else False)

    def answer(self, connection, seen, number):
        """Returns whether the connection is still whole."""
        plan, answer = seen.plan, seen.plan.answer
        if number > 1:
            # Later attempts get a good answer, so that the exchange comes to an end.
            content = b"" if plan.method == "HEAD" else answer.body
            self.ledger.may_see(seen, 200, content)
            connection.sendall(b"HTTP/1.1 200 Fine\r\nContent-Length: %d\r\n\r\n" % len(answer.body) + content)
            return True
        if answer.cut_at is None:
            if answer.may_pass:
                self.ledger.may_see(seen, answer.status, answer.sees)
            connection.sendall(answer.wire)
            if answer.framing == "close" and plan.early_at is not None:
                # The client may wait for this end before it sends the rest.
                connection.shutdown(socket.SHUT_WR)
            return True
        if answer.framing == "close" and answer.cut_how == "fin" and answer.cut_at >= answer.head_size:
            # The end of the connection is the end of such a message.
            self.ledger.may_see(seen, answer.status, answer.sees[:answer.cut_at - answer.head_size])
        elif answer.fault == "surplus" and answer.cut_at >= answer.head_size + len(answer.sees):
            self.ledger.may_see(seen, answer.status, answer.sees)
        elif answer.cut_at >= answer.head_size and (not answer.sees and answer.framing != "chunked" or plan.method == "HEAD"):
            self.ledger.may_see(seen, answer.status, b"")
        elif answer.cut_at == len(answer.wire):
            # All of it, and a reset behind it, which may overtake it.
            self.ledger.may_see(seen, answer.status, answer.sees)
        connection.sendall(answer.wire[:answer.cut_at])
        if answer.cut_how == "rst":
            reset(connection)
            return False
        connection.shutdown(socket.SHUT_WR)
        # Its own close must not become a reset by unread bytes.
        connection.settimeout(5)
        while connection.recv(65536):
            pass
        return False
