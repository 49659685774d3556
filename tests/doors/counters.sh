#!/usr/bin/env bash
# `halogen run --counters` with unmodified drivers: the sums over all samples of a GL program, a Vulkan program and an OpenCL
# program equal the work that the programs define: pixels, threads, barriers (counter_sums.py). Also a program that is killed,
# one that forks, a measuring tool of Debian in the same run, and wrong options.
# usage: counters.sh   (HALOGEN names the tool)
. "$(dirname "$0")/door.sh"
failed=0
bad() { echo "counters: $*" >&2; failed=1; }
judge() { python3 tests/doors/counter_sums.py "$@" || failed=1; }

# run DEVICE FILE [OPTION...] -- PROGRAM...: samples to $work/FILE; the status is the program's.
run() {
  local device=$1 file=$2
  shift 2
  timeout 60 "$halogen" run --device "$device" --counters "$work/$file" "$@" >"$work/out" 2>"$work/err"
}
good() { run "$@" || { bad "$1: $2: status $?" && tail -n 3 "$work/out" "$work/err" >&2; }; }
# wrong TEXT OPTION...: the run must end with 2 and name what is wrong, and must not start the program.
wrong() {
  local text=$1 status=0
  shift
  "$halogen" run "$@" -- touch "$work/started" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" -eq 2 ] && grep -qFe "$text" "$work/err" || bad "status $status without \"$text\": $*: $(cat "$work/err")"
  [ ! -e "$work/started" ] || bad "the program was started: $*"
}

wrong "snb has no performance counters; these devices have: bdw, chv, skl, icl, tgl, dg1" --device snb --counters "$work/x"
wrong 'unknown metric set "Basic"; icl has RenderBasic, ComputeBasic' --device icl --counters "$work/x" --counters-set Basic
wrong "not in range" --device icl --counters "$work/x" --counters-period 0
wrong "not in range" --device icl --counters "$work/x" --counters-period 100000000000
wrong "not in range" --device icl --counters "$work/x" --counters-period 99999999999999999999999
wrong "--counters-set requires --counters" --device icl --counters-set RenderBasic
wrong "/nowhere/x: No such file or directory." --device icl --counters /nowhere/x
wrong "need different files" --device icl --counters "$work/x" --events "$work/x"
wrong "$work: Is a directory" --device icl --counters "$work"

tests/programs/build.sh "$work" gl_counted
flags=(-std=c++20 -O1 -ffp-contract=off)
c++ "${flags[@]}" -o "$work/vulkan" tests/compute/vulkan/vulkan_cases.cpp -lvulkan &
c++ "${flags[@]}" -o "$work/opencl" tests/compute/opencl/opencl_cases.cpp -lOpenCL
wait $!
glslangValidator -V --quiet -o "$work/reduction.spv" tests/compute/vulkan/reduction.comp

for device in chv icl tgl; do
  good $device gl.csv --counters-period 5000 -- "$work/gl_counted"
  judge "$device: GL" "$work/gl.csv" gl
done
for device in chv skl; do
  good $device vk.csv --counters-set ComputeBasic -- env "$(scripts/driver-settings.sh vulkan $device)" \
    "$work/vulkan" "$work" reduction
  judge "$device: Vulkan" "$work/vk.csv" reduction
done
for device in bdw icl; do
  read -ra opencl < <(scripts/driver-settings.sh opencl $device)
  good $device cl.csv --counters-set ComputeBasic -- env "${opencl[@]}" "$work/opencl" tests/compute/opencl reduction
  judge "$device: OpenCL" "$work/cl.csv" reduction
done

# Tracks; a program without a device; every process with a device has its file; a killed program's samples are there.
good tgl gl.json -- "$work/gl_counted"
judge "tgl: tracks" "$work/gl.json" tracks
good icl none.csv -- true
[ "$(wc -l <"$work/none.csv")" = 1 ] || bad "a program without a device leaves more than the names of the columns"
good skl forked.csv --counters-period 5000 -- "$work/gl_counted" forked
for file in "$work"/forked.csv*; do judge "skl: $(basename "$file" | sed 's/[0-9]*$//')" "$file" gl; done
[ "$(ls "$work"/forked.csv* | wc -l)" = 2 ] || bad "two processes, but these files: $(ls "$work"/forked.csv*)"
status=0
run dg1 killed.csv --counters-period 1000 -- "$work/gl_counted" killed || status=$?
[ "$status" -eq 137 ] || bad "dg1: the killed program has status $status"
judge "dg1: killed" "$work/killed.csv" gl-killed

# A tool that opens a stream of the sampled device gets its reports.
if command -v i915-perf-recorder >/dev/null; then
  rm -f /tmp/.i915-perf-record
  good icl both.csv -- sh -c "timeout -s INT 2 i915-perf-recorder -m RenderBasic -p 0.001 -o $work/record; [ -s $work/record ]"
  [ "$(wc -l <"$work/both.csv")" -gt 1 ] || bad "icl: no samples beside the stream"
fi
[ "$failed" -eq 0 ] && echo "counters: ok"
exit "$failed"
