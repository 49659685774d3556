#!/usr/bin/env python3
"""Runs piglit's OpenGL tests (Debian's package piglit) on Mesa's drivers and the model, and keeps lists of passes.

    piglit_gl.py check DEVICE... [--sample N]      runs one counted test in N and compares with the device's list
    piglit_gl.py run --out RESULTS (--device D [--idle] | --judge) [--sample N] [--all] [--more] [--reports FOLDER] [TEST...]
    piglit_gl.py unsupported FOLDER                prints what the reports of such a run name as unsupported
    piglit_gl.py keep DEVICE RESULTS...            puts results of `run` into the device's list
    piglit_gl.py count --judge RESULTS [--idle RESULTS...]   writes piglit/gl/counted.txt
    piglit_gl.py show TEST                         prints the command line of a test
    piglit_gl.py table                             prints how many pass on each device; exit status 1 below 85 percent
    piglit_gl.py --lists FOLDER COMMAND...         uses the lists of another stack or of other tests (stacks/STACK/piglit)

The tests are those of shader_runner for GLSL 1.10, 1.20, 1.30 and 1.50, and those of the programs in piglit's folders fbo,
texturing and general (piglit/gl/programs.txt). A folder of lists with a file names.txt has the tests whose names its regular expressions find instead;
those that end with the word "not" are left out. The judge is llvmpipe; an idle device is Mesa's driver without submissions
(INTEL_NO_HW). A result counts if the judge passes and an idle device fails it: each subtest, or the whole test if it has no
subtests. A sample is chosen by a sum over the name, so that a larger sample contains every smaller one.

Files of shader_runner that need the same version of GL run in one process. A file that does not pass there is run alone before
it counts as failed. A test is late if it exceeds its limit of CPU time.
"""
import argparse
import ast
import collections
import collections.abc
import concurrent.futures
import dataclasses
import gzip
import itertools
import json
import os
import pathlib
import re
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
import zlib

import piglit_lists
from piglit_arguments import Arguments
from piglit_lists import HALOGEN, HERE, LATE, ROOT, SECONDS, Suite, read
from piglit_process import NO_CONTEXT, run_alone, run_together

SUITE = Suite("piglit_gl", HERE / "piglit/gl", ("g45", "snb", "bdw", "chv", "skl", "icl", "tgl", "dg1"), slow=3)
GLSL = tuple(f"spec@glsl-{v}@" for v in ("1.10", "1.20", "1.30", "1.50"))
LEAST = 85  # required percentage of counted results
TOGETHER = 40  # files per process
ENVIRONMENT = {"PIGLIT_PLATFORM": "surfaceless_egl", "PIGLIT_SOURCE_DIR": str(ROOT)}


@dataclasses.dataclass
class Test:
    command: list[str]
    needs: str  # GL version and extensions that a file requires


def named() -> collections.abc.Callable[[str], bool] | None:
    """Returns the rule of names.txt, if the lists have one."""
    path = SUITE.lists / "names.txt"
    if not path.exists():
        return None
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    wanted = [re.compile(row[0]) for row in rows if row[1:] != ["not"]]
    left_out = [re.compile(row[0]) for row in rows if row[1:] == ["not"]]
    return lambda name: any(r.search(name) for r in wanted) and not any(r.search(name) for r in left_out)


def all_tests() -> dict[str, Test]:
    programs = set((HERE / "piglit/gl/programs.txt").read_text(encoding="utf-8").split())
    rule = named()
    tests: dict[str, Test] = {}
    for profile in ("quick_shader", "quick_gl"):
        with gzip.open(ROOT / f"tests/{profile}.xml.gz") as packed:
            for test in ElementTree.parse(packed).getroot().iter("Test"):
                name = test.get("name", "")
                options = {o.get("name"): o.get("value", "") for o in test.iter("option")}
                command = ast.literal_eval(options.get("command", "[]"))
                plain = name.replace(" ", "_").replace("#", "_")
                if rule:
                    taken = rule(plain)
                else:
                    taken = name.startswith(GLSL) if profile == "quick_shader" else command and command[0] in programs
                if command and taken:
                    needs = " ".join(options.get(o, "") for o in ("api", "api_version", "shader_version", "extensions"))
                    tests[plain] = Test(command, needs)
    return tests


def sampled(names: list[str], n: int) -> list[str]:
    return [name for name in names if zlib.crc32(name.encode()) % n == 0]


