"""Must-fail inputs for the descriptions of EU instructions, and what good ones become."""

import unittest

import emit_eu
from support import SpecCase

REST = 'reserved = [{ at = "63:7" }, { at = "127:64" }]'


def form(name="x", **keys):
    lines = {"doc": '"d"', "source": '"s"', "fields": '[{ name = "opcode", at = "6:0" }]', "kind": '"basic"'} | keys
    body = "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)
    return f"[eu_form.{name}]\n{body}{'' if 'reserved' in keys else REST}\n"


def op(name="add", **keys):
    lines = {"doc": '"d"', "class": '"arithmetic"', "code": "[{ at = 0x40 }]", "form": '"x"', "sources": "2"} | keys
    return f"[eu_op.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


def part(name="p", **keys):
    lines = {"doc": '"d"', "source": '"s"'} | keys
    return f"[eu_part.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


def compact(**keys):
    lines = {"doc": '"d"', "source": '"s"', "gens": '"gen8"', "kind": '"basic"', "reserved": '["28:7", "63:34"]',
             "copy": '[{ at = "6:0", native = "6:0" }]', "table": '[{ at = "33:32", native = "40:38|36", rows = [1, 2, 4, 15] }]',
             "more": None} | keys
    lines["reserved"] = keys.get("reserved", '["28:7", "31:30", "63:34"]')
    return "[eu_compact.c]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


def message(**keys):
    lines = {"doc": '"d"', "function": '"f"', "fields": '[{ name = "type", at = "18:0" }]'} | keys
    return '[eu_function.f]\ndoc = "d"\ncode = [{ at = 3 }]\n[eu_message.m]\n' + \
        "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


class Forms(SpecCase):
    def test_valid_description_is_accepted(self):
        spec, _ = self.good({"eu/a.toml": form() + op()})
        self.assertEqual(spec.eu.ops["add"].by_gen[0], (0x40, "x", 2, "basic"))
        self.assertEqual(spec.eu.forms["x"].layouts[3], {"opcode": [(0, 7)]})

    def test_mistakes_are_refused(self):
        for keys, text in (
                ({"reserved": '[{ at = "63:8" }, { at = "127:64" }]'}, "bits 7 are in no field"),
                ({"reserved": '[{ at = "63:7", gens = "gen4" }, { at = "127:64" }]'}, "gen4.5 gen7 gen8: bits 63:7 are in no field"),
                ({"fields": '[{ name = "opcode", at = "7:0" }]'}, "overlap: reserved at 63:7"),
                ({"fields": '[{ name = "opcode", at = "6:0" }, { name = "b", at = "3" }]'}, "overlap: b at 3"),
                ({"fields": '[{ name = "opcode", at = "6-0" }]'}, "bad position '6-0'"),
                ({"fields": '[{ name = "opcode", at = "70:60" }]'}, "bad position '70:60'"),
                ({"fields": '[{ name = "opcode", at = "128" }]'}, "bad position '128'"),
                ({"fields": '[{ name = "opcode", at = "6:0", in = ["a"] }]'}, "in must name variants"),
                ({"fields": '[{ at = "6:0" }]'}, "missing name"),
                ({"kind": '"odd"'}, "unknown kind 'odd'"),
                ({"parts": '["q"]'}, "unknown part 'q'"),
                ({"color": "1"}, "unknown key 'color'"),
                ({"fixed": '[{ at = "6:5", value = 4 }]'}, "the value 4 does not fit"),
                ({"unit": '[{ gens = "gen4", bytes = 8 }]'}, "gen4.5 gen7 gen8: no unit")):
            self.refused({"eu/a.toml": form(**keys)}, "eu_form x", text)

    def test_split_fields_are_accepted(self):
        spec, _ = self.good({"eu/a.toml": form(fields='[{ name = "opcode", at = "6:4|3:0" }]')})
        self.assertEqual(spec.eu.forms["x"].layouts[0]["opcode"], [(4, 3), (0, 4)])
        self.refused({"eu/a.toml": form(fields='[{ name = "opcode", at = "6:4|4:0" }]')}, "overlap: opcode")

    def test_variants_and_parts_cover_bits_once(self):
        variants = '[{ name = "a" }, { name = "b" }]'
        good = part(variants=variants, fields='[{ name = "u", at = "7", in = ["a"] }]', reserved='[{ at = "7", in = ["b"] }]')
        rest = 'reserved = [{ at = "63:8" }, { at = "127:64" }]'
        whole = form(parts='["p"]', reserved=rest[11:])
        self.good({"eu/a.toml": good + whole})
        uneven = part(variants=variants, fields='[{ name = "u", at = "7", in = ["a"] }]')
        self.refused({"eu/a.toml": uneven + whole}, "variant b covers other bits")
        self.refused({"eu/a.toml": good + form(parts='["p"]')}, "overlap with another part: 7")
        twice = part(fields='[{ name = "opcode", at = "7" }]')
        self.refused({"eu/a.toml": twice + whole}, "field opcode is at two places")


