"""A small spec folder for tests: four generations, three devices, and the files that a test adds."""

import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "specgen"))

from checks import run_checks  # noqa: E402
from diag import Diagnostics  # noqa: E402
from read_world import read_spec  # noqa: E402

GENERATIONS = "".join(f'[[generation]]\nname = "{g}"\ndoc = "d"\n' for g in ("gen4", "gen4.5", "gen7", "gen8"))


def device(name, gen, engines='[{ name = "rcs0", class = "render", instance = 0, base = 0x2000 }]', extra=""):
    return textwrap.dedent(f"""
        [device.{name}]
        doc = "d"
        source = "s"
        gen = "{gen}"
        names = "n"
        pci = {{ id = 1, revision = 2, class = 3, subsystem = 4 }}
        bars = [{{ index = 0, kind = "gttmmadr", bytes = 0x100000, bits = 32 }}]
        mmio_bytes = 0x80000
        engines = {engines}
        topology = {{ slices = 1, subslices = 1, eus = 1, threads = 1, l3_banks = 1 }}
        timestamp = {{ hz = 1 }}
        memory = {{ stolen_bytes = 0, local_bytes = 0, virtual_bits = 32, physical_bits = 32 }}
        supported = "x"
        {extra}
        """)


BLIT = '{ name = "bcs0", class = "blit", instance = 0, base = 0x22000 }'
RENDER = '{ name = "rcs0", class = "render", instance = 0, base = 0x2000 }'
DEVICES = device("old", "gen4") + device("mid", "gen4.5") + device("new", "gen8", f"[{RENDER}, {BLIT}]")


def command(name="X", body="", **keys):
    """Returns a valid one-dword command; keyword arguments replace lines, None removes them."""
    lines = {"doc": '"d"', "source": '"s"', "engines": '["render"]', "match": '{ "0[31:24]" = 1 }', "length": "1",
             "fields": "[]", "reserved": '["0[23:0]"]'}
    return _item("command", name, lines, keys, body)


def struct(name="S", body="", **keys):
    lines = {"doc": '"d"', "source": '"s"', "length": "1", "fields": '[{ name = "all", at = "0[31:0]" }]'}
    return _item("struct", name, lines, keys, body)


def register(name="R", body="", **keys):
    lines = {"doc": '"d"', "source": '"s"', "offset": "0x1000", "fields": '[{ name = "value", at = "0[31:0]" }]'}
    return _item("register", name, lines, keys, body)


def _item(kind, name, lines, keys, body):
    lines |= keys
    return f"[{kind}.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None) + body + "\n"


class SpecCase(unittest.TestCase):
    def load(self, files):
        """Writes the files next to the defaults, reads and checks them. Returns (spec, error lines, folder)."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for name, text in ({"generations.toml": GENERATIONS, "devices.toml": DEVICES} | files).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        diag = Diagnostics()
        spec = read_spec(root, diag)
        run_checks(spec, diag)
        return spec, list(diag.lines()), root

    def good(self, files):
        spec, errors, root = self.load(files)
        self.assertEqual(errors, [])
        return spec, root

    def refused(self, files, *fragments):
        """Checks that one error line contains every fragment."""
        _, errors, _ = self.load(files)
        self.assertTrue(any(all(f in line for f in fragments) for line in errors),
                        f"no error has all of {fragments}; errors: {errors}")
