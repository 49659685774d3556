#!/usr/bin/env python3
"""Prints what fidelity reports (`halogen run --report`) name as unsupported, one line each; docs/testing.md lists known cases.
usage: reports.py FILE...     exit status 1 if something is unsupported"""
import json
import pathlib
import sys


def unsupported(report):
    found = []
    for kind, items in json.loads(pathlib.Path(report).read_text()).items():
        if isinstance(items, list):
            found += [f"{kind} {item['name']} ({item.get('reason', '')})" for item in items
                      if item.get("class") == "unsupported"]
    return found


def main():
    found = [line for report in sys.argv[1:] for line in unsupported(report)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
