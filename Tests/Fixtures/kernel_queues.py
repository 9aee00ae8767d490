"""What has been sent and not yet read on a connection of 127.0.0.1, by the queues of its two sockets (proc(5), /proc/net/tcp).

For origins that break a connection, as a reset takes away what was not read before, and for those that read late."""

import fcntl
import os
import socket
import struct
import sys
import termios
import time


def own_queue(connection, request):
    return struct.unpack("i", fcntl.ioctl(connection.fileno(), request, bytes(4)))[0]


def queues_of_other_end(connection):
    """The bytes that it has not yet sent, or whose acknowledgement has not come, and those that it has not read. Zeros: it is closed."""
    ends = [f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
            for host, port in (connection.getpeername(), connection.getsockname())]
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            words = line.split()
            if words[1:3] == ends:
                return [int(queue, 16) for queue in words[4].split(":")]
    return [0, 0]


def is_read(connection):
    """Whether the other end has read all. Bytes that its kernel has acknowledged are in its queue, or were read from it: so the order of
    the two looks."""
    return own_queue(connection, termios.TIOCOUTQ) == 0 and queues_of_other_end(connection)[1] == 0


def wait_until_read(connection, limit=30):
    end = time.monotonic() + limit
    while not is_read(connection) and time.monotonic() < end:
        time.sleep(0.001)


def wait_until_sent(connection, count, limit=20):
    """Waits until the other end has given all to its kernel: that many bytes, and no more for a moment. This end has read none of them. Ends
    the program if they do not come."""
    end = time.monotonic() + limit
    sent, since = 0, time.monotonic()
    while sent < count or time.monotonic() - since < 0.3:
        before, sent = sent, own_queue(connection, termios.FIONREAD) + queues_of_other_end(connection)[0]
        if sent != before:
            since = time.monotonic()
        if sent < count and time.monotonic() > end:
            print(f"{sent} bytes of {count} have been sent", file=sys.stderr, flush=True)
            os._exit(1)
        time.sleep(0.001)
