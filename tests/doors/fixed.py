#!/usr/bin/env python3
"""Scenes of OpenGL's fixed functions (tests/programs/gl_fixed.c) by unmodified Mesa on `halogen run`, beside llvmpipe's.

A pixel is right when no channel is off by more than a few of 255: interpolation has fewer bits on hardware. Kinds of
primitives whose pixels GL leaves open (ends of lines, wide ones) may have some other pixels, as many as the table says.
usage: fixed.py [--print] [device...]     HALOGEN: another binary; --print: how far each scene is off
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HALOGEN = os.environ.get("HALOGEN", str(ROOT / "build/bin/halogen"))
DEVICES = ["i965", "g45", "snb"]
NEAR = 3  # of 255
OPEN = {
    "alpha_test": 8,  # along the line where alpha is the reference value
    "lines": 2, "line_strip": 2, "clipped_lines": 2, "line_stipple": 16, "wide_lines": 137,
    "floor": 2, "flat_floor": 2, "fog": 2,  # at a corner that is cut away
}
FIRST = ("i965", "g45")
LEFT_OUT = {(device, "quad_strip") for device in FIRST}  # Mesa draws triangles with the other diagonal there
LEFT_OUT |= {("snb", "quads")}  # open: which diagonal cuts a quad on Gen6


def wrong_pixels(drawn, wanted):
    far = 0
    for at in range(0, len(wanted), 4):
        if max(abs(a - b) for a, b in zip(drawn[at : at + 4], wanted[at : at + 4])) > NEAR:
            far += 1
    return far


def main():
    names = sys.argv[1:]
    prints = names[:1] == ["--print"]
    devices = names[1:] if prints else names
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.environ.update(XDG_RUNTIME_DIR=folder, HOME=folder, MESA_SHADER_CACHE_DISABLE="true")
        program = work / "gl_fixed"
        subprocess.run(["cc", "-O1", "-o", program, ROOT / "tests/programs/gl_fixed.c", "-lEGL", "-lOpenGL"], check=True)
        (work / "llvmpipe").mkdir()
        software = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "llvmpipe"}
        scenes = subprocess.run([program, work / "llvmpipe"], check=True, env=software, capture_output=True,
                                text=True).stdout.split()
        for device in devices or DEVICES:
            out = work / device
            out.mkdir()
            done = subprocess.run([HALOGEN, "run", "--device", device, "--", program, out], capture_output=True,
                                  text=True, timeout=900)
            faults = [f"the program failed: {done.stderr.strip()}"] if done.returncode else []
            for scene in scenes if not faults else []:
                if (device, scene) in LEFT_OUT:
                    continue
                far = wrong_pixels((out / f"{scene}.rgba").read_bytes(), (work / f"llvmpipe/{scene}.rgba").read_bytes())
                if prints and far:
                    print(f"{device} {scene} {far}")
                if far > OPEN.get(scene, 0):
                    faults.append(f"{scene}: {far} pixels are not llvmpipe's")
            for fault in faults:
                print(f"fixed: {device}: {fault}", file=sys.stderr)
            failed = failed or bool(faults)
            if not faults:
                print(f"fixed: {device}: all {len(scenes)} scenes are llvmpipe's")
    return 1 if failed else 0


sys.exit(main())
