#!/usr/bin/env python3
"""Keeps the worst patterns of unclear English out of comments, docs and string literals.

usage: prose.py [--count] [PATH...]

Checks the whole tree, or the given paths, and fails when it finds a pattern. --count prints the number of findings per
folder and always exits 0. Text in backticks, fenced blocks of Markdown and requirement ledgers are not checked: they quote
code, programs and manuals.
"""
import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

# Files that hold the patterns by design, and readings of the manuals.
LEDGERS = [f"docs/requirements/{name}.md" for name in ("g45", "dg1", "icl", "chv", "notes")]
EXEMPT = ["scripts/lint/prose.py", "tests/lint", *LEDGERS]

Pattern = collections.namedtuple("Pattern", "name regex advice")

# Patterns of prose: applied to comments, string literals and Markdown text.
PROSE = [
    Pattern("person", re.compile(r"\b(who(so)?ever|nobody|somebody)\b", re.IGNORECASE),
            "make a component or a value the subject"),
    Pattern("none", re.compile(r"(?<!\bthere )\b(is|are|was|were|be) none\b(?! of\b)", re.IGNORECASE),
            'write "is not a ..."; "none" needs its noun beside it'),
    Pattern("colon and verb", re.compile(r"\{\}: (is|has|lies|contains) "), 'write "{}: empty file", without the verb'),
    Pattern("one behind the other", re.compile(r"\bone behind the other\b"), "write consecutive"),
    Pattern("no number", re.compile(r"\bno numbers?\b(?! of\b)", re.IGNORECASE), "write NaN"),
]
# Patterns of comments and string literals in C and C++, where the subject is hardware or a program. A page may address people.
C_PROSE = [
    Pattern("person", re.compile(r"\bwho\b", re.IGNORECASE), "make a component or a value the subject"),
    Pattern("fragment", re.compile(r"\A\s*(What|Of|That)\b(?![^.]*\?)"),
            "begin with the noun or the verb: \"The work of ...\", \"Returns ...\""),
]
# Patterns of identifiers: applied to code too.
CODE = [
    Pattern("kMost", re.compile(r"\bkMost(?=[A-Z0-9_]|\b)\w*"), "name it kMax..."),
]
# Patterns of declarations in src and frontends.
DECLARATIONS = [
    Pattern("place",
            re.compile(r"\b(?:u?int(?:16|32|64)_t|size_t|auto|GpuVa|GgttOffset|PhysAddr|std::byte)\b[\s*&]*(?:const )?\bplace(?=\s*[=,;){])"),
            "name it by what it holds: address, offset, index, dword, entry"),
]
DECLARING = ("src/", "frontends/")
# Files that still have such a name.
NOT_RENAMED = ("src/driver/hw/global_table.cpp", "src/driver/hw/page_tables.cpp", "src/message/atomic_op.h")

