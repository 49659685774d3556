"""read() and write() of payloads, message headers and registers of configuration space: inline, without checks, for code that
runs once for each thread, message or access."""

from cppnames import gen_ident, ident, member_class, pascal
from model import IN_PLACE
from names import distinct_layouts, groups_by_name, rows_by_name


def register_words(spec, names, item):
    return _Words(spec, names, item).lines()


class _Words:
    def __init__(self, spec, names, item):
        self.spec, self.names, self.item = spec, names, item
        self.layouts, self.index = distinct_layouts(item)

    def lines(self):
        name = self.names.of(self.item)
        out = ["", "  // Reads without padding: `d` has kDwords dwords.",
               f"  static {name} read([[maybe_unused]] spec::GenId gen, [[maybe_unused]] const uint32_t* d) {{", f"    {name} o;"]
        out += self._switch(self._reads) + ["    return o;", "  }"]
        out += ["  // Writes kDwords dwords without checks: bits that do not fit their fields are cut off.",
                "  void write([[maybe_unused]] spec::GenId gen, uint32_t* d) const {"]
        return out + self._switch(self._writes, "std::fill(d, d + kDwords, 0);") + ["  }"]

    def _switch(self, body, otherwise=""):
        """One layout for all generations that a device has needs no switch."""
        if len(self.layouts) == 1:
            return ["    " + line for line in body(self.layouts[0])]
        out = ["    switch (gen) {"]
        for i, layout in enumerate(self.layouts):
            out += [f"      case spec::GenId::{gen_ident(self.spec.gens[g])}:" for g, n in self.index.items() if n == i]
            out += ["        " + line for line in body(layout)] + ["        break;"]
        return out + ["      default:"] + (["        " + otherwise] if otherwise else []) + ["        break;", "    }"]

    def _reads(self, layout):
        rows = rows_by_name(self.item.fields)
        out = [f"o.{ident(f.name)} = {self._value(f, rows[f.name], '')};" for f in layout.fields]
        for g in layout.groups:
            out += self._each(g, [f"o.{ident(g.name)}[i].{ident(f.name)} = {self._value(f, self._element(g)[f.name], pascal(g.name) + '::', g)};"
                                  for f in g.fields])
        return out

    def _writes(self, layout):
        """One assignment per dword, groups unrolled: compilers keep such code in registers."""
        rows = rows_by_name(self.item.fields)
        terms = {}
        for f in layout.fields:
            terms.setdefault(f.first // 32, []).append(self._term(f, rows[f.name], ident(f.name), f.first % 32))
        for g in layout.groups:
            for i in range(g.count):
                for f in g.fields:
                    first = g.first + i * g.bits + f.first
                    terms.setdefault(first // 32, []).append(
                        self._term(f, self._element(g)[f.name], f"{ident(g.name)}[{i}].{ident(f.name)}", first % 32))
        for first, width, kind in layout.reserved:
            for bit in range(first, first + width) if kind == "mbo" else ():
                terms.setdefault(bit // 32, []).append(f"{1 << bit % 32:#x}u")
        return [f"d[{i}] = {' | '.join(terms.get(i, ['0']))};" for i in range(max(self.item.dwords.values()))]

    @staticmethod
    def _each(g, lines):
        return [f"for (unsigned i = 0; i < {g.count}; ++i) {{"] + ["  " + line for line in lines] + ["}"]

    def _element(self, g):
        return rows_by_name([f for other in groups_by_name(self.item)[g.name] for f in other.fields])

    @staticmethod
    def _place(f, g):
        """(word, shift) in C++, of a field that lies within a dword."""
        if g is None:
            return f"d[{f.first // 32}]", str(f.first % 32)
        if g.bits % 32 == 0:
            return f"d[{(g.first + f.first) // 32} + i * {g.bits // 32}]", str((g.first + f.first) % 32)
        bit = f"({g.first + f.first} + i * {g.bits})"
        return f"d[{bit} / 32]", f"({bit} % 32)"

    def _value(self, f, rows, scope, g=None):
        word, shift = self._place(f, g)
        mask = f"{(1 << f.width) - 1:#x}u"
        if f.type in IN_PLACE:
            return f"{self.names.member_type(rows)}({word} & {mask} << {shift})"
        if f.type == "float":
            return f"std::bit_cast<float>({word})"
        raw = word if f.width == 32 else f"{word} >> {shift} & {mask}"
        if f.type == "int":
            return f"{self.names.member_type(rows)}(sign_extend({raw}, {f.width}))"
        kind = member_class(rows)
        if kind == "bool":
            return f"({raw}) != 0"
        return f"{scope if kind == 'values' else ''}{self.names.member_type(rows)}({raw})"

    def _term(self, f, rows, x, shift):
        mask = (1 << f.width) - 1
        if f.type == "float":
            return f"std::bit_cast<uint32_t>({x})"
        value = f"uint32_t({x}.value)" if f.type in ("gpu_va", "ggtt", "phys") else f"uint32_t({x})"
        if f.type in IN_PLACE:
            return f"({value} & {mask << shift:#x}u)"
        held = {"bool": 1, "uint8_t": 8, "uint16_t": 16, "uint32_t": 32}.get(self.names.member_type(rows))
        if held != f.width:
            value = f"({value} & {mask:#x}u)"
        return f"{value} << {shift}" if shift else value
