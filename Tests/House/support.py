"""Small trees for the tests of the house rules: `breaches(rule, {name: text}, …)` in a temporary folder."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))

from house.swift import SwiftFile  # noqa: E402
from house.tree import Tree  # noqa: E402


def breaches(rule, files, **lists):
    """What a rule says of a tree, as `check.py` prints it. `lists` take the place of the rule's own ones."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return [f"{name}:{line}: {text}" for name, line, text in rule.breaches(Tree.of_folder(root), **lists)]


def swift(text):
    return SwiftFile("Sources/A/File.swift", text)
