#!/usr/bin/env python3
"""Summarises a fidelity report (--report of the halogen tool) in a few lines.   usage: summary.py REPORT.json"""
import json
import sys


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    for kind in ("commands", "instructions", "messages", "registers", "fields"):
        rows = report.get(kind, [])
        if not rows:
            continue
        by_class: dict[str, int] = {}
        for row in rows:
            by_class[row["class"]] = by_class.get(row["class"], 0) + 1
        counted = sum(row["count"] for row in rows)
        classes = ", ".join(f"{number} {name}" for name, number in sorted(by_class.items()))
        print(f"  {kind}: {counted} executed, {len(rows)} kinds: {classes}")
        for row in rows:
            if row["class"] == "unsupported":
                print(f"    not modelled: {row['name']} ({row.get('reason', '')})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
