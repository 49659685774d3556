#!/usr/bin/env bash
# Runs all fuzz targets in turn for a share of processor hours, two at a time at the lowest priority, and prints a table.
# A campaign continues where the last one ended: corpora and the tally are in build/asan/fuzz. A target that finds something
# is stopped and named; the others go on. Delete its file in build/asan/fuzz/findings after the cause is fixed.
# usage: campaign.sh HOURS [TARGET...]   processor hours of this run, all targets together (fractions allowed)
#        campaign.sh --table             prints the table of the campaign so far
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fuzz_common.sh
. scripts/fuzz_common.sh
tally=$fuzz_folder/tally.tsv # target, seconds of processor time, executions, edges covered, edges of the target; or "start"
slice=${HALOGEN_FUZZ_SLICE:-300} # seconds of one turn of a target
export HALOGEN_FUZZ_TIMEOUT=${HALOGEN_FUZZ_TIMEOUT:-120} # wall-clock seconds of an input; the lowest priority waits long

found() { compgen -G "$fuzz_folder/findings/$1-*" >/dev/null; }

# Prints the edges that a run covered and the edges of the target.
coverage_of() { sed -n 's/.*cov: \([0-9]*\) .*/\1/p;s/.*(\([0-9]*\) inline 8-bit counters.*/total \1/p' "$1" | awk '/^total/ { all = $2; next } { last = $1 } END { print last + 0, all + 0 }'; }

# Notes the coverage of committed inputs and seeds, once.
note_start() {
  local name=$1 options folder corpora=()
  ! grep -q "^$name	start	" "$tally" || return 0
  for folder in "tests/fuzz/corpus/$name" "$fuzz_folder/seeds/$name"; do [ ! -d "$folder" ] || corpora+=("$folder"); done
  fuzz_options "$name"
  nice -n 19 "$fuzz_bin/$name" "${options[@]}" -verbosity=1 -runs=0 "${corpora[@]}" >"$fuzz_folder/$name.log" 2>&1 || true
  read -r edges all < <(coverage_of "$fuzz_folder/$name.log")
  printf '%s\tstart\t0\t%s\t%s\n' "$name" "$edges" "$all" >>"$tally"
}

# Runs one turn of a target.
turn() {
  local name=$1 seconds executions
  note_start "$name"
  TIMEFORMAT='%U %S'
  seconds=$({ time nice -n 19 bash -c '. scripts/fuzz_common.sh; fuzz_run "$@"' fuzz "$name" "$slice" -verbosity=1 >/dev/null 2>&1 || true; } 2>&1 | awk '{ print $1 + $2 }')
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$fuzz_folder/$name.log")
  read -r edges all < <(coverage_of "$fuzz_folder/$name.log")
  printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$seconds" "${executions:-0}" "$edges" "$all" >>"$tally"
  ! found "$name" || echo "$name: found something; see $fuzz_folder/findings and $fuzz_folder/$name.log"
}

table() {
  echo "| target | processor hours | executions | edges at the start | edges now | of |"
  echo "| --- | --- | --- | --- | --- | --- |"
  awk -F'\t' '$2 == "start" { start[$1] = $4; all[$1] = $5; next }
    { hours[$1] += $2 / 3600; runs[$1] += $3; if ($4 > now[$1]) now[$1] = $4; all[$1] = $5; sum += $2 / 3600; total += $3 }
    END { for (t in hours) printf "| %s | %.2f | %d | %d | %d | %d |\n", t, hours[t], runs[t], start[t], now[t], all[t] | "sort"
          close("sort"); printf "| all | %.2f | %d | | | |\n", sum, total }' "$tally"
  for file in "$fuzz_folder"/findings/*; do [ ! -f "$file" ] || echo "open finding: $file"; done
}

mkdir -p "$fuzz_folder/findings"
touch "$tally"
[ "${1:-}" != --table ] || { table; exit 0; }
[ $# -ge 1 ] || { sed -n '5,6s/^# //p' "$0" >&2; exit 2; }
hours=$1
shift
mapfile -t targets < <(fuzz_targets "$@")
[ -n "${HALOGEN_FUZZ_BUILT:-}" ] || fuzz_build "${targets[@]}"
fuzz_seeds

spent() { awk -F'\t' '$2 != "start" { sum += $2 } END { print sum + 0 }' "$tally"; }
end=$(awk -v now="$(spent)" -v hours="$hours" 'BEGIN { print now + hours * 3600 }')
# Takes the target with the least processor time that is not running and has found nothing, until the time is spent.
worker() {
  local name
  while awk -v now="$(spent)" -v end="$end" 'BEGIN { exit !(now < end) }'; do
    name=$(for each in "${targets[@]}"; do
      if found "$each" || [ -d "$fuzz_folder/running/$each" ] || [ ! -x "$fuzz_bin/$each" ]; then continue; fi
      awk -F'\t' -v t="$each" '$1 == t && $2 != "start" { sum += $2 } END { print sum + 0, t }' "$tally"
    done | sort -n | head -n 1 | cut -d' ' -f2)
    [ -n "$name" ] || return 0
    mkdir "$fuzz_folder/running/$name" 2>/dev/null || continue
    turn "$name"
    rmdir "$fuzz_folder/running/$name"
  done
}
rm -rf "$fuzz_folder/running"
mkdir -p "$fuzz_folder/running"
worker &
worker &
wait
table
