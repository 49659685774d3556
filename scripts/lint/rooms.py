#!/usr/bin/env python3
"""Every room has a README of at most 20 lines, and the names in it and in docs/walks.md exist.

Names are the words in backticks: files and folders must exist in the room or in the tree; identifiers must occur in the sources of
the room (of all rooms for the walks). Commands with spaces, options and file patterns are not checked.
"""
import pathlib
import re
import sys

LONGEST = 20
NAME = re.compile(r"`([^`\n]+)`")
IDENTIFIER = re.compile(r"[A-Za-z_][\w:]*(\(\))?")


def unknown_names(root: pathlib.Path, room: pathlib.Path, text: str, sources: str) -> list[str]:
    """Returns the names in the text that neither the tree nor the room's sources have."""
    unknown = []
    for name in NAME.findall(text):
        if " " in name or any(char in name for char in "*<") or name.startswith("-"):
            continue
        if "/" in name or "." in name:
            places = [root / name, room / name, *room.glob(f"**/{name}")]
            if not any(place.exists() for place in places) and name.lstrip("/").split("/")[0] not in ("sys", "dev"):
                unknown.append(name)
        elif name.startswith("fuzz_"):
            if not (root / "tests" / "fuzz" / (name.removeprefix("fuzz_") + ".cpp")).exists():
                unknown.append(name)
        elif IDENTIFIER.fullmatch(name):
            word = name.removesuffix("()").split("::")[-1]
            if not re.search(rf"\b{re.escape(word)}\b", sources) and not (root / "tests" / "unit" / word).exists():
                unknown.append(name)
    return unknown


def text_below(folder: pathlib.Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".cpp", ".c", ".txt"))


def faults_of(root: pathlib.Path) -> list[str]:
    faults = []
    everything = []
    for room in sorted([*(root / "src").iterdir(), *(root / "frontends").iterdir()]):
        if not room.is_dir():
            continue
        readme = room / "README.md"
        place = readme.relative_to(root)
        if not readme.exists():
            faults.append(f"{place}: missing; say what the room models, its entry points, what is left out, which manual")
            continue
        text = readme.read_text()
        if text.count("\n") > LONGEST:
            faults.append(f"{place}: {text.count(chr(10))} lines; at most {LONGEST}")
        sources = text_below(room)
        everything.append(sources)
        faults += [f"{place}: `{name}` is not in the room" for name in unknown_names(root, room, text, sources)]
    walks = root / "docs" / "walks.md"
    if walks.exists():
        names = unknown_names(root, root / "src", walks.read_text(), "\n".join(everything))
        faults += [f"docs/walks.md: `{name}` is not in the tree" for name in names]
    return faults


def main() -> int:
    faults = faults_of(pathlib.Path(__file__).resolve().parents[2])
    print("\n".join(faults) if faults else "rooms: every README is there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
