#!/usr/bin/env python3
"""Writes the licences and notices of everything that is linked into the release binary: notices.py FILE

What is linked is in the linker's list of objects; whose it is, in the checkouts of the resolved packages. The Swift runtime is linked
statically, so the licence of the toolchain belongs to it. A target of nobody, and a package without a licence, are errors.
"""

import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build"


def linked_targets():
    lists = list(BUILD.glob("*/release/layover.product/Objects.LinkFileList"))
    if len(lists) != 1:
        sys.exit("notices: build the release binary first")
    return set(re.findall(r"/([^/]+)\.build/", lists[0].read_text()))


def versions():
    state = json.loads((BUILD / "workspace-state.json").read_text())
    return {
        pathlib.Path(one["subpath"]).name: one["state"].get("checkoutState", {}).get("version", "")
        for one in state["object"]["dependencies"]
    }


def packages(targets):
    """The checkouts that have one of these targets."""
    found, own = {}, {path.name for path in (ROOT / "Sources").iterdir()}
    for target in sorted(targets - own):
        # The folder of a target may have another name, and some manifests make their targets by functions.
        owners = [
            path for path in (BUILD / "checkouts").iterdir()
            if (path / "Sources" / target).is_dir()
            or re.search(rf'arget\(\s*name: "{re.escape(target)}"', (path / "Package.swift").read_text())
        ]
        if not owners:
            sys.exit(f"notices: nobody knows the target {target}")
        for owner in owners:
            found[owner.name] = owner
    return found


def text(path):
    return path.read_text().strip() + "\n"


def main():
    known = versions()
    licences, notices = {}, []
    for name, folder in sorted(packages(linked_targets()).items(), key=lambda item: item[0].lower()):
        title = f"{name} {known.get(name, '')}".strip()
        files = sorted(folder.glob("LICENSE*"))
        if not files:
            sys.exit(f"notices: {name} has no licence")
        for file in files:
            licences.setdefault(text(file), []).append(title)
        notices += [(title, text(file)) for file in sorted(folder.glob("NOTICE*"))]
    swift = pathlib.Path(shutil.which("swift") or "swift").resolve()
    runtime = [parent / "share/swift/LICENSE.txt" for parent in swift.parents]
    runtime = [path for path in runtime if path.exists()]
    if not runtime:
        sys.exit("notices: the licence of the Swift toolchain is not there")
    licences.setdefault(text(runtime[0]), []).append("the Swift runtime, Foundation and Dispatch")
    line = "=" * 80 + "\n"
    parts = ["Layover contains the following software.\n"]
    for licence, names in sorted(licences.items(), key=lambda item: item[1][0].lower()):
        parts.append(line + "\n".join(names) + "\n" + line + "\n" + licence)
    for title, notice in notices:
        parts.append(line + f"Notice of {title}\n" + line + "\n" + notice)
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(parts))


main()
