"""What scripts/lint/promises.py must refuse: a promise without a proof, and proofs that do not exist."""
import pathlib
import sys
import tempfile
import unittest

LINT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lint"
sys.path.insert(0, str(LINT))
import promises  # noqa: E402


class Promises(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("docs", "tests/unit"):
            (self.root / name).mkdir(parents=True)
        (self.root / "tests/unit/one_test.cpp").write_text("TEST_P(Suite, MemoryIsKept) {\n}\nTEST(Other,\n     Case) {\n}\n")

    def faults(self, text):
        (self.root / "docs/promises.md").write_text(text)
        return promises.faults_of(self.root)

    def test_promise_without_proof_is_refused(self):
        self.assertIn("names no test", self.faults("1. Memory is kept.\n")[0])
        self.assertIn("names no test", self.faults("1. Memory of `run` is kept.\n2. More: `Suite.MemoryIsKept`\n")[0])

    def test_tests_that_do_not_exist_are_refused(self):
        for name in ("Suite.Gone", "Gone.*", "Suite.*Gone", "tests/gone.sh"):
            self.assertEqual(len(self.faults(f"1. Memory is kept.\n   `Suite.MemoryIsKept`, `{name}`\n")), 1, name)

    def test_tests_that_exist_are_accepted(self):
        self.assertEqual(self.faults("1. Memory is kept: `Suite.MemoryIsKept`, `Suite.*`,\n   `Other.Case`, `tests/unit`\n"), [])

    def test_the_tree_is_clean(self):
        self.assertEqual(promises.faults_of(LINT.parents[1]), [])


if __name__ == "__main__":
    unittest.main()
