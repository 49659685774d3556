"""The code in docs/embedding.md is the code that is compiled and run: demo/embed/store.cpp."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def statements(text):
    """Returns lines of code without comments and indentation."""
    return [line for line in (re.sub(r"//.*", "", line).strip() for line in text.splitlines()) if line]


class Embedding(unittest.TestCase):
    def test_the_page_shows_lines_of_the_example_in_order(self):
        page = re.search(r"```cpp\n(.*?)```", (ROOT / "docs" / "embedding.md").read_text(), re.DOTALL)[1]
        example = iter(statements((ROOT / "demo" / "embed" / "store.cpp").read_text()))
        shown = statements(page)
        self.assertGreater(len(shown), 10)
        for line in shown:
            self.assertIn(line, example, "docs/embedding.md and demo/embed/store.cpp differ")


if __name__ == "__main__":
    unittest.main()
