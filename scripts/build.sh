#!/usr/bin/env bash
# Builds a preset: release (default; the tool is then build/bin/halogen), debug, asan (clang: sanitizers and fuzz targets).
# Targets after it: these only (`tools`: what people use, without tests and benchmarks).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
folder=build
[ "$preset" = release ] || folder=build/$preset
cmake --preset "$preset" >"/dev/null"
cmake --build "$folder" --target "${@:-all}"
