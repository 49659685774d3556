#!/usr/bin/env python3
"""Reads assembly texts of Mesa's own tests with their machine code ($HALOGEN_DATA/eu-encodings). Every line must decode, encode
again to the same meaning and keep the validator's rules, and our text must name its operation, channels and operands."""

import os
import re
import sys
import tarfile
from pathlib import Path

from judges import SKIP, Workshop, halogen, ours

GENS = ("gen4", "gen5", "gen6", "gen8", "gen9")
_OPERAND = re.compile(r"^(-|~)?(\(abs\))?(g|m|null|acc|a|f|cr|sr|n|ip|tm|tdr|ce)(\d*)(?:\.(\d+))?(?:<([\d,]+)>)?(?:\.([xyzw]+))?"
                      r"(UD|UW|UB|UQ|D|W|B|Q|HF|F|DF)$")
_NUMBER = re.compile(r"^(-?(?:0x[0-9a-f]+|\d+))(UD|UW|UQ|D|W|Q|HF|F|DF|V|UV|VF)$")
_HEAD = re.compile(r"^(?:\(([^)]*)\)\s*)?(\w+)((?:\.\w+)*)(?: (\w+))?((?:\.\w+)*)\((\d+)\)\s*(.*)$", re.S)
_MATH = {"inv": "inv", "log": "log", "exp": "exp", "sqrt": "sqt", "rsq": "rsqt", "sin": "sin", "cos": "cos", "pow": "pow",
         "intdiv": "iqot", "intmod": "irem", "fdiv": "fdiv"}
_CONDITION = {"z": "eq", "nz": "ne", "g": "gt", "ge": "ge", "l": "lt", "le": "le", "r": "rd", "o": "ov", "u": "un"}
_BITS = {"UD": 32, "D": 32, "UW": 16, "W": 16, "UQ": 64, "Q": 64}


def statements(text, start):
    """Returns the instructions of a file with labels as addresses; a message's description belongs to its send."""
    out, labels = [], {}
    for part in text.split(";"):
        lines = []
        for line in part.splitlines():
            label = re.match(r"^\s*(LABEL\d+):", line)
            if label:
                labels[label[1]] = 16 * (start + len(out))
            else:
                lines.append(line)
        part = " ".join(lines).strip()
        if part:
            out.append(re.sub(r"/\*.*?\*/", "", part))
    return [re.sub(r"LABEL\d+", lambda m: f"@{labels[m[0]]}", part) for part in out]


def targets(gen, text, at):
    """Returns the target of a branch, in the forms that our listing may use."""
    unit = 16 if gen == "gen4" else 8
    places = [int(place) for place in re.findall(r"@(\d+)", text)]
    places += [at + int(count) * unit for count in re.findall(r"Jump: (-?\d+)", text)]
    return [(f" L{place}", f" {place - at:+}") for place in places]


def operand(word, position, ternary, align16):
    """Returns our text of one of Mesa's operands, or None if it is of another kind."""
    number = _NUMBER.match(word)
    if number:
        kind, value = number[2], int(number[1], 0)
        return f"{value & ((1 << _BITS.get(kind, 32)) - 1):#x}:{kind.lower()}" if kind != "DF" and kind != "HF" else None
    match = _OPERAND.match(word)
    if not match:
        return None
    sign, absolute, file, reg, sub, region, channels, kind = match.groups()
    name = {"g": "r", "m": "m"}.get(file, file) + (reg if file not in ("null", "ip") else "")
    place = name if file in ("null", "ip") else f"{name}.{sub or 0}"
    head = (sign or "") + (absolute or "")
    strides = region.split(",") if region else []
    if position == 0:
        if align16 and not ternary and kind in ("DF",):
            return None
        mask = "." + (channels or "xyzw") if align16 else ""
        return f"{place}<{region or 1}>{mask}:{kind.lower()}"
    if ternary:
        if strides == ["0", "1", "0"]:
            return f"{head}{place}.r:{kind.lower()}"
        four = (channels or "xyzw")
        return f"{head}{place}<4>.{four + four[-1] * (4 - len(four))}:{kind.lower()}"
    if align16:
        four = channels or "xyzw"
        return f"{head}{place}<{strides[0]}>.{four + four[-1] * (4 - len(four))}:{kind.lower()}"
    return f"{head}{place}<{strides[0]};{strides[1]},{strides[2]}>:{kind.lower()}" if len(strides) == 3 else None


