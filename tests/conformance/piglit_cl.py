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
import os
import pathlib
import shlex
import sys
import tempfile

import piglit_lists
from piglit_lists import HALOGEN, HERE, ROOT, Suite, read
from piglit_process import run_alone

TESTER = ROOT / "bin/cl-program-tester"
SUITE = Suite("piglit_cl", HERE / "piglit/cl", ("bdw", "skl", "icl", "tgl", "dg1"), slow=60)
LEAST = 95  # percent of what counts


def run_files(files: list[str], prefix: list[str], given: argparse.Namespace, out) -> None:
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for lines in pool.map(lambda f: run_alone(f, [*prefix, str(TESTER), str(ROOT / f)], given.seconds, {}), files):
            out.write("\n".join(lines) + "\n")
            out.flush()


def door(device: str) -> list[str]:
    return ["env", "OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd", HALOGEN, "run", "--device", device, "--"]


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


def count(given: argparse.Namespace) -> int:
    piglit_lists.write_counted(SUITE, read([given.judge]), [read([path]) for path in given.idle], "PoCL")
    return 0


def keep(given: argparse.Namespace) -> int:
    piglit_lists.keep(SUITE, given.device, read(given.results))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("--out", required=True)
    one.add_argument("--device", choices=SUITE.devices)
    one.add_argument("--prefix", default="", help="what stands before the test program, without --device")
    one.add_argument("--more", action="store_true", help="only files that are not in --out yet")
    one.add_argument("--all", action="store_true", help="files that do not count too")
    one.add_argument("files", nargs="*")
    one.set_defaults(do=run)
    two = commands.add_parser("check")
    two.add_argument("devices", nargs="+", choices=SUITE.devices)
    two.set_defaults(do=check)
    for command, sample in ((one, 1), (two, 40)):
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        command.add_argument("--sample", type=int, default=sample, help="one file in N")
        command.add_argument("--seconds", type=int, default=300, help="longest time a file may take")
    three = commands.add_parser("keep")
    three.add_argument("device", choices=SUITE.devices)
    three.add_argument("results", nargs="+")
    three.set_defaults(do=keep)
    four = commands.add_parser("count")
    four.add_argument("--judge", required=True)
    four.add_argument("--idle", nargs="+", required=True)
    four.set_defaults(do=count)
    commands.add_parser("table").set_defaults(do=lambda _: piglit_lists.table(SUITE, LEAST))
    given = parser.parse_args()
    if given.do in (run, check) and not TESTER.exists():
        print("piglit_cl: the package piglit is missing: scripts/setup.sh", file=sys.stderr)
        return 2
    return given.do(given)


if __name__ == "__main__":
    sys.exit(main())
