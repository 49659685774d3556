#!/usr/bin/env bash
# Makes the pictures of docs/gallery.md anew. They are part of the documents: a picture that changes shows in a review.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release >/dev/null
ninja -C build gallery
mkdir -p docs/gallery
build/bin/gallery docs/gallery
