"""Results of piglit and the lists that are kept of them.

A line of results is `test#subtest status`; `test#` alone has the result of the whole test, `test#:seconds` its CPU time in
seconds. counted.txt says which results count, DEVICE.txt which of those pass: one line per test that was run, with the number
of passes, and below it the failures with their reasons. A test that is not listed was not run on the device.
"""
import dataclasses
import os
import pathlib
import re
import sys

ROOT = pathlib.Path("/usr/lib/x86_64-linux-gnu/piglit")
HERE = pathlib.Path(__file__).resolve().parent
HALOGEN = os.environ.get("HALOGEN", str(HERE.parent.parent / "build/bin/halogen"))
FAULT = "  - "  # begins a subtest below its test
WHOLE = "whole"  # stands for the subtests of a test that has none
SECONDS = ":seconds"
LATE = "ended(late)"
SLOW = "slow"
NEEDS = "not supported by the device"


@dataclasses.dataclass
class Entry:
    """An entry of a list: a number, the text after it, and the lines below (a map from subtest to remark)."""
    number: int = 0
    text: str = ""
    below: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Suite:
    name: str
    lists: pathlib.Path
    devices: tuple[str, ...]
    slow: float  # samples do not include tests that take longer than this

    def counted(self) -> dict[str, Entry]:
        return read_list(self.lists / "counted.txt")

    def kept(self, device: str) -> dict[str, Entry]:
        path = self.lists / f"{device}.txt"
        return read_list(path) if path.exists() else {}


def read(paths: list[str]) -> dict[str, dict[str, str]]:
    """Returns test -> subtest -> status; a name that occurs twice in a file has passed if both have."""
    results: dict[str, dict[str, str]] = {}
    for path in paths:
        found: dict[str, dict[str, str]] = {}
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            name, status = line.rsplit(" ", 1)
            test, subtest = name.split("#", 1)
            known = found.setdefault(test, {}).get(subtest, "pass")
            found[test][subtest] = status if known == "pass" else known
        results.update(found)
    return results


def read_list(path: pathlib.Path) -> dict[str, Entry]:
    tests: dict[str, Entry] = {}
    last = Entry()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(FAULT):
            subtest, _, reason = line[len(FAULT):].partition(" | ")
            last.below[subtest] = reason
        elif line and not line.startswith("#"):
            name, number, *text = line.split(" ", 2)
            last = tests[name] = Entry(int(number), text[0] if text else "")
    return tests


def items(results: dict[str, str]) -> dict[str, str]:
    """Returns the results of a test that may count."""
    parts = {s: status for s, status in results.items() if s and s != SECONDS}
    return parts or {WHOLE: results.get("", "ended")}


def passing(counted: Entry, results: dict[str, str]) -> tuple[int, set[str]]:
    """Returns how many of a test's counted items pass, and which do not."""
    seen = {s: status for s, status in items(results).items() if s not in counted.below}
    good = sum(status == "pass" for status in seen.values())
    bad = {s for s, status in seen.items() if status not in ("pass", "skip")}
    if good < counted.number and not bad and results.get("") not in ("pass", "skip"):
        bad.add(WHOLE)  # the program ended early
    return good, bad


def write_counted(suite: Suite, judge: dict, idle: list[dict], who: str) -> None:
    """Writes what counts: the judge passes it, and devices that execute nothing, if there are any, fail it or lack what it needs."""
    lines = []
    total = tests = 0
    both = [n for n in sorted(judge) if not idle or any(n in one for one in idle)]
    for name in both:
        found = items(judge[name])

        def fails(item: str, name: str = name) -> bool:
            if not idle:
                return True
            whole = [one[name].get("", "ended") for one in idle if name in one]
            parts = [one[name] for one in idle if name in one]
            states = whole if item == WHOLE else [p.get(item, w) for p, w in zip(parts, whole)]
            return any(s not in ("pass", "skip") for s in states) and "pass" not in states

        counts = {s for s, status in found.items() if status == "pass" and fails(s)}
        if counts:
            total += len(counts)
            tests += 1
            lines.append(f"{name} {len(counts)}")
            lines += [f"{FAULT}{s}" for s in sorted(set(found) - counts)]
    fails_them = ", a device that executes nothing fails them" if idle else ""
    head = [f"# {total} results of {tests} tests ({len(both)} were run): {who} passes them{fails_them}.",
            "# A line is a test and how many of its results count; those below it do not."]
    (suite.lists / "counted.txt").write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    print(head[0])


