#!/usr/bin/env bash
# Runs every check: set-up, lints, the descriptions, builds, tests with and without sanitizers, short fuzzing.
# usage: check.sh [--quick]   --quick: lints, descriptions and unit tests only, with the dev preset
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 0 ] || [ "$*" = --quick ] || { echo "check: unknown argument $*; usage: scripts/check.sh [--quick]" >&2; exit 2; }
start=$SECONDS
step() { printf '\n== %s (%d s)\n' "$*" $((SECONDS - start)); }

step "set-up"
scripts/setup.sh

step "lint: layers, generation comparisons, features, words, rooms, promises, prose, format"
python3 scripts/lint/layers.py
python3 scripts/lint/generations.py
python3 scripts/lint/features.py
python3 scripts/lint/words.py
python3 scripts/lint/rooms.py
python3 scripts/lint/promises.py
python3 -m unittest discover -q -s tests/lint
python3 scripts/lint/prose.py
python3 scripts/lint/format.py

step "descriptions"
python3 tools/specgen/specgen.py check --spec spec
python3 tools/specgen/specgen.py golden --spec spec --check
python3 tools/specgen/specgen.py unread --spec spec --src src
python3 -m unittest discover -q -s tests/specgen
genxml=${HALOGEN_DATA:-../shared/data}/genxml
if [ -d "$genxml" ]; then
  python3 tools/specgen/specgen.py crosscheck --spec spec --genxml "$genxml"
else
  echo "cross-check against genxml skipped: $genxml does not exist"
fi

if [ "${1:-}" = --quick ]; then
  step "build for development"
  scripts/build.sh dev
  step "unit tests"
  ctest --test-dir build/dev --output-on-failure --no-tests=error -j2
  printf '\nquick check passed in %d s; scripts/check.sh runs the others\n' $((SECONDS - start))
  exit 0
fi

step "release build of the tools and benchmarks"
scripts/build.sh release tools benches attacks drm_suite_static

step "build with sanitizers, in the background of what follows"
set -m # a process group of its own, so that it can be ended as a whole
nice -n 19 scripts/build.sh asan >build/asan.log 2>&1 &
asan=$!
set +m
trap 'kill -- -$asan 2>/dev/null || true' EXIT

step "Intel's OpenCL driver over TBX"
tests/doors/signals.sh
tests/doors/neo_tbx.sh

step "Linux's i915 in virtual machines"
tests/doors/vm.sh
tests/doors/drm_judge.sh --only schedule icl

step "Mesa, Intel's OpenCL driver and libdrm on every device; the screen"
tests/doors/drm.sh
tests/doors/drm_suite.sh
tests/doors/drm_suite.sh --screen
HALOGEN_HANG_MS=1500 tests/doors/drm_suite.sh --slow --only "hangs.one hangs.behind hangs.not-recoverable" i965 icl
tests/doors/attacks.sh
tests/doors/programs.sh --short
tests/doors/kms.sh
tests/doors/perf.sh
tests/doors/counters.sh
tests/doors/pictures.sh
tests/doors/shows.py
python3 tests/doors/captures.py --flip 1
python3 tests/doors/fixed.py
python3 tests/doors/targets.py
python3 tests/doors/numbers.py

step "OpenCL and Vulkan compute programs on every device that has them"
tests/doors/compute.sh
tests/compute/kernels/kernels.py --part 1/8 bdw icl tgl
python3 tests/conformance/piglit_cl.py table
python3 tests/conformance/piglit_cl.py check --sample 100 bdw skl icl tgl dg1

step "piglit's OpenGL tests: one in forty"
python3 -m unittest discover -q -s tests/conformance
python3 tests/conformance/piglit_gl.py table
python3 tests/conformance/piglit_gl.py check g45 snb chv icl dg1

step "the rest of the build with sanitizers"
wait $asan || { tail -n 40 build/asan.log && exit 1; }
trap - EXIT

step "tests, with sanitizers"
rm -rf build/asan/results
ctest --test-dir build/asan --output-on-failure --no-tests=error -j2

step "the driver behind its door, with sanitizers"
HALOGEN=$PWD/build/asan/bin/halogen tests/doors/drm_suite.sh g45 icl
HALOGEN=$PWD/build/asan/bin/halogen tests/doors/attacks.sh g45 icl

step "requirement coverage by tests that passed"
build/bin/halogen coverage --results build/asan/results

step "fuzzing, a few seconds per target"
scripts/fuzz.sh 3

step "clang-tidy on the files of the last commit (scripts/tidy.sh --all takes 40 processor minutes)"
scripts/tidy.sh HEAD~1

printf '\ncheck passed in %d s\n' $((SECONDS - start))
