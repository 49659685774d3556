"""Reference pages in Markdown: one page per topic, a bit table for each distinct layout, plus indexes and tables."""

from names import distinct_layouts
from ranges import format_position

TITLES = {"command": "Commands", "struct": "Structures", "register": "Registers", "payload": "Thread payloads", "message_header": "Message headers",
          "pci_register": "Configuration space"}


def gens_text(spec, gens):
    """A set of generations as the shortest list of runs, over the generations that have devices."""
    order = spec.device_gens()
    runs, out = [], []
    for i, gen in enumerate(order):
        if gen in gens:
            if runs and runs[-1][1] == i - 1:
                runs[-1][1] = i
            else:
                runs.append([i, i])
    for a, b in runs:
        first, last = spec.gens[order[a]], spec.gens[order[b]]
        out.append(first if a == b else f"{first}..{last}")
    return ", ".join(out)


def _cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def _type(f):
    if f.type in ("ufixed", "sfixed"):
        return f"{f.type} {f.width - f.fraction - (f.type == 'sfixed')}.{f.fraction}"
    if f.type == "enum":
        return f"[{f.target}](enums.md#{f.target.lower()})"
    if f.type == "struct":
        return f.target
    return f.type


def _meaning(f):
    parts = [f.doc] if f.doc else []
    if f.values:
        parts.append("; ".join(f"{v} = {k}" for k, v in sorted(f.values.items(), key=lambda kv: kv[1])))
    return _cell(" ".join(parts))


def _marks(unread, inert):
    """Returns sentences about fields that the model does not read."""
    out = []
    for m in unread:
        rest = "" if m.rest == (0,) else f" At rest: {', '.join(map(str, m.rest))}."
        out.append(f"- not looked at: `{m.name}` at {format_position(m.first, m.width)}: {_cell(m.reason)}.{rest}")
    out += [f"- needs no reading: `{name}`: {_cell(reason)}." for name, reason in inert.items()]
    return out + [""] if out else []


