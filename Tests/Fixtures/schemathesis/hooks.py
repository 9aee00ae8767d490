"""Says to schemathesis what a description cannot: which requests there are to command, and which parameters go together.

Most requests end with the first command that they get, and a new one has a revision of its own. So two of three valid calls
are made for a request that waits and with its revision, and the third with what schemathesis has made up.
"""

import functools
import itertools
import os
import socket
import threading
import time

import requests
import schemathesis

ADMIN = os.environ["LAYOVER_ADMIN_URL"]
PROXY = os.environ["LAYOVER_PROXY_URL"]

session = requests.Session()
session.trust_env = False
if token := os.environ.get("LAYOVER_TOKEN"):
    session.headers["Authorization"] = f"Bearer {token}"
turns = itertools.count()


def first(path):
    """The first element of a list; None if it is empty."""
    data = session.get(ADMIN + path, timeout=10).json()["data"]
    return data[0] if data else None


def ticket(url, policy):
    """Makes a ticket; its id."""
    parked = requests.post(
        url, data="order=1", headers={"Prefer": "respond-async, wait=0", "Layover-Policy": policy}, proxies={"http": PROXY}, timeout=10)
    parked.raise_for_status()
    return parked.json()["id"]


def origin(conduct):
    """The URL of an origin for one request, which it reads whole. Then it answers it, cuts the connection, or says nothing."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        received = b""
        while b"order=1" not in received and (part := connection.recv(65536)):
            received += part
        if conduct == "answer":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
        if conduct == "hang":
            # Until Layover closes it.
            connection.recv(1)
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/order"


def wait_for(what, look):
    for _ in range(100):
        if found := look():
            return found
        time.sleep(0.02)
    raise RuntimeError(f"no entry is {what}")


@functools.cache
def delivered_entry():
    """A ticket with a response. It stays what it is, so there is one."""
    path = f"{ADMIN}/v1/pending/{ticket(origin('answer'), 'parked')}"

    def look():
        entry = session.get(path, timeout=10).json()
        return entry if entry["state"] == "delivered" else None

    return wait_for("delivered", look)


def entry_for(path):
    """An entry with which the call can succeed; a ticket is made if there is none."""
    command = path.split("/")[-1]
    states, conduct = {"force": ("undecided", "cut"), "abort": ("attempting", "hang")}.get(command, ("waiting,held", None))
    place = f"/v1/pending?limit=1&state={states}"
    found = first(place)
    if found and command != "response":
        return found
    # Another call may have set the mode to offline, in which nothing is sent.
    session.put(f"{ADMIN}/v1/reachability", json={"mode": "online"}, timeout=10)
    if command == "response":
        return delivered_entry()
    ticket(origin(conduct) if conduct else "http://parked.invalid/order", "parked")
    return wait_for(states, lambda: first(place))


def name_what_is_there(case, path):
    if path.startswith("/v1/pending/{id}"):
        entry = entry_for(path)
        case.path_parameters["id"] = entry["id"]
        if case.headers and "If-Match" in case.headers:
            case.headers["If-Match"] = f'"{entry["revision"]}"'
    if path.startswith("/v1/incidents/{id}"):
        entry_for(path)
        if incident := first("/v1/incidents"):
            case.path_parameters["id"] = incident["id"]


@schemathesis.hook
def before_call(context, case, kwargs):
    if not case.meta or not case.meta.generation.mode.is_positive:
        return
    path, query, turn = case.operation.path, case.query, next(turns)
    if case.path_parameters and turn % 3:
        name_what_is_there(case, path)
    # One of them selects what is listed.
    if path == "/v1/cache" and query and query.get("host") and query.get("url"):
        del query["url" if turn % 2 else "host"]
    # A cursor belongs to one order.
    if path == "/v1/pending" and query and query.get("cursor"):
        query["sort"] = query["cursor"].split(".")[0]
