"""The clients of the hostile load: each sends what its plans say, leaves when they say so, and judges what it gets."""

import random
import select
import socket
import time

import tunnel
from origin import digest, reset
from plan import MALFORMED_CHUNKS, Plan


class Response:
    """Reads one response as it comes. `is_complete` by its framing."""

    def __init__(self, is_head):
        self.buffer, self.is_head = b"", is_head
        self.status, self.fields, self.body = None, {}, b""
        self.is_complete, self.framing, self.left, self.is_broken = False, None, 0, False

    def feed(self, data):
        self.buffer += data
        while not self.is_complete and self.step():
            pass

    def step(self):
        if self.status is None:
            if b"\r\n\r\n" not in self.buffer:
                return False
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            status = int(lines[0].split(" ")[1])
            if status < 200:
                return True
            self.status = status
            self.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            if self.is_head or status in (204, 304):
                self.framing, self.is_complete = "none", True
            elif "chunked" in self.fields.get("transfer-encoding", ""):
                self.framing = "chunked"
            elif "content-length" in self.fields:
                self.framing, self.left = "length", int(self.fields["content-length"])
                self.is_complete = self.left == 0
            else:
                self.framing = "close"
            return True
        if self.framing == "close":
            self.body, self.buffer = self.body + self.buffer, b""
            return False
        if self.framing == "length" or self.left:
            part, self.buffer = self.buffer[:self.left], self.buffer[self.left:]
            self.body, self.left = self.body + part, self.left - len(part)
            self.is_complete = self.framing == "length" and self.left == 0
            return bool(part)
        # Between two chunks. The line break behind a chunk comes first.
        at = self.buffer.find(b"\r\n", 2 if self.body and self.buffer.startswith(b"\r\n") else 0)
        if at < 0:
            return False
        line = self.buffer[:at].removeprefix(b"\r\n")
        size = int(line.split(b";")[0], 16)
        if size:
            self.buffer, self.left = self.buffer[at + 2:], size
            return True
        end = self.buffer.find(b"\r\n\r\n", at)
        if end < 0:
            return False
        self.buffer, self.is_complete = self.buffer[end + 4:], True
        return False

    def ended(self):
        """The connection has ended by FIN."""
        if self.framing == "close":
            self.is_complete = True

    @property
    def is_own(self):
        """Whether the proxy made it."""
        return "error=" in self.fields.get("proxy-status", "") and self.fields.get("content-type") == "application/problem+json"


class Client:
    """Longest time of one exchange is `patience`."""

    def __init__(self, load, number):
        self.load, self.number, self.count = load, number, 0
        self.connection = None

    def run(self):
        while self.load.goes_on():
            self.run_one(self.count)
            self.count += 1
        self.drop()

    def drop(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def run_one(self, number):
        chance = random.Random(f"{self.load.seed}/{self.number}/{number}")
        if chance.random() < 0.04:
            return self.run_tunnel(tunnel.TunnelPlan(chance, f"{self.number}-{number}"))
        plan = Plan(self.load.seed, self.number, number)
        seen = self.load.ledger.begin(plan)
        try:
            response = self.exchange(plan, seen)
        except (OSError, ValueError) as error:
            self.drop()
            response = None
            if not isinstance(error, OSError):
                self.load.ledger.breach(plan, f"the client got no HTTP: {error}")
        self.load.ledger.finish(seen, response)
        # An early success is followed by a reset where the origin stops reading: the upload did not arrive.
        may_be_reset = plan.early_at is not None and not plan.reads_on
        if not (response and response.is_complete and plan.keeps_alive and seen.is_sent and not plan.leaves and not may_be_reset
                and response.fields.get("connection", "").lower() != "close" and response.framing != "close" and not response.buffer):
            self.drop()

    def run_tunnel(self, plan):
        try:
            wrong = tunnel.run(self.load, plan)
        except OSError as error:
            wrong = f"{error!r}" if plan.up_cut is None and plan.down_cut is None else None
        if wrong:
            self.load.ledger.breach(plan, wrong)
        self.load.ledger.count("tunnel")

    def leave(self, plan):
        if plan.leaves_how == "half":
            self.connection.shutdown(socket.SHUT_WR)
            return
        if plan.leaves_how == "rst":
            reset(self.connection)
        self.drop()

    def exchange(self, plan, seen):
        wire = plan.request(self.load.origin.port)
        stops_at = int(plan.leaves_after * len(wire)) if plan.leaves == "sending" else len(wire)
        seen.is_whole = stops_at == len(wire) and not plan.malformed
        if self.connection is None:
            self.connection = socket.create_connection(("127.0.0.1", self.load.proxy), timeout=10)
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = self.connection
        connection.setblocking(False)
        response, at, has_left = Response(plan.method == "HEAD"), 0, False
        ends_at = time.monotonic() + self.load.patience
        leaves_at = None
        while True:
            now = time.monotonic()
            if now > ends_at:
                self.load.ledger.breach(plan, f"nothing more came for {self.load.patience:.0f} s; sent {at} of {stops_at}, {response.status}")
                self.drop()
                return response
            if at == stops_at and not has_left:
                if plan.leaves == "sending" or plan.leaves == "waiting" and leaves_at is not None and now >= leaves_at:
                    has_left = True
                    self.leave(plan)
                    if self.connection is None:
                        return None
                elif plan.leaves == "waiting" and leaves_at is None:
                    leaves_at = now + plan.leaves_after * 0.06
            wait = 0.005 if plan.leaves == "waiting" and not has_left else 0.5
            reads, writes, _ = select.select([connection], [connection] if at < stops_at else [], [], wait)
            if writes:
                try:
                    at += connection.send(wire[at:min(stops_at, at + 65536)])
                except BlockingIOError:
                    pass
                except (BrokenPipeError, ConnectionResetError):
                    # The proxy has ended its reading; a response may still be there.
                    stops_at = at
                seen.is_sent = at == len(wire)
            if reads:
                if plan.is_slow:
                    time.sleep(0.002)
                data = connection.recv(2048 if plan.is_slow else 65536)
                if not data:
                    response.ended()
                    self.drop()
                    return response
                response.feed(data)
                if plan.leaves == "receiving" and len(response.body) >= plan.leaves_after * len(plan.answer.body) and not has_left:
                    has_left = True
                    if plan.leaves_how != "half":
                        self.leave(plan)
                        return None
            # Whoever has an early answer goes on with its upload.
            if response.is_complete and at == stops_at:
                return response


def judge(seen, response):
    """What is wrong with what the client got; None: nothing."""
    plan = seen.plan
    # The origin may answer a chunked request before the fault in it has come.
    is_before_fault = plan.malformed in MALFORMED_CHUNKS and plan.early_at is not None
    if plan.malformed and not is_before_fault:
        if response and response.is_complete and not response.is_own:
            return f"a malformed request got {response.status}"
        return None
    if response is None or not response.is_complete or response.status is None:
        return "no complete response came although both ends kept to the rules" if plan.is_well else None
    if response.is_own:
        return f"the proxy's own {response.status} came although both ends kept to the rules: {response.body[:300]}" if plan.is_well else None
    if (response.status, digest(response.body)) in seen.may_see:
        return None
    return (f"a complete {response.status} with {len(response.body)} bytes ({response.framing}) came that no attempt sent; "
            f"sent were {[status for status, _ in seen.may_see]}")
