#!/usr/bin/env python3
"""Runs programs of other projects that show frames on card0 or draw without a screen (screens.toml): unmodified, with unmodified
drivers, under `halogen run`. Their frames are compared with those that Mesa's software driver draws for the same program on the
same card, or with a formula. Programs that are not installed are skipped.

usage: screens.py [device...]     HALOGEN: another tool
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

import png_pixels
from reports import unsupported
from scenes import HALOGEN, SOFTWARE, driver_settings

HERE = pathlib.Path(__file__).resolve().parent
DEVICES = ["skl", "icl", "dg1"]
LONGEST = 300  # seconds for a program
TILE = 64
WESTON = """[core]
idle-time=0
[shell]
panel-position=none
background-image={tile}
background-type=tile
animation=none
startup-animation=none
locking=false
"""


def tile(x, y):
    return (4 * x, 4 * y, 2 * x + 2 * y)


def run(row, device, work, out, **more):
    """Runs a program with its frames in `out`; returns its status, 0 if it was ended after its frames, and its output."""
    out.mkdir()
    words = [word.replace("WORK", str(out)) for word in row["words"]]
    (out / "weston.ini").write_text(WESTON.format(tile=work / "tile.png"), encoding="utf-8")
    (out / "run").mkdir(mode=0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(out / "run"), "HOME": str(out), "SEATD_VTBOUND": "0",
                   "MESA_SHADER_CACHE_DISABLE": "true", "HALOGEN_CLOCK": "device", **more}
    endless = row.get("endless", False)
    with open(out / "said", "w", encoding="utf-8") as said, subprocess.Popen(
            ["timeout", "-s", "TERM", str(LONGEST), HALOGEN, "run", "--device", device, "--frames", out, "--report", out / "report.json",
             "--", *words], env=environment, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT, cwd=out) as running:
        # The program's input stays open: kmscube ends at its end.
        while endless and running.poll() is None and not (out / f"frame-{max(row['frames']):04}.png").exists():
            time.sleep(0.2)
        if endless:
            time.sleep(1)  # the file is complete
            running.terminate()
        status = running.wait()
    return 0 if endless and status in (0, 124, -15, 143) else status, (out / "said").read_text(encoding="utf-8", errors="replace")


def frame(out, number):
    path = out / f"frame-{number:04}.png"
    return png_pixels.read(path) if path.exists() else None


def far_pixels(drawn, wanted):
    """Returns how many pixels of 1000 differ by more than 2."""
    (width, height, rows), (_, _, right) = drawn, wanted
    far = 0
    for mine, theirs in zip(rows, right):
        if mine != theirs:
            far += sum(1 for x in range(0, len(mine), 3) if any(abs(mine[x + i] - theirs[x + i]) > 2 for i in range(3)))
    return 1000 * far / (width * height)


def same_frames(row, out, judge):
    for number in row["frames"]:
        drawn, wanted = frame(out, number), frame(judge, number + row.get("ahead", 0))
        if not drawn or not wanted:
            return f"frame {number} is missing" + ("" if wanted else " (with the software driver)")
        if len(set(b"".join(wanted[2][::16]))) < 8:
            return f"frame {number} of the software driver is empty"
        if drawn[:2] != wanted[:2]:
            return f"frame {number} has {drawn[0]}x{drawn[1]} pixels, not {wanted[0]}x{wanted[1]}"
        if (far := far_pixels(drawn, wanted)) > row["most"]:
            return f"frame {number}: {far:.1f} of 1000 pixels differ"
    return ""


def right_colour(row, out):
    shown = frame(out, row["frames"][0])
    if not shown:
        return "the frame is missing"
    wanted = bytes(row["colour"])
    wrong = sum(1 for line in shown[2] for x in range(0, len(line), 3) if max(abs(a - b) for a, b in zip(line[x:x + 3], wanted)) > 1)
    return f"{wrong} pixels are not {row['colour']}" if wrong else ""


def right_tiles(row, out):
    path = out / row["picture"] if "picture" in row else out / f"frame-{row['frames'][0]:04}.png"
    if not path.exists():
        return f"{path.name} is missing"
    width, _, rows = png_pixels.read(path)
    wanted = [b"".join(bytes(tile(x % TILE, y)) for x in range(width)) for y in range(TILE)]
    wrong = sum(1 for y, line in enumerate(rows) if line != wanted[y % TILE])
    return f"{wrong} of {len(rows)} rows are wrong" if wrong else ""


def fault_of(row, device, work, judges):
    """Returns what is wrong with a program on a device, if anything."""
    out = work / f"{row['name']}-{device}".replace(" ", "_").replace(",", "")
    status, said = run(row, device, work, out, **driver_settings("vulkan", device))
    lines = [line for line in said.splitlines() if re.search(row.get("lines", "$^"), line)]
    last = " | ".join(said.strip().splitlines()[-2:])
    if status:
        return f"status {status}: {last}"
    report = out / "report.json"
    for path in [report, *report.parent.glob("report.json.*")]:
        if path.exists() and (names := unsupported(path)):
            return f"unsupported: {names[0]}"
    like = row.get("like", row["name"])
    if row["judge"] in ("frames", "lines") and like not in judges:
        soft = work / f"{like}-software".replace(" ", "_").replace(",", "")
        wrong, text = run(row, device, work, soft, **SOFTWARE, GBM_ALWAYS_SOFTWARE="1")
        if wrong:
            return f"the software driver failed with status {wrong}"
        judges[like] = soft, [line for line in text.splitlines() if re.search(row.get("lines", "$^"), line)]
    match row["judge"]:
        case "frames":
            return same_frames(row, out, judges[like][0])
        case "lines":
            wanted = judges[like][1]
            apart = [line for line in lines if line not in wanted] or (["lines are missing"] if lines != wanted or not lines else [])
            return apart[0] if apart else ""
        case "colour":
            return right_colour(row, out)
        case "tiles":
            return right_tiles(row, out)
    return "" if lines else f"it does not end well: {last}"


def main():
    failed = False
    rows = tomllib.loads((HERE / "screens.toml").read_text(encoding="utf-8"))["program"]
    missing = sorted({row["package"] for row in rows if not shutil.which(row["package"])})
    if missing:
        print(f"screens: not installed, skipped: {' '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        png_pixels.write(work / "tile.png", TILE, TILE, tile)
        judges = {}
        for device in sys.argv[1:] or DEVICES:
            for row in rows:
                if row["package"] in missing:
                    continue
                if fault := fault_of(row, device, work, judges):
                    print(f"screens: {device}: {row['name']}: {fault}", file=sys.stderr)
                    failed = True
                else:
                    print(f"screens: {device}: {row['name']} is right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
