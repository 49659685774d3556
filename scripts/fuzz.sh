#!/usr/bin/env bash
# Runs every libFuzzer target for N seconds (default 60). Findings land in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
scripts/build.sh fuzz
mkdir -p build/fuzz/findings
for target in build/fuzz/bin/fuzz_*; do
  name=$(basename "$target")
  mkdir -p "build/fuzz/corpus/$name"
  seeds=()
  [ -d "tests/fuzz/corpus/$name" ] && seeds=("tests/fuzz/corpus/$name")
  echo "$name: $seconds s"
  "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=0 \
    -artifact_prefix=build/fuzz/findings/ "build/fuzz/corpus/$name" "${seeds[@]}" >"build/fuzz/$name.log" 2>&1 ||
    { tail -n 40 "build/fuzz/$name.log"; exit 1; }
done
