"""Must-fail inputs for fields, positions, types, groups and the accounting of bits."""

import unittest

from support import SpecCase, command, register, struct


def fields(text, **keys):
    return {"commands/t.toml": command(fields=f"[{text}]", **keys)}


class Positions(SpecCase):
    def test_bad_position_is_refused(self):
        for at in ("0[1:4]", "x", "0", "[3]", "0[a]"):
            self.refused(fields(f'{{ name = "f", at = "{at}" }}'), "t.toml", "command X", "field f", "bad position")

    def test_position_above_31_is_in_the_next_dword(self):
        spec, _ = self.good({"structs/t.toml": struct(length="2", fields='[{ name = "a", at = "0[63:0]" }]')})
        self.assertEqual((spec.structs["S"].fields[0].first, spec.structs["S"].fields[0].width), (0, 64))

    def test_in_place_field_must_start_in_its_dword(self):
        self.refused({"structs/t.toml": struct(length="2", fields='[{ name = "a", at = "0[63:40]", type = "gpu_va" }]')},
                     "field a", "bad position")


class Accounting(SpecCase):
    def test_overlapping_fields_are_refused(self):
        self.refused(fields('{ name = "a", at = "0[3:0]" }, { name = "b", at = "0[4:2]" }', reserved='["0[23:5]"]'),
                     "t.toml", "command X", "field b", "gen4 gen4.5 gen8", "overlap", "shares bits with a")

    def test_field_over_match_bits_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[24]" }'), "field a", "overlap", "match")

    def test_field_over_length_bits_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[4]" }', length='{ at = "0[7:0]", bias = 2, min = 2, max = 2 }',
                            reserved='["0[23:8]", "1[31:0]"]'), "field a", "overlap", "length")

    def test_field_over_reserved_bits_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[4]" }'), "overlap", "reserved 0[23:0]", "shares bits with a")

    def test_field_past_the_length_is_refused(self):
        self.refused(fields('{ name = "a", at = "1[4]" }'), "field a", "past the length of 32 bits")

    def test_uncovered_bits_are_refused(self):
        self.refused(fields('{ name = "a", at = "0[4]" }', reserved='["0[23:8]"]'), "command X", "bits 0[3:0], 0[7:5]",
                     "neither field nor reserved")

    def test_uncovered_bits_on_one_generation_are_refused(self):
        self.refused(fields('{ name = "a", at = "0[0]", gens = "gen8" }', reserved='["0[23:1]"]'),
                     "gen4 gen4.5:", "bits 0[0]")

    def test_union_needs_an_exception(self):
        union = fields('{ name = "a", at = "0[3:0]" }, { name = "b", at = "0[4:2]" }', reserved='["0[23:5]"]')
        exception = '[[exception]]\ncheck = "overlap"\nitem = "X"\nfields = ["a", "b"]\nreason = "union"\n'
        self.good(union | {"exceptions.toml": exception})

    def test_unneeded_exception_is_refused(self):
        exception = '[[exception]]\ncheck = "overlap"\nitem = "X"\nfields = ["a", "b"]\nreason = "union"\n'
        self.refused({"commands/t.toml": command(), "exceptions.toml": exception}, "exceptions.toml", "no longer needed")

    def test_bad_keys_of_an_exception_are_refused(self):
        self.refused({"exceptions.toml": '[[exception]]\ncheck = "taste"\nitem = "X"\nreason = "r"\n'}, "unknown check 'taste'")
        self.refused({"exceptions.toml": '[[exception]]\ncheck = "overlap"\nitem = "X"\n'}, "missing reason")


