#!/bin/bash
# Mode setting on card0: a program shows pictures, and every frame that `halogen run --frames` writes is compared with
# the formula that they are drawn by. Then modetest, where it is installed.
#   tests/doors/kms.sh [device ...]
set -eu
cd "$(dirname "$0")/../.."
halogen=${HALOGEN:-build/bin/halogen}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cc -O1 -Wall -Wextra -I/usr/include/libdrm -o "$work/kms_screen" tests/programs/kms_screen.c -ldrm
cat > "$work/compare.py" <<'P'
import struct, sys, zlib

def pixels(name):
    data = open(name, 'rb').read()
    at, packed = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height, bits, color = struct.unpack('>IIBB', body[:10])
        if kind == b'IDAT':
            packed += body
        at += size + 12
    assert bits == 8 and color in (2, 6)
    step = 3 if color == 2 else 4
    raw, rows, above = zlib.decompress(packed), [], bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for i in range(len(line)):
            a = line[i - step] if i >= step else 0
            b = above[i]
            c = above[i - step] if i >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append(line)
        above = line
    return width, height, step, rows

for name, number in zip(sys.argv[2:], sys.argv[1].split()):
    width, height, step, rows = pixels(name)
    assert (width, height) == (640, 480), (name, width, height)
    for y in range(height):
        for x in range(width):
            want = (x * 0x010305 + y * 0x071109 + int(number) * 0x357913) & 0xffffff
            got = int.from_bytes(rows[y][x * step:x * step + 3], 'big')
            assert got == want, (name, x, y, hex(got), hex(want))
P
failed=0
for device in ${*:-i965 g45 snb chv icl dg1}; do
  mkdir "$work/$device"
  numbers=$("$halogen" run --device "$device" --frames "$work/$device" -- "$work/kms_screen" | tr '\n' ' ') || failed=1
  frames=("$work/$device"/frame-*.png)
  if [ "${#frames[@]}" = "$(wc -w <<< "$numbers")" ] && python3 "$work/compare.py" "$numbers" "${frames[@]}"; then
    echo "$device: ${#frames[@]} frames are right"
  else
    echo "$device: frames are wrong"
    failed=1
  fi
  if command -v modetest > "$work/which"; then
    "$halogen" run --device "$device" -- modetest -M i915 -c > "$work/modetest" 2>&1 &&
      grep -q 1024x768 "$work/modetest" || { echo "$device: modetest fails"; failed=1; }
  fi
done
exit $failed
