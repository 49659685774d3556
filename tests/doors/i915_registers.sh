#!/usr/bin/env bash
# A run of i915 in a virtual machine touches no register beside tests/golden/i915-registers that nothing answers, and the
# model answers none of the list worse than listed. Other new ones are named.
# usage: i915_registers.sh DEVICE FILE   (FILE: what halogen vm --registers wrote)
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: i915_registers.sh DEVICE FILE" >&2; exit 2; }
exec python3 "$(dirname "$0")/../../scripts/i915-registers.py" check "$1" "$2"
