#!/usr/bin/env bash
# Runs the suite over i915's calls (tests/drm) on the project's own driver, on all devices, and compares with the answers of
# Linux's i915 in a guest (tests/drm/i915-6.1). Differences must be listed in tests/drm/explained.txt, with a reason.
# usage: drm_suite.sh [--slow|--screen] [--only CASES] [device...]   (needs build/bin/drm_suite, and
#   build/bin/halogen or the tool that HALOGEN names, for example that of the build with sanitizers)
#   --slow: runs the cases with hangs; --screen: those of the node with the screen, on chips whose display Linux finds in a
#   guest; --only: the cases whose names begin with one of these words
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=${HALOGEN:-$PWD/build/bin/halogen}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
for file in "$halogen" build/bin/drm_suite; do
  [ -x "$file" ] || { echo "drm_suite: $file not found; run scripts/build.sh" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
slow=() only=() some=()
if [ "${1:-}" = --slow ] || [ "${1:-}" = --screen ]; then slow=("$1") && shift; fi
[ "${1:-}" != --only ] || { read -ra only <<<"$2" && some=(--only "$2") && shift 2; }
devices=("$@")
# All devices with recorded answers.
facts=tests/drm/i915-6.1${slow[0]:+/${slow[0]#--}}
if [ ${#devices[@]} -eq 0 ]; then
  for file in "$facts"/*.txt; do
    name=$(basename "$file" .txt)
    [ "$name" = common ] || devices+=("$name")
  done
fi

one() {
  local status=0
  timeout 400 "$halogen" run --device "$1" -- build/bin/drm_suite --values "${slow[@]}" "${only[@]}" >"$work/$1" 2>"$work/$1.err" || status=$?
  if [ "$status" -gt 1 ]; then # 1: something is not as the suite expects; the comparison says what
    echo "drm_suite: $1: the suite ended with status $status" >&2
    tail -n 5 "$work/$1" "$work/$1.err" >&2
    return
  fi
  # The program must not hide output of sanitizers.
  if grep -qE 'ERROR: AddressSanitizer|runtime error:' "$work/$1.err"; then
    echo "drm_suite: $1: a sanitizer says" >&2
    head -n 40 "$work/$1.err" >&2
    return
  fi
  touch "$work/$1.good"
}
pairs=()
for device in "${devices[@]}"; do
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
  one "$device" &
  pairs+=("$device=$work/$device")
done
wait || true
explained=(--explained tests/drm/explained.txt)
[ "${slow[*]}" != --slow ] || explained=()
[ "${slow[*]}" != --screen ] || explained=(--explained tests/drm/explained-screen.txt)
python3 tests/drm/compare.py "${slow[@]}" "${some[@]}" "${explained[@]}" "${pairs[@]}"
# A run without an end mark has failed.
for device in "${devices[@]}"; do
  [ -e "$work/$device.good" ] || { echo "drm_suite: $device did not pass" >&2; exit 1; }
done
