#!/usr/bin/env bash
# Debian's kernel with its own i915, unmodified, in QEMU, on five chips: the guest checks stores by every engine, fills and
# copies, two contexts in turn, and hangs that the kernel must end by resets (frontends/vm/guest). The kernel's log must
# be free of complaints. Two machines at a time: each keeps one processor busy.
# usage: vm.sh [device...]   (from the build: build/bin/halogen and gem_test must exist)
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=$PWD/build/bin/halogen
for file in "$halogen" build/bin/gem_test; do
  [ -x "$file" ] || { echo "vm: $file is not there: scripts/build.sh" >&2; exit 2; }
done
command -v qemu-system-x86_64 >/dev/null || { echo "vm: the package qemu-system-x86 is missing" >&2; exit 2; }
scripts/vm-image.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

devices=("$@")
[ ${#devices[@]} -gt 0 ] || devices=(dg1 snb g45 chv icl)

one() {
  local device=$1 start=$SECONDS status=0 complaints
  timeout 300 "$halogen" vm --device "$device" --registers "$work/$device.registers" --add build/bin/gem_test -- \
    sh -c 'gem_test; status=$?; dmesg | sed "s/^/kernel: /"; exit $status' >"$work/$device.log" 2>"$work/$device.err" || status=$?
  complaints=$(grep -aE '^kernel: .*(WARNING:|BUG:|Oops|Call Trace|\*ERROR\*|wedged|not complete)' "$work/$device.log" || true)
  local passed
  passed=$(grep -ac '^ok: ' "$work/$device.log" || true)
  echo "vm: $device: exit $status after $((SECONDS - start)) s, $passed checks passed; $(tail -n 1 "$work/$device.err")"
  tests/doors/i915_registers.sh "$device" "$work/$device.registers" || touch "$work/failed"
  if [ "$status" -ne 0 ] || [ "$passed" -lt 16 ] || [ -n "$complaints" ]; then
    echo "vm: $device FAILED" >&2
    grep -a '^FAILED' "$work/$device.log" >&2 || true
    [ -z "$complaints" ] || printf '%s\n' "$complaints" >&2
    tail -n 40 "$work/$device.log" "$work/$device.err" >&2
    touch "$work/failed"
  fi
}

# What is recorded replays to the same memory, executes as many commands, and every one of them is known.
recorded() {
  local device=$1 start=$SECONDS status=0 words served
  timeout 300 "$halogen" vm --device "$device" --trace "$work/$device.aub" --add build/bin/gem_test -- gem_test no-hang \
    >"$work/$device-trace.log" 2>"$work/$device-trace.err" || status=$?
  words=$(grep -a 'recorded' "$work/$device-trace.err" || true)
  served=$(grep -o 'memory=0x[0-9a-f]*' <<<"$words" || echo none)
  "$halogen" replay "$work/$device.aub" >"$work/$device-trace.replay" 2>>"$work/$device-trace.err" || status=1
  "$halogen" decode --summary "$work/$device.aub" >"$work/$device-trace.decode" 2>>"$work/$device-trace.err" ||
    true # of batches that engines wrote a trace has no text
  echo "vm: $device: trace: exit $status after $((SECONDS - start)) s;$(cut -d' ' -f2- "$work/$device-trace.decode" | sed 's/^/ /'); $served"
  if [ "$status" -ne 0 ] || ! grep -q "$served" "$work/$device-trace.replay" ||
    ! [[ $words =~ recorded\ ([0-9]+)\ of\ ([0-9]+)\  && ${BASH_REMATCH[1]} -eq ${BASH_REMATCH[2]} && ${BASH_REMATCH[1]} -gt 500 ]] ||
    ! grep -q ' unknown=0 leftover_dwords=0 unknown_records=0' "$work/$device-trace.decode"; then
    echo "vm: $device: trace FAILED" >&2
    tail -n 20 "$work/$device-trace".* >&2
    touch "$work/failed"
  fi
}

traced=()
for device in "${devices[@]}"; do
  case $device in g45 | icl | dg1) traced+=("$device") ;; esac
done
room() { while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done; }
for device in "${devices[@]}"; do
  room
  one "$device" &
done
for device in "${traced[@]}"; do
  room
  recorded "$device" &
done
wait
[ ! -e "$work/failed" ]
