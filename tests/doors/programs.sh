#!/usr/bin/env bash
# Runs every program of the list of recorded streams with unmodified drivers under `halogen run`: GL's clear, triangle,
# texture, depth, copy and blit, vector additions of Vulkan and OpenCL, intel-gpu-tools' benchmarks. Each must complete
# without a hang, and the fidelity report must name draws and dispatches that the model does not execute. The bytes of blits
# are compared on every chip; other checks compare pictures and sums. Times are not checked. On dg1 Linux's i915 accepts no
# relocations and has no aperture mappings: benchmarks that need them must fail with i915's error.
# usage: programs.sh [--short] [device...]   (needs build/bin/halogen, or the tool that HALOGEN names)
#   --short: GL and blits on one chip per kind of submission, and each benchmark on one or two chips
devices="i965 gm965 g45 gm45 snb bdw chv skl icl tgl dg1"
short=
[ "${1:-}" != --short ] || { short=yes && devices="g45 snb icl dg1" && shift; }
. "$(dirname "$0")/door.sh"
bench=/usr/libexec/igt-gpu-tools/benchmarks
[ -d "$bench" ] || { echo "programs: the package intel-gpu-tools is missing: scripts/setup.sh" >&2; exit 2; }

tests/programs/build.sh "$work" drm_blit gl_scenes
if [ -z "$short" ]; then
  flags=(-std=c++20 -O1 -ffp-contract=off)
  c++ "${flags[@]}" -o "$work/opencl" tests/compute/opencl/opencl_cases.cpp -lOpenCL
  c++ "${flags[@]}" -o "$work/vulkan" tests/compute/vulkan/vulkan_cases.cpp -lvulkan
  glslangValidator -V --quiet -DREAL=float -o "$work/vector_add.spv" tests/compute/vulkan/vector_add.comp
fi

failed=0
# try NAME COMMAND PROGRAM...: COMMAND is what the report must name, or -; the output is in $work/out
try() {
  local name=$1 named=$2 status=0
  shift 2
  timeout 300 "$halogen" run --device "$device" --report "$work/report" -- "$@" >"$work/out" 2>"$work/err" || status=$?
  if [ "$status" -ne 0 ]; then
    echo "programs: $device: $name: status $status" >&2
    sed 's/^/    /' "$work/out" "$work/err" >&2
    failed=1
    return
  fi
  if [ "$named" != - ] && ! grep -q "\"name\":\"$named\",\"count\":[0-9]*,\"class\":\"" "$work/report"; then
    echo "programs: $device: $name: the report does not name $named" >&2
    failed=1
  fi
  done_list+=" $name"
}

benchmarks=(gem_exec_nop gem_create gem_prw gem_blt gem_exec_reloc gem_busy intel_upload_blit_small
  intel_upload_blit_large intel_upload_blit_large_gtt intel_upload_blit_large_map)
# Runs a benchmark once: it must print a figure and succeed, or fail with i915's error.
measure() {
  local command=$1 status=0 refused= out=$work/$device-$1
  case $device-$command in
    dg1-intel_upload_blit_large_gtt) refused='Last errno: 19,' ;;
    dg1-gem_blt | dg1-gem_busy | dg1-gem_exec_reloc | dg1-intel_upload_blit_*) refused='error: -22 != 0' ;;
  esac
  local words=()
  [[ $command == intel_* ]] || words=(-r 1)
  timeout 120 "$halogen" run --device "$device" --report "$out.report" -- "$bench/$command" "${words[@]}" \
    >"$out" 2>"$out.err" || status=$?
  if [ -n "$refused" ] && [ "$status" -eq 98 ] && grep -qF "$refused" "$out.err"; then
    done_list+=" $command(refused)"
  elif [ -z "$refused" ] && [ "$status" -eq 0 ] && grep -qE '[0-9]+\.[0-9]+' "$out"; then
    done_list+=" $command"
  else
    echo "programs: $device: $command: status $status" >&2
    sed 's/^/    /' "$out" "$out.err" >&2
    failed=1
  fi
}

for device in $devices; do
  done_list=
  try blits - "$work/drm_blit"
  grep -q '^98304 pixels right$' "$work/out" || { echo "programs: $device: pixels of blits" >&2 && failed=1; }
  # Tools that list devices find it.
  try lsgpu - lsgpu
  grep -q 'drm:/dev/dri/card0' "$work/out" || { echo "programs: $device: lsgpu finds no card" >&2 && failed=1; }
  try intel_gpu_top - intel_gpu_top -L
  grep -q 'pci:vendor=8086,device=' "$work/out" || { echo "programs: $device: intel_gpu_top -L" >&2 && failed=1; }
  if command -v drm_info >/dev/null; then
    try drm_info - drm_info
    grep -q 'Driver: i915' "$work/out" || { echo "programs: $device: drm_info" >&2 && failed=1; }
  fi
  try GL 3DPRIMITIVE "$work/gl_scenes"
  [ "$(wc -l <"$work/out")" -eq 7 ] || { echo "programs: $device: not all of GL's scenes" >&2 && failed=1; }
  if [ -z "$short" ]; then
    try "GL without compression" 3DPRIMITIVE env INTEL_DEBUG=noccs,nofc,nohiz "$work/gl_scenes"
    case $device in
      bdw | chv | skl | icl | tgl | dg1)
        vulkan=$(scripts/driver-settings.sh vulkan "$device")
        try Vulkan GPGPU_WALKER env "$vulkan" "$work/vulkan" "$work" vector_add
        ;;
    esac
    case $device in
      bdw | skl | icl | tgl | dg1)
        read -ra opencl < <(scripts/driver-settings.sh opencl "$device")
        try OpenCL GPGPU_WALKER env "${opencl[@]}" "$work/opencl" tests/compute/opencl vector_add
        ;;
    esac
    for command in "${benchmarks[@]}"; do measure "$command"; done
  fi
  echo "programs: $device:$done_list"
done
# Two run at a time, because each waits half of the time.
if [ -n "$short" ] && [ $# -eq 0 ]; then
  spread="i965:intel_upload_blit_small g45:gem_blt snb:gem_exec_reloc chv:intel_upload_blit_large bdw:gem_prw
    skl:gem_create icl:gem_busy tgl:intel_upload_blit_large_gtt icl:intel_upload_blit_large_map dg1:gem_exec_nop dg1:gem_blt"
  for pair in $spread; do
    while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
    (
      device=${pair%:*} done_list=
      measure "${pair#*:}"
      echo "programs: $device:$done_list"
      [ "$failed" -ne 0 ] || touch "$work/$pair.good"
    ) &
  done
  wait || true
  # A run without an end mark has failed.
  for pair in $spread; do [ -e "$work/$pair.good" ] || failed=1; done
fi
exit "$failed"
