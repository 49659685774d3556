"""Must-fail inputs for commands, registers, devices, tables and the files themselves."""

import unittest

from support import BLIT, DEVICES, GENERATIONS, RENDER, SpecCase, command, device, register, struct


class Items(SpecCase):
    def test_missing_doc_and_source_are_refused(self):
        for make, folder in ((command, "commands"), (struct, "structs"), (register, "registers")):
            for key in ("doc", "source"):
                self.refused({f"{folder}/t.toml": make(**{key: None})}, "t.toml", f"missing {key}")
                self.refused({f"{folder}/t.toml": make(**{key: '""'})}, "t.toml", f"missing {key}")

    def test_duplicate_names_are_refused(self):
        self.refused({"commands/a.toml": command(), "commands/b.toml": command()}, "b.toml", "command X", "duplicate name", "a.toml")

    def test_unknown_generation_is_refused(self):
        self.refused({"commands/t.toml": command(gens='"gen6.."')}, "command X", "unknown generation 'gen6'")
        self.refused({"commands/t.toml": command(gens='"gen8..gen4"')}, "runs backwards")
        self.refused({"commands/t.toml": command(gens='""')}, "bad generation range")

    def test_item_without_a_device_is_refused(self):
        self.refused({"commands/t.toml": command(gens='"gen7"')}, "command X", "no device has it")

    def test_unknown_device_is_refused(self):
        self.refused({"commands/t.toml": command(devices='["newer"]')}, "unknown device 'newer'")
        self.refused({"commands/t.toml": command(devices='["new"]', gens='"gen4"')}, "device 'new' is gen8, outside gens")

    def test_row_outside_the_item_is_refused(self):
        self.refused({"commands/t.toml": command(gens='"gen8"', fields='[{ name = "a", at = "0[0]", gens = "gen4" }]')},
                     "field a", "no generation in common")

    def test_wrong_folder_and_bad_toml_are_refused(self):
        self.refused({"structs/t.toml": command()}, "[command] belongs in spec/commands")
        self.refused({"commands/t.toml": "[command.X\n"}, "t.toml", "not valid TOML")
        self.refused({"commands/enums.toml": command()}, "a topic's name")

    def test_topics_that_contain_each_other_are_refused(self):
        a = struct("A") + struct("B", fields='[{ name = "c", at = "0[31:0]", type = "struct:C" }]')
        b = struct("C") + struct("D", fields='[{ name = "a", at = "0[31:0]", type = "struct:A" }]')
        self.refused({"structs/a.toml": a, "structs/b.toml": b}, "topics contain each other's structures")


