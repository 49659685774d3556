#!/bin/bash
# Checks mode setting on card0. A program shows pictures, and every frame that `halogen run --frames` writes is compared with
# the formula that they are drawn by. A GL program on GBM (of the kind of kmscube) does the same. Then libdrm's modetest lists
# the resources, sets a mode by both interfaces (legacy and atomic) and flips pages; its colour bars must be in the frames.
#   tests/doors/kms.sh [device ...]
devices="i965 g45 snb chv icl dg1"
. "$(dirname "$0")/door.sh"
tests/programs/build.sh "$work" kms_screen gbm_flips
cat > "$work/compare.py" <<'P'
import struct, sys, zlib

def pixels(name, lines=None):
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
    for y in range(lines or height):
        start = y * (width * step + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for i in range(len(line)) if kind else ():
            a = line[i - step] if i >= step else 0
            b = above[i]
            c = above[i - step] if i >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append(line)
        above = line
    return width, height, step, rows

# SMPTE's bars, as modetest draws them at the top: seven bars of equal width.
if sys.argv[1] == 'bars':
    width, height, step, rows = pixels(sys.argv[2], 65)
    assert (width, height) == (640, 480), (width, height)
    for bar, want in enumerate(('c0c0c0', 'c0c000', '00c0c0', '00c000', 'c000c0', 'c00000', '0000c0')):
        for x in (bar * 640 // 7 + 2, (bar + 1) * 640 // 7 - 2):
            for y in (0, 31, 64):
                got = bytes(rows[y][x * step:x * step + 3]).hex()
                assert got == want, (x, y, got, want)
    sys.exit()
# gbm_flips: its first lines give the formula. Compares the first and the last of four frames.
if sys.argv[1] == 'drawn':
    for n, name in ((0, sys.argv[2]), (3, sys.argv[5])):
        width, height, step, rows = pixels(name)
        assert (width, height) == (640, 480), (name, width, height)
        for y in range(0, height, 3):
            for x in range(width):
                away = abs(x + 0.5 - 320) + abs(y + 0.5 - 240)
                want = (255,) * 3 if away < 100 else ((x + 40 * n) % 256, (y + 70 * n) % 256, 100 * n % 256)
                got = rows[y][x * step:x * step + 3]
                assert away == 100 or max(abs(a - b) for a, b in zip(got, want)) <= 1, (name, x, y, bytes(got), want)
    sys.exit()
for name, number in zip(sys.argv[2:], sys.argv[1].split()):
    width, height, step, rows = pixels(name)
    assert (width, height) == (640, 480), (name, width, height)
    for y in range(height):
        for x in range(width):
            want = (x * 0x010305 + y * 0x071109 + int(number) * 0x357913) & 0xffffff
            got = int.from_bytes(rows[y][x * step:x * step + 3], 'big')
            assert got == want, (name, x, y, hex(got), hex(want))
P
# modetest waits for a line of input; it gets one when the frames exist.
frames_of() { find "$1" -name 'frame-*.png' | wc -l; }
after_frames() {
  until [ "$(frames_of "$1")" -ge "$2" ] || [ -e "$1/over" ]; do sleep 0.05; done
  echo
}
# name, frames to wait for, words
shows() {
  local folder=$work/$device-$1 least=$2
  mkdir "$folder"
  shift 2
  after_frames "$folder" "$least" |
    { HALOGEN_CLOCK=device timeout 60 "$halogen" run --device "$device" --frames "$folder" -- modetest -M i915 "$@" >"$work/modetest" 2>&1 && touch "$folder/over"; } ||
    { touch "$folder/over" && return 1; }
  python3 "$work/compare.py" bars "$folder/frame-0001.png"
}
judge() {
  "$halogen" run --device "$device" -- modetest -M i915 >"$work/modetest" 2>&1 || return 1
  local part
  for part in Encoders: Connectors: CRTCs: Planes: 'Frame buffers:'; do grep -qx "$part" "$work/modetest" || return 1; done
  cp "$work/modetest" "$work/list"
  local connector
  connector=$(awk '$3 == "connected" { print $1; exit }' "$work/modetest")
  [ -n "$connector" ] || return 1
  shows mode 1 -s "$connector:640x480" || return 1
  shows flips 5 -v -s "$connector:640x480" || return 1
  [ "$device" != icl ] || rate "$connector" || return 1
  [ "$device" = i965 ] || [ "$device" = g45 ] || shows atomic 1 -a -s "$connector:640x480" -P "$(plane)@$(crtc):640x480"
}
# The first of each kind, as modetest lists them.
first_of() { awk -v part="$1" '$0 == part { on = 1; next } on && $1 ~ /^[0-9]+$/ { print $1; exit }' "$work/list"; }
crtc() { first_of CRTCs:; }
plane() { first_of Planes:; }
command -v modetest >"$work/which" || { echo "kms: the package libdrm-tests is missing: scripts/setup.sh" >&2; exit 2; }
# Flips come at the rate of the mode; 640x480 has 59.94 Hz. They may be late on a busy host, but never early.
rate() {
  local connector=$1 rates
  rates=$( (sleep 3.5 && echo) | timeout 60 "$halogen" run --device "$device" -- modetest -M i915 -v -s "$connector:640x480" 2>&1 |
    sed -n 's/^freq: \([0-9]*\).*/\1/p')
  [ -n "$rates" ] && [ "$(sort -n <<<"$rates" | tail -n 1)" -le 60 ]
}
failed=0
for device in $devices; do
  mkdir "$work/$device"
  numbers=$(HALOGEN_CLOCK=device "$halogen" run --device "$device" --frames "$work/$device" -- "$work/kms_screen" | tr '\n' ' ') || failed=1
  frames=("$work/$device"/frame-*.png)
  if [ "${#frames[@]}" = "$(wc -w <<< "$numbers")" ] && python3 "$work/compare.py" "$numbers" "${frames[@]}"; then
    echo "kms: $device: ${#frames[@]} frames are right"
  else
    echo "kms: $device: frames are wrong" >&2
    failed=1
  fi
  mkdir "$work/$device-gl"
  drawn=$(HALOGEN_CLOCK=device "$halogen" run --device "$device" --frames "$work/$device-gl" -- "$work/gbm_flips" | wc -l) || failed=1
  frames=("$work/$device-gl"/frame-*.png)
  if [ "$drawn" = 4 ] && [ "${#frames[@]}" = 4 ] && python3 "$work/compare.py" drawn "${frames[@]}"; then
    echo "kms: $device: 4 frames of GL are right"
  else
    echo "kms: $device: frames of GL are wrong: $drawn drawn, ${#frames[@]} seen" >&2
    failed=1
  fi
  judge "$device" || { { echo "kms: $device: modetest fails" && sed 's/^/    /' "$work/modetest"; } >&2; failed=1; }
done
exit $failed
