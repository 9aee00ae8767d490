#!/bin/sh
# Builds the image `layover:<version>` with the first container tool that is installed.
set -eu
cd "$(dirname "$0")/../.."
tag=${LAYOVER_IMAGE:-layover:0.1}

for tool in docker podman; do
    if command -v "$tool" >/dev/null 2>&1; then
        exec "$tool" build --tag "$tag" .
    fi
done
if command -v buildah >/dev/null 2>&1; then
    exec buildah build --format docker --tag "$tag" .
fi
echo "No docker, podman or buildah here. 'make container-trial' installs buildah and builds without a registry." >&2
exit 1
