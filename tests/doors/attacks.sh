#!/usr/bin/env bash
# Runs the hostile programs of tests/attacks under `halogen run`. Each prints what it tried; none may succeed.
# usage: attacks.sh [device...]   (needs build/bin/halogen, or the tool that HALOGEN names, and the attacks beside it)
devices="g45 icl dg1"
. "$(dirname "$0")/door.sh"
programs=$(dirname "$halogen")
failed=0
for device in $devices; do
  count=0
  for source in tests/attacks/*.c; do
    only=$(sed -n 's|^// devices: ||p' "$source")
    [ -z "$only" ] || [[ " $only " == *" $device "* ]] || continue
    name=$(basename "$source" .c)
    result=0
    timeout 300 "$halogen" run --device "$device" -- "$programs/attack_$name" >"$work/out" 2>"$work/err" || result=$?
    count=$((count + $(grep -c '^refused: ' "$work/out" || true)))
    if [ "$result" -ne 0 ] || grep -q '^SUCCEEDED: ' "$work/out" || ! grep -q '^refused: ' "$work/out"; then
      echo "attacks: $device: $name ends with $result" >&2
      sed 's/^/    /' "$work/out" "$work/err" >&2
      failed=1
    fi
  done
  echo "attacks: $device: $count refused"
done
exit "$failed"
