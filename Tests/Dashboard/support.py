"""A real Layover, real origins that go away, and a real Chromium, for the tests of the dashboard."""

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

BINARY = os.environ["LAYOVER_BINARY"]
PATIENCE = 60.0


def until(what, condition, patience=PATIENCE):
    """Waits for a condition and returns its value; there is no sleep that hides a race."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not in time: {what}")
        time.sleep(0.02)


def reserved_port():
    """A socket that is bound and does not listen. Its port refuses connections, and no other program is given it; a server of
    ours can bind it too (socket(7), SO_REUSEADDR)."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


class Origin:
    """A server that can go away and come back on the same port."""

    def __init__(self, answer=None):
        self.reservation = reserved_port()
        self.port = self.reservation.getsockname()[1]
        self.answer = answer
        self.requests = []
        self.server = None

    def start(self):
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                origin.requests.append((self.command, self.path, dict(self.headers), body))
                if origin.answer == "close":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(b"ok")

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

            def log_message(self, *arguments):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


class Layover:
    def __init__(self, policies=None, **changes):
        self.folder = tempfile.mkdtemp(prefix="layover-dashboard-")
        self.clients = []
        default = {"delay": {"type": "constant", "every": "60s"}}
        self.configuration = {
            "proxy": {"listen": "127.0.0.1:0"}, "admin": {"listen": "127.0.0.1:0", **changes.pop("admin", {})},
            "store": {"path": "layover.sqlite"}, "log": {"level": "warning"}, "policies": {"default": default, **(policies or {})}, **changes,
        }
        with open(f"{self.folder}/config.json", "w") as file:
            json.dump(self.configuration, file)
        self.proxy = self.admin = 0
        self.start()

    def start(self):
        ports = f"{self.folder}/ports.json"
        if os.path.exists(ports):
            os.remove(ports)
        command = [BINARY, "run", "--config", f"{self.folder}/config.json", "--port-file", ports]
        if self.admin:
            command += ["--listen", f"127.0.0.1:{self.proxy}", "--admin", f"127.0.0.1:{self.admin}"]
        environment = {**os.environ, "XDG_RUNTIME_DIR": self.folder}
        self.log = open(f"{self.folder}/log", "ab")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment, cwd=self.folder)

        def read():
            if self.process.poll() is not None:
                raise AssertionError("Layover did not start: " + open(f"{self.folder}/log").read())
            try:
                with open(ports) as file:
                    return json.load(file)
            except (OSError, ValueError):
                return None

        found = until("Layover listens", read)
        self.proxy, self.admin = found["proxy"], found["admin"]

    def stop(self):
        for client in self.clients:
            client.close()
        self.clients = []
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.admin}/"

    def call(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        fields = {**({"Content-Type": "application/json"} if data else {}), **(headers or {})}
        request = urllib.request.Request(self.url + path.lstrip("/"), data=data, method=method, headers=fields)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            text = response.read()
        return json.loads(text) if text else None

    def pending(self, query=""):
        return self.call("GET", "/v1/pending" + query)["data"]

    def send(self, url, method="GET", body=b"", **fields):
        """Sends a request through the proxy and does not wait for its response."""
        client = socket.create_connection(("127.0.0.1", self.proxy))
        self.clients.append(client)
        host = url.split("/")[2]
        lines = [f"{method} {url} HTTP/1.1", f"Host: {host}"] + [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        if body or method in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(body)}")
        client.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        return client

    def park(self, url, count=1, **more):
        """Sends requests that wait, and returns once they do."""
        before = sum(self.call("GET", "/v1/pending?limit=1")["counts"].values())
        for number in range(count):
            self.send(url.replace("#", str(number + 1)), **more)
        until("the requests are parked", lambda: sum(self.call("GET", "/v1/pending?limit=1")["counts"].values()) >= before + count)
        until("nothing is being attempted", lambda: not self.pending("?state=attempting"))

    def ticket(self, url, method="POST", body=b"{}", **fields):
        client = self.send(url, method, body, Prefer="respond-async, wait=0", **fields)
        client.settimeout(PATIENCE)
        head = client.recv(65536)
        assert b" 202 " in head.split(b"\r\n")[0], head
        return head


class Case(unittest.TestCase):
    """One browser for all tests; a Layover of its own for each."""

    driver = None
    policies = None
    changes = {}

    @classmethod
    def setUpClass(cls):
        if Case.driver is None:
            Case.driver = new_driver()
            unittest.addModuleCleanup(lambda: None)

    def setUp(self):
        self.layover = Layover(self.policies, **json.loads(json.dumps(self.changes)))
        self.addCleanup(self.layover.remove)
        reservation = reserved_port()
        self.addCleanup(reservation.close)
        self.dead = f"http://127.0.0.1:{reservation.getsockname()[1]}"
        self.driver.get("about:blank")
        self.messages()

    def tearDown(self):
        self.let_go()
        # What a test expects the browser to complain of, it reads itself.
        bad = [entry["message"] for entry in self.messages() if entry["level"] in ("SEVERE", "WARNING")]
        self.driver.get("about:blank")
        self.assertEqual(bad, [], "the browser complained")

    def origin(self, answer=None):
        origin = Origin(answer)
        self.addCleanup(origin.stop)
        return origin

    # The page

    def messages(self):
        return self.driver.get_log("browser")

    def open(self, query=""):
        self.driver.get(self.layover.url + query)
        self.ready()

    def open_with(self, count, path="/#"):
        """Opens the page once so many requests are parked, and waits for their rows."""
        self.layover.park(self.dead + path, count)
        self.open()
        self.see_rows(count)

    def ready(self):
        until("the page is drawn", lambda: self.js("return document.body?.dataset.ready === 'yes'"))

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def one(self, selector):
        return until(f"there is {selector}", lambda: next(iter(self.all(selector)), None))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    # Read in one step each: between finding an element and asking it, the page may draw it anew.

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def attribute(self, selector, name):
        return self.js("return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null", selector, name)

    def shown(self, selector):
        return self.js("const e = document.querySelector(arguments[0]); return !!e && e.checkVisibility()", selector)

    def rows(self):
        return self.js("return [...document.querySelectorAll('#rows tr')].map((row) => row.dataset.id)")

    def see(self, selector, text):
        return until(f"{selector} says {text!r} (it says {self.text(selector)!r})", lambda: text in self.text(selector))

    def see_rows(self, count):
        until(f"there are {count} rows", lambda: len(self.rows()) == count)

    def click(self, selector, key=None):
        """A click as by hand, maybe with a key held down, once the control has been in its place for a while."""
        self.steady(selector)

        def press():
            # The driver looks for the element and clicks in two steps; in between it may be drawn anew.
            try:
                if key is None:
                    self.one(selector).click()
                else:
                    webdriver.ActionChains(self.driver).key_down(key).click(self.one(selector)).key_up(key).perform()
                return True
            except (StaleElementReferenceException, ElementClickInterceptedException):
                self.let_go()
                return False

        until(f"{selector} is clicked", press)

    def let_go(self):
        """Releases keys and buttons: those of a chain that broke off stay down, also for the tests that follow."""
        webdriver.ActionChains(self.driver).reset_actions()

    def steady(self, selector):
        place = "const e = document.querySelector(arguments[0]); if (!e) return null; const b = e.getBoundingClientRect(); return [b.x, b.y]"
        state = {"place": None, "since": 0.0}

        def check():
            now = self.js(place, selector)
            if now is None or now != state["place"]:
                state.update(place=now, since=time.monotonic())
            return now is not None and time.monotonic() - state["since"] > 0.35

        until(f"{selector} stays in its place", check)

    def row(self, number):
        return f"#rows tr:nth-child({number})"

    def keys(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()


def new_driver(*more):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--window-size=1400,900", *more):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # A folder of its own, which the driver makes and removes.
    environment = {**os.environ, "HOME": tempfile.gettempdir()}
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver", env=environment), options=options)


__all__ = ["Case", "Keys", "By", "Layover", "Origin", "new_driver", "until", "webdriver"]
