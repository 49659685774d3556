"""What scripts/lint/braces.py must refuse, and what it must let pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lint"
sys.path.insert(0, str(LINT))
import braces  # noqa: E402
import format as formatter  # noqa: E402


def lines(text):
    return [body.line for body in braces.bare_bodies(text)]


class MustFail(unittest.TestCase):
    def test_a_body_on_its_own_line_is_found(self):
        for header in ("if (a)", "if constexpr (a)", "if (f(a, g(b)))", "for (;;)", "for (auto x : list)", "while (a)",
                       "if (a) [[unlikely]]", "if (const auto x = f(); x)"):
            self.assertEqual(lines(f"void f() {{\n  {header}\n    g();\n}}\n"), [3], header)

    def test_both_bodies_of_an_else_are_found(self):
        self.assertEqual(lines("if (a)\n  b();\nelse\n  c();\n"), [2, 4])

    def test_one_body_of_an_else_is_found(self):
        self.assertEqual(lines("if (a) {\n  b();\n} else\n  c();\n"), [4])
        self.assertEqual(lines("if (a)\n  b();\nelse {\n  c();\n}\n"), [2])

    def test_the_end_of_an_else_if_chain_is_found(self):
        self.assertEqual(lines("if (a) {\n} else if (b)\n  c();\n"), [3])

    def test_a_body_that_continues_below_is_found(self):
        self.assertEqual(lines("if (a) return f(b,\n                 c);\n"), [1])
        self.assertEqual(lines("for (;;) if (a) {\n  b();\n}\n"), [1])

    def test_a_do_body_is_found(self):
        self.assertEqual(lines("do\n  a();\nwhile (b);\n"), [2])

    def test_a_body_after_a_comment_is_found(self):
        self.assertEqual(lines("if (a)  // why {\n  b();\n"), [2])
        self.assertEqual(lines("if (a /* ) { */)\n  b();\n"), [2])

    def test_a_condition_with_brackets_in_literals_is_parsed(self):
        self.assertEqual(lines("if (a == ')')\n  b();\n"), [2])
        self.assertEqual(lines('if (a == ") {")\n  b();\n'), [2])
        self.assertEqual(lines("if (a == 1'000'000)\n  b('x');\n"), [2])

    def test_a_body_in_a_macro_is_found(self):
        self.assertEqual(lines("#define M(a) \\\n  if (a) \\\n    b()\nint c;\n"), [3])

    def test_the_formatter_step_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.cpp"
            path.write_text("void f() {\n  if (a)\n    g();\n}\n")
            program = "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import format; " \
                      "sys.exit(not format.check_braces([pathlib.Path(sys.argv[2])], False))"
            run = subprocess.run([sys.executable, "-c", program, str(LINT), str(path)], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn("a.cpp:3: a body that does not end on the line of its condition needs braces", run.stderr)
            self.assertTrue(formatter.check_braces([path], True))
            self.assertTrue(formatter.check_braces([path], False))


class MustPass(unittest.TestCase):
    def test_a_body_on_the_line_of_its_condition_is_accepted(self):
        for text in ("if (a) return;\n", "for (;;) a();\n", "while (a) b();\n", "if (a) for (;;) b();\n", "while (a);\n",
                     "if (a &&\n    b) return;\n"):
            self.assertEqual(lines(text), [], text)

    def test_bodies_with_braces_are_accepted(self):
        for text in ("if (a) {\n  b();\n} else if (c) {\n  d();\n} else {\n  e();\n}\n", "do {\n  a();\n} while (b);\n",
                     "if (a) [[likely]] {\n  b();\n}\n", "switch (a) {\n  case 1:\n    break;\n}\n",
                     "#define M(a) \\\n  do {        \\\n    b(a);     \\\n  } while (0)\nint c;\n"):
            self.assertEqual(lines(text), [], text)

    def test_text_that_is_not_code_is_ignored(self):
        for text in ("#if A\nint a;\n#else\nint b;\n#endif\n", "// if (a)\nint b;\n", "/* else\n b */ int c;\n",
                     'auto a = "if (b)";\nint c;\n', 'auto a = R"(if (b)\n c;)";\n', "int format(int x);\nint doors;\n"):
            self.assertEqual(lines(text), [], text)


class Fix(unittest.TestCase):
    def test_braces_go_around_the_whole_statement(self):
        for text, fixed in (
            ("if (a)\n  b();\nelse\n  c();\n", "if (a) {\n  b();\n}\nelse {\n  c();\n}\n"),
            ("for (;;)\n  if (a) b({1, 2});\nc();\n", "for (;;) {\n  if (a) b({1, 2});\n}\nc();\n"),
            ("for (;;)\n  for (;;)\n    a();\n", "for (;;) {\n  for (;;) {\n    a();\n}\n}\n"),
            ("if (a) [[likely]]\n  return;  // why\nb();\n", "if (a) [[likely]] {\n  return;  // why\n}\nb();\n"),
        ):
            self.assertEqual(braces.with_braces(text), fixed)


if __name__ == "__main__":
    unittest.main()
