#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy, prints the number of files and findings, and fails if there is a finding.
# usage: tidy.sh [REVISION]        sources that changed since REVISION, also by a header of the same name. Default: where the
#                                  branch left main; on main itself the last commit
#        tidy.sh --all [FOLDER...] all sources of src and frontends, or of these folders
# HALOGEN_JOBS is the number of processes (default: one for each CPU). The findings stay in build/dev/tidy.log.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --all ]; then
  shift
  [ $# -gt 0 ] || set -- src frontends
  mapfile -t files < <(git ls-files -- "${@/%//*.cpp}")
else
  base=${1:-}
  for main in origin/main main; do
    [ -n "$base" ] || base=$(git merge-base HEAD $main 2>/dev/null) || true
  done
  [ -n "${1:-}" ] || [ "$base" != "$(git rev-parse HEAD)" ] || base=HEAD~1
  git rev-parse -q --verify "$base" >/dev/null || { echo "tidy: revision $base does not exist; nothing to compare with"; exit 0; }
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- src frontends | sed -n 's/\.h$/.cpp/; /\.cpp$/p' |
    sort -u | while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing changed"; exit 0; }
# The dev preset compiles with clang and without precompiled headers. Apart from the sources only generated headers are read.
scripts/build.sh dev generated_sources >/dev/null
log=build/dev/tidy.log
status=0
printf '%s\n' "${files[@]}" | xargs -P"${HALOGEN_JOBS:-$(nproc)}" -n1 clang-tidy --quiet -p build/dev >"$log" 2>"$log.errors" || status=1
findings=$({ grep -E '^/.*(warning|error): ' "$log" || true; } | sort -u | wc -l)
cat "$log"
[ "$status" -eq 0 ] || [ "$findings" -gt 0 ] || cat "$log.errors" >&2
echo "tidy: ${#files[@]} files, $findings findings"
[ "$status" -eq 0 ] && [ "$findings" -eq 0 ]
