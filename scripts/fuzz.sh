#!/usr/bin/env bash
# Runs every libFuzzer target for N seconds (default 60). Findings are written to build/asan/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
scripts/build.sh asan
mkdir -p build/asan/fuzz/findings
fuzz() {
  local name=$1 seeds=()
  mkdir -p "build/asan/fuzz/corpus/$name"
  [ -d "tests/fuzz/corpus/$name" ] && seeds=("tests/fuzz/corpus/$name")
  echo "$name: $seconds s"
  "build/asan/bin/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=0 \
    -artifact_prefix=build/asan/fuzz/findings/ "build/asan/fuzz/corpus/$name" "${seeds[@]}" >"build/asan/fuzz/$name.log" 2>&1 ||
    { tail -n 40 "build/asan/fuzz/$name.log"; return 255; }
}
export -f fuzz
export seconds
find build/asan/bin -name 'fuzz_*' -printf '%f\0' | sort -z | xargs -0 -P2 -I{} bash -c 'fuzz {}'
