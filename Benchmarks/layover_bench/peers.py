"""The proxies that are compared: one worker or thread each, nothing cached, nothing logged."""

import json
import os

from .processes import free_port

SQUID = """
http_port 127.0.0.1:{port}
http_access allow all
cache deny all
access_log none
cache_log {folder}/logs/squid-cache.log
cache_store_log none
pid_filename {folder}/squid/squid.pid
coredump_dir {folder}/squid
netdb_filename none
pinger_enable off
workers 1
shutdown_lifetime 1 seconds
visible_hostname bench
"""

TINYPROXY = """
Port {port}
Listen 127.0.0.1
Timeout 600
MaxClients 500
LogLevel Critical
LogFile "{folder}/logs/tinyproxy-own.log"
"""

HAPROXY = """
global
    nbthread 1
    maxconn 4096
defaults
    mode http
    http-reuse always
    timeout connect 10s
    timeout client 300s
    timeout server 300s
frontend front
    bind 127.0.0.1:{port}
    default_backend origin
backend origin
    server one 127.0.0.1:{origin} {options}
"""

NGINX = """
worker_processes 1;
pid {folder}/nginx-peer.pid;
error_log {folder}/logs/nginx-peer-error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 100000000;
    keepalive_timeout 300s;
    client_body_temp_path {folder}/peer-body;
    proxy_temp_path {folder}/peer-proxy;
    fastcgi_temp_path {folder}/peer-fastcgi;
    uwsgi_temp_path {folder}/peer-uwsgi;
    scgi_temp_path {folder}/peer-scgi;
    upstream origin {{
        server 127.0.0.1:{origin};
        keepalive 64;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{
            proxy_pass http://origin;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_max_temp_file_size 0;
        }}
    }}
}}
"""


class Contender:
    """A proxy under test: its name and how it is started in front of an origin."""

    def __init__(self, name, kind, start):
        self.name, self.kind, self._start = name, kind, start

    def start(self, workshop, origin, tls=False):
        port = free_port()
        process = self._start(workshop, port, origin, tls)
        process.wait_for_port(port)
        process.port = port
        return process


def start_squid(workshop, port, *_):
    folder = os.path.dirname(workshop.path("squid", "x"))
    os.chmod(folder, 0o777)
    logs = os.path.dirname(workshop.path("logs", "x"))
    os.chmod(logs, 0o777)
    file = workshop.write("squid.conf", SQUID.format(folder=workshop.folder, port=port))
    return workshop.start("squid", ["squid", "-N", "-f", file])


def start_tinyproxy(workshop, port, *_):
    file = workshop.write("tinyproxy.conf", TINYPROXY.format(folder=workshop.folder, port=port))
    return workshop.start("tinyproxy", ["tinyproxy", "-d", "-c", file])


def start_haproxy(workshop, port, origin, tls):
    options = f"ssl verify required ca-file {origin.certificate} alpn http/1.1" if tls else ""
    file = workshop.write(
        "haproxy.cfg", HAPROXY.format(port=port, origin=origin.tls_port if tls else origin.port, options=options))
    return workshop.start("haproxy", ["haproxy", "-db", "-f", file])


def start_nginx(workshop, port, origin, _):
    file = workshop.write(
        "nginx-peer.conf", NGINX.format(folder=workshop.folder, port=port, origin=origin.port))
    return workshop.start("nginx", ["nginx", "-c", file, "-g", "daemon off;"])


def start_layover(workshop, port, origin=None, _=False, admin_port=None, settings=None, threads=1, environment=None):
    """Layover as it ships, pending set, limits and metrics live; only the peers' one thread is set."""
    admin_port = admin_port or free_port()
    configuration = {
        "proxy": {"listen": f"127.0.0.1:{port}", "threads": threads},
        "admin": {"listen": f"127.0.0.1:{admin_port}"},
        "store": {"path": "layover.sqlite"},
    }
    if origin:
        configuration["tls"] = {"caFile": origin.certificate}
    configuration.update(settings or {})
    file = workshop.write("layover/config.json", json.dumps(configuration, indent=2))
    # The files of this run stay out of the folders of the user.
    process = workshop.start(
        "layover", [workshop.layover, "run", "--config", file],
        {"RUNTIME_DIRECTORY": os.path.dirname(file), **(environment or {})})
    process.admin_port = admin_port
    return process


LAYOVER = Contender("Layover", "forward", start_layover)
PEERS = [
    Contender("Squid", "forward", start_squid),
    Contender("tinyproxy", "forward", start_tinyproxy),
    Contender("HAProxy", "reverse", start_haproxy),
    Contender("nginx", "reverse", start_nginx),
]
