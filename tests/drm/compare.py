#!/usr/bin/env python3
"""Compares the values of the suite (drm_suite --values) with the answers of Linux's i915.

usage: compare.py [--slow|--screen] [--only CASES] [--explained FILE] DEVICE=VALUES...
       compare.py [--slow|--screen] --write DEVICE=VALUES...   (from the real driver only)

Answers of the real driver are in i915-6.1: common.txt holds the answers that all chips share, <device>.txt the others; those of
the slow cases are in its folder slow. A line of the list of explained differences is `devices | case and name, * for anything |
why`. If all devices and cases were compared, a line that explains no difference is an error. --only: cases whose names begin
with one of these words.
"""
import fnmatch
import pathlib
import sys

FACTS = pathlib.Path(__file__).resolve().parent / "i915-6.1"


def read(path):
    text = pathlib.Path(path).read_text(errors="replace").replace("\r", "")
    return sorted({line for line in text.splitlines() if "=" in line})


def facts(device):
    return set(read(FACTS / "common.txt")) | set(read(FACTS / f"{device}.txt"))


def write(values):
    everywhere = set.intersection(*(set(lines) for lines in values.values()))
    FACTS.mkdir(parents=True, exist_ok=True)
    for device, lines in values.items():
        own = [line for line in lines if line not in everywhere]
        (FACTS / f"{device}.txt").write_text("\n".join(own) + "\n")
    (FACTS / "common.txt").write_text("\n".join(sorted(everywhere)) + "\n")


def read_explained(path):
    rows = []
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            devices, pattern, _ = (part.strip() for part in line.split("|"))
            rows.append({"devices": devices.split(), "pattern": pattern, "used": False, "line": line})
    return rows


def explains(row, device, name):
    if not fnmatch.fnmatchcase(name, row["pattern"]):
        return False
    if not any(fnmatch.fnmatchcase(device, pattern) for pattern in row["devices"]):
        return False
    row["used"] = True
    return True


def main(words):
    global FACTS
    explained = []
    if words[:1] in (["--slow"], ["--screen"]):
        FACTS, words = FACTS / words[0][2:], words[1:]
    starts = ("",)
    if words[:1] == ["--only"]:
        starts, words = tuple(words[1].split()), words[2:]
    if words[:1] == ["--explained"]:
        explained, words = read_explained(words[1]), words[2:]
    writes = words[:1] == ["--write"]
    values = {device: read(path) for device, path in (word.split("=", 1) for word in words[writes:])}
    if not values:
        sys.exit(__doc__)
    if writes:
        write(values)
        return 0
    wrong = 0
    for device, lines in values.items():
        known = {line for line in facts(device) if line.startswith(starts)}
        seen, allowed, bad = set(lines), 0, 0
        for line, side in sorted([(line, "i915") for line in known - seen] + [(line, "ours") for line in seen - known]):
            if any([explains(row, device, line.split("=")[0]) for row in explained]):
                allowed += 1
            else:
                bad += 1
                print(f"{device}: {side}: {line}")
        print(f"{device}: {len(known & seen)} answers as i915's, {allowed} explained, {bad} not")
        wrong += bad
    all_there = {path.stem for path in FACTS.glob("*.txt")} - {"common"} <= set(values)
    for row in explained if all_there and starts == ("",) else []:
        if not row["used"]:
            print(f"explains nothing any more: {row['line']}")
            wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