class Commands(SpecCase):
    def test_bad_engines_are_refused(self):
        self.refused({"commands/t.toml": command(engines='["warp"]')}, "engines", "unknown engine 'warp'")
        self.refused({"commands/t.toml": command(engines="[]")}, "missing engines")
        self.refused({"commands/t.toml": command(engines='["render", "render"]')}, "listed twice")
        self.refused({"commands/t.toml": command(engines='{ "gen4" = ["render"] }')}, "engines", "gen4.5 gen8", "no engines")
        self.refused({"commands/t.toml": command(engines='{ ".." = ["render"], "gen8" = ["blit"] }')}, "gen8", "given twice")

    def test_two_commands_with_one_header_are_refused(self):
        both = command("X") + command("Y", match='{ "0[31:20]" = 0x010 }', reserved='["0[19:0]"]')
        self.refused({"commands/t.toml": both}, "command Y", "gen4:", "match X too", "on render of old")

    def test_one_header_on_different_engines_generations_or_devices_is_accepted(self):
        self.good({"commands/t.toml": command("X") + command("Y", engines='["blit"]')})
        self.good({"commands/t.toml": command("X", gens='"gen4"') + command("Y", gens='"gen8"')})
        self.good({"commands/t.toml": command("X", devices='["old"]') + command("Y", devices='["mid"]')})

    def test_exception_allows_one_header(self):
        both = command("X") + command("Y", match='{ "0[31:20]" = 0x010 }', reserved='["0[19:0]"]')
        exception = '[[exception]]\ncheck = "command_match"\nitem = "Y"\nfields = ["X"]\nreason = "Y is a case of X"\n'
        self.good({"commands/t.toml": both, "exceptions.toml": exception})

    def test_bad_match_bits_are_refused(self):
        self.refused({"commands/t.toml": command(match='{ "1[3:0]" = 1 }')}, "match", "outside dword 0")
        self.refused({"commands/t.toml": command(match='{ "0[31:30]" = 4 }')}, "match", "does not fit")
        self.refused({"commands/t.toml": command(match='{ "0[31:30]" = 1, "0[30]" = 1 }')}, "match", "overlap")
        self.refused({"commands/t.toml": command(match='[{ gens = "gen4", bits = { "0[31:24]" = 1 } }]')}, "gen4.5 gen8", "no match")

    def test_bad_lengths_are_refused(self):
        self.refused({"commands/t.toml": command(length="0")}, "at least one dword")
        self.refused({"commands/t.toml": command(length='{ at = "0[3:0]", bias = 2, min = 2, max = 40 }')}, "max 40", "2..17")
        self.refused({"commands/t.toml": command(length='{ at = "0[3:0]", bias = 2, min = 1, max = 4 }')}, "min 1")
        self.refused({"commands/t.toml": command(length='{ at = "0[3:0]", min = 1, max = 4 }')}, "missing bias")
        self.refused({"commands/t.toml": command(length='{ at = "1[3:0]", bias = 2, min = 2, max = 4 }')}, "outside dword 0")


class Structs(SpecCase):
    def test_bad_lengths_are_refused(self):
        self.refused({"structs/t.toml": struct(length="0")}, "1..2047 dwords")
        self.refused({"structs/t.toml": struct(length='[{ gens = "gen4", dwords = 1 }]')}, "gen4.5 gen8", "no length")


