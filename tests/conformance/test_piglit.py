"""Tests the lists, and runs with a stand-in for shader_runner."""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import piglit_gl
import piglit_lists
from piglit_lists import Entry, Suite

# Passes files whose names begin with p, fails f, crashes at d, hangs at h; passes f2 if it is run alone.
STAND_IN = """#!/bin/sh
files= together=
for word; do case $word in -report-subtests) together=1;; -*) ;; *) files="$files $word";; esac; done
for file in $files; do
  stem=$(basename "$file" .shader_test)
  case $stem in
    d*) kill -SEGV $$;;
    h*) while :; do :; done;;
    f2) [ -z "$together" ] && status=pass || status=fail;;
    f*) status=fail;;
    *) status=pass;;
  esac
  [ -n "$together" ] && echo "PIGLIT: {\\"subtest\\": {\\"$stem\\" : \\"$status\\"}}"
done
[ -z "$together" ] && echo "PIGLIT: {\\"result\\": \\"$status\\" }"
exit 0
"""


class Lists(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.suite = Suite("suite", pathlib.Path(self.folder.name), ("one",), slow=3)

    def tearDown(self):
        self.folder.cleanup()

    def kept(self, results):
        with contextlib.redirect_stdout(io.StringIO()):
            piglit_lists.keep(self.suite, "one", results)
        return (self.suite.lists / "one.txt").read_text(encoding="utf-8").splitlines()

    def test_counts_what_the_judge_passes_and_idle_devices_fail(self):
        judge = {"a": {"": "pass"}, "b": {"x": "pass", "y": "pass", "z": "fail", "": "fail"}, "c": {"": "pass"}, "d": {"": "pass"}}
        idle = {"a": {"": "fail"}, "b": {"x": "fail", "y": "pass", "": "fail"}, "c": {"": "skip"}}
        with contextlib.redirect_stdout(io.StringIO()):
            piglit_lists.write_counted(self.suite, judge, [idle], "the judge")
        self.assertEqual(self.suite.counted(), {"a": Entry(1), "b": Entry(1, "", {"y": "", "z": ""})})

    def test_keeps_reasons_and_marks_what_is_slow(self):
        (self.suite.lists / "counted.txt").write_text("a 1\nb 2\nc 1\nd 1\n", encoding="utf-8")
        (self.suite.lists / "one.txt").write_text("a 0 of 1\n  - whole | known\n", encoding="utf-8")
        lines = self.kept({"a": {"": "fail"}, "b": {"x": "pass", "y": "pass", ":seconds": "3.5", "": "pass"},
                           "c": {"": "skip"}, "d": {"": piglit_lists.LATE}})
        self.assertEqual(lines[1:], ["a 0 of 1", "  - whole | known", "b 2 slow", "c 0 not supported by the device",
                                     "d 0 of 1 slow", "  - whole | slow: exceeds its time limit"])
        self.assertIn("2 of 4 results that count pass (50.0 %)", lines[0])
        self.assertEqual(piglit_lists.in_check(self.suite, "one"), {"a", "c"})

    def test_a_difference_is_a_fault(self):
        (self.suite.lists / "counted.txt").write_text("a 1\nb 1\n", encoding="utf-8")
        self.kept({"a": {"": "pass"}, "b": {"": "fail"}})
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            compare = lambda a, b: piglit_lists.compare(self.suite, "one", ["a", "b"], {"a": {"": a}, "b": {"": b}})
            self.assertEqual(compare("pass", "fail"), 0)
            self.assertEqual(compare("fail", "fail"), 1)
            self.assertEqual(compare("pass", "pass"), 1)
            self.assertEqual(piglit_lists.compare(self.suite, "one", ["a"], {}), 1, "it was not run")


class Runs(unittest.TestCase):
    def test_files_of_a_process_that_ends_early_are_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "shader_runner"
            program.write_text(STAND_IN, encoding="utf-8")
            os.chmod(program, 0o755)
            out = io.StringIO()
            runner = piglit_gl.Runner([], 0.5, 1, False, out)
            runner.programs = program.parent
            names = ["p1", "f1", "d1", "p2", "f2", "h1", "p3"]
            runner.tests = {n: piglit_gl.Test(["shader_runner", f"{n}.shader_test"], "") for n in names}
            runner.together(names)
            found = dict(line.split("# ") for line in out.getvalue().splitlines() if "#:" not in line)
        self.assertEqual({n: s for n, s in found.items() if n != "d1"},
                         {"p1": "pass", "f1": "fail", "p2": "pass", "f2": "pass", "h1": "ended(late)", "p3": "pass"})
        self.assertIn("ended(", found["d1"])


if __name__ == "__main__":
    unittest.main()
