#!/usr/bin/env python3
"""piglit's OpenCL program tests (Debian's package piglit) on Intel's driver and the model, and lists of what passes.

    piglit_cl.py check DEVICE... [--sample N]      runs one file in N and compares with the device's list
    piglit_cl.py run --out RESULTS [--device D | --prefix COMMAND] [--sample N] [--all] [FILE...]
    piglit_cl.py keep DEVICE RESULTS...            puts results of `run` into the device's list
    piglit_cl.py count --judge RESULTS --idle RESULTS...   writes piglit/counted.txt
    piglit_cl.py table                             prints how much passes on each device; exit 1 below 95 percent

A line of results is `folder/file.cl#subtest status`. What counts is in piglit/counted.txt: subtests that the judge (PoCL)
passes and that a device whose dispatches execute nothing fails; the others show nothing. piglit/DEVICE.txt is the pass
list: a line for each file that was run, with how many of its subtests pass; those that do not are below it, with the
reason. A file that is not in it was not run there.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path("/usr/lib/x86_64-linux-gnu/piglit")
TESTER = ROOT / "bin/cl-program-tester"
HERE = pathlib.Path(__file__).resolve().parent
LISTS = HERE / "piglit"
HALOGEN = os.environ.get("HALOGEN", str(HERE.parent.parent / "build/bin/halogen"))
LEAST = 95  # percent of what counts
DEVICES = ("bdw", "skl", "icl", "tgl", "dg1")
SUBTEST = re.compile(r'PIGLIT: \{"subtest": \{"(.*)" : "(\w+)"\}\}')
RESULT = re.compile(r'PIGLIT: \{"result": "(\w+)"')
FAULT = "  - "  # begins a subtest below its file


def run_file(name: str, prefix: list[str], seconds: int) -> list[str]:
    try:
        done = subprocess.run([*prefix, str(TESTER), str(ROOT / name)], stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, cwd=ROOT)
        text, ended = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        text, ended = (late.stdout or b"").decode(errors="replace"), "late"
    lines = [f"{name}#{subtest} {status}" for subtest, status in SUBTEST.findall(text)]
    whole = RESULT.findall(text)
    lines.append(f"{name}# {whole[-1] if whole else f'ended({ended})'}")
    return lines


def run_files(files: list[str], prefix: list[str], given: argparse.Namespace, out) -> None:
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for lines in pool.map(lambda name: run_file(name, prefix, given.seconds), files):
            out.write("\n".join(lines) + "\n")
            out.flush()


def door(device: str) -> list[str]:
    return ["env", "OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd", HALOGEN, "run", "--device", device, "--"]


def read(paths: list[str]) -> dict[str, dict[str, str]]:
    """File to subtest to status; a name that comes twice has passed if both have."""
    results: dict[str, dict[str, str]] = {}
    for path in paths:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            name, status = line.rsplit(" ", 1)
            file, subtest = name.split("#", 1)
            known = results.setdefault(file, {}).get(subtest, "pass")
            results[file][subtest] = status if known == "pass" else known
    return results


def read_list(path: pathlib.Path) -> dict[str, tuple[int, dict[str, str]]]:
    """File to the first number behind it and the lines below it: subtest to what is said about it."""
    files: dict[str, tuple[int, dict[str, str]]] = {}
    last: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(FAULT):
            subtest, _, reason = line[len(FAULT):].partition(" | ")
            last[subtest] = reason
        elif line and not line.startswith("#"):
            name, number = line.split(" ", 2)[:2]
            last = {}
            files[name] = (int(number), last)
    return files


def wanted_of(name: str, counted: dict, subtests: dict[str, str]) -> tuple[int, set[str]]:
    """How many subtests of a file count, and which of those seen do not pass."""
    number, without = counted[name]
    return number, {s for s, status in subtests.items() if s and s not in without and status != "pass"}


def passing(name: str, counted: dict, subtests: dict[str, str]) -> set[str]:
    return {s for s, status in subtests.items() if s and s not in counted[name][1] and status == "pass"}


def count(given: argparse.Namespace) -> int:
    judge, idle = read([given.judge]), {}
    for path in given.idle:  # what one device skips another one may have
        for file, subtests in read([path]).items():
            idle.setdefault(file, {}).update(subtests)
    lines = []
    total = files = 0
    for file in sorted(judge):
        tests = {s: status for s, status in judge[file].items() if s}
        counts = {s for s, status in tests.items() if status == "pass" and idle.get(file, {}).get(s) == "fail"}
        if not counts:
            continue
        total += len(counts)
        files += 1
        lines.append(f"{file} {len(counts)}")
        lines += [f"{FAULT}{s}" for s in sorted(set(tests) - counts)]
    head = [f"# {total} subtests of {files} files: PoCL passes them, a device that executes nothing fails them.",
            "# A line is a file and how many of its subtests count; those below it do not count."]
    LISTS.mkdir(exist_ok=True)
    (LISTS / "counted.txt").write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    return 0


def keep(given: argparse.Namespace) -> int:
    counted = read_list(LISTS / "counted.txt")
    results = read(given.results)
    path = LISTS / f"{given.device}.txt"
    before = read_list(path) if path.exists() else {}
    lines = []
    passed = wanted = skipped = files = 0
    for file in sorted((set(results) | set(before)) & set(counted)):
        number = counted[file][0]
        good, faults = before.get(file, (0, {}))
        if file in results:
            good = len(passing(file, counted, results[file]))
            bad = wanted_of(file, counted, results[file])[1]
            faults = {s: faults.get(s) or "why is not known" for s in bad}
        if good == 0 and not faults and (file not in results or results[file].get("") == "skip"):
            skipped += 1
            lines.append(f"{file} 0 the device has not what it needs")
            continue
        files += 1
        passed += good
        wanted += number
        lines.append(f"{file} {good}" + (f" of {number}" if good != number else ""))
        lines += [f"{FAULT}{s} | {faults[s]}" for s in sorted(faults)]
    head = [f"# {passed} of {wanted} subtests that count pass ({100 * passed / max(1, wanted):.1f} %); "
            f"{files} of {len(counted)} files were run, {skipped} more need what the device has not."]
    path.write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    print(f"piglit_cl: {given.device}: {head[0][2:]}")
    return 0


def run(given: argparse.Namespace) -> int:
    if given.files:
        files = [str(pathlib.Path(f).resolve().relative_to(ROOT)) for f in given.files]
    elif given.all:
        files = sorted(str(p.relative_to(ROOT)) for f in ("generated_tests/cl", "tests/cl") for p in (ROOT / f).rglob("*.cl"))
    else:
        files = sorted(read_list(LISTS / "counted.txt"))
    prefix = door(given.device) if given.device else shlex.split(given.prefix)
    with open(given.out, "a" if given.more else "w", encoding="utf-8") as out:
        have = set(read([given.out])) if given.more else set()
        run_files([f for f in files[:: given.sample] if f not in have], prefix, given, out)
    return 0


def check(given: argparse.Namespace) -> int:
    counted = read_list(LISTS / "counted.txt")
    faults = 0
    for device in given.devices:
        kept = read_list(LISTS / f"{device}.txt")
        files = [f for f in sorted(counted)[:: given.sample] if f in kept]
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as out:
            run_files(files, door(device), given, out)
            results = read([out.name])
        passed, before = 0, faults
        for file in files:
            good = len(passing(file, counted, results[file]))
            bad = wanted_of(file, counted, results[file])[1]
            passed += good
            number, known = kept[file]
            wrong = [f"no longer passes: {s}" for s in sorted(bad - set(known))]
            wrong += [f"passes now; its line is not needed: {s}" for s in sorted(set(known) - bad)]
            if good != number and not wrong:
                wrong.append(f"{good} pass, {number} did ({results[file].get('')})")
            for line in wrong:
                print(f"piglit_cl: {device}: {file}: {line}", file=sys.stderr)
            faults += len(wrong)
        print(f"piglit_cl: {device}: {passed} subtests of {len(files)} files pass, as listed" if faults == before else
              f"piglit_cl: {device}: {passed} subtests of {len(files)} files pass")
        if not files:
            print(f"piglit_cl: {device}: nothing of its list was run", file=sys.stderr)
            faults += 1
    return 1 if faults else 0


def table(_: argparse.Namespace) -> int:
    low = False
    for device in DEVICES:
        path = LISTS / f"{device}.txt"
        if path.exists():
            head = path.read_text(encoding="utf-8").splitlines()[0][2:]
            print(f"{device}: {head}")
            low = low or float(re.search(r"\(([0-9.]+) %\)", head)[1]) < LEAST
    return 1 if low else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("--out", required=True)
    one.add_argument("--device", choices=DEVICES)
    one.add_argument("--prefix", default="", help="what stands before the test program, without --device")
    one.add_argument("--more", action="store_true", help="only files that are not in --out yet")
    one.add_argument("--all", action="store_true", help="files that do not count too")
    one.add_argument("files", nargs="*")
    one.set_defaults(do=run)
    two = commands.add_parser("check")
    two.add_argument("devices", nargs="+", choices=DEVICES)
    two.set_defaults(do=check)
    for command, sample in ((one, 1), (two, 40)):
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        command.add_argument("--sample", type=int, default=sample, help="one file in N")
        command.add_argument("--seconds", type=int, default=300, help="longest time a file may take")
    three = commands.add_parser("keep")
    three.add_argument("device", choices=DEVICES)
    three.add_argument("results", nargs="+")
    three.set_defaults(do=keep)
    four = commands.add_parser("count")
    four.add_argument("--judge", required=True)
    four.add_argument("--idle", nargs="+", required=True)
    four.set_defaults(do=count)
    commands.add_parser("table").set_defaults(do=table)
    given = parser.parse_args()
    if given.do in (run, check) and not TESTER.exists():
        print("piglit_cl: the package piglit is missing: scripts/setup.sh", file=sys.stderr)
        return 2
    return given.do(given)


if __name__ == "__main__":
    sys.exit(main())
