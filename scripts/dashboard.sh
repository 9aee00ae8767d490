#!/bin/sh
# Tests the dashboard in a real Chromium: dashboard.sh [NAME…], the names as unittest takes them.
set -eu
cd "$(dirname "$0")/.."
tools=$(scripts/python-tools.sh dashboard)
LAYOVER_BINARY="${LAYOVER_BINARY:-$PWD/.build/debug/layover}" exec "$tools/bin/python" -B Tests/Dashboard/run.py "$@"
