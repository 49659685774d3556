#!/usr/bin/env bash
# Builds a preset: release (default; the tool is then build/bin/halogen), debug, asan (clang: sanitizers and fuzz targets).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
folder=build
[ "$preset" = release ] || folder=build/$preset
cmake --preset "$preset" >"/dev/null"
cmake --build "$folder"
