"""The files of the project, read once for all rules."""

import os
import subprocess

from house.swift import SwiftFile


class Tree:
    """Text files below a root, by name. Swift files are scanned as well: `sources` and `tests` have them.

    `support` is the part of `tests` that several test targets share. It obeys the rules of `sources` on single files.
    """

    def __init__(self, root, names):
        self.root = root
        self.texts = {}
        self.swift = []
        for name in names:
            try:
                with open(os.path.join(root, name), encoding="utf-8") as file:
                    self.texts[name] = file.read()
            except UnicodeDecodeError:
                continue
            if name.endswith(".swift"):
                self.swift.append(SwiftFile(name, self.texts[name]))
        self.sources = [file for file in self.swift if file.area == "Sources"]
        self.tests = [file for file in self.swift if file.area == "Tests"]
        self.support = [file for file in self.tests if file.is_support]

    @staticmethod
    def of_checkout(root):
        """Every file that belongs to the project: what git has, or would add."""
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=True).stdout
        return Tree(root, [name for name in listing.splitlines() if os.path.isfile(os.path.join(root, name))])

    @staticmethod
    def of_folder(root):
        """Every file below a folder that git does not know."""
        found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        return Tree(root, sorted(os.path.relpath(path, root) for path in found))

    def path(self, name):
        return os.path.join(self.root, name)
