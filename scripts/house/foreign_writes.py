"""Some mutable types stand in several files, for which the compiler knows no access level. Their state is written in these files alone.

Others get such a value as a parameter, read its parts, and call its functions. In a file of the target that neither declares nor extends the
type, the parameter must not be assigned to. A stored variable of it must not be assigned to, passed with `&`, or changed by a `mutating`
function. A closure that the owner calls with a part must not change what the owner's rules keep. `OWNERS` has the types.
"""

import re

from house.mutable_types import Types, all_types, key_of

OWNERS = ["LayoverCore.PendingSet"]

# Functions of an owner that call a closure with a part of it, and variables of this part that the owner's own functions keep.
LENDING = {"amend", "change"}
KEPT = {"fullState", "incident", "lane", "parentProxyGate", "placement", "revision"}

# Functions of the standard library that change their value. Those of the target are found in its files.
CHANGING = {
    "append", "formIntersection", "formSymmetricDifference", "formUnion", "insert", "merge", "negate", "partition", "popFirst", "popLast",
    "remove", "removeAll", "removeFirst", "removeLast", "removeSubrange", "removeValue", "replaceSubrange", "reserveCapacity", "reverse",
    "shuffle", "sort", "subtract", "swapAt", "toggle", "update", "updateValue",
}
# Of a collection it gives a copy, although a type of the target has a `mutating` function of this name.
NOT_CHANGING = {"sorted"}
MEMBER = re.compile(r"\s*\.\s*`?(\w+)`?|[?!]")
CALL = re.compile(r"\s*[({]")
ASSIGNED = re.compile(r"\s*(?:[-+*/%|^]|&[-+*]?|&?<<|&?>>)?=(?!=)")
# The variable is one of several: `(a, set.b) = (c, d)`.
ASSIGNED_WITH_OTHERS = re.compile(r"\s*(?:,[^()=]*)?\)\s*=(?!=)")
MEMBER_OF_PART = re.compile(rf"\.\s*({'|'.join(sorted(KEPT))})\b")


def breaches(tree, owners=None):
    types = Types(tree.sources)
    for key in OWNERS if owners is None else owners:
        target, _, name = key.partition(".")
        files = [file for file in tree.sources if file.target == target]
        stored = {
            one.name for file, each, path in all_types(files) if key_of(file, each, path) == key
            for one in each.properties if one.keyword == "var" and one.is_of_value}
        changing = CHANGING | {
            function.name for file in files for function in file.declarations.functions
            if re.search(r"\bmutating\b", function.modifiers)} - NOT_CHANGING
        if not stored:
            yield "scripts/house/foreign_writes.py", 1, f"{key} has no stored variable: strike it from OWNERS, or name it as it is called now"
        for file in files:
            if stored and file.name not in types.files[key]:
                for line, variable in writes(file, name, stored, changing):
                    yield file.name, line, f"'{variable}' is written in the files of {name} alone: ask the {name} to do it"


def writes(file, owner, stored, changing):
    """Lines and names of the variables of a value of the type that the file changes."""
    code = file.code
    values = set(re.findall(rf"(\w+)\s*:\s*(?:inout\s+|consuming\s+)?{owner}\b", code))
    if not values:
        return
    value = rf"(?<![\w.])({'|'.join(sorted(values))})"
    for match in re.finditer(rf"(?<!let )(?<!var ){value}\s*=(?!=)", code):
        yield file.line(match.start()), match[1]
    for match in re.finditer(rf"{value}\s*\.\s*({'|'.join(sorted(stored))})\b", code):
        if code[match.start() - 1:match.start()] == "&" or is_changed(code, match[2], match.end(), changing):
            yield file.line(match.start()), match[2]
    for match in re.finditer(rf"{value}\s*\.\s*(?:{'|'.join(sorted(LENDING))})\b[^{{}}\n]*\{{", code):
        for kept in MEMBER_OF_PART.finditer(code, match.end(), end_of(code, match.end() - 1, "{}")):
            if is_changed(code, kept[1], kept.end(), changing):
                yield file.line(kept.start()), kept[1]


def is_changed(code, member, at, changing):
    """Whether the expression goes on with subscripts and members up to an assignment, or to a call that changes one of them."""
    while True:
        if code[at:at + 1] == "[":
            at = end_of(code, at, "[]")
        elif match := MEMBER.match(code, at):
            member, at = match[1] or member, match.end()
        else:
            break
    if member in changing and CALL.match(code, at):
        return True
    return bool(ASSIGNED.match(code, at) or ASSIGNED_WITH_OTHERS.match(code, at))


def end_of(code, at, brackets):
    """The place behind the bracket that closes the one at a place."""
    depth = 0
    for match in re.compile("[" + re.escape(brackets) + "]").finditer(code, at):
        depth += 1 if match[0] == brackets[0] else -1
        if depth == 0:
            return match.end()
    return len(code)
