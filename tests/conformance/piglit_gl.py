#!/usr/bin/env python3
"""piglit's OpenGL tests (Debian's package piglit) on Mesa's drivers and the model, and lists of what passes.

    piglit_gl.py check DEVICE... [--sample N]      runs one counted test in N and compares with the device's list
    piglit_gl.py run --out RESULTS (--device D [--idle] | --judge) [--sample N] [--all] [--more] [TEST...]
    piglit_gl.py keep DEVICE RESULTS...            puts results of `run` into the device's list
    piglit_gl.py count --judge RESULTS --idle RESULTS...   writes piglit/gl/counted.txt
    piglit_gl.py show TEST                         prints the command line of a test
    piglit_gl.py table                             prints how much passes on each device

Which tests: shader_runner's of GLSL 1.10, 1.20, 1.30 and 1.50, and those of the programs in piglit's folders fbo,
texturing and general (piglit/gl/programs.txt). A line of results is `test#subtest status`; behind `test#` alone stands
the result of the whole. The judge is llvmpipe; idle is Mesa's driver with submissions left out (INTEL_NO_HW). What counts
is what the judge passes and an idle device fails: subtests, or the whole where a test has none. A sample is taken by a
sum over the name, so that a larger one holds every smaller one. piglit/gl/DEVICE.txt is the pass list.
"""
import argparse
import ast
import concurrent.futures
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

import piglit_cl
from piglit_cl import FAULT, HALOGEN, RESULT, ROOT, SUBTEST, read, read_list

LISTS = piglit_cl.LISTS / "gl"
DEVICES = ("g45", "snb", "bdw", "chv", "skl", "icl", "tgl", "dg1")
GLSL = tuple(f"spec@glsl-{v}@" for v in ("1.10", "1.20", "1.30", "1.50"))
WHOLE = "whole"
NEEDS = "the device has not what it needs"


def all_tests() -> dict[str, list[str]]:
    """Name to command."""
    programs = set((LISTS / "programs.txt").read_text(encoding="utf-8").split())
    tests: dict[str, list[str]] = {}
    for profile in ("quick_shader", "quick_gl"):
        with gzip.open(ROOT / f"tests/{profile}.xml.gz") as packed:
            for test in ElementTree.parse(packed).getroot().iter("Test"):
                name = test.get("name", "")
                options = {o.get("name"): o.get("value", "") for o in test.iter("option")}
                command = ast.literal_eval(options.get("command", "[]"))
                if command and (name.startswith(GLSL) if profile == "quick_shader" else command[0] in programs):
                    tests[name.replace(" ", "_").replace("#", "_")] = command
    return tests


def sampled(names: list[str], n: int) -> list[str]:
    return [name for name in names if zlib.crc32(name.encode()) % n == 0]


def run_test(name: str, command: list[str], prefix: list[str], seconds: int) -> list[str]:
    environment = {**os.environ, "PIGLIT_PLATFORM": "surfaceless_egl", "PIGLIT_SOURCE_DIR": str(ROOT)}
    try:
        done = subprocess.run([*prefix, str(ROOT / "bin" / command[0]), *command[1:], "-auto", "-fbo"], check=False, cwd=ROOT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              env=environment)
        text, ended = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        text, ended = (late.stdout or b"").decode(errors="replace"), "late"
    seen: dict[str, str] = {}
    for subtest, status in SUBTEST.findall(text):
        if seen.get(subtest, "pass") == "pass":
            seen[subtest] = status
    whole = RESULT.findall(text)
    return [f"{name}#{s} {status}" for s, status in seen.items()] + [f"{name}# {whole[-1] if whole else f'ended({ended})'}"]


def run_tests(names: list[str], prefix: list[str], given: argparse.Namespace, out) -> None:
    tests = all_tests()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for lines in pool.map(lambda name: run_test(name, tests[name], prefix, given.seconds), names):
            out.write("\n".join(lines) + "\n")
            out.flush()


def door(device: str, idle: bool = False) -> list[str]:
    return ["env", *(["INTEL_NO_HW=1"] if idle else []), HALOGEN, "run", "--device", device, "--"]


def items(results: dict[str, str]) -> dict[str, str]:
    """What of a test may count."""
    parts = {s: status for s, status in results.items() if s}
    return parts or {WHOLE: results.get("", "ended")}


def passing(name: str, counted: dict, results: dict[str, str]) -> tuple[int, set[str]]:
    """How many of a test's items pass that count, and which do not."""
    number, without = counted[name]
    seen = {s: status for s, status in items(results).items() if s not in without}
    good = sum(status == "pass" for status in seen.values())
    bad = {s for s, status in seen.items() if status not in ("pass", "skip")}
    if good < number and not bad and results.get("") not in ("pass", "skip"):
        bad.add(WHOLE)  # it ended before its end
    return good, bad


def count(given: argparse.Namespace) -> int:
    judge = read([given.judge])
    idle: dict[str, list[dict[str, str]]] = {}
    for path in given.idle:
        for name, results in read([path]).items():
            idle.setdefault(name, []).append(results)
    lines = []
    total = tests = 0
    for name in sorted(set(judge) & set(idle)):
        found = items(judge[name])

        def fails(item: str, name: str = name) -> bool:
            states = [r.get(item, r.get("", "ended")) if item != WHOLE else r.get("", "ended") for r in idle[name]]
            return any(s not in ("pass", "skip") for s in states) and "pass" not in states

        counts = {s for s, status in found.items() if status == "pass" and fails(s)}
        if counts:
            total += len(counts)
            tests += 1
            lines.append(f"{name} {len(counts)}")
            lines += [f"{FAULT}{s}" for s in sorted(set(found) - counts)]
    head = [f"# {total} results of {tests} tests ({len(set(judge) & set(idle))} were run): llvmpipe passes them, a device that",
            "# executes nothing fails them. A line is a test and how many of its results count; those below it do not."]
    (LISTS / "counted.txt").write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    print(head[0])
    return 0