def keep(suite: Suite, device: str, results: dict) -> None:
    """Adds results to the device's list; known reasons stay."""
    counted, before = suite.counted(), suite.kept(device)
    lines = []
    passed = wanted = skipped = tests = slow = 0
    for name in sorted((set(results) | set(before)) & set(counted)):
        entry = before.get(name, Entry())
        if name in results:
            took = float(results[name].get(SECONDS, 0))
            late = LATE in results[name].values()
            good, bad = passing(counted[name], results[name])
            reason = "slow: exceeds its time limit" if late else "why is not known"
            entry = Entry(good, SLOW if took > suite.slow or late else "", {s: entry.below.get(s) or reason for s in bad})
        if entry.number == 0 and not entry.below:
            skipped += 1
            lines.append(f"{name} 0 {NEEDS}")
            continue
        slow += entry.text.endswith(SLOW)
        tests += 1
        passed += entry.number
        wanted += entry.number + len(entry.below)
        text = f"of {counted[name].number}" if entry.number != counted[name].number else ""
        lines.append(" ".join(word for word in (name, str(entry.number), text, SLOW * entry.text.endswith(SLOW)) if word))
        lines += [f"{FAULT}{s} | {entry.below[s]}" for s in sorted(entry.below)]
    head = (f"# {passed} of {wanted} results that count pass ({100 * passed / max(1, wanted):.1f} %); {tests} of "
            f"{len(counted)} tests were run, {skipped} more are not supported by the device; {slow} are slow.")
    (suite.lists / f"{device}.txt").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    print(f"{suite.name}: {device}: {head[2:]}")


def in_check(suite: Suite, device: str) -> set[str]:
    """Returns the tests of a device's list that a check may run."""
    return {name for name, entry in suite.kept(device).items() if not entry.text.endswith(SLOW)}


def compare(suite: Suite, device: str, names: list[str], results: dict) -> int:
    """Prints results that differ from the device's list and returns their number."""
    counted, kept = suite.counted(), suite.kept(device)
    passed = faults = 0
    for name in names:
        if name not in results:
            print(f"{suite.name}: {device}: {name}: the machine was too busy to run it", file=sys.stderr)
            faults += 1
            continue
        good, bad = passing(counted[name], results[name])
        passed += good
        known = kept[name].below
        wrong = [f"no longer passes: {s}" for s in sorted(bad - set(known))]
        wrong += [f"passes now; its line is not needed: {s}" for s in sorted(set(known) - bad)]
        if good != kept[name].number and not wrong:
            wrong.append(f"{good} pass, {kept[name].number} did ({results[name].get('')})")
        for line in wrong:
            print(f"{suite.name}: {device}: {name}: {line}", file=sys.stderr)
        faults += len(wrong)
    print(f"{suite.name}: {device}: {passed} results of {len(names)} tests pass" + ("" if faults else ", as listed"))
    if not names:
        print(f"{suite.name}: {device}: nothing of its list was run", file=sys.stderr)
        faults += 1
    return faults


def table(suite: Suite, least: float) -> int:
    """Prints the sums of the lists; returns 1 if one of them is below `least` percent."""
    low = 0
    for device in suite.devices:
        path = suite.lists / f"{device}.txt"
        if path.exists():
            head = path.read_text(encoding="utf-8").splitlines()[0][2:]
            print(f"{device}: {head}")
            low |= float(re.search(r"\(([0-9.]+) %\)", head)[1]) < least
    return int(low)
