"""A WebSocket server and a WebSocket client that send each other many messages at the same time, and compare every byte.

websocket_peers.py server PORT [CERTIFICATE KEY]: `ws` or `wss` on 127.0.0.1; prints one line when it listens, and `ok` for each
connection that went well. websocket_peers.py client URL PROXY CA: through the proxy, unless it is `none`; CA may be `none`. It prints
`ok`, or the status of a response that is no 101.
"""

import asyncio
import hashlib
import random
import ssl
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import InvalidStatus

COUNT = 200
# Seconds until an end gives up waiting for the other one to close. The code of the end is 1000 only if it does not.
CLOSE_MAX = 60


def messages(seed):
    generator = random.Random(seed)
    return [generator.randbytes(generator.choice([0, 1, 125, 126, 4096, 65_535, 65_536, 150_000])) for _ in range(COUNT)]


def digest(parts):
    return hashlib.sha256(b"".join(len(part).to_bytes(8) + part for part in parts)).hexdigest()


async def converse(connection, own, other):
    """Both send all at once; then each tells the other what it got."""

    async def send():
        for message in messages(own):
            await connection.send(message)

    sending = asyncio.create_task(send())
    got = [await connection.recv() for _ in range(COUNT)]
    await sending
    await connection.send(digest(got))
    assert digest(got) == digest(messages(other)), "bytes were changed"
    assert await connection.recv() == digest(messages(own)), "bytes were changed on the way there"


async def run_server(port, identity):
    context = None
    if identity:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*identity)

    async def handle(connection):
        await converse(connection, "server", "client")
        await connection.wait_closed()
        print("ok", connection.close_code, flush=True)

    async with serve(
        handle, "127.0.0.1", int(port), ssl=context, max_size=None, compression=None, open_timeout=None, ping_interval=None,
        close_timeout=CLOSE_MAX,
    ) as server:
        print(f"listens on {port}", flush=True)
        await server.serve_forever()


async def run_client(url, proxy, authority):
    context = None
    if url.startswith("wss:"):
        context = ssl.create_default_context(cafile=None if authority == "none" else authority)
    try:
        async with connect(
            url, proxy=None if proxy == "none" else proxy, ssl=context, max_size=None, compression=None, open_timeout=None,
            ping_interval=None, close_timeout=CLOSE_MAX,
        ) as connection:
            await converse(connection, "client", "server")
        print("ok", connection.close_code)
    except InvalidStatus as refusal:
        print(refusal.response.status_code, refusal.response.body.decode())


what, *arguments = sys.argv[1:]
asyncio.run(run_server(arguments[0], arguments[1:]) if what == "server" else run_client(*arguments))
