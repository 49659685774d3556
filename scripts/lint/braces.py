"""Finds bodies of if, else, for, while and do that need braces, and adds the braces.

A body may go without braces only if it ends on the line of its condition: `if (done) return;`. clang-format 14 cannot check
this, so format.py calls the functions below.
"""
import collections
import re

# Literals, comments and preprocessor directives are blanked, so that only code is left. A #define keeps its text: macros
# hold statements too.
QUIET = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'"
    r"|//[^\n]*"
    r"|/\*.*?\*/"
    r"|^[ \t]*#[ \t]*(?!define\b)\w+(?:\\\n|[^\n])*"
    r"|\\\n",
    re.DOTALL | re.MULTILINE,
)
HEADER = re.compile(
    r"\b(?:(?P<bare>else|do)\b|(?P<word>if|for|(?<!\} )while|switch)\s*(?:constexpr\s*|!\s*)?(?=\())"
)
DO_WHILE = re.compile(r"\s*while\s*(?=\()")
ATTRIBUTES = re.compile(r"(?:\s*\[\[[^\]]*\]\])*")
SPACE = re.compile(r"\s*")
STOP = re.compile(r"[;({\[]")
PAIRS = {"(": re.compile(r"[()]"), "[": re.compile(r"[\[\]]"), "{": re.compile(r"[{}]")}

Body = collections.namedtuple("Body", "line start end")  # offsets: behind the condition, behind the statement


def code_of(text):
    """Returns the text with blanks for everything that is not code, at the same offsets."""
    return QUIET.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def skip(regex, code, at):
    return regex.match(code, at).end()


def closed(code, at):
    """Returns the offset behind the bracket that closes the one at `at`."""
    depth = 0
    for match in PAIRS[code[at]].finditer(code, at):
        depth += 1 if match.group(0) == code[at] else -1
        if depth == 0:
            return match.end()
    return len(code)


def body_of(code, header):
    """Returns the offset behind the condition and its attributes, and that of the body."""
    end = skip(ATTRIBUTES, code, header.end() if header["bare"] else closed(code, header.end()))
    return end, skip(SPACE, code, end)


def statement_end(code, at):
    """Returns the offset behind the statement that starts at `at`."""
    if code.startswith("{", at):
        return closed(code, at)
    header = HEADER.match(code, at)
    if header:
        end = statement_end(code, body_of(code, header)[1])
        if header["bare"] == "do" and (tail := DO_WHILE.match(code, end)):
            return closed(code, tail.end())
        follower = HEADER.match(code, skip(SPACE, code, end))
        if header["word"] == "if" and follower and follower["bare"] == "else":
            return statement_end(code, follower.start())
        return end
    while stop := STOP.search(code, at):
        if stop.group(0) == ";":
            return stop.end()
        at = closed(code, stop.start())
    return len(code)


def bare_bodies(text):
    """Returns each body without braces that does not end on the line of its condition."""
    code = code_of(text)
    found = []
    for header in HEADER.finditer(code):
        start, body = body_of(code, header)
        following = HEADER.match(code, body)
        chain = header["bare"] == "else" and following and following["word"] == "if"
        if code.startswith("{", body) or chain:
            continue
        end = statement_end(code, body)
        if "\n" in code[start:end]:
            found.append(Body(code.count("\n", 0, body) + 1, start, end))
    return found


def with_braces(text):
    """Returns the text with braces around each of those bodies. clang-format must lay it out again."""
    inserted = []
    for body in bare_bodies(text):
        rest = re.compile(r"[ \t]*//[^\n]*").match(text, body.end)  # a comment of the last line stays inside
        inserted += [(body.start, " {"), (rest.end() if rest else body.end, "\n}")]
    for offset, brace in sorted(inserted, reverse=True):
        text = text[:offset] + brace + text[offset:]
    return text
