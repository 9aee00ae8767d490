#!/usr/bin/python3 -B
"""Checks the rules of this house that a compiler does not know. Part of `make test`.

Prints one line per breach, `file:line: what`, and ends with 1 if there was any. The rules are in `scripts/house`, one module each;
Tests/House plays them on small trees.
"""

import os
import sys

from house import foreign_writes, functions, imports, lines, machines, mutable_types, ports, rooms, texts, words
from house.tree import Tree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULES = [texts, lines, imports, mutable_types, foreign_writes, functions, machines, ports, rooms, words]


def main():
    tree = Tree.of_checkout(ROOT)
    breaches = sorted({breach for rule in RULES for breach in rule.breaches(tree)})
    for name, line, text in breaches:
        print(f"{name}:{line}: {text}")
    print(f"check: {len(tree.texts)} files, {len(breaches)} breaches of the house rules")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
