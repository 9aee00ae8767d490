"""Small answers over kept-alive TLS that the proxy intercepts: CPU per request beside mitmproxy and Squid's ssl-bump."""

import os
import shutil
import ssl
import statistics
import subprocess
import time

from .origin import SMALL
from .peers import start_layover
from .processes import BenchError, clean_environment, free_port
from .small import SAMPLE, libcurl_program

# By name: the certificates that Squid makes for addresses name none.
HOST = "localhost"

SQUID = """
http_port 127.0.0.1:{port} ssl-bump tls-cert={folder}/bump-ca.pem tls-key={folder}/bump-ca.key generate-host-certificates=on dynamic_cert_mem_cache_size=4MB
sslcrtd_program /usr/lib/squid/security_file_certgen -s {folder}/bump/certificates -M 4MB
sslcrtd_children 1
tls_outgoing_options cafile={origin_ca}
ssl_bump bump all
http_access allow all
cache deny all
access_log none
cache_log {folder}/logs/squid-bump-cache.log
cache_store_log none
pid_filename {folder}/bump/squid.pid
coredump_dir {folder}/bump
netdb_filename none
pinger_enable off
workers 1
shutdown_lifetime 1 seconds
visible_hostname bench
"""


def start_intercepting_layover(workshop, port, origin, _tools):
    settings = {
        "tls": {"caFile": origin.certificate, "folder": workshop.path("layover", "tls", "")},
        "routes": {"origin": {"host": HOST, "intercept": True}}}
    process = start_layover(workshop, port, origin, settings=settings)
    process.authority = workshop.path("layover", "tls", "ca.pem")
    return process


def start_bumping_squid(workshop, port, origin, _tools):
    folder = os.path.dirname(workshop.path("bump", "x"))
    logs = os.path.dirname(workshop.path("logs", "x"))
    certificate = workshop.path("bump-ca.pem")
    if not os.path.exists(certificate):
        subprocess.run(
            ["openssl", "req", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=bump", "-keyout",
             workshop.path("bump-ca.key"), "-out", certificate], check=True, capture_output=True)
        subprocess.run(
            ["/usr/lib/squid/security_file_certgen", "-c", "-s", f"{folder}/certificates", "-M", "4MB"], check=True, capture_output=True)
    # Squid gives up root.
    for name in ("bump-ca.pem", "bump-ca.key"):
        os.chmod(workshop.path(name), 0o644)
    subprocess.run(["chmod", "-R", "a+rwX", folder, logs], check=True)
    text = SQUID.format(folder=workshop.folder, port=port, origin_ca=origin.certificate)
    process = workshop.start("squid-bump", ["squid", "-N", "-f", workshop.write("squid-bump.conf", text)])
    process.authority = certificate
    return process


def start_mitmproxy(workshop, port, origin, tools):
    folder = workshop.path("mitmproxy", "")
    process = workshop.start(
        "mitmproxy", [f"{tools}/bin/mitmdump", "-q", "--listen-host", "127.0.0.1", "-p", str(port), "--set", f"confdir={folder}", "--set",
                      f"ssl_verify_upstream_trusted_ca={origin.certificate}", "--set", "flow_detail=0"])
    process.authority = os.path.join(folder, "mitmproxy-ca-cert.pem")
    return process


CONTENDERS = [
    ("Layover", start_intercepting_layover), ("Squid (ssl-bump)", start_bumping_squid), ("mitmproxy", start_mitmproxy)]


def measure(workshop, origin, options):
    """Each contender in turn, `rounds` times; the median of each figure. None without a C compiler for the load."""
    program = libcurl_program(workshop)
    if not program:
        return None
    contenders = [entry for entry in CONTENDERS if is_there(entry[0], options)]
    rounds = {name: [] for name, _ in contenders}
    for _ in range(options.rounds):
        for name, start in contenders:
            port = free_port()
            process = start(workshop, port, origin, options.tools)
            process.wait_for_port(port)
            wait_for(process.authority)
            check(port, origin, process.authority)
            load(program, port, origin, process.authority, options, 1)
            before = process.cpu_seconds()
            requests = load(program, port, origin, process.authority, options, options.seconds)
            cost = (process.cpu_seconds() - before) / requests * 1e6
            rounds[name].append({"cpu_us": cost, "per_second": requests / options.seconds})
            process.stop()
    return {name: {
        "cpu_us": statistics.median(figure["cpu_us"] for figure in figures),
        "per_second": statistics.median(figure["per_second"] for figure in figures),
        "spread": (min(figure["cpu_us"] for figure in figures), max(figure["cpu_us"] for figure in figures)),
    } for name, figures in rounds.items()}


def is_there(name, options):
    if name == "Layover":
        return bool(options.layover)
    if name == "mitmproxy":
        return bool(options.tools)
    return os.path.exists("/usr/lib/squid/security_file_certgen") and bool(shutil.which("squid"))


def wait_for(file, seconds=15):
    """A proxy makes its authority when it starts, or with its first use."""
    deadline = time.monotonic() + seconds
    while not os.path.exists(file):
        if time.monotonic() > deadline:
            raise BenchError(f"{file} was not made")
        time.sleep(0.02)


def check(port, origin, authority):
    """Each of a sample of answers must have the origin's bytes, under a certificate of the proxy's authority."""
    import http.client
    context = ssl.create_default_context(cafile=authority)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
    connection.set_tunnel(HOST, origin.tls_port)
    for _ in range(SAMPLE):
        connection.request("GET", "/small")
        response = connection.getresponse()
        if response.status != 200 or response.read() != SMALL:
            raise BenchError(f"an intercepted request through port {port} was answered {response.status}")
    connection.close()


def load(program, port, origin, authority, options, seconds):
    text = subprocess.run(
        [program, f"https://{HOST}:{origin.tls_port}/small", str(options.clients), str(seconds), f"http://127.0.0.1:{port}", authority],
        capture_output=True, text=True, timeout=seconds + 60, env=clean_environment()).stdout
    requests, failures, _ = (int(word) for word in text.split())
    if failures:
        raise BenchError(f"{failures} intercepted transfers through port {port} failed")
    return requests
