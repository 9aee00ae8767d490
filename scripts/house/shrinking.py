"""Lists of what breaks a rule today. Such a list only gets shorter, and its numbers only get lower.

What breaks a rule and is not listed is a breach. So is a listed thing that is better than its number, or breaks the rule no longer:
whoever improves something lowers the number, and it cannot grow back.
"""

import functools
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def compared(found, listed, limit, what, module):
    """Compares numbers with a limit, and with the list of what is over it.

    - found: `{key: (number, file, line)}` of everything that the rule counts.
    - listed: `{key: number}`, the exceptions.
    - limit: the highest number that needs no exception.
    - what: the sentence for a breach, with `{number}` and `{limit}`.
    - module: the file of this folder that has the list; breaches of the list itself are shown there.
    """
    for key, (number, name, line) in found.items():
        if number > listed.get(key, limit):
            text = f"{key} {what.format(number=number, limit=limit)}"
            yield name, line, text + (f"; the list allows {listed[key]}" if key in listed else "")
    for key, allowed in listed.items():
        number = found[key][0] if key in found else 0
        place = place_of(key, module)
        if number <= limit:
            yield *place, f"{key} needs no exception any more: strike it from the list"
        elif number < allowed:
            yield *place, f"{key}: the list says {allowed}, it is {number}: lower it"


def place_of(key, module):
    """Name of a file of this folder, and the line that has a key in quotes (1 if none has)."""
    name = f"scripts/house/{module}"
    return name, next((number for number, line in enumerate(lines_of(module), 1) if f'"{key}"' in line), 1)


@functools.cache
def lines_of(module):
    with open(os.path.join(HERE, module), encoding="utf-8") as file:
        return file.read().split("\n")