def keep(given: argparse.Namespace) -> int:
    counted = read_list(LISTS / "counted.txt")
    results = read(given.results)
    path = LISTS / f"{given.device}.txt"
    before = read_list(path) if path.exists() else {}
    lines = []
    passed = wanted = skipped = tests = 0
    for name in sorted((set(results) | set(before)) & set(counted)):
        number = counted[name][0]
        good, faults = before.get(name, (0, {}))
        if name in results:
            good, bad = passing(name, counted, results[name])
            faults = {s: faults.get(s) or "why is not known" for s in bad}
        if good == 0 and not faults:
            skipped += 1
            lines.append(f"{name} 0 {NEEDS}")
            continue
        tests += 1
        passed += good
        wanted += good + len(faults)
        lines.append(f"{name} {good}" + (f" of {number}" if good != number else ""))
        lines += [f"{FAULT}{s} | {faults[s]}" for s in sorted(faults)]
    head = [f"# {passed} of {wanted} results that count pass ({100 * passed / max(1, wanted):.1f} %); "
            f"{tests} of {len(counted)} tests were run, {skipped} more need what the device has not."]
    path.write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    print(f"piglit_gl: {given.device}: {head[0][2:]}")
    return 0


def run(given: argparse.Namespace) -> int:
    names = given.tests or (sorted(all_tests()) if given.all else sorted(read_list(LISTS / "counted.txt")))
    if given.judge:
        prefix = ["env", "LIBGL_ALWAYS_SOFTWARE=1", "GALLIUM_DRIVER=llvmpipe"]
    else:
        prefix = door(given.device, given.idle)
    with open(given.out, "a" if given.more else "w", encoding="utf-8") as out:
        have = set(read([given.out])) if given.more else set()
        run_tests([n for n in sampled(names, given.sample) if n not in have], prefix, given, out)
    return 0


def check(given: argparse.Namespace) -> int:
    counted = read_list(LISTS / "counted.txt")
    faults = 0
    for device in given.devices:
        kept = read_list(LISTS / f"{device}.txt")
        names = [n for n in sampled(sorted(counted), given.sample) if n in kept]
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as out:
            run_tests(names, door(device), given, out)
            results = read([out.name])
        passed, before = 0, faults
        for name in names:
            good, bad = passing(name, counted, results[name])
            passed += good
            number, known = kept[name]
            wrong = [f"no longer passes: {s}" for s in sorted(bad - set(known))]
            wrong += [f"passes now; its line is not needed: {s}" for s in sorted(set(known) - bad)]
            if good != number and not wrong:
                wrong.append(f"{good} pass, {number} did ({results[name].get('')})")
            for line in wrong:
                print(f"piglit_gl: {device}: {name}: {line}", file=sys.stderr)
            faults += len(wrong)
        print(f"piglit_gl: {device}: {passed} results of {len(names)} tests pass" +
              (", as listed" if faults == before else ""))
        if not names:
            print(f"piglit_gl: {device}: nothing of its list was run", file=sys.stderr)
            faults += 1
    return 1 if faults else 0


def show(given: argparse.Namespace) -> int:
    print(" ".join(["bin/" + all_tests()[given.test][0], *all_tests()[given.test][1:], "-auto", "-fbo"]))
    return 0


def table(_: argparse.Namespace) -> int:
    for device in DEVICES:
        path = LISTS / f"{device}.txt"
        if path.exists():
            print(f"{device}: {path.read_text(encoding='utf-8').splitlines()[0][2:]}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("--out", required=True)
    where = one.add_mutually_exclusive_group(required=True)
    where.add_argument("--device", choices=DEVICES)
    where.add_argument("--judge", action="store_true", help="on llvmpipe")
    one.add_argument("--idle", action="store_true", help="the device executes nothing")
    one.add_argument("--more", action="store_true", help="only tests that are not in --out yet")
    one.add_argument("--all", action="store_true", help="tests that do not count too")
    one.add_argument("tests", nargs="*")
    one.set_defaults(do=run)
    two = commands.add_parser("check")
    two.add_argument("devices", nargs="+", choices=DEVICES)
    two.set_defaults(do=check)
    for command, sample in ((one, 1), (two, 40)):
        command.add_argument("--jobs", type=int, default=1)
        command.add_argument("--sample", type=int, default=sample, help="one test in N")
        command.add_argument("--seconds", type=int, default=60, help="longest time a test may take")
    three = commands.add_parser("keep")
    three.add_argument("device", choices=DEVICES)
    three.add_argument("results", nargs="+")
    three.set_defaults(do=keep)
    four = commands.add_parser("count")
    four.add_argument("--judge", required=True)
    four.add_argument("--idle", nargs="+", required=True)
    four.set_defaults(do=count)
    five = commands.add_parser("show")
    five.add_argument("test")
    five.set_defaults(do=show)
    commands.add_parser("table").set_defaults(do=table)
    given = parser.parse_args()
    if given.do in (run, check) and not (ROOT / "bin/shader_runner").exists():
        print("piglit_gl: the package piglit is missing: scripts/setup.sh", file=sys.stderr)
        return 2
    return given.do(given)


if __name__ == "__main__":
    sys.exit(main())
