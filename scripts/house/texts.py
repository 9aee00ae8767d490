"""Rules for every file of the project: no paths of one machine, no open ends, links that lead somewhere, scripts that can be read."""

import os
import re
import subprocess

MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|Users|workspace)/\w")
OPEN_END = re.compile(r"\b(?:TO" r"DO|FIX" r"ME)\b")
# A file server that serves whatever folder it is started in: in a checkout that has run, the store's key is there.
SERVES_CHECKOUT = re.compile(r"-m http\.server(?!.*--directory)")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")


def breaches(tree):
    for name, text in tree.texts.items():
        found = [*of_lines(name, text), *of_links(tree, name, text), *of_script(tree, name, text)]
        yield from ((name, line, what) for line, what in found)


def of_lines(name, text):
    for number, line in enumerate(text.split("\n"), 1):
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if OPEN_END.search(line):
            yield number, "an open end; write an issue instead"
        if name.endswith(".md") and SERVES_CHECKOUT.search(line):
            yield number, "http.server without --directory serves the checkout, the store's key included"


def of_links(tree, name, text):
    if not name.endswith(".md"):
        return
    for match in LINK.finditer(text):
        if not os.path.exists(os.path.join(os.path.dirname(tree.path(name)), match[1])):
            yield text[:match.start()].count("\n") + 1, f"a link to nowhere: {match[1]}"


def of_script(tree, name, text):
    if name.endswith(".sh") and subprocess.run(["sh", "-n", tree.path(name)]).returncode != 0:
        yield 1, "no valid shell script"
    if name.endswith(".py"):
        try:
            compile(text, name, "exec")
        except SyntaxError as error:
            yield error.lineno, f"no valid Python: {error.msg}"
