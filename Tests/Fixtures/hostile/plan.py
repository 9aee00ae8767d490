"""What one exchange of the hostile load is made of. All of it follows from the seed, the client and its number.

A plan says what the client sends and when it leaves, and which bytes the origin answers with and where it breaks them off.
"""

import random

BLOCK = random.Random(20).randbytes(2 << 20)

# An answer that is not HTTP by the rules, by the name of its fault, and whether a proxy may pass on its body all the same. Framing
# that two readers may read in two ways must never be passed on as a complete message (RFC 9112 section 6.3).
FAULTS = {
    "two lengths": False, "negative length": False, "length is no number": False, "length overflows": False,
    "chunk size is no number": False, "chunk size overflows": False, "chunk without its end": False, "NUL in a field": False,
    "no HTTP": False, "endless head": False, "version 3": False, "status 99": False, "status without digits": False,
    "CR in a field": False, "interim heads without end": False,
    "length and chunked": True, "equal lengths": True, "space before the colon": True, "folded field": True, "bare LF": True,
    "no reason": True, "space behind the chunk size": True, "chunk extension": True, "trailers": True, "surplus": True,
    "empty field": True, "obs-text": True,
}
# A request that is not HTTP by the rules. None of it may reach an origin as a complete request.
MALFORMED = ("two lengths", "length and chunked", "negative length", "space before the colon", "NUL in a field", "chunk size is no number",
             "chunk without its end", "folded field", "no version", "bare CR", "TE twice")

MALFORMED_CHUNKS = ("chunk size is no number", "chunk without its end")
# Faults of an answer's body. The answer to HEAD has none.
FAULTS_OF_BODY = MALFORMED_CHUNKS + ("chunk size overflows",)


def piece(chance, most):
    length = chance.choice((0, 1, chance.randint(2, 200), chance.randint(2, 20_000), chance.randint(2, most)))
    start = chance.randrange(len(BLOCK) - length)
    return BLOCK[start:start + length]


def chunks(chance, body, extension=b"", space=b""):
    """A body in chunked coding (RFC 9112 section 7.1), without its last chunk."""
    out, at = [], 0
    while at < len(body):
        size = min(len(body) - at, chance.choice((1, chance.randint(1, 100), chance.randint(1, 70_000))))
        out.append(b"%x%s%s\r\n%s\r\n" % (size, space, extension, body[at:at + size]))
        at += size
    return b"".join(out)


class Answer:
    """The bytes of one answer, and where they break off."""

    def __init__(self, chance, head_only, fault=None, is_early_end=False):
        self.status = chance.choice((200, 200, 200, 201, 206, 204, 304, 302, 404, 500, 418))
        if fault:
            self.status = 200
        self.fault, self.body = fault, piece(chance, 300_000)
        if self.status in (204, 304):
            self.body = b""
        chunked = FAULTS_OF_BODY + ("space behind the chunk size", "chunk extension", "trailers")
        self.framing = chance.choice(("length", "length", "chunked", "close")) if self.status not in (204, 304) else "none"
        if fault:
            self.framing = "chunked" if fault in chunked else "length"
        is_cut = chance.random() < 0.25
        # An origin that closes says so: otherwise the next request on the connection may meet the end, and no proxy could help that.
        # One that keeps the connection after a fault is the test of what is left on it.
        self.closes = (self.framing == "close" or is_cut or is_early_end or chance.random() < 0.2
                       or fault is not None and (not FAULTS[fault] or chance.random() < 0.5))
        head = self.make_head(chance, fault)
        self.interim = b""
        if chance.random() < 0.1:
            self.interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * chance.randint(1, 3)
        if fault == "interim heads without end":
            self.interim = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50_000
        self.head_size = len(self.interim) + len(head)
        content = b"" if head_only or self.status in (204, 304) else self.make_content(chance, fault)
        self.wire = self.interim + head + content
        # Where it breaks off, and how; None: it is sent to its end.
        self.cut_how = chance.choice(("fin", "rst"))
        self.cut_at = chance.randrange(len(self.wire) + (self.cut_how == "rst")) if is_cut else None
        self.sees = b"" if head_only else self.body
        self.may_pass = fault is None or FAULTS[fault] or head_only and fault in FAULTS_OF_BODY

    def make_head(self, chance, fault):
        line = f"HTTP/1.1 {self.status} Fine"
        line = {"version 3": "HTTP/3.0 200 Fine", "status 99": "HTTP/1.1 99 Odd", "no reason": "HTTP/1.1 200",
                "status without digits": "HTTP/1.1 two Fine", "no HTTP": "220 mail.test ESMTP"}.get(fault, line)
        size = len(self.body)
        fields = ["Date: Wed, 25 Nov 2026 12:00:00 GMT", f"X-Filler: {'x' * chance.choice((0, 5, 3000))}"]
        length = {"negative length": ["-1"], "length is no number": ["1x"], "length overflows": ["9" * 30],
                  "two lengths": [str(size), str(size + 1)], "equal lengths": [str(size)] * 2}.get(fault, [str(size)])
        if self.framing == "length":
            fields += [f"Content-Length: {value}" for value in length]
        if self.framing == "chunked" or fault == "length and chunked":
            fields.append("Transfer-Encoding: chunked")
        if self.closes:
            fields.append("Connection: close")
        fields += {"NUL in a field": ["X-Odd: a\0b"], "space before the colon": ["X-Odd : a"], "folded field": ["X-Odd: a\r\n b"],
                   "CR in a field": ["X-Odd: a\rb"], "endless head": [f"X-{n}: {'y' * 1000}" for n in range(300)],
                   "empty field": ["X-Odd:"], "obs-text": ["X-Odd: \xe4\xff"]}.get(fault, [])
        end = "\n" if fault == "bare LF" else "\r\n"
        return (line + end + end.join(fields) + end + end).encode("latin-1")

    def make_content(self, chance, fault):
        if self.framing != "chunked" and fault != "length and chunked":
            return self.body + (b"HTTP/1.1 200 Fine\r\nContent-Length: 6\r\n\r\nhidden" if fault == "surplus" else b"")
        extension = b";a=b;c=\"d e\"" if fault == "chunk extension" else b""
        out = chunks(chance, self.body, extension, b"  " if fault == "space behind the chunk size" else b"")
        if fault == "chunk size is no number":
            return out + b"zz\r\nhidden\r\n0\r\n\r\n"
        if fault == "chunk size overflows":
            return out + b"fffffffffffffffff\r\nhidden"
        if fault == "chunk without its end":
            return out + b"5\r\n12345678\r\n0\r\n\r\n"
        return out + b"0\r\n" + (b"X-Trailer: t\r\n" if fault == "trailers" else b"") + b"\r\n"


