#!/usr/bin/env python3
"""Random instructions for Gen4 to Gen7: our decoder must read the encoding of intel-gen4asm as our own text says.

gen4asm.py GEN COUNT [SEED]. The generator writes each instruction twice, in the language of intel-gen4asm and in ours.
"""

import random
import re
import sys

from judges import Workshop, compare, find, halogen, ours

SIZE = {"b": 1, "ub": 1, "w": 2, "uw": 2, "d": 4, "ud": 4, "f": 4}
CONDITIONS = {"z": "eq", "nz": "ne", "g": "gt", "ge": "ge", "l": "lt", "le": "le"}


class Maker:
    def __init__(self, gen, seed):
        self.number = int(gen[3:])
        self.r = random.Random(seed)

    def pick(self, *things):
        return self.r.choice(things)

    def region(self, size):
        triples = [(0, 1, 0)]
        if size >= 8:
            triples += [(8, 8, 1), (4, 4, 1), (16, 8, 2), (8, 4, 2), (2, 2, 1)]
        elif size >= 4:
            triples += [(4, 4, 1), (2, 2, 1)]
        elif size == 2:
            triples += [(2, 2, 1)]
        return self.pick(*triples)

    def swizzle(self):
        return "".join(self.pick(*"xyzw") for _ in range(4))

    def source(self, t, size, align16, modifiers):
        sign, absolute = (self.pick("", "-"), self.pick("", "(abs)")) if modifiers and t not in ("ub", "uw", "ud") else ("", "")
        reg = self.r.randrange(120)
        if align16:
            channels = self.swizzle()
            return f"{sign}{absolute}g{reg}<4>.{channels}{t.upper()}", f"{sign}{absolute}r{reg}.0<4>.{channels}:{t}"
        v, w, h = self.region(size)
        if self.r.random() < 0.1:
            offset = self.r.randrange(0, 500, 4)
            sub = self.r.randrange(8)
            comma = f",{offset}" if offset else ""
            return (f"{sign}{absolute}g[a0.{sub}, {offset}]<{v},{w},{h}>{t.upper()}",
                    f"{sign}{absolute}r[a0.{sub}{comma}]<{v};{w},{h}>:{t}")
        sub = self.r.randrange(32 // SIZE[t])
        return f"{sign}{absolute}g{reg}.{sub}<{v},{w},{h}>{t.upper()}", f"{sign}{absolute}r{reg}.{sub}<{v};{w},{h}>:{t}"

    def destination(self, t, align16):
        file, name = self.pick(("g", "r"), ("g", "r"), ("m", "m")) if self.number < 7 else ("g", "r")
        reg = self.r.randrange(15 if file == "m" else 120)
        if align16:
            mask = self.pick("x", "xy", "xyz", "yw", "xyzw", "w")
            text = "" if mask == "xyzw" else f".{mask}"
            return f"{file}{reg}<1>{text}{t.upper()}", f"{name}{reg}.0<1>.{mask}:{t}"
        if self.r.random() < 0.08:
            return f"null<1>{t.upper()}", f"null<1>:{t}"
        stride = self.pick(1, 1, 2)
        sub = self.r.randrange(32 // SIZE[t]) if file == "g" else 0
        return f"{file}{reg}.{sub}<{stride}>{t.upper()}", f"{name}{reg}.{sub}<{stride}>:{t}"

    def line(self):
        unary = ["mov", "not", "frc", "rndu", "rndd", "rnde", "rndz", "lzd"]
        binary = ["add", "mul", "and", "or", "xor", "shl", "shr", "asr", "sel", "cmp", "avg", "mac", "mach", "dp4", "dp3", "dp2", "dph", "line"]
        op = self.pick(*unary, *binary, *binary)
        if op in ("frc", "rndu", "rndd", "rnde", "rndz", "dp4", "dp3", "dp2", "dph", "line"):
            t = "f"
        elif op in ("lzd", "mach"):
            t = "ud"
        elif op in ("and", "or", "xor", "not", "shl", "shr", "asr", "avg"):
            t = self.pick("d", "ud", "w", "uw")
        else:
            t = self.pick("f", "f", "d", "ud", "w", "uw")
        align16 = self.r.random() < 0.15 and t == "f"
        size = 8 if align16 else self.pick(1, 2, 4, 8, 16)
        modifiers = op not in ("lzd", "and", "or", "xor", "not")
        flag = f"f0.{self.r.randrange(2)}"
        predicated = self.r.random() < 0.35
        theirs, mine = "", ""
        no_mask = self.r.random() < 0.25
        condition = op == "cmp" or (op in ("add", "mul", "mov", "and", "or", "xor", "sel") and self.r.random() < 0.3)
        mine_prefix = []
        if predicated:
            how = self.pick("", ".any4h", ".all4h") if align16 else self.pick("", "", ".any2h", ".all2h", ".any8h", ".all16h", ".anyv", ".allv")
            inverse = self.r.random() < 0.5
            theirs = f"({'-' if inverse else '+'}{flag}{how}) "
            mine_prefix.append(f"{'~' if inverse else ''}{flag}{how}")
        if no_mask:
            mine_prefix.insert(0, "W")
        mine = f"({'&'.join(mine_prefix)}) " if mine_prefix else ""
        name, word = self.pick(*CONDITIONS.items())
        saturate = op in ("mov", "add", "mul", "sel", "avg", "mac") and self.r.random() < 0.2
        # Without a predicate the condition names its flag; with one they share it.
        where = f".{flag}" if condition else ""
        theirs += f"{op}{'.' + name + where if condition else ''}{'.sat' if saturate else ''} ({size}) "
        dst = self.destination(t, align16)
        operands = [dst]
        count = 1 if op in unary else 2
        for i in range(count):
            if i == count - 1 and self.r.random() < 0.3 and op not in ("frc", "rndu", "rndd", "rnde", "rndz", "lzd", "line") and not align16:
                if t == "f":
                    value = self.pick(("1.0F", "0x3f800000:f"), ("-2.5F", "0xc0200000:f"), ("0.25F", "0x3e800000:f"))
                else:
                    bits = self.r.getrandbits(SIZE[t] * 8 - 1)
                    value = (f"{bits}{t.upper()}", f"{bits}:{t}")
                operands.append(value)
                continue
            while True:
                text = self.source(t, size, align16, modifiers)
                if i == 0 or "[" not in text[0]:
                    break
            operands.append(text)
        options, our_options = ["align16"] if align16 else ["align1"], ["Align16"] if align16 else []
        if no_mask:
            options.append("mask_disable")
        first = 0
        if self.number < 6:
            half = self.pick("", "", "sechalf", "compr") if size in (8, 16) else ""
            if size == 16 and SIZE[t] == 4:
                half = "compr"  # intel-gen4asm says so by itself
            if half == "compr" and size == 16:
                options.append("compr")
                our_options.append("Compr")
            elif half == "sechalf" and size == 8:
                options.append("sechalf")
                first = 8
        for theirs_word, our_word in (("atomic", "Atomic"), ("switch", "Switch")):
            if self.r.random() < 0.1 and not any(w in our_options for w in ("Atomic", "Switch")):
                options.append(theirs_word)
                our_options.append(our_word)
        for theirs_word, our_word in (("NoDDClr", "NoDDClr"), ("NoDDChk", "NoDDChk")):
            if self.r.random() < 0.1:
                options.append(theirs_word)
                our_options.append(our_word)
        mine += f"{op} ({size}|M{first}) {f'({word}){flag} ' if condition else ''}{'(sat)' if saturate else ''}"
        theirs += " ".join(a for a, _ in operands) + " { " + " ".join(options) + " };"
        mine += " ".join(b for _, b in operands) + (" {" + ",".join(our_options) + "}" if our_options else "")
        return theirs, mine


def main():
    gen, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    judge, tool = find("intel-gen4asm"), halogen()
    maker = Maker(gen, seed)
    pairs = [maker.line() for _ in range(count)]
    with Workshop() as shop:
        source = shop.write("a.g4a", "\n".join(a for a, _ in pairs) + "\n")
        mine = shop.write("b.asm", "\n".join(b for _, b in pairs) + "\n")
        shop.run(judge, "-a", "-g", gen[3:], "-o", shop.root / "a.txt", source)
        dwords = re.findall(r"0x([0-9a-f]{8})", (shop.root / "a.txt").read_text())
        code = b"".join(int(d, 16).to_bytes(4, "little") for d in dwords)
        (shop.root / "judge.bin").write_bytes(code)
        shop.run(tool, "asm", "--gen", gen, "--raw", "--out", shop.root / "our.bin", mine)
        read = ours(shop.run(tool, "disasm", "--gen", gen, shop.root / "judge.bin", good=(0, 1)))
        wanted = ours(shop.run(tool, "disasm", "--gen", gen, shop.root / "our.bin", good=(0, 1)))
        compare("intel-gen4asm's code as we read it", read, wanted, [a + "   " + b for a, b in pairs])
    print(f"{gen}: {count} instructions agree")


if __name__ == "__main__":
    main()
