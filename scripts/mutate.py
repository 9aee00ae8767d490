#!/usr/bin/python3
"""Breaks rules of the sources, as the files of Tests/Mutants say.

Usage: scripts/mutate.py NAME [ROOT]      break one rule under ROOT (default: this checkout)
       scripts/mutate.py --switches ROOT  put every mutant under ROOT behind a switch: the environment variable MUTANT=NAME
       scripts/mutate.py --check          whether every mutant fits, and every marker has a mutant

A mutant names places in the code by markers, not by their surroundings, so code may move and change around them. A marker
is a comment of its own in front of the statement that is broken: `// mutant: NAME`. Several names are separated by commas.

A mutant is a text file. First comes what it breaks, in words; then for each place a line `@ MARKER`, the lines that
stand behind the marker, each after `-`, and what takes their place, each after `+`. White space around lines does not
count. A mutant of several places has markers NAME, NAME.2, NAME.3.

With switches all mutants are in one build. Whole statements are put into an `if` by themselves. A guard, a declaration or a part
of a statement has the lines with its switch after `=`: `isMutant("NAME")`. Where a statement has several mutants, the lines of
the first one have the switches of all.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "Tests/Mutants"
MARKER = re.compile(r"^\s*// mutant: (?P<names>[a-z0-9.-]+(, [a-z0-9.-]+)*)$")
NO_STATEMENT = re.compile(r"^(guard|let|var|func|case)\b|^\} else|\{ result in$")
# The lowest target: all others see it.
SWITCH = "Sources/LayoverText/MutantSwitch.swift"
SWITCH_SOURCE = """import Glibc

private let name = getenv("MUTANT").map { String(cString: $0) }

package func isMutant(_ mutant: String) -> Bool { name == mutant }
"""


class Misfit(Exception):
    pass


def places(name):
    """[(marker, old lines, new lines, lines with a switch)] of a mutant."""
    result = []
    for line in (MUTANTS / f"{name}.mutant").read_text().splitlines():
        if line.startswith("@ "):
            result.append((line[2:].strip(), [], [], []))
        elif result and line[:1] in ("-", "+", "="):
            result[-1]["-+=".index(line[0]) + 1].append(line[1:].strip())
        elif result and line.strip():
            raise Misfit(f"a line that is neither a place nor a change: {line!r}")
    if not result:
        raise Misfit("it names no place")
    return result


def names():
    return sorted(path.stem for path in MUTANTS.glob("*.mutant"))


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


def switched(name, old, new, given):
    """Both versions of a statement in one; nil where another mutant of the same statement has it."""
    if given:
        return given
    if any(NO_STATEMENT.search(line) for line in old) or any(NO_STATEMENT.search(line) for line in new[:1]):
        raise Misfit("it needs lines with a switch (`=`): what it breaks is no whole statement")
    if not new:
        return [f'if !isMutant("{name}") {{', *old, "}"]
    return [f'if isMutant("{name}") {{', *new, "} else {", *old, "}"]


def change(root, changes, is_check=False):
    # From below, so that the lines above keep their numbers.
    for path, index, old, new in sorted(changes, key=lambda change: -change[1]):
        lines = broken(path.read_text().splitlines(), index, old, new)
        if not is_check:
            path.write_text("\n".join(lines) + "\n")


def changes(name, known, with_switch=False):
    """[(file, line, old lines, new lines)] of a mutant."""
    result = []
    for marker, old, new, given in places(name):
        if marker not in known:
            raise Misfit(f"no source has the marker {marker}")
        path, index = known[marker]
        if with_switch:
            first = names_of(path.read_text().splitlines()[index])[0]
            if first != marker:
                continue
            new = switched(name, old, new, given)
        result.append((path, index, old, new))
    return result


def put_switches(root):
    known = markers(root)
    all_changes = [change for name in names() for change in changes(name, known, with_switch=True)]
    change(root, all_changes)
    (root / SWITCH).write_text(SWITCH_SOURCE)
    for path in {change[0] for change in all_changes}:
        text = path.read_text()
        if "import LayoverText" not in text:
            path.write_text("import LayoverText\n" + text)
    missing = [name for name in names() if not any(f'isMutant("{name}")' in c[0].read_text() for c in all_changes)]
    if missing:
        raise Misfit(f"no switch for {', '.join(missing)}")


def check():
    bad = 0
    known = markers(ROOT)
    used = set()
    for name in names():
        try:
            change(ROOT, changes(name, known), is_check=True)
            changes(name, known, with_switch=True)
            used |= {place[0] for place in places(name)}
        except Misfit as misfit:
            bad += 1
            print(f"Tests/Mutants/{name}.mutant does not fit: {misfit}")
    for marker in sorted(known.keys() - used):
        bad += 1
        print(f"no mutant names the marker {marker}")
    print(f"{len(names())} mutants, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--check"]:
            sys.exit(check())
        if sys.argv[1] == "--switches":
            put_switches(pathlib.Path(sys.argv[2]))
        else:
            root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT
            change(root, changes(sys.argv[1], markers(root)))
    except (Misfit, OSError, IndexError) as error:
        sys.exit(f"mutate.py: {error}")
