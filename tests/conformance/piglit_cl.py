#!/usr/bin/env python3
"""Runs piglit's OpenCL program tests (Debian's package piglit) on Intel's driver and the model, and keeps lists of passes.

    piglit_cl.py check DEVICE... [--sample N]      runs one file in N and compares with the device's list
    piglit_cl.py run --out RESULTS [--device D | --prefix COMMAND] [--sample N] [--all] [--more] [FILE...]
    piglit_cl.py keep DEVICE RESULTS...            puts results of `run` into the device's list
    piglit_cl.py count --judge RESULTS --idle RESULTS...   writes piglit/cl/counted.txt
    piglit_cl.py table                             prints how many pass on each device; exit status 1 below 95 percent

The judge is PoCL; an idle device executes no dispatches. A subtest counts if the judge passes and idle devices fail it.
"""
import argparse
import concurrent.futures
import pathlib
import shlex
import subprocess
import sys
import tempfile

import piglit_lists
from piglit_arguments import Arguments
from piglit_lists import HALOGEN, HERE, ROOT, Suite, read
from piglit_process import run_alone

TESTER = ROOT / "bin/cl-program-tester"
SUITE = Suite("piglit_cl", HERE / "piglit/cl", ("bdw", "skl", "icl", "tgl", "dg1"), slow=60)
LEAST = 95  # required percentage of counted results


def run_files(files: list[str], prefix: list[str], given: argparse.Namespace, out) -> None:
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for lines in pool.map(lambda f: run_alone(f, [*prefix, str(TESTER), str(ROOT / f)], given.seconds, {}), files):
            out.write("\n".join(lines) + "\n")
            out.flush()


def door(device: str) -> list[str]:
    settings = subprocess.run([HERE.parent.parent / "scripts/driver-settings.sh", "opencl", device], stdout=subprocess.PIPE,
                              text=True, check=True)
    return ["env", *settings.stdout.split(), HALOGEN, "run", "--device", device, "--"]


def run(given: argparse.Namespace) -> int:
    if given.files:
        files = [str(pathlib.Path(f).resolve().relative_to(ROOT)) for f in given.files]
    elif given.all:
        files = sorted(str(p.relative_to(ROOT)) for f in ("generated_tests/cl", "tests/cl") for p in (ROOT / f).rglob("*.cl"))
    else:
        files = sorted(SUITE.counted())
    prefix = door(given.device) if given.device else shlex.split(given.prefix)
    with open(given.out, "a" if given.more else "w", encoding="utf-8") as out:
        have = set(read([given.out])) if given.more else set()
        run_files([f for f in files[:: given.sample] if f not in have], prefix, given, out)
    return 0


def check(given: argparse.Namespace) -> int:
    faults = 0
    for device in given.devices:
        can = piglit_lists.in_check(SUITE, device)
        files = [f for f in sorted(SUITE.counted())[:: given.sample] if f in can]
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as out:
            run_files(files, door(device), given, out)
            faults += piglit_lists.compare(SUITE, device, files, read([out.name]))
    return 1 if faults else 0


def main() -> int:
    arguments = Arguments(__doc__, SUITE, "file", seconds=300)
    arguments.run.add_argument("--device", choices=SUITE.devices)
    arguments.run.add_argument("--prefix", default="", help="what stands before the test program, without --device")
    arguments.run.add_argument("files", nargs="*")
    return arguments.main(run, check, LEAST, "PoCL", TESTER.exists())


if __name__ == "__main__":
    sys.exit(main())
