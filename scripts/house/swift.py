"""A Swift file with code, comments and strings told apart.

`code` is the text of the file with spaces in place of comments and of the insides of strings. Nothing moves, so an offset or a
column in `code` is the same in the file. Code in an interpolation `\\(…)` is code and stays.
"""

import bisect
import functools
import re

from house.declarations import Declarations

# What is not code. A regular expression without `#` is told from a division by what stands before and behind the slash.
NOT_CODE = r'//[^\n]*|/\*|\#*"(?:"")?|\#+/(?![/*])|(?<=\()/(?![/* ])[^\n]*?[^\\\n]/|(?<=[=,:] )/(?![/* ])[^\n]*?[^\\\n]/'
TOKEN = re.compile(NOT_CODE)
# In an interpolation, the parenthesis that ends it is looked for too.
TOKEN_OR_PARENTHESIS = re.compile(NOT_CODE + r"|[()]")
PLAIN_STRING = re.compile(r'"[^"\\\n]*"')
COMMENT_EDGE = re.compile(r"/\*|\*/")


class SwiftFile:
    """`area` is the first folder of the name, such as `Sources`; `target` the second one, or "" where there is none.

    `is_support` is true for files that several test targets share.
    """

    def __init__(self, name, text):
        parts = name.split("/")
        self.name = name
        self.area = parts[0]
        self.target = parts[1] if len(parts) > 2 else ""
        self.is_support = self.area == "Tests" and self.target == "LayoverTestSupport"
        self.text = text
        self.line_count = text.count("\n") + (not text.endswith("\n") and text != "")
        scanner = Scanner(text)
        self.code = scanner.code
        self.comments = scanner.comments
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]

    @functools.cached_property
    def declarations(self):
        return Declarations(self)

    def line(self, offset):
        """Number of the line that an offset is in, from 1."""
        return bisect.bisect_right(self.line_starts, offset)

    def line_text_before(self, offset):
        """Code of the line in front of an offset."""
        return self.code[self.line_starts[self.line(offset) - 1]:offset]


class Scanner:
    """`comments` are pairs of offset and text."""

    def __init__(self, text):
        self.text = text
        self.pieces = []
        self.comments = []
        self.read_code(0, TOKEN)
        self.code = "".join(self.pieces)

    def blank(self, start, end):
        part = self.text[start:end]
        self.pieces.append(re.sub(r"[^\n]", " ", part) if "\n" in part else " " * len(part))

    def read_code(self, at, token):
        """Reads up to the end, or to the parenthesis that ends an interpolation; returns the offset of that."""
        depth = 0
        while match := token.search(self.text, at):
            start, found = match.start(), match[0]
            self.pieces.append(self.text[at:start])
            if found == "(":
                depth += 1
                self.pieces.append(found)
                at = match.end()
            elif found == ")":
                if depth == 0:
                    return start
                depth -= 1
                self.pieces.append(found)
                at = match.end()
            elif found.startswith("//"):
                at = self.comment(start, match.end())
            elif found == "/*":
                at = self.comment(start, self.end_of_comment(match.end()))
            elif found.endswith('"'):
                at = self.string(match)
            else:
                at = self.regular_expression(match)
        self.pieces.append(self.text[at:])
        return len(self.text)

    def comment(self, start, end):
        self.comments.append((start, self.text[start:end]))
        self.blank(start, end)
        return end

    def end_of_comment(self, at):
        """Comments of this kind nest."""
        depth = 1
        while depth and (match := COMMENT_EDGE.search(self.text, at)):
            depth += 1 if match[0] == "/*" else -1
            at = match.end()
        return len(self.text) if depth else at

    def string(self, opening):
        """A string with its quotes, which stay. Returns the offset behind it."""
        start = opening.start()
        if opening[0] == '"' and (plain := PLAIN_STRING.match(self.text, start)):
            self.pieces.append('"' + " " * (plain.end() - start - 2) + '"')
            return plain.end()
        hashes = opening[0].count("#")
        quotes = opening[0][hashes:]
        inside = re.compile(rf'\\{"#" * hashes}(?P<interpolation>\()?|{quotes}{"#" * hashes}')
        self.pieces.append(opening[0])
        at = opening.end()
        while match := inside.search(self.text, at):
            self.blank(at, match.start())
            if match["interpolation"]:
                self.pieces.append(" " * (len(match[0]) - 1) + "(")
                at = self.read_code(match.end(), TOKEN_OR_PARENTHESIS)
                self.pieces.append(self.text[at:at + 1])
                at += 1
            elif match[0][0] == "\\":
                # The sign behind it is no end of the string.
                at = min(match.end() + 1, len(self.text))
                self.blank(match.start(), at)
            else:
                self.pieces.append(match[0])
                return match.end()
        self.blank(at, len(self.text))
        return len(self.text)

    def regular_expression(self, opening):
        end = opening.end()
        if opening[0][0] == "#":
            closing = self.text.find("/" + "#" * opening[0].count("#"), end)
            end = closing + opening[0].count("#") + 1 if closing >= 0 else len(self.text)
        self.blank(opening.start(), end)
        return end
