"""Rules for single lines of Swift, and the length of files and lines."""

import re

LINES_MAX = 400
COLUMNS_MAX = 140

FORCED = re.compile(r"\btry!|\bas!|[\w)\]]!(?=[\s.,)\]:;?]|$)", re.M)
TYPE_NAME = re.compile(r"\b(?:class|struct|enum|protocol|actor)\s+(\w*(?:Manager|Helper|Util|Utils))\b")
HANDLER = re.compile(r"\b(?:class|struct|enum|actor)\s+(\w*Handler)\b(.*)")
UNCHECKED = re.compile(r"@unchecked Sendable|nonisolated\(unsafe\)")
SLEEP = re.compile(r"\bTask\.sleep|\bThread\.sleep|\busleep\(|\bnanosleep\(|(?<![\w.])sleep\(")


def breaches(tree):
    for file in tree.swift:
        yield from ((file.name, line, text) for line, text in breaches_of(file))


def breaches_of(file):
    raw = file.text.split("\n")
    if file.line_count > LINES_MAX:
        yield file.line_count, f"more than {LINES_MAX} lines"
    if file.name.endswith("/Stub.swift"):
        yield 1, "a stub"
    yield from found(file, TYPE_NAME, lambda match: f"'{match[1]}' is not a word of the vocabulary")
    yield from found(file, HANDLER, lambda match: (
        None if re.search(r"Channel\w*Handler|LogHandler", match[1] + match[2]) else f"'{match[1]}' is no ChannelHandler"))
    if file.area == "Tests" and not file.is_support:
        yield from found(file, SLEEP, lambda match: "a test sleeps; wait for an event")
    if file.area != "Sources" and not file.is_support:
        # The tables of a test may be as wide as their data.
        return
    for number, line in enumerate(raw, 1):
        if len(line) > COLUMNS_MAX:
            yield number, f"more than {COLUMNS_MAX} columns"
    yield from found(file, FORCED, lambda match: "a forced unwrap, cast or try")
    for match in UNCHECKED.finditer(file.code):
        number = file.line(match.start())
        if not has_comment(raw, number):
            yield number, "unchecked, without a comment that names what protects the data"


def found(file, pattern, text_of):
    for match in pattern.finditer(file.code):
        if text := text_of(match):
            yield file.line(match.start()), text


def has_comment(raw, number):
    """Whether the line, or one of the ten before it, carries a comment."""
    return any("//" in line for line in raw[max(0, number - 11):number])
