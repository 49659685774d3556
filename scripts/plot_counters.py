#!/usr/bin/env python3
"""Draws a file of `halogen run --counters` (CSV) as an SVG: one panel for each counter, over virtual time. Shares (%) are
averages; other counters are rates for a microsecond. A counter that stays 0 has no panel unless it is named.
usage: plot_counters.py FILE.csv FILE.svg [--title TEXT] [--from US] [--to US] [COUNTER...]"""
import argparse
import csv
import html
import sys

WIDTH, LEFT, RIGHT, TOP, PANEL, GAP, BOTTOM = 640, 190, 80, 34, 44, 14, 34
BUCKETS = 240
TIMES = ("GpuTime", "GpuCoreClocks", "AvgGpuCoreFrequency")  # the same in each interval
FILL = {"%": "#4878a8", "threads": "#6a9a58", "pixels": "#b07040", "texels": "#b07040"}


def read(name):
    """Returns the names of counters with their units, and the intervals: begin, end, values."""
    with open(name, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if len(rows) < 2:
        sys.exit(f"plot_counters: {name}: no samples.")
    columns = [column.rstrip(")").split(" (") for column in rows[0]]
    length = next((index for index, column in enumerate(columns) if column[0] == "GpuTime"), None)
    if columns[0] != ["time", "ns"] or length is None:
        sys.exit(f"plot_counters: {name}: not a file of halogen run --counters.")
    intervals = []
    for row in rows[1:]:
        end = float(row[0])
        intervals.append((end - float(row[length]), end, [float(cell) if cell else 0.0 for cell in row[2:]]))
    return columns[2:], intervals


def sample(intervals, index, share, begin, end):
    """Returns the value in each bucket: the mean of a share, or the rate of a count, weighted by time."""
    step = (end - begin) / BUCKETS
    sums = [0.0] * BUCKETS
    for first, last, values in intervals:
        value = values[index] if share else values[index] * 1000 / (last - first)  # for a microsecond
        low, high = max(first, begin), min(last, end)
        bucket = int((low - begin) / step) if low < high else BUCKETS
        while value and bucket < BUCKETS and begin + bucket * step < high:
            covered = min(high, begin + (bucket + 1) * step) - max(low, begin + bucket * step)
            sums[bucket] += value * max(covered, 0) / step
            bucket += 1
    return sums


def nice(value):
    """Returns the next number above with one or two digits."""
    scale = 1.0
    while value > 10 * scale:
        scale *= 10
    while value <= scale and scale > 1e-9:
        scale /= 10
    return next(factor * scale for factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if value <= factor * scale * 1.0001)


def short(value):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:.3g}"


def panel(y, name, unit, values):
    most = nice(max(max(values), 1e-6))
    points, last = [], None
    for bucket, value in enumerate(values):
        height = round(PANEL * (1 - value / most))
        if height != last:
            points.append(f"H{LEFT + bucket * (WIDTH - LEFT - RIGHT) // BUCKETS}V{y + height}")
            last = height
    right, base = WIDTH - RIGHT, y + PANEL
    label = "0" if not any(values) else f"{short(most)} %" if unit == "%" else f"{short(most)}/us"
    return [
        f'<path d="M{LEFT} {base}{"".join(points)}H{right}V{base}Z" fill="{FILL.get(unit, "#80689a")}"/>',
        f'<path d="M{LEFT} {base}H{right}" stroke="#999"/><path d="M{LEFT} {y}H{right}" stroke="#ddd"/>',
        f'<text x="{LEFT - 8}" y="{y + PANEL // 2 + 4}" text-anchor="end">{html.escape(name)}</text>',
        f'<text x="{right + 6}" y="{y + 5}" class="s">{label}</text>',
    ]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("csv")
    parser.add_argument("svg")
    parser.add_argument("--title", default="")
    parser.add_argument("--from", dest="begin", type=float)
    parser.add_argument("--to", dest="end", type=float)
    parser.add_argument("counters", nargs="*")
    options = parser.parse_intermixed_args()
    columns, intervals = read(options.csv)
    names = [name for name, _ in columns]
    if unknown := [name for name in options.counters if name not in names]:
        sys.exit(f"plot_counters: unknown counter {unknown[0]}; the file has {', '.join(names)}.")
    zero = intervals[0][0]
    begin = zero + 1000 * options.begin if options.begin is not None else zero
    end = zero + 1000 * options.end if options.end is not None else intervals[-1][1]
    if end <= begin:
        sys.exit("plot_counters: the time range is empty.")
    panels = []
    for name in options.counters or [name for name in names if name not in TIMES]:
        unit = columns[names.index(name)][1]
        values = sample(intervals, names.index(name), unit == "%", begin, end)
        if options.counters or any(values):
            panels.append((name, unit, values))
    if not panels:
        sys.exit("plot_counters: every counter is 0.")
    height = TOP + len(panels) * (PANEL + GAP) + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
           "<style>text{font:12px sans-serif;fill:#222}.s{font-size:10px;fill:#555}</style>",
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           f'<text x="{LEFT}" y="20">{html.escape(options.title)}</text>']
    for number, (name, unit, values) in enumerate(panels):
        out += panel(TOP + number * (PANEL + GAP), name, unit, values)
    base = height - BOTTOM + 12
    for part in range(5):
        x = LEFT + part * (WIDTH - LEFT - RIGHT) // 4
        time = (begin - zero + (end - begin) * part / 4) / 1000
        out.append(f'<text x="{x}" y="{base}" text-anchor="middle" class="s">{time:.4g}</text>')
    out.append(f'<text x="{WIDTH - RIGHT + 24}" y="{base}" class="s">us, virtual</text></svg>')
    with open(options.svg, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


main()
