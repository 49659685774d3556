#!/usr/bin/env python3
"""Runs doors, pictures, compute programs and samples of piglit with the drivers of this system, and compares the results with the
lists of a stack (tests/conformance/stacks/STACK). scripts/matrix.sh runs it in a Debian root of its own.

usage: stack.py STACK [--door NAME]... [--sample N] [--keep] [chip...]    HALOGEN: the tool

doors.txt has a line for each door and device, `DOOR@DEVICE N`: N lines of the door say what is right. Faults that are known stand
below it, with their reasons. A line of a door is `DOOR: DEVICE: TEXT`; on stderr the text up to a colon or "is not" names a fault.
piglit/NAME has the lists of a suite (piglit_gl.py --lists). --sample: one of N listed tests of piglit. --keep: writes doors.txt.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

from piglit_lists import FAULT, HERE, Entry, read_list

TREE = HERE.parent.parent
ALL = "i965 gm965 g45 gm45 snb bdw chv skl icl tgl dg1"
PIGLIT = "snb bdw chv skl icl tgl dg1"
LINE = re.compile(r"(\w+): (\w+): (.+)")
ENDS = re.compile(r":| is not ")
UNKNOWN = "why is not known"


@dataclasses.dataclass
class Door:
    command: str  # devices follow
    devices: str


DOORS = {
    "drm": Door("tests/doors/drm.sh", ALL),
    "shows": Door("tests/doors/shows.py", ALL),
    "pictures": Door("tests/doors/pictures.sh", ALL),
    "fixed": Door("tests/doors/fixed.py", "i965 g45 snb icl"),
    "targets": Door("tests/doors/targets.py", "g45 snb chv icl dg1"),
    "numbers": Door("tests/doors/numbers.py", "g45 snb chv icl"),
    "captures": Door("tests/doors/captures.py", "i965 g45 snb bdw chv icl dg1"),
    "compute": Door("tests/doors/compute.sh", "bdw chv skl icl tgl dg1"),
    "level_zero": Door("tests/doors/level_zero.sh", "tgl dg1"),
    "kms": Door("tests/doors/kms.sh", "i965 g45 snb chv icl dg1"),
    "screens": Door("tests/doors/screens.py", "skl icl dg1"),
    "programs": Door("tests/doors/programs.sh --short", "g45 snb icl dg1"),
}


@dataclasses.dataclass
class Result:
    right: int = 0
    faults: dict[str, str] = dataclasses.field(default_factory=dict)  # by name; the first line of each


def run_door(name: str, devices: list[str]) -> dict[str, Result]:
    door = DOORS[name]
    done = subprocess.run([*door.command.split(), *devices], cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
    results = {device: Result() for device in devices}
    for line in done.stdout.splitlines():
        if (found := LINE.match(line)) and found[1] == name and found[2] in results:
            results[found[2]].right += 1
    for line in done.stderr.splitlines():
        if (found := LINE.match(line)) and found[1] == name and found[2] in results:
            results[found[2]].faults.setdefault(ENDS.split(found[3])[0].strip(), line)
    if done.returncode and not any(result.faults for result in results.values()):
        last = (done.stderr or done.stdout).strip().splitlines()[-3:]
        for result in results.values():
            result.faults["the door failed"] = "; ".join(last) or f"status {done.returncode}"
    return results


def compare(key: str, result: Result, listed: Entry) -> list[str]:
    wrong = [f"not listed: {line}" for name, line in result.faults.items() if name not in listed.below]
    wrong += [f"no longer fails: {name}" for name in listed.below if name not in result.faults]
    if result.right != listed.number:
        wrong.append(f"{result.right} lines say what is right, not {listed.number}")
    return [f"matrix: {key}: {line}" for line in wrong]


def write(path: pathlib.Path, lists: dict[str, Entry]) -> None:
    lines = ["# Lines that say what is right, for each door and device; known faults below them, with their reasons."]
    for key in sorted(lists):
        lines.append(f"{key} {lists[key].number}")
        lines += [f"{FAULT}{name} | {reason}" for name, reason in sorted(lists[key].below.items())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_doors(given: argparse.Namespace, folder: pathlib.Path) -> int:
    path = folder / "doors.txt"
    lists = read_list(path) if path.exists() else {}
    faults = 0
    for name in given.door or DOORS:
        devices = [device for device in DOORS.get(name, Door("", "")).devices.split() if device in (given.chips or ALL.split())]
        if not devices:
            continue
        start = time.monotonic()
        for device, result in run_door(name, devices).items():
            key = f"{name}@{device}"
            listed = lists.get(key, Entry())
            wrong = compare(key, result, listed)
            known = f", {len(result.faults)} known faults" if result.faults and not wrong else ""
            verdict = "as listed" if not wrong else "kept" if given.keep else "DIFFERS"
            print(f"matrix: {given.stack}: {name} on {device}: {verdict}, {result.right} right{known}", flush=True)
            print("".join(line + "\n" for line in wrong), end="", file=sys.stderr)
            faults += 0 if given.keep else len(wrong)
            below = {fault: listed.below.get(fault, UNKNOWN) for fault in result.faults}
            lists[key] = Entry(result.right, "", below)
        print(f"matrix: {given.stack}: {name} took {time.monotonic() - start:.0f} s", flush=True)
        if given.keep:
            write(path, lists)
    return 1 if faults else 0


def run_piglit(given: argparse.Namespace, folder: pathlib.Path) -> int:
    status = 0
    for suite in sorted(folder.glob("piglit/*")):
        devices = [d for d in PIGLIT.split() if (suite / f"{d}.txt").exists() and d in (given.chips or PIGLIT.split())]
        for device in devices:
            command = [sys.executable, HERE / "piglit_gl.py", "--lists", suite, "check", device, "--sample", str(given.sample)]
            status |= subprocess.run(command, check=False).returncode
    return 1 if status else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stack")
    parser.add_argument("--door", action="append", choices=[*DOORS, "piglit"])
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("chips", nargs="*", metavar="chip")
    given = parser.parse_args()
    if unknown := set(given.chips) - set(ALL.split()):
        parser.error(f"unknown chip {' '.join(sorted(unknown))}; use {ALL}")
    folder = HERE / "stacks" / given.stack
    os.environ.setdefault("MESA_SHADER_CACHE_DISABLE", "true")
    status = run_doors(given, folder)
    if not given.door or "piglit" in given.door:
        status |= run_piglit(given, folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
