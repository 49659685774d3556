"""The recipes of docs/ stay true: their examples pass the checks together with the real description."""

import re
import shutil
import tempfile
import textwrap
import unittest
from pathlib import Path

from support import ROOT  # first: it makes the tool importable

from checks import run_checks
from diag import Diagnostics
from emit_docs import pages
from read_world import read_spec

RECIPE = ROOT / "docs" / "adding-a-command.md"


def examples(path):
    """TOML blocks of a page, without the indentation of the list that contains them."""
    blocks = re.findall(r"^( *)```toml\n(.*?)^ *```$", path.read_text(encoding="utf-8"), re.M | re.S)
    return [textwrap.dedent(text) for _, text in blocks]


class AddingACommand(unittest.TestCase):
    def load(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name) / "spec"
        shutil.copytree(ROOT / "spec", root, ignore=shutil.ignore_patterns("golden"))
        (root / "commands" / "recipe.toml").write_text(text, encoding="utf-8")
        diag = Diagnostics()
        spec = read_spec(root, diag)
        run_checks(spec, diag)
        return spec, list(diag.lines())

    def test_the_example_is_accepted_beside_the_real_description(self):
        found = examples(RECIPE)
        self.assertEqual(len(found), 1)
        spec, errors = self.load(found[0])
        self.assertEqual(errors, [])
        item = spec.commands["MI_EXAMPLE"]
        self.assertIn("`address`", pages(spec)["recipe.md"])
        # The stream that the recipe decodes afterwards is one whole example.
        header = int(re.search(r"printf '([0-9a-f]{8}) ", RECIPE.read_text(encoding="utf-8"))[1], 16)
        for gen in item.layout_gens():
            mask, value = item.match[gen]
            self.assertEqual(header & mask, value)
            rule = item.length[gen]
            self.assertEqual((header >> rule.first & (1 << rule.width) - 1) + rule.bias, rule.min)

    def test_a_mistake_in_the_example_is_found(self):
        _, errors = self.load(examples(RECIPE)[0].replace('"0[22:10]", ', ""))
        self.assertTrue(any("recipe.toml" in line and "0[22:10]" in line for line in errors), errors)


if __name__ == "__main__":
    unittest.main()