class Runner:
    def __init__(self, prefix: list[str], seconds: float, jobs: int, idle: bool, out):
        self.prefix, self.seconds, self.jobs, self.idle, self.out = prefix, seconds, jobs, idle, out
        self.tests = all_tests()
        self.programs = ROOT / "bin"
        self.reports = ""  # a folder
        self.processes = itertools.count()
        self.lock = threading.Lock()

    def start(self) -> list[str]:
        if not self.reports:
            return self.prefix
        options = ["--report", f"{self.reports}/{os.getpid()}.{next(self.processes)}.json"]
        return [*self.prefix[:-1], *options, self.prefix[-1]]

    def command(self, name: str) -> list[str]:
        program, *words = self.tests[name].command
        return [*self.start(), str(self.programs / program), *words, "-auto", "-fbo"]

    def write(self, lines: list[str]) -> None:
        with self.lock:
            self.out.write("\n".join(lines) + "\n")
            self.out.flush()

    def alone(self, name: str) -> None:
        if lines := run_alone(name, self.command(name), self.seconds, ENVIRONMENT):
            self.write(lines)

    def together(self, names: list[str]) -> None:
        while len(names) > 1:
            files = [(name, self.tests[name].command[1]) for name in names]
            told, ended = run_together(files, [*self.start(), str(self.programs / "shader_runner")], self.seconds, ENVIRONMENT)
            if ended == NO_CONTEXT:  # all files of the group need the same GL version
                told = [(name, "skip", 0) for name in names]
            elif ended == LATE:
                told.append((names[len(told)], LATE, self.seconds))
            for name, status, took in told:
                if status in ("pass", "skip", LATE) or self.idle:
                    self.write([f"{name}# {status}", f"{name}#{SECONDS} {took:.1f}"])
                else:
                    self.alone(name)
            names = names[len(told):]
            if names and ended != LATE:
                self.alone(names[0])
                names = names[1:]
        for name in names:
            self.alone(name)

    def run(self, names: list[str]) -> None:
        groups: dict[str, list[str]] = {}
        alone = []
        for name in names:
            if self.tests[name].command[0] == "shader_runner" and len(self.tests[name].command) == 2:
                groups.setdefault(self.tests[name].needs, []).append(name)
            else:
                alone.append([name])
        work = []
        for group in groups.values():
            size = min(TOGETHER, -(-len(group) // self.jobs))
            work += [group[i:i + size] for i in range(0, len(group), size)]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(self.together, work + alone))


def door(device: str, idle: bool = False) -> list[str]:
    return ["env", *(["INTEL_NO_HW=1"] if idle else []), HALOGEN, "run", "--device", device, "--"]


def run(given: argparse.Namespace) -> int:
    names = given.tests or sorted(all_tests() if given.all else SUITE.counted())
    prefix = ["env", "LIBGL_ALWAYS_SOFTWARE=1", "GALLIUM_DRIVER=llvmpipe"]
    if not given.judge:
        prefix = door(given.device, given.idle)
    with open(given.out, "a" if given.more else "w", encoding="utf-8") as out:
        have = set(read([given.out])) if given.more else set()
        runner = Runner(prefix, given.seconds, given.jobs, given.idle, out)
        runner.reports = given.reports
        runner.run([n for n in sampled(names, given.sample) if n not in have])
    return 0


def unsupported(given: argparse.Namespace) -> int:
    found: collections.Counter = collections.Counter()
    for path in pathlib.Path(given.folder).glob("*.json*"):
        if text := path.read_text(encoding="utf-8"):
            for kind, entries in json.loads(text).items():
                if isinstance(entries, list):
                    found.update(f"{kind}: {e['name']}: {e.get('reason', '')}" for e in entries if e["class"] == "unsupported")
    for line, processes in found.most_common():
        print(f"{processes} {line}")
    return 0


def check(given: argparse.Namespace) -> int:
    faults = 0
    for device in given.devices:
        names = sampled(sorted(piglit_lists.in_check(SUITE, device)), given.sample)
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as out:
            Runner(door(device), given.seconds, given.jobs, False, out).run(names)
            faults += piglit_lists.compare(SUITE, device, names, read([out.name]))
    return 1 if faults else 0


def show(given: argparse.Namespace) -> int:
    command = all_tests()[given.test].command
    print(" ".join(["bin/" + command[0], *command[1:], "-auto", "-fbo"]))
    return 0


def main() -> int:
    global SUITE
    if sys.argv[1:2] == ["--lists"] and len(sys.argv) > 2:
        SUITE = dataclasses.replace(SUITE, lists=pathlib.Path(sys.argv[2]))
        del sys.argv[1:3]
    arguments = Arguments(__doc__, SUITE, "test", seconds=60)
    where = arguments.run.add_mutually_exclusive_group(required=True)
    where.add_argument("--device", choices=SUITE.devices)
    where.add_argument("--judge", action="store_true", help="on llvmpipe")
    arguments.run.add_argument("--idle", action="store_true", help="the device executes nothing")
    arguments.run.add_argument("--reports", default="", help="a folder for the reports of all processes")
    arguments.run.add_argument("tests", nargs="*")
    reports = arguments.commands.add_parser("unsupported")
    reports.add_argument("folder")
    reports.set_defaults(do=unsupported)
    shown = arguments.commands.add_parser("show")
    shown.add_argument("test")
    shown.set_defaults(do=show)
    return arguments.main(run, check, LEAST, "llvmpipe", (ROOT / "bin/shader_runner").exists())


if __name__ == "__main__":
    sys.exit(main())
