#!/usr/bin/env bash
# clang-tidy over our own sources: those changed since the given revision, or all with --all. It reads them as the build
# with sanitizers compiles them: precompiled headers of another compiler would mean nothing to it.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --all ]; then
  mapfile -t files < <(git ls-files 'src/*.cpp' 'frontends/*.cpp')
else
  base=${1:-HEAD~1}
  git rev-parse -q --verify "$base" >/dev/null || { echo "tidy: no $base to compare with"; exit 0; }
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'frontends/*.cpp')
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing changed"; exit 0; }
scripts/build.sh asan halogen halogen-drm >/dev/null
printf '%s\n' "${files[@]}" | xargs -P2 -n4 clang-tidy --quiet -p build/asan
echo "tidy: ${#files[@]} files"
