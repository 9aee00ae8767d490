#!/usr/bin/python3 -B
"""Checks the rules of this house that a compiler does not know. Part of `make test`.

Prints one line per breach, `file:line: what`, and ends with 1 if there was any.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINES_MAX = 400
COLUMNS_MAX = 140

# What a target may import besides the standard library: the directions of the house.
IMPORTS_ONLY = {
    "Retry": {"Synchronization"},
    "LayoverText": set(),
    "LayoverCore": {"LayoverText", "Retry"},
    "LayoverHTTP": {"LayoverText", "NIOCore"},
    "LayoverPasswords": {"CCrypt", "LayoverCrypto", "Glibc"},
    "LayoverCrypto": {"COpenSSL", "Synchronization"},
    "LayoverReplay": {"LayoverHTTP", "LayoverText", "NIOCore", "FoundationEssentials"},
}
IMPORTS_NEVER = {
    "LayoverProxy": {"LayoverStore", "LayoverCache", "LayoverAdmin", "LayoverUpstream", "LayoverConfiguration", "LayoverMonitor"},
    "LayoverAdmin": {"LayoverStore", "LayoverCache", "LayoverProxy", "LayoverUpstream", "LayoverConfiguration", "LayoverMonitor"},
    "LayoverUpstream": {"LayoverProxy", "LayoverAdmin", "LayoverConfiguration", "LayoverMonitor"},
    "LayoverMonitor": {"LayoverProxy", "LayoverAdmin", "LayoverUpstream", "LayoverConfiguration"},
    "LayoverEngine": {"LayoverProxy", "LayoverAdmin", "LayoverUpstream", "LayoverConfiguration",
                      "LayoverMonitor", "LayoverStore", "LayoverCache", "LayoverReplay"},
    "LayoverStore": {"LayoverProxy", "LayoverAdmin", "LayoverUpstream", "LayoverConfiguration",
                     "LayoverMonitor", "LayoverCache"},
    "LayoverCache": {"LayoverProxy", "LayoverAdmin", "LayoverUpstream", "LayoverConfiguration",
                     "LayoverMonitor", "LayoverStore"},
}

IMPORT = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |private |fileprivate )?import\s+"
                    r"(?:struct |class |enum |protocol |func |let |var |typealias )?(\w+)")
FORCED = re.compile(r"\btry!|\bas!|[\w)\]]!(?=[\s.,)\]:;?]|$)")
TYPE_NAME = re.compile(r"\b(?:class|struct|enum|protocol|actor)\s+(\w*(?:Manager|Helper|Util|Utils))\b")
HANDLER = re.compile(r"\b(?:class|struct|enum|actor)\s+(\w*Handler)\b(.*)")
UNCHECKED = re.compile(r"@unchecked Sendable|nonisolated\(unsafe\)")
SLEEP = re.compile(r"\bTask\.sleep|\bThread\.sleep|\busleep\(|\bnanosleep\(|(?<![\w.])sleep\(")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|Users|workspace)/\w")
# A file server that serves whatever folder it is started in: in a checkout that has run, the store's key is there.
SERVES_CHECKOUT = re.compile(r"-m http\.server(?!.*--directory)")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")

breaches = []


def breach(path, number, text):
    breaches.append(f"{os.path.relpath(path, ROOT)}:{number}: {text}")


def files():
    """Every file that belongs to the project: what git knows or would add."""
    listing = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True).stdout
    return [os.path.join(ROOT, name) for name in listing.splitlines() if os.path.isfile(os.path.join(ROOT, name))]


def code_lines(text):
    """The lines without comments and without the inside of strings, so that only code is judged."""
    text = re.sub(r'"""(.*?)"""', lambda match: '""' + "\n" * match[0].count("\n"), text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    for line in text.split("\n"):
        line = re.sub(r'#*"(?:\\.|[^"\\])*"#*', '""', line)
        yield line.split("//")[0].rstrip()


def check_swift(path, text):
    parts = os.path.relpath(path, ROOT).split(os.sep)
    area, target = parts[0], parts[1] if len(parts) > 2 else ""
    raw = text.split("\n")
    if len(raw) - 1 > LINES_MAX:
        breach(path, len(raw), f"more than {LINES_MAX} lines")
    if parts[-1] == "Stub.swift":
        breach(path, 1, "a stub")
    for number, line in enumerate(raw, 1):
        # The tables of a test may be as wide as their data.
        if area == "Sources" and len(line) > COLUMNS_MAX:
            breach(path, number, f"more than {COLUMNS_MAX} columns")
    for number, line in enumerate(code_lines(text), 1):
        check_import(path, number, line, area, target)
        if match := TYPE_NAME.search(line):
            breach(path, number, f"'{match[1]}' is not a word of the vocabulary")
        if (match := HANDLER.search(line)) and not re.search(r"Channel\w*Handler|LogHandler", match[1] + match[2]):
            breach(path, number, f"'{match[1]}' is no ChannelHandler")
        if area == "Sources" and FORCED.search(line):
            breach(path, number, "a forced unwrap, cast or try")
        if area == "Tests" and SLEEP.search(line):
            breach(path, number, "a test sleeps; wait for an event")
        if area == "Sources" and UNCHECKED.search(line) and not has_comment(raw, number):
            breach(path, number, "unchecked, without a comment that names what protects the data")


def check_import(path, number, line, area, target):
    match = IMPORT.match(line)
    if not match or area != "Sources":
        return
    name = match[1]
    if target in IMPORTS_ONLY and name not in IMPORTS_ONLY[target]:
        breach(path, number, f"{target} may not import {name}")
    if name in IMPORTS_NEVER.get(target, ()):
        breach(path, number, f"{target} may not import {name}")


def has_comment(raw, number):
    """Whether the line, or one of the ten before it, carries a comment."""
    return any("//" in line for line in raw[max(0, number - 11):number])


def check_text(path, text):
    # This file names what it looks for.
    if path == os.path.abspath(__file__):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if MACHINE_PATH.search(line):
            breach(path, number, "a path of one machine")
        if re.search(r"\b(TODO|FIXME)\b", line):
            breach(path, number, "an open end; write an issue instead")
        if path.endswith(".md") and SERVES_CHECKOUT.search(line):
            breach(path, number, "http.server without --directory serves the checkout, the store's key included")
    if path.endswith(".md"):
        for match in LINK.finditer(text):
            if not os.path.exists(os.path.join(os.path.dirname(path), match[1])):
                breach(path, text[:match.start()].count("\n") + 1, f"a link to nowhere: {match[1]}")


def check_scripts(path):
    if path.endswith(".sh") and subprocess.run(["sh", "-n", path]).returncode != 0:
        breach(path, 1, "no valid shell script")
    if path.endswith(".py"):
        with open(path) as file:
            try:
                compile(file.read(), path, "exec")
            except SyntaxError as error:
                breach(path, error.lineno, f"no valid Python: {error.msg}")


def main():
    count = 0
    for path in files():
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        count += 1
        check_text(path, text)
        check_scripts(path)
        if path.endswith(".swift"):
            check_swift(path, text)
    for line in sorted(breaches):
        print(line)
    print(f"check: {count} files, {len(breaches)} breaches of the house rules")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
