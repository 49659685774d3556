#!/usr/bin/env bash
# Pictures of GL programs by unmodified Mesa on `halogen run`, pixel by pixel beside llvmpipe's.
# usage: pictures.sh [device...]   (from the build: build/bin/halogen must exist; HALOGEN names another)
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=${HALOGEN:-$PWD/build/bin/halogen}
[ -x "$halogen" ] || { echo "pictures: $halogen is not there: scripts/build.sh" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work HOME=$work MESA_SHADER_CACHE_DISABLE=true
devices="i965 gm965 g45 gm45 snb chv bdw skl icl tgl dg1"
[ $# -eq 0 ] || devices="$*"

cc -O1 -o "$work/gl_scenes" tests/programs/gl_scenes.c -lEGL -lGLESv2
mkdir "$work/llvmpipe"
LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe "$work/gl_scenes" -o "$work/llvmpipe" >"$work/out"
scenes=$(cut -d' ' -f1 "$work/out")
[ "$(wc -w <<<"$scenes")" -eq 6 ] || { echo "pictures: llvmpipe drew only: $scenes" >&2; exit 1; }

failed=0
for device in $devices; do
  mkdir "$work/$device"
  if ! timeout 300 "$halogen" run --device "$device" -- "$work/gl_scenes" -o "$work/$device" >"$work/out" 2>"$work/err"; then
    echo "pictures: $device: the program failed" >&2
    sed 's/^/    /' "$work/err" >&2
    failed=1
    continue
  fi
  for scene in $scenes; do
    if ! cmp -s "$work/llvmpipe/$scene.rgba" "$work/$device/$scene.rgba"; then
      echo "pictures: $device: $scene is not llvmpipe's: $(cmp -l "$work/llvmpipe/$scene.rgba" "$work/$device/$scene.rgba" | wc -l) bytes" >&2
      failed=1
    fi
  done
  [ "$failed" -ne 0 ] || echo "pictures: $device: all scenes are llvmpipe's"
done
exit "$failed"
