"""A mutable type stands in at most four files, so that its state can be private and its rules can be read in one go.

Mutable are classes, actors, and structs and enums with `mutating` functions or stored variables. Every file counts that declares the type
or extends it. `ON_LIST` has the types that are in more, with the number of their files.
"""

import re
from collections import defaultdict

from house.shrinking import compared

FILES_MAX = 4

ON_LIST = {
    "LayoverEngine.UpstreamRequest": 6,
    "LayoverCore.Failure": 5,
    "LayoverHTTP.RequestHead": 6,
    "LayoverProxy.Exchange": 6,
}


def breaches(tree, listed=None):
    types = Types(tree.sources)
    found = {key: (len(types.files[key]), *types.places[key]) for key in types.mutable}
    return compared(
        found, ON_LIST if listed is None else listed, FILES_MAX, "stands in {number} files (at most {limit})", "mutable_types.py")


class Types:
    """The types of some files. The key of a type is its dotted name behind its target: `LayoverEngine.Engine`.

    - places: `{key: (file, line)}` of the declarations.
    - files: `{key: names}` of the files that declare or extend a type.
    - mutating: keys of the types with a `mutating` function; mutable: of all that can change.
    """

    def __init__(self, sources):
        self.places, self.files = {}, defaultdict(set)
        self.mutating, self.mutable = set(), set()
        self.targets = defaultdict(set)
        declared = [(file, each, path) for file, each, path in all_types(sources) if each.kind not in ("extension", "protocol")]
        for file, each, path in declared:
            key = key_of(file, each, path)
            self.places.setdefault(key, (file.name, file.line(each.start)))
            self.files[key].add(file.name)
            self.targets[path].add(file.target)
            if is_mutable(each):
                self.mutable.add(key)
        for file, each, path in all_types(sources):
            if each.kind == "extension" and (key := self.key(file, path)):
                self.files[key].add(file.name)
        for file in sources:
            for function in file.declarations.functions:
                if re.search(r"\bmutating\b", function.modifiers) and (key := self.key(file, function.owner)):
                    self.mutating.add(key)
        self.mutable |= self.mutating

    def key(self, file, path):
        """The type that a dotted name means in a file: one of the file, of its target, or of a target that it imports."""
        for key in (f"{file.name}:{path}", f"{file.target}.{path}", path):
            if key in self.places:
                return key
        imported = [target for target in sorted(self.targets.get(path, ())) if re.search(rf"\bimport {target}\b", file.code)]
        return f"{imported[0]}.{path}" if imported else None


def all_types(sources):
    """Files, declarations and dotted names of all types, protocols and extensions."""
    for file in sources:
        for each in file.declarations.types:
            yield file, each, f"{each.owner}.{each.name}" if each.owner else each.name


def key_of(file, declaration, path):
    """Types that are private to a file may have the same name as others, so the file takes the place of the target."""
    is_private = declaration.owner == "" and re.search(r"\b(?:private|fileprivate)\b", declaration.modifiers)
    return f"{file.name}:{path}" if is_private else f"{file.target}.{path}"


def is_mutable(declaration):
    if declaration.kind in ("class", "actor"):
        return True
    return any(each.keyword == "var" and each.is_of_value for each in declaration.properties)
