#!/usr/bin/env bash
# The judge: the suite over i915's calls (tests/drm) in a guest, against Linux's own i915 on the modelled chip. What it
# expects must hold there, and what it sees must be what tests/drm/i915-6.1 says.
# usage: drm_judge.sh [--slow|--screen] [--write|--only CASES] [device...]
#   --slow: the cases with hangs instead; --screen: those of the node with the screen; --write: of all devices, to write
#   tests/drm/i915-6.1 anew; --only: those whose names begin with one of these words
set -euo pipefail
cd "$(dirname "$0")/../.."
for file in build/bin/halogen build/bin/drm_suite_static; do
  [ -x "$file" ] || { echo "drm_judge: $file is not there: scripts/build.sh" >&2; exit 2; }
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
# Later chips have their pipes fused off in the guest.
[ ${#write[@]} -eq 0 ] || devices=(i965 gm965 g45 gm45 snb bdw chv)
[ ${#write[@]} -eq 0 ] || [ "${slow[*]}" = --screen ] || devices+=(skl icl tgl dg1)
[ ${#devices[@]} -gt 0 ] || [ "${slow[*]}" != --screen ] || devices=(g45 snb)
[ ${#devices[@]} -gt 0 ] || devices=(dg1 snb g45 chv icl)
command="drm_suite_static ${slow[*]} --values ${only[*]}"
# The kernel looks for hangs more often than it would, and keeps no error state, which takes long.
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
# Whoever did not reach its end has failed.
for device in "${devices[@]}"; do
  [ -e "$work/$device.good" ] || { echo "drm_judge: $device did not pass" >&2; exit 1; }
done
python3 tests/drm/compare.py "${slow[@]}" "${some[@]}" "${write[@]}" "${pairs[@]}"
