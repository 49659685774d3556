#!/usr/bin/env bash
# Runs all fuzz targets in turn for a share of CPU hours, two at a time at the lowest priority, and prints a table.
# The tally is tests/fuzz/campaign.tsv, which is committed, so that a campaign adds up over machines; corpora are in build/asan/fuzz.
# A target that finds something is stopped and named; the others continue. Delete its file in build/asan/fuzz/findings after the
# cause is fixed.
# usage: campaign.sh HOURS [TARGET...]   CPU hours of this run, all targets together (fractions allowed)
#        campaign.sh --table             prints the table of the campaign so far
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fuzz_common.sh
. scripts/fuzz_common.sh
tally=tests/fuzz/campaign.tsv # target, seconds of CPU time, executions, edges at the start, most edges covered, edges of the target
slice=${HALOGEN_FUZZ_SLICE:-300} # seconds of one turn of a target
export HALOGEN_FUZZ_TIMEOUT=${HALOGEN_FUZZ_TIMEOUT:-120} # wall-clock seconds of an input; the lowest priority waits long

found() { compgen -G "$fuzz_folder/findings/$1-*" >/dev/null; }

# Prints the edges that a run covered and the edges of the target.
coverage_of() { sed -n 's/.*cov: \([0-9]*\) .*/\1/p;s/.*(\([0-9]*\) inline 8-bit counters.*/total \1/p' "$1" | awk '/^total/ { all = $2; next } { last = $1 } END { print last + 0, all + 0 }'; }

# Adds a turn to the tally: target, seconds, executions, edges, edges of the target. The first turn sets the edges at the start.
# Edges of another build of the target are not comparable with the older ones and replace them.
add_to_tally() {
  (
    flock 9
    awk -F'\t' -v OFS='\t' -v t="$1" -v s="$2" -v n="$3" -v e="$4" -v all="$5" '
      $1 == t { seen = 1; $2 += s; $3 += n; if (s == 0) $4 = e; if (all != $6 || e > $5) $5 = e; $6 = all }
      { print }
      END { if (!seen) print t, s, n, e, e, all }' "$tally" | sort >"$fuzz_folder/tally.new"
    cp "$fuzz_folder/tally.new" "$tally"
  ) 9>"$fuzz_folder/tally.lock"
}

# Notes the coverage of committed inputs and seeds, once for each build folder.
note_start() {
  local name=$1 options folder corpora=()
  [ ! -e "$fuzz_folder/started/$name" ] || return 0
  for folder in "tests/fuzz/corpus/$name" "$fuzz_folder/seeds/$name"; do [ ! -d "$folder" ] || corpora+=("$folder"); done
  fuzz_options "$name"
  nice -n 19 "$fuzz_bin/$name" "${options[@]}" -verbosity=1 -runs=0 "${corpora[@]}" >"$fuzz_folder/$name.log" 2>&1 || true
  read -r edges all < <(coverage_of "$fuzz_folder/$name.log")
  add_to_tally "$name" 0 0 "$edges" "$all"
  touch "$fuzz_folder/started/$name"
}

# Runs one turn of a target.
turn() {
  local name=$1 seconds executions
  note_start "$name"
  TIMEFORMAT='%U %S'
  seconds=$({ time nice -n 19 bash -c '. scripts/fuzz_common.sh; fuzz_run "$@"' fuzz "$name" "$slice" -verbosity=1 >/dev/null 2>&1 || true; } 2>&1 | awk '{ print $1 + $2 }')
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$fuzz_folder/$name.log")
  read -r edges all < <(coverage_of "$fuzz_folder/$name.log")
  add_to_tally "$name" "$seconds" "${executions:-0}" "$edges" "$all"
  ! found "$name" || echo "$name: found something; see $fuzz_folder/findings and $fuzz_folder/$name.log"
}

table() {
  echo "| target | CPU hours | executions | edges at the start | edges now | of |"
  echo "| --- | --- | --- | --- | --- | --- |"
  awk -F'\t' '{ printf "| %s | %.2f | %d | %d | %d | %d |\n", $1, $2 / 3600, $3, $4, $5, $6; sum += $2 / 3600; total += $3 }
    END { printf "| all | %.2f | %d | | | |\n", sum, total }' "$tally"
  for file in "$fuzz_folder"/findings/*; do [ ! -f "$file" ] || echo "open finding: $file"; done
}

mkdir -p "$fuzz_folder/findings" "$fuzz_folder/started"
touch "$tally"
[ "${1:-}" != --table ] || { table; exit 0; }
[ $# -ge 1 ] || { sed -n '5,6s/^# //p' "$0" >&2; exit 2; }
hours=$1
shift
mapfile -t targets < <(fuzz_targets "$@")
[ -n "${HALOGEN_FUZZ_BUILT:-}" ] || fuzz_build "${targets[@]}"
fuzz_seeds

spent() { awk -F'\t' '{ sum += $2 } END { print sum + 0 }' "$tally"; }
end=$(awk -v now="$(spent)" -v hours="$hours" 'BEGIN { print now + hours * 3600 }')
# Takes the target with the least CPU time that is not running and has found nothing, until the time is spent.
worker() {
  local name
  while awk -v now="$(spent)" -v end="$end" 'BEGIN { exit !(now < end) }'; do
    name=$(for each in "${targets[@]}"; do
      if found "$each" || [ -d "$fuzz_folder/running/$each" ] || [ ! -x "$fuzz_bin/$each" ]; then continue; fi
      awk -F'\t' -v t="$each" '$1 == t { sum += $2 } END { print sum + 0, t }' "$tally"
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
