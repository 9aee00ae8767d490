#!/usr/bin/python3
"""The name server of the end-to-end tests: a small part of RFC 1035, over UDP, for IPv4 addresses.

--zone is a file of lines `name address`. It is read anew for each question, so what the server knows changes when a
test replaces the file. What is not in it does not exist (NXDOMAIN). --ready-file is written when the port is bound.
"""

import argparse
import os
import socket
import struct
import sys

TYPE_A, CLASS_IN = 1, 1
RESPONSE, AUTHORITATIVE, RECURSION_WANTED, RECURSION_OFFERED = 0x8000, 0x0400, 0x0100, 0x0080
NXDOMAIN = 3
# The question's name is at this offset of every message (RFC 1035 section 4.1.4).
POINTER_TO_QUESTION = 0xC00C


def read_zone(path):
    with open(path) as file:
        return dict(line.lower().split() for line in file if line.strip())


def read_question(message):
    """The name, its type, and the bytes that hold both; nothing where the message is no question."""
    labels, at = [], 12
    while length := message[at]:
        labels.append(message[at + 1:at + 1 + length].decode("ascii").lower())
        at += 1 + length
    kind, _ = struct.unpack_from("!HH", message, at + 1)
    return ".".join(labels), kind, message[12:at + 5]


def answer(message, zone):
    number, flags = struct.unpack_from("!HH", message)
    name, kind, question = read_question(message)
    address = zone.get(name)
    flags = RESPONSE | AUTHORITATIVE | RECURSION_OFFERED | flags & RECURSION_WANTED | (0 if address else NXDOMAIN)
    records = b""
    if address and kind == TYPE_A:
        # A life of 0: how long an answer is believed is not what the tests are about.
        records = struct.pack("!HHHIH", POINTER_TO_QUESTION, TYPE_A, CLASS_IN, 0, 4) + socket.inet_aton(address)
    return struct.pack("!HHHHHH", number, flags, 1, 1 if records else 0, 0, 0) + question + records


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--zone", required=True)
    parser.add_argument("--ready-file", required=True)
    options = parser.parse_args()

    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((options.address, 53))
    temporary = options.ready_file + ".new"
    open(temporary, "w").close()
    os.rename(temporary, options.ready_file)
    while True:
        try:
            message, client = server.recvfrom(4096)
            server.sendto(answer(message, read_zone(options.zone)), client)
        except OSError:
            pass  # The network under it goes away in these tests.
        except (IndexError, struct.error, UnicodeDecodeError):
            pass  # No question.


if __name__ == "__main__":
    sys.exit(main())
