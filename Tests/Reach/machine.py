"""Two hosts on this machine: network namespaces joined by a link that can be cut, with name service and trusted certificates of their own.

The near one is the user's machine: its /etc/hosts knows the names of the test, and its system store trusts the authority that the origin's
certificate is from, as on a machine of a company with an authority of its own.
"""

import os
import shutil
import subprocess
import tempfile

NEAR, FAR = "layover-reach-near", "layover-reach-far"
NEAR_ADDRESS, FAR_ADDRESS = "10.213.9.1", "10.213.9.2"
CONTROL = "control--none.reach.test"


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


class Machine:
    def __init__(self, names):
        self.folder = tempfile.mkdtemp(prefix="reach-")
        self.names = names
        self.origin = None

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        for name in (NEAR, FAR):
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "wire", "netns", NEAR, "type", "veth", "peer", "name", "wire", "netns", FAR)
        for name, address in ((NEAR, NEAR_ADDRESS), (FAR, FAR_ADDRESS)):
            run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "wire")
            for device in ("lo", "wire"):
                run("ip", "-n", name, "link", "set", device, "up")
        self.certificates()
        self.files()

    def certificates(self):
        os.makedirs(self.path("ca"))
        with open(self.path("ca/leaf.conf"), "w", encoding="utf-8") as conf:
            conf.write("subjectAltName=DNS:*.reach.test\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        run("openssl", "req", "-x509", *key, "-keyout", self.path("ca/ca.key"), "-out", self.path("ca/ca.pem"), "-days", "30",
            "-subj", "/CN=Reach test authority", "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        run("openssl", "req", *key, "-keyout", self.path("ca/leaf.key"), "-out", self.path("ca/leaf.csr"), "-subj", "/CN=reach.test")
        run("openssl", "x509", "-req", "-in", self.path("ca/leaf.csr"), "-CA", self.path("ca/ca.pem"), "-CAkey", self.path("ca/ca.key"),
            "-CAcreateserial", "-days", "30", "-extfile", self.path("ca/leaf.conf"), "-out", self.path("ca/leaf.pem"))

    def files(self):
        """`ip netns exec` lays what is in /etc/netns/NAME over /etc (ip-netns(8))."""
        near = f"/etc/netns/{NEAR}"
        os.makedirs(near, exist_ok=True)
        with open(f"{near}/hosts", "w", encoding="utf-8") as hosts:
            hosts.write("127.0.0.1 localhost\n")
            hosts.writelines(f"{FAR_ADDRESS} {name}\n" for name in [*self.names, CONTROL])
        shutil.copytree("/etc/ssl", f"{near}/ssl", symlinks=True)
        with open(self.path("ca/ca.pem"), encoding="utf-8") as opened:
            authority = opened.read()
        with open(f"{near}/ssl/certs/ca-certificates.crt", "a", encoding="utf-8") as bundle:
            bundle.write(authority)
        digest = run("openssl", "x509", "-noout", "-hash", "-in", self.path("ca/ca.pem")).strip()
        shutil.copy(self.path("ca/ca.pem"), f"{near}/ssl/certs/{digest}.0")
        store = f"{near}/ssl/certs/java/cacerts"
        if os.path.exists(store) and shutil.which("keytool"):
            run("keytool", "-importcert", "-noprompt", "-alias", "reach", "-file", self.path("ca/ca.pem"), "-keystore", store,
                "-storepass", "changeit")

    def path(self, name):
        return os.path.join(self.folder, name)

    def within(self, name, *words):
        return ["ip", "netns", "exec", name, *words]

    def link(self, is_up):
        run("ip", "-n", NEAR, "link", "set", "wire", "up" if is_up else "down")

    def start_origin(self, program, www):
        self.log = open(self.path("origin.log"), "w+", encoding="utf-8")
        self.origin = subprocess.Popen(
            self.within(FAR, "/usr/bin/python3", "-B", program, www, self.path("ca/leaf.pem"), self.path("ca/leaf.key")),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.origin.stdout.readline() != "ready\n":
            raise RuntimeError("the origin of the test did not start")

    def __exit__(self, *_):
        if self.origin:
            self.origin.stdin.close()
            self.origin.terminate()
            self.origin.wait()
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
            shutil.rmtree(f"/etc/netns/{name}", ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)
