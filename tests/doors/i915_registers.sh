#!/usr/bin/env bash
# Checks a run of i915 in a virtual machine: it touches no unclaimed register that tests/golden/i915-registers does not list,
# and no register has a worse class than listed. Other new registers are only named.
# usage: i915_registers.sh DEVICE FILE   (FILE: written by halogen vm --registers)
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: i915_registers.sh DEVICE FILE" >&2; exit 2; }
exec python3 "$(dirname "$0")/../../scripts/i915-registers.py" check "$1" "$2"
