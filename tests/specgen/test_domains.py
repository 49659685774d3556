"""Must-fail inputs for wake and replication tables, and what they become."""

import unittest

from support import SpecCase, DEVICES, register

RANGES = """[range_table.t]
doc = "d"
source = "s"
devices = ["new"]
columns = ["start", "end", "domain", "replication", "instances"]
rows = [[0x0, 0xff, "gt", "", 1], [0x100, 0x1ff, "gt|media", "bank", 4], [0x200, 0x2ff, "aon", "", 1], [0x300, 0x3ff, "", "", 0]]
"""


def table(kind, lines, keys):
    lines = {"doc": '"d"', "source": '"s"', "devices": '["new"]', "ranges": '"t"'} | lines | keys
    return RANGES + f"[{kind}.x]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None)


def wake(**keys):
    ports = '[{ domain = "gt", request = 0xa0, ack = 0xb0 }, { domain = "media", request = 0xa4, ack = 0xb4, access = "rw", bits = 1 }]'
    return table("wake_table", {"ports": ports}, keys)


def replication(**keys):
    return table("replication_table", {
        "multicast": '"31"', "slice": '"30:27"', "subslice": '"26:24"',
        "groups": '[{ name = "bank", instances = 4, fuse = 0x100, sense = "disable", bits = 2 }]',
        "selectors": '[{ name = "SEL", offset = 0xfdc, origin = "host" }]'}, keys)


class Wake(SpecCase):
    def test_valid_description_is_accepted(self):
        spec, _ = self.good({"tables/t.toml": wake(shadow="[[0x30, 0x33], [0x40, 0x43]]")})
        item = spec.wake_tables["x"]
        self.assertEqual([p["access"] for p in item.rows], ["masked", "rw"])
        self.assertEqual([p["bits"] for p in item.rows], [0xFFFF, 1])
        self.assertFalse(item.writes_wake)

    def test_mistakes_are_refused(self):
        for keys, text in (({"ranges": '"u"'}, "unknown range table 'u'"),
                           ({"devices": '["old"]'}, "range table t is not for old"),
                           ({"ports": '[{ domain = "gt", request = 0xa0, ack = 0xb0 }]'}, "names domain 'media'"),
                           ({"ports": '[{ domain = "gt", request = 0xa1, ack = 0xb0 }]'}, "request must be a multiple of 4"),
                           ({"ports": '[{ domain = "gt", request = 0xa0, ack = 0xa0 }]'}, "0xa0 is given twice"),
                           ({"ports": '[{ domain = "gt", request = 0xa0, ack = 0xb0, access = "ro" }]'}, "masked or rw"),
                           ({"ports": '[{ domain = "gt", request = 0xa0 }]'}, "missing ack"),
                           ({"shadow": "[[0x40, 0x43], [0x30, 0x33]]"}, "not sorted"),
                           ({"shadow": "[[0x43, 0x40]]"}, "bad shadow range"),
                           ({"color": "1"}, "unknown key 'color'")):
            self.refused({"tables/t.toml": wake(**keys)}, "wake_table x", text)

    def test_a_device_has_one_wake_table(self):
        more = wake() + "[wake_table.y]\n" + wake().split("[wake_table.x]\n")[1].replace("0xa", "0xc").replace("0xb", "0xd")
        self.refused({"tables/t.toml": more}, "wake_table y", "device new already has x")

    def test_domain_of_an_engine_must_exist(self):
        devices = DEVICES.replace('base = 0x22000 }', 'base = 0x22000, domain = "warp" }')
        self.refused({"tables/t.toml": wake(), "devices.toml": devices}, "engine bcs0 of new", "'warp'")


