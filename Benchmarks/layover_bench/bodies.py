"""Large bodies: CPU seconds per GiB and peak memory, one client at a time."""

import socket
import statistics

from .fetch import fetch
from .origin import PATTERN_MIB
from .processes import BenchError


def measure(workshop, origin, contenders, options):
    rounds = {contender.name: [] for contender in contenders}
    for _ in range(options.rounds):
        for contender in contenders:
            process = contender.start(workshop, origin)
            fetch(process.port, origin.url("pattern"), origin.pattern_hash, PATTERN_MIB << 20)
            process.reset_peak()
            before = process.cpu_seconds()
            drain(process.port, origin)
            gibibytes = origin.large_bytes / (1 << 30)
            rounds[contender.name].append({
                "cpu_s": (process.cpu_seconds() - before) / gibibytes,
                "peak_mib": process.peak_bytes() / (1 << 20),
            })
            process.stop()
    return {
        name: {key: statistics.median(f[key] for f in figures) for key in figures[0]}
        for name, figures in rounds.items()
    }


def drain(port, origin):
    """Reads the large body with as little work as possible and counts every byte."""
    buffer = bytearray(1 << 20)
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        client.sendall(
            f"GET {origin.url('large')} HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n"
            "Connection: close\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            part = client.recv(4096)
            if not part:
                raise BenchError(f"port {port} closed within the head: {head!r}")
            head += part
        fields, _, first = head.partition(b"\r\n\r\n")
        if b" 200 " not in fields.split(b"\r\n")[0] + b" ":
            raise BenchError(f"port {port} answered {fields!r}")
        count = len(first)
        while count < origin.large_bytes:
            received = client.recv_into(buffer)
            if received == 0:
                break
            count += received
    if count != origin.large_bytes:
        raise BenchError(f"port {port} brought {count} bytes of {origin.large_bytes}")
