#!/usr/bin/env bash
# A long draw of unmodified Mesa on `halogen run` neither holds the call that submits it nor calls of other files.
# usage: patience.sh [device...]   (from the build: build/bin/halogen must exist; HALOGEN names another)
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=${HALOGEN:-$PWD/build/bin/halogen}
[ -x "$halogen" ] || { echo "patience: $halogen is not there: scripts/build.sh" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work HOME=$work MESA_SHADER_CACHE_DISABLE=true
devices="g45 snb skl tgl"
[ $# -eq 0 ] || devices="$*"
cc -O1 -o "$work/gl_patience" tests/programs/gl_patience.c -lEGL -lGLESv2 -lpthread
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