KINDS = {
    ".h": "c", ".cpp": "c", ".c": "c", ".cl": "c", ".comp": "c", ".S": "c",
    ".py": "python",
    ".md": "markdown",
    ".sh": "lines", ".toml": "lines", ".cmake": "lines", ".txt": "lines", ".map": "lines", "": "lines",
}
C_TEXT = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<string>(?:[^"\\\n]|\\.)*)"'
    r"|'(?:[^'\\\n]|\\.)+'"
    r"|//(?P<line>[^\n]*)"
    r"|/\*(?P<block>.*?)\*/",
    re.DOTALL,
)
FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
TICKS = re.compile(r"`[^`\n]*`")


def blank(match):
    """The same number of lines, without the text."""
    return re.sub(r"[^\n]", " ", match.group(0))


def c_prose(text):
    """Comments and string literals of C and C++ as (offset, text). Consecutive line comments are one text."""
    pieces = []
    for match in C_TEXT.finditer(text):
        kind = match.lastgroup
        if kind is not None:  # a character literal has no group
            pieces.append((match.start(kind), match.group(kind), kind))
    return join_lines(text, pieces)


def join_lines(text, pieces):
    """Joins line comments that follow each other, so that a pattern that wraps to the next line is found."""
    joined = []
    for offset, piece, kind in pieces:
        if kind == "line" and joined and joined[-1][2] == "line":
            end = joined[-1][0] + len(joined[-1][1])
            between = text[end:offset]
            if between.count("\n") == 1 and not between.strip(" \t\n/#"):
                joined[-1] = (joined[-1][0], joined[-1][1] + re.sub(r"[^\n]", " ", between) + piece, "line")
                continue
        joined.append((offset, piece, kind))
    return [(offset, piece) for offset, piece, _ in joined]


def python_prose(text):
    """Comments and string literals of Python as (offset, text)."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    pieces = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            pieces.append((starts[token.start[0] - 1] + token.start[1] + 1, token.string[1:], "line"))
        elif token.type == tokenize.STRING:
            pieces.append((starts[token.start[0] - 1] + token.start[1], token.string, "string"))
    return join_lines(text, pieces)


def prose_of(name, text):
    """Returns the parts of a file that people read, as (offset, text)."""
    kind = KINDS[pathlib.PurePath(name).suffix]
    if kind == "c":
        pieces = c_prose(text)
    elif kind == "python":
        pieces = python_prose(text)
    elif kind == "markdown":
        pieces = [(0, FENCE.sub(blank, text))]
    else:
        pieces = [(0, text)]
    return [(offset, TICKS.sub(blank, piece)) for offset, piece in pieces]


def findings_in(name, text):
    """Returns (line, pattern, matched text) of each finding, in order."""
    found = []
    kind = KINDS[pathlib.PurePath(name).suffix]
    for offset, piece in prose_of(name, text):
        # A line break inside a phrase is a space, with the marks of comments at its sides.
        flat = re.sub(r"\n[ \t]*(?://|#|\*|>)?[ \t]*", lambda m: " " * len(m.group(0)), piece)
        flat = re.sub(r"[ \t]{2,}", lambda m: " " + "\0" * (len(m.group(0)) - 1), flat)
        squeezed, places = [], []
        for index, char in enumerate(flat):
            if char != "\0":
                squeezed.append(char)
                places.append(index)
        for pattern in PROSE + (C_PROSE if kind == "c" else []):
            for match in pattern.regex.finditer("".join(squeezed)):
                at = offset + places[match.start()]
                found.append((text.count("\n", 0, at) + 1, pattern, match.group(0)))
    if kind == "c":
        for pattern in CODE + (DECLARATIONS if name.startswith(DECLARING) and name not in NOT_RENAMED else []):
            for match in pattern.regex.finditer(text):
                found.append((text.count("\n", 0, match.start()) + 1, pattern, match.group(0)))
    return sorted(found, key=lambda row: row[0])


def below(name, paths):
    return any(name == path or name.startswith(path.rstrip("/") + "/") for path in paths)


def folder_of(name):
    parts = pathlib.PurePath(name).parts
    depth = 2 if parts[0] in ("src", "frontends", "tests", "spec") else 1
    return "/".join(parts[: min(depth, len(parts) - 1)]) or "."


def main(words):
    root = pathlib.Path(__file__).resolve().parents[2]
    paths = [word for word in words if not word.startswith("--")]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    faults, counts = [], collections.Counter()
    for name in sorted(set(listed.stdout.split("\n"))):
        path = root / name
        if not path.is_file() or path.suffix not in KINDS or below(name, EXEMPT) or (paths and not below(name, paths)):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for line, pattern, match in findings_in(name, text):
            counts[folder_of(name)] += 1
            faults.append(f'{name}:{line}: "{match}": {pattern.advice}')
    if "--count" in words:
        for folder, count in sorted(counts.items()):
            print(f"{count:6} {folder}")
        print(f"{sum(counts.values()):6} in all")
        return 0
    print("\n".join(faults) if faults else "prose: clean")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
