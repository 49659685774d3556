#!/usr/bin/env bash
# Measures how long Linux i915 takes from its start to its render node, with the device beside QEMU: the median of three
# runs, one machine at a time, and its ratio to the time with a stub instead of the model. The stub's time is from
# QEMU's start to power-off, less the 5 s that the same machine takes without the driver; the goal is twice that.
# usage: vm_bind.sh [device...]   (needs the release build)
set -euo pipefail
cd "$(dirname "$0")/.."
halogen=$PWD/build/bin/halogen
[ -x "$halogen" ] || { echo "vm_bind: $halogen does not exist; run scripts/build.sh" >&2; exit 2; }
scripts/vm-image.sh
devices=("$@")
[ ${#devices[@]} -gt 0 ] || devices=(g45 snb chv icl dg1)
declare -A stub=([g45]=9 [snb]=9 [chv]=8 [icl]=6 [dg1]=11)
for device in "${devices[@]}"; do
  times=()
  for _ in 1 2 3; do
    times+=("$("$halogen" vm --device "$device" -- cat /halogen/bind-time 2>/dev/null | tr -dc '0-9')")
  done
  middle=$(printf '%s\n' "${times[@]}" | sort -n | sed -n 2p)
  awk -v device="$device" -v middle="$middle" -v stub="${stub[$device]:-0}" -v load="$(cut -d' ' -f1 /proc/loadavg)" \
    'BEGIN { printf "%s: bind %.2f s, ratio to the stub %s; load average %s\n", device, middle / 100, stub ? sprintf("%.2f", middle / 100 / stub) : "-", load }'
done
