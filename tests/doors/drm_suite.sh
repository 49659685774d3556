#!/usr/bin/env bash
# The suite over i915's calls (tests/drm) on the driver of this project, on all devices, compared with what Linux's own
# i915 answered in a guest (tests/drm/i915-6.1). Differences must stand in tests/drm/explained.txt, with a reason.
# usage: drm_suite.sh [--slow] [device...]   --slow: the cases with hangs instead (from the build: build/bin/halogen and drm_suite must exist)
set -euo pipefail
cd "$(dirname "$0")/../.."
for file in build/bin/halogen build/bin/drm_suite; do
  [ -x "$file" ] || { echo "drm_suite: $file is not there: scripts/build.sh" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
slow=()
[ "${1:-}" != --slow ] || { slow=(--slow) && shift; }
devices=("$@")
# Linux does not get the first two chips out of a hang in the guest: there are no facts.
[ ${#devices[@]} -gt 0 ] || [ ${#slow[@]} -eq 0 ] || devices=(g45 gm45 snb bdw chv skl icl tgl dg1)
[ ${#devices[@]} -gt 0 ] || devices=(i965 gm965 g45 gm45 snb bdw chv skl icl tgl dg1)

one() {
  local status=0
  timeout 120 build/bin/halogen run --device "$1" -- build/bin/drm_suite --values "${slow[@]}" >"$work/$1" 2>"$work/$1.err" || status=$?
  if [ "$status" -gt 1 ]; then # 1: something is not as the suite expects; the comparison says what
    echo "drm_suite: $1: the suite ended with status $status" >&2
    tail -n 5 "$work/$1" "$work/$1.err" >&2
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
[ ${#slow[@]} -eq 0 ] || explained=()
python3 tests/drm/compare.py "${slow[@]}" "${explained[@]}" "${pairs[@]}"
# Whoever did not reach its end has failed.
for device in "${devices[@]}"; do
  [ -e "$work/$device.good" ] || { echo "drm_suite: $device did not pass" >&2; exit 1; }
done
