#!/usr/bin/env python3
"""Measures how long a Mesa program takes from start to end under `halogen run`, and on llvmpipe.

Programs: one that lists what eglinfo lists, on one display without a window system, and one that clears a picture of
64 x 64 pixels and waits. The time of `halogen run` itself is included. Runs of all devices alternate, so that a change of
the machine's load affects all of them. The median is printed: CPU time (user and system, all processes) and time by
the clock. On a busy machine only CPU time is meaningful.

usage: start_up.py [--runs N] [--library] [device...]     (needs the release build)
  --library: uses LD_PRELOAD alone, without `halogen run`
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = "i965 gm965 g45 gm45 snb bdw chv skl icl tgl dg1".split()
GOAL = 1.5


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, environment):
    """Returns CPU time and time by the clock, in milliseconds."""
    before, start = spent(), time.monotonic()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (spent() - before) * 1e3, (time.monotonic() - start) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--library", action="store_true")
    parser.add_argument("devices", nargs="*", default=DEVICES)
    options = parser.parse_args()
    tool = ROOT / "build/bin/halogen"
    library = ROOT / "build/lib/libhalogen-drm.so"
    if not tool.exists():
        sys.exit(f"start_up: {tool} not found; run scripts/build.sh")
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([ROOT / "tests/programs/build.sh", work, "egl_list", "gl_scenes"], check=True)
        common = {**os.environ, "HOME": work, "XDG_RUNTIME_DIR": work, "MESA_SHADER_CACHE_DISABLE": "true"}
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "LD_PRELOAD"):
            common.pop(name, None)
        programs = {"listing": [f"{work}/egl_list"], "clearing": [f"{work}/gl_scenes", "clear"]}
        for title, program in programs.items():
            ways = {"llvmpipe": (program, {**common, "LIBGL_ALWAYS_SOFTWARE": "true"})}
            for device in options.devices:
                if options.library:
                    ways[device] = (program, {**common, "LD_PRELOAD": str(library), "HALOGEN_DEVICE": device})
                else:
                    ways[device] = ([str(tool), "run", "--device", device, "--", *program], common)
            times = {way: [] for way in ways}
            for turn in range(options.runs + 1):
                for way, (command, environment) in ways.items():
                    measured = run(command, environment)
                    if turn > 0:  # the first run fills file caches
                        times[way].append(measured)
            middle = {way: [statistics.median(column) for column in zip(*each)] for way, each in times.items()}
            base = middle["llvmpipe"]
            print(f"{title}: llvmpipe {base[0]:.1f} ms of CPU time, {base[1]:.1f} ms by the clock; goal {GOAL}")
            for device in options.devices:
                processor, clock = middle[device]
                print(f"  {device:6} {processor:6.1f} ms {processor / base[0]:5.2f}   {clock:6.1f} ms {clock / base[1]:5.2f}")
    print(f"load average: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
