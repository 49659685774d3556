#!/usr/bin/env python3
"""Checks a guest kernel's log by the priorities of its lines: warnings and worse (0 to 4) are complaints, whatever their
text, unless tests/golden/kernel-log.txt allows them for this chip, each with a reason.
usage: kernel_log.py DEVICE FILE   (FILE holds lines "kernel: <PRIORITY>[time] text", from dmesg -r)"""
import pathlib
import re
import sys

WARNING = 4
LINE = re.compile(r"^kernel: <(\d+)>(?:\[ *[\d.]+\] ?)?(.*)$")
ROW = re.compile(r"^(\S+) (always|sometimes) /(.+)/ ; (.+)$")


def allowed(device: str) -> list[tuple[re.Pattern, str]]:
    path = pathlib.Path(__file__).resolve().parents[1] / "golden" / "kernel-log.txt"
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        row = ROW.match(line)
        if row is None:
            raise SystemExit(f"kernel_log: {path.name}:{number}: not of the form: CHIP always|sometimes /TEXT/ ; REASON")
        if row[1] in ("all", device):
            rows.append((re.compile(row[3]), row[2]))
    return rows


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: kernel_log.py DEVICE FILE", file=sys.stderr)
        return 2
    rows = allowed(sys.argv[1])
    seen = set()
    faults = []
    lines = 0
    for line in pathlib.Path(sys.argv[2]).read_text(errors="replace").splitlines():
        part = LINE.match(line)
        if part is None:
            continue
        lines += 1
        if int(part[1]) % 8 > WARNING:
            continue
        found = [number for number, (text, _) in enumerate(rows) if text.search(part[2])]
        seen.update(found)
        if not found:
            faults.append(f"<{part[1]}> {part[2]}")
    if lines < 100:
        faults.append(f"the log has {lines} lines with a priority: it is not whole")
    faults += [
        f"the guest's kernel no longer says /{text.pattern}/: the list need not allow it"
        for number, (text, when) in enumerate(rows)
        if when == "always" and number not in seen
    ]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
