#!/usr/bin/env python3
"""Each feature of spec/generations.toml has a reader, and its `readers` are the places that read it.

A feature that nothing reads is not a fact of the model. A feature whose reader is in a place that its description does not
name may have a second meaning: the place then needs a feature of its own, or the description must name it. A place is a room
of src/ or, in a room with sub-rooms, one of these ("driver/hw").

A feature is a fact of hardware. What Linux refuses or shows to programs is a fact of its own, in `interface` of
spec/devices.toml, even if today's chips with the feature are the same: front ends read no feature, and no feature is the
condition of an error number.
"""
import collections
import pathlib
import re
import sys
import tomllib

READ = re.compile(r"\bFeature::(\w+)")
FOLDERS = ("src", "frontends")


REFUSES = re.compile(r"\bif \([^;]*\bFeature::(\w+)[^;]*\)\s*\{?\s*return -E\w+;")


def room_of(place: pathlib.PurePath) -> str:
    """Returns the room, with its sub-room if the file is in one."""
    return "frontends" if place.parts[0] == "frontends" else "/".join(place.parts[1:-1])


def stand_ins(files):
    """Reports features that stand for what Linux refuses or shows."""
    faults = []
    for place, text in files:
        code = "\n".join(line.split("//")[0] for line in text.splitlines())
        for name in REFUSES.findall(code):
            faults.append(f"feature {name}: {place} returns an error number because of it; "
                          "what Linux refuses is a fact of `interface` in spec/devices.toml")
        for name in READ.findall(code) if room_of(pathlib.PurePath(place)) == "frontends" else []:
            faults.append(f"feature {name}: {place} reads it; what Linux shows is a fact of `interface` in spec/devices.toml")
    return faults


def rooms_of_readers(files):
    """Maps a feature to the rooms that read it. `files`: (path from the root, text)."""
    rooms = collections.defaultdict(set)
    for place, text in files:
        for line in text.splitlines():
            for name in READ.findall(line.split("//")[0]):
                rooms[name].add(room_of(pathlib.PurePath(place)))
    return rooms


def faults_of(features, rooms):
    faults = []
    for name, table in features.items():
        stated, found = table.get("readers", []), sorted(rooms.get(name, ()))
        if not found:
            faults.append(f"feature {name}: nothing reads it; delete it, or make its reader ask for it")
        for room in sorted(set(found) - set(stated)):
            faults.append(f"feature {name}: {room} reads it, but `readers` does not name {room}; "
                          "if it means another fact there, give it another feature")
        for room in sorted(set(stated) - set(found)) if found else []:
            faults.append(f"feature {name}: `readers` names {room}, which does not read it")
        if stated != sorted(set(stated)):
            faults.append(f"feature {name}: `readers` is not sorted or names a room twice")
        doc = table.get("doc", "")
        if not doc.endswith("."):
            faults.append(f"feature {name}: `doc` is not a sentence")
    return faults


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    with open(root / "spec" / "generations.toml", "rb") as file:
        features = tomllib.load(file)["feature"]
    files = [(path.relative_to(root), path.read_text()) for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".h", ".cpp")]
    faults = faults_of(features, rooms_of_readers(files)) + stand_ins(files)
    print("\n".join(faults) if faults else f"features: {len(features)}, each with the readers that it names")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
