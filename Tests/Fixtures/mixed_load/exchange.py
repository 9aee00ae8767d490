"""What one request and its answer are made of, and what each end saw of them.

Every body is a piece of one random block, from a place of its own. So both ends know each byte that must come, and a
byte of another body, or of anything else in memory, shows.
"""

import collections
import random
import threading
import time

BLOCK = memoryview(random.Random(20).randbytes(24 << 20))


def piece(chance, length):
    start = chance.randrange(len(BLOCK) - length)
    return BLOCK[start:start + length]


class Breach(Exception):
    """Something came that is not what the other end sent."""


class Ended(Exception):
    """The connection ended before the message did."""


class Enough(Exception):
    """As much was compared as was wanted."""


class Exchange:
    """One request with its answer."""

    def __init__(self, kind, chance, number):
        self.kind, self.number = kind, number
        self.method, self.port = "GET", None
        self.body, self.framing, self.trailers = None, "none", None
        self.expects = self.is_broken_off = False
        self.status, self.answer, self.answer_framing, self.answer_trailers = 200, BLOCK[:0], "length", None
        # What the origin does at the first arrival, the second …: `drop` reads all and closes, `deaf` closes after the
        # head, `early` answers after the head. After the last word it answers.
        self.troubles = []
        # How many arrivals get only a part of the answer that is left; later ones get the rest.
        self.break_count = 0
        self.fields = []
        # "whole" or "part" for each arrival at the origin, in order.
        self.arrivals = []
        self.seed = chance.random()

    def __str__(self):
        size = len(self.body) if self.body is not None else 0
        return (f"{self.kind} {self.number}: {self.method} {self.framing} {size} bytes up, "
                f"{self.answer_framing} {len(self.answer)} bytes down, arrivals {self.arrivals}")


class Ledger:
    """All exchanges, and every breach.

    An exchange stays known for `patience` seconds after its end: a request whose client has left may still be on its
    way to the origin, which compares it too.
    """

    def __init__(self, seed, patience):
        self.lock = threading.Lock()
        self.seed, self.patience = seed, patience
        self.exchanges, self.breaches, self.counts = {}, [], {}
        self.ended = collections.deque()  # (when, number)
        self.waited_count = self.bytes_up = self.bytes_down = 0
        self.last_number = 0

    def begin(self, kind, chance):
        with self.lock:
            self.last_number += 1
            exchange = Exchange(kind, chance, self.last_number)
            self.exchanges[exchange.number] = exchange
            return exchange

    def end(self, exchange):
        with self.lock:
            now = time.monotonic()
            self.ended.append((now, exchange.number))
            while self.ended[0][0] < now - self.patience:
                del self.exchanges[self.ended.popleft()[1]]
            self.counts[exchange.kind] = self.counts.get(exchange.kind, 0) + 1

    def find(self, number):
        with self.lock:
            return self.exchanges.get(number)

    def breach(self, text):
        with self.lock:
            self.breaches.append(text)

    def count(self, up=0, down=0, waited=0):
        with self.lock:
            self.bytes_up += up
            self.bytes_down += down
            self.waited_count += waited


class Comparison:
    """Compares what arrives with what must arrive, while it arrives; up to `enough` bytes, where that is given."""

    def __init__(self, expected, what, enough=None):
        self.expected, self.what, self.count, self.enough = expected, what, 0, enough

    def take(self, data):
        end = self.count + len(data)
        if end > len(self.expected):
            raise Breach(f"{self.what}: more than {len(self.expected)} bytes")
        if self.expected[self.count:end] != data:
            at = next(n for n, byte in enumerate(data) if byte != self.expected[self.count + n])
            raise Breach(f"{self.what}: byte {self.count + at} of {len(self.expected)} is another")
        self.count = end
        if self.enough is not None and self.count >= self.enough:
            raise Enough()

    def whole(self):
        if self.count != len(self.expected):
            raise Breach(f"{self.what}: ends after {self.count} of {len(self.expected)} bytes")


def read_head(stream):
    """The first line and the fields, names in lower case. None: the connection ended before it began."""
    first = stream.readline(65536)
    if not first:
        return None
    return line_of(first), read_fields(stream)


def read_fields(stream):
    fields = {}
    while text := line_of(stream.readline(65536)):
        name, colon, value = text.partition(":")
        if not colon:
            raise Breach(f"a field line without a colon: {text[:60]!r}")
        fields[name.lower()] = value.strip()
    return fields


def line_of(line):
    if not line.endswith(b"\n"):
        raise Ended()
    if not line.endswith(b"\r\n"):
        raise Breach(f"a line with a bare LF: {line[:60]!r}")
    return line[:-2].decode("latin-1")


def read_exactly(stream, count, take, step=1 << 16):
    while count:
        data = stream.read1(min(count, step))
        if not data:
            raise Ended()
        count -= len(data)
        take(data)


def read_chunks(stream, take):
    """Reads a chunked body and gives the trailers."""
    while True:
        text = line_of(stream.readline(200))
        try:
            size = int(text, 16)
        except ValueError:
            raise Breach(f"a chunk size that is none: {text[:60]!r}") from None
        if size == 0:
            return read_fields(stream)
        read_exactly(stream, size, take)
        end = stream.read(2)
        if len(end) < 2:
            raise Ended()
        if end != b"\r\n":
            raise Breach(f"a chunk does not end where it said: {end!r}")


def body_parts(body, framing, trailers, chance):
    """The bytes of a body on the wire, in pieces of any size."""
    at = 0
    largest = chance.choice((700, 9_000, 70_000, 300_000))
    while at < len(body):
        part = body[at:at + chance.randint(1, largest)]
        at += len(part)
        yield b"%x\r\n%b\r\n" % (len(part), part) if framing == "chunked" else part
    if framing == "chunked":
        lines = "".join(f"{name}: {value}\r\n" for name, value in (trailers or {}).items())
        yield f"0\r\n{lines}\r\n".encode()


def check_trailers(expected, fields, what):
    if (expected or {}) != fields:
        raise Breach(f"{what}: trailers {fields} instead of {expected}")
