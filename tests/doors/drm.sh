#!/usr/bin/env bash
# Runs unmodified drivers and programs under `halogen run`: libdrm, Mesa's GL and Vulkan, Intel's OpenCL driver. Each must
# find the device that it was given, by name, and complete. If the model does not execute a draw, the report names it. Times
# are not checked. intel-gpu-tools run in programs.sh.
# usage: drm.sh [device...]   (needs build/bin/halogen, or the tool that HALOGEN names)
. "$(dirname "$0")/door.sh"
tests/programs/build.sh "$work" drm_store drm_life drm_threads drm_upsets drm_closing drm_lend gl_triangle egl_list gbm_clear
cc -O1 -shared -fPIC -DLIBRARY -o "$work/closing.so" tests/programs/drm_closing.c

# device, PCI id, words in the names that GL, Vulkan and Intel's OpenCL driver report (-: the driver does not support the chip);
# rusticl reports the name of GL
rows=(
  "i965|29a2|965G|-|-"
  "gm965|2a02|965GM|-|-"
  "g45|2e22|G45/G43 (ELK)|-|-"
  "gm45|2a42|GM45 Express Chipset (CTG)|-|-"
  "snb|0116|HD Graphics 3000 (SNB GT2)|-|-"
  "bdw|1616|HD Graphics 5500 (BDW GT2)|HD Graphics 5500 (BDW GT2)|1616"
  "chv|22b1|HD Graphics 405 (BSW)|HD Graphics 405 (BSW)|-"
  "skl|1912|HD Graphics 530 (SKL GT2)|HD Graphics 530 (SKL GT2)|1912"
  "icl|8a52|Iris(R) Plus Graphics (ICL GT2)|Iris(R) Plus Graphics (ICL GT2)|8a52"
  "tgl|9a49|Xe Graphics (TGL GT2)|Xe Graphics (TGL GT2)|9a49"
  "dg1|4905|Graphics (DG1)|Graphics (DG1)|4905"
)
recorded="i965 g45 snb icl dg1"
"$halogen" run --device icl ls -l >"$work/out" 2>&1 && exit 1
grep -q 'arguments after --: -- ls' "$work/out" || { echo "drm: a program without --: no error message" >&2; exit 1; }
"$halogen" run --device ICL -- ls >"$work/out" 2>&1 && exit 1
grep -q 'unknown device "ICL"; use icl' "$work/out" || { echo "drm: a name in capitals: no error message" >&2; exit 1; }
failed=0
bad() {
  echo "drm: $device: $*" >&2
  sed 's/^/    /' "$work/out" "$work/err" >&2
  failed=1
}
# Runs on the device; output in $work/out, errors in $work/err.
on() { timeout 120 "$halogen" run --device "$device" "$@" >"$work/out" 2>"$work/err"; }

# A recorded run replays to the same memory hash, and decodes as text.
record() {
  on --trace "$work/trace" -- "$1" || return 1
  local mine theirs
  mine=$(grep -o 'memory=0x[0-9a-f]*' "$work/err") || return 1
  theirs=$("$halogen" replay --device "$device" "$work/trace" 2>"$work/err" | grep -o 'memory=0x[0-9a-f]*') || return 1
  [ "$mine" = "$theirs" ] || { echo "$mine, replayed $theirs" >"$work/err" && return 1; }
  "$halogen" decode --device "$device" "$work/trace" >"$work/out" 2>"$work/err" && grep -q MI_BATCH_BUFFER_END "$work/out"
}

