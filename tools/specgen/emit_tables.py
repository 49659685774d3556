"""The descriptor tables in hw/<topic>.cpp and hw/enums.cpp: constant data behind src/spec/descriptors.h."""

from emit_code import CodeEmitter
from emit_types import WITH_WORDS, KIND, NOTE, NUMBERED
from model import ENGINES, THREADS
from names import distinct_layouts, sorted_topic_items

TYPES = {"uint": "uint", "int": "sint", "bool": "boolean", "float": "float32", "enum": "enumeration", "struct": "structure"}


def quote(text):
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"sv'


def mask(indexes):
    return f"{sum(1 << i for i in indexes):#x}"


class Pool:
    """One constant array; spans point into it. Equal runs are stored once."""

    def __init__(self, cpp_type, name):
        self.type, self.name = cpp_type, name
        self.rows, self.runs = [], {}

    def span(self, rows):
        rows = tuple(rows)
        if not rows:
            return "{}"
        if rows not in self.runs:
            self.runs[rows] = len(self.rows)
            self.rows += rows
        return f"{{{self.name} + {self.runs[rows]}, {len(rows)}}}"

    def lines(self):
        if not self.rows:
            return []
        return [f"constexpr {self.type} {self.name}[] = {{"] + [f"    {row}," for row in self.rows] + ["};"]


class TopicTables:
    def __init__(self, spec, names):
        self.spec, self.names = spec, names
        self.values = Pool("EnumValue", "kV")
        self.enums = Pool("EnumDesc", "kE")
        self.fields = Pool("FieldDesc", "kF")
        self.reserved = Pool("ReservedDesc", "kR")
        self.rest = Pool("uint64_t", "kT")
        self.unread = Pool("UnreadDesc", "kU")
        self.groups = Pool("GroupDesc", "kG")
        self.layouts = Pool("Layout", "kL")
        self.resets = Pool("RegisterReset", "kS")
        self.privilege = Pool("PrivilegeRule", "kP")
        self.words = Pool("std::string_view", "kW")

    def pools(self):
        return (self.values, self.enums, self.fields, self.reserved, self.rest, self.unread, self.groups, self.layouts, self.resets,
                self.privilege, self.words)

    def _field(self, item, f):
        enum = struct = "nullptr"
        if f.type == "enum":
            enum = f"&kEnum_{f.target}"
        elif f.values:
            values = self.values.span(f"{{{quote(k)}, {v:#x}, {mask(f.gens)}}}" for k, v in
                                      sorted(f.values.items(), key=lambda kv: kv[1]))
            span = self.enums.span([f'{{{quote(f"{item.name}.{f.name}")}, {quote(f.doc)}, {values}}}'])
            enum = span.strip("{}").split(",")[0]
        if f.type == "struct":
            struct = f"&hw::{self.names.struct(f.target)}::kDesc"
        kind = "enumeration" if f.values else TYPES.get(f.type, f.type)
        return (f"{{{quote(f.name)}, {quote(f.doc)}, FieldType::{kind}, Access::{f.access or 'rw'}, {f.fraction}, "
                f"{f.first}, {f.width}, {enum}, {struct}}}")

    def _reserved(self, rows):
        def one(first, width, kind):
            return f"{{{first}, {width}, {'true' if kind == 'ignored' else 'false'}, {'true' if kind == 'mbo' else 'false'}}}"
        return self.reserved.span(one(*row) for row in rows)

    def _unread(self, marks):
        return self.unread.span([f"{{{quote(m.name)}, {quote(m.reason)}, {quote(f'{m.name} is not looked at: {m.reason}')}, "
                                 f"{m.first}, {m.width}, {m.condition[0]}, {m.condition[1]}, {m.condition[2]}, "
                                 f"{'true' if m.condition[3] else 'false'}, {self.rest.span(f'{v:#x}' for v in m.rest)}}}"
                                 for m in marks])

    def _layout(self, item, layout):
        fields = self.fields.span([self._field(item, f) for f in layout.fields])
        groups = []
        for g in layout.groups:
            inner = self.fields.span([self._field(item, f) for f in g.fields])
            groups.append(f"{{{quote(g.name)}, {g.first}, {g.bits}, {g.count}, {inner}, {self._reserved(g.reserved)}, {self._unread(g.unread)}}}")
        return f"{{{fields}, {self.groups.span(groups)}, {self._reserved(layout.reserved)}, {self._unread(layout.unread)}}}"

    def per_gen(self, values, default, text=str):
        return "{{" + ", ".join(text(values[g]) if g in values else default for g in range(len(self.spec.gens))) + "}}"

    def per_device(self, values, default, text=str):
        return "{{" + ", ".join(text(values[d]) if d in values else default for d in self.spec.devices) + "}}"

    def device_mask(self, devices):
        order = list(self.spec.devices)
        return mask(order.index(d) for d in devices)

    def desc(self, item, repack):
        layouts, index = distinct_layouts(item)
        span = self.layouts.span([self._layout(item, l) for l in layouts])
        base = (f"{{{quote(item.name)}, {quote(item.doc)}, {quote(item.source)}, {quote(item.topic)}, "
                f"{quote(item.manual_name or item.name)}, {mask(item.gens)}, "
                f"{self.device_mask(item.devices)}, {span}, {self.per_gen(index, 'kAbsent')}, {repack}}}")
        name, kind = self.names.of(item), KIND[item.kind]
        key = f" {name}::kId," if item.kind in NUMBERED else ""
        return [f"constinit const {kind}Desc {name}::kDesc = {{{base},{key}",
                f"    {getattr(self, '_' + item.kind)(item)}}};"]

    def _command(self, item):
        length = self.per_gen(item.length, "{}", lambda r: f"{{{r.fixed}, {r.first}, {r.width}, {r.bias}, {r.min}, {r.max}}}")
        match = self.per_gen(item.match, "{}", lambda m: f"{{{m[0]:#x}, {m[1]:#x}}}")
        engines = self.per_gen(item.engines, "0", lambda e: mask(ENGINES.index(x) for x in e))
        privilege = self.privilege.span(f"{{{mask(p.gens)}, PrivilegeEffect::{p.effect}, {quote(p.when)}, {quote(p.register)}}}"
                                        for p in item.privilege)
        return f"{length}, {match}, {engines}, {privilege}"

    def _struct(self, item):
        return self.per_gen(item.dwords, "0")

    def _payload(self, item):
        return f"{self._struct(item)}, {mask(THREADS.index(t) for t in item.threads)}, {item.start}, rewrite<{self.names.of(item)}>"

    def _message_header(self, item):
        return f"{self._struct(item)}, {self.words.span(map(quote, item.functions))}, {self.words.span(map(quote, item.types))}, rewrite<{self.names.of(item)}>"

    def _pci_register(self, item):
        offsets, writable, resets = (self.per_device(values, default, hex) for values, default in
                                     ((item.offsets, "kNoOffset"), (item.writable, "0"), (item.resets, "0")))
        return f"{item.width // 8}, {item.count}, {offsets}, {writable}, {resets}, rewrite<{self.names.of(item)}>"

    def _register(self, item):
        of_gen = {}
        for d in item.devices:
            of_gen.setdefault(self.spec.devices[d].gen, item.offsets[d])
        by_value = {}
        for d, value in item.resets.items():
            if value:
                by_value.setdefault(value, []).append(d)
        resets = self.resets.span(f"{{{self.device_mask(ds)}, {value:#x}}}" for value, ds in by_value.items())
        return (f"RegisterBase::{item.base}, {mask(ENGINES.index(x) for x in item.classes)}, {item.width}, "
                f"Access::{item.access}, {'true' if item.is_storage_everywhere() else 'false'}, {quote(item.effects)}, {item.count}, "
                f"{item.stride}, {self.per_gen(of_gen, 'kNoOffset', hex)}, {self.per_device(item.offsets, 'kNoOffset', hex)}, {resets}")


