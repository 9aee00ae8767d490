"""Tunnels (CONNECT) of the hostile load: both ends send at the same time, and end by FIN or RST after any byte."""

import select
import socket
import threading
import time

from origin import Listener, reset
from plan import piece


class TunnelPlan:
    def __init__(self, chance, identifier):
        self.id, self.up, self.down = identifier, piece(chance, 900_000), piece(chance, 900_000)
        # After so many bytes that end resets the connection; None: it sends all, ends by FIN, and reads to the end.
        self.up_cut = chance.randrange(len(self.up) + 1) if chance.random() < 0.2 else None
        self.down_cut = chance.randrange(len(self.down) + 1) if chance.random() < 0.2 else None

    def __str__(self):
        return (f"{self.id}: tunnel, {len(self.up)} bytes up{f', reset after {self.up_cut}' if self.up_cut is not None else ''}, "
                f"{len(self.down)} down{f', reset after {self.down_cut}' if self.down_cut is not None else ''}")


def pump(connection, data, cut, received, limit):
    """Sends and receives. Returns how it ended: `fin`, `rst`, `left` for a reset of its own, `late`."""
    connection.setblocking(False)
    at, stops_at, has_ended, ends_at = 0, len(data) if cut is None else cut, False, time.monotonic() + limit
    while time.monotonic() < ends_at:
        if at == stops_at and not has_ended:
            if cut is not None:
                reset(connection)
                return "left"
            has_ended = True
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                return "rst"
        reads, writes, _ = select.select([connection], [connection] if at < stops_at else [], [], 0.5)
        try:
            if writes:
                at += connection.send(data[at:min(stops_at, at + 65536)])
            if reads:
                part = connection.recv(65536)
                if not part:
                    if has_ended:
                        return "fin"
                    # The other end has ended and may still read.
                    while at < stops_at and time.monotonic() < ends_at:
                        select.select([], [connection], [], 0.5)
                        try:
                            at += connection.send(data[at:min(stops_at, at + 65536)])
                        except BlockingIOError:
                            pass
                    if cut is not None:
                        reset(connection)
                        return "left"
                    connection.shutdown(socket.SHUT_WR)
                    return "fin"
                received += part
        except BlockingIOError:
            pass
        except OSError:
            return "rst"
    return "late"


class TunnelOrigin(Listener):
    """The far ends. The first line of each tunnel names its plan."""

    def __init__(self, patience):
        self.patience = patience
        # By identifier: the plan, and once it is over what came, how it ended, and an event for that.
        self.known = {}
        super().__init__()

    def serve(self, connection):
        connection.settimeout(60)
        line = b""
        try:
            while not line.endswith(b"\n"):
                byte = connection.recv(1)
                if not byte:
                    raise OSError
                line += byte
        except OSError:
            return connection.close()
        seen = self.known.get(line.decode().strip())
        if seen:
            seen["ending"] = pump(connection, seen["plan"].down, seen["plan"].down_cut, seen["received"], self.patience)
            seen["over"].set()
        connection.close()


def run(load, plan):
    """Plays one tunnel, and returns what was wrong; None: nothing."""
    seen = {"plan": plan, "received": bytearray(), "ending": None, "over": threading.Event()}
    load.tunnels.known[plan.id] = seen
    received = bytearray()
    with socket.create_connection(("127.0.0.1", load.proxy), timeout=load.patience) as connection:
        authority = f"127.0.0.1:{load.tunnels.port}"
        connection.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n{plan.id}\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = connection.recv(1)
            if not byte:
                return f"CONNECT was answered with {head!r}"
            head += byte
        if b" 200 " not in head.split(b"\r\n")[0] + b" ":
            return f"CONNECT was answered with {head!r}"
        ending = pump(connection, plan.up, plan.up_cut, received, load.patience)
    if not seen["over"].wait(load.patience):
        return f"the far end did not come to its end; the near end: {ending}"
    far = seen["ending"]
    del load.tunnels.known[plan.id]
    for name, got, sent in (("client", received, plan.down), ("origin", seen["received"], plan.up)):
        if not sent.startswith(bytes(got)):
            return f"the {name} got {len(got)} bytes that are not those that were sent"
    if plan.up_cut is None and plan.down_cut is None:
        if (ending, far) != ("fin", "fin") or len(received) != len(plan.down) or len(seen["received"]) != len(plan.up):
            return (f"no end was reset, but the client ended by {ending} with {len(received)} of {len(plan.down)} bytes, "
                    f"the origin by {far} with {len(seen['received'])} of {len(plan.up)}")
    elif "late" in (ending, far):
        return f"a reset did not arrive: client {ending}, origin {far}"
    # The end that did not reset must not take what it has for all of it.
    if plan.up_cut is not None and plan.down_cut is None and far == "fin" and len(seen["received"]) < len(plan.up):
        return "the origin saw a FIN where the client had reset"
    if plan.down_cut is not None and plan.up_cut is None and ending == "fin" and len(received) < len(plan.down):
        return "the client saw a FIN where the origin had reset"
    return None
