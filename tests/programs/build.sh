#!/usr/bin/env bash
# Builds programs of this folder from NAME.c or from all files of the folder NAME; gl/ holds what GL programs share.
# usage: build.sh FOLDER NAME...   writes FOLDER/NAME; a name may be a path, whose last part is then the program's name
set -euo pipefail
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
shift
for path in "$@"; do
  name=$(basename "$path")
  if [ -d "$path" ]; then sources=("$path"/*.c); else sources=("$path.c"); fi
  case $name in
    gl_* | gbm_flips) sources+=(gl/*.c) ;;
  esac
  case $name in
    gl_pixels | gl_triangle | gbm_*) gl=GLESv2 ;;
    *) gl=OpenGL ;;
  esac
  cc -O1 -Wall -Wextra -I/usr/include/libdrm -I. -o "$out/$name" "${sources[@]}" -Wl,--as-needed -lEGL "-l$gl" -lgbm -ldrm \
    -lm -lpthread
done
