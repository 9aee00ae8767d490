"""Types, extensions, functions and stored properties of a Swift file, found by keywords and braces."""

import re
from dataclasses import dataclass, field

TYPE_KINDS = {"struct", "class", "enum", "actor", "protocol", "extension"}
FUNCTION_KINDS = {"func", "init", "deinit", "subscript", "var"}
STEP = re.compile(
    r"[{}]|(?<![.\w`#@])(?:"
    r"(?P<type>struct|class|enum|actor|protocol|extension)\s+(?P<name>[A-Za-z_][\w.]*|\[)"
    r"|func\s+(?P<func>`?\w+`?|[^\s\w(`]+)"
    r"|(?P<init>init|deinit|subscript)\b(?=[?!]?\s*[<({])"
    r"|(?P<property>var|let)\s+(?P<property_name>`?\w+`?))")
# What may stand on the line in front of a type: attributes and modifiers.
MODIFIERS = re.compile(r"(?:.*[{};])?\s*(?:(?:@[\w.]+|[a-z]+)(?:\([^()]*\))?\s+)*")
PAIR = re.compile(r"[()\[\]{}]")
PROPERTY_STEP = re.compile(r"[()\[\]{}\n;]|(?<![=!<>~+*/%&|^-])=(?![=~])")
# A property that goes on in the next line ends with one of these, or the next line begins with one.
GOES_ON = re.compile(r"(?:[:,<&]|->)\s*$")
GOES_ON_BELOW = re.compile(r"\s*(?:[:={&]|->)")


@dataclass
class Declaration:
    """`name` of a type is dotted; of a function, the dotted name of its type is `owner`. Offsets are of the keyword and the last brace."""

    kind: str
    name: str
    start: int
    owner: str = ""
    owner_kind: str = ""
    modifiers: str = ""
    end: int = -1
    properties: list = field(default_factory=list)


@dataclass
class Property:
    """A stored property. `type` is what is written behind the colon, `value` what is written behind the equals sign; either may be ""."""

    keyword: str
    name: str
    type: str
    value: str
    modifiers: str
    start: int

    @property
    def is_of_value(self):
        """Whether each value of the type has one, in contrast to `static`."""
        return re.search(r"\b(?:static|class)\b", self.modifiers) is None


class Declarations:
    """`types` have extensions among them; `functions` have computed properties. `is_balanced`: every brace has its other one."""

    def __init__(self, file):
        self.file = file
        self.code = file.code
        self.types = []
        self.functions = []
        self.is_balanced = True
        # What the open braces belong to: a declaration, or nil for a block.
        self.open = []
        # The declarations whose brace is to come, by its offset.
        self.expected = {}
        at = 0
        while match := STEP.search(self.code, at):
            at = match.end()
            if match[0] == "{":
                self.open.append(self.expected.pop(match.start(), None))
            elif match[0] == "}":
                self.close(match.start())
            elif match["type"]:
                self.found_type(match)
            elif match["property"]:
                if not self.open or self.owner is not None:
                    at = self.found_property(match)
            else:
                self.found_function(match)
        self.is_balanced = self.is_balanced and not self.open

    def close(self, offset):
        if not self.open:
            self.is_balanced = False
        elif (declaration := self.open.pop()) is not None:
            declaration.end = offset

    @property
    def owner(self):
        """The type whose members are being read; nil at the level of the file and inside functions."""
        last = self.open[-1] if self.open else None
        return last if last is not None and last.kind in TYPE_KINDS else None

    def types_around(self):
        return ".".join(each.name for each in self.open if each is not None and each.kind in TYPE_KINDS)

    def found_type(self, match):
        before = self.file.line_text_before(match.start())
        if match["type"] == "class" and match["name"] in ("func", "var", "let", "subscript", "override"):
            return
        if not MODIFIERS.fullmatch(before) or (brace := self.code.find("{", match.end())) < 0:
            return
        name = match["name"].rstrip(".")
        declaration = Declaration(match["type"], name, match.start(), owner=self.types_around(), modifiers=before)
        self.types.append(declaration)
        self.expected[brace] = declaration

    def found_function(self, match):
        owner = self.owner
        if owner is not None and owner.kind == "protocol" or (brace := self.end_of_head(match.end())) is None:
            return
        kind, name = (match["init"], match["init"]) if match["init"] else ("func", match["func"].strip("`"))
        self.add_function(kind, name, match.start(), brace)

    def add_function(self, kind, name, start, brace):
        declaration = Declaration(kind, name, start, self.types_around(), modifiers=self.file.line_text_before(start))
        declaration.owner_kind = self.owner.kind if self.owner is not None else ""
        self.functions.append(declaration)
        self.expected[brace] = declaration

    def end_of_head(self, at):
        """Offset of the brace that begins the body: the first one outside of parentheses and brackets."""
        depth = 0
        for match in PAIR.finditer(self.code, at):
            if match[0] == "{" and depth == 0:
                return match.start()
            if match[0] == "}" and depth == 0:
                return None
            depth += 1 if match[0] in "([{" else -1
        return None

    def found_property(self, match):
        """A stored or computed property of a type or file. Returns where to read on."""
        start, equals, depth, end = match.end(), None, 0, len(self.code)
        for step in PROPERTY_STEP.finditer(self.code, start):
            sign = step[0]
            if depth == 0 and sign in "\n;{}=":
                if sign == "=":
                    equals = equals or step
                    continue
                if sign == "\n" and self.goes_on(start, step.start()):
                    continue
                end = step.start()
                break
            depth += (sign in "([{") - (sign in ")]}")
        if self.owner is not None and self.owner.kind == "protocol":
            return end
        is_computed = equals is None and self.code[end:end + 1] == "{" and not re.match(r"\{\s*(?:willSet|didSet)\b", self.code[end:])
        name = match["property_name"].strip("`")
        if is_computed:
            self.add_function("var", name, match.start(), end)
        elif self.owner is not None:
            head = self.code[start:equals.start() if equals else end]
            value = self.code[equals.end():end] if equals else ""
            self.owner.properties.append(Property(
                match["property"], name, head.lstrip(" :").strip(), value.strip(),
                self.file.line_text_before(match.start()), match.start()))
        # The brace of an initial value or an observer is a block like any other.
        return min(end, len(self.code))

    def goes_on(self, start, newline):
        return GOES_ON.search(self.code, start, newline) or GOES_ON_BELOW.match(self.code, newline + 1)
