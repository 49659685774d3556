"""Must-fail inputs for update bits, and the C++ that they become."""

import unittest

from support import SpecCase, command, struct
import generate  # noqa: E402


def with_bit(update, more=""):
    return command(length="{ at = \"0[7:0]\", bias = 2, min = 2, max = 2 }", reserved='["0[23:9]"]',
                   fields=f'[{{ name = "bit", at = "0[8]", type = "bool", update = {update} }}, {{ name = "value", at = "1[31:0]" }}{more}]')


class Updates(SpecCase):
    def test_updates_are_for_bools_and_of_known_kinds(self):
        for update in ('{ sometimes = ["value"] }', '"value"', '{ change = [] }', '{ change = ["value"], valid = ["value"] }'):
            self.refused({"commands/t.toml": with_bit(update)}, "field bit", "update is for a bool")

    def test_updated_fields_must_exist(self):
        self.refused({"commands/t.toml": with_bit('{ change = ["other"] }')}, "field bit", "no field other to update")

    def test_structures_have_no_update_bits(self):
        text = struct(fields='[{ name = "bit", at = "0[0]", type = "bool", update = { change = ["rest"] } }, { name = "rest", at = "0[31:1]" }]')
        self.refused({"structs/t.toml": text}, "update is for fields of commands")

    def test_generated_code_keeps_excluded_fields(self):
        for kind, keep, after in (("change", "if (!bit)", "o.bit = true;"), ("valid", "if (!bit)", "o.bit = bit || before.bit;"),
                                  ("disable", "if (bit)", "o.bit = false;")):
            spec, _ = self.good({"commands/t.toml": with_bit(f'{{ {kind} = ["value"] }}')})
            text = generate.contents(spec)["hw/t.cpp"]
            for line in (keep, "o.value = before.value;", after):
                self.assertIn(line, text)


if __name__ == "__main__":
    unittest.main()
