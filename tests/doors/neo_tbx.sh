#!/usr/bin/env bash
# Intel's OpenCL driver, unmodified, talks to `halogen serve --tbx` as to Intel's simulator, for every product that both know.
# The program's results must be right and every command executed. The recorded run must replay to the same memory, with
# every byte that the driver read back. Then the OpenCL programs of tests/compute run; they check themselves, and their
# results must equal PoCL's.
# usage: neo_tbx.sh [product...]   (needs build/bin/halogen)
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=$PWD/build/bin/halogen
[ -x "$halogen" ] || { echo "neo_tbx: $halogen does not exist; run scripts/build.sh" >&2; exit 2; }
[ -e /etc/OpenCL/vendors/intel.icd ] || { echo "neo_tbx: skipped: this system has no intel-opencl-icd (Debian 13 has none)"; exit 0; }
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cc -O1 -o "$work/triple" demo/triple.c -lOpenCL
c++ -std=c++20 -O1 -ffp-contract=off -o "$work/cases" tests/compute/opencl/opencl_cases.cpp -lOpenCL
cases=$PWD/tests/compute/opencl
mkdir "$work/results" "$work/pocl"
[ -e /etc/OpenCL/vendors/pocl.icd ] || { echo "neo_tbx: the package pocl-opencl-icd is missing" >&2; exit 2; }
OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd "$work/cases" "$cases" --out "$work/pocl" >/dev/null

# Starts a server for the device with further arguments; its port is in $port.
serve() {
  rm -f "$work/run.out"  # of the server before
  "$halogen" serve --tbx 0 --device "$@" >"$work/run.out" 2>"$work/run.err" &
  server=$!
  until grep -qs listening "$work/run.out"; do
    kill -0 "$server" 2>/dev/null || { cat "$work/run.err" >&2; exit 1; }
    sleep 0.1
  done
  port=$(sed 's/.*://' "$work/run.out")
}
# Runs a program on the server. The driver waits without a time limit, so the program gets one.
on_server() {
  (cd "$work" && env OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd NEOReadDebugKeys=1 SetCommandStreamReceiver=2 \
    ProductFamilyOverride="$product" TbxPort="$port" ${setting:+"$setting"} timeout 300 "$@") >"$work/run.log" 2>&1
}

# Compares the results with PoCL's.
same_as_pocl() {
  local result
  for result in "$work"/results/*; do
    cmp "$result" "$work/pocl/$(basename "$result")" >>"$work/run.log" 2>&1 || return 1
  done
}

# product, device, further settings
rows=("bdw bdw" "skl skl" "icllp icl" "tgllp tgl" "dg1 dg1 EnableLocalMemory=0" "dg1 dg1")
failed=0
for row in "${rows[@]}"; do
  read -r product device setting <<<"$row"
  if [ $# -gt 0 ] && [[ " $* " != *" $product "* ]]; then continue; fi
  name="$product${setting:+ ($setting)}"
  rm -f "$work"/run*
  serve "$device" --report "$work/run.json" --trace "$work/run.aub"
  status=0
  on_server ./triple || status=$?
  kill -TERM "$server"
  wait "$server" || { echo "neo_tbx: $name: the server failed" >&2; status=1; }
  server=
  served=$(grep -o 'memory=0x[0-9a-f]*' "$work/run.err" | head -n 1)
  replayed=$("$halogen" replay "$work/run.aub" 2>"$work/run.replay") || status=1
  missing=$(grep -o 'not executed: .*' "$work/run.err" | head -n 1 || true)
  echo "neo_tbx: $name: driver exit $status; $served; ${missing:-everything executed}; $(tail -n 1 "$work/run.log")"
  if [ "$status" -eq 0 ] && { [ -n "$missing" ] || [ "$(tail -n 1 "$work/run.log")" != "b is right" ]; }; then
    echo "neo_tbx: $name: not everything was executed, or b is wrong" >&2
    status=1
  fi
  if [ "$status" -ne 0 ] || [ -z "$served" ] || [[ "$replayed" != *"$served"* ]]; then
    failed=1
    cat "$work/run.log" "$work/run.err" "$work/run.replay" >&2
    echo "$replayed" >&2
  fi
  "$halogen" decode --summary "$work/run.aub" || failed=1
  wanted=12  # and doubles where the chip has them
  case $device in bdw | skl) wanted=13 ;; esac
  serve "$device"
  rm -f "$work"/results/*
  if on_server ./cases "$cases" --out "$work/results" &&
    [ "$(grep -c '^item [0-3] of 7: beef done$' "$work/run.log")" = 4 ] &&
    [ "$(grep -c ': right$' "$work/run.log")" = "$wanted" ] &&
    same_as_pocl; then
    echo "neo_tbx: $name: $wanted programs right"
  else
    failed=1
    sed 's/^/    /' "$work/run.log" >&2
  fi
  kill -TERM "$server"
  wait "$server" || failed=1
  server=
done
exit "$failed"
