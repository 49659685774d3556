#!/usr/bin/env bash
# Performance counters through `halogen run`, with clients of Debian: metric sets are listed, loaded and purged; a recording of
# the set TestOa has the ratios that its custom events define; GL and Vulkan offer the extensions, and their queries end. On one
# device, monitors see the load of a program beside them, and GALLIUM_HUD dumps counters.
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

# GL draws with the render engine only, blits use the copy engine, and nothing works before and after. intel_gpu_top names the
# program, and gives it the time of the engine. The first values of intel_gpu_top -J are those since its start.
monitors() {
  run 40 sh -c "$work/gl_shows -t 6 >/dev/null & sleep 1; timeout -s INT 3 intel_gpu_top -J -s 500; wait" ||
    bad "$device: intel_gpu_top ends with an error"
  python3 - "$work/out" "$device" <<'PYTHON' || bad "$device: intel_gpu_top does not show the load of a GL program"
import json, re, sys
rows = json.loads("[" + open(sys.argv[1]).read().strip().rstrip(",") + "]")[1:]
engines = [{name: engine["busy"] for name, engine in row["engines"].items()} for row in rows]
render = [row["Render/3D/0"] for row in engines]
others = [busy for row in engines for name, busy in row.items() if name != "Render/3D/0"]
clients = [client for row in rows for client in row["clients"].values() if client["name"] == "gl_shows"]
times = [float(client["engine-classes"]["Render/3D"]["busy"]) for client in clients if "engine-classes" in client]
print(f"perf: {sys.argv[2]}: render busy {render} %, by client {times} %")
good = len(rows) >= 3 and sum(render) > 0 and not any(others) and max(sum(row.values()) for row in engines) <= 100
good &= len(times) >= 2 and sum(times) > 0 and max(times) <= 100 and any(row["interrupts"]["count"] > 0 for row in rows)
sys.exit(not good)
PYTHON
}

# events COMMAND...: the values of the PMU's events during a command, in $work/events.
events() {
  run 40 perf stat -x, -o "$work/events" -e i915/rcs0-busy/,i915/bcs0-busy/,i915/software-gt-awake-time/,i915/interrupts/ -- "$@" ||
    bad "$device: perf stat ends with an error"
}
# value EVENT
value() { awk -F, -v event="i915/$1/" '$3 == event { print $1 }' "$work/events"; }

counted() {
  local before
  events sleep 0.3
  [ "$(value rcs0-busy) $(value bcs0-busy) $(value interrupts)" = "0 0 0" ] || bad "$device: an idle device is busy: $(cat "$work/events")"
  before=$(date +%s%N)
  events "$work/drm_blit"
  echo "perf: $device: blits keep the copy engine busy for $(value bcs0-busy) ns"
  [ "$(value bcs0-busy)" -gt 0 ] && [ "$(value rcs0-busy)" -eq 0 ] && [ "$(value interrupts)" -gt 0 ] &&
    [ "$(value bcs0-busy)" -le "$(value software-gt-awake-time)" ] && [ "$(value software-gt-awake-time)" -le $(($(date +%s%N) - before)) ] ||
    bad "$device: the events of blits are wrong: $(cat "$work/events")"
}

# Each frame of gbm_flips covers 640 x 480 pixels. Mesa mixes up the values of two groups of counters in one run.
hud() {
  local name
  for name in "N fragment shader invocations" "Rasterized Pixels"; do
    mkdir -p "$work/hud"
    HALOGEN_CLOCK=device GALLIUM_HUD_PERIOD=0.0 GALLIUM_HUD_VISIBLE=false GALLIUM_HUD_DUMP_DIR=$work/hud GALLIUM_HUD=$name \
      run 40 "$work/gbm_flips" || bad "$device: gbm_flips ends with an error"
    awk '$1 < 640 * 480 { few = 1 } END { exit few || NR < 2 }' "$work/hud/${name// /_}" ||
      bad "$device: the values of \"$name\" that GALLIUM_HUD wrote are wrong: $(cat "$work"/hud/*)"
  done
}

load() {
  tests/programs/build.sh "$work" gl_shows drm_blit gbm_flips
  has intel_gpu_top && monitors
  has perf && counted
  hud
}

for device in $devices; do
  start=$SECONDS
  [ "$device" != icl ] || load
  has i915-perf-recorder && sets && recording
  vulkan
  gl
  echo "perf: $device: $((SECONDS - start)) s"
done
[ "$failed" -eq 0 ] && echo "perf: ok"
exit "$failed"
