#!/usr/bin/env python3
"""Checks that every C++ file is formatted by clang-format. `--fix` rewrites the files."""
import pathlib
import subprocess
import sys


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    files = sorted(
        str(path)
        for folder in ("src", "frontends", "tests", "bench", "demo")
        for path in (root / folder).rglob("*")
        if path.suffix in (".h", ".cpp")
    )
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    for start in range(0, len(files), 50):
        if subprocess.run(["clang-format", *mode, *files[start : start + 50]]).returncode != 0:
            return 1
    print(f"format: {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
