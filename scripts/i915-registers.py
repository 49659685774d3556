#!/usr/bin/env python3
"""Checks and extends the lists of registers that Linux's i915 touches: tests/golden/i915-registers/<device>.txt.

usage: i915-registers.py check DEVICE RUN            checks that every register of a run (halogen vm --registers RUN) is listed
       i915-registers.py write DEVICE [RUN...] [--log LOG...]
                                                     adds the registers of runs and logs, with classes from the model

A line of a list: offset, how it is touched (r, w), the model's class, name, and after "; " the reason why an unclaimed
register may stay so. A LOG is a text whose words "hex(reads/writes)" name offsets, as a stub of a device writes them.
"""
import lzma
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "golden" / "i915-registers"
CLASSES = ["unclaimed", "storage", "semantics"]
NO_REASON = "no reason yet"
HEAD = """\
# Registers that i915 of Linux 6.1 touches on {device} while it binds, runs frontends/vm/guest, resets and shows its files.
# offset, touched (r, w), class of the model's answer, name ; why it may stay unclaimed
# Written by scripts/i915-registers.py; docs/boot-linux.md says what for.
"""


def read_lines(path):
    """Returns offset -> [touch, class, name, reason]."""
    rows = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        body, _, reason = line.partition(" ; ")
        words = body.split(None, 3)
        if len(words) != 4 or words[2] not in CLASSES:
            sys.exit(f"{path}:{number}: the line does not have the form: offset touch class name")
        rows[int(words[0], 16)] = [words[1], words[2], words[3].strip(), reason.strip()]
    return rows


def merge_touch(one, other):
    return "".join(a if a != "-" else b for a, b in zip(one, other))


def read_log(path, limit):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt") as file:
        words = re.findall(r"\b([0-9a-f]+)\((\d+)/(\d+)\)", file.read())
    rows = {}
    for offset, reads, writes in words:
        at = int(offset, 16) & ~3
        if at < limit:
            touch = ("r" if int(reads) else "-") + ("w" if int(writes) else "-")
            rows[at] = merge_touch(rows.get(at, "--"), touch)
    return rows


def ask_model(device, offsets):
    tool = str(ROOT / "build" / "bin" / "halogen")
    text = subprocess.run([tool, "registers", "--device", device] + [hex(o) for o in offsets],
                          check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in text.splitlines():
        offset, _, answer, name = line.split(None, 3)
        rows[int(offset, 16)] = (answer, name)
    return rows


def check(device, run):
    listed = read_lines(FOLDER / f"{device}.txt")
    touched = read_lines(run)
    bad, new = [], []
    for offset, (touch, answer, name, _) in sorted(touched.items()):
        if offset not in listed:
            # Which registers a driver touches depends a little on time. A new register is accepted if the model claims it;
            # an unclaimed one is not.
            (bad if answer == "unclaimed" else new).append(f"{offset:#08x} {touch} {answer} {name}: not in the list")
            continue
        known = listed[offset]
        if merge_touch(known[0], touch) != known[0]:
            new.append(f"{offset:#08x} {touch} {answer} {name}: the list has only {known[0]}")
        if CLASSES.index(answer) < CLASSES.index(known[1]):
            bad.append(f"{offset:#08x} {name}: was {known[1]}, is {answer}")
    counts = ", ".join(f"{sum(row[1] == name for row in touched.values())} {name}" for name in reversed(CLASSES))
    print(f"i915-registers: {device}: {len(touched)} registers touched ({counts}); the list has {len(listed)}")
    for line in bad + new:
        print(f"i915-registers: {device}: {line}", file=sys.stderr)
    return 1 if bad or not touched else 0


def write(device, runs, logs):
    path = FOLDER / f"{device}.txt"
    rows = read_lines(path) if path.exists() else {}
    touches = {offset: row[0] for offset, row in rows.items()}
    for run in runs:
        for offset, row in read_lines(run).items():
            touches[offset] = merge_touch(touches.get(offset, "--"), row[0])
    text = subprocess.run([str(ROOT / "build" / "bin" / "halogen"), "registers", "--device", device, "0xfffffffc"],
                          capture_output=True, text=True).stderr
    limit = int(re.search(r"below (0x[0-9a-f]+)", text).group(1), 16)
    for log in logs:
        for offset, touch in read_log(log, limit).items():
            touches[offset] = merge_touch(touches.get(offset, "--"), touch)
    answers = ask_model(device, sorted(touches))
    out = HEAD.format(device=device)
    for offset in sorted(touches):
        answer, name = answers[offset]
        reason = ""
        if answer == "unclaimed":
            reason = " ; " + (rows[offset][3] if offset in rows and rows[offset][3] else NO_REASON)
        out += f"{offset:#08x} {touches[offset]} {answer:<9} {name}{reason}\n"
    path.write_text(out)
    return 0


def main(words):
    if len(words) == 3 and words[0] == "check":
        return check(words[1], pathlib.Path(words[2]))
    if len(words) >= 2 and words[0] == "write":
        at = words.index("--log") if "--log" in words else len(words)
        return write(words[1], [pathlib.Path(w) for w in words[2:at]], [pathlib.Path(w) for w in words[at + 1:]])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
