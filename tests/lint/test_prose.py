"""What scripts/lint/prose.py must refuse, and what it must let pass."""
import pathlib
import subprocess
import sys
import unittest

LINT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lint"
sys.path.insert(0, str(LINT))
import prose  # noqa: E402


def names(name, text):
    return [(line, pattern.name) for line, pattern, _ in prose.findings_in(name, text)]


class MustFail(unittest.TestCase):
    def test_persons_in_comments_are_found(self):
        for word in ("whoever", "Whoever", "whosoever", "nobody", "Nobody", "somebody"):
            self.assertEqual(names("a.cpp", f"int a;  // {word} reads it\n"), [(1, "person")], word)
            self.assertEqual(names("a.h", f"/* first\n   {word} */\n"), [(2, "person")], word)
            self.assertEqual(names("a.md", f"# Title\n\nText that {word} reads.\n"), [(3, "person")], word)
            self.assertEqual(names("a.py", f"x = 1  # {word}\n"), [(1, "person")], word)
            self.assertEqual(names("a.sh", f"# {word}\n"), [(1, "person")], word)
            self.assertEqual(names("a.toml", f'doc = "{word}"\n'), [(1, "person")], word)

    def test_patterns_in_string_literals_are_found(self):
        self.assertEqual(names("a.cpp", 'raise("a thread met an instruction that is none");\n'), [(1, "none")])
        self.assertEqual(names("a.cpp", 'auto a = R"(one\nnobody)";\n'), [(2, "person")])
        self.assertEqual(names("a.py", '"""One.\n\nNobody.\n"""\n'), [(3, "person")])

    def test_none_without_a_noun_is_found(self):
        for text in ("that is none", "those are none.", "it was none", "were none", "may be none"):
            self.assertEqual(names("a.md", text + "\n"), [(1, "none")], text)

    def test_no_number_is_found(self):
        self.assertEqual(names("a.cpp", "// No number is the first pixel.\n"), [(1, "no number")])

    def test_verbs_after_a_file_name_are_found(self):
        self.assertEqual(names("a.cpp", 'fmt::format("{}: is empty.", name);\n'), [(1, "colon and verb")])

    def test_one_behind_the_other_is_found(self):
        self.assertEqual(names("a.h", "// registers, one behind the other\n"), [(1, "one behind the other")])

    def test_a_phrase_that_wraps_is_found(self):
        self.assertEqual(names("a.cpp", "// a value that is\n// none\n"), [(1, "none")])
        self.assertEqual(names("a.md", "a value that is\nnone\n"), [(1, "none")])
        self.assertEqual(names("a.py", "x = 1\n# a value that is\n# none\n"), [(2, "none")])

    def test_patterns_in_identifiers_are_found(self):
        self.assertEqual(names("a.cpp", "constexpr int kMostLines = 3;\n"), [(1, "kMost")])
        self.assertEqual(names("a.h", "constexpr int kMost = 3;\n"), [(1, "kMost")])

    def test_text_after_a_quoted_quote_is_found(self):
        self.assertEqual(names("a.cpp", "char a = '\"';  // nobody\n"), [(1, "person")])
        self.assertEqual(names("a.cpp", 'auto a = "\\"";  // nobody\n'), [(1, "person")])


    def test_fragments_at_the_start_of_comments_are_found(self):
        self.assertEqual(names("a.h", "// What a thread sends.\nint a;\n"), [(1, "fragment")])
        self.assertEqual(names("a.h", "int a;  // Of all clients.\n"), [(1, "fragment")])
        self.assertEqual(names("a.h", "/* That of the first\n   chip. */\n"), [(1, "fragment")])

    def test_who_in_comments_is_found(self):
        self.assertEqual(names("a.h", "// visible to who may\n// monitor\n"), [(1, "person")])

    def test_variables_called_place_are_found(self):
        for declared in ("const uint64_t place = 1;", "auto place = f();", "void f(std::byte* place);", "GpuVa place;",
                         "for (size_t place = 0;;)"):
            self.assertEqual(names("src/a.cpp", declared + "\n"), [(1, "place")], declared)


class MustPass(unittest.TestCase):
    def test_questions_and_later_sentences_are_accepted(self):
        self.assertEqual(names("a.h", "// What now?\n"), [])
        self.assertEqual(names("a.h", "// The first chip. What it lacks is reported.\n"), [])
        self.assertEqual(names("a.md", "# What runs where\n\nPeople who teach.\n"), [])

    def test_places_with_a_type_of_their_own_are_accepted(self):
        for declared in ("TablePlace place;", "bool place(Request& request);", "uint32_t place(uint32_t x) const;"):
            self.assertEqual(names("src/a.h", declared + "\n"), [], declared)
        self.assertEqual(names("tests/a.cpp", "uint64_t place = 0;\n"), [])

    def test_plain_english_is_accepted(self):
        for text in ("the component reads it", "none of them", "is none of the four forms", "if there is none, it is refused", "NaN clamps to pixel 0",
                     "no number of threads changes it", "whole", "the most recent one"):
            self.assertEqual(names("a.md", text + "\n"), [], text)

    def test_code_is_not_prose(self):
        self.assertEqual(names("a.cpp", "if (nobody) return somebody(whoever);\n"), [])
        self.assertEqual(names("a.py", "nobody = 1\n"), [])

    def test_quotations_are_not_checked(self):
        self.assertEqual(names("a.md", "Not `nobody`.\n```\nnobody\n```\n"), [])
        self.assertEqual(names("a.cpp", "// drops to the user `nobody`\n"), [])

    def test_similar_identifiers_are_accepted(self):
        self.assertEqual(names("a.cpp", "int kMostly = 1; int kUtmost = 2;\n"), [])


class Tool(unittest.TestCase):
    def run_tool(self, *words):
        return subprocess.run([sys.executable, LINT / "prose.py", *words], capture_output=True, text=True)

    def test_the_tree_is_clean(self):
        done = self.run_tool()
        self.assertEqual((done.returncode, done.stdout), (0, "prose: clean\n"))

    def test_counts_are_a_report_and_not_a_verdict(self):
        done = self.run_tool("--count", "scripts")
        self.assertEqual(done.returncode, 0)
        self.assertIn("in all", done.stdout)


if __name__ == "__main__":
    unittest.main()
