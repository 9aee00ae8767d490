"""The clients of the load: one thread each, one exchange after the other, on connections that are kept."""

import random
import socket
import threading
import time

import exchange as wire


class Client:
    def __init__(self, load, name):
        self.load, self.ledger = load, load.ledger
        self.chance = random.Random(f"{load.ledger.seed} {name}")
        self.connection = self.stream = None
        # Responses that came on the connection at hand.
        self.answer_count = 0

    # One exchange

    def run(self, kind, **options):
        exchange = self.ledger.begin(kind, self.chance)
        secure = self.load.secure
        exchange.port = secure.port if secure and self.chance.random() < 0.3 else self.load.origin.port
        try:
            getattr(self, "do_" + kind)(exchange, **options)
        except wire.Breach as breach:
            self.ledger.breach(f"the client, {exchange}: {breach}")
            self.drop()
        except (wire.Ended, OSError) as error:
            self.ledger.breach(f"the client, {exchange}: {type(error).__name__} {error}, {self.last_words()}")
            self.drop()
        finally:
            self.ledger.end(exchange)

    def last_words(self):
        """What the proxy had said before it closed the connection under a request, and by which port a trace knows it."""
        if not self.stream:
            return "not connected"
        port = self.connection.getsockname()[1]
        try:
            return f"from port {port}, after {self.answer_count} answers there, told {self.stream.read1(2_000)!r}"
        except OSError as error:
            return f"from port {port}, after {self.answer_count} answers there: {error}"

    def drop(self):
        if self.connection:
            self.stream.close()
            self.connection.close()
        self.connection = self.stream = None

    def connect(self):
        if self.connection and self.chance.random() < 0.1:
            self.drop()
        if not self.connection:
            self.connection = socket.create_connection(("127.0.0.1", self.load.proxy), timeout=self.load.patience)
            self.answer_count = 0
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.stream = self.connection.makefile("rb", buffering=1 << 17)

    def send_head(self, exchange, line=None):
        scheme = "https" if self.load.secure and exchange.port == self.load.secure.port else "http"
        lines = [line or f"{exchange.method} {scheme}://127.0.0.1:{exchange.port}/{exchange.number} HTTP/1.1",
                 f"Host: 127.0.0.1:{exchange.port}", *exchange.fields]
        if exchange.framing == "length":
            lines.append(f"Content-Length: {len(exchange.body)}")
        if exchange.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
        if exchange.expects:
            lines.append("Expect: 100-continue")
        self.connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def send(self, exchange):
        self.connect()
        self.send_head(exchange)
        if exchange.expects:
            head = wire.read_head(self.stream)
            if head is None or " 100 " not in head[0]:
                raise wire.Breach(f"no 100 but {head}")
        if exchange.framing != "none":
            for part in wire.body_parts(exchange.body, exchange.framing, exchange.trailers, self.chance):
                self.connection.sendall(part)

    def receive(self, exchange, head=None, slowly=False, enough=None):
        """The answer, compared to its end, or until `enough` bytes of its body were compared."""
        line, fields = head or self.read_final_head()
        if f" {exchange.status} " not in line or fields.get("x-number") != str(exchange.number):
            raise wire.Breach(f"the answer {line!r} {fields}")
        if "attempts=" in fields.get("proxy-status", ""):
            self.ledger.count(waited=1)
        body = wire.Comparison(exchange.answer, "the answer's body", enough)
        take = self.slowed(body.take) if slowly else body.take
        if exchange.method == "HEAD":
            body.count = len(exchange.answer)
        elif fields.get("transfer-encoding") == "chunked":
            wire.check_trailers(exchange.answer_trailers, wire.read_chunks(self.stream, take), "the answer")
        elif "content-length" in fields:
            if int(fields["content-length"]) != len(exchange.answer):
                raise wire.Breach(f"a length of {fields['content-length']}")
            wire.read_exactly(self.stream, len(exchange.answer), take)
        else:
            while data := self.stream.read1(1 << 16):
                take(data)
            self.drop()
        body.whole()
        self.answer_count += 1
        self.ledger.count(down=body.count)
        if fields.get("connection") == "close":
            self.drop()

    def read_final_head(self):
        while True:
            head = wire.read_head(self.stream)
            if head is None:
                raise wire.Ended("before an answer")
            if not head[0].split(" ")[1].startswith("1"):
                return head

    def slowed(self, take, step=1 << 16):
        """Takes with a pause after every 64 KiB. One after each of many small chunks could last longer than `timeouts.clientIdle`:
        the proxy has handed all to the kernel then, and may close what looks idle."""
        owed = 0

        def slowly(data):
            nonlocal owed
            take(data)
            owed += len(data)
            if owed >= step:
                owed = 0
                time.sleep(0.002)
        return slowly

    def transfer(self, exchange, slowly=False):
        self.send(exchange)
        self.receive(exchange, slowly=slowly)
        if not exchange.arrivals or exchange.arrivals[-1] != "whole":
            raise wire.Breach("an answer to a request that did not arrive whole")

    # What is sent

    def upload(self, exchange, framing, sizes, method=None):
        exchange.method = method or self.chance.choice(("PUT", "PUT", "POST"))
        exchange.framing = framing
        exchange.body = wire.piece(self.chance, self.load.upload_size(self.chance.choice(sizes), self.chance))
        exchange.answer = wire.piece(self.chance, self.chance.randrange(3000))

    def download(self, exchange, framing):
        exchange.answer_framing = framing
        exchange.answer = wire.piece(self.chance, self.load.download_size(self.chance))

    uploads = (0, 2_000, 2_000, 20_000, 200_000, 200_000, 1_000_000)

    def do_upload_length(self, exchange):
        self.upload(exchange, "length", self.uploads)
        self.transfer(exchange)

    def do_upload_chunked(self, exchange):
        self.upload(exchange, "chunked", self.uploads)
        self.transfer(exchange)

    def do_upload_trailers(self, exchange):
        self.upload(exchange, "chunked", self.uploads)
        exchange.trailers = {"x-sum": str(exchange.number), "x-empty": ""}
        self.transfer(exchange)

    def do_upload_expect(self, exchange):
        self.upload(exchange, self.chance.choice(("length", "chunked")), (2_000, 200_000))
        exchange.expects = True
        self.transfer(exchange)

    def do_upload_refused(self, exchange):
        """The origin answers before it has read the body; who breaks off then is not said by RFC 9112."""
        self.upload(exchange, self.chance.choice(("length", "chunked")), (20_000, 200_000))
        exchange.status, exchange.troubles = 413, ["early"]
        try:
            self.send(exchange)
            self.receive(exchange)
        except (OSError, wire.Ended):
            pass
        self.drop()

    def do_upload_broken_off(self, exchange):
        self.upload(exchange, self.chance.choice(("length", "chunked")), (20_000, 200_000))
        exchange.is_broken_off = True
        self.connect()
        self.send_head(exchange)
        parts = list(wire.body_parts(exchange.body, exchange.framing, None, self.chance))
        for part in parts[:self.chance.randrange(len(parts))]:
            self.connection.sendall(part)
        # The origin compares what arrives, also after this.
        self.drop()

    def do_replayed(self, exchange):
        """The connection dies under the request once or twice: libcurl sends again, or Layover does."""
        self.upload(exchange, self.chance.choice(("length", "chunked")), (0, 2_000, 200_000), "PUT")
        if exchange.framing == "chunked":
            exchange.trailers = {"x-sum": str(exchange.number)}
        exchange.troubles = ["drop"] * self.chance.randint(1, 2)
        self.transfer(exchange)

    def do_cut(self, exchange):
        self.upload(exchange, self.chance.choice(("length", "chunked")), (2_000, 200_000), "PUT")
        exchange.troubles = ["deaf"]
        self.transfer_unless_cut(exchange)

    def transfer_unless_cut(self, exchange):
        """The connection may die before the body has come whole. Such a request is not sent again, and a 502 says so."""
        try:
            self.send(exchange)
            head = self.read_final_head()
        except (OSError, wire.Ended):
            return self.drop()
        if " 502 " in head[0]:
            return self.drop()
        self.receive(exchange, head)

    def do_download_length(self, exchange):
        self.download(exchange, "length")
        self.transfer(exchange)

    def do_download_chunked(self, exchange):
        self.download(exchange, "chunked")
        exchange.answer_trailers = self.chance.choice((None, {"x-sum": str(exchange.number)}))
        self.transfer(exchange)

    def do_download_close(self, exchange):
        self.download(exchange, "close")
        self.transfer(exchange)

    def do_download_slow(self, exchange):
        self.download(exchange, self.chance.choice(("length", "chunked")))
        self.transfer(exchange, slowly=True)

    def do_download_broken(self, exchange):
        """The connection breaks in mid-body; the response goes on in the same message."""
        self.download(exchange, "length")
        exchange.break_count = self.chance.randint(1, 3)
        self.transfer(exchange)
        if len(exchange.arrivals) != exchange.break_count + 1:
            raise wire.Breach("another number of arrivals than of breaks")

    def do_head(self, exchange):
        exchange.method = "HEAD"
        exchange.answer = wire.piece(self.chance, 1000)
        self.transfer(exchange)

    def do_download_cancelled(self, exchange):
        self.download(exchange, self.chance.choice(("length", "chunked", "close")))
        self.send(exchange)
        try:
            self.receive(exchange, enough=self.chance.choice((0, self.chance.randrange(len(exchange.answer)))))
        except wire.Enough:
            self.drop()

    def do_parked(self, exchange):
        """To an origin that comes and goes."""
        exchange.port = self.load.flaky.port
        if self.chance.random() < 0.5:
            return self.transfer(exchange)
        self.upload(exchange, self.chance.choice(("length", "chunked")), (2_000, 200_000), "PUT")
        self.transfer_unless_cut(exchange)

    def do_parked_left(self, exchange):
        """To an origin that is never there; the client does not wait for it."""
        self.upload(exchange, self.chance.choice(("length", "chunked")), (2_000, 200_000))
        exchange.port = self.load.dead_port
        self.send(exchange)
        time.sleep(self.chance.uniform(0, 0.2))
        self.drop()

    def send_to_nobody(self, number):
        """Every other one to an origin of its own, where it is tried again and again by itself: so these and the tickets have as many
        attempts in the mean as what the load ends, about two, and take as much memory."""
        host = f"127.0.1.{number}" if number % 2 else "127.0.0.1"
        self.connect()
        self.connection.sendall(f"GET http://{host}:{self.load.dead_port}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    def do_ticket(self, exchange, sizes=(2_000, 200_000)):
        self.upload(exchange, self.chance.choice(("length", "chunked")), sizes, "PUT")
        exchange.port = self.load.flaky.port
        exchange.fields = ["Prefer: respond-async, wait=0"]
        self.send(exchange)
        line, fields = self.read_final_head()
        wire.read_exactly(self.stream, int(fields.get("content-length", 0)), len)
        if " 202 " not in line:
            raise wire.Breach(f"the answer {line!r} {fields}")
        location = fields["location"].partition("/.layover/")[2]
        self.ask(f"/.layover/{location}", ["Prefer: wait=60"])
        _, fields = self.read_final_head()
        wire.read_exactly(self.stream, int(fields["content-length"]), len)
        self.ask(f"/.layover/{location}/response", [])
        self.receive(exchange)

    def ask(self, path, fields):
        text = "\r\n".join([f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.load.proxy}", *fields])
        self.connection.sendall(f"{text}\r\n\r\n".encode())

    def do_tunnel(self, exchange):
        self.drop()
        self.connect()
        exchange.framing = "none"
        self.send_head(exchange, f"CONNECT 127.0.0.1:{self.load.echo.port} HTTP/1.1")
        line, _ = self.read_final_head()
        if " 200 " not in line:
            raise wire.Breach(f"the answer {line!r}")
        body = wire.piece(self.chance, self.load.upload_size(200_000, self.chance))
        back = wire.Comparison(body, "what the tunnel brought back")
        while back.count < len(body):
            part = body[back.count:back.count + self.chance.randint(1, 60_000)]
            self.connection.sendall(part)
            wire.read_exactly(self.stream, len(part), back.take)
        self.ledger.count(up=len(body), down=len(body))
        self.drop()


class Traffic(threading.Thread):
    """One client that goes on until the load ends."""

    def __init__(self, load, number, kinds):
        super().__init__(daemon=True)
        self.load, self.kinds = load, kinds
        self.client = Client(load, number)

    def run(self):
        while kind := self.load.next_kind(self.client.chance, self.kinds):
            self.client.run(kind)
        self.client.drop()