class Types(SpecCase):
    def test_wrong_width_of_fixed_point_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[7:0]", type = "ufixed:4.3" }'), "field a", "needs 7 bits", "has 8")
        self.refused(fields('{ name = "a", at = "0[7:0]", type = "sfixed:4.4" }'), "field a", "needs 9 bits", "has 8")
        self.refused(fields('{ name = "a", at = "0[7:0]", type = "ufixed" }'), "write ufixed:I.F")

    def test_fixed_point_must_fit_a_double(self):
        self.refused({"structs/t.toml": struct(length="2", fields='[{ name = "a", at = "0[63:0]", type = "ufixed:32.32" }]')},
                     "field a", "too wide for a double")

    def test_structures_in_registers_are_refused(self):
        self.refused({"structs/s.toml": struct(),
                      "registers/t.toml": register(fields='[{ name = "s", at = "0[31:0]", type = "struct:S" }]')},
                     "register R", "field s", "no nested structures")

    def test_wrong_widths_of_plain_types_are_refused(self):
        self.refused(fields('{ name = "a", at = "0[1:0]", type = "bool" }'), "bool is one bit")
        self.refused(fields('{ name = "a", at = "0[7:0]", type = "float" }'), "float is 32 bits")
        self.refused({"structs/t.toml": struct(length="3", fields='[{ name = "a", at = "0[95:0]" }]')}, "too wide")
        self.refused({"structs/t.toml": struct(length="2", fields='[{ name = "a", at = "0[63:2]", type = "reg" }]')}, "too wide")

    def test_unknown_type_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[0]", type = "wobbly" }'), "field a", "unknown type 'wobbly'")
        self.refused(fields('{ name = "a", at = "0[0]", type = "uint:3" }'), "unknown type")

    def test_value_that_is_too_wide_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[1:0]", values = { low = 0, high = 4 } }'), "field a", "high = 4", "does not fit 2 bits")

    def test_two_names_for_one_value_are_refused(self):
        self.refused(fields('{ name = "a", at = "0[1:0]", values = { low = 1, high = 1 } }'), "low and high are both 1")

    def test_values_need_uint(self):
        self.refused(fields('{ name = "a", at = "0[1:0]", type = "int", values = { low = 1 } }'), "values need type uint")

    def test_value_that_changes_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[1:0]", gens = "gen4", values = { low = 1 } },'
                            '{ name = "a", at = "0[1:0]", gens = "gen8", values = { low = 2 } }'), "value low is 1 in one row and 2")

    def test_values_of_a_shared_enum_fit_and_differ(self):
        enum = '[enum.E]\ndoc = "d"\nsource = "s"\nvalues = { A = 0, B = { value = 4, gens = "gen8" } }\n'
        use = fields('{ name = "a", at = "0[1:0]", type = "enum:E" }', reserved='["0[23:2]"]')
        self.refused(use | {"enums/e.toml": enum}, "field a", "gen8", "B = 4 of E does not fit 2 bits")
        self.refused(use, "unknown enum 'E'")
        twice = '[enum.E]\ndoc = "d"\nsource = "s"\nvalues = { A = 0, B = 0 }\n'
        self.refused({"enums/e.toml": twice}, "enum E", "value B", "same value 0 as A")

    def test_wrong_size_of_a_structure_is_refused(self):
        use = {"commands/t.toml": command(length="3", fields='[{ name = "s", at = "1[63:0]", type = "struct:S" }]')}
        self.refused(use | {"structs/s.toml": struct()}, "command X", "field s", "struct S has 32 bits, the position has 64")
        self.refused(use, "unknown struct 'S'")
        self.refused(use | {"structs/s.toml": struct(length="2", gens='"gen8"', fields='[{ name = "q", at = "0[63:0]" }]')},
                     "gen4 gen4.5:", "does not exist on this generation")

    def test_struct_starts_at_a_dword(self):
        self.refused({"structs/s.toml": struct() + struct("T", length="2", fields='[{ name = "s", at = "0[33:2]", type = "struct:S" }]',
                                                          reserved='["0[1:0]", "1[31:2]"]')}, "starts at a dword")

    def test_structure_in_itself_is_refused(self):
        self.refused({"structs/s.toml": struct(fields='[{ name = "s", at = "0[31:0]", type = "struct:S" }]')}, "contains itself")

    def test_rows_of_one_name_need_one_type(self):
        self.refused(fields('{ name = "a", at = "0[1:0]", gens = "gen4", type = "int" },'
                            '{ name = "a", at = "0[1:0]", gens = "gen8" }'), "field a", "need one type, not int, uint")


class Names(SpecCase):
    def test_duplicate_field_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[0]" }, { name = "a", at = "0[1]", gens = "gen8" }'), "field a", "gen8", "duplicate")

    def test_one_name_on_different_generations_is_accepted(self):
        self.good(fields('{ name = "a", at = "0[0]", gens = "..gen7" }, { name = "a", at = "0[1]", gens = "gen8" }',
                         reserved='["0[23:2]", { at = "0[1]", gens = "..gen7" }, { at = "0[0]", gens = "gen8" }]'))

    def test_bad_names_are_refused(self):
        self.refused(fields('{ name = "Big", at = "0[0]" }'), "snake_case")
        self.refused({"commands/t.toml": command('"A-B"')}, "letters, digits and underscores")

    def test_unknown_key_is_refused(self):
        self.refused(fields('{ name = "a", at = "0[0]", colour = 3 }'), "field a", "unknown key 'colour'")
        self.refused(fields('{ name = "a", at = "0[0]", reset = 0 }'), "unknown key 'reset'")
        self.refused({"commands/t.toml": command(colour="3")}, "command X", "unknown key 'colour'")
        self.refused({"commands/t.toml": "[cmd.X]\n"}, "unknown key 'cmd'")

    def test_field_without_position_is_refused(self):
        self.refused(fields('{ name = "a" }'), "field a", "missing at")


