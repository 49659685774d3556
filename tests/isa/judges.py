"""Code that the comparisons with other assemblers share: running programs, normalised text, random choices."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77


def find(program):
    path = shutil.which(program)
    if path is None:
        print(f"{program} is not installed: nothing to compare with")
        sys.exit(SKIP)
    return path


def halogen():
    path = os.environ.get("HALOGEN", "")
    if not Path(path).is_file():
        print("set HALOGEN to the tool")
        sys.exit(2)
    return path


class Workshop:
    """A temporary folder, and the programs in it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *words, good=(0,)):
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
        if done.returncode not in good:
            print(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr[:2000]}")
            sys.exit(1)
        return done.stdout

    def write(self, name, text):
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return path


def ours(text):
    """Returns lines of our disassembly without comments and labels."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"\s+", " ", line.split("//")[0]).strip()
        if line and not line.endswith(":"):
            lines.append(line)
    return lines


def compare(what, left, right, show):
    """Prints the first differences and exits with status 1."""
    if len(left) != len(right):
        print(f"{what}: {len(left)} lines against {len(right)}")
        sys.exit(1)
    bad = [i for i, (a, b) in enumerate(zip(left, right)) if a != b]
    for i in bad[:10]:
        print(f"{what}: {show[i]}\n   {left[i]}\n   {right[i]}")
    if bad:
        print(f"{what}: {len(bad)} of {len(left)} differ")
        sys.exit(1)
