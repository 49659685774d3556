"""The sub-commands that the runners of piglit's suites share: run, check, keep, count and table."""
import argparse
import os
import sys

import piglit_lists
from piglit_lists import Suite, read


class Arguments:
    """A command line for one suite. `unit`: what a test is called; `seconds`: the default time limit of one."""

    def __init__(self, description: str, suite: Suite, unit: str, seconds: int):
        self.suite = suite
        self.parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.commands = self.parser.add_subparsers(required=True)
        self.run = self.commands.add_parser("run")
        self.run.add_argument("--out", required=True)
        self.run.add_argument("--more", action="store_true", help=f"only {unit}s that are not in --out yet")
        self.run.add_argument("--all", action="store_true", help=f"include {unit}s that do not count")
        self.check = self.commands.add_parser("check")
        self.check.add_argument("devices", nargs="+", choices=suite.devices)
        for command, sample in ((self.run, 1), (self.check, 40)):
            command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
            command.add_argument("--sample", type=int, default=sample, help=f"one {unit} in N")
            command.add_argument("--seconds", type=int, default=seconds, help=f"time limit of a {unit}")

    def main(self, run, check, least: int, judge: str, installed: bool) -> int:
        """Adds the sub-commands about lists, parses the command line and executes it. `judge`: the reference implementation."""

        def keep(given: argparse.Namespace) -> int:
            piglit_lists.keep(self.suite, given.device, read(given.results))
            return 0

        def count(given: argparse.Namespace) -> int:
            piglit_lists.write_counted(self.suite, read([given.judge]), [read([path]) for path in given.idle], judge)
            return 0

        self.run.set_defaults(do=run)
        self.check.set_defaults(do=check)
        kept = self.commands.add_parser("keep")
        kept.add_argument("device", choices=self.suite.devices)
        kept.add_argument("results", nargs="+")
        kept.set_defaults(do=keep)
        counted = self.commands.add_parser("count")
        counted.add_argument("--judge", required=True)
        counted.add_argument("--idle", nargs="*", default=[])
        counted.set_defaults(do=count)
        self.commands.add_parser("table").set_defaults(do=lambda _: piglit_lists.table(self.suite, least))
        given = self.parser.parse_args()
        if given.do in (run, check) and not installed:
            print(f"{self.suite.name}: the package piglit is not installed; run scripts/setup.sh", file=sys.stderr)
            return 2
        return given.do(given)
