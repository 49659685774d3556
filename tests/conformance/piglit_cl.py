#!/usr/bin/env python3
"""Runs piglit's OpenCL program tests (Debian's package piglit) and keeps a list of what passes.

    piglit_cl.py run --out RESULTS [--jobs N] [--sample N] [--prefix "halogen run --device icl --"] [FILE...]
    piglit_cl.py compare RESULTS [--judge RESULTS] [--idle RESULTS] [--list PASS_LIST]

A line of a result is `folder/file.cl#subtest status`. `compare` counts, of those that the judge (PoCL) passes and a device
that executes nothing does not, how many pass; with --list it fails when one of that list no longer passes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path("/usr/lib/x86_64-linux-gnu/piglit")
TESTER = ROOT / "bin/cl-program-tester"
SUBTEST = re.compile(r'PIGLIT: \{"subtest": \{"(.*)" : "(\w+)"\}\}')
RESULT = re.compile(r'PIGLIT: \{"result": "(\w+)"')


def all_files() -> list[pathlib.Path]:
    return sorted(p for folder in ("generated_tests/cl", "tests/cl") for p in (ROOT / folder).rglob("*.cl"))


def run_file(path: pathlib.Path, prefix: list[str], seconds: int) -> list[str]:
    name = str(path.relative_to(ROOT))
    try:
        done = subprocess.run([*prefix, str(TESTER), str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, cwd=path.parent, check=False)
        text, ended = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        text, ended = (late.stdout or b"").decode(errors="replace"), "late"
    lines = [f"{name}#{subtest} {status}" for subtest, status in SUBTEST.findall(text)]
    whole = RESULT.findall(text)
    lines.append(f"{name}# {whole[-1] if whole else f'ended({ended})'}")
    return lines


def run(given: argparse.Namespace) -> int:
    if not TESTER.exists():
        print("piglit_cl: the package piglit is missing", file=sys.stderr)
        return 2
    files = [pathlib.Path(f) for f in given.files] or all_files()
    files = files[:: given.sample]
    prefix = shlex.split(given.prefix)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool, open(given.out, "w", encoding="utf-8") as out:
        for number, lines in enumerate(pool.map(lambda p: run_file(p, prefix, given.seconds), files), 1):
            out.write("\n".join(lines) + "\n")
            out.flush()
            if number % 50 == 0:
                print(f"piglit_cl: {number} of {len(files)} files", flush=True)
    return 0


def read(path: str) -> dict[str, str]:
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("# "))


def compare(given: argparse.Namespace) -> int:
    here = read(given.results)
    passed = {name for name, status in here.items() if status == "pass"}
    faults = 0
    if given.judge:
        judge = {name for name, status in read(given.judge).items() if status == "pass"}
        idle = {name for name, status in read(given.idle).items() if status == "pass"} if given.idle else set()
        wanted = (judge - idle) & set(here) if given.sampled else judge - idle
        got = wanted & passed
        print(f"piglit_cl: {len(got)} of {len(wanted)} that count ({100 * len(got) / max(1, len(wanted)):.1f} %)")
        if given.verbose:
            print("\n".join(f"  {name} {here.get(name, 'absent')}" for name in sorted(wanted - passed)))
    if given.list:
        kept = {line for line in pathlib.Path(given.list).read_text(encoding="utf-8").splitlines() if line}
        lost = sorted((kept & set(here)) - passed)
        faults = len(lost)
        print("\n".join(f"piglit_cl: no longer passes: {name}" for name in lost) or
              f"piglit_cl: {len(kept & passed)} of the list pass")
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("--out", required=True)
    one.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    one.add_argument("--sample", type=int, default=1, help="one file in N")
    one.add_argument("--seconds", type=int, default=300, help="longest time a file may take")
    one.add_argument("--prefix", default="")
    one.add_argument("files", nargs="*")
    one.set_defaults(do=run)
    two = commands.add_parser("compare")
    two.add_argument("results")
    two.add_argument("--judge")
    two.add_argument("--idle")
    two.add_argument("--list")
    two.add_argument("--sampled", action="store_true", help="count only what was run")
    two.add_argument("--verbose", action="store_true")
    two.set_defaults(do=compare)
    given = parser.parse_args()
    return given.do(given)


if __name__ == "__main__":
    sys.exit(main())
