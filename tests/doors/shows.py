#!/usr/bin/env python3
"""Scenes of programs that people try a driver with (tests/programs/gl_shows.c, vk_scenes.cpp), of what fragment shaders
may ask for and compute shaders do (gl_pixels.c), and of two contexts and two processes that draw in turns (gl_turns.c),
drawn by unmodified Mesa on `halogen run` and compared with llvmpipe's and lavapipe's: at most 1 of 255 apart, 3 where
textures are filtered. A few pixels of a filtered scene may come from the next level: their level lies between two within
rounding. Reports name nothing unsupported.

usage: shows.py [--keep FOLDER] [device...]    --keep: the pictures as PNG files, a row for each driver
"""
import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

from reports import unsupported

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HALOGEN = os.environ.get("HALOGEN", str(ROOT / "build/bin/halogen"))
SIDE = 256
GL = {"gears": 1, "cube": 1, "sphere": 1, "textured": 3}
PIXELS = {"at_offset": 1, "at_any_offset": 1, "at_sample": 1, "at_centroid": 1, "fetch": 1, "computed": 1, "cleared": 1}
TURNS = {"first": 1, "second": 1, "parent": 1, "child": 1}
VULKAN = {"triangle": 1, "cube": 3, "layers": 1, "smooth_cube": 3}
GL_DEVICES = "i965 gm965 g45 gm45 snb chv bdw skl icl tgl dg1".split()
VULKAN_DEVICES = "chv bdw skl icl tgl dg1".split()
OTHER_LEVEL = 8  # pixels


def judge(wanted, drawn, limit):
    """What is wrong with a picture, or nothing."""
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


def build(work):
    subprocess.run(["cc", "-O1", "-o", f"{work}/gl_shows", ROOT / "tests/programs/gl_shows.c", "-lEGL", "-lGLESv2", "-lm"],
                   check=True)
    subprocess.run(["cc", "-O1", "-o", f"{work}/gl_pixels", ROOT / "tests/programs/gl_pixels.c", "-lEGL", "-lGLESv2"],
                   check=True)
    subprocess.run(["cc", "-O1", "-o", f"{work}/gl_turns", ROOT / "tests/programs/gl_turns.c", "-lEGL", "-lGLESv2", "-lgbm"],
                   check=True)
    subprocess.run(["c++", "-std=c++20", "-o", f"{work}/vk_scenes", ROOT / "tests/programs/vk_scenes.cpp", "-lvulkan"],
                   check=True)
    for shader in (ROOT / "tests/programs/vk").iterdir():
        subprocess.run(["glslangValidator", "-V", "--quiet", "-o", f"{work}/{shader.name}.spv", shader], check=True)


def draw(command, environment, out, scenes):
    """The pictures by name; missing ones are empty. Then what the program said, if it failed."""
    out.mkdir()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          check=False)
    said = done.stdout.decode(errors="replace") if done.returncode != 0 else ""
    files = {scene: out / f"{scene}.rgba" for scene in scenes}
    return {scene: file.read_bytes() if file.exists() else b"" for scene, file in files.items()}, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("devices", nargs="*", default=GL_DEVICES)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        build(work)
        common = {**os.environ, "HOME": folder, "XDG_RUNTIME_DIR": folder, "MESA_SHADER_CACHE_DISABLE": "true"}
        software = {"LIBGL_ALWAYS_SOFTWARE": "true", "GALLIUM_DRIVER": "llvmpipe",
                    "VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}
        # name, its scenes, devices, the program's words before and behind the folder
        kinds = [("gl", GL, GL_DEVICES, [f"{work}/gl_shows", "-o"]),
                 ("pixels", PIXELS, VULKAN_DEVICES, [f"{work}/gl_pixels", "-o"]),
                 ("turns", TURNS, GL_DEVICES, [f"{work}/gl_turns", "-o"]),
                 ("vulkan", VULKAN, VULKAN_DEVICES, [f"{work}/vk_scenes", folder])]
        for kind, scenes, have, program in kinds:
            wanted, said = draw([*program, f"{work}/{kind}"], {**common, **software}, work / kind, scenes)
            if said or not all(wanted.values()):
                sys.exit(f"shows: the judge of {kind} failed: {said}")
            rows = [side_by_side(wanted.values())]
            for device in [name for name in options.devices if name in have]:
                out = work / f"{kind}-{device}"
                report = work / f"{kind}-{device}.json"
                drawn, said = draw([HALOGEN, "run", "--device", device, "--report", str(report), "--", *program,
                                    str(out)], common, out, scenes)
                faults = [f"{scene}: {fault}" for scene, limit in scenes.items()
                          if (fault := judge(wanted[scene], drawn[scene], limit))]
                faults += [f"unsupported: {name}" for name in unsupported(report)]
                failed = failed or bool(faults) or bool(said)
                print(f"shows: {kind} on {device}: {'; '.join(faults) or 'right'} {said}")
                if not said and all(drawn.values()):
                    rows.append(side_by_side(drawn.values()))
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                write_png(options.keep / f"{kind}_shows.png", SIDE * len(scenes), b"".join(rows))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
