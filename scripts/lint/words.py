#!/usr/bin/env python3
"""Rejects machine paths, files that are too long, disabled tests and dead links."""
import pathlib
import re
import subprocess
import sys

PATHS = re.compile(r"(?<![\w.$}])/(home|root|work|tmp)/[a-z]")
LINK = re.compile(r"\]\(([^)#:\s]+)[^)]*\)")
LONGEST = 1000


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    faults = []
    for name in listed.stdout.split("\n"):
        path = root / name
        if path.suffix not in (".h", ".cpp", ".py", ".sh", ".md", ".toml", ".txt", ".cmake") or not path.is_file():
            continue
        lines = path.read_text().splitlines()
        if path.suffix in (".h", ".cpp", ".py") and len(lines) > LONGEST:
            faults.append(f"{name}: {len(lines)} lines; at most {LONGEST}: split the file by its ideas")
        for number, line in enumerate(lines, 1):
            if name != "scripts/lint/words.py" and PATHS.search(line):
                faults.append(f"{name}:{number}: path of a particular machine: {line.strip()}")
            if path.suffix == ".md":
                for target in LINK.findall(line):
                    if not (path.parent / target).exists():
                        faults.append(f"{name}:{number}: dead link: {target}")
            if "DISABLED_" in line and path.suffix == ".cpp":
                faults.append(f"{name}:{number}: disabled test; fix or delete it")
    print("\n".join(faults) if faults else "words: clean")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
