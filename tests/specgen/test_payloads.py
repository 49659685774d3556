"""Must-fail inputs for payloads, message headers and command headers, and the C++ that they become."""

import unittest

from support import SpecCase
import generate  # noqa: E402

FUNCTIONS = """
[eu_function.smpl]
doc = "d"
code = [ { at = 2 } ]
[eu_message.any]
doc = "d"
function = "smpl"
fields = [ { name = "type", at = "3:0", values = { sample = 0, load = 1 } } ]
reserved = ["18:4"]
"""


def payload(name="P", **keys):
    lines = {"doc": '"d"', "source": '"s"', "threads": '["pixel"]', "at": '"r1.0"', "length": "1",
             "fields": '[{ name = "all", at = "0[31:0]" }]'} | keys
    return f"[payload.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


def header(name="H", **keys):
    lines = {"doc": '"d"', "source": '"s"', "functions": '["smpl"]', "length": "1", "fields": '[{ name = "all", at = "0[31:0]" }]'} | keys
    return f"[message_header.{name}]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


class Payloads(SpecCase):
    def test_missing_keys_are_refused(self):
        for key in ("doc", "source", "threads", "at", "length"):
            self.refused({"payloads/t.toml": payload(**{key: None})}, "payload P", f"missing {key}")

    def test_threads_are_known(self):
        self.refused({"payloads/t.toml": payload(threads='["teapot"]')}, "threads", "unknown name 'teapot'")
        self.refused({"payloads/t.toml": payload(threads='["pixel", "pixel"]')}, "listed twice")

    def test_the_start_is_a_register_and_a_dword(self):
        for at in ("1.0", "r1", "r1.8", "r128.0", "r127.7"):
            length = "2" if at == "r127.7" else "1"
            fields = '[{ name = "a", at = "0[31:0]" }, { name = "b", at = "1[31:0]" }]' if length == "2" else '[{ name = "all", at = "0[31:0]" }]'
            self.refused({"payloads/t.toml": payload(at=f'"{at}"', length=length, fields=fields)}, "payload P", "must be a register and a dword")

    def test_every_bit_is_a_field_or_reserved(self):
        self.refused({"payloads/t.toml": payload(fields='[{ name = "low", at = "0[15:0]" }]')}, "payload P", "neither field nor reserved")
        self.refused({"payloads/t.toml": payload(fields='[{ name = "a", at = "0[31:0]" }, { name = "b", at = "0[3:0]" }]')}, "overlap")

    def test_fields_lie_within_a_dword(self):
        self.refused({"payloads/t.toml": payload(length="2", fields='[{ name = "a", at = "0[47:0]" }]', reserved='["1[31:16]"]')},
                     "field a", "within one dword")

    def test_payloads_of_one_thread_do_not_overlap(self):
        two = payload("P", at='"r1.3"') + payload("Q", at='"r1.2"', length="2",
                                                 fields='[{ name = "a", at = "0[31:0]" }, { name = "b", at = "1[31:0]" }]')
        self.refused({"payloads/t.toml": two}, "payload Q", "shares r1.3 of pixel threads with P")
        self.good({"payloads/t.toml": payload("P") + payload("Q", threads='["clip"]')})

    def test_the_layout_depends_on_the_generation(self):
        rows = '[{ name = "a", at = "0[3:0]", gens = "..gen4.5" }, { name = "a", at = "0[7:4]", gens = "gen8" }]'
        rest = '["0[31:8]", { at = "0[7:4]", gens = "..gen4.5" }, { at = "0[3:0]", gens = "gen8" }]'
        spec, _ = self.good({"payloads/t.toml": payload(fields=rows, reserved=rest)})
        text = generate.contents(spec)["hw/t.h"]
        self.assertIn("case spec::GenId::gen4_5:\n        d[0] = (uint32_t(a) & 0xfu);", text)
        self.assertIn("case spec::GenId::gen8:\n        d[0] = (uint32_t(a) & 0xfu) << 4;", text)
        self.assertIn("kOneLayout = false", text)


class MessageHeaders(SpecCase):
    def test_functions_and_types_are_those_of_spec_eu(self):
        self.good({"payloads/t.toml": header(types='["sample"]'), "eu/f.toml": FUNCTIONS})
        self.refused({"payloads/t.toml": header(functions='["oven"]'), "eu/f.toml": FUNCTIONS}, "functions", "unknown function 'oven'")
        self.refused({"payloads/t.toml": header(types='["bake"]'), "eu/f.toml": FUNCTIONS}, "types", "has the type 'bake'")

    def test_wrong_folder_is_refused(self):
        self.refused({"structs/t.toml": header(), "eu/f.toml": FUNCTIONS}, "[message_header] belongs in spec/payloads")


class Headers(SpecCase):
    def head(self, fields, reserved="[]"):
        return {"headers.toml": f'[header.mi]\ndoc = "d"\nsource = "s"\nfields = {fields}\nreserved = {reserved}\n'}

    def test_every_bit_is_a_field_or_reserved(self):
        self.good(self.head('[{ name = "a", at = "0[31:29]", values = { x = 7 } }]', '["0[28:0]"]'))
        self.refused(self.head('[{ name = "a", at = "0[31:29]" }]'), "header mi", "in no field and not reserved")
        self.refused(self.head('[{ name = "a", at = "0[31:0]" }, { name = "b", at = "0[3]" }]'), "overlap")
        self.refused(self.head('[{ name = "a", at = "1[31:0]" }]'), "outside dword 0")
        self.refused(self.head('[{ name = "a", at = "0[31:29]", values = { x = 8 } }]', '["0[28:0]"]'), "does not fit")


if __name__ == "__main__":
    unittest.main()
