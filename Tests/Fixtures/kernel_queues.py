"""Whether the other end of a connection of 127.0.0.1 has read all that was sent, by the queues of its two sockets (proc(5), /proc/net/tcp).

For origins that break a connection: a reset takes away what was not read before."""

import fcntl
import socket
import struct
import sys
import termios
import time


def is_read(connection):
    """Bytes that the kernel of the other end has acknowledged are in its queue, or were read from it: so the order of the two looks."""
    if struct.unpack("i", fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)))[0] > 0:
        return False
    ends = [f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
            for host, port in (connection.getpeername(), connection.getsockname())]
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            words = line.split()
            if words[1:3] == ends:
                return int(words[4].split(":")[1], 16) == 0
    return True


def wait_until_read(connection, limit=30):
    end = time.monotonic() + limit
    while not is_read(connection) and time.monotonic() < end:
        time.sleep(0.001)
