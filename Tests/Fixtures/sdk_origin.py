#!/usr/bin/python3
"""What real SDKs and package tools need of their servers, in small: sdk_origin.py PORT_FILE LOG [FOLDER]

FOLDER has files that are served as they are, such as an index of `make_wheel.py`. The log has a line for each request: method,
target, Host."""

import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import threading
import zipfile

port_file, log = sys.argv[1:3]
folder = sys.argv[3] if len(sys.argv) > 3 else None
lock = threading.Lock()


def tarball():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        text = json.dumps({"name": "layover-demo", "version": "1.0.0", "main": "index.js"}).encode()
        for name, content in {"package.json": text, "index.js": b"module.exports = 'it arrived'\n"}.items():
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def module():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("demo.test/layover@v1.0.0/go.mod", "module demo.test/layover\n")
        archive.writestr("demo.test/layover@v1.0.0/answer.go", 'package layover\n\nconst Answer = "it arrived"\n')
    return out.getvalue()


def crate():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        manifest = b'[package]\nname = "layover-demo"\nversion = "1.0.0"\nedition = "2018"\n'
        for name, content in {"Cargo.toml": manifest, "src/lib.rs": b'pub const ANSWER: &str = "it arrived";\n'}.items():
            entry = tarfile.TarInfo("layover-demo-1.0.0/" + name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


PACKAGE, MODULE, CRATE = tarball(), module(), crate()
CHAT = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "it arrived"}}],
}
MESSAGE = {
    "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "text", "text": "it arrived"}], "usage": {"input_tokens": 1, "output_tokens": 2},
}
BUCKETS = """<?xml version="1.0"?><ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Owner><ID>o</ID></Owner>
<Buckets><Bucket><Name>parcels</Name><CreationDate>2026-01-01T00:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body=b"", kind="application/json", **fields):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with lock, open(log, "a") as file:
            file.write(f"{self.command} {self.path} {self.headers['Host']}\n")
        path = self.path.split("?")[0]
        own = f"http://{self.headers['Host']}"
        if path == "/v1/chat/completions":
            if json.loads(body).get("stream"):
                return self.stream([{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
                    {"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in ("it", " arrived")])
            return self.send(200, CHAT)
        if path == "/openai/deployments/m/chat/completions":
            return self.send(200, CHAT)
        if path == "/v1/messages":
            return self.send(200, MESSAGE)
        if path == "/api/chat":
            return self.send(200, {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "message": {"role": "assistant", "content": "it arrived"}})
        # S3, path style.
        if path == "/":
            return self.send(200, BUCKETS, "application/xml")
        if path.startswith("/parcels/"):
            tag = '"%s"' % hashlib.md5(b"it arrived").hexdigest()
            return self.send(200, b"" if self.command == "PUT" else b"it arrived", "text/plain", ETag=tag)
        # Hugging Face: the file is behind a redirection to a path of the same server.
        if path.startswith("/api/models/owner/demo"):
            return self.send(200, {"id": "owner/demo", "sha": "a" * 40, "siblings": [{"rfilename": "config.json"}]})
        if path == "/owner/demo/resolve/main/config.json":
            return self.send(307, b"", Location="/moved/config.json", X_Repo_Commit="a" * 40)
        if path == "/moved/config.json":
            return self.send(200, b'{"it":"arrived"}', ETag='"abc"', X_Repo_Commit="a" * 40)
        # npm: the address of the archive is absolute, in the body.
        if path == "/layover-demo":
            dist = {"tarball": f"{own}/layover-demo/-/layover-demo-1.0.0.tgz", "shasum": hashlib.sha1(PACKAGE).hexdigest()}
            return self.send(200, {"name": "layover-demo", "dist-tags": {"latest": "1.0.0"}, "versions": {
                "1.0.0": {"name": "layover-demo", "version": "1.0.0", "dist": dist}}})
        if path.endswith("/layover-demo-1.0.0.tgz"):
            return self.send(200, PACKAGE, "application/octet-stream")
        # Go.
        files = {"list": "v1.0.0\n", "v1.0.0.info": '{"Version":"v1.0.0"}', "v1.0.0.mod": "module demo.test/layover\n", "v1.0.0.zip": MODULE}
        if path.startswith("/demo.test/layover/@v/") and path.rsplit("/", 1)[1] in files:
            return self.send(200, files[path.rsplit("/", 1)[1]], "text/plain")
        # cargo: config.json says where the archives are, relative to nothing, so in an absolute address.
        if path == "/config.json":
            return self.send(200, {"dl": f"{own}/crates/{{crate}}/{{version}}"})
        if path == "/la/yo/layover-demo":
            return self.send(200, json.dumps({"name": "layover-demo", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
                                              "cksum": hashlib.sha256(CRATE).hexdigest()}) + "\n", "text/plain")
        if path == "/crates/layover-demo/1.0.0":
            return self.send(200, CRATE, "application/octet-stream")
        # A session with a redirection, pages and a cookie.
        if path == "/login":
            return self.send(302, b"", Location=f"{own}/account", Set_Cookie="session=s1; Path=/; Secure; HttpOnly")
        if path == "/account":
            known = "session=s1" in self.headers.get("Cookie", "")
            return self.send(200 if known else 401, {"known": known}, Link=f'<{own}/account?page=2>; rel="next"')
        if folder and path.startswith("/simple/"):
            file = os.path.normpath(folder + path)
            if os.path.isdir(file):
                file += "/index.html"
            if file.startswith(folder) and os.path.exists(file):
                with open(file, "rb") as content:
                    return self.send(200, content.read(), "text/html" if file.endswith(".html") else "application/zip")
        self.send(404, {"error": path})

    do_GET = do_POST = do_PUT = do_HEAD = answer

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for text in [json.dumps(event) for event in events] + ["[DONE]"]:
            event = f"data: {text}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
