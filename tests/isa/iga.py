#!/usr/bin/env python3
"""Random instructions in IGA's language, on one generation: Intel's assembler and ours must agree.

iga.py GEN COUNT [SEED]. Three comparisons: our decoder gives the text of what iga64 encodes; iga64 decodes our encoding
as it decodes its own; and the same with iga64's compact forms.
"""

import random
import re
import sys

from judges import Workshop, compare, find, halogen, ours

PLATFORM = {"gen7.5": "7p5", "gen8": "8", "gen9": "9", "gen11": "11", "gen12": "12p1"}
SIZE = {"b": 1, "ub": 1, "w": 2, "uw": 2, "hf": 2, "d": 4, "ud": 4, "f": 4, "df": 8, "q": 8, "uq": 8}


class Maker:
    def __init__(self, gen, seed):
        self.gen, self.r = gen, random.Random(seed)
        self.new = gen in ("gen11", "gen12")
        self.old = gen == "gen7.5"

    def pick(self, *things):
        return self.r.choice(things)

    def types(self, op):
        ints = ["d", "ud", "w", "uw"]
        if op in ("frc", "rndu", "rndd", "rnde", "rndz"):
            return "f", "f"
        if op in ("and", "or", "xor", "not", "shl", "shr", "asr"):
            t = self.pick(*ints)
            return t, t
        if op in ("bfrev", "fbl", "addc", "subb", "lzd", "cbit"):
            return "ud", "ud"
        if op == "avg":
            t = self.pick(*ints)
            return t, t
        if op in ("rol", "ror"):
            return "ud", "ud"
        narrow = ["b", "ub"]
        half = [] if self.old else ["hf"]
        wide = ["df", "q", "uq"] if self.gen in ("gen8", "gen9") else []
        if op == "mov":
            if wide and self.r.random() < 0.2:
                return self.pick(*wide, "f", "d"), self.pick(*wide)
            return self.pick(*ints, *narrow, *half, "f"), self.pick(*ints, *narrow, *half, "f")
        if op in ("add", "mul", "sel", "cmp"):
            t = self.pick(*ints, "f", "f", *half, *(wide if op != "mul" else []))
            return t, t
        t = self.pick(*ints, "f", "f")
        return t, t

    def channels(self, widest=16):
        size = self.pick(*(s for s in (1, 2, 4, 8, 16, 32) if s <= widest))
        step = max(size, 4)
        return size, self.r.randrange(0, 32 - step + 1, step) if step < 32 else 0

    def flag(self):
        return f"f{self.r.randrange(2)}.{self.r.randrange(2)}"

    def region(self, size):
        choices = ["<0;1,0>"]
        if size >= 8:
            choices += ["<8;8,1>", "<1;1,0>", "<4;4,1>", "<16;8,2>", "<8;4,2>", "<2;2,1>"]
        elif size >= 4:
            choices += ["<4;4,1>", "<1;1,0>", "<2;2,1>"]
        elif size == 2:
            choices += ["<2;2,1>", "<1;1,0>"]
        return self.pick(*choices)

    def source(self, op, t, size):
        logic = op in ("and", "or", "xor", "not")
        text = ""
        if op not in ("bfrev", "fbl", "addc", "subb", "lzd", "cbit", "rol", "ror", "movi") and self.r.random() < 0.3:
            if logic:
                text = "" if self.old else "~"
            elif t not in ("ud", "uw"):
                text = self.pick("-", "(abs)", "-(abs)")
        if self.r.random() < 0.1:
            reg = f"r[a0.{self.r.randrange(8 if self.old else 16)},{self.r.randrange(-512, 511, 4)}]"
            if reg.endswith(",0]"):
                reg = reg[:-3] + "]"
            region = self.region(size)
            if self.r.random() < 0.3 and size >= 4:
                region = self.pick("<1,0>", "<4,1>")
            return text + reg + region + ":" + t
        count = 32 // SIZE[t]
        return f"{text}r{self.r.randrange(128)}.{self.r.randrange(count)}{self.region(size)}:{t}"

    def immediate(self, t):
        if t in ("f", "df", "hf"):
            return f"0x{self.r.getrandbits(SIZE[t] * 8):X}:{t}"
        bits = SIZE[t] * 8
        return f"0x{self.r.getrandbits(bits):X}:{t}"

    def destination(self, t):
        if self.r.random() < 0.08:
            return f"r[a0.{self.r.randrange(8 if self.old else 16)},{self.r.randrange(4, 511, 4)}]<{self.pick(1, 2)}>:{t}"
        if self.r.random() < 0.08:
            return f"null<1>:{t}"
        return f"r{self.r.randrange(128)}.{self.r.randrange(32 // SIZE[t])}<{self.pick(1, 2)}>:{t}"

    def prefix(self, flag):
        mask = self.r.random() < 0.3
        if flag:
            how = self.pick("", "", ".any2h", ".all4h", ".any8h", ".all16h", ".anyv", ".allv", ".any32h", ".all2h")
            return f"({'W&' if mask else ''}{self.pick('', '~')}{flag}{how}) "
        return "(W) " if mask else ""

    def options(self, choices):
        words = [w for w in choices if self.r.random() < 0.12]
        if self.gen == "gen12" and self.r.random() < 0.4:
            words += self.pick(["@1"], ["@7"], [f"${self.r.randrange(16)}.dst"], [f"${self.r.randrange(16)}.src"],
                               ["@3", f"${self.r.randrange(16)}.dst"])
        return " {" + ",".join(words) + "}" if words else ""

    def alu(self):
        unary = ["mov", "not", "frc", "rndu", "rndd", "rnde", "rndz", "lzd", "bfrev", "fbl", "cbit"]
        binary = ["add", "mul", "and", "or", "xor", "shl", "shr", "asr", "sel", "cmp", "avg", "mac", "addc", "subb"]
        if self.new:
            binary += ["rol", "ror"]
        else:
            binary += ["dp4", "dp3", "dp2", "dph", "line"]
        op = self.pick(*unary, *binary, *binary)
        dst_t, src_t = self.types(op)
        if op in ("dp4", "dp3", "dp2", "dph", "line"):
            dst_t = src_t = "f"
        if op == "shr":
            dst_t = src_t = "ud"
        # 32 channels if two registers hold them.
        size, first = self.channels(32 if max(SIZE[dst_t], SIZE[src_t]) <= 2 else 16)
        flag = self.flag() if self.r.random() < 0.4 else None
        if size == 32 and flag:
            flag = flag[:3] + "0"
        condition = ""
        can = op not in ("bfrev", "fbl", "cbit", "addc", "subb", "rol", "ror", "line", "lzd", "dp4", "dp3", "dp2", "dph")
        if op in ("cmp",) or (can and self.r.random() < 0.3):
            name = self.pick("eq", "ne", "gt", "ge", "lt", "le")
            where = flag or (self.flag()[:3] + "0" if size == 32 else self.flag())
            if op == "sel":
                flag = None
            condition = f" ({name}){where}"
        sat = "(sat)" if op in ("mov", "add", "mul", "sel", "mac", "avg") and self.r.random() < 0.2 else ""
        words = [self.destination(dst_t)]
        if op in unary:
            can = op in ("mov", "not") and SIZE[src_t] != 1 and (SIZE[src_t] < 8 or op == "mov")
            last = self.immediate(src_t) if can and self.r.random() < 0.3 else self.source(op, src_t, size)
            words.append(last)
        else:
            words.append(self.source(op, src_t, size))
            can = op not in ("dp4", "dp3", "dp2", "dph") and SIZE[src_t] in (2, 4)
            words.append(self.immediate(src_t) if self.r.random() < 0.3 and can
                         else self.direct(op, src_t, size))
        options = ["AccWrEn", "Atomic"] if self.gen == "gen12" else ["AccWrEn", "NoDDClr", "NoDDChk", "Atomic", "Switch"]
        options.append("Breakpoint")
        return (f"{self.prefix(flag)}{op} ({size}|M{first}){condition} {sat}{' '.join(words)}{self.options(options)}")

    def direct(self, op, t, size):
        """Returns a second source; it is never indirect."""
        while True:
            text = self.source(op, t, size)
            if "[" not in text:
                return text

    def ternary(self):
        size, first = self.channels()
        t = self.pick("f", "f", "d") if self.gen == "gen12" else "f"
        sub = self.r.randrange(0, 4) * (8 // SIZE[t])
        if not self.new:
            return None
        def source(last):
            region = self.pick("<1>", "<0>", "<2>") if last else self.pick("<8;1>", "<0;0>", "<4;1>", "<8;2>")
            return f"{self.pick('', '-', '(abs)')}r{self.r.randrange(128)}.{self.r.randrange(32 // SIZE[t])}{region}:{t}"
        flag = self.flag() if self.r.random() < 0.3 else None
        stride = self.pick(1, 1, 2)
        return (f"{self.prefix(flag)}mad ({size}|M{first}) r{self.r.randrange(128)}.{sub}<{stride}>:{t} {source(False)} {source(False)} "
                f"{source(True)}{self.options(['AccWrEn'])}")

    def math(self):
        size, first = self.pick(4, 8), 0
        names = ["inv", "log", "exp", "sqt", "rsqt", "sin", "cos", "idiv", "iqot", "irem"]
        op = self.pick(*names, *([] if self.gen == "gen12" else ["fdiv", "pow"]))
        t = "d" if op in ("idiv", "iqot", "irem") else "f"
        region = "<8;8,1>" if size == 8 else "<4;4,1>"
        count = 2 if op in ("fdiv", "pow", "idiv", "iqot", "irem") else 1
        srcs = " ".join(f"r{self.r.randrange(128)}.0{region}:{t}" for _ in range(count))
        return f"{self.prefix(None)}math.{op} ({size}|M{first}) r{self.r.randrange(128)}.0<1>:{t} {srcs}"

    def label(self):
        return f"L{self.r.randrange(self.count)}"

    def branch(self):
        size, first = self.pick((8, 0), (16, 0), (8, 8), (16, 16))
        op = self.pick("if", "else", "endif", "while", "break", "cont", "halt", "jmpi", "call", "ret",
                       *(["goto", "join", "brd", "brc"] if not self.old else []))
        flag = self.flag() if op not in ("else", "endif", "join", "call", "ret") and self.r.random() < 0.6 else None
        prefix = f"({self.pick('', '~')}{flag}) " if flag else ""
        if op == "jmpi":
            return f"(W{'&' + flag if flag else ''}) jmpi {self.label()}"
        if op == "call":
            return f"call ({size}|M{first}) r{self.r.randrange(128)}.0 {self.label()}"
        if op == "ret":
            return f"ret ({size}|M{first}) r{self.r.randrange(128)}.0"
        two = op in ("if", "break", "cont", "halt", "goto", "brc") or (op == "else" and not self.old)
        dot = ".b" if op in ("goto", "if", "else") and not self.old and self.r.random() < 0.3 else ""
        return f"{prefix}{op}{dot} ({size}|M{first}) {self.label()}{' ' + self.label() if two else ''}"

    def send(self):
        size, first = self.pick((8, 0), (16, 0), (8, 8), (16, 16))
        names = {2: "smpl", 3: "gtwy", 5: "rc", 6: "urb", 10: "dc0", 12: "dc1", 9: "dcro"}
        code = self.pick(*names)
        flag = self.flag() if self.r.random() < 0.3 else None
        prefix = f"({flag}) " if flag else ""
        length = self.r.randrange(1, 4)
        answer = self.r.randrange(0, 5)
        desc = length << 25 | answer << 20 | self.r.getrandbits(20)
        dst = f"r{self.r.randrange(100)}" if answer else "null"
        src = f"r{self.r.randrange(100)}"
        desc_text = "a0.0" if self.r.random() < 0.2 else f"0x{desc:08x}"
        split = self.gen in ("gen9", "gen11") and self.r.random() < 0.6
        if self.gen == "gen12":
            more = self.r.randrange(0, 4)
            second = f"r{self.r.randrange(100, 120)}" if more else "null"
            ext = "a0.2" if self.r.random() < 0.2 else f"0x{more << 6:x}"
            text = f"send.{names[code]} ({size}|M{first}) {dst} {src} {second} {ext} {desc_text}"
            both = prefix + text + self.pick("", " {$3}", " {@1,$15}")
            return both, both
        if split:
            more = self.r.randrange(1, 4)
            second = f"r{self.r.randrange(100, 120)}"
            op = self.pick("sends", "sendsc")
            return (f"{prefix}{op} ({size}|M{first}) {dst}:ud {src} {second} 0x{more << 6 | code:x} {desc_text}",
                    f"{prefix}{op}.{names[code]} ({size}|M{first}) {dst} {src} {second} 0x{more << 6:x} {desc_text}")
        op = self.pick("send", "sendc")
        return (f"{prefix}{op} ({size}|M{first}) {dst}:ud {src} 0x{code:x} {desc_text}",
                f"{prefix}{op}.{names[code]} ({size}|M{first}) {dst} {src} 0x0 {desc_text}")

    def sync(self):
        return self.pick("sync.nop null", "sync.allrd null", "sync.allwr 0x1234:ud", "sync.bar null", "sync.host null") + self.pick("", " {@1}")

    def line(self):
        """Returns the text for iga64 and the text for our assembler."""
        kind = self.r.random()
        text = None
        if kind < 0.12:
            text = self.ternary()
        elif kind < 0.22:
            text = self.math()
        elif kind < 0.34:
            text = self.branch()
        elif kind < 0.46:
            text = self.send()
        elif kind < 0.48 and self.gen == "gen12":
            text = self.sync()
        text = text or self.alu()
        return text if isinstance(text, tuple) else (text.replace("0x1234:ud {", "0x1234 {").replace("allwr 0x1234:ud", "allwr 0x1234"), text)


def iga_lines(text):
    """Returns iga64's listing with single blanks, without comments and labels."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"\s+", " ", line.split("//")[0]).strip()
        if line and not re.match(r"^\w+:$", line):
            lines.append(re.sub(r" \}", "}", line))
    return lines


def plain(line):
    """Removes what compaction changes: the word itself and the addresses of labels."""
    line = re.sub(r"\b(L\d+|[+-]\d+)\b", "L", line).replace("{Compacted}", "").replace("Compacted,", "").replace(",Compacted", "")
    return line.strip()


def main():
    gen, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    iga, tool, platform = find("iga64"), halogen(), PLATFORM[sys.argv[1]]
    maker = Maker(gen, seed)
    maker.count = count
    pairs = [maker.line() for _ in range(count)]
    text = [b for _, b in pairs]
    with Workshop() as shop:
        source = shop.write("a.asm", "".join(f"L{i}:\n{a}\n" for i, (a, _) in enumerate(pairs)))
        mine = shop.write("b.asm", "".join(f"L{i}:\n{b}\n" for i, (_, b) in enumerate(pairs)))
        shop.run(iga, f"-p={platform}", "-Xforce-no-compact", "-Wnone", "-a", source, "-o", shop.root / "iga.bin")
        shop.run(tool, "asm", "--gen", gen, "--raw", "--out", shop.root / "our.bin", mine)
        ours_of_iga = ours(shop.run(tool, "disasm", "--gen", gen, shop.root / "iga.bin", good=(0, 1)))
        ours_of_ours = ours(shop.run(tool, "disasm", "--gen", gen, shop.root / "our.bin", good=(0, 1)))
        compare("iga64's code as we read it", ours_of_iga, ours_of_ours, text)
        iga_of_iga = iga_lines(shop.run(iga, f"-p={platform}", "-Wnone", "-d", shop.root / "iga.bin"))
        iga_of_ours = iga_lines(shop.run(iga, f"-p={platform}", "-Wnone", "-d", shop.root / "our.bin"))
        compare("our code as iga64 reads it", iga_of_ours, iga_of_iga, text)
        shop.run(iga, f"-p={platform}", "-Xautocompact", "-Wnone", "-a", source, "-o", shop.root / "small.bin")
        small = ours(shop.run(tool, "disasm", "--gen", gen, shop.root / "small.bin", good=(0, 1)))
        theirs = iga_lines(shop.run(iga, f"-p={platform}", "-Wnone", "-d", shop.root / "small.bin"))
        packed = sum("Compacted" in line for line in small)
        # iga64 compacts a few instructions wrongly (it loses a nibble); its own decoder then shows it.
        same = [i for i, (a, b) in enumerate(zip(theirs, iga_of_iga)) if plain(a) == plain(b)]
        if len(same) < 0.98 * count:
            print("iga64 does not read its own compact code")
            sys.exit(1)
        compare("iga64's compact code as we read it", [plain(small[i]) for i in same], [plain(ours_of_iga[i]) for i in same],
                [text[i] for i in same])
    print(f"{gen}: {count} instructions agree, {packed} of them compact")


if __name__ == "__main__":
    main()
