"""A client that checks what it gets: absolute-form targets, byte counts, hashes."""

import hashlib
import http.client

from .processes import BenchError


def fetch(port, url, expected_hash=None, expected_bytes=None):
    """Fetches `url` through the proxy on `port` and fails unless the answer is whole and right."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", url)
        response = connection.getresponse()
        if response.status != 200:
            raise BenchError(f"{url} through port {port} was answered {response.status}")
        digest, count = hashlib.sha256(), 0
        while chunk := response.read(1 << 20):
            count += len(chunk)
            if expected_hash:
                digest.update(chunk)
    finally:
        connection.close()
    if expected_bytes is not None and count != expected_bytes:
        raise BenchError(f"{url} through port {port} brought {count} bytes, not {expected_bytes}")
    if expected_hash and digest.hexdigest() != expected_hash:
        raise BenchError(f"{url} through port {port} brought wrong bytes")
    return count
