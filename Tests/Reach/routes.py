"""Programs that take a base URL, each by the lines of its page in docs/guides: `layover env --route NAME` and the program.

They have no proxy variables, and the origin is reachable without Layover; so the origin's log says what came by the route (`Via`).
"""

import hashlib
import json
import os
import subprocess
import threading

import artifacts
from machine import NEAR

HOST = "routes--none.reach.test"


class Program:
    def __init__(self, name, family, upstream, script, artifact, by_itself=None):
        (self.name, self.family, self.upstream, self.script, self.artifact) = (name, family, upstream, script, artifact)
        # Paths that may come without Layover, because the index names another host for them.
        self.by_itself = by_itself


PROGRAMS = [
    Program(
        "pip", "python", "", "$VENV/bin/pip download -q --disable-pip-version-check --no-cache-dir --no-deps reachpkg && "
        "unzip -p reachpkg*.whl reachpkg/data.bin > got", "wheel"),
    Program(
        "uv", "python", "", "$VENV/bin/uv pip install -q --no-cache --python /usr/bin/python3 --target t reachpkg && cp t/reachpkg/data.bin got",
        "wheel"),
    Program(
        "npm", "npm", "", "$NODE $NPM install --loglevel=error --no-audit --no-fund reachpkg && cp node_modules/reachpkg/data.bin got", "npm"),
    Program(
        "go", "go", "/go", "GOPATH=$PWD/g GOCACHE=$PWD/c GONOSUMDB=* GOFLAGS=-modcacherw GOSUMDB=off GOTOOLCHAIN=local "
        "go mod download reach.test/module@v1.0.0 && cp g/pkg/mod/reach.test/module@v1.0.0/data.bin got", "go"),
    Program(
        "cargo", "cargo", "/cargo", "mkdir -p p/src && touch p/src/lib.rs && printf '[package]\\nname = \"p\"\\nversion = \"1.0.0\"\\n"
        "[dependencies]\\nreachpkg = { version = \"1\", registry = \"cargo\" }\\n' > p/Cargo.toml && cd p && "
        "RUSTC_BOOTSTRAP=1 /usr/bin/cargo -Z sparse-registry fetch -q && cp $HOME/.cargo/registry/src/*/reachpkg-1.0.0/data.bin ../got",
        "crate", by_itself="/cargo/dl/"),
    Program(
        "aws", "aws", "", "AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_DEFAULT_REGION=x "
        "$VENV/bin/aws s3 cp --no-progress s3://bucket/file.bin got", "file"),
]


def check(bench):
    """Returns the complaints."""
    folder = bench.machine.path("routes")
    os.makedirs(folder)
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as opened:
        json.dump({"routes": {program.name: {"upstream": f"http://{HOST}{program.upstream}"} for program in PROGRAMS}}, opened)
    environment = bench.environment(folder)
    proxy = subprocess.Popen(
        bench.machine.within(NEAR, bench.layover, "run", "--config", config), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    try:
        for line in proxy.stdout:
            if line.lstrip().startswith("admin "):
                break
        threading.Thread(target=proxy.stdout.read, daemon=True).start()
        return [complaint for program in PROGRAMS for complaint in run(program, bench)]
    finally:
        proxy.terminate()
        proxy.wait()


def run(program, bench):
    home = bench.new_home()
    environment = bench.environment(home, XDG_STATE_HOME=os.path.join(bench.machine.path("routes"), "state"))
    before = records(bench)
    variables = f'variables=$({bench.layover} env --route {program.name} --for {program.family}) || exit 99\neval "$variables"\n'
    done = subprocess.run(
        bench.machine.within(NEAR, "sh", "-c", variables + program.script), cwd=home, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False, text=True)
    try:
        with open(os.path.join(home, "got"), "rb") as opened:
            data = opened.read()
    except OSError:
        data = b""
    if hashlib.sha256(data).digest() != hashlib.sha256(artifacts.noise(program.artifact)).digest():
        yield f"{program.name} by a route, exit code {done.returncode}: {done.stdout[-800:]}"
    new = records(bench)[len(before):]
    direct = [record["path"] for record in new if not record["via"]]
    if program.by_itself:
        direct = [path for path in direct if not path.startswith(program.by_itself)]
    if direct or not any(record["via"] for record in new):
        yield f"{program.name}: these came without Layover: {direct or 'all'}"


def records(bench):
    bench.machine.log.flush()
    with open(bench.machine.log.name, encoding="utf-8") as opened:
        return [record for record in map(json.loads, opened) if record["host"] == HOST]