def wanted(text):
    """Returns (mnemonic, channels, operands or None, pieces that our line must hold), or None for forms that are written differently."""
    options = re.search(r"\{([^}]*)\}\s*$", text)
    match = _HEAD.match(text[:options.start()] if options else text)
    if text.startswith("nop"):
        return "nop", [], []
    if not match:
        return None
    predicate, name, before, function, after, size, rest = match.groups()
    modifiers = before + after
    if name == "math" and function:
        name = "math." + _MATH.get(function, function)
    pieces = [f"({size}|M"] if name not in ("nop", "wait", "jmpi") else []
    align16 = "align16" in (options[1] if options else "")
    for word in modifiers.split("."):
        if word in _CONDITION:
            pieces.append(f"({_CONDITION[word]})")
        elif word == "sat":
            pieces.append("(sat)")
    if predicate:
        pieces.append(("~" if predicate[0] == "-" else "") + predicate[1:].split(".")[0])
    words = rest.split()
    if options and "compr4" in options[1]:  # bit 7 of the message register says so
        words[0] = re.sub(r"^m(\d+)", lambda m: f"m{int(m[1]) + 128}", words[0])
    ternary = name in ("mad", "lrp", "bfe", "bfi2", "csel")
    if name.startswith("send") or "JIP" in rest or "Jump" in rest or name in ("nop", "do", "jmpi", "wait", "endif"):
        return name, pieces, []
    found = [operand(word, i, ternary, align16) for i, word in enumerate(words)]
    if name.startswith("math.") and len(found) == 3 and "null" in words[2]:
        found.pop()
    return name, pieces, [f for f in found if f]


def check(shop, gen, texts, codes):
    name = gen
    statements_of_all = []
    for text in texts:
        statements_of_all += statements(text, len(statements_of_all))
    texts = statements_of_all
    code = shop.write("x.hex", "\n".join(codes))
    tool = halogen()
    lines = ours(shop.run(tool, "disasm", "--gen", gen, code, good=(0,)))
    bad = [f"{name}: a compiler's instruction {line.strip()}" for line in
           shop.run(tool, "disasm", "--rules", "--gen", gen, code).splitlines() if "// breaks" in line]
    if len(texts) != len(lines):
        return [f"{name}: {len(texts)} statements, {len(lines)} instructions"], 0, 0
    back = shop.write("z.asm", shop.run(tool, "disasm", "--gen", gen, code))
    shop.run(tool, "asm", "--gen", gen, "--raw", "--out", shop.root / "z.bin", back)
    second = shop.run(tool, "disasm", "--gen", gen, shop.root / "z.bin")
    if second != back.read_text(encoding="utf-8"):
        bad.append(f"{name}: our own text assembles to something else")
    operands = branches = sends = 0
    for i, (text, line) in enumerate(zip(texts, lines)):
        for forms in targets(gen, text, 16 * i):
            branches += 1
            if not any(form in line + " " for form in forms):
                bad.append(f"{name}: {text} -> {line} (target {forms})")
        descriptor = re.search(r"\s(0x[0-9a-f]{8})\s", text + " ") if text.lstrip("(+f0.1)- ").startswith("send") else None
        if descriptor and gen != "gen4" and "indirect" not in text:
            sends += 1
            if f"0x{int(descriptor[1], 16) & 0x1fffffff:08x}" not in line or ("EOT" in line) != ("EOT" in text):
                bad.append(f"{name}: {text} -> {line} (descriptor)")
        want = wanted(text)
        if want is None:
            bad.append(f"{name}: cannot read {text}")
            continue
        mnemonic, pieces, found = want
        if not re.search(rf"(^|\) ){re.escape(mnemonic)}\b", line):
            bad.append(f"{name}: {text} -> {line} (operation)")
        for piece in pieces + [" " + f if f[0] != "(" else f for f in found]:
            if piece.strip() not in line:
                bad.append(f"{name}: {text} -> {line} ({piece})")
        operands += len(found)
    print(f"{gen}: {len(texts)} lines, {operands} operands, {branches} targets, {sends} descriptors")
    return bad, len(texts), operands




def main():
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    data = Path(os.environ.get("HALOGEN_DATA") or beside) / "eu-encodings"
    if not data.is_dir():
        print(f"there is no {data}: nothing to compare with")
        sys.exit(SKIP)
    bad, lines, operands = [], 0, 0
    with Workshop() as shop:
        for gen in GENS:
            with tarfile.open(data / f"{gen}.tar.xz") as archive:
                texts = {m.name: archive.extractfile(m).read().decode() for m in archive.getmembers() if m.isfile()}
            names = sorted(name[:-4] for name in texts if name.endswith(".asm"))
            more, count, found = check(shop, gen, [texts[n + ".asm"] for n in names], [texts[n + ".expected"] for n in names])
            bad, lines, operands = bad + more, lines + count, operands + found
    for line in bad[:20]:
        print(line)
    print(f"{lines} lines, {operands} operands compared, {len(bad)} differences")
    sys.exit(1 if bad or lines < 7000 or operands < 5000 else 0)


if __name__ == "__main__":
    main()
