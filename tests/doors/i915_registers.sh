#!/usr/bin/env bash
# A run of i915 in a virtual machine touches no register that is not in tests/golden/i915-registers, in no other way, and
# the model answers none of them worse than listed.
# usage: i915_registers.sh DEVICE FILE   (FILE: what halogen vm --registers wrote)
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: i915_registers.sh DEVICE FILE" >&2; exit 2; }
exec python3 "$(dirname "$0")/../../scripts/i915-registers.py" check "$1" "$2"