class Operations(SpecCase):
    def test_traits_describe_operations(self):
        spec, _ = self.good({"eu/a.toml": form() + op(accumulator='["reads"]', allow='["modifiers"]')})
        add = spec.eu.ops["add"]
        self.assertEqual((add.group, add.values, add.lane_local, add.accumulator), ("arithmetic", 2, True, ["reads"]))
        self.assertIn('return {"add", OpClass::arithmetic, 2, false, true, true, false, false};', emit_eu.op_header(spec))
        spec, _ = self.good({"eu/a.toml": form() + op(**{"class": '"group"', "values": "1"})})
        self.assertEqual((spec.eu.ops["add"].values, spec.eu.ops["add"].lane_local), (1, False))

    def test_mistakes_are_refused(self):
        for keys, text in (
                ({"code": "[{ at = 0x80 }]"}, "an opcode has 7 bits"),
                ({"sources": "4"}, "at most 3 sources"),
                ({"form": '"y"'}, "unknown form 'y'"),
                ({"kind": '"y"'}, "unknown kind 'y'"),
                ({"class": '"y"'}, "unknown class 'y'"),
                ({"class": None}, "missing class"),
                ({"lane_local": '"no"'}, "lane_local is true or false"),
                ({"ignores_modifiers": "true", "allow": '["modifiers"]'}, "modifiers are both allowed and ignored"),
                ({"values": "4"}, "values is a number of sources"),
                ({"accumulator": '["fun"]'}, "unknown word 'fun' in accumulator"),
                ({"allow": '["fun"]'}, "unknown word 'fun'"),
                ({"types": '["f"]'}, "bad types 'f'"),
                ({"types": '["f <- g"]'}, "unknown type 'g'"),
                ({"code": '[{ gens = "gen4..gen7", at = 1 }, { gens = "gen7..", at = 2 }]'}, "gen7: given twice"),
                ({"doc": None}, "missing doc")):
            self.refused({"eu/a.toml": form() + op(**keys)}, "eu_op add", text)
        self.refused({"eu/a.toml": form() + op() + op("mul")}, "eu_op mul", "opcode 0x40 is also that of add")
        self.refused({"eu/a.toml": form(gens='"gen8"') + op()}, "eu_op add", "gen4 gen4.5 gen7: form x does not exist")

    def test_wrong_folder_is_refused(self):
        self.refused({"structs/a.toml": form()}, "[eu_form] belongs in spec/eu")


class Codes(SpecCase):
    def codes(self, rows, name="register_type"):
        return f'[eu_codes.{name}]\ndoc = "d"\nsource = "s"\nrows = {rows}\n'

    def test_mistakes_are_refused(self):
        self.good({"eu/a.toml": self.codes('[{ codes = { f = 7, d = 1 } }]')})
        for rows, text in (('[{ codes = { f = 7, d = 7 } }]', "code 7 means both"),
                           ('[{ codes = { g = 7 } }]', "unknown value 'g'"),
                           ('[{ codes = { f = 16 } }]', "code 16 of 'f' does not fit")):
            self.refused({"eu/a.toml": self.codes(rows)}, "eu_codes register_type", text)
        self.refused({"eu/a.toml": self.codes("[]", "colors")}, "unknown code table")


