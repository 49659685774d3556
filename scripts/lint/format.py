#!/usr/bin/env python3
"""Checks that every C++ file is formatted by clang-format, and the braces of C and C++ (see braces.py).

usage: format.py [--fix]   --fix: rewrites the files
"""
import pathlib
import subprocess
import sys

import braces

FOLDERS = ("src", "frontends", "tests", "bench", "demo", "cmake")


def check_braces(paths, fix: bool) -> bool:
    """Reports bodies that need braces, or adds the braces. False: a file has such a body and is not fixed."""
    clean = True
    for path in paths:
        text = path.read_text()
        bodies = braces.bare_bodies(text)
        if bodies and fix:
            path.write_text(braces.with_braces(text))
        for body in [] if fix else bodies:
            print(f"{path}:{body.line}: a body that does not end on the line of its condition needs braces", file=sys.stderr)
            clean = False
    return clean


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    fix = "--fix" in sys.argv[1:]
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp", ".c"))
    if not check_braces(paths, fix):
        return 1
    files = [str(path) for path in paths if path.suffix != ".c"]
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    for start in range(0, len(files), 50):
        if subprocess.run(["clang-format", *mode, *files[start : start + 50]]).returncode != 0:
            return 1
    print(f"format: {len(files)} files, braces: {len(paths)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