class Groups(SpecCase):
    LRI = '{{ name = "pairs", at = "1", bits = 64, count = "rest", fields = [{{ name = "r", at = "0[22:2]", type = "reg" }},' \
          '{{ name = "v", at = "1[31:0]" }}], reserved = ["0[1:0]", "0[31:23]"] {extra} }}'
    OPEN = '{ at = "0[7:0]", bias = 2, min = 3 }'

    def case(self, group, **keys):
        lines = {"length": self.OPEN, "reserved": '["0[23:8]"]', "groups": f"[{group}]"} | keys
        return {"commands/t.toml": command(**lines)}

    def test_rest_group_covers_the_remaining_dwords(self):
        spec, _ = self.good(self.case(self.LRI.format(extra="")))
        self.assertEqual(spec.commands["X"].layouts[0].groups[0].count, 0)

    def test_rest_must_be_last(self):
        self.refused(self.case(self.LRI.format(extra=""), fields='[{ name = "late", at = "5[0]" }]'), "group pairs", "not last", "late")

    def test_open_length_needs_rest(self):
        self.refused({"commands/t.toml": command(length=self.OPEN, reserved='["0[23:8]"]')}, "without max", "rest")

    def test_rest_is_for_commands(self):
        self.refused({"structs/t.toml": struct(length="4", fields='[{ name = "a", at = "0[31:0]" }]',
                                               groups=f'[{self.LRI.format(extra="")}]')}, "for commands")

    def test_group_past_the_end_is_refused(self):
        group = '{ name = "g", at = "1", bits = 32, count = 3, fields = [{ name = "a", at = "0[31:0]" }] }'
        self.refused({"commands/t.toml": command(length="3", groups=f"[{group}]")}, "group g", "past the length of 96 bits")
        self.good({"commands/t.toml": command(length="4", groups=f"[{group}]")})

    def test_bits_of_an_element_are_accounted_for(self):
        group = '{ name = "g", at = "1", bits = 32, count = 1, fields = [{ name = "a", at = "0[30:0]" }] }'
        self.refused({"commands/t.toml": command(length="2", groups=f"[{group}]")}, "group g", "bits 0[31]")
        group = '{ name = "g", at = "1", bits = 16, count = 2, fields = [{ name = "a", at = "0[30:0]" }] }'
        self.refused({"commands/t.toml": command(length="2", groups=f"[{group}]")}, "group g field a", "past the length of 16 bits")

    def test_bad_counts_are_refused(self):
        group = '{ name = "g", at = "1", bits = 32, count = 0, fields = [{ name = "a", at = "0[31:0]" }] }'
        self.refused({"commands/t.toml": command(length="2", groups=f"[{group}]")}, "group g", "count must be")

    def test_group_and_field_of_one_name_are_refused(self):
        group = '{ name = "g", at = "1", bits = 32, count = 1, fields = [{ name = "a", at = "0[31:0]" }] }'
        self.refused({"commands/t.toml": command(length="2", fields='[{ name = "g", at = "0[0]" }]', reserved='["0[23:1]"]',
                                                 groups=f"[{group}]")}, "group g", "a field has the same name")


class RegisterFields(SpecCase):
    def test_unknown_access_is_refused(self):
        self.refused({"registers/t.toml": register(access='"sometimes"')}, "unknown access 'sometimes'")
        self.refused({"registers/t.toml": register(fields='[{ name = "a", at = "0[31:0]", access = "odd" }]')}, "unknown access 'odd'")
        self.refused({"registers/t.toml": register(fields='[{ name = "a", at = "0[31:0]", access = "masked" }]')}, "whole registers")

    def test_masked_is_for_whole_registers(self):
        self.refused({"registers/t.toml": register(access='"masked"')}, "field value", "0[15:0]")
        self.good({"registers/t.toml": register(access='"masked"', fields='[{ name = "a", at = "0[15:0]" }]')})


if __name__ == "__main__":
    unittest.main()