class Replication(SpecCase):
    def test_valid_description_is_accepted(self):
        spec, _ = self.good({"tables/t.toml": replication()})
        item = spec.replication_tables["x"]
        self.assertEqual(item.fields, {"multicast": (31, 31), "slice": (30, 27), "subslice": (26, 24)})
        self.assertEqual(item.groups["bank"]["bits"], 2)

    def test_mistakes_are_refused(self):
        for keys, text in (({"slice": '"27:30"'}, "slice must be"),
                           ({"subslice": '"40"'}, "subslice must be"),
                           ({"slice_ranges": '"u"'}, "unknown range table 'u'"),
                           ({"groups": '[{ name = "dss", instances = 4 }]'}, "names group 'bank'"),
                           ({"groups": '[{ name = "bank", instances = 3 }]'}, "counts 4 instances of bank"),
                           ({"groups": '[{ name = "bank", instances = 4, fuse = 0x100 }]'}, "fuse needs sense"),
                           ({"groups": '[{ name = "bank", instances = 64 }]'}, "must be 1..32"),
                           ({"selectors": '[{ name = "S", offset = 0xfdc, origin = "moon" }]'}, "unknown origin 'moon'"),
                           ({"selectors": '[{ name = "S", origin = "host" }]'}, "missing offset")):
            self.refused({"tables/t.toml": replication(**keys)}, "replication_table x", text)


class Endpoints(SpecCase):
    """No register where a range table says that nothing answers."""

    def with_register(self, **keys):
        return {"tables/t.toml": RANGES, "registers/t.toml": register(**keys)}

    def test_a_register_without_endpoint_is_refused(self):
        for keys in ({"offset": "0x300"}, {"offset": "0x3fc"}, {"offset": "0x2fc", "width": "64", "fields": '[{ name = "v", at = "0[63:0]" }]'},
                     {"offset": "0x100", "count": "3", "stride": "0x100"}):
            self.refused(self.with_register(**keys), "register R", "of new lies in 0x300..0x3ff", "t has no endpoint")
        for keys in ({"offset": "0x2fc"}, {"offset": "0x400"}, {"offset": "0x300", "devices": '["old"]'}):
            self.good(self.with_register(**keys))

    def test_engine_registers_count_at_every_base(self):
        table = RANGES.replace("0x300, 0x3ff", "0x22000, 0x22fff")
        files = {"tables/t.toml": table, "registers/t.toml": register(base='"engine"', offset="0x30")}
        self.refused(files, "0x22030 of new lies in 0x22000..0x22fff")
        files["registers/t.toml"] = register(base='"engine"', offset="0x30", engines='["render"]')
        self.good(files)

    def test_a_table_without_domains_refuses_nothing(self):
        table = RANGES.replace('"domain", ', "").replace('"gt", ', "").replace('"gt|media", ', "").replace('"aon", ', "").replace('"", "", 0', '"", 0')
        self.good(self.with_register(offset="0x300") | {"tables/t.toml": table})

    def test_an_exception_allows_it(self):
        excuse = '[[exception]]\ncheck = "no_endpoint"\nitem = "R"\nfields = ["t"]\nreason = "r"\n'
        self.good(self.with_register(offset="0x300") | {"exceptions.toml": excuse})
        self.refused(self.with_register(offset="0x200") | {"exceptions.toml": excuse}, "no longer needed")


class Units(SpecCase):
    @staticmethod
    def table(rows):
        return {"tables/u.toml": f'[unit_table.u]\ndoc = "d"\nsource = "s"\ndevices = ["new"]\nrows = [{rows}]\n'}

    def test_valid_description_is_accepted(self):
        spec, _ = self.good(self.table('{ name = "RCS0", base = 0x2000 }, { name = "BCS0", base = 0x22000 }, { name = "VCS0", base = 0x12000 }'))
        self.assertEqual(spec.unit_tables["u"].rows[2], {"name": "VCS0", "base": 0x12000})

    def test_engines_agree_with_the_table(self):
        self.refused(self.table('{ name = "RCS0", base = 0x2000 }'), "unit_table u", "no row for engine bcs0 of new")
        self.refused(self.table('{ name = "RCS0", base = 0x3000 }, { name = "BCS0", base = 0x22000 }'),
                     "rcs0 of new is at 0x2000, not at 0x3000")

    def test_mistakes_in_rows_are_refused(self):
        both = '{ name = "RCS0", base = 0x2000 }, { name = "BCS0", base = 0x22000 }, '
        self.refused(self.table(both + '{ name = "BCS0", base = 0x30000 }'), "BCS0 is given twice")
        self.refused(self.table(both + '{ name = "X", base = 0x2000 }'), "0x2000 is given twice")
        self.refused(self.table(both + '{ name = "X", base = 2 }'), "multiple of 4")
        self.refused(self.table(both + '{ base = 4 }'), "missing name")


if __name__ == "__main__":
    unittest.main()
