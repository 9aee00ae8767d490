"""What the origin of the reach test serves: one package of 1.5 MiB for each ecosystem, repositories, and pages."""

import base64
import gzip
import hashlib
import io
import json
import os
import random
import subprocess
import tarfile
import zipfile

SIZE = 3 << 19


def noise(name, size=SIZE):
    """Bytes that do not compress, the same in each run."""
    return random.Random(name).randbytes(size)


def write(folder, path, data):
    file = os.path.join(folder, path)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as opened:
        opened.write(data if isinstance(data, bytes) else data.encode())


def packed(files, prefix):
    """A .tar.gz with fixed times."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as compressed, tarfile.open(fileobj=compressed, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"{prefix}/{name}")
            member.size = len(data)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def wheel(folder):
    digest = lambda data: "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    files = {
        "reachpkg/__init__.py": b"", "reachpkg/data.bin": noise("wheel"),
        "reachpkg-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: reachpkg\nVersion: 1.0\n",
        "reachpkg-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: reach\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items())
    files["reachpkg-1.0.dist-info/RECORD"] = (record + "reachpkg-1.0.dist-info/RECORD,,\n").encode()
    data = zipped(files)
    name = "reachpkg-1.0-py3-none-any.whl"
    write(folder, f"packages/{name}", data)
    link = f'<a href="../../packages/{name}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>'
    write(folder, "simple/reachpkg/index.html", f"<!DOCTYPE html><html><body>{link}</body></html>")


def npm(folder):
    manifest = {"name": "reachpkg", "version": "1.0.0"}
    data = packed({"package.json": json.dumps(manifest).encode(), "data.bin": noise("npm")}, "package")
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    dist = {"integrity": integrity, "shasum": hashlib.sha1(data).hexdigest()}
    # Below a path, and as a registry that has its host for itself.
    for root in ("npm/", ""):
        dist = {**dist, "tarball": f"@BASE@/{root}reachpkg/-/reachpkg-1.0.0.tgz"}
        document = {"name": "reachpkg", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**manifest, "dist": dist}}}
        write(folder, f"{root}reachpkg/index.html", json.dumps(document))
        write(folder, f"{root}reachpkg/-/reachpkg-1.0.0.tgz", data)


def crate(folder):
    files = {
        "Cargo.toml": b'[package]\nname = "reachpkg"\nversion = "1.0.0"\nedition = "2021"\n', "src/lib.rs": b"",
        "data.bin": noise("crate")}
    data = packed(files, "reachpkg-1.0.0")
    write(folder, "cargo/dl/reachpkg-1.0.0.crate", data)
    write(folder, "cargo/config.json", json.dumps({"dl": "@BASE@/cargo/dl/{crate}-{version}.crate"}))
    line = {"name": "reachpkg", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(data).hexdigest(), "features": {}, "yanked": False}
    write(folder, "cargo/re/ac/reachpkg", json.dumps(line) + "\n")


def maven(folder):
    """A parent project, which Maven fetches by itself, without a plugin."""
    padding = base64.b64encode(noise("maven")).decode()
    pom = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>test.reach</groupId>'
        f"<artifactId>parent</artifactId><version>1.0</version><packaging>pom</packaging><!-- {padding} --></project>\n").encode()
    path = "maven/test/reach/parent/1.0/parent-1.0.pom"
    write(folder, path, pom)
    write(folder, path + ".sha1", hashlib.sha1(pom).hexdigest())


def go(folder):
    module, version = "reach.test/module", "v1.0.0"
    prefix = f"{module}@{version}/"
    text = f"module {module}\n".encode()
    write(folder, f"go/{module}/@v/{version}.mod", text)
    write(folder, f"go/{module}/@v/{version}.info", json.dumps({"Version": version, "Time": "2020-01-01T00:00:00Z"}))
    write(folder, f"go/{module}/@v/list", version + "\n")
    write(folder, f"go/{module}/@v/{version}.zip", zipped({prefix + "go.mod": text, prefix + "data.bin": noise("go")}))


def apt(folder, work):
    tree = os.path.join(work, "deb")
    write(tree, "DEBIAN/control", "Package: reachpkg\nVersion: 1.0\nArchitecture: all\nMaintainer: Reach <reach@reach.test>\nDescription: reach\n")
    write(tree, "usr/share/reachpkg/data.bin", noise("deb"))
    os.makedirs(os.path.join(folder, "apt"), exist_ok=True)
    package = os.path.join(folder, "apt", "reachpkg_1.0_all.deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, package], check=True, capture_output=True)
    with open(package, "rb") as opened:
        data = opened.read()
    with open(os.path.join(tree, "DEBIAN/control"), encoding="utf-8") as opened:
        control = opened.read()
    entry = f"{control}Filename: ./reachpkg_1.0_all.deb\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    write(folder, "apt/Packages", entry)
    hashes = f" {hashlib.sha256(entry.encode()).hexdigest()} {len(entry)} Packages\n"
    write(folder, "apt/Release", f"Origin: reach\nSuite: stable\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n{hashes}")


def git(folder, work):
    tree = os.path.join(work, "tree")
    write(tree, "data.bin", noise("git"))
    setting = ["-c", "user.name=Reach", "-c", "user.email=reach@reach.test", "-c", "init.defaultBranch=main"]
    run = lambda *words, **options: subprocess.run(["git", *setting, *words], check=True, capture_output=True, **options)
    run("init", "-q", tree)
    run("-C", tree, "add", ".")
    run("-C", tree, "commit", "-q", "-m", "data")
    for place in ("dumb", "smart"):
        bare = os.path.join(folder, place, "repo.git")
        run("clone", "-q", "--bare", tree, bare)
        run("-C", bare, "repack", "-q", "-a", "-d")
        run("-C", bare, "update-server-info")


PAGE = """<!DOCTYPE html><title>reach</title><script>
async function sum(url) {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  let a = 1, b = 0;
  for (const byte of bytes) { a = (a + byte) % 65521; b = (b + a) % 65521; }
  return ((b << 16) | a) >>> 0;
}
sum('/file.bin').then(s => s, e => 'failed ' + e).then(s => fetch('/report?sum=' + encodeURIComponent(s)));
</script>"""


def make(folder, work):
    """Makes everything below `folder`."""
    write(folder, "file.bin", noise("file"))
    write(folder, "bucket/file.bin", noise("file"))
    write(folder, "page.html", PAGE)
    for maker in (wheel, npm, crate, maven, go):
        maker(folder)
    for maker in (apt, git):
        maker(folder, work)