class Registers(SpecCase):
    def test_overlap_is_refused(self):
        self.refused({"registers/t.toml": register("A") + register("B")}, "register B", "gen4", "shares 0x1000 of old with A")
        self.refused({"registers/t.toml": register("A", width="64", fields='[{ name = "v", at = "0[63:0]" }]')
                      + register("B", offset="0x1004")}, "register B", "shares 0x1004")
        self.refused({"registers/t.toml": register("A", count="4", stride="4") + register("B", offset="0x100c")}, "shares 0x100c")

    def test_overlap_through_engine_bases_is_refused(self):
        self.refused({"registers/t.toml": register("A", base='"engine"', offset="0x30") + register("B", offset="0x22030")},
                     "register B", "gen8", "shares 0x22030 of new with A")
        self.good({"registers/t.toml": register("A", base='"engine"', engines='["render"]', offset="0x30")
                   + register("B", offset="0x22030")})

    def test_exception_allows_overlap(self):
        exception = '[[exception]]\ncheck = "register_overlap"\nitem = "B"\nfields = ["A"]\nreason = "read and write differ"\n'
        self.good({"registers/t.toml": register("A") + register("B"), "exceptions.toml": exception})

    def test_bad_offsets_are_refused(self):
        self.refused({"registers/t.toml": register(offset="0x1002")}, "not a multiple of 4")
        self.refused({"registers/t.toml": register(offset="0x90000")}, "lies past")
        self.refused({"registers/t.toml": register(offset='[{ gens = "gen4", at = 0x10 }]')}, "no offset for mid")
        spec, _ = self.good({"registers/t.toml": register(offset='[{ at = 0x10 }, { devices = ["mid"], at = 0x20 }]')})
        self.assertEqual(spec.registers["R"].offsets, {"old": 0x10, "mid": 0x20, "new": 0x10})

    def test_base_and_engines_must_agree(self):
        self.refused({"registers/t.toml": register(base='"moon"')}, "unknown base 'moon'")
        self.refused({"registers/t.toml": register(engines='["render"]')}, "engines need base")
        self.refused({"registers/t.toml": register(base='"engine"', engines='["warp"]')}, "unknown engine 'warp'")

    def test_bad_width_count_and_stride_are_refused(self):
        self.refused({"registers/t.toml": register(width="16")}, "width is 32 or 64")
        self.refused({"registers/t.toml": register(count="4")}, "count and stride go together")
        self.refused({"registers/t.toml": register(count="4", stride="2")}, "stride 2")

    def test_storage_says_where_no_unit_acts(self):
        def rows_of(**keys):
            spec, _ = self.good({"registers/t.toml": register(**keys)})
            return spec.registers["R"].storage
        engine = {"base": '"engine"', "offset": "0x30"}
        self.assertEqual(rows_of(), [])
        self.assertEqual(rows_of(storage="true"), [(["old", "mid", "new"], [], [])])
        self.assertEqual(rows_of(storage='{ gens = "..gen4.5" }'), [(["old", "mid"], [], [])])
        self.assertEqual(rows_of(storage='[{ devices = ["new"] }, { gens = "gen4" }]'), [(["new"], [], []), (["old"], [], [])])
        self.assertEqual(rows_of(storage='{ engines = ["blit"] }', **engine), [(["old", "mid", "new"], ["blit"], [])])
        self.assertEqual(rows_of(storage='{ gens = "gen8", indices = [1, 3] }', count="4", stride="4"), [(["new"], [], [1, 3])])

    def test_bad_storage_is_refused(self):
        for value in ('"gen8"', "{}", "[1]"):
            self.refused({"registers/t.toml": register(storage=value)}, "rows with gens, devices, engines, indices")
        self.refused({"registers/t.toml": register(storage='{ gens = "gen7" }')}, "no device of the register takes this row")
        self.refused({"registers/t.toml": register(storage='{ devices = ["moon"] }')}, "unknown device 'moon'")
        self.refused({"registers/t.toml": register(storage='{ engines = ["blit"] }')}, "belongs to none of these engines")
        self.refused({"registers/t.toml": register(storage='{ indices = [1] }')}, "indices are numbers below 1")
        self.refused({"registers/t.toml": register(storage='[{ devices = ["new"] }, { gens = "gen8" }]')}, "named twice")
        self.refused({"registers/t.toml": register(storage='{ devices = ["old", "mid", "new"] }')}, "say true")

    def test_bad_reset_values_are_refused(self):
        self.refused({"registers/t.toml": register(reset="0x100000000")}, "does not fit 32 bits")
        both = '[{ name = "a", at = "0[15:0]", reset = 1 }, { name = "b", at = "0[31:16]" }]'
        self.refused({"registers/t.toml": register(reset="2", fields=both)}, "field a", "reset 0x1 differs from the register's 0x2")
        self.refused({"registers/t.toml": register(reset="1", fields="[{ name = 'a', at = '0[31:1]' }]", reserved='["0[0]"]')},
                     "sets bits 0x1 that are in no field")
        self.refused({"registers/t.toml": register(fields="[{ name = 'a', at = '0[1:0]', reset = 4 }]")}, "does not fit 2 bits")
        spec, _ = self.good({"registers/t.toml": register(reset='[{ gens = "gen8", value = 5 }, { devices = ["old"], value = 6 }]')})
        self.assertEqual(spec.registers["R"].resets, {"old": 6, "mid": 0, "new": 5})


