#!/usr/bin/env bash
# Runs OpenCL and Vulkan compute programs (tests/compute), compiled by unmodified drivers, under `halogen run`. Every case must
# be right by its own formulas, and its bytes must equal those of another implementation on this machine (PoCL, lavapipe).
# usage: compute.sh [device...]   (needs build/bin/halogen; CASES restricts the cases)
. "$(dirname "$0")/door.sh"
command -v glslangValidator >/dev/null || { echo "compute: glslang-tools is missing; run scripts/setup.sh" >&2; exit 2; }
pocl=$(scripts/driver-settings.sh opencl pocl)
lavapipe=$(scripts/driver-settings.sh vulkan lavapipe)
read -ra cases <<<"${CASES:-}"

flags=(-std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Wno-missing-field-initializers)
c++ "${flags[@]}" -o "$work/opencl" tests/compute/opencl/opencl_cases.cpp -lOpenCL &
c++ "${flags[@]}" -o "$work/vulkan" tests/compute/vulkan/vulkan_cases.cpp -lvulkan
wait $!
for shader in tests/compute/vulkan/*.comp; do
  glslangValidator -V --quiet -DREAL=float -o "$work/$(basename "$shader" .comp).spv" "$shader"
done
glslangValidator -V --quiet -DREAL=double -o "$work/mandelbrot_wide.spv" tests/compute/vulkan/mandelbrot.comp

# The results that all devices are compared with.
mkdir "$work/pocl" "$work/lavapipe"
env "$pocl" "$work/opencl" tests/compute/opencl --out "$work/pocl" "${cases[@]}" >/dev/null
env "$lavapipe" "$work/vulkan" "$work" --out "$work/lavapipe" "${cases[@]}" >/dev/null

# name, device, judge, program and its folder
one() {
  local name=$1 device=$2 judge=$3 status=0
  shift 3
  local out=$work/$name-$device
  mkdir "$out"
  timeout 600 "$halogen" run --device "$device" --report "$out.json" -- "$@" --out "$out" "${cases[@]}" >"$out.log" 2>&1 ||
    status=$?
  if [ "$name" = opencl ] && { [ -z "${CASES:-}" ] || [[ " $CASES " == *" text "* ]]; }; then
    [ "$(grep -c '^item [0-3] of 7: beef done$' "$out.log")" = 4 ] || { echo "text: not all items spoke" >>"$out.log" && status=1; }
  fi
  local result
  for result in "$out"/*; do
    cmp "$result" "$work/$judge/$(basename "$result")" >>"$out.log" 2>&1 || status=1
  done
  # Every case runs, double precision on chips that have it (not with rusticl); the report names nothing unsupported.
  local cases_here=12
  [ "$name" = opencl ] || cases_here=11
  case $device-$* in *rusticl*) ;; bdw-* | chv-* | skl-*) cases_here=$((cases_here + 1)) ;; esac
  [ -n "${CASES:-}" ] || [ "$(grep -c ': right$' "$out.log")" = "$cases_here" ] ||
    { echo "not $cases_here cases" >>"$out.log" && status=1; }
  python3 - "$out.json" >>"$out.log" <<'PYTHON' || status=1
import json, sys
report = json.load(open(sys.argv[1]))
unknown = [row["name"] for kind in ("instructions", "messages") for row in report[kind] if row["class"] == "unsupported"]
print("not modelled:", unknown) if unknown else None
sys.exit(1 if unknown or not report["instructions"] else 0)
PYTHON
  if [ "$status" -eq 0 ]; then
    echo "compute: $device: $name: $(grep -c ': right$' "$out.log") cases right"
  else
    echo "compute: $device: $name: status $status" >&2
    sed 's/^/    /' "$out.log" >&2
  fi
  return "$status"
}

failed=0
for device in bdw chv skl icl tgl dg1; do
  if [ $# -gt 0 ] && [[ " $* " != *" $device "* ]]; then continue; fi
  vulkan=$(scripts/driver-settings.sh vulkan "$device")
  one vulkan "$device" lavapipe env "$vulkan" "$work/vulkan" "$work" &
  if [ "$device" != chv ]; then
    read -ra opencl < <(scripts/driver-settings.sh opencl "$device")
    one opencl "$device" pocl env "${opencl[@]}" "$work/opencl" tests/compute/opencl || failed=1
  fi
  wait $! || failed=1
done
exit "$failed"
