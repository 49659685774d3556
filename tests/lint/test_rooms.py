"""What scripts/lint/rooms.py must refuse: a room without a README, a long one, names that do not exist."""
import pathlib
import sys
import tempfile
import unittest

LINT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lint"
sys.path.insert(0, str(LINT))
import rooms  # noqa: E402


class Rooms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("src/one/part", "frontends", "tests/fuzz", "docs"):
            (self.root / name).mkdir(parents=True)
        (self.root / "src/one/part/thing.h").write_text("namespace one { class Thing { void act(); }; }\n")

    def faults(self, text):
        (self.root / "src/one/README.md").write_text(text)
        return rooms.faults_of(self.root)

    def test_a_room_without_a_readme_is_refused(self):
        self.assertIn("missing", rooms.faults_of(self.root)[0])

    def test_a_long_readme_is_refused(self):
        self.assertEqual(self.faults("line\n" * 20), [])
        self.assertIn("21 lines", self.faults("line\n" * 21)[0])

    def test_names_that_do_not_exist_are_refused(self):
        for name in ("Gone", "one::Gone", "gone()", "gone.h", "part/gone.h", "docs/gone.md", "fuzz_gone"):
            self.assertEqual(len(self.faults(f"`{name}`\n")), 1, name)

    def test_names_that_exist_are_accepted(self):
        self.assertEqual(self.faults("`Thing`, `one::Thing`, `act()`, `thing.h`, `part/`, `part/thing.h`, `src/one`\n"), [])

    def test_commands_and_patterns_are_not_names(self):
        self.assertEqual(self.faults("`halogen walk`, `--report`, `cmd_*.cpp`, `r10.2<8;8,1>:f`, `/sys`\n"), [])

    def test_names_in_walks_are_checked(self):
        self.assertEqual(self.faults(""), [])
        (self.root / "docs/walks.md").write_text("`Thing::act` in `src/one/part/thing.h`\n")
        self.assertEqual(self.faults(""), [])
        (self.root / "docs/walks.md").write_text("`Thing::went` in `src/one/thing.cpp`\n")
        self.assertEqual(len(self.faults("")), 2)

    def test_the_tree_is_clean(self):
        self.assertEqual(rooms.faults_of(LINT.parents[1]), [])


if __name__ == "__main__":
    unittest.main()