class World(SpecCase):
    def test_mistakes_in_features_and_quirks_are_refused(self):
        feature = '[feature.fast]\ndoc = "d"\nscope = "device"\n'
        self.refused({"generations.toml": GENERATIONS + feature}, "feature fast", "no device has this feature")
        extra = device("last", "gen8", extra='features = ["fast", "slow"]')
        self.refused({"generations.toml": GENERATIONS + feature, "devices.toml": DEVICES + extra}, "device last", "unknown feature 'slow'")
        self.refused({"devices.toml": DEVICES + device("last", "gen8", extra='quirks = ["odd"]')}, "unknown quirk 'odd'")
        self.refused({"generations.toml": GENERATIONS + '[quirk.odd]\ndoc = "d"\n'}, "quirk odd", "missing source")

    def test_generations_decide_every_feature(self):
        def generations(**lists):
            return "".join(f'[[generation]]\nname = "{g}"\ndoc = "d"\n{lists.get(g.replace(".", "_"), "")}\n'
                           for g in ("gen4", "gen4.5", "gen7", "gen8"))
        fast = '[feature.fast]\ndoc = "d"\nreaders = ["engine"]\n'
        yes, no = 'features = ["fast"]', 'without = ["fast"]'
        spec, _ = self.good({"generations.toml": fast + generations(gen4=no, gen4_5=no, gen8=yes)})  # gen7 has no device
        self.assertEqual([d.name for d in spec.devices.values() if "fast" in d.features], ["new"])
        self.refused({"generations.toml": fast + generations(gen4=no, gen8=yes)}, "has a device but does not state 'fast'")
        seven = DEVICES + device("ivb", "gen7")
        self.refused({"generations.toml": fast + generations(gen4=no, gen4_5=no, gen8=yes), "devices.toml": seven},
                     "generation gen7", "has a device but does not state 'fast'")
        self.refused({"generations.toml": fast + generations(gen4=no, gen4_5=no, gen8=yes + "\n" + no)},
                     "is under features and under without")
        self.refused({"generations.toml": fast + generations(gen4='without = ["fast", "slow"]', gen4_5=no, gen8=yes)},
                     "unknown feature 'slow'")
        self.refused({"generations.toml": fast + 'scope = "device"\n' + generations(gen8=yes)}, "is a feature of devices")
        self.refused({"generations.toml": fast + 'scope = "chip"\n' + generations(gen8=yes)}, "unknown scope 'chip'")

    def test_mistakes_in_engine_numbers_are_refused(self):
        gdrst = register("GDRST", fields='[{ name = "render", at = "0[1]", type = "bool" }, { name = "full", at = "0[0]", type = "bool" }]',
                         reserved='["0[31:2]"]', gens='"gen8"')
        fault = register("FAULT_REG", offset="0x2000", fields='[{ name = "engine_id", at = "0[31:0]" }]', gens='"gen8"')
        items = {"registers/t.toml": gdrst + fault}

        def engine(more):
            return {"devices.toml": device("new", "gen8", "[" + RENDER.replace(" }", f"{more} }}") + "]")} | items
        spec, _ = self.good(engine(', reset = "render", fault_id = 3'))
        self.assertEqual(spec.devices["new"].engines[0]["reset_bit"], 1)
        self.refused(engine(', fault_id = 3'), "engine rcs0", "missing key 'reset': the device has GDRST")
        self.refused(engine(', reset = "render"'), "missing key 'fault_id'")
        self.refused(engine(', reset = "blt", fault_id = 3'), "GDRST has no field 'blt'")
        self.refused(engine(', reset = "render", fault_id = 3, class_id = 1'), "class_id: the device has no CONTEXT_DESCRIPTOR")
        self.refused(engine(', reset = "render", fault_id = 3, register_set = 1'), "no registers with a copy for each engine")

    def test_each_device_has_one_table_of_null_ranges(self):
        def table(name, devices, null="null = true", domain=""):
            return (f'[range_table.{name}]\ndoc = "d"\nsource = "s"\ndevices = {devices}\n{null}\n'
                    f'columns = ["start", "end", "domain"]\nrows = [[0x78000, 0x78fff, "{domain}"]]\n')
        everywhere = '["old", "mid", "new"]'
        spec, _ = self.good({"tables/t.toml": table("a", everywhere)})
        self.assertTrue(spec.range_tables["a"].null)
        self.refused({"tables/t.toml": table("a", '["old", "mid"]')}, "device new", "needs one range table with null = true")
        self.refused({"tables/t.toml": table("a", everywhere) + table("b", '["new"]')}, "device new", "needs one range table")
        self.refused({"tables/t.toml": table("a", everywhere, domain="render")}, "rows of null ranges have the domain")
        self.good({"tables/t.toml": table("a", '["new"]', null="")})

    def test_mistakes_in_devices_are_refused(self):
        self.refused({"devices.toml": DEVICES + device("last", "gen99")}, "device last", "unknown generation 'gen99'")
        self.refused({"devices.toml": device("last", "gen8", f"[{RENDER}, {RENDER}]")}, "duplicate engine")
        self.refused({"devices.toml": device("last", "gen8", f"[{BLIT.replace('blit', 'warp')}]")}, "unknown engine 'warp'")
        self.refused({"devices.toml": DEVICES.replace('"gttmmadr"', '"attic"')}, "bar 0", "unknown kind 'attic'")

    def test_limits_of_the_masks_are_checked(self):
        self.refused({"devices.toml": "".join(device(f"d{i}", "gen8") for i in range(33))}, "more than 32 devices")
        many = "".join(f'[feature.f{i}]\ndoc = "d"\n' for i in range(65))
        self.refused({"generations.toml": GENERATIONS + many}, "more than 64 features")
        self.refused({"generations.toml": GENERATIONS + GENERATIONS}, "duplicate name")

    def test_description_without_devices_is_accepted(self):
        self.good({"devices.toml": "", "generations.toml": GENERATIONS, "commands/t.toml": command()})


