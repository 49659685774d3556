#!/usr/bin/env python3
"""Compares scenes with llvmpipe's and lavapipe's: typical demo programs (tests/programs/gl_shows.c, vk_scenes.cpp), messages of
fragment and compute shaders (gl_pixels.c), and two contexts and two processes that draw in turns (gl_turns.c), all drawn by
unmodified Mesa under `halogen run`. Channels may differ by 1 of 255, with filtered textures by 3. A few pixels of a filtered
scene may come from the next level, because their level of detail is between two levels within rounding. Reports must name
nothing unsupported.

usage: shows.py [--keep FOLDER] [device...]    --keep: writes the pictures as PNG files, one row per driver
"""
import argparse
import os
import pathlib
import struct
import subprocess
import sys
import zlib

from scenes import PROGRAMS, judged, on_device, workshop

SIDE = 256
GL = {"gears": 1, "cube": 1, "sphere": 1, "textured": 3}
PIXELS = {"at_offset": 1, "at_any_offset": 1, "at_sample": 1, "at_centroid": 1, "fetch": 1, "computed": 1, "cleared": 1}
TURNS = {"first": 1, "second": 1, "parent": 1, "child": 1}
VULKAN = {"triangle": 1, "cube": 3, "layers": 1, "smooth_cube": 3, "views": 3, "views_apart": 3}
GL_DEVICES = "i965 gm965 g45 gm45 snb chv bdw skl icl tgl dg1".split()
VULKAN_DEVICES = "chv bdw skl icl tgl dg1".split()
OTHER_LEVEL = 8  # pixels
JUDGED_BY = {"views": "views_apart"}  # llvmpipe 22.3 draws clipped primitives of one view into the layer of another


def judge(wanted, drawn, limit):
    """Returns what is wrong with a picture, if anything."""
    if len(drawn) != SIDE * SIDE * 4:
        return f"{len(drawn)} bytes"
    apart = [max(abs(a - b) for a, b in zip(wanted[i:i + 4], drawn[i:i + 4])) for i in range(0, len(wanted), 4)]
    far = sum(1 for distance in apart if distance > limit)
    allowed = OTHER_LEVEL if limit > 1 else 0
    return f"{far} pixels are further apart than {limit}, the worst {max(apart)}" if far > allowed else ""


def write_png(path, width, pixels):
    stride = width * 4
    height = len(pixels) // stride
    before = bytes(stride) + pixels  # filter 2: what a pixel differs by from the one above
    rows = b"".join(b"\2" + bytes((a - b) & 255 for a, b in zip(pixels[at:at + stride], before[at:at + stride]))
                    for at in range(0, len(pixels), stride))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) +
                     chunk(b"IEND", b""))


def side_by_side(pictures):
    return b"".join(picture[y * SIDE * 4:(y + 1) * SIDE * 4] for y in range(SIDE) for picture in pictures)


def build_vulkan(work):
    subprocess.run(["c++", "-std=c++20", "-o", work / "vk_scenes", PROGRAMS / "vk_scenes.cpp", "-lvulkan"], check=True)
    for shader in (PROGRAMS / "vk").iterdir():
        subprocess.run(["glslangValidator", "-V", "--quiet", "-o", work / f"{shader.name}.spv", shader], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("devices", nargs="*", default=GL_DEVICES)
    options = parser.parse_args()
    os.environ["ANV_PRIMITIVE_REPLICATION_MAX_VIEWS"] = "16"  # otherwise anv draws more than two views as instances
    failed = False
    with workshop("gl_shows", "gl_pixels", "gl_turns") as work:
        build_vulkan(work)
        # name, its scenes, devices, the program's arguments before the folder
        kinds = [("gl", GL, GL_DEVICES, [work / "gl_shows", "-o"]),
                 ("pixels", PIXELS, VULKAN_DEVICES, [work / "gl_pixels", "-o"]),
                 ("turns", TURNS, GL_DEVICES, [work / "gl_turns", "-o"]),
                 ("vulkan", VULKAN, VULKAN_DEVICES, [work / "vk_scenes", work])]
        for kind, scenes, have, command in kinds:
            wanted = judged(command, work / kind)
            rows = [side_by_side([wanted[scene] for scene in scenes])]
            for device in [name for name in options.devices if name in have]:
                drawn, faults = on_device(device, command, work / f"{kind}-{device}")
                faults += [f"{scene}: {fault}" for scene, limit in scenes.items()
                           if (fault := judge(wanted[JUDGED_BY.get(scene, scene)], drawn.get(scene, b""), limit))]
                failed = failed or bool(faults)
                for fault in faults:
                    print(f"shows: {device}: {kind} {fault}", file=sys.stderr)
                if not faults:
                    print(f"shows: {device}: {kind} right")
                if all(drawn.get(scene) for scene in scenes):
                    rows.append(side_by_side([drawn[scene] for scene in scenes]))
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                write_png(options.keep / f"{kind}_shows.png", SIDE * len(scenes), b"".join(rows))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
