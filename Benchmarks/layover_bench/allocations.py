"""Allocations per small request, counted by a library that is preloaded."""

import os
import shutil
import struct
import subprocess

from . import small
from .peers import Contender, start_layover


def measure(workshop, origin, options):
    """None without a C compiler."""
    library = build(workshop)
    if not library:
        return None
    counter = workshop.path("allocations")
    with open(counter, "wb") as file:
        file.write(bytes(8))
    contender = Contender(
        "Layover", "forward",
        lambda shop, port, *_: start_layover(shop, port, environment={"LD_PRELOAD": library, "COUNT_FILE": counter}))
    process = contender.start(workshop, origin)
    script = workshop.write("absolute.lua", small.SCRIPT.format(url=origin.url("small"), port=origin.port))
    small.load(process.port, script, 1, options.clients)
    before = read(counter)
    figures = small.load(process.port, script, options.seconds, options.clients)
    count = (read(counter) - before) / figures["requests"]
    process.stop()
    return {"per_request": count}


def build(workshop):
    if not shutil.which("cc"):
        return None
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "count_allocations.c")
    library = workshop.path("count_allocations.so")
    made = subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], capture_output=True)
    return library if made.returncode == 0 else None


def read(counter):
    with open(counter, "rb") as file:
        return struct.unpack("=Q", file.read(8))[0]