class Plan:
    def __init__(self, seed, client, number):
        chance = self.chance = random.Random(f"{seed}:{client}:{number}")
        self.id = f"{client}-{number}"
        self.method = chance.choice(("GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE"))
        self.framing = "none" if self.method in ("GET", "HEAD") else chance.choice(("none", "length", "length", "chunked"))
        self.body = piece(chance, chance.choice((300_000, 300_000, 1_800_000))) if self.framing != "none" else b""
        self.malformed = chance.choice(MALFORMED) if chance.random() < 0.06 else None
        if self.malformed:
            self.method, self.framing = "POST", "chunked" if self.malformed in MALFORMED_CHUNKS else "length"
        fault = chance.choice(list(FAULTS)) if chance.random() < 0.35 else None
        # After so many bytes of the body the origin answers; None: after all of them.
        self.early_at = chance.randrange(len(self.body) + 1) if self.body and chance.random() < 0.15 else None
        self.reads_on = chance.random() < 0.6
        self.answer = Answer(chance, self.method == "HEAD", fault, self.early_at is not None and not self.reads_on)
        # The first attempt ends without an answer: at once, or when so many bytes of the body were read.
        self.deaf = chance.random() < 0.05
        self.delay = chance.choice((0, 0, 0.003, 0.03))
        # When the client leaves: during `sending` or `receiving` after so many bytes, or while `waiting`. None: it stays.
        self.leaves, self.leaves_how = None, chance.choice(("fin", "rst", "half"))
        if chance.random() < 0.25:
            self.leaves = chance.choice(("sending", "waiting", "receiving"))
            self.leaves_after = chance.random()
        self.is_slow = chance.random() < 0.05
        self.keeps_alive = chance.random() < 0.7

    @property
    def is_well(self):
        """Whether both ends keep to the rules, so that nothing else than the answer may come."""
        return not (self.malformed or self.answer.fault or self.leaves or self.deaf or self.early_at is not None) and self.answer.cut_at is None

    def request(self, port):
        size, odd, chance = str(len(self.body)), self.malformed, self.chance
        fields = [f"Host: 127.0.0.1:{port}", f"X-Id: {self.id}"]
        if self.framing == "length":
            value = "-1" if odd == "negative length" else size
            fields += [f"Content-Length: {value}"] + ([f"Content-Length: {len(self.body) + 1}"] if odd == "two lengths" else [])
        if self.framing == "chunked" or odd == "length and chunked":
            fields.append("Transfer-Encoding: chunked")
        fields += {"space before the colon": ["X-Odd : a"], "NUL in a field": ["X-Odd: a\0b"], "folded field": ["X-Odd: a\r\n b"],
                   "bare CR": ["X-Odd: a\rb"], "TE twice": ["Transfer-Encoding: chunked, chunked"]}.get(odd, [])
        if not self.keeps_alive:
            fields.append("Connection: close")
        version = "" if odd == "no version" else " HTTP/1.1"
        line = f"{self.method} http://127.0.0.1:{port}/{self.id}{version}\r\n"
        head = (line + "\r\n".join(fields) + "\r\n\r\n").encode("latin-1")
        if self.framing != "chunked":
            return head + self.body
        end = {"chunk size is no number": b"zz\r\n0\r\n\r\n", "chunk without its end": b"5\r\n12345678\r\n0\r\n\r\n"}.get(odd, b"0\r\n\r\n")
        return head + chunks(chance, self.body) + end

    def __str__(self):
        answer = self.answer
        cut = f", cut off by {answer.cut_how} after {answer.cut_at} of {len(answer.wire)}" if answer.cut_at is not None else ""
        early = f", early after {self.early_at}, {'reads on' if self.reads_on else 'closes'}" if self.early_at is not None else ""
        return (f"{self.id}: {self.method} {self.framing} {len(self.body)} bytes{', malformed: ' + self.malformed if self.malformed else ''}"
                f"{f', client leaves while {self.leaves} by {self.leaves_how}' if self.leaves else ''}; answer {answer.status} {answer.framing} "
                f"{len(answer.body)} bytes{', fault: ' + answer.fault if answer.fault else ''}{cut}{early}{', deaf' if self.deaf else ''}")
