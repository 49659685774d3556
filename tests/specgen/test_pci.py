"""Must-fail inputs for configuration space, and what specgen fills in."""

import unittest

from support import SpecCase
import generate  # noqa: E402


def pci_register(name="R", **keys):
    lines = {"doc": '"d"', "source": '"s"', "offset": "0x40", "width": "32", "fields": '[{ name = "all", at = "0[31:0]" }]'} | keys
    return f"[pci_register.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


def pci_list(name="all", rows="", devices='["old", "mid", "new"]'):
    return f'[pci_list.{name}]\ndoc = "d"\nsource = "s"\ndevices = {devices}\nrows = [{rows}]\n'


START = pci_register("START", offset="0x34", width="8", fields='[{ name = "first_capability", at = "0[7:0]" }]')
LINKS = '{ name = "next_capability", at = "0[15:8]" }'


def capability(name, number):
    return pci_register(name.upper(), capability=f'"{name}"', offset="0", width="16",
                        fields=f'[{{ name = "capability_id", at = "0[7:0]", reset = {number} }}, {LINKS}]')


TWO = START + capability("msi", 5) + capability("power", 1)
ROWS = '{ capability = "power", at = 0xd0 }, { capability = "msi", at = 0x90 }'


class Registers(SpecCase):
    def test_missing_keys_are_refused(self):
        for key in ("doc", "source", "offset", "width", "fields"):
            self.refused({"pci/t.toml": pci_register(**{key: None})}, "pci_register R", f"missing {key}")

    def test_bad_width_and_access_are_refused(self):
        self.refused({"pci/t.toml": pci_register(width="64")}, "width is 8, 16 or 32")
        self.refused({"pci/t.toml": pci_register(access='"w1c"')}, "access is ro or rw")

    def test_every_bit_is_a_field_or_reserved(self):
        self.refused({"pci/t.toml": pci_register(fields='[{ name = "low", at = "0[15:0]" }]')}, "neither field nor reserved")
        self.refused({"pci/t.toml": pci_register(width="16")}, "past the length of 16 bits")

    def test_a_register_is_aligned_and_inside_the_space(self):
        self.refused({"pci/t.toml": TWO + pci_register(offset="0x42") + pci_list(rows=ROWS)}, "not aligned")
        self.refused({"pci/t.toml": TWO + pci_register(offset="0xfc", count="2") + pci_list(rows=ROWS)}, "past 0x100")

    def test_registers_do_not_share_bytes(self):
        two = pci_register("A") + pci_register("B", offset="0x42", width="16", fields='[{ name = "all", at = "0[15:0]" }]')
        self.refused({"pci/t.toml": TWO + two + pci_list(rows=ROWS)}, "pci_register B", "shares bytes of old with A")
        self.refused({"pci/t.toml": TWO + pci_register(offset="0xd0") + pci_list(rows=ROWS)}, "shares bytes of old with POWER")

    def test_fields_that_one_device_implements_are_writable_there(self):
        fields = '[{ name = "a", at = "0[0]", access = "rw" }, { name = "b", at = "0[31:1]", access = "rw" }]'
        spec, _ = self.good({"pci/t.toml": pci_register(fields=fields, implemented='[{ fields = ["a"], devices = ["new"] }]')})
        self.assertEqual(spec.pci_registers["R"].writable, {"old": 0xFFFFFFFE, "mid": 0xFFFFFFFE, "new": 0xFFFFFFFF})
        self.refused({"pci/t.toml": pci_register(fields=fields, implemented='[{ fields = ["c"], devices = ["new"] }]')}, "no field 'c'")


class Lists(SpecCase):
    def test_links_follow_the_order_of_the_list(self):
        spec, _ = self.good({"pci/t.toml": TWO + pci_list(rows=ROWS)})
        at = {n: (r.offsets["old"], r.resets["old"]) for n, r in spec.pci_registers.items()}
        self.assertEqual(at, {"START": (0x34, 0xD0), "POWER": (0xD0, 0x9001), "MSI": (0x90, 0x0005)})
        self.assertIn('{"power", 0x1, 0xd0},\n    {"msi", 0x5, 0x90},', generate.contents(spec)["spec/pci_data.cpp"])

    def test_a_register_of_a_capability_exists_where_a_list_has_it(self):
        lists = pci_list("one", ROWS, '["old", "mid"]') + pci_list("two", '{ capability = "msi", at = 0x90 }', '["new"]')
        spec, _ = self.good({"pci/t.toml": TWO + lists})
        self.assertEqual(spec.pci_registers["POWER"].devices, ["old", "mid"])
        self.refused({"pci/t.toml": TWO + capability("vendor", 9) + pci_list(rows=ROWS)}, "no device has the capability 'vendor'")

    def test_each_device_has_one_list(self):
        self.refused({"pci/t.toml": TWO + pci_list(rows=ROWS, devices='["old", "mid"]')}, "device new", "needs one pci_list, not none")

    def test_a_capability_needs_a_first_register(self):
        rows = ROWS + ', { capability = "vendor", at = 0x40 }'
        self.refused({"pci/t.toml": TWO + pci_list(rows=rows)}, "needs one register with the field next_capability")
        self.refused({"pci/t.toml": capability("msi", 5) + capability("power", 1) + pci_list(rows=ROWS)}, "first_capability")

    def test_offsets_are_aligned_and_after_the_header(self):
        for at in ("0x3c", "0x91", "0x100"):
            self.refused({"pci/t.toml": TWO + pci_list(rows=f'{{ capability = "msi", at = {at} }}')}, "must be a multiple of 4")


if __name__ == "__main__":
    unittest.main()
