#!/bin/sh
# Plays the tour of the README: tour.sh [BINARY]. Everything lies in a folder of its own, on free ports, and ends with it.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
binary=$(realpath "${1:-$here/.build/release/layover}")
folder=$(mktemp -d)
pids=""
finish() {
    for pid in $pids; do kill -9 "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap finish EXIT
trap "exit 1" HUP INT TERM PIPE # an EXIT trap alone does not run after a signal
cd "$folder"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY

say() { printf '\n# %s\n' "$1"; }
show() { printf '$ %s\n' "$1"; }
wait_for() { # WHAT COMMAND…
    what=$1
    shift
    end=$(($(date +%s) + 30))
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$end" ] || { echo "tour.sh: $what: not in time" >&2; cat "$folder/log" >&2; exit 1; }
        sleep 0.05
    done
}
start_proxy() {
    rm -f ports.json
    "$binary" run --config config.json --port-file ports.json >> out 2>> log &
    proxy_pid=$!
    pids="$pids $proxy_pid"
    wait_for "the proxy runs" test -s ports.json
    proxy="http://127.0.0.1:$(sed 's/.*"proxy":\([0-9]*\).*/\1/' ports.json)"
    export LAYOVER_ADMIN_URL="http://127.0.0.1:$(sed 's/.*"admin":\([0-9]*\).*/\1/' ports.json)"
}
layover() { "$binary" "$@"; }
# Ports that no other program is given meanwhile: bound without a listener, so that ours can bind them too (socket(7), SO_REUSEADDR).
reserve_ports() {
    python3 -c '
import signal, socket
held = [socket.socket() for _ in range(3)]
for one in held:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in held], flush=True)
signal.pause()' > reserved &
    pids="$pids $!"
    # The whole line: Python may write it in parts.
    wait_for "the ports are reserved" sh -c 'read -r ports < reserved'
    read -r port admin proxy_port < reserved
}
start_server() {
    python3 server.py "$port" >/dev/null 2>&1 &
    server=$!
    pids="$pids $server"
    wait_for "the server listens" curl --silent "http://127.0.0.1:$port/"
}
# The next request finds no server: kill(1) returns before the process has ended.
stop_server() {
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
}

cat > server.py <<'END'
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Shop(BaseHTTPRequestHandler):
    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def do_GET(self):
        self.answer(200, b"hello from the shop\n")
    def do_POST(self):
        self.answer(201, b"ordered: " + self.rfile.read(int(self.headers["Content-Length"])) + b"\n")
HTTPServer.allow_reuse_address = True
HTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
END
reserve_ports
cat > config.json <<END
{ "proxy": { "listen": "127.0.0.1:$proxy_port" }, "admin": { "listen": "127.0.0.1:$admin" }, "store": { "path": "layover.sqlite" } }
END
shop="http://127.0.0.1:$port"

start_proxy
start_server
say "While the server answers, Layover is invisible."
show "curl -x $proxy $shop/"
curl --silent --proxy "$proxy" "$shop/"

say "The server goes away. The next request does not fail: it waits."
stop_server
show "curl -x $proxy $shop/ &"
curl --silent --proxy "$proxy" "$shop/" > answer &
client=$!
is_parked() { layover pending > list && grep waiting list; }
wait_for "the request is parked" is_parked
show "layover pending"
cat list

say "The server is back."
start_server
wait "$client"
cat answer

say "Accept now, deliver later: the server is away, and the order is accepted all the same."
stop_server
show "curl -x $proxy -H 'Prefer: respond-async, wait=0' -d 'two books' $shop/orders"
ticket=$(curl --silent --proxy "$proxy" --header "Prefer: respond-async, wait=0" --data "two books" --output /dev/null \
    --write-out '%header{location}' "$shop/orders")
is_waiting() { curl --silent "$ticket" > status && grep '"state":"waiting"' status; } # not amid an attempt
wait_for "the order waits" is_waiting
sed 's/,.*"state"/… "state"/; s/,"waitingFor.*//' status

say "Layover is killed, with no chance to save anything, and starts again. The server comes back."
kill -9 "$proxy_pid"
wait "$proxy_pid" 2>/dev/null || true
start_proxy
start_server
show "curl $ticket/response"
curl --silent --output /dev/null --header "Prefer: wait=30" "$ticket"
curl --silent "$ticket/response"
