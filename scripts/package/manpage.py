#!/usr/bin/env python3
"""Writes the man page of layover from its own help: manpage.py BINARY. The source of every word on options is the program."""

import json
import subprocess
import sys

EXIT_CODES = [
    ("0", "Done."),
    ("1", "Bad configuration or usage."),
    ("2", "Layover does not run, or cannot be reached; exec: its private proxy cannot be started."),
    ("3", "Refused, or nothing matched."),
    ("130", "Ended by Ctrl-C, after saying what was done."),
    ("other", "exec: that of the command; 127 if it is not found, 126 if it cannot be run. A signal that ended it ends exec too."),
]

ENVIRONMENT = [
    ("LAYOVER_CONFIG", "The configuration file."),
    ("LAYOVER_ADMIN_URL, LAYOVER_TOKEN", "Where the admin API is, and its token."),
    ("LAYOVER_\\fIKEY\\fR", "Any key of the configuration: its path in upper snake case, LAYOVER_PROXY_LISTEN for proxy.listen."),
    ("LAYOVER_PROXY_URL", "The proxy for env and exec. exec sets it for its command, so that exec within it uses the same proxy."),
    ("TMPDIR", "Where exec makes the folder of a private proxy. Default: /tmp."),
    ("NO_COLOR", "No colours, also on a terminal."),
    ("STATE_DIRECTORY, RUNTIME_DIRECTORY", "Where state, and the files of the running process, lie (systemd.exec(5))."),
    ("NOTIFY_SOCKET, WATCHDOG_USEC, LISTEN_FDS", "The service manager's (sd_notify(3), sd_listen_fds(3))."),
]

FILES = [
    ("$XDG_CONFIG_HOME/layover/config.json, /etc/layover/config.json", "The configuration: the first that exists."),
    ("$STATE_DIRECTORY, $XDG_STATE_HOME/layover", "The database of tickets, its key, and the spool of bodies."),
    ("ca.pem, ca.key, ca-trust.json, clients/", "In tls.folder or beside the database: the authority of interception, where it is trusted, "
                                              "and the files that variables of layover env --ca name."),
    ("$RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/layover", "ports.json and admin-token of the running process."),
]

SIGNALS = [
    ("SIGTERM, SIGINT", "Drain: no new connections, held clients get their ticket or a 503 (a 502 if the server may have processed "
                        "the request), attempts in flight get timeouts.drain. The same again quits at once."),
    ("SIGHUP", "Reload the configuration. One with an error changes nothing."),
]


def roff(text):
    """Text as text: nothing in it is a request or an escape."""
    lines = []
    for line in text.replace("\\", "\\e").replace("-", "\\-").split("\n"):
        lines.append("\\&" + line if line[:1] in (".", "'") else line)
    return "\n".join(lines)


def paragraphs(text):
    return "\n.PP\n".join(roff(part.strip()) for part in text.split("\n\n") if part.strip())


def listing(pairs, escaped=False):
    lines = []
    for name, text in pairs:
        lines += [".TP", f"\\fB{name if escaped else roff(name)}\\fR", roff(text)]
    return lines


def names(argument):
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    value = argument.get("valueName", "value")
    if argument["kind"] == "positional":
        return f"\\fI{roff(value.upper())}\\fR" + ("..." if argument["isRepeating"] else "")
    shown = ", ".join(f"\\fB{roff(dashes[name['kind']] + name['name'])}\\fR" for name in argument["names"])
    return shown + (f" \\fI{roff(value)}\\fR" if argument["kind"] == "option" else "")


def commands(command, path, lines):
    words = path + [command["commandName"]]
    arguments = [one for one in command.get("arguments", []) if one.get("shouldDisplay", True)]
    own = [one for one in arguments if not {name["name"] for name in one.get("names", [])} & {"help", "version"}]
    usage = []
    for one in own:
        usage.append(names(one) if not one.get("isOptional") else f"[{names(one)}]")
    lines += [f".SS \\fB{roff(' '.join(words[1:]))}\\fR {' '.join(usage)}", paragraphs(command.get("abstract", ""))]
    if command.get("discussion"):
        lines += [".PP", paragraphs(command["discussion"])]
    for one in own:
        if one.get("abstract"):
            lines += [".TP", names(one), roff(one["abstract"])]
    for child in command.get("subcommands", []):
        if child["commandName"] != "help":
            commands(child, words, lines)


def main(binary):
    tool = json.loads(subprocess.run([binary, "--experimental-dump-help"], capture_output=True, check=True, text=True).stdout)["command"]
    version = subprocess.run([binary, "--version"], capture_output=True, check=True, text=True).stdout.strip()
    lines = [
        f'.TH LAYOVER 1 "" "{roff(version)}" "User Commands"', ".SH NAME", "layover \\- " + roff(tool["abstract"].rstrip(".")),
        ".SH SYNOPSIS", ".B layover", "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]", ".SH DESCRIPTION",
        "Layover is an HTTP proxy on this machine. While servers answer, it changes nothing. When the network or a server goes away, it parks "
        "the request instead of failing it, shows it, and sends it when that is possible again.",
        ".PP", "\\fBlayover run\\fR is the proxy. Most other commands are clients of a running one.", ".SH COMMANDS",
    ]
    for child in tool["subcommands"]:
        if child["commandName"] != "help":
            commands(child, ["layover"], lines)
    lines += [".SH EXIT STATUS", *listing(EXIT_CODES), ".SH ENVIRONMENT", *listing(ENVIRONMENT, escaped=True), ".SH FILES", *listing(FILES),
              ".SH SIGNALS", *listing(SIGNALS), ".SH EXAMPLES",
              ".nf", "layover run", "export http_proxy=http://127.0.0.1:8080", "layover pending \\-\\-watch", "layover retry \\-\\-all", ".fi",
              ".SH SEE ALSO", ".BR curl (1),", ".BR systemctl (1)"]
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
