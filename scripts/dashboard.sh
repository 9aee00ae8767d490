#!/bin/sh
# Tests the dashboard in a real Chromium against the debug binary: dashboard.sh [NAME…], the names as unittest takes them.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/venv.sh dashboard Tests/Dashboard/requirements.txt)
LAYOVER_BINARY="${LAYOVER_BINARY:-$PWD/.build/debug/layover}" exec "$python" -B Tests/Dashboard/run.py "$@"
