#!/usr/bin/env python3
"""Checks that programs and libraries of a release build are hardened: position independent, read-only relocations that are
bound at start, no executable stack, stack protector, checked functions of the C library.

usage: hardening.py FILE...
"""
import re
import subprocess
import sys


def faults_of(file: str) -> list[str]:
    text = subprocess.run(["readelf", "-hldW", "--dyn-syms", file], capture_output=True, text=True, check=True).stdout
    stack = re.search(r"^\s*GNU_STACK\s.*", text, re.M)
    flags = " ".join(re.findall(r"\((?:FLAGS|FLAGS_1|BIND_NOW)\).*", text))
    program = re.search(r"^\s*INTERP\s", text, re.M) is not None
    wanted = {
        "not position independent": re.search(r"Type:\s+DYN", text) and ("PIE" in flags or not program),
        "relocations not read-only (RELRO)": re.search(r"^\s*GNU_RELRO\s", text, re.M),
        "symbols not bound at start (BIND_NOW)": "NOW" in flags,
        "executable stack": stack and not re.search(r"\sRWE\s", stack[0]),
        "no stack protector": "__stack_chk_fail" in text,
        "no checked functions (FORTIFY_SOURCE)": re.search(r"__\w+_chk\b", text.replace("__stack_chk_fail", "")),
        "writable code": not re.search(r"^\s*LOAD\s.*\sRWE\s", text, re.M),
    }
    return [f"{file}: {what}" for what, good in wanted.items() if not good]


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    faults = [fault for file in sys.argv[1:] for fault in faults_of(file)]
    print("\n".join(faults) if faults else f"hardening: {len(sys.argv) - 1} files in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
