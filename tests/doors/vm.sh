#!/usr/bin/env bash
# Debian's kernel with its own i915, unmodified, in QEMU, on five chips: the guest checks stores by every engine, fills and
# copies, two contexts in turn, and hangs that the kernel must end by resets (frontends/vm/guest). The kernel's log must
# be free of complaints but for those listed here. Two machines at a time: each keeps one processor busy.
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

# The display of Cherryview: its power wells and lanes are not modelled.
known_chv='ISP not power gated|PHY . is not power up|Unexpected PHY_STATUS|timeout setting power well state|assert_isp_power_gated|Call Trace'
known_none='^$'

one() {
  local device=$1 start=$SECONDS status=0 known=known_none complaints
  [ "$device" = chv ] && known=known_chv
  timeout 300 "$halogen" vm --device "$device" --add build/bin/gem_test -- \
    sh -c 'gem_test; status=$?; dmesg | sed "s/^/kernel: /"; exit $status' >"$work/$device.log" 2>"$work/$device.err" || status=$?
  complaints=$(grep -aE '^kernel: .*(WARNING:|BUG:|Oops|Call Trace|\*ERROR\*|wedged|not complete)' "$work/$device.log" |
    grep -avE "${!known}" || true)
  local passed
  passed=$(grep -ac '^ok: ' "$work/$device.log" || true)
  echo "vm: $device: exit $status after $((SECONDS - start)) s, $passed checks passed; $(tail -n 1 "$work/$device.err")"
  if [ "$status" -ne 0 ] || [ "$passed" -lt 16 ] || [ -n "$complaints" ]; then
    echo "vm: $device FAILED" >&2
    grep -a '^FAILED' "$work/$device.log" >&2 || true
    [ -z "$complaints" ] || printf '%s\n' "$complaints" >&2
    tail -n 40 "$work/$device.log" "$work/$device.err" >&2
    touch "$work/failed"
  fi
}

for device in "${devices[@]}"; do
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
  one "$device" &
done
wait
[ ! -e "$work/failed" ]
