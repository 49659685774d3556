#!/usr/bin/env bash
# Runs programs on Intel's Level Zero driver (tests/compute/level_zero) under `halogen run`: copies on every group of queues, a
# fill, and kernels with shared memory, local memory and barriers. Results are compared with formulas; the report names nothing
# unsupported. Debian 12 and 13 have no such driver; without it the check is skipped.
# usage: level_zero.sh [device...]   (needs build/bin/halogen, or the tool that HALOGEN names)
devices="tgl dg1"
. "$(dirname "$0")/door.sh"
if [ ! -e /usr/include/level_zero/ze_api.h ] || ! ldconfig -p | grep -q libze_intel_gpu; then
  echo "level_zero: skipped: libze-dev and libze-intel-gpu1 are not installed"
  exit 0
fi
c++ -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -o "$work/cases" tests/compute/level_zero/level_zero_cases.cpp -lze_loader -lOpenCL
failed=0
for device in $devices; do
  read -ra opencl < <(scripts/driver-settings.sh opencl "$device")
  if timeout 600 env "${opencl[@]}" "$halogen" run --device "$device" --report "$work/report.json" -- "$work/cases" tests/compute/opencl >"$work/out" 2>"$work/err" &&
    [ "$(grep -c ': right$' "$work/out")" = 5 ] && tests/doors/reports.py "$work/report.json" >>"$work/out"; then
    echo "level_zero: $device: 5 cases right ($(sed -n 's/^device: //p' "$work/out"))"
  else
    echo "level_zero: $device: not all cases are right" >&2
    sed 's/^/    /' "$work/out" "$work/err" >&2
    failed=1
  fi
done
exit "$failed"