for row in "${rows[@]}"; do
  IFS='|' read -r device id gl vulkan opencl <<<"$row"
  if [ $# -gt 0 ] && [[ " $* " != *" $device "* ]]; then continue; fi
  done_list=libdrm
  on -- "$work/drm_store" && [ "$(cat "$work/out")" = "$id" ] || bad "libdrm"
  HALOGEN_HANG_MS=abc HALOGEN_THREADS=-3 on -- "$work/drm_store" && grep -q 'HALOGEN_HANG_MS="abc" is not a number' "$work/err" &&
    grep -q 'HALOGEN_THREADS="-3" is not a number' "$work/err" || bad "invalid numbers in the environment are not reported"
  on -- "$work/drm_life" && [ "$(tail -n 1 "$work/out")" = "exit handlers" ] || bad "threads, children, descriptors"
  on -- "$work/drm_upsets" && [ "$(tail -n 1 "$work/out")" = jumped ] || bad "upsets"
  on -- "$work/drm_lend" || bad "memory that is lent and unmapped at the same time"
  on -- "$work/drm_closing" "$work/closing.so" && [ "$(cat "$work/out")" = closed ] || bad "a library that is closed"
  if on -- "$work/egl_list" && grep -qF "$gl" "$work/out"; then done_list+=", EGL's list"; else bad "EGL's list"; fi
  if on --report "$work/report" -- "$work/gl_triangle" && grep -qF "$gl" "$work/out"; then
    done_list+=", GL \"$(cat "$work/out")\""
  else
    bad "GL: no \"$gl\""
  fi
  grep -q '"name":"3DPRIMITIVE","count":[0-9]*' "$work/report" || bad "GL: nothing was drawn"
  if on -- "$work/gbm_clear"; then done_list+=", GBM"; else bad "GBM"; fi
  if [ "$vulkan" != - ]; then
    if on -- vulkaninfo --summary && grep -F deviceName "$work/out" | grep -qF "$vulkan"; then
      done_list+=", Vulkan"
    else
      bad "Vulkan: no \"$vulkan\""
    fi
  fi
  if [ "$opencl" != - ] && ! settings=$(scripts/driver-settings.sh opencl "$device" 2>"$work/err"); then
    done_list+=", OpenCL skipped: $(sed 's/.*: //' "$work/err")"
  elif [ "$opencl" != - ]; then
    case $settings in *rusticl*) opencl=$gl ;; esac
    read -ra settings <<<"$settings"
    if on -- env "${settings[@]}" clinfo && grep -F 'Device Name' "$work/out" | grep -qiF "$opencl"; then
      done_list+=", OpenCL"
    else
      bad "OpenCL: no \"$opencl\""
    fi
  fi
  if [ $# -gt 0 ] || [[ " $recorded " == *" $device "* ]]; then
    for program in drm_store gl_triangle drm_threads; do
      record "$work/$program" || bad "$program: recorded"
    done
    done_list+=", recorded"
  fi
  if on --events "$work/events" -- "$work/drm_life"; then
    python3 tests/doors/events.py "$work/events" >"$work/out" 2>&1 || bad "events"
  else
    bad "events: no end"
  fi
  echo "drm: $device: $done_list"
done
device=icl
# Files of debugfs: one has an effect; others refuse writes that would have none.
debug=/sys/kernel/debug/dri/0
on -- sh -c "echo 0xff >$debug/i915_gem_drop_caches && ! echo abc >$debug/i915_gem_drop_caches" || bad "drop caches"
on -- sh -c "! echo 0 >$debug/i915_params/reset && ! echo 9 >/sys/class/drm/card0/engine/rcs0/heartbeat_interval_ms" ||
  bad "files that cannot be written"
# A child continues after the first process and the run have ended, and opens the device; then the tree is removed.
folder=$work/daemon && mkdir "$folder"
TMPDIR=$folder on -- "$work/drm_upsets" "$work/went_on" || bad "a program with a child that continues"
for _ in {1..100}; do [ -e "$work/went_on" ] && [ -z "$(ls "$folder")" ] && break || sleep 0.1; done
[ -e "$work/went_on" ] || bad "a child that continues alone finds no device"
[ -z "$(ls "$folder")" ] || bad "the tree of a child was not removed"
# A debugger starts a program that finds the device, and stops inside its ioctls.
if ! command -v gdb >/dev/null; then
  echo "drm: gdb is not installed: skipped"
elif on -- gdb -batch -ex 'set breakpoint pending on' -ex 'break drmIoctl' -ex run -ex bt -ex delete -ex continue \
  --args "$work/drm_store" && grep -q 'in drmIoctl\|drmIoctl (' "$work/out" && grep -q 'exited normally' "$work/out"; then
  echo "drm: gdb"
else
  bad "gdb"
fi
# The next run removes what a killed run left, and keeps what is in use.
folder=$work/trees && mkdir "$folder"
TMPDIR=$folder "$halogen" run --device icl -- sleep 60 &
killed=$!
until [ -n "$(ls "$folder")" ] && [ -e "$folder"/*/held ]; do sleep 0.1; done
sleep 0.5
TMPDIR=$folder on -- true
[ -n "$(ls "$folder")" ] || bad "a tree in use was removed"
children=$(ps -o pid= --ppid "$killed")
kill -KILL "$killed" $children
wait "$killed" 2>/dev/null || true
for child in $children; do while [ -e "/proc/$child/exe" ]; do sleep 0.1; done; done
TMPDIR=$folder on -- true
[ -z "$(ls "$folder")" ] || bad "an unused tree was not removed"
exit "$failed"
