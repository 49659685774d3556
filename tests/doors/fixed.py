#!/usr/bin/env python3
"""Scenes of OpenGL's fixed functions (tests/programs/gl_fixed.c) by unmodified Mesa on `halogen run`, beside llvmpipe's.

A pixel is right when no channel is off by more than a few of 255: interpolation has fewer bits on hardware. Lines, whose
pixels GL leaves open, and quads are judged by the manual's rules (drawing_rules.py). Reports name nothing unsupported.
usage: fixed.py [device...]     HALOGEN: another binary
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import drawing_rules
from reports import unsupported

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HALOGEN = os.environ.get("HALOGEN", str(ROOT / "build/bin/halogen"))
DEVICES = ["i965", "g45", "snb", "icl"]
SIZE = 64
NEAR = 3  # of 255
FIRST = ("i965", "g45")


def either(device, scene, x, y):
    """Pixels of which both answers are right, or the right one is open."""
    if scene == "alpha_test":  # llvmpipe compares bytes; alpha is 0, 0.51 and 1 at the corners
        (x0, y0), (x1, y1), (x2, y2) = [((u + 1) * 32, (v + 1) * 32) for u, v in ((-0.83, -0.71), (0.79, -0.63), (0.07, 0.81))]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        b = ((x + 0.5 - x0) * (y2 - y0) - (x2 - x0) * (y + 0.5 - y0)) / area
        c = ((x1 - x0) * (y + 0.5 - y0) - (x + 0.5 - x0) * (y1 - y0)) / area
        return abs(0.51 * b + c - 0.5) < 1 / 255
    # Open: whether the first chip's clip threads cut at the far plane when they test the planes themselves.
    far_edge = (0.75 / 10 + 1) * 32
    return device == "i965" and scene in ("floor", "flat_floor", "fog") and y + 0.5 > far_edge


def far_pixels(drawn, wanted):
    return [(at // 4 % SIZE, at // 4 // SIZE) for at in range(0, len(wanted), 4)
            if max(abs(a - b) for a, b in zip(drawn[at : at + 4], wanted[at : at + 4])) > NEAR]


def main():
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
        wanted = {scene: (work / f"llvmpipe/{scene}.rgba").read_bytes() for scene in scenes}
        source = (ROOT / "tests/programs/gl_fixed.c").read_text()
        ruled = [drawing_rules.scenes(source, first) for first in (False, True)]
        for device in sys.argv[1:] or DEVICES:
            report = work / f"{device}.json"
            out = work / device
            out.mkdir()
            done = subprocess.run([HALOGEN, "run", "--device", device, "--report", report, "--", program, out], capture_output=True,
                                  text=True, timeout=900)
            faults = [f"the program failed: {done.stderr.strip()}"] if done.returncode else []
            for scene in scenes if not faults else []:
                far = far_pixels((out / f"{scene}.rgba").read_bytes(), {**wanted, **ruled[device in FIRST]}[scene])
                far = [pixel for pixel in far if not either(device, scene, *pixel)]
                if far:
                    faults.append(f"{scene}: {len(far)} pixels are wrong: {far[:4]}")
            faults += [f"unsupported: {name}" for name in (unsupported(report) if not faults else [])]
            for fault in faults:
                print(f"fixed: {device}: {fault}", file=sys.stderr)
            failed = failed or bool(faults)
            if not faults:
                print(f"fixed: {device}: all {len(scenes)} scenes are right")
    return 1 if failed else 0


sys.exit(main())
