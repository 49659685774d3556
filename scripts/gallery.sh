#!/usr/bin/env bash
# Makes the pictures of docs/gallery.md again. They are committed, so that a changed picture shows in a review.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
ninja -C build gallery
mkdir -p docs/gallery
build/bin/gallery docs/gallery
