#!/usr/bin/env python3
"""specgen: reads spec/, checks it, and writes C++, reference pages and golden views. See docs/spec-language.md."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import audit  # noqa: E402
import emit_dictionary  # noqa: E402
import emit_docs  # noqa: E402
import generate  # noqa: E402
import golden  # noqa: E402
from checks import run_checks  # noqa: E402
from crosscheck import CrossCheck  # noqa: E402
from diag import Diagnostics  # noqa: E402
from read_world import read_spec  # noqa: E402


def read_checked(args, only=None):
    """Returns the spec, or prints every error and exits with status 1; `only` limits the files whose errors count."""
    diag = Diagnostics()
    spec = read_spec(Path(args.spec), diag)
    run_checks(spec, diag)
    report(diag, only)
    return spec


def report(diag, only=None):
    """Prints every error; exits with status 1 if there is one."""
    lines = list(diag.lines(only or ()))
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        print(f"specgen: {len(lines)} error{'s' if len(lines) > 1 else ''}", file=sys.stderr)
        sys.exit(1)


def cmd_check(args):
    spec = read_checked(args, args.only)
    print(f"specgen: {len(spec.commands)} commands, {len(spec.structs)} structures, {len(spec.registers)} registers, "
          f"{len(spec.payloads)} payloads, {len(spec.message_headers)} message headers, {len(spec.pci_registers)} PCI registers, "
          f"{len(spec.enums)} enumerations, {len(spec.devices)} devices: no errors")


def cmd_outputs(args):
    for name in generate.outputs(args.spec):
        print(Path(args.out) / name if args.out else name)


def cmd_generate(args):
    spec = read_checked(args)
    changed = generate.write(generate.contents(spec), args.out)
    print(f"specgen: {changed} files changed")


def cmd_golden(args):
    spec = read_checked(args)
    folder = Path(args.spec) / "golden"
    if args.write:
        changed = generate.write(golden.files(spec), folder)
        print(f"specgen: {changed} golden files changed")
        return
    lines = golden.stale(spec, folder)
    for line in lines:
        print(line, file=sys.stderr)
    sys.exit(1 if lines else 0)


def cmd_docs(args):
    spec = read_checked(args)
    changed = generate.write(emit_docs.pages(spec), args.out)
    print(f"specgen: {changed} pages changed")


def cmd_dictionary(args):
    spec = read_checked(args)
    changed = generate.write(emit_dictionary.files(spec), args.out)
    print(f"specgen: {changed} dictionaries changed")


def cmd_unread(args):
    spec = read_checked(args)
    lines = audit.faults(spec, args.src)
    for line in lines:
        print(line, file=sys.stderr)
    if not lines:
        items = list(audit.audited(spec))
        print(f"specgen: all fields of {len(items)} commands and structures are read or marked")
    sys.exit(1 if lines else 0)


def cmd_crosscheck(args):
    spec = read_checked(args)
    if not list(Path(args.genxml).glob("gen*.xml")):
        print(f"specgen: no genxml files in {args.genxml}", file=sys.stderr)
        sys.exit(2)
    diag = Diagnostics()
    check = CrossCheck(spec, diag)
    check.run(args.genxml)
    if args.verbose:
        for line in check.details:
            print(line)
        for (kind, name), gens in sorted(check.missing.items()):
            print(f"missing {kind} {name}: {' '.join(gens)}")
    report(diag, args.only)
    s = check.summary
    print(f"specgen: {s.items} items and {s.fields} fields agree with genxml but for {s.disagreements} listed differences; "
          f"{s.same_bits} fields have another name and the same bits, {s.unmatched} have no counterpart, "
          f"{s.missing} items are only in genxml")


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
    view = add("golden", cmd_golden, "write or check the flattened views")
    mode = view.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true")
    mode.add_argument("--check", action="store_true", help="the default")
    cross = add("crosscheck", cmd_crosscheck, "compare with Mesa's genxml")
    cross.add_argument("--genxml", required=True, metavar="DIR")
    cross.add_argument("--only", nargs="+", metavar="FILE", help="report only disagreements in these files")
    cross.add_argument("--verbose", action="store_true", help="list what only genxml has")
    add("unread", cmd_unread, "find commands and fields that are neither read nor marked").add_argument("--src", required=True)
    add("dictionary", cmd_dictionary, "write dictionaries for fuzzers").add_argument("--out", required=True)
    add("docs", cmd_docs, "write the reference pages").add_argument("--out", required=True)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
