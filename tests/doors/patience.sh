#!/usr/bin/env bash
# A long draw of unmodified Mesa on `halogen run` neither holds the call that submits it nor calls of other files.
# usage: patience.sh [device...]   (from the build: build/bin/halogen must exist; HALOGEN names another)
devices="g45 snb skl tgl"
. "$(dirname "$0")/door.sh"
tests/programs/build.sh "$work" gl_patience
failed=0
for device in $devices; do
  if timeout 300 "$halogen" run --device "$device" -- "$work/gl_patience" >"$work/out" 2>"$work/err"; then
    echo "patience: $device: $(cat "$work/out")"
  else
    echo "patience: $device: somebody was held: $(cat "$work/out" "$work/err")" >&2
    failed=1
  fi
done
exit "$failed"
