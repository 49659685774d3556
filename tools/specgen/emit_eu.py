"""eu/isa_fields.h, eu/isa_data.cpp and eu/op_data.h: the tables behind src/eu/isa/tables.h and src/eu/ir/op_traits.h."""

from cppnames import pascal
from emit_types import NOTE
from read_eu import CLASSES, CODES, KINDS

_KEYWORDS = {"and", "or", "xor", "not", "if", "else", "do", "while", "case", "break", "goto"}


def _ident(name):
    return name + "_" if name in _KEYWORDS else name


def fields_header(spec):
    eu = spec.eu
    out = [NOTE + "#pragma once", "", "#include <cstdint>", "", '#include "eu/isa/bit_range.h"', "", "namespace halogen::eu {", ""]
    out += ["enum class Field : uint8_t {"] + [f"  {name}," for name in eu.field_names] + ["};"]
    out += [f"inline constexpr unsigned kFieldCount = {len(eu.field_names)};", ""]
    out += ["enum class Form : uint8_t {"] + [f"  {name}," for name in eu.forms] + ["};", ""]
    out += ["enum class Kind : uint8_t {"] + [f"  {name}," for name in KINDS] + ["};", ""]
    out += ["// Numbers of a generation's EU.", "struct Traits {"] + [f"  uint8_t {name} = 0;" for name in sorted(eu.traits)] + ["};", ""]
    for name, doc, rows in eu.bits:
        out += [f"// {doc}", f"struct {pascal(name)}Bits {{"]
        for field, low, width, note in rows:
            note = f"  // {note}" if note else ""
            value = f"uint32_t k{pascal(field)} = 1u << {low}" if width == 1 else f"BitRange k{pascal(field)}{{{low}, {width}}}"
            out.append(f"  static constexpr {value};{note}")
        out += ["};", ""]
    return "\n".join(out + ["}  // namespace halogen::eu", ""])


def op_header(spec):
    """What each operation is. A switch: the compiler names an operation of op.h that has no row in spec/eu."""
    out = [NOTE + "#pragma once", "", "#include <cstdint>", "#include <string_view>", "", '#include "eu/isa/op.h"', "", "namespace halogen::eu {", "",
           "enum class OpClass : uint8_t {"] + [f"  {name}," for name in CLASSES] + ["};", ""]
    out += ["struct OpTraits {", "  std::string_view name;", "  OpClass group = OpClass::nothing;", "  uint8_t values = 0;  // sources that hold values",
            "  bool ignores_modifiers = false;  // negate and absolute of sources have no effect",
            "  bool lane_local = false;  // a lane of the result depends on the same lane of the sources only",
            "  bool reads_accumulator = false;  // without naming it",
            "  bool own_accumulator = false;  // gives the accumulator a value that is not its result",
            "  bool implicit_accumulator = false;  // writes its result there where arithmetic always does", "};", "",
            "constexpr OpTraits op_traits(Op op) {", "  switch (op) {"]
    for op in spec.eu.ops.values():
        flags = (op.ignores_modifiers, op.lane_local, *(word in op.accumulator for word in ("reads", "own", "implicit")))
        out += [f"    case Op::{_ident(op.name)}:",
                f'      return {{"{op.name}", OpClass::{op.group}, {op.values}, ' + ", ".join(str(flag).lower() for flag in flags) + "};"]
    return "\n".join(out + ["  }", "  return {};", "}", "", "}  // namespace halogen::eu", ""])


def _place(place):
    body = ", ".join(f"{{{low}, {width}}}" for low, width in place)
    return f"{{{len(place)}, {{{{{body}}}}}}}"


def _code_array(name, codes):
    values, size = CODES[name]
    kind = {"file": "File", "ternary_file": "File", "predicate": "Predicate", "predicate16": "Predicate"}.get(name, "Type")

    def one(code):
        if code not in codes:
            return "kNone"
        return str(codes[code]) if values is None else f"code({kind}::{codes[code]})"
    return "{{" + ", ".join(one(c) for c in range(size)) + "}}"


