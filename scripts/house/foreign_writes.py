"""Some mutable types stand in several files, for which the compiler knows no access level. Their state is written in these files alone.

Others get such a value as a parameter, read its parts, and call its functions. In a file of the target that neither declares nor extends the
type, a stored variable of the parameter must not be assigned to, passed with `&`, or changed by a `mutating` function. `OWNERS` has the types.
"""

import re

from house.mutable_types import Types, all_types, key_of

OWNERS = ["LayoverCore.PendingSet"]

# Functions of the standard library that change their value. Those of the target are found in its files.
CHANGING = {
    "append", "formIntersection", "formUnion", "insert", "merge", "popFirst", "popLast", "remove", "removeAll", "removeFirst", "removeLast",
    "removeValue", "reserveCapacity", "reverse", "sort", "subtract", "swapAt", "toggle", "update", "updateValue",
}
# Of a collection it gives a copy, although a type of the target has a `mutating` function of this name.
NOT_CHANGING = {"sorted"}
MEMBER = re.compile(r"\s*\.\s*`?(\w+)`?|[?!]")
CALL = re.compile(r"\s*[({]")
ASSIGNED = re.compile(r"\s*(?:[-+*/%|^]|&[-+*]?|<<|>>)?=(?!=)")
# The variable is one of several: `(a, set.b) = (c, d)`.
ASSIGNED_WITH_OTHERS = re.compile(r"\s*(?:,[^()=]*)?\)\s*=(?!=)")
BRACKET = re.compile(r"[\[\]]")


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
        for file in files:
            if stored and file.name not in types.files[key]:
                for line, variable in writes(file, name, stored, changing):
                    yield file.name, line, f"'{variable}' is written in the files of {name} alone: ask the {name} to do it"


def writes(file, owner, stored, changing):
    """Lines and names of the variables of a value of the type that the file changes."""
    values = set(re.findall(rf"(\w+)\s*:\s*(?:inout\s+)?{owner}\b", file.code))
    if not values:
        return
    access = re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(values))})\s*\.\s*({'|'.join(sorted(stored))})\b")
    for match in access.finditer(file.code):
        if file.code[:match.start()].endswith("&") or is_changed(file.code, match[1], match.end(), changing):
            yield file.line(match.start()), match[1]


def is_changed(code, member, at, changing):
    """Whether the expression goes on with subscripts and members up to an assignment, or to a call that changes one of them."""
    while True:
        if code[at:at + 1] == "[":
            at = end_of_subscript(code, at)
        elif match := MEMBER.match(code, at):
            member, at = match[1] or member, match.end()
        else:
            break
    if member in changing and CALL.match(code, at):
        return True
    return bool(ASSIGNED.match(code, at) or ASSIGNED_WITH_OTHERS.match(code, at))


def end_of_subscript(code, at):
    depth = 0
    for match in BRACKET.finditer(code, at):
        depth += 1 if match[0] == "[" else -1
        if depth == 0:
            return match.end()
    return len(code)
