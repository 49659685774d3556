#!/usr/bin/env bash
# Builds a preset: release (default; the tool is then build/bin/halogen), debug, dev (clang -O1, compiles fastest), asan
# (clang with sanitizers and fuzz targets), tsan (clang with ThreadSanitizer). Arguments after the preset name targets, for
# example `test_eu`, or `tools` for everything except tests and benchmarks.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
folder=build
[ "$preset" = release ] || folder=build/$preset
cmake --preset "$preset" >"/dev/null"
cmake --build "$folder" --target "${@:-all}"
