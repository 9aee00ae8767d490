"""The machine of an exchange is told facts by the exchange alone: recipients and others tell the exchange, which also performs the step
that follows. The class is in several files, so its variable cannot be private to them.

Others may read what the machine stores. A call or an assignment through another object is a breach.
"""

import re

TARGET = "LayoverProxy"
# The receiver is a name or the end of a call, and may stand on the line before.
TOLD = re.compile(
    r"(?:(?<![\w$])(?!self\b)[\w$]+|[)\]])[?!]?\s*\.machine(?:\s*\.\s*[\w.?!]+)?[ \t]*(?:\(|[-+*/]?=(?!=))")


def breaches(tree):
    for file in tree.sources:
        if file.target == TARGET:
            for match in TOLD.finditer(file.code):
                yield file.name, file.line(match.start()), "only an exchange tells its machine facts: tell the exchange"