def _bit_table(item, fields, reserved, extra=()):
    rows = list(extra)
    for f in fields:
        access = f" ({f.access})" if item.kind in ("register", "pci_register") and f.access != item.access else ""
        rows.append((f.first, f.width, f"`{f.name}`", _type(f) + access, _meaning(f)))
    for first, width, kind in reserved:
        rows.append((first, width, {"reserved": "reserved", "ignored": "ignored", "mbo": "must be one"}[kind], "", ""))
    out = ["| bits | field | type | meaning |", "| --- | --- | --- | --- |"]
    for first, width, name, kind, text in sorted(rows, key=lambda r: (r[0] // 32, -(r[0] % 32), r[2])):
        out.append(f"| {format_position(first, width)} | {name} | {kind} | {text} |")
    return out


def _head(spec, item, gen):
    if item.kind == "command":
        mask, value = item.match[gen]
        rule = item.length[gen]
        length = f"{rule.fixed} dwords" if rule.fixed else f"{rule.min} dwords" if rule.min == rule.max else f"{rule.min} to {rule.max} dwords"
        return f"Header `{value:#010x}` under mask `{mask:#010x}`; {length}; engines: {', '.join(item.engines[gen])}."
    if item.kind == "struct":
        return f"{item.dwords[gen]} dwords."
    if item.kind == "payload":
        return f"{item.dwords[gen]} dwords from r{item.start // 8}.{item.start % 8} on; threads: {', '.join(item.threads)}."
    if item.kind == "message_header":
        return f"{item.dwords[gen]} dwords; functions: {', '.join(item.functions)}; messages: {', '.join(item.types) or 'all'}."
    return ""


def _privilege_lines(spec, item):
    text = {"noop": "dropped", "drop_write": "its write is discarded", "drop_post_sync": "its write after the flush is discarded",
            "per_process_table": "goes through the table of the process", "per_process_page": "goes to the status page of the process",
            "parent_privilege": "cannot raise the privilege"}
    out = []
    for p in item.privilege:
        conditions = [f"`{p.when}` is set"] if p.when else []
        conditions += [f"the register in `{p.register}` is not on the list"] if p.register else []
        out.append(f"- in a batch without privilege ({gens_text(spec, p.gens)}): {text[p.effect]}"
                   + (" when " + " and ".join(conditions) if conditions else ""))
    return out + [""] if out else []


def _register_lines(spec, item):
    places = {}
    for d in item.devices:
        places.setdefault((item.offsets[d], item.resets.get(d, 0)), []).append(d)
    base = f"engine base ({', '.join(item.classes)}) + " if item.base == "engine" else ""
    out = []
    for (offset, reset), devices in places.items():
        out.append(f"- {', '.join(devices)}: {base}`{offset:#x}`, reset `{reset:#x}`")
    if item.count > 1:
        out.append(f"- {item.count} registers, {item.stride:#x} bytes apart")
    out.append(f"- {item.width} bits, access `{item.access}`")
    for devices, engines, indices in item.storage:
        where = [", ".join(devices)] + [", ".join(engines)] * bool(engines) + [f"index {', '.join(map(str, indices))}"] * bool(indices)
        out.append("- modelled as plain storage" + ("" if item.is_storage_everywhere() else f": {'; '.join(where)}"))
    if item.effects:
        out.append(f"- effect: {item.effects}")
    return out


def _pci_lines(item):
    places = {}
    for d in item.devices:
        places.setdefault((item.offsets[d], item.writable[d], item.resets[d]), []).append(d)
    out = [f"- {', '.join(devices)}: `{offset:#x}`, writable `{writable:#x}`, reset `{reset:#x}`"
           for (offset, writable, reset), devices in places.items()]
    if item.capability:
        out.append(f"- part of the capability {item.capability}")
    return out + [f"- {item.width} bits" + (f", {item.count} registers in a row" if item.count > 1 else "")]


def _item(spec, item):
    out = [f"### {item.name}", "", item.doc, "", f"Source: {item.source}. On: {gens_text(spec, item.gens)}"
           + (f" ({', '.join(item.devices)} only)." if {d for d in spec.devices if spec.devices[d].gen in item.gens} != set(item.devices) else "."), ""]
    if item.kind == "register":
        out += _register_lines(spec, item) + [""]
    if item.kind == "pci_register":
        out += _pci_lines(item) + [""]
    if item.manual_name not in ("", item.name):
        out += [f"The manual's name is {item.manual_name}.", ""]
    out += _privilege_lines(spec, item)
    index = distinct_layouts(item)[1]
    # Generations with one layout and one header share a table.
    shared = {}
    for gen, i in index.items():
        shared.setdefault((i, _head(spec, item, gen)), []).append(gen)
    for (_, head), gens in shared.items():
        layout = item.layouts[gens[0]]
        if len(shared) > 1:
            out += [f"**{gens_text(spec, set(gens))}**", ""]
        if head:
            out += [head, ""]
        extra = []
        if item.kind == "command" and item.length[gens[0]].width:
            rule = item.length[gens[0]]
            extra = [(rule.first, rule.width, "length", "uint", f"total dwords less {rule.bias}")]
        if layout.fields or layout.reserved or extra:
            out += _bit_table(item, layout.fields, layout.reserved, extra) + [""]
        for g in layout.groups:
            count = f"{g.count} times" if g.count else "as often as the length holds"
            out += [f"`{g.name}`: {count}, {g.bits} bits each, from {format_position(g.first, 1)} on:", ""]
            out += _bit_table(item, g.fields, g.reserved) + [""]
        out += _marks(layout.unread + [m for g in layout.groups for m in g.unread], layout.inert)
    return out


def topic_page(spec, topic):
    out = [f"# {topic}", "", "Written by specgen from spec/; do not edit.", ""]
    for kind, items in (("command", spec.commands), ("struct", spec.structs), ("register", spec.registers),
                        ("payload", spec.payloads), ("message_header", spec.message_headers), ("pci_register", spec.pci_registers)):
        here = [i for i in items.values() if i.topic == topic]
        if here:
            out += [f"## {TITLES[kind]}", ""]
            for item in here:
                out += _item(spec, item)
    return "\n".join(out)


def enums_page(spec):
    out = ["# Enumerations", "", "Written by specgen from spec/; do not edit.", ""]
    everything = set(spec.device_gens())
    for name in sorted(spec.enums):
        e = spec.enums[name]
        out += [f"## {name}", "", e.doc, "", f"Source: {e.source}.", "", "| value | name | on |", "| --- | --- | --- |"]
        for label, value, gens in e.values:
            out.append(f"| {value} | {label} | {'' if everything <= gens else gens_text(spec, gens)} |")
        out.append("")
    return "\n".join(out)


def index_page(spec):
    out = ["# Hardware reference", "", "Written by specgen from spec/; do not edit. Bits are `dword[high:low]`.", ""]
    for topic in spec.topics:
        names = [i.name for i in spec.items() if i.topic == topic]
        out.append(f"- [{topic}]({topic}.md): {', '.join(names)}")
    out += ["- [enumerations](enums.md)", "", "## Devices", "", "| device | generation | names | engines |", "| --- | --- | --- | --- |"]
    for d in spec.devices.values():
        engines = ", ".join(f"{e['name']} at {e['base']:#x}" for e in d.engines)
        out.append(f"| {d.name} | {spec.gens[d.gen]} | {d.data.get('names', '')} | {engines} |")
    return "\n".join(out + [""])


def pages(spec):
    files = {"README.md": index_page(spec), "enums.md": enums_page(spec)}
    for topic in spec.topics:
        files[f"{topic}.md"] = topic_page(spec, topic)
    return files
