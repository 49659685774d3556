#!/usr/bin/env python3
"""Compares the benchmarks of several builds. The first build is the reference.

Each round runs each program once per build; the builds alternate, and their order changes with each round. The best time of a row
counts. A row of a Google Benchmark is CPU time; a row of memory_bench is the ratio or cost that it prints. The table shows the
geometric mean, the median, the slowest and the fastest row relative to the reference, and then each row that is slower than the
limit. A benchmark name that a build does not have is left out with a line that says so.

usage: compare.py [--rounds N] [--bench NAME[,NAME...]] [--filter REGEX] [--limit RATIO] BUILD BUILD...
       BUILD is a build folder (build) or its bin folder, optionally with a label: before=../old/build
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

DEFAULT = "eu_exec,raster,dispatch,engine,blit,memory,mmio,context"


def folder_of(text: str) -> tuple[str, pathlib.Path]:
    label, _, path = text.rpartition("=")
    folder = pathlib.Path(path)
    folder = folder / "bin" if (folder / "bin").is_dir() else folder
    return label or path, folder


def google_rows(program: pathlib.Path, pattern: str) -> dict[str, float]:
    """Returns the CPU time of an iteration of each row."""
    rows: dict[str, float] = {}
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, f"--benchmark_out={out.name}", "--benchmark_out_format=json",
                        f"--benchmark_filter={pattern or '.'}", "--benchmark_min_time=0.1"], capture_output=True, check=True)
        report = json.load(out)
    for row in report["benchmarks"]:
        if row.get("run_type") == "iteration" and not row.get("error_occurred"):
            rows[row["name"]] = min(row["cpu_time"], rows.get(row["name"], math.inf))
    return rows


def memory_rows(program: pathlib.Path, pattern: str) -> dict[str, float]:
    """Returns a time for each row of memory_bench: the inverse of its rate or ratio, or its cost."""
    done = subprocess.run([program, "1"], capture_output=True, text=True, check=True)
    rows = {}
    for kind, name, value in re.findall(r"^(ratio|cost) +(\S+) +([0-9.]+) (?:ns|  raw)?", done.stdout, re.M):
        if re.search(pattern or ".", name) and float(value) > 0:
            rows[name] = float(value) if kind == "cost" else 1 / float(value)
    for name, rate in re.findall(r"^ratio +(\S+) .*modelled ([0-9.]+)", done.stdout, re.M):
        if name in rows:
            rows[name] = 1 / float(rate)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bench", default=DEFAULT)
    parser.add_argument("--filter", default="")
    parser.add_argument("--limit", type=float, default=1.03)
    parser.add_argument("build", nargs="+")
    arguments = parser.parse_args()
    builds = [folder_of(text) for text in arguments.build]
    if len(builds) < 2:
        parser.error("name two builds or more; the first one is the reference")
    if len({label for label, _ in builds}) < len(builds):
        parser.error("two builds have the same label; write label=folder")
    slow = False
    for bench in arguments.bench.split(","):
        rows_of = memory_rows if bench == "memory" else google_rows
        missing = [label for label, folder in builds if not os.access(folder / f"{bench}_bench", os.X_OK)]
        if missing:
            print(f"{bench}: not built in {', '.join(missing)}; left out")
            continue
        best: dict[str, dict[str, float]] = {label: {} for label, _ in builds}
        for turn in range(arguments.rounds):
            for label, folder in builds[turn % len(builds):] + builds[:turn % len(builds)]:
                for name, value in rows_of(folder / f"{bench}_bench", arguments.filter).items():
                    best[label][name] = min(value, best[label].get(name, math.inf))
        reference = best[builds[0][0]]
        for label, _ in builds[1:]:
            ratios = {name: best[label][name] / value for name, value in reference.items() if name in best[label] and value > 0}
            if not ratios:
                print(f"{bench}: no common rows of {builds[0][0]} and {label}")
                continue
            mean = math.exp(statistics.fmean(math.log(r) for r in ratios.values()))
            print(f"{bench:9} {label:12} rows {len(ratios):3}  mean {mean:.3f}  median {statistics.median(ratios.values()):.3f}  "
                  f"slowest {max(ratios.values()):.3f}  fastest {min(ratios.values()):.3f}", flush=True)
            for name, ratio in sorted(ratios.items(), key=lambda item: -item[1]):
                if ratio > arguments.limit:
                    slow = True
                    print(f"            {name}: {ratio:.3f}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
