#!/usr/bin/env python3
"""Rejects generations by name or number outside src/gen and spec/: use a table, a range, a Feature or a Quirk."""
import pathlib
import re
import sys

PATTERNS = [
    re.compile(r"\bGenId::gen\d"),
    re.compile(r"\b(verx10|gen(eration)?(_number|\(\)|_id)?)\s*(>=|<=|==|!=|<|>)\s*[1-9G]"),
    re.compile(r"\bDeviceId::[a-z]"),
]


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    faults = []
    for folder in ("src", "frontends"):
        for path in sorted((root / folder).rglob("*")):
            place = path.relative_to(root)
            if path.suffix not in (".h", ".cpp") or place.parts[:2] == ("src", "gen"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0]
                if any(pattern.search(code) for pattern in PATTERNS):
                    faults.append(f"{place}:{number}: names a generation: {line.strip()}")
    print("\n".join(faults) if faults else "generations: none named outside src/gen and spec")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