def _compacts(eu):
    out = []

    def bit_map(name, place):
        out.append(f"constexpr Piece {name}[] = {{" + ", ".join(f"{{{low}, {width}}}" for low, width in place) + "};")
        return name
    for form in eu.compacts:
        copies, tables = [], []
        for i, (at, native, second) in enumerate(form.copies):
            name = f"kCompact_{form.name}_copy{i}"
            copies.append(f"{{{bit_map(name + 'a', at)}, {bit_map(name + 'n', native)}, {str(second).lower()}}}")
        for i, (at, native, second, rows) in enumerate(form.tables):
            name = f"kCompact_{form.name}_table{i}"
            out.append(f"constexpr uint64_t {name}[] = {{" + ", ".join(f"{v:#x}" for v in rows) + "};")
            tables.append(f"{{{bit_map(name + 'a', at)}, {bit_map(name + 'n', native)}, {name}, {str(second).lower()}}}")
        out.append(f"constexpr CompactCopy kCompact_{form.name}_copies[] = {{{', '.join(copies)}}};")
        out.append(f"constexpr CompactTable kCompact_{form.name}_tables[] = {{{', '.join(tables)}}};")
        place = _place(form.immediate) if form.immediate else "{}"
        out.append(f"constexpr CompactForm kCompact_{form.name} = {{kCompact_{form.name}_copies, kCompact_{form.name}_tables, {place}, "
                   f"ImmediateRule::{form.rule}}};")
    return out + [""]


def data(spec):
    eu = spec.eu
    out = [NOTE + '#include "eu/isa/tables.h"', "", "namespace halogen::eu {", "", "namespace {", "",
           "template <class E>", "constexpr uint8_t code(E value) {", "  return static_cast<uint8_t>(value);", "}", ""]
    layouts, order = {}, []
    for form in eu.forms.values():
        for gen in sorted(form.gens):
            fixed = tuple((tuple(p), v) for p, v in form.fixed[gen] if v)
            key = (tuple(sorted((n, tuple(p)) for n, p in form.layouts[gen].items())), fixed, form.units.get(gen, 1))
            if key not in layouts:
                layouts[key] = f"kLayout{len(layouts)}"
                order.append(key)
            form.layouts[gen] = (form.layouts[gen], layouts[key])
    for key in order:
        rows, fixed, unit = key
        name, places = layouts[key], dict(rows)
        fixed_name = "{}"
        if fixed:
            fixed_name = f"{name}Fixed"
            out += [f"constexpr FixedBits {fixed_name}[] = {{" + ", ".join(f"{{{_place(p)}, {v}}}" for p, v in fixed) + "};"]
        body = ", ".join(_place(places[n]) if n in places else "{}" for n in eu.field_names)
        out += [f"constexpr Layout {name} = {{{{{{{body}}}}}, {fixed_name}, {unit}}};"]
    out += _compacts(eu)
    rows, by_gen, pool = [], {}, {}
    type_rows = []
    for op in eu.ops.values():
        if op.types:
            type_rows.append(f"constexpr TypeRule kTypes_{op.name}[] = {{" + ", ".join(f"{{{d:#x}, {s:#x}}}" for d, s in op.types) + "};")
        for gen, (code, form, sources, kind) in sorted(op.by_gen.items()):
            allow = " | ".join(f"Allow::{a}" for a in op.allow) or "0"
            text = (f'{{Op::{_ident(op.name)}, Kind::{kind}, {code:#x}, {sources}, {allow}, "{op.name}", &{eu.forms[form].layouts[gen][1]}, '
                    f"{f'kTypes_{op.name}' if op.types else '{}'}}}")
            if text not in pool:
                pool[text] = len(rows)
                rows.append(text)
            by_gen.setdefault(gen, []).append((code, op.name, pool[text]))
    out += type_rows + ["", "constexpr OpRow kOps[] = {"] + [f"    {row}," for row in rows] + ["};", ""]
    out += ["constexpr IsaTables make(unsigned gen);", ""]
    names = sorted(eu.traits)
    cases = []
    for gen in range(len(spec.gens)):
        at = by_gen.get(gen, [])
        codes = ["kNoRow"] * 128
        for code, _, row in at:
            codes[code] = str(row)
        tables = [f"    .rows = {{{{{', '.join(codes)}}}}},"]
        for form in eu.forms.values():
            if gen in form.gens:
                tables.append(f"    .{form.name} = &{form.layouts[gen][1]}," if form.name in ("basic", "wide", "macro") else "")
        for form in eu.compacts:
            if gen in form.gens:
                tables.append(f"    .compact_{form.kind} = &kCompact_{form.name},")
        for name in CODES:
            tables.append(f"    .{name} = {_code_array(name, eu.codes.get(name, {}).get(gen, {}))},")
        tables.append("    .traits = {" + ", ".join(str(eu.traits[n][gen]) for n in names) + "},")
        cases.append("    IsaTables{\n" + "\n".join("    " + t for t in tables if t) + "\n    },")
    out.pop(), out.pop()
    out += ["constexpr IsaTables kTables[] = {"] + cases + ["};", "", "}  // namespace", "",
            "const IsaTables& isa_tables(spec::GenId gen) { return kTables[static_cast<unsigned>(gen)]; }",
            "std::span<const OpRow> op_rows() { return kOps; }", "", "}  // namespace halogen::eu", ""]
    return "\n".join(out)
