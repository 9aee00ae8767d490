#!/usr/bin/env python3
"""A receiver of webhooks that checks signatures by the text of Standard Webhooks, and logs a line of JSON for each request."""
import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--port-file", required=True)
parser.add_argument("--log", required=True)
parser.add_argument("--secret", required=True, help="base64, without whsec_")
arguments = parser.parse_args()
key = base64.b64decode(arguments.secret)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name, sent = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        code = hmac.new(key, f"{name}.{sent}.".encode() + body, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(code).decode()
        record = {
            "id": name,
            "target": self.path,
            "isSigned": self.headers["webhook-signature"] == expected and abs(time.time() - int(sent)) < 60,
            "body": json.loads(body),
        }
        with open(arguments.log, "a") as log:
            log.write(json.dumps(record) + "\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
with open(arguments.port_file + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(arguments.port_file + ".new", arguments.port_file)
server.serve_forever()
