"""A function has at most 70 lines, from its first line to its last brace. Initializers, subscripts and computed properties are functions.

`ON_LIST` has those that are longer. Functions of the same name in the same type are one entry, with the longest one's number.
"""

from house.shrinking import compared

LINES_MAX = 70

ON_LIST = {
    "layover.Application.run": 73,
}


def breaches(tree, listed=None):
    yield from compared(
        lengths(tree.sources + tree.support), ON_LIST if listed is None else listed, LINES_MAX, "has {number} lines (at most {limit})", "functions.py")
    # What the scanner cannot read, no rule can judge.
    for file in tree.sources + tree.support:
        if not file.declarations.is_balanced:
            yield file.name, file.line_count, "the braces of this file are not in pairs, as far as scripts/house/swift.py can see"


def lengths(sources):
    """`{function: (lines, file, line)}`. A function is written with target and type: `LayoverCore.PendingSet.wake`."""
    found = {}
    for file in sources:
        for function in file.declarations.functions:
            owner = f"{function.owner}." if function.owner else ""
            key = f"{file.target}.{owner}{function.name}"
            line = file.line(function.start)
            length = file.line(function.end) - line + 1
            if key not in found or found[key][0] < length:
                found[key] = (length, file.name, line)
    return found
