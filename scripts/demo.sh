#!/usr/bin/env bash
# The main job, as far as it goes today: an unmodified program on Intel's unmodified OpenCL driver makes a command
# stream, and Halogen reads it to the last dword.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release
halogen=$PWD/build/bin/halogen
out=build/demo
mkdir -p "$out"
cc -O1 -o "$out/triple" demo/triple.c -lOpenCL

echo
"$halogen" devices
for product in bdw skl icllp tgllp dg1; do
  trace=$out/$product.aub
  rm -f "$trace"
  # The driver has a simulator mode in which it writes everything it would send to the chip into a trace file.
  NEOReadDebugKeys=1 SetCommandStreamReceiver=1 ProductFamilyOverride=$product \
    AUBDumpCaptureFileName="$PWD/$trace" "$out/triple" >"$out/$product.log" || [ $? -eq 3 ] # nothing is computed in this mode
  printf '\n%s: %s\n' "$product" "$(head -n 1 "$out/$product.log")"
  "$halogen" decode --summary "$trace"
  "$halogen" decode "$trace" >"$out/$product.txt"
done

echo
echo "The dispatch that computes b[i] = a[i]*3 + i, as the driver encoded it for dg1:"
grep -A 24 -m 1 'GPGPU_WALKER' "$out/dg1.txt"
echo
echo "Whole listings: $out/*.txt"
