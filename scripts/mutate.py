#!/usr/bin/python3
"""Breaks one rule of the sources, as a file of Tests/Mutants says.

Usage: scripts/mutate.py NAME [ROOT]     change the sources under ROOT (default: this checkout)
       scripts/mutate.py --check         whether every mutant fits, and every marker has a mutant

A mutant names places in the code by markers, not by their surroundings, so code may move and change around them. A marker
is a comment of its own in front of the statement that is broken: `// mutant: NAME`. Several names are separated by commas.

A mutant is a text file. First comes what it breaks, in words; then for each place a line `@ MARKER`, the lines that
stand behind the marker, each after `-`, and what takes their place, each after `+`. White space around lines does not
count. A mutant of several places has markers NAME, NAME.2, NAME.3.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKER = re.compile(r"^\s*// mutant: (?P<names>[a-z0-9.-]+(, [a-z0-9.-]+)*)$")


class Misfit(Exception):
    pass


def places(text):
    """[(marker, old lines, new lines)] of a mutant."""
    result = []
    for line in text.splitlines():
        if line.startswith("@ "):
            result.append((line[2:].strip(), [], []))
        elif result and line[:1] in ("-", "+"):
            result[-1][1 if line[0] == "-" else 2].append(line[1:].strip())
        elif result and line.strip():
            raise Misfit(f"a line that is neither a place nor a change: {line!r}")
    if not result:
        raise Misfit("it names no place")
    return result


def markers(root):
    """{marker: (file, index of its line)} in the sources."""
    result = {}
    for path in sorted((root / "Sources").rglob("*.swift")):
        for index, line in enumerate(path.read_text().splitlines()):
            for name in names_of(line):
                if name in result:
                    raise Misfit(f"the marker {name} stands in {result[name][0]} and in {path}")
                result[name] = (path, index)
    return result


def names_of(line):
    found = MARKER.match(line)
    return found["names"].split(", ") if found else []


def broken(lines, index, old, new):
    """The lines with those behind a marker exchanged."""
    end = index + 1
    for text in old:
        while end < len(lines) and MARKER.match(lines[end]):
            end += 1
        if end == len(lines) or lines[end].strip() != text:
            raise Misfit(f"where {text!r} should stand is {lines[end].strip() if end < len(lines) else 'nothing'!r}")
        end += 1
    return lines[:index] + new + lines[end:]


def apply(name, root, is_check=False):
    known = markers(root)
    # From below, so that the lines above keep their numbers.
    changes = []
    for marker, old, new in places((ROOT / "Tests/Mutants" / f"{name}.mutant").read_text()):
        if marker not in known:
            raise Misfit(f"no source has the marker {marker}")
        changes.append((*known[marker], old, new))
    for path, index, old, new in sorted(changes, key=lambda change: -change[1]):
        lines = broken(path.read_text().splitlines(), index, old, new)
        if not is_check:
            path.write_text("\n".join(lines) + "\n")


def check():
    bad = 0
    mutants = sorted((ROOT / "Tests/Mutants").glob("*.mutant"))
    used = set()
    for path in mutants:
        try:
            apply(path.stem, ROOT, is_check=True)
            used |= {marker for marker, _, _ in places(path.read_text())}
        except Misfit as misfit:
            bad += 1
            print(f"Tests/Mutants/{path.name} does not fit: {misfit}")
    for marker in sorted(markers(ROOT).keys() - used):
        bad += 1
        print(f"no mutant names the marker {marker}")
    print(f"{len(mutants)} mutants, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--check"]:
            sys.exit(check())
        apply(sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT)
    except (Misfit, OSError, IndexError) as error:
        sys.exit(f"mutate.py: {error}")
