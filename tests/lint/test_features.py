"""What scripts/lint/features.py must refuse, and what it must let pass."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lint"))
import features  # noqa: E402

ASKS = "if (generation.has(spec::Feature::fast)) {\n"


def feature(*readers, doc="The chip is fast."):
    return {"fast": {"doc": doc, "readers": list(readers)}}


def faults(table, *files):
    return features.faults_of(table, features.rooms_of_readers(files))


class Features(unittest.TestCase):
    def one(self, found, *parts):
        self.assertEqual(len(found), 1, found)
        for part in ("feature fast",) + parts:
            self.assertIn(part, found[0])

    def test_named_readers_pass(self):
        self.assertEqual(faults(feature("engine/mi"), ("src/engine/mi/mi_flow.cpp", ASKS)), [])
        self.assertEqual(faults(feature("decode", "engine"), ("src/engine/a.cpp", ASKS), ("src/decode/b.cpp", ASKS)), [])

    def test_another_sub_room_is_refused(self):
        found = faults(feature("driver/hw"), ("src/driver/hw/a.cpp", ASKS), ("src/driver/calls/b.cpp", ASKS))
        self.one(found, "driver/calls reads it")

    def test_a_front_end_that_reads_a_feature_is_refused(self):
        self.one(features.stand_ins([("frontends/shim/tree.cpp", ASKS)]), "frontends/shim/tree.cpp reads it")
        self.assertEqual(features.stand_ins([("src/engine/a.cpp", ASKS)]), [])

    def test_an_error_number_because_of_a_feature_is_refused(self):
        for refuses in ("if (hardware.has(Feature::fast)) return -ENODEV;\n",
                        "if (hardware.has(spec::Feature::fast) && bytes >= kMax) return -ENXIO;\n",
                        "if (!hardware.has(spec::Feature::fast)) {\n    return -ENODEV;\n"):
            self.one(features.stand_ins([("src/driver/calls/a.cpp", refuses)]), "error number")
        fine = "if (!hardware.has(spec::Feature::fast)) continue;\n  if (bytes == 0) return -EINVAL;\n"
        self.assertEqual(features.stand_ins([("src/driver/calls/a.cpp", fine)]), [])

    def test_a_feature_without_a_reader_is_refused(self):
        self.one(faults(feature("engine")), "nothing reads it")
        self.one(faults(feature()), "nothing reads it")

    def test_a_comment_is_not_a_reader(self):
        self.one(faults(feature("engine"), ("src/engine/a.cpp", "int a;  // Feature::fast\n")), "nothing reads it")

    def test_a_name_with_the_same_start_is_not_a_reader(self):
        self.one(faults(feature("engine"), ("src/engine/a.cpp", "has(Feature::faster)\n")), "nothing reads it")

    def test_a_reader_that_is_not_named_is_refused(self):
        found = faults(feature("engine"), ("src/engine/a.cpp", ASKS), ("src/driver/kms/b.cpp", ASKS))
        self.one(found, "driver/kms reads it")

    def test_a_named_room_that_does_not_read_is_refused(self):
        self.one(faults(feature("driver", "engine"), ("src/engine/a.cpp", ASKS)), "names driver")

    def test_an_order_other_than_the_alphabet_is_refused(self):
        self.one(faults(feature("engine", "driver"), ("src/engine/a.cpp", ASKS), ("src/driver/b.cpp", ASKS)), "not sorted")

    def test_a_description_that_is_not_a_sentence_is_refused(self):
        self.one(faults(feature("engine", doc="fast"), ("src/engine/a.cpp", ASKS)), "not a sentence")

    def test_the_tree_passes(self):
        self.assertEqual(features.main(), 0)


if __name__ == "__main__":
    unittest.main()