class Compaction(SpecCase):
    def test_mistakes_are_refused(self):
        self.good({"eu/a.toml": compact()})
        for keys, text in (
                ({"reserved": '["28:7", "63:34"]'}, "compact bits 31:30 are in no copy"),
                ({"table": '[{ at = "33:32", native = "40:38|36", rows = [1, 2, 4] }]'}, "needs 4 rows, has 3"),
                ({"table": '[{ at = "33:32", native = "40:38|36", rows = [1, 2, 4, 16] }]'}, "does not fit 4 bits"),
                ({"table": '[{ at = "33:32", native = "6:3", rows = [1, 2, 4, 8] }]'}, "overlap: native bits 6:3"),
                ({"copy": '[{ at = "6:0", native = "5:0" }]'}, "the same width"),
                ({"copy": '[{ at = "6:0", native = "6:0" }, { at = "29", native = "30" }]'}, "overlap: compact bits 29"),
                ({"immediate": '{ at = "33:32", rule = "signed13" }'}, "must lie in bits of the second source"),
                ({"immediate": '{ at = "33:32", rule = "odd" }'}, "needs at and a rule"),
                ({"kind": '"odd"'}, "unknown kind")):
            self.refused({"eu/a.toml": compact(**keys)}, "eu_compact c", text)


class Messages(SpecCase):
    def test_mistakes_are_refused(self):
        self.good({"eu/a.toml": message()})
        for keys, text in (
                ({"fields": '[{ name = "type", at = "17:0" }]'}, "bits 18 are in no field"),
                ({"fields": '[{ name = "type", at = "19:0" }]'}, "overlap: 19"),
                ({"fields": '[{ name = "a", at = "18:0" }, { name = "b", at = "4" }]'}, "overlap: 4"),
                ({"fields": '[{ name = "a", at = "18:1" }, { name = "b", at = "0", values = { x = 2 } }]'}, "the value of x does not fit"),
                ({"fields": '[{ name = "a", at = "18:0", values = { x = 2, y = 2 } }]'}, "a value has two names"),
                ({"function": '"g"'}, "unknown function 'g'"),
                ({"when": '[{ at = "1:0", value = 4 }]'}, "when needs at and a value that fits")):
            self.refused({"eu/a.toml": message(**keys)}, "eu_message m", text)
        words = '[eu_words.w]\ndoc = "d"\nvalues = { x = 2 }\n'
        spec, _ = self.good({"eu/a.toml": message(fields='[{ name = "type", at = "18:0", values = "w" }]', set='{ simd = "simd8" }') + words})
        self.assertEqual(spec.eu.messages[0].fields, [("type", (0, 19), {"x": 2})])
        self.assertEqual(spec.eu.messages[0].fixed, [("simd", "simd8")])
        self.refused({"eu/a.toml": message(fields='[{ name = "type", at = "18:0", values = "v" }]')}, "unknown words 'v'")
        self.refused({"eu/a.toml": message() + words}, "no message uses these words")
        self.refused({"eu/a.toml": message(set='{ type = "x" }')}, "set type needs a word, and no field of that name")
        self.refused({"eu/a.toml": message(when='[{ at = "1:0", value = 1 }]')}, "has no layout for every message")
        self.refused({"eu/a.toml": message() + '[eu_function.g]\ndoc = "d"\ncode = [{ at = 3 }]\n'}, "f has the same code")

    def test_bits_of_words_do_not_overlap(self):
        def bits(fields):
            return '[eu_bits.b]\ndoc = "d"\nsource = "s"\nfields = [' + fields + ']\n'
        spec, _ = self.good({"eu/a.toml": bits('{ name = "x", at = "5:4" }, { name = "y", at = "31" }')})
        self.assertEqual(spec.eu.bits, [("b", "d", [("x", 4, 2, None), ("y", 31, 1, None)])])
        self.refused({"eu/a.toml": bits('{ name = "x", at = "5:4" }, { name = "y", at = "4" }')}, "overlap: 4")
        self.refused({"eu/a.toml": bits('{ name = "x", at = "32" }')}, "bad position '32'")


if __name__ == "__main__":
    unittest.main()
