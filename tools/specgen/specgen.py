#!/usr/bin/env python3
"""specgen: reads spec/, checks it, and writes C++, reference pages and golden views. See docs/spec-language.md."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checks import run_checks  # noqa: E402
import generate  # noqa: E402
from diag import Diagnostics  # noqa: E402
from read_world import read_spec  # noqa: E402


def read_checked(args):
    """The spec, or exit 1 with every error."""
    diag = Diagnostics()
    spec = read_spec(Path(args.spec), diag)
    run_checks(spec, diag)
    lines = list(diag.lines(getattr(args, "only", None) or ()))
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        print(f"specgen: {len(lines)} error{'s' if len(lines) > 1 else ''}", file=sys.stderr)
        sys.exit(1)
    return spec


def cmd_check(args):
    spec = read_checked(args)
    print(f"specgen: {len(spec.commands)} commands, {len(spec.structs)} structures, {len(spec.registers)} registers, "
          f"{len(spec.enums)} enumerations, {len(spec.devices)} devices: no errors")


def cmd_outputs(args):
    for name in generate.outputs(args.spec):
        print(Path(args.out) / name if args.out else name)


def cmd_generate(args):
    spec = read_checked(args)
    changed = generate.write(generate.contents(spec), args.out)
    print(f"specgen: {changed} files changed")


def main():
    parser = argparse.ArgumentParser(prog="specgen", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def add(name, function, help_text):
        sub = commands.add_parser(name, help=help_text)
        sub.add_argument("--spec", required=True, help="the spec folder")
        sub.set_defaults(function=function)
        return sub

    check = add("check", cmd_check, "run all checks")
    check.add_argument("--only", nargs="+", metavar="FILE", help="report only errors in these files")
    add("outputs", cmd_outputs, "print the files that generate writes").add_argument("--out")
    add("generate", cmd_generate, "write the C++").add_argument("--out", required=True)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
