"""Many clients in one epoll loop: each sends one request through the proxy and waits for its answer."""

import json
import select
import socket
import sys
import time

DEADLINE_SECONDS = 600


def main():
    proxy, origin, count = (int(argument) for argument in sys.argv[1:4])
    clients = {}
    for number in range(count):
        client = socket.create_connection(("127.0.0.1", proxy), timeout=30)
        client.sendall(
            f"GET http://127.0.0.1:{origin}/{number} HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\n\r\n".encode())
        clients[client.fileno()] = (client, number)
    print("sent", count, flush=True)
    print("served", json.dumps(collect(clients)), flush=True)
    sys.stdin.read()


def collect(clients):
    """Reads every answer to its end and compares it with what this very client asked for."""
    epoll = select.epoll()
    for descriptor in clients:
        epoll.register(descriptor, select.EPOLLIN)
    answers = {descriptor: b"" for descriptor in clients}
    right, wrong, last = 0, [], None
    deadline = time.monotonic() + DEADLINE_SECONDS
    while answers and time.monotonic() < deadline:
        for descriptor, _ in epoll.poll(1):
            client, number = clients[descriptor]
            try:
                data = client.recv(65536)
            except ConnectionError:
                data = b""
            answers[descriptor] += data
            ended = is_whole(answers[descriptor])
            if not ended and data:
                continue
            last = time.monotonic()
            answer = answers.pop(descriptor)
            epoll.unregister(descriptor)
            expected = b"held answer for %d" % number
            if ended and answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\n" + expected):
                right += 1
            elif len(wrong) < 3:
                wrong.append(answer[:300].decode("latin-1"))
            client.close()
    return {"right": right, "wrong": wrong, "unanswered": len(answers), "last": last}


def is_whole(answer):
    head, separator, body = answer.partition(b"\r\n\r\n")
    if not separator:
        return False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return False


if __name__ == "__main__":
    main()