class Tables(SpecCase):
    HEAD = 'doc = "d"\nsource = "s"\ndevices = ["new"]\n'

    def ranges(self, rows, spans="[]"):
        return {"tables/t.toml": f'[range_table.t]\n{self.HEAD}columns = ["start", "end", "domain"]\nspans = {spans}\nrows = {rows}\n'}

    def test_mistakes_in_range_rows_are_refused(self):
        self.good(self.ranges('[[0, 3, "a"], [4, 7, "b"]]', "[[0, 7]]"))
        self.refused(self.ranges('[[4, 7, "a"], [0, 3, "b"]]'), "row 1", "not sorted")
        self.refused(self.ranges('[[0, 7, "a"], [4, 9, "b"]]'), "row 1", "overlap")
        self.refused(self.ranges('[[0, 3, "a"], [8, 9, "b"]]', "[[0, 9]]"), "gap: 0x4..0x7")
        self.refused(self.ranges('[[0, 3, "a"]]', "[[0, 9]]"), "gap: 0x4..0x9")
        self.refused(self.ranges('[[3, 0, "a"]]'), "bad range")
        self.refused(self.ranges('[[0, 3]]'), "needs 3 values")

    def test_mistakes_in_privilege_lists_are_refused(self):
        def one(rows, access="write"):
            return {"tables/t.toml": f'[privilege_list.t]\n{self.HEAD}engines = ["render"]\naccess = "{access}"\nrows = {rows}\n'}
        self.good(one('[{ name = "A", offset = 4 }]'))
        self.refused(one('[{ name = "A", offset = 5 }]'), "row A", "multiple of 4")
        self.refused(one('[{ name = "A", offset = 4 }]', "guess"), "unknown access 'guess'")
        self.refused(one('[{ name = "A", offset = 4, base = "x" }]'), "unknown base")
        slots = one('[{ name = "A", offset = 4, dwords = 3 }]')
        self.good(slots)
        slots["tables/t.toml"] += "slots = true\n"
        self.refused(slots, "row A", "a slot has 1, 4, 16 or 64 dwords")
        slots["tables/t.toml"] = slots["tables/t.toml"].replace("dwords = 3", "dwords = 16")
        self.good(slots)

    def image(self, entries):
        return {"tables/t.toml": f'[image.t]\n{self.HEAD}engines = ["render"]\nentries = {entries}\n'}

    def test_mistakes_in_context_images_are_refused(self):
        lri = '{ at = 1, lri = 0x11000001, registers = [{ name = "A", offset = 4 }] }'
        self.good(self.image(f'[{{ at = 0, noop = 1 }}, {lri}, {{ at = 4, noop = 2 }}]'))
        self.refused(self.image(f'[{{ at = 0, noop = 1 }}, {lri}, {{ at = 5, noop = 2 }}]'), "entry 2", "gap")
        self.refused(self.image(f'[{{ at = 0, noop = 1 }}, {lri}, {{ at = 3, noop = 2 }}]'), "entry 2", "overlap")
        self.refused(self.image('[{ at = 0, lri = 0x11000003, registers = [{ name = "A", offset = 4 }] }]'),
                     "says 2 registers, 1 are listed")
        self.refused(self.image('[{ at = 0, lri = 0x10000001, registers = [{ name = "A", offset = 4 }] }]'), "not an MI_LOAD_REGISTER_IMM")
        exception = '[[exception]]\ncheck = "lri_count"\nitem = "t"\nfields = ["0x0"]\nreason = "the manual says so"\n'
        self.good(self.image('[{ at = 0, lri = 0x11000003, registers = [{ name = "A", offset = 4 }] }]') | {"exceptions.toml": exception})

    def test_unknown_device_and_engine_are_refused(self):
        self.refused({"tables/t.toml": self.ranges("[]")["tables/t.toml"].replace('"new"', '"newer"')}, "unknown device 'newer'")

    def test_identifiers_of_traces_belong_to_one_device(self):
        def two(old, new):
            return {"devices.toml": device("old", "gen4", extra=old) + device("mid", "gen4.5") + device("new", "gen8", extra=new)}
        self.good(two("aub_codes = [1, 2]", "aub_codes = [3]\npci_families = [{ mask = 0xff00, id = 0x1600 }]"))
        self.refused(two("aub_codes = [1, 2]", "aub_codes = [2]"), "device new", "aub_codes: 2 is old too")
        self.refused(two("aub_codes = [256]", ""), "256 is no byte")
        self.refused(two("pci_families = [{ mask = 0xff00, id = 0x1601 }]", ""), "pci_families 0", "none outside the mask")
        self.refused(two("pci_families = [{ mask = 0xff00, id = 0x1600 }]", "pci_families = [{ mask = 0xf0f0, id = 0x1010 }]"),
                     "device new", "shares PCI ids with a family of old")
        self.refused(two("pci_families = [{ id = 0x1600 }]", ""), "missing mask")

    def test_steppings_have_revisions_of_their_own_and_known_quirks(self):
        def one(steppings):
            quirk = '[quirk.early]\ndoc = "d"\nsource = "s"\n'
            return {"generations.toml": GENERATIONS + quirk, "devices.toml": DEVICES + device("x", "gen4", extra=f"steppings = [{steppings}]")}
        first, second = '{ name = "a", revision = 1, quirks = ["early"] }', '{ name = "b", revision = 2 }'
        self.good(one(f"{first}, {second}"))
        self.refused(one(first), "device x", "no stepping has the revision of the device")
        self.refused(one(f"{first}, {second}, {second}"), "stepping 2", "or that of another stepping")
        self.refused(one(f"{first}, {second}, {{ name = \"c\", revision = 256 }}"), "stepping 2", "is no byte")
        self.refused(one(f"{first}, {second}, {{ name = \"c\", revision = 3, quirks = [\"late\"] }}"), "unknown quirk 'late'")
        self.refused(one(f"{first}, {second}, {{ name = \"c\" }}"), "missing revision")


if __name__ == "__main__":
    unittest.main()
