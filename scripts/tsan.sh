#!/usr/bin/env bash
# Builds with ThreadSanitizer and runs what uses several host threads: unit tests of the rooms that have threads, and
# unmodified programs under `halogen run` with four threads (the driver's suite; GL, Vulkan and OpenCL). A report of a race
# fails. Programs and system libraries are not instrumented: races between two of their own accesses are not seen.
# usage: tsan.sh [--unit | --doors]   (both by default; the doors need build/bin/drm_suite)
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-}
logs=$PWD/build/tsan/reports
rm -rf "$logs"
mkdir -p "$logs"
# Reports are collected, not fatal: a program of a door would end before its other threads are seen.
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan_suppressions.txt log_path=$logs/report history_size=4 exitcode=0 report_signal_unsafe=0"
failed=()
run() {
  echo "== $*"
  "$@" || failed+=("$*")
}

rooms=(base eu compute pipe3d engine driver)
targets=()
[ "$part" = --doors ] || targets+=(test_threads "${rooms[@]/#/test_}")
[ "$part" = --unit ] || targets+=(tools)
HALOGEN_PRECOMPILED=OFF scripts/build.sh tsan "${targets[@]}"

if [ "$part" != --doors ]; then
  run build/tsan/bin/test_threads --gtest_brief=1
  for room in "${rooms[@]}"; do run "build/tsan/bin/test_$room" --gtest_brief=1; done
fi
if [ "$part" != --unit ]; then
  export HALOGEN=$PWD/build/tsan/bin/halogen HALOGEN_THREADS=4
  run tests/doors/drm_suite.sh snb icl
  run tests/doors/shows.py icl
  run tests/doors/compute.sh icl
fi

mapfile -t reports < <(find "$logs" -type f)
if [ ${#reports[@]} -gt 0 ]; then
  echo "tsan: ${#reports[@]} processes reported races in $logs; the first report:" >&2
  head -n 60 "${reports[0]}" >&2
  exit 1
fi
[ ${#failed[@]} -eq 0 ] || { printf 'tsan: failed: %s\n' "${failed[@]}" >&2; exit 1; }
echo "tsan: no races"
