#!/usr/bin/env bash
# Boots Debian's kernel with its own i915, unmodified, in QEMU, on five chips. The guest (frontends/vm/guest) checks stores by
# every engine, fills and copies, two contexts in turn, waits that interrupts end, and hangs that i915 must end by
# resets. Before that, from Gen8 on, an unprivileged user of the guest attacks its kernel and another process through the
# render node, and must fail (user_test.c), and a stream of performance counters is opened, read and closed (perf_test.c). The guest's kernel log must be free of warnings and worse, except those that
# kernel-log.txt allows. Two machines run at a time, because each keeps one CPU busy.
# usage: vm.sh [device...]   (needs build/bin/halogen, gem_test, user_test and perf_test)
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=$PWD/build/bin/halogen
for file in "$halogen" build/bin/gem_test build/bin/user_test build/bin/perf_test; do
  [ -x "$file" ] || { echo "vm: $file does not exist; run scripts/build.sh" >&2; exit 2; }
done
command -v qemu-system-x86_64 >/dev/null || { echo "vm: the package qemu-system-x86 is missing" >&2; exit 2; }
scripts/vm-image.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

devices=("$@")
[ ${#devices[@]} -gt 0 ] || devices=(dg1 snb g45 chv icl)

# The number of checks that each guest must print: a missing step is a failure too.
declare -A steps=([g45]=25 [snb]=39 [chv]=45 [icl]=53 [dg1]=67)
# The number of checks of the unprivileged user.
declare -A attacks=([g45]=0 [snb]=0 [chv]=14 [icl]=14 [dg1]=14)
# The number of checks of performance counters, on the same chips.
counters=12
# Resets that i915 must log: Gen4 and Gen6 reset the whole chip, later generations the engine.
# On Cherryview user_test hangs one batch more: Linux maps the scratch page read-only there (not on Gen11 and Gen12), so a
# store to an address of another process faults.
declare -A resets=([g45]='chip' [snb]='chip chip' [chv]='rcs0 rcs0 bcs0' [icl]='rcs0 bcs0' [dg1]='rcs0 bcs0')

# Prints the engines of a chip by Linux's names: it numbers the existing engines of a class, and has no name for the compute
# and position streamers.
engines_of() {
  "$halogen" devices --json | python3 -c '
import collections, json, sys
names = {"render": "rcs", "blit": "bcs", "video": "vcs", "vebox": "vecs"}
device = next(d for d in json.load(sys.stdin) if d["name"] == sys.argv[1])
classes = collections.Counter(e["class"] for e in device["engines"] if e["class"] in names)
print(*sorted(f"{names[c]}{i}" for c, count in classes.items() for i in range(count)))' "$1"
}

one() {
  local device=$1 start=$SECONDS status=0 problems=() log=$work/$1.log err=$work/$1.err
  local added=(--add build/bin/gem_test) user=true counted=0
  if [ "${attacks[$device]:-0}" -ne 0 ]; then
    added+=(--add build/bin/user_test --add build/bin/perf_test)
    user='user_test && perf_test'
    counted=$counters
  fi
  # The user goes first: gem_test shortens the time after which i915 resets a long batch.
  timeout 600 "$halogen" vm --device "$device" --registers "$work/$device.registers" "${added[@]}" -- \
    sh -c "$user"'; attacked=$?; gem_test; status=$?; [ $attacked -eq 0 ] || status=1; dmesg -r | sed "s/^/kernel: /"; exit $status' >"$log" 2>"$err" || status=$?
  tr -d '\r' <"$log" >"$log.text"
  log=$log.text
  local passed attempts complaints wanted listed reset bind
  passed=$(grep -ac '^ok: ' "$log" || true)
  bind=$(grep -a '^bind: ' "$log" || echo 'bind: never')
  echo "vm: $device: exit $status after $((SECONDS - start)) s, $passed checks passed, $bind; $(tail -n 1 "$err")"
  [ "$status" -eq 0 ] || problems+=("exit $status")
  attempts=$(grep -ac '^user ok: ' "$log" || true)
  [ "$attempts" -eq "${attacks[$device]:-0}" ] || problems+=("$attempts attacks failed as they must, not ${attacks[$device]:-known}")
  attempts=$(grep -ac '^perf ok: ' "$log" || true)
  [ "$attempts" -eq "$counted" ] || problems+=("$attempts checks of performance counters passed, not $counted")
  [ "$passed" -eq "${steps[$device]:-0}" ] || problems+=("$passed checks passed, not ${steps[$device]:-known}")
  grep -aqx "done: $passed checks, 0 failed" "$log" || problems+=("$(grep -a '^done: ' "$log" || echo 'the guest program did not end')")
  wanted="engines: $(engines_of "$device")"
  listed=$(grep -a '^engines: ' "$log" || true)
  [ "$listed" = "$wanted" ] || problems+=("i915 lists \"$listed\", not \"$wanted\"")
  # The guest's kernel log names i915, holds no complaint and reports every reset.
  grep -aq '^kernel: .*Initialized i915' "$log" || problems+=("the guest's kernel log does not name i915")
  complaints=$(tests/doors/kernel_log.py "$device" "$log") || problems+=("the guest's kernel complains: $complaints")
  grep -aq '^kernel: .*GPU HANG' "$log" || problems+=("the guest's kernel log names no hang")
  reset=$(grep -aoE '^kernel: .*Resetting [a-z0-9]+ for' "$log" | sed 's/.*Resetting \(.*\) for/\1/' | paste -sd' ' || true)
  [ "$reset" = "${resets[$device]:-}" ] || problems+=("i915 reset \"$reset\", not \"${resets[$device]:-}\"")
  # QEMU must print nothing.
  complaints=$(grep -av '^halogen vm: ' "$err" || true)
  [ -z "$complaints" ] || problems+=("$complaints")
  tests/doors/i915_registers.sh "$device" "$work/$device.registers" || problems+=("registers beside the list")
  if [ ${#problems[@]} -ne 0 ]; then
    echo "vm: $device FAILED" >&2
    printf 'vm: %s\n' "${problems[@]}" >&2
    grep -aE '^((user|perf) )?FAILED' "$log" >&2 || true
    tail -n 40 "$log" "$err" >&2
    return 1
  fi
  touch "$work/$device.good"
}

# A recorded run must replay to the same memory and execute the same number of commands, all of them known. During recording
# a second device executes the same; after every write that starts work its memory must equal the guest's.
recorded() {
  local device=$1 start=$SECONDS status=0 words served
  timeout 300 "$halogen" vm --device "$device" --trace "$work/$device.aub" --add build/bin/gem_test -- gem_test no-hang \
    >"$work/$device-trace.log" 2>"$work/$device-trace.err" || status=$?
  words=$(grep -a 'recorded' "$work/$device-trace.err" || true)
  served=$(grep -o 'memory=0x[0-9a-f]*' <<<"$words" || echo none)
  "$halogen" replay "$work/$device.aub" >"$work/$device-trace.replay" 2>>"$work/$device-trace.err" || status=1
  "$halogen" decode --summary "$work/$device.aub" >"$work/$device-trace.decode" 2>>"$work/$device-trace.err" ||
    true # fails for batches that engines wrote: a trace does not hold them
  echo "vm: $device: trace: exit $status after $((SECONDS - start)) s;$(cut -d' ' -f2- "$work/$device-trace.decode" | sed 's/^/ /'); $served"
  if [ "$status" -ne 0 ] || ! grep -q "$served" "$work/$device-trace.replay" ||
    ! [[ $words =~ recorded\ ([0-9]+)\ of\ ([0-9]+)\  && ${BASH_REMATCH[1]} -eq ${BASH_REMATCH[2]} && ${BASH_REMATCH[1]} -gt 500 ]] ||
    ! [[ $words =~ \ compared=([0-9]+)\ unjudged=0\ different=0$ && ${BASH_REMATCH[1]} -gt 50 ]] ||
    ! grep -q ' unknown=0 leftover_dwords=0 unknown_records=0' "$work/$device-trace.decode"; then
    echo "vm: $device: trace FAILED" >&2
    tail -n 20 "$work/$device-trace".* >&2
    return 1
  fi
  touch "$work/$device-trace.good"
}

room() { while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done; }
for device in "${devices[@]}"; do
  room
  one "$device" &
done
for device in "${devices[@]}"; do
  room
  recorded "$device" &
done
wait || true
# A run without an end mark has failed.
for device in "${devices[@]}"; do
  [ -e "$work/$device.good" ] && [ -e "$work/$device-trace.good" ] || { echo "vm: $device did not pass" >&2; exit 1; }
done
