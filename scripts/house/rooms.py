"""Few and full rooms: no folder of `Sources` or `Tests/LayoverTestSupport` with more than 15 files or with a single one, and fewer and
fewer files of a few lines.

A file of at most 40 lines must earn its name in the folder. Their number in `Sources` only falls; `SHORT_FILES` is what it is today. Only
Swift files count. A folder with one file and further folders is not a room with one file.
"""

from collections import Counter

from house.shrinking import compared, lines_of

SHORT_LINES = 40
SHORT_FILES = 11
FILES_MAX = 15

# Folders with more files than that.
FULL = {
}

# Folders with one file, which should move to its user.
SINGLE = {
}


def breaches(tree, short=None, full=None, single=None):
    yield from folders(tree, FULL if full is None else full, SINGLE if single is None else single)
    allowed = SHORT_FILES if short is None else short
    count = sum(1 for file in tree.sources if file.line_count <= SHORT_LINES)
    if count > allowed:
        yield "Sources", 1, f"{count} files have at most {SHORT_LINES} lines (allowed: {allowed}): put small types behind their users"
    elif count < allowed:
        yield "scripts/house/rooms.py", line_of_number(), f"SHORT_FILES says {allowed}, it is {count}: lower it"


def folders(tree, full, single):
    counts = Counter(file.name.rpartition("/")[0] for file in tree.sources + tree.support)
    parents = {"/".join(parts[:end]) for parts in (folder.split("/") for folder in counts) for end in range(1, len(parts))}
    found = {folder: (count, folder, 1) for folder, count in counts.items()}
    yield from compared(found, full, FILES_MAX, "has {number} files (at most {limit})", "rooms.py")
    alone = {folder: (1, folder, 1) for folder, count in counts.items() if count == 1 and folder not in parents}
    yield from compared(alone, {folder: 1 for folder in single}, 0, "has a single file: move it to its user", "rooms.py")


def line_of_number():
    return next(number for number, line in enumerate(lines_of("rooms.py"), 1) if line.startswith("SHORT_FILES"))
