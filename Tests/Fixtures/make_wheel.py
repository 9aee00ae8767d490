#!/usr/bin/python3
"""Writes a local pip index with one tiny wheel: make_wheel.py FOLDER."""

import base64
import hashlib
import os
import sys
import zipfile

NAME, VERSION = "layover_demo", "1.0"
FILES = {
    f"{NAME}/__init__.py": "answer = 'it arrived'\n",
    f"{NAME}-{VERSION}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: layover-demo\nVersion: {VERSION}\n",
    f"{NAME}-{VERSION}.dist-info/WHEEL":
        "Wheel-Version: 1.0\nGenerator: layover\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def main():
    folder = os.path.join(sys.argv[1], "simple", "layover-demo")
    os.makedirs(folder, exist_ok=True)
    wheel = f"{NAME}-{VERSION}-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(text)}\n"
        record += f"{NAME}-{VERSION}.dist-info/RECORD,,\n"
        archive.writestr(f"{NAME}-{VERSION}.dist-info/RECORD", record)
    with open(os.path.join(folder, "index.html"), "w") as file:
        file.write(f"<!DOCTYPE html><html><body><a href='{wheel}'>{wheel}</a></body></html>\n")


main()
