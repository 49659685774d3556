#!/usr/bin/env bash
# Runs clang-tidy over the sources that changed since the given revision (default HEAD~1), or over all with --all. It uses
# the compile commands of the asan preset, because it cannot read precompiled headers of another compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --all ]; then
  mapfile -t files < <(git ls-files 'src/*.cpp' 'frontends/*.cpp')
else
  base=${1:-HEAD~1}
  git rev-parse -q --verify "$base" >/dev/null || { echo "tidy: revision $base does not exist; nothing to compare with"; exit 0; }
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'frontends/*.cpp')
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing changed"; exit 0; }
scripts/build.sh asan halogen halogen-drm >/dev/null
printf '%s\n' "${files[@]}" | xargs -P2 -n4 clang-tidy --quiet -p build/asan
echo "tidy: ${#files[@]} files"