def topic_source(spec, names, topic):
    tables, code = TopicTables(spec, names), CodeEmitter(names)
    functions, descs = [], []
    for item in sorted_topic_items(spec, topic):
        functions += code.item(item)
        thunk, repack = code.repack(item)
        functions += thunk
        descs += tables.desc(item, repack)
    enums = sorted({f.target for item in spec.items() if item.topic == topic
                    for f in item.fields + [f for g in item.groups for f in g.fields] if f.type == "enum"})
    out = [NOTE + f'#include "hw/{topic}.h"', "", "#include <algorithm>", "#include <bit>", "#include <string_view>", "",
           '#include "spec/packing.h"']
    kinds = {i.kind for i in sorted_topic_items(spec, topic)}
    if kinds & {"payload", "message_header"}:
        out += ['#include "spec/payload.h"']
    if "pci_register" in kinds:
        out += ['#include "spec/pci.h"']
    out += [""]
    if enums:
        out += ["namespace halogen::spec {"] + [f"extern const EnumDesc kEnum_{e};" for e in enums] + ["}", ""]
    out += ["namespace halogen::hw {", "", "using namespace halogen::spec;  // NOLINT: descriptor types only",
            "using namespace std::string_view_literals;", ""]
    if any(p.rows for p in tables.pools()):
        out += ["namespace {", ""]
        for pool in tables.pools():
            out += pool.lines()
        out += ["", "}  // namespace", ""]
    return "\n".join(out + functions + [""] + descs + ["", "}  // namespace halogen::hw", ""])


def enums_source(spec):
    values = Pool("EnumValue", "kV")
    descs = []
    for name in sorted(spec.enums):
        e = spec.enums[name]
        span = values.span(f"{{{quote(k)}, {v:#x}, {mask(gens)}}}" for k, v, gens in e.values)
        descs.append(f"extern constinit const EnumDesc kEnum_{name} = {{{quote(name)}, {quote(e.doc)}, {span}}};")
    names = [f"    &kEnum_{name}," for name in sorted(spec.enums)]
    out = [NOTE + '#include "hw/enums.h"', "", "#include <string_view>", "", '#include "spec/descriptors.h"', "",
           "namespace halogen::spec {", "", "using namespace std::string_view_literals;", ""]
    out += values.lines() + descs
    if names:
        out += ["static constexpr const EnumDesc* kAll[] = {"] + names + ["};", "std::span<const EnumDesc* const> enums() { return kAll; }"]
    else:
        out += ["std::span<const EnumDesc* const> enums() { return {}; }"]
    return "\n".join(out + ["", "}  // namespace halogen::spec", ""])
