#!/usr/bin/env bash
# Runs libFuzzer targets for N seconds each (default 60): all, or those named (with or without fuzz_). Committed inputs are
# replayed first. Corpora grow in build/asan/fuzz/corpus; findings are written to build/asan/fuzz/findings.
# usage: fuzz.sh [SECONDS] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fuzz_common.sh
. scripts/fuzz_common.sh
seconds=${1:-60}
shift || true
mapfile -t targets < <(fuzz_targets "$@")
fuzz_build "${targets[@]}"
fuzz_seeds
fuzz() {
  local name=$1
  fuzz_replay "$name" || { tail -n 40 "build/asan/fuzz/$name.log"; return 255; }
  echo "$name: $seconds s"
  fuzz_run "$name" "$seconds" || { tail -n 40 "build/asan/fuzz/$name.log"; return 255; }
}
export -f fuzz
export seconds
printf '%s\0' "${targets[@]}" | xargs -0 -P2 -I{} bash -c '. scripts/fuzz_common.sh; fuzz {}'
