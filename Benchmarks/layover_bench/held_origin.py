"""An origin that is away (its port refuses) until it is told `listen` on standard input.

It notes when the first request arrived, and answers each with a body that names the request.
"""

import json
import select
import socket
import sys
import time


def main():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Bound but not listening: the kernel refuses connections, and nobody else can take the port.
    listener.bind(("127.0.0.1", 0))
    print("port", listener.getsockname()[1], flush=True)
    sys.stdin.readline()
    listener.listen(4096)
    listener.setblocking(False)
    print("listening", flush=True)
    serve(listener)


def serve(listener):
    epoll = select.epoll()
    epoll.register(listener.fileno(), select.EPOLLIN)
    epoll.register(sys.stdin.fileno(), select.EPOLLIN)
    connections, pending = {}, {}
    facts = {"first": None, "requests": 0, "connections_max": 0}
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == sys.stdin.fileno():
                if not sys.stdin.readline():
                    return
                print("report", json.dumps(facts), flush=True)
            elif descriptor == listener.fileno():
                accept_all(listener, epoll, connections, pending)
                facts["connections_max"] = max(facts["connections_max"], len(connections))
            else:
                receive(descriptor, epoll, connections, pending, facts)


def accept_all(listener, epoll, connections, pending):
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connections[connection.fileno()] = connection
        pending[connection.fileno()] = b""
        epoll.register(connection.fileno(), select.EPOLLIN)


def receive(descriptor, epoll, connections, pending, facts):
    connection = connections[descriptor]
    try:
        data = connection.recv(65536)
    except ConnectionError:
        data = b""
    if not data:
        epoll.unregister(descriptor)
        del connections[descriptor], pending[descriptor]
        connection.close()
        return
    if facts["first"] is None:
        facts["first"] = time.monotonic()
    text = pending[descriptor] + data
    while b"\r\n\r\n" in text:
        head, _, text = text.partition(b"\r\n\r\n")
        facts["requests"] += 1
        name = head.split(b" ", 2)[1].rpartition(b"/")[2]
        body = b"held answer for " + name
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    pending[descriptor] = text


if __name__ == "__main__":
    main()
