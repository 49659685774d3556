#!/usr/bin/env bash
# Processes of the tool end after SIGTERM and SIGINT: a server without clients, with a silent client and with one in the middle of
# a message; a replay that waits for its input. Programs under `halogen run` end after SIGTERM, and at their own exit, while a draw
# is at work that never ends, also if the run is recorded; so does a virtual machine in which one is at work. The time is printed; a case fails only if a watchdog must end the
# process.
#   HALOGEN=build/bin/halogen tests/doors/signals.sh
set -u
halogen=${HALOGEN:-build/bin/halogen}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
bad() { echo "signals: $*" >&2; failed=1; }

# ends WHAT SIGNAL PID: a watchdog kills a process that does not end; only then the case fails. SIGNAL "none": it ends by itself.
ends() {
  local what=$1 signal=$2 pid=$3
  [ "$signal" = none ] || kill -s "$signal" "$pid"
  sleep 20 &
  local dog=$! before ended
  before=$(date +%s%N)
  wait -n -p ended "$pid" "$dog"
  local status=$?
  [ "${ended:-}" = "$pid" ] || { kill -s KILL "$pid"; wait "$pid"; status=$?; }
  local took=$((($(date +%s%N) - before) / 1000000))
  # Only KILL is safe: a background shell that TERM meets before its exec runs the EXIT trap, which removes the folder.
  kill -s KILL "$dog" 2>/dev/null
  wait "$dog" 2>/dev/null
  [ "$status" != 137 ] || bad "$what does not end ($signal)"
  echo "signals: $what: $signal, status $status, ${took} ms"
}

serve() {
  : >"$work/out"
  "$halogen" serve --tbx 0 --device "$1" --report "$work/report" >"$work/out" 2>"$work/err" &
  server=$!
  until grep -q "listening on" "$work/out"; do sleep 0.05; done
  port=$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' "$work/out")
}

for signal in TERM INT; do
  serve icl
  ends "server without clients" $signal "$server"
  serve icl
  exec 7<>"/dev/tcp/127.0.0.1/$port"
  ends "server with a silent client" $signal "$server"
  exec 7>&-
  serve icl
  exec 7<>"/dev/tcp/127.0.0.1/$port"
  printf '\001\000' >&7  # two bytes of a header
  ends "server in the middle of a message" $signal "$server"
  exec 7>&-
  [ -s "$work/report" ] || bad "the server writes no report"
  mkfifo "$work/pipe.$signal"
  "$halogen" replay --device icl "$work/pipe.$signal" >"$work/out" 2>"$work/err" &
  replay=$!
  exec 8>"$work/pipe.$signal"
  ends "replay that waits for its input" $signal "$replay"
  exec 8>&-
done

# draws WORD [OPTION...]: starts a program whose draw does not end, and waits until it is at work.
draws() {
  local word=$1
  shift
  : >"$work/out"
  HALOGEN_HANG_MS=0 "$halogen" run --device "$device" "$@" -- "$work/gl_endless" "$word" >"$work/out" 2>"$work/err" &
  run=$!
  until grep -q "at work" "$work/out"; do
    kill -0 "$run" 2>/dev/null || { bad "the drawing program ends: $(cat "$work/err")"; return; }
    sleep 0.05
  done
}

export XDG_RUNTIME_DIR=$work HOME=$work MESA_SHADER_CACHE_DISABLE=true
"$here/../programs/build.sh" "$work" gl_endless
for device in g45 icl; do
  draws wait
  ends "program with a draw at work on $device" TERM "$run"
  draws exit
  ends "exit with a draw at work on $device" none "$run"
  draws wait --trace "$work/trace.aub"
  ends "recorded program with a draw at work on $device" TERM "$run"
  draws exit --trace "$work/trace.aub"
  ends "recorded exit with a draw at work on $device" none "$run"
  [ -s "$work/trace.aub" ] || bad "no trace is left on $device"
done

"$here/../../scripts/vm-image.sh"
guest=$here/../../frontends/vm/guest
cc -static -O1 -Wall -Wextra -I/usr/include/libdrm -I"$guest" -o "$work/vm_draws" "$here/../programs/vm_draws.c" "$guest/gem.c"
for signal in TERM INT; do
  : >"$work/out"
  "$halogen" vm --device icl --add "$work/vm_draws" -- vm_draws >"$work/out" 2>"$work/err" &
  vm=$!
  until grep -q "at work" "$work/out"; do
    kill -0 "$vm" 2>/dev/null || { bad "the machine ends: $(tail -n 1 "$work/err")"; break; }
    sleep 0.1
  done
  ends "machine with a draw at work" $signal "$vm"
done
exit $failed
