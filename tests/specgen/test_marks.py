"""Must-fail inputs for spec/unread.toml, and what its marks become."""

import unittest

from support import SpecCase, command, struct  # first: it makes the tool importable

import audit
import emit_docs
import generate
import golden

FIELDS = '[{ name = "on", at = "0[0]", type = "bool" }, { name = "mode", at = "0[3:1]" }, { name = "new", at = "0[4]", gens = "gen8" }]'
RESERVED = '["0[23:5]", { at = "0[4]", gens = "..gen7" }]'


def marked(text, more=""):
    return {"unread.toml": text, "commands/t.toml": command(fields=FIELDS, reserved=RESERVED) + more}


def mark(kind="unread", **keys):
    keys = {"item": '"X"', "fields": '["mode"]', "reason": '"not implemented"'} | keys
    return f"[[{kind}]]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items() if v is not None)


class Marks(SpecCase):
    def test_a_mark_reaches_table_page_and_golden_view(self):
        spec, _ = self.good(marked(mark(rest="[0, 5]", unless="{ on = 0 }") + mark("inert", fields='["on"]', reason='"a hint"')))
        self.assertIn("COMMAND X unread X.mode 0[3:1] rest=0,5 unless=0[0]=0\n", golden.view(spec, spec.gens.index("gen4")))
        page = emit_docs.pages(spec)["t.md"]
        self.assertIn("- not looked at: `X.mode` at 0[3:1]: not implemented. At rest: 0, 5.\n", page)
        self.assertIn("- needs no reading: `on`: a hint.\n", page)
        code = generate.contents(spec)["hw/t.cpp"]
        self.assertIn('{"X.mode"sv, "not implemented"sv, "X.mode is not looked at: not implemented"sv, 1, 3, 0, 1, 0, false,', code)

    def test_marks_of_structures_reach_those_that_contain_them(self):
        inner = struct("S", fields='[{ name = "low", at = "0[7:0]" }, { name = "high", at = "0[31:8]" }]')
        outer = command("Y", match='{ "0[31:24]" = 2 }', length="3", reserved='["0[23:0]"]',
                        fields='[{ name = "one", at = "1[31:0]", type = "struct:S" }]',
                        groups='[{ name = "more", at = "2", bits = 32, count = 1, fields = [{ name = "s", at = "0[31:0]", type = "struct:S" }] }]')
        files = marked(mark(item='"S"', fields='["high"]', when="{ low = 3 }"), outer) | {"structs/t.toml": inner}
        view = golden.view(self.good(files)[0], 0)
        self.assertIn("COMMAND Y unread S.high 1[31:8] rest=0 when=1[7:0]=3\n", view)
        self.assertIn("COMMAND Y more unread S.high 0[31:8] rest=0 when=0[7:0]=3\n", view)
        self.assertIn("STRUCT S unread S.high 0[31:8] rest=0 when=0[7:0]=3\n", view)

    def test_marks_apply_to_their_generations(self):
        spec, _ = self.good(marked(mark(gens='"gen8"')))
        self.assertIn("unread", golden.view(spec, spec.gens.index("gen8")))
        self.assertNotIn("unread", golden.view(spec, spec.gens.index("gen4")))
        self.refused(marked(mark(fields='["new"]', gens='"gen4"')), "field new", "no such field")

    def test_names_must_exist(self):
        self.refused(marked(mark(item='"Z"')), "no command or structure Z")
        self.refused(marked(mark(fields='["mood"]')), "field mood", "no such field")
        self.refused(marked(mark(fields='["m*d"]')), "field m*d", "no such field")
        self.refused(marked(mark(when="{ off = 1 }")), "no field off beside it")
        self.refused(marked(mark(when="{ mode = 1 }")), "no field mode beside it")

    def test_unknown_and_missing_keys_are_refused(self):
        self.refused(marked(mark(reason=None)), "missing reason")
        self.refused(marked(mark(item=None)), "missing item")
        self.refused(marked(mark("inert", rest="1")), "unknown key 'rest'")
        self.refused(marked(mark(reason='"Not done."')), "no full stop")
        self.refused(marked(mark(fields='"mode"')), "fields must be a list of names")
        self.refused(marked(mark(item="[1]")), "item must be a name or a list of names")
        self.refused(marked(mark(when="{ on = 1 }", unless="{ on = 1 }")), "when or unless")
        self.refused(marked(mark(when='"on"')), "when or unless")

    def test_values_must_fit_their_field(self):
        self.refused(marked(mark(rest="8")), "does not fit 3 bits")
        self.refused(marked(mark(rest="[]")), "rest must be")
        self.refused(marked(mark(rest="[true]")), "rest must be")
        self.refused(marked(mark(when="{ on = 2 }")), "2 does not fit on")

    def test_a_field_has_at_most_one_mark(self):
        self.refused(marked(mark() + mark()), "field mode", "marked twice")
        self.refused(marked(mark() + mark("inert")), "field mode", "marked twice")
        spec, _ = self.good(marked(mark() + mark("inert", item=None, fields='["*"]')))
        self.assertEqual(sorted(spec.commands["X"].layouts[0].inert), ["on"])


class Audit(SpecCase):
    def faults(self, code, marks=""):
        files = {"commands/3d_t.toml": command(fields=FIELDS, reserved=RESERVED), "unread.toml": marks,
                 "src/pipe3d/a.cpp": code, "src/message/b.cpp": "x.mode"}
        spec, root = self.good(files)
        return audit.faults(spec, root / "src")

    def test_a_field_is_read_or_marked(self):
        both = "const auto x = get<hw::X>(); f(x.on, x->mode, x.new);"
        self.assertEqual(self.faults(both.replace("new", "new_")), [])
        lines = self.faults("const auto x = get<hw::X>(); f(x.on);  // x.mode")
        self.assertEqual(len(lines), 2)
        self.assertTrue(any("command X: gen4 gen4.5 gen8: nothing in" in line and "reads mode" in line for line in lines), lines)
        self.assertEqual(self.faults("get<hw::X>().on", mark() + mark("inert", fields='["new"]')), [])

    def test_another_item_with_such_a_field_does_not_count(self):
        lines = self.faults("const auto x = get<hw::Z>(); f(x.on, x.mode, x.new_);", mark())
        self.assertEqual(len(lines), 2)

    def test_a_command_that_nothing_names_is_found_in_every_topic(self):
        topics = (("mi_t", "M"), ("blt", "B"), ("media", "E"), ("video_t", "V"))
        files = {f"commands/{topic}.toml": command(name, match=f'{{ "0[31:24]" = {number} }}')
                 for number, (topic, name) in enumerate(topics, 1)}
        spec, root = self.good(files | {"src/engine/a.cpp": "take(CommandId::B)"})
        lines = audit.faults(spec, root / "src")
        self.assertEqual({line.split(": ")[1] for line in lines}, {"command M", "command E"})


if __name__ == "__main__":
    unittest.main()
