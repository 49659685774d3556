#!/usr/bin/env bash
# Compares pictures of GL programs, drawn by unmodified Mesa under `halogen run`, with llvmpipe's, pixel by pixel. Reports must
# name nothing unsupported.
# usage: pictures.sh [device...]   (needs build/bin/halogen, or the tool that HALOGEN names)
devices="i965 gm965 g45 gm45 snb chv bdw skl icl tgl dg1"
. "$(dirname "$0")/door.sh"

# Programs and their number of scenes; the smallest number is for chips without tessellation.
programs="gl_scenes:7:7 gl_geometry:16:60"
failed=0
for row in $programs; do
  IFS=: read -r program least most <<<"$row"
  tests/programs/build.sh "$work" "$program"
  mkdir -p "$work/llvmpipe"
  LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe "$work/$program" -o "$work/llvmpipe" >"$work/out"
  [ "$(wc -l <"$work/out")" -eq "$most" ] || { echo "pictures: llvmpipe drew only: $(cat "$work/out")" >&2; exit 1; }
  for device in $devices; do
    case $program-$device in gl_geometry-i965 | gl_geometry-gm965 | gl_geometry-g45 | gl_geometry-gm45) continue ;; esac
    mkdir -p "$work/$device"
    if ! timeout 600 "$halogen" run --device "$device" --report "$work/report.json" -- "$work/$program" -o "$work/$device" >"$work/out" 2>"$work/err"; then
      echo "pictures: $device: $program failed" >&2
      sed 's/^/    /' "$work/err" >&2
      failed=1
      continue
    fi
    wanted=$most
    [ "$device" != snb ] || wanted=$least
    wrong=0
    if ! tests/doors/reports.py "$work/report.json" >"$work/unsupported"; then
      sed "s/^/pictures: $device: $program: unsupported: /" "$work/unsupported" >&2
      wrong=1
    fi
    if [ "$(wc -l <"$work/out")" -ne "$wanted" ]; then
      echo "pictures: $device: $program drew $(wc -l <"$work/out") scenes, not $wanted" >&2
      wrong=1
    fi
    for scene in $(cat "$work/out"); do
      # On Gen6 a geometry shader gets the second triangles of a strip with their first vertex first (docs/drawing.md), and
      # Mesa's kernel streams strips as if they were lists.
      like=$scene
      case $device-$scene in snb-gs_strip) like=gs_leading ;; snb-xfb_geometry) continue ;; esac
      if ! cmp -s "$work/llvmpipe/$like.rgba" "$work/$device/$scene.rgba"; then
        echo "pictures: $device: $scene is not llvmpipe's: $(cmp -l "$work/llvmpipe/$like.rgba" "$work/$device/$scene.rgba" | wc -l) bytes" >&2
        wrong=1
      fi
    done
    [ "$wrong" -ne 0 ] || echo "pictures: $device: all scenes of $program are llvmpipe's"
    failed=$((failed | wrong))
  done
done
exit "$failed"
