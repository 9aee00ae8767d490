#!/bin/sh
# Builds the release binary: .build/release/layover.
#
# The Swift runtime is linked in, so the binary needs nothing from the toolchain where it runs.
# `make run`, `make bench` and the build stage of the Dockerfile all come through here, so the
# container's build is exercised wherever Layover is built.
set -eu
cd "$(dirname "$0")/.."
# The fast path crosses modules (SwiftNIO, LayoverHTTP, the engine); the optimizer may look into all of
# them. Its classes are confined to one thread each, so dynamic exclusivity checks could find nothing.
exec swift build --configuration release --static-swift-stdlib --product layover \
    -Xswiftc -cross-module-optimization -Xswiftc -enforce-exclusivity=unchecked
