# shellcheck shell=bash
# Common parts of fuzz.sh and campaign.sh: building targets, options, seeds, replaying, running. Sourced from the root.
fuzz_folder=build/asan/fuzz
fuzz_bin=build/asan/bin

# Prints targets: those named, or all that tests/fuzz declares.
fuzz_targets() {
  if [ $# -gt 0 ]; then
    printf 'fuzz_%s\n' "${@#fuzz_}"
  else
    sed -n 's/^halogen_fuzz(\([a-z_]*\) .*/fuzz_\1/p' tests/fuzz/CMakeLists.txt
  fi
}

# Builds targets and dictionaries.
fuzz_build() {
  scripts/build.sh asan "$@"
  mkdir -p "$fuzz_folder/findings"
  python3 tools/specgen/specgen.py dictionary --spec spec --out "$fuzz_folder/dictionaries"
}

# Writes seeds once; a build folder keeps them.
fuzz_seeds() {
  [ -d "$fuzz_folder/seeds" ] || python3 tests/fuzz/seeds.py "$fuzz_folder/seeds"
}

# Sets `options` to those of a target.
fuzz_options() {
  local name=$1 value
  options=(-len_control=0 "-timeout=${HALOGEN_FUZZ_TIMEOUT:-20}" -rss_limit_mb=4096 -report_slow_units=1000 -verbosity=0 -print_final_stats=1
    "-artifact_prefix=$fuzz_folder/findings/${name}-")
  value=$(sed -n 's/^max_len = //p' "$fuzz_bin/$name.options")
  [ -z "$value" ] || options+=("-max_len=$value")
  value=$(sed -n 's/^dict = //p' "$fuzz_bin/$name.options")
  [ -z "$value" ] || options+=("-dict=$fuzz_folder/dictionaries/$value")
}

# Executes every committed input of a target once.
fuzz_replay() {
  local name=$1
  [ -d "tests/fuzz/corpus/$name" ] || return 0
  "$fuzz_bin/$name" -timeout=60 -rss_limit_mb=4096 -verbosity=0 "tests/fuzz/corpus/$name"/* >"$fuzz_folder/$name.log" 2>&1
}

# Runs a target for a time with its corpus, committed inputs and seeds. Further arguments are libFuzzer's.
fuzz_run() {
  local name=$1 seconds=$2 corpora=("$fuzz_folder/corpus/$1") folder options
  shift 2
  mkdir -p "${corpora[0]}"
  for folder in "tests/fuzz/corpus/$name" "$fuzz_folder/seeds/$name"; do
    [ ! -d "$folder" ] || corpora+=("$folder")
  done
  fuzz_options "$name"
  "$fuzz_bin/$name" "${options[@]}" -max_total_time="$seconds" "$@" "${corpora[@]}" >"$fuzz_folder/$name.log" 2>&1
}
