#!/usr/bin/env bash
# Runs the suite over i915's calls (tests/drm) in a guest, on Linux's own i915 and the modelled chip. The suite's expectations
# must hold there, and the answers must equal those in tests/drm/i915-6.1.
# usage: drm_judge.sh [--slow|--screen] [--write|--only CASES] [device...]
#   --slow: runs the cases with hangs; --screen: those of the node with the screen; --write: runs all devices and rewrites
#   tests/drm/i915-6.1; --only: runs the cases whose names begin with one of these words
set -euo pipefail
cd "$(dirname "$0")/../.."
for file in build/bin/halogen build/bin/drm_suite_static; do
  [ -x "$file" ] || { echo "drm_judge: $file not found; run scripts/build.sh" >&2; exit 2; }
done
command -v qemu-system-x86_64 >/dev/null || { echo "drm_judge: the package qemu-system-x86 is missing" >&2; exit 2; }
scripts/vm-image.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
slow=() write=() only=() some=()
if [ "${1:-}" = --slow ] || [ "${1:-}" = --screen ]; then slow=("$1") && shift; fi
[ "${1:-}" != --write ] || { write=(--write) && shift; }
[ "${1:-}" != --only ] || { read -ra only <<<"$2" && some=(--only "$2") && shift 2; }
devices=("$@")
# On later chips the pipes are fused off in the guest.
[ ${#write[@]} -eq 0 ] || devices=(i965 gm965 g45 gm45 snb bdw chv)
[ ${#write[@]} -eq 0 ] || [ "${slow[*]}" = --screen ] || devices+=(skl icl tgl dg1)
[ ${#devices[@]} -gt 0 ] || [ "${slow[*]}" != --screen ] || devices=(g45 snb)
[ ${#devices[@]} -gt 0 ] || devices=(dg1 snb g45 chv icl)
command="drm_suite_static ${slow[*]} --values ${only[*]}"
# The guest's i915 checks for hangs more often than by default, and does not record error states, which takes long.
[ "${slow[*]}" != --slow ] || command='
  for engine in /sys/class/drm/card0/engine/*; do
    echo 100 >$engine/heartbeat_interval_ms
    echo 50 >$engine/preempt_timeout_ms
  done 2>/dev/null
  echo N >/sys/kernel/debug/dri/0/i915_params/error_capture
  drm_suite_static --slow --values '"${only[*]}"

one() {
  local status=0 start=$SECONDS
  timeout 400 build/bin/halogen vm --device "$1" --add build/bin/drm_suite_static -- sh -c "$command" \
    >"$work/$1" 2>"$work/$1.err" || status=$?
  echo "drm_judge: $1: exit $status after $((SECONDS - start)) s"
  if [ "$status" -ne 0 ]; then
    echo "drm_judge: $1 FAILED" >&2
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
# A run without an end mark has failed.
for device in "${devices[@]}"; do
  [ -e "$work/$device.good" ] || { echo "drm_judge: $device did not pass" >&2; exit 1; }
done
python3 tests/drm/compare.py "${slow[@]}" "${some[@]}" "${write[@]}" "${pairs[@]}"
