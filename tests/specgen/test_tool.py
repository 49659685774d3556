"""The tool from outside: files written, golden views, the comparison with genxml, and odd input that must not crash it."""

import subprocess
import sys
import unittest

from support import ROOT, SpecCase, command, register, struct

TOOL = ROOT / "tools" / "specgen" / "specgen.py"

GOOD = {
    "commands/a.toml": command(length='{ at = "0[7:0]", bias = 2, min = 3, max = 3 }', reserved='["0[23:8]", "2[31:1]"]',
                               fields='[{ name = "address", at = "1[32:2]", type = "gpu_va" }, { name = "rest", at = "1[1:0]" }]'),
    "structs/a.toml": struct(),
    "registers/b.toml": register(),
}


def run(*args):
    return subprocess.run([sys.executable, str(TOOL), *map(str, args)], capture_output=True, text=True, check=False)


class Tool(SpecCase):
    def test_outputs_are_what_generate_writes(self):
        _, root = self.good(GOOD)
        listed = set(run("outputs", "--spec", root).stdout.split())
        result = run("generate", "--spec", root, "--out", root / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        written = {str(p.relative_to(root / "out")) for p in (root / "out").rglob("*") if p.is_file()}
        self.assertEqual(listed, written)

    def test_outputs_do_not_depend_on_content(self):
        _, root = self.good(GOOD)
        before = run("outputs", "--spec", root).stdout
        (root / "commands/a.toml").write_text("not toml at all [")
        self.assertEqual(run("outputs", "--spec", root).stdout, before)

    def test_unchanged_files_keep_their_time(self):
        _, root = self.good(GOOD)
        run("generate", "--spec", root, "--out", root / "out")
        times = {p: p.stat().st_mtime_ns for p in (root / "out").rglob("*.h")}
        run("generate", "--spec", root, "--out", root / "out")
        self.assertEqual(times, {p: p.stat().st_mtime_ns for p in (root / "out").rglob("*.h")})

    def test_errors_exit_1_and_are_all_printed(self):
        _, _, root = self.load({"commands/a.toml": command(doc=None), "commands/b.toml": command("Y", source=None)})
        result = run("check", "--spec", root)
        self.assertEqual(result.returncode, 1)
        self.assertIn("missing doc", result.stderr)
        self.assertIn("missing source", result.stderr)
        only = run("check", "--spec", root, "--only", root / "commands/b.toml")
        self.assertNotIn("missing doc", only.stderr)
        self.assertIn("missing source", only.stderr)

    def test_dictionaries_hold_headers_and_offsets_as_little_endian_bytes(self):
        spec, root = self.good(GOOD)
        result = run("dictionary", "--spec", root, "--out", root / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        written = (root / "out/streams.dict").read_text()
        item = next(iter(spec.commands.values()))
        _, value = next(iter(item.match.values()))
        header = value | 1  # three dwords, bias 2
        self.assertIn("".join(f"\\x{header >> shift & 0xff:02x}" for shift in (0, 8, 16, 24)), written)
        offset = next(iter(next(iter(spec.registers.values())).offsets.values()))
        self.assertIn("".join(f"\\x{offset >> shift & 0xff:02x}" for shift in (0, 8, 16, 24)), written)

    def test_golden(self):
        _, root = self.good(GOOD)
        self.assertEqual(run("golden", "--spec", root, "--check").returncode, 1)
        self.assertEqual(run("golden", "--spec", root, "--write").returncode, 0)
        self.assertEqual(run("golden", "--spec", root, "--check").returncode, 0)
        self.assertEqual(sorted(p.name for p in (root / "golden").iterdir()), ["gen4.5.txt", "gen4.txt", "gen8.txt"])
        text = (root / "golden/gen8.txt").read_text().splitlines()
        self.assertIn("COMMAND X 1[32:2] address gpu_va", text)
        self.assertIn("COMMAND X match=0xff000000/0x01000000 length=0[7:0]+2 min=3 max=3 engines=render devices=new", text)
        self.assertIn("REGISTER R base=absolute offset=0x1000 width=32 count=1 stride=0 access=rw reset=0x0 devices=new", text)
        (root / "structs/a.toml").write_text(struct(fields='[{ name = "other", at = "0[31:0]" }]'))
        stale = run("golden", "--spec", root, "--check")
        self.assertEqual(stale.returncode, 1)
        self.assertIn("stale, 1 lines to add and 1 to remove", stale.stderr)

    def test_reference_pages_are_written(self):
        _, root = self.good(GOOD)
        self.assertEqual(run("docs", "--spec", root, "--out", root / "docs").returncode, 0)
        page = (root / "docs/a.md").read_text()
        self.assertIn("| 1[32:2] | `address` | gpu_va |  |", page)
        self.assertIn("a.md", (root / "docs/README.md").read_text())

    def xml(self, root, start):
        (root / "xml").mkdir(exist_ok=True)
        (root / "xml/gen8.xml").write_text(
            '<genxml name="N" gen="8"><instruction name="X" bias="2" length="3">'
            '<field name="DWord Length" start="0" end="7" type="uint" default="1"/>'
            '<field name="Opcode" start="24" end="31" type="uint" default="1"/>'
            f'<field name="Rest" start="{start}" end="{start + 1}" type="uint"/></instruction>'
            '<struct name="ONLY_THERE" length="1"/></genxml>')
        return run("crosscheck", "--spec", root, "--genxml", root / "xml")

    def test_crosscheck_finds_disagreements(self):
        _, root = self.good(GOOD)
        result = self.xml(root, 32)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 items and 1 fields agree", result.stdout)
        self.assertIn("1 items are only in genxml", result.stdout)
        result = self.xml(root, 40)
        self.assertEqual(result.returncode, 1)
        self.assertIn("field rest: gen8: genxml disagrees: 1[1:0] here, 1[9:8] there", result.stderr)
        listing = root / "genxml_differences.toml"
        listing.write_text('[[difference]]\nitem = "X"\nfield = "rest"\ngens = "gen8"\nreason = "the manual says so"\n')
        self.assertEqual(self.xml(root, 40).returncode, 0)
        stale = self.xml(root, 32)
        self.assertEqual(stale.returncode, 1)
        self.assertIn("no longer a difference", stale.stderr)

    def test_crosscheck_without_files_fails(self):
        _, root = self.good(GOOD)
        self.assertEqual(run("crosscheck", "--spec", root, "--genxml", root / "nowhere").returncode, 2)


class OddInput(SpecCase):
    """A value of a wrong kind gives an error line, never a traceback."""

    def test_odd_values_give_an_error_line(self):
        odd = ["1", "-1", "true", '"x"', "[]", "[1]", '["x"]', "[[1]]", "{}", "{ a = 1 }", '[{ gens = "gen4" }]', "1.5", '[{ name = 3 }]']
        keys = {
            command: ["doc", "source", "gens", "devices", "engines", "match", "length", "fields", "reserved", "groups"],
            struct: ["length", "fields", "reserved", "groups", "gens"],
            register: ["base", "engines", "offset", "width", "access", "reset", "count", "stride", "fields", "storage", "effects"],
        }
        for make, names in keys.items():
            for name in names:
                for value in odd:
                    with self.subTest(item=make.__name__, key=name, value=value):
                        self.load({f"{make.__name__}s/t.toml": make(**{name: value})})


if __name__ == "__main__":
    unittest.main()
