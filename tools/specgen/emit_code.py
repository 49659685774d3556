"""The unpack and pack functions in hw/<topic>.cpp: a switch over the item's distinct layouts."""

from cppnames import ident, member_class, pascal
from model import IN_PLACE
from names import distinct_layouts, groups_by_name, rows_by_name


_SIZE = "p.size(kDesc.dwords_of_gen[size_t(gen)]);"


class CodeEmitter:
    def __init__(self, names):
        self.names = names
        self.ptr = "d"  # the variable that points at the item's or element's first dword

    def item(self, item):
        self.layouts = distinct_layouts(item)[0]
        self.rows = rows_by_name(item.fields)
        self.groups = groups_by_name(item)
        out = self._unpack(item) + self._pack(item)
        if any(f.update for f in item.fields):
            out += self._merged(item)
        for group, rows in self.groups.items():
            if any(g.count == 0 for g in rows):
                out += self._rest(item, group, rows)
        return out

    # unpack

    def _raw(self, f):
        """The bits of a field, moved to bit 0 or, for in-place types, cleared below and above."""
        dword, low = divmod(f.first, 32)
        keep = f.type in IN_PLACE
        mask = (1 << f.width) - 1
        if low + f.width <= 32:
            word = f"{self.ptr}[{dword}]"
            if f.width == 32:
                return word
            if keep:
                return f"{word} & {mask << low:#x}u"
            shifted = f"{word} >> {low}" if low else word
            return shifted if low + f.width == 32 else f"{shifted} & {mask:#x}u"
        if low + f.width <= 64:
            word = f"spec::qword({self.ptr} + {dword})"
            if f.width == 64:
                return word
            if keep:
                return f"{word} & {mask << low:#x}u"
            shifted = f"{word} >> {low}" if low else word
            return shifted if low + f.width == 64 else f"{shifted} & {mask:#x}u"
        return f"get_bits({{{self.ptr}, {dword + 3}}}, {f.first}, {f.width})"

    def _value(self, f, rows, scope):
        raw, kind = self._raw(f), member_class(rows)
        cpp = self.names.member_type(rows)
        if f.type == "bool" and kind == "bool":
            return f"({raw}) != 0"
        if f.type == "int":
            return f"{cpp}(sign_extend({raw}, {f.width}))"
        if f.type == "float":
            return f"std::bit_cast<float>(uint32_t({raw}))"
        if f.type == "ufixed":
            return f"spec::from_ufixed({raw}, {f.fraction})"
        if f.type == "sfixed":
            return f"spec::from_sfixed({raw}, {f.width}, {f.fraction})"
        if f.type == "struct":
            return f"{cpp}::unpack(gen, {{{self.ptr} + {f.first // 32}, {f.width // 32}}})"
        return f"{scope if kind == 'values' else ''}{cpp}({raw})"

    def _reads(self, fields, rows, obj, scope="", ptr="d"):
        self.ptr = ptr
        return [f"{obj}.{ident(f.name)} = {self._value(f, rows[f.name], scope)};" for f in fields]

    @staticmethod
    def _need(layout):
        ends = [f.end for f in layout.fields] + [g.first + g.bits * g.count for g in layout.groups if g.count]
        return (max(ends, default=0) + 31) // 32

    def _element_rows(self, group):
        return rows_by_name([f for g in self.groups[group] for f in g.fields])

    def _unpack(self, item):
        name = self.names.of(item)
        need = max(self._need(l) for l in self.layouts) if self.layouts else 0
        out = [f"{name} {name}::unpack(GenId gen, std::span<const uint32_t> in) {{", f"  {name} o;"]
        if need:
            out.append(f"  uint32_t pad[{need}];")
        else:
            out.append("  static_cast<void>(in);")
        out.append("  switch (kDesc.layout_of_gen[size_t(gen)]) {")
        for i, layout in enumerate(self.layouts):
            n = self._need(layout)
            out.append(f"    case {i}: {{")
            if n:
                out.append(f"      const uint32_t* d = spec::padded(in, pad, {n});")
            out += ["      " + line for line in self._reads(layout.fields, self.rows, "o")]
            for g in layout.groups:
                if g.count:
                    out += ["      " + line for line in self._group_reads(g, n)]
            out += ["      break;", "    }"]
        out += ["    default:", "      break;", "  }", "  return o;", "}"]
        return out

    def _group_reads(self, g, need):
        words = (g.bits + 31) // 32
        if g.first % 32 == 0 and g.bits % 32 == 0:
            source = f"d + {g.first // 32} + i * {words}"
            start = [f"  const uint32_t* e = {source};"]
        else:
            start = [f"  uint32_t t[{words}];",
                     f"  const uint32_t* e = spec::cut({{d, {need}}}, {g.first} + i * {g.bits}, {g.bits}, t);"]
        reads = self._reads(g.fields, self._element_rows(g.name), f"o.{ident(g.name)}[i]", pascal(g.name) + "::", "e")
        return [f"for (unsigned i = 0; i < {g.count}; ++i) {{"] + start + \
            ["  " + line for line in reads] + ["}"]

    # pack

    def _write(self, f, rows, obj):
        x, n = f"{obj}{ident(f.name)}", f'"{f.name}"'
        kind = member_class(rows)
        if f.type == "struct":
            size = f.width // 32
            return f"{{ uint32_t t[{size}]; const auto r = {x}.pack(gen, t); p.words({f.first}, t, r, {n}); }}"
        if f.type == "int":
            return f"p.sbits({f.first}, {f.width}, {x}, {n});"
        if f.type in ("ufixed", "sfixed"):
            return f"p.fixed({f.first}, {f.width}, {f.fraction}, {'true' if f.type == 'sfixed' else 'false'}, {x}, {n});"
        if f.type == "float":
            x = f"std::bit_cast<uint32_t>({x})"
        elif kind in ("values", "enum"):
            x = f"uint64_t({x})"
        elif f.type in ("gpu_va", "ggtt", "phys"):
            x += ".value"
        return f"p.{'in_place' if f.type in IN_PLACE else 'bits'}({f.first}, {f.width}, {x}, {n});"

    def _absent(self, name, rows, obj):
        x, kind = f"{obj}{ident(name)}", member_class(rows)
        if kind in ("values", "enum"):
            test = f"uint64_t({x}) != 0"
        elif kind in ("gpu_va", "ggtt", "phys"):
            test = f"{x}.value != 0"
        elif kind == "bool":
            test = x
        elif kind == "struct":
            test = f"{x} != {self.names.member_type(rows)}{{}}"
        else:
            test = f"{x} != 0"
        return f'p.absent({test}, "{name}");'

    def _writes(self, fields, reserved, rows, obj):
        out = [self._write(f, rows[f.name], obj) for f in fields]
        out += [f"p.ones({first}, {width});" for first, width, kind in reserved if kind == "mbo"]
        here = {f.name for f in fields}
        return out + [self._absent(name, r, obj) for name, r in rows.items() if name not in here]

    def _group_writes(self, g, total):
        x, n = ident(g.name), f'"{g.name}"'
        out = [f"for (unsigned i = 0; i < {g.count}; ++i) {{", f"  p.start({g.first} + i * {g.bits});"]
        out += ["  " + line for line in self._writes(g.fields, g.reserved, self._element_rows(g.name), f"{x}[i].")]
        out += ["}", "p.start(0);"]
        if total > g.count:
            out.append(f"for (unsigned i = {g.count}; i < {total}; ++i) p.absent({x}[i] != {pascal(g.name)}{{}}, {n});")
        return out

    def _pack(self, item):
        name = self.names.of(item)
        out = [f"PackResult {name}::pack(GenId gen, std::span<uint32_t> out) const {{", "  Packer p(out);", "  p.clear();",
               "  switch (kDesc.layout_of_gen[size_t(gen)]) {"]
        totals = {n: max(g.count for g in rows) for n, rows in self.groups.items()}
        for i, layout in enumerate(self.layouts):
            out.append(f"    case {i}:")
            lines = self._writes(layout.fields, layout.reserved, self.rows, "")
            for g in layout.groups:
                if g.count:
                    lines += self._group_writes(g, totals[g.name])
            here = {g.name for g in layout.groups if g.count}
            lines += [f'p.absent({ident(n)} != decltype({ident(n)}){{}}, "{n}");' for n, t in totals.items() if t and n not in here]
            out += ["      " + line for line in lines] + ["      break;"]
        out += ["    default:", "      return {spec::PackFault::no_such_item, {}};", "  }"]
        check = {"command": "p.header(kDesc, gen);", "struct": _SIZE, "payload": _SIZE, "message_header": _SIZE,
                 "register": f"p.size({item.width // 32});", "pci_register": "p.size(1);"}[item.kind]
        return out + ["  " + check, "  return p.result();", "}"]

    # state that update bits leave out

    def _merged(self, item):
        name = self.names.of(item)
        out = [f"{name} {name}::merged(GenId gen, const {name}& before) const {{", f"  {name} o = *this;",
               "  const GenMask here = mask_of(gen);"]
        for bit, rows in self.rows.items():
            for f in (r for r in rows if r.update):
                kind, fields = f.update
                gens = sum(1 << g for g in f.gens)
                b = ident(bit)
                out += [f"  if ((here & {gens:#x}u) != 0) {{", f"    if ({b if kind == 'disable' else '!' + b}) {{"]
                out += [f"      o.{ident(n)} = before.{ident(n)};" for n in fields]
                after = {"change": f"o.{b} = true;", "valid": f"o.{b} = {b} || before.{b};", "disable": f"o.{b} = false;"}[kind]
                out += ["    }", f"    {after}", "  }"]
        return out + ["  return o;", "}"]

    # groups that take the rest

    def _rest(self, item, group, rows):
        name, element, erows = self.names.of(item), pascal(group), self._element_rows(group)
        cases = [(i, g) for i, l in enumerate(self.layouts) for g in l.groups if g.name == group]
        switch = "  switch (kDesc.layout_of_gen[size_t(gen)]) {"
        count = [f"size_t {name}::count_{group}(GenId gen, std::span<const uint32_t> in) {{", "  const size_t bits = in.size() * 32;", switch]
        unpack = [f"{name}::{element} {name}::unpack_{group}(GenId gen, std::span<const uint32_t> in, size_t index) {{",
                  f"  {element} o;", f"  if (index >= count_{group}(gen, in)) return o;", switch]
        pack = [f"PackResult {name}::pack_{group}(GenId gen, std::span<uint32_t> out, size_t index, const {element}& o) {{",
                f"  if (index >= count_{group}(gen, out)) return {{spec::PackFault::wrong_length, \"{group}\"}};",
                "  Packer p(out);", switch]
        for i, g in cases:
            limit = f"std::min<size_t>({g.count}, " if g.count else "("
            count.append(f"    case {i}: return bits < {g.first} ? 0 : {limit}(bits - {g.first}) / {g.bits});")
            words = (g.bits + 31) // 32
            unpack += [f"    case {i}: {{", f"      uint32_t t[{words}];",
                       f"      const uint32_t* d = spec::cut(in, unsigned({g.first} + index * {g.bits}), {g.bits}, t);"]
            unpack += ["      " + line for line in self._reads(g.fields, erows, "o", element + "::")] + ["      break;", "    }"]
            pack += [f"    case {i}:", f"      p.clear(unsigned({g.first} + index * {g.bits}), {g.bits});",
                     f"      p.start(unsigned({g.first} + index * {g.bits}));"]
            pack += ["      " + line for line in self._writes(g.fields, g.reserved, erows, "o.")] + ["      break;"]
        count += ["    default: return 0;", "  }", "}"]
        unpack += ["    default:", "      break;", "  }", "  return o;", "}"]
        pack += ["    default:", "      break;", "  }", "  return p.result();", "}"]
        return count + unpack + pack

    def repack(self, item):
        """(definition lines, expression) of the thunk behind ItemDesc::repack."""
        name = self.names.of(item)
        rest = [n for n, rows in groups_by_name(item).items() if any(g.count == 0 for g in rows)]
        if not rest:
            return [], f"spec::repack<{name}>"
        out = [f"static bool repack_{name}(GenId gen, std::span<const uint32_t> in, std::span<uint32_t> out) {{",
               f"  if (!{name}::unpack(gen, in).pack(gen, out)) return false;"]
        for n in rest:
            out += [f"  for (size_t i = 0; i < {name}::count_{n}(gen, in); ++i) {{",
                    f"    if (!{name}::pack_{n}(gen, out, i, {name}::unpack_{n}(gen, in, i))) return false;", "  }"]
        return out + ["  return true;", "}"], f"repack_{name}"
