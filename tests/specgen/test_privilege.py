"""Must-fail inputs for what a command does without privilege, and for the manual's name."""

import unittest

from support import SpecCase, command  # first: it makes the tool importable

import golden

FIELDS = '[{ name = "ggtt", at = "0[0]", type = "bool" }, { name = "where", at = "0[19:2]", type = "reg" }]'
RESERVED = '["0[1]", "0[23:20]"]'


def privileged(rows, **keys):
    return {"commands/t.toml": command(fields=FIELDS, reserved=RESERVED, privilege=rows, **keys)}


class Privilege(SpecCase):
    def test_rows_reach_the_golden_view(self):
        spec, _ = self.good(privileged('[{ effect = "noop", when = "ggtt", gens = "gen8" }, { effect = "drop_write", register = "where" }]'))
        new, old = golden.view(spec, spec.gens.index("gen8")), golden.view(spec, spec.gens.index("gen4"))
        self.assertIn("COMMAND X privilege noop when=ggtt register=any\n", new)
        self.assertIn("COMMAND X privilege drop_write when=always register=where\n", new)
        self.assertNotIn("privilege noop", old)

    def test_effects_are_known(self):
        self.refused(privileged('[{ effect = "explode" }]'), "command X", "privilege", "unknown effect 'explode'")
        self.refused(privileged('[{ when = "ggtt" }]'), "privilege", "missing effect")
        self.refused(privileged('"noop"'), "privilege", "must be a list of tables")
        self.refused(privileged('["noop"]'), "privilege", "must be a table")

    def test_conditions_are_fields(self):
        self.refused(privileged('[{ effect = "noop", when = "gtt" }]'), "privilege", "no field gtt")
        self.refused(privileged('[{ effect = "noop", register = "ggtt" }]'), "no field ggtt that can hold a register")
        narrow = '[{ name = "ggtt", at = "0[0]", gens = "gen8" }]'
        body = command(fields=narrow, reserved='["0[23:1]", { at = "0[0]", gens = "..gen7" }]', privilege='[{ effect = "noop", when = "ggtt" }]')
        self.refused({"commands/t.toml": body}, "gen4 gen4.5", "no field ggtt")

    def test_one_row_for_one_condition(self):
        self.refused(privileged('[{ effect = "noop", when = "ggtt" }, { effect = "drop_write", when = "ggtt" }]'), "given twice")


class ManualName(SpecCase):
    def test_two_commands_may_share_a_manual_name(self):
        two = command("X_A", manual_name='"X"', engines='["render"]') + command("X_B", manual_name='"X"', engines='["blit"]')
        spec, _ = self.good({"commands/t.toml": two})
        self.assertIn("COMMAND X_B manual_name=X\n", golden.view(spec, spec.gens.index("gen8")))

    def test_manual_name_is_valid_and_differs_from_the_name(self):
        self.refused({"commands/t.toml": command(manual_name='"X"')}, "manual_name is another name")
        self.refused({"commands/t.toml": command(manual_name='"a b"')}, "manual_name is another name")


if __name__ == "__main__":
    unittest.main()
