#!/usr/bin/env python3
"""Every promise in docs/promises.md names its proof, and the tests that it names exist.

A promise is a numbered list item. Proofs are words in backticks: `Suite.Test` with `*` as a wildcard must match a test of
tests/, and paths must exist. Other words in backticks are not checked.
"""
import fnmatch
import pathlib
import re
import sys

WORD = re.compile(r"`([^`\n]+)`")
TEST = re.compile(r"^\s*TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
TEST_NAME = re.compile(r"[A-Z*][\w*]*\.[\w*]+")
PROMISE = re.compile(r"^(\d+)\. ((?:.*\n)(?:   +.*\n)*)", re.MULTILINE)


def tests_below(root: pathlib.Path) -> set[str]:
    names = set()
    for path in sorted((root / "tests").rglob("*.cpp")):
        names |= {f"{suite}.{test}" for suite, test in TEST.findall(path.read_text())}
    return names


def faults_of(root: pathlib.Path) -> list[str]:
    text = (root / "docs" / "promises.md").read_text() + "\n"
    tests = tests_below(root)
    faults = []
    for number, body in PROMISE.findall(text):
        proofs = 0
        for word in WORD.findall(body):
            if TEST_NAME.fullmatch(word):
                proofs += 1
                if not fnmatch.filter(tests, word):
                    faults.append(f"docs/promises.md: promise {number}: there is no test {word}")
            elif word.startswith("tests/"):
                proofs += 1
                if not (root / word).exists():
                    faults.append(f"docs/promises.md: promise {number}: {word} does not exist")
        if proofs == 0:
            faults.append(f"docs/promises.md: promise {number} names no test")
    return faults


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    faults = faults_of(root)
    for fault in faults:
        print(fault)
    if not faults:
        print("promises: every test that is named exists")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
