#!/usr/bin/env python3
"""Measures frames per second of small GL scenes on the model, on llvmpipe and on softpipe.

Scenes (bench/gl_frames.c): one triangle of 256 and of 1024 pixels' width, 200 large triangles, 20 000 small ones, 100
textured ones with blending and depth, and a picture that is cleared, drawn to and shown as a texture. Each renderer draws for about a second; renderers alternate, and the best turn
counts. Frames per second are printed by the clock and, because other programs may use the machine, by CPU time.

usage: gl_frames.py [--turns N] [device...]     (needs the release build; default device: icl)
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENES = [("one", 256), ("one", 1024), ("large", 512), ("small", 512), ("textured", 512), ("rendered", 512)]


def seconds(command, environment, scene, size, frames):
    done = subprocess.run([*command, scene, str(size), str(frames)], env=environment, check=True, capture_output=True,
                          text=True)
    clock, processor = done.stdout.split()
    return float(clock), float(processor)


def rate(command, environment, scene, size):
    """Returns frames per second by the clock and by CPU time."""
    clock, processor = seconds(command, environment, scene, size, 1)
    frames = max(1, min(2000, int(1 / max(processor, 1e-6))))
    if frames > 1:
        clock, processor = seconds(command, environment, scene, size, frames)
    return frames / clock, frames / processor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("devices", nargs="*", default=["icl"])
    options = parser.parse_args()
    tool = os.environ.get("HALOGEN", str(ROOT / "build/bin/halogen"))
    if not pathlib.Path(tool).exists():
        sys.exit(f"gl_frames: {tool} not found; run scripts/build.sh")
    with tempfile.TemporaryDirectory() as work:
        program = f"{work}/gl_frames"
        subprocess.run([ROOT / "tests/programs/build.sh", work, ROOT / "bench/gl_frames"], check=True)
        common = {**os.environ, "HOME": work, "XDG_RUNTIME_DIR": work, "MESA_SHADER_CACHE_DISABLE": "true"}
        ways = {name: ([program], {**common, "LIBGL_ALWAYS_SOFTWARE": "true", "GALLIUM_DRIVER": name})
                for name in ("llvmpipe", "softpipe")}
        for device in options.devices:
            ways[device] = ([tool, "run", "--device", device, "--", program], common)
        for scene, size in SCENES:
            best = {way: (0.0, 0.0) for way in ways}
            for _ in range(options.turns):
                for way, (command, environment) in ways.items():
                    measured = rate(command, environment, scene, size)
                    best[way] = tuple(max(pair) for pair in zip(best[way], measured))
            print(f"{scene} {size}:")
            for way, (clock, processor) in best.items():
                print(f"  {way:9} {clock:9.2f} frames/s   {processor:9.2f} per second of CPU time   "
                      f"{clock / best['softpipe'][0]:6.2f} {processor / best['softpipe'][1]:6.2f} of softpipe")
    print(f"load average: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
