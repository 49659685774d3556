#!/usr/bin/env bash
# Performance counters through `halogen run`, with clients of Debian: metric sets are listed, loaded and purged; a recording of
# the set TestOa has the ratios that its custom events define; GL and Vulkan offer the extensions, and their queries end.
# usage: perf.sh [device...]   (HALOGEN names the tool; programs that are not installed are skipped, with a line)
# By hand also: bdw chv dg1.
devices="skl icl tgl"
. "$(dirname "$0")/door.sh"
failed=0
bad() { echo "perf: $*" >&2; failed=1; }
has() { command -v "$1" >/dev/null || { echo "perf: $1 is not installed; skipped" >&2; return 1; }; }
piglit=/usr/lib/x86_64-linux-gnu/piglit/bin

# run LIMIT COMMAND...: output in $work/out.
run() {
  local limit=$1
  shift
  timeout "$limit" "$halogen" run --device "$device" -- "$@" >"$work/out" 2>&1
}

# All processes of one run see the same sets. The limits of /proc are those of Linux, and can be changed by root.
sets() {
  run 30 sh -c 'i915-perf-recorder -m TestOa -C >/dev/null && i915-perf-configs --list' || bad "$device: the sets cannot be listed"
  grep -q TestOa "$work/out" || bad "$device: TestOa is not in the list of sets"
  run 30 sh -c 'limits=/proc/sys/dev/i915 && cat $limits/perf_stream_paranoid $limits/oa_max_sample_rate &&
    echo 0 >$limits/perf_stream_paranoid && cat $limits/perf_stream_paranoid &&
    if (echo 2 >$limits/perf_stream_paranoid) 2>/dev/null; then exit 1; fi' || bad "$device: a limit cannot be changed"
  [ "$(tr '\n' ' ' <"$work/out")" = "1 100000 0 " ] || bad "$device: the limits are $(tr '\n' ' ' <"$work/out")"
}

# Counter3 counts every second clock, Counters 4 and 5 every third: within one of the number of clocks of each report.
recording() {
  run 40 sh -c "rm -f /tmp/.i915-perf-record; timeout -s INT 2 i915-perf-recorder -m TestOa -p 0.001 -o $work/record; [ -s $work/record ]" ||
    { bad "$device: nothing was recorded"; return; }
  run 40 i915-perf-reader -c all "$work/record" || { bad "$device: the recording cannot be read"; tail -n 3 "$work/out" >&2; return; }
  python3 - "$work/out" "$device" <<'PYTHON' || bad "$device: the ratios of TestOa are wrong"
import re, sys
text = open(sys.argv[1], errors="replace").read()
def values(name):
    return [float(each) for each in re.findall(r"^\s*" + name + r":\s*([0-9.]+)", text, re.M)]
clocks = values("GpuCoreClocks")
ratios = {"Counter0": 0, "Counter1": 1, "Counter2": 1, "Counter3": 1 / 2, "Counter4": 1 / 3, "Counter5": 1 / 3, "Counter6": 1 / 6,
          "Counter7": 2 / 3}
wrong = 0
for name, ratio in ratios.items():
    found = values(name)
    if len(found) != len(clocks) or not clocks:
        print(f"perf: {name}: {len(found)} values for {len(clocks)} intervals")
        wrong += 1
    wrong += sum(abs(value - clock * ratio) > 1.5 for value, clock in zip(found, clocks))
print(f"perf: {sys.argv[2]}: {len(clocks)} intervals, {wrong} wrong")
sys.exit(wrong != 0 or not any(clocks))
PYTHON
}

vulkan() {
  has vulkaninfo || return 0
  run 60 vulkaninfo || bad "$device: vulkaninfo fails"
  [ "$device" != chv ] || return 0 # hasvk needs pinned addresses for it, and does not pin them on Cherryview
  grep -q VK_KHR_performance_query "$work/out" || bad "$device: Vulkan does not offer VK_KHR_performance_query"
}

gl() {
  local test tests=(amd_performance_monitor_api intel_performance_query-issue_2235)
  # Until Gen11 Mesa 22.3 adds the clocks of all parts of a query, between context switches, and takes the time of the last part
  # alone (intel_perf_query_result_accumulate). Its frequency then exceeds every maximum in about half of the runs.
  case $device in tgl | dg1) tests+=(amd_performance_monitor_measure) ;; esac
  for test in "${tests[@]}"; do
    [ -x "$piglit/$test" ] || { echo "perf: piglit is not installed; skipped" >&2; return 0; }
    PIGLIT_PLATFORM=gbm EGL_PLATFORM=surfaceless run 60 "$piglit/$test" -auto -fbo || bad "$device: $test ends with an error"
    grep -q '"result": "pass"' "$work/out" || { bad "$device: $test does not pass"; tail -n 3 "$work/out" >&2; }
  done
}

for device in $devices; do
  start=$SECONDS
  has i915-perf-recorder && sets && recording
  vulkan
  gl
  echo "perf: $device: $((SECONDS - start)) s"
done
[ "$failed" -eq 0 ] && echo "perf: ok"
exit "$failed"
