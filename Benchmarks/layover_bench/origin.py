"""The origin: nginx with one worker, a small answer, a large body and a patterned one."""

import hashlib
import os
import random
import subprocess

from .processes import free_port

SMALL = b"Layover benchmark: this answer has ninety-one bytes, so that it is like the others' test.\r\n"
PATTERN_MIB = 64

CONFIGURATION = """
worker_processes 1;
pid {folder}/origin.pid;
error_log {folder}/logs/origin-error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 100000000;
    keepalive_timeout 300s;
    client_body_temp_path {folder}/origin-body;
    proxy_temp_path {folder}/origin-proxy;
    fastcgi_temp_path {folder}/origin-fastcgi;
    uwsgi_temp_path {folder}/origin-uwsgi;
    scgi_temp_path {folder}/origin-scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        listen 127.0.0.1:{tls_port} ssl backlog=4096;
        ssl_certificate {folder}/origin.pem;
        ssl_certificate_key {folder}/origin.key;
        ssl_session_cache shared:SSL:1m;
        root {folder}/files;
    }}
}}
"""


class Origin:
    """Serves `small`, `large` (sparse) and `pattern` (random bytes of a fixed seed)."""

    def __init__(self, workshop, large_mib):
        self.workshop, self.large_bytes = workshop, large_mib << 20
        self.port, self.tls_port = free_port(), free_port()

    def __enter__(self):
        with open(self.workshop.path("files", "small"), "wb") as file:
            file.write(SMALL)
        with open(self.workshop.path("files", "large"), "wb") as file:
            file.truncate(self.large_bytes)
        pattern = random.Random(91).randbytes(PATTERN_MIB << 20)
        with open(self.workshop.path("files", "pattern"), "wb") as file:
            file.write(pattern)
        self.pattern_hash = hashlib.sha256(pattern).hexdigest()
        os.makedirs(self.workshop.path("logs", ""), exist_ok=True)
        configuration = self.workshop.write(
            "origin.conf", CONFIGURATION.format(folder=self.workshop.folder, port=self.port, tls_port=self.tls_port))
        self.certificate = self.workshop.path("origin.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-subj", "/CN=origin", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", self.workshop.path("origin.key"),
             "-out", self.certificate], check=True, capture_output=True)
        self.process = self.workshop.start(
            "origin", ["nginx", "-c", configuration, "-g", "daemon off;"])
        self.process.wait_for_port(self.port)
        return self

    def __exit__(self, *_):
        self.process.stop()

    def url(self, name, tls=False):
        return f"https://127.0.0.1:{self.tls_port}/{name}" if tls else f"http://127.0.0.1:{self.port}/{name}"
