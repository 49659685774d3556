#!/usr/bin/env bash
# Checks that a long draw blocks neither the call that submits it nor calls on other files.
# usage: patience.sh [device...]   (needs build/bin/halogen, or the tool that HALOGEN names)
devices="g45 snb skl tgl"
. "$(dirname "$0")/door.sh"
tests/programs/build.sh "$work" gl_patience
failed=0
for device in $devices; do
  if timeout 300 "$halogen" run --device "$device" -- "$work/gl_patience" >"$work/out" 2>"$work/err"; then
    echo "patience: $device: $(cat "$work/out")"
  else
    echo "patience: $device: a call was blocked: $(cat "$work/out" "$work/err")" >&2
    failed=1
  fi
done
exit "$failed"
