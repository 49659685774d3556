#!/usr/bin/env python3
"""Checks every #include in src/ and frontends/ against one order: lower rooms never include upper ones."""
import pathlib
import re
import sys

# Rooms on one line may not include each other.
ORDER = [
    ["base"],
    ["requirements", "spec", "hw", "picture"],
    ["gen"],
    ["memory", "surface", "mmio"],
    ["eu", "oa"],
    ["message"],
    ["blit", "compute", "pipe3d", "display"],
    ["engine", "interrupt", "platform", "debugger"],
    ["device"],
    ["trace", "driver"],
    ["decode"],
    ["frontends"],
]
# hw/ is generated beside spec/ and is read through it.
TOGETHER = {("spec", "hw"), ("hw", "spec")}
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)/')


def room_of(path: pathlib.Path) -> str:
    return "frontends" if path.parts[0] == "frontends" else path.parts[1]


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    faults = []
    for folder in ("src", "frontends"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            place = path.relative_to(root)
            here = room_of(place)
            if here not in RANK:
                faults.append(f"{place}: room '{here}' is missing in the order of scripts/lint/layers.py")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or match[1] not in RANK:
                    continue
                there = match[1]
                if there != here and RANK[there] >= RANK[here] and (here, there) not in TOGETHER:
                    faults.append(f"{place}:{number}: {here} may not include {there}")
    print("\n".join(faults) if faults else "layers: in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
