#!/usr/bin/env python3
"""Scenes of faces, layers, levels, samples, masks, blits, images and clipped attributes (tests/programs/gl_targets.c) by
unmodified Mesa on `halogen run`, byte by byte beside llvmpipe's: at most 1 of 255 apart. Reports name nothing unsupported.
usage: targets.py [device...]     HALOGEN: another binary
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from reports import unsupported

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HALOGEN = os.environ.get("HALOGEN", str(ROOT / "build/bin/halogen"))
DEVICES = ["g45", "snb", "chv", "icl", "dg1"]
NEAR = {"small_floats": 4}  # llvmpipe cuts bits off floats of 10 and 11 bits, the model rounds
# Scenes of chips with less of GL: that many.
LESS = {"i965": 16, "gm965": 16, "g45": 16, "gm45": 16, "snb": 31}


def judge(scene, drawn, wanted):
    """What is wrong with a scene, or nothing. A chip of GL 2 draws the first formats of a list only."""
    if not drawn or len(drawn) > len(wanted) or len(drawn) % 4:
        return f"{scene}: {len(drawn)} bytes, not {len(wanted)}"
    limit = NEAR.get(scene, 1)
    far = [at for at in range(0, len(drawn), 4)
           if max(abs(a - b) for a, b in zip(drawn[at : at + 4], wanted[at : at + 4])) > limit]
    if not far:
        return ""
    at = far[0]
    return f"{scene}: {len(far)} pixels are wrong, the first at byte {at}: {list(drawn[at:at + 4])}, not {list(wanted[at:at + 4])}"


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.environ.update(XDG_RUNTIME_DIR=folder, HOME=folder, MESA_SHADER_CACHE_DISABLE="true")
        program = work / "gl_targets"
        subprocess.run(["cc", "-O1", "-o", program, ROOT / "tests/programs/gl_targets.c", "-lEGL", "-lOpenGL"], check=True)
        (work / "llvmpipe").mkdir()
        software = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "llvmpipe"}
        scenes = subprocess.run([program, "-o", work / "llvmpipe"], check=True, env=software, capture_output=True,
                                text=True).stdout.split()
        for device in sys.argv[1:] or DEVICES:
            report = work / f"{device}.json"
            out = work / device
            out.mkdir()
            done = subprocess.run([HALOGEN, "run", "--device", device, "--report", report, "--", program, "-o", out],
                                  capture_output=True, text=True, timeout=900)
            drawn = done.stdout.split()
            faults = [f"the program failed: {done.stderr.strip()}"] if done.returncode else []
            if len(drawn) != LESS.get(device, len(scenes)):
                faults.append(f"{len(drawn)} scenes, not {LESS.get(device, len(scenes))}")
            faults += [fault for scene in drawn
                       if (fault := judge(scene, (out / f"{scene}.rgba").read_bytes(),
                                          (work / f"llvmpipe/{scene}.rgba").read_bytes()))]
            faults += [f"unsupported: {name}" for name in (unsupported(report) if not faults else [])]
            for fault in faults:
                print(f"targets: {device}: {fault}", file=sys.stderr)
            failed = failed or bool(faults)
            if not faults:
                print(f"targets: {device}: all {len(drawn)} scenes are llvmpipe's")
    return 1 if failed else 0


sys.exit(main())
