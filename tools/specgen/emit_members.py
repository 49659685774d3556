"""test/members.cpp: hands the members of every generated struct to a test by name (src/spec/member_sink.h)."""

from cppnames import ident, member_class, pascal
from emit_types import NOTE
from names import groups_by_name, rows_by_name


def _member(name, rows, obj):
    x, kind = f"{obj}.{ident(name)}", member_class(rows)
    if kind == "struct":
        return f's.begin("{name}", -1); m({x}, s); s.end();'
    if kind in ("float", "fixed"):
        return f's.number("{name}", double({x}));'
    if kind in ("gpu_va", "ggtt", "phys"):
        return f's.integer("{name}", {x}.value);'
    return f's.integer("{name}", uint64_t({"int64_t(" + x + ")" if kind == "int" else x}));'


def _members(fields, obj):
    return ["  " + _member(name, rows, obj) for name, rows in rows_by_name(fields).items()]


def _item(names, item):
    cpp = names.of(item)
    out, tail = [], []
    for group, rows in groups_by_name(item).items():
        element = f"hw::{cpp}::{pascal(group)}"
        out += [f"void m([[maybe_unused]] const {element}& o, [[maybe_unused]] Sink& s) {{"]
        out += _members([f for g in rows for f in g.fields], "o") + ["}"]
        if max(g.count for g in rows):
            tail.append(f'  for (size_t i = 0; i < o.{ident(group)}.size(); ++i) {{ s.begin("{group}", int(i)); m(o.{ident(group)}[i], s); s.end(); }}')
    out += [f"void m([[maybe_unused]] const hw::{cpp}& o, [[maybe_unused]] Sink& s) {{"] + _members(item.fields, "o") + tail + ["}"]
    out += [f"void v_{cpp}(GenId gen, Words in, Sink& s) {{", f"  m(hw::{cpp}::unpack(gen, in), s);"]
    for group, rows in groups_by_name(item).items():
        if any(g.count == 0 for g in rows):
            out.append(f'  for (size_t i = 0; i < hw::{cpp}::count_{group}(gen, in); ++i) {{ s.begin("{group}", int(i)); '
                       f"m(hw::{cpp}::unpack_{group}(gen, in, i), s); s.end(); }}")
    return out + ["}"]


def members_source(spec, names):
    out = [NOTE + '#include "spec/member_sink.h"', '#include "spec/payload.h"', '#include "spec/pci.h"', ""] + [f'#include "hw/{t}.h"' for t in spec.topics]
    out += ["", "namespace halogen::spec {", "", "namespace {", "", "using Sink = MemberSink;", "using Words = std::span<const uint32_t>;", ""]
    order = []
    done = set()

    def visit(item):
        key = (item.kind, item.name)
        if key in done:
            return
        done.add(key)
        for f in item.fields + [f for g in item.groups for f in g.fields]:
            if f.type == "struct":
                visit(spec.structs[f.target])
        order.append(item)

    for item in spec.items():
        visit(item)
    for item in order:
        out += _item(names, item)
    out += ["", "struct Row {", "  const ItemDesc* item;", "  void (*visit)(GenId, Words, Sink&);", "};", "constexpr Row kRows[] = {"]
    out += [f"    {{&hw::{names.of(i)}::kDesc, v_{names.of(i)}}}," for i in order]
    out += ["    {nullptr, nullptr},", "};", "", "}  // namespace", "",
            "void visit_members(const ItemDesc& item, GenId gen, Words in, Sink& sink) {",
            "  for (const Row& row : kRows) {", "    if (row.item == &item) row.visit(gen, in, sink);", "  }", "}", "",
            "}  // namespace halogen::spec", ""]
    return "\n".join(out)
