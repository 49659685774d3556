"""C++ names of items. All kinds share namespace hw: of two with one name the structure gets _STRUCT, the register _REG,
the payload _PAYLOAD, the message header _HEADER, the register of configuration space _PCI."""

from cppnames import ident, member_type


class Names:
    def __init__(self, spec):
        self.spec = spec
        self.cpp = {}
        taken = set(spec.enums)
        for kind, items, suffix in (("command", spec.commands, "_COMMAND"), ("struct", spec.structs, "_STRUCT"),
                                    ("register", spec.registers, "_REG"), ("payload", spec.payloads, "_PAYLOAD"),
                                    ("message_header", spec.message_headers, "_HEADER"), ("pci_register", spec.pci_registers, "_PCI")):
            for name in items:
                cpp = ident(name)
                if cpp in taken:
                    cpp += suffix
                taken.add(cpp)
                self.cpp[kind, name] = cpp
        self.order = {"command": sorted(spec.commands), "struct": sorted(spec.structs), "register": sorted(spec.registers),
                      "payload": sorted(spec.payloads), "message_header": sorted(spec.message_headers),
                      "pci_register": sorted(spec.pci_registers)}

    def of(self, item):
        return self.cpp[item.kind, item.name]

    def struct(self, name):
        return self.cpp["struct", name]

    def member_type(self, rows):
        if rows[0].type == "struct":
            return "hw::" + self.struct(rows[0].target)
        return member_type(rows)


def rows_by_name(fields):
    """name -> rows, in order of first appearance; without must-be-one fields."""
    out = {}
    for f in fields:
        if f.type != "mbo":
            out.setdefault(f.name, []).append(f)
    return out


def groups_by_name(item):
    out = {}
    for g in item.groups:
        out.setdefault(g.name, []).append(g)
    return out


def distinct_layouts(item):
    """(list of Layout, generation -> index): generations that agree share one."""
    layouts, index, keys = [], {}, {}
    for gen in item.layout_gens():
        key = item.layouts[gen].key()
        if key not in keys:
            keys[key] = len(layouts)
            layouts.append(item.layouts[gen])
        index[gen] = keys[key]
    return layouts, index


def sorted_topic_items(spec, topic):
    """Returns the items of a topic; a structure comes before those that contain it."""
    done, out = set(), []

    def visit(item):
        if (item.kind, item.name) in done:
            return
        done.add((item.kind, item.name))
        for f in item.fields + [f for g in item.groups for f in g.fields]:
            if f.type == "struct" and spec.structs[f.target].topic == topic:
                visit(spec.structs[f.target])
        out.append(item)

    for group in (spec.structs, spec.commands, spec.registers, spec.payloads, spec.message_headers, spec.pci_registers):
        for item in group.values():
            if item.topic == topic:
                visit(item)
    return out


def included_topics(spec, topic):
    """Returns the topics whose structures this topic's items contain."""
    out = set()
    for item in spec.items():
        if item.topic == topic:
            for f in item.fields + [f for g in item.groups for f in g.fields]:
                if f.type == "struct":
                    out.add(spec.structs[f.target].topic)
    return sorted(out - {topic})
