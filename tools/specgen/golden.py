"""The flattened view of one generation: one line per fact, sorted, so that a diff shows the chips that an edit affects.

tests/unit/spec writes the same lines from the C++ tables and compares: the two paths check each other.
"""

from pathlib import Path

from model import THREADS
from ranges import format_position


def view(spec, gen):
    lines = []
    for enum in spec.enums.values():
        lines += [f"ENUM {enum.name} {value:#x} {name}" for name, value, gens in enum.values if gen in gens]
    for item in spec.items():
        if gen in item.layouts:
            lines += _item(spec, item, gen)
    for chain in spec.pci_lists.values():
        for device in chain.devices:
            if spec.devices[device].gen == gen:
                lines += [f"PCI_LIST {device} {i} {name} id={chain.ids[name]:#x} at={at:#x}" for i, (name, at) in enumerate(chain.rows)]
    return "\n".join(sorted(lines)) + "\n"


def _item(spec, item, gen):
    head = f"{item.kind.upper()} {item.name}"
    devices = ",".join(d for d in item.devices if spec.devices[d].gen == gen)
    layout = item.layouts[gen]
    lines = [f"{head} {_HEADS[item.kind](spec, item, gen)} devices={devices}"]
    if item.manual_name not in ("", item.name):
        lines.append(f"{head} manual_name={item.manual_name}")
    for p in item.privilege:
        if gen in p.gens:
            lines.append(f"{head} privilege {p.effect} when={p.when or 'always'} register={p.register or 'any'}")
    lines += _rows(item, head, layout.fields, layout.reserved) + _unread(head, layout.unread)
    for g in layout.groups:
        count = g.count or "rest"
        lines.append(f"{head} group {g.name} at={format_position(g.first, 1)} bits={g.bits} count={count}")
        lines += _rows(item, f"{head} {g.name}", g.fields, g.reserved) + _unread(f"{head} {g.name}", g.unread)
    return lines


def _command(spec, item, gen):
    rule, (mask, value) = item.length[gen], item.match[gen]
    if rule.fixed:
        length = f"length={rule.fixed}"
    else:
        length = f"length={format_position(rule.first, rule.width)}+{rule.bias} min={rule.min} max={rule.max}"
    return f"match={mask:#010x}/{value:#010x} {length} engines={','.join(item.engines[gen])}"


def _struct(spec, item, gen):
    return f"dwords={item.dwords[gen]}"


def _register(spec, item, gen):
    here = [d for d in item.devices if spec.devices[d].gen == gen]
    offsets = ",".join(f"{item.offsets[d]:#x}" for d in here)
    resets = ",".join(f"{item.resets.get(d, 0):#x}" for d in here)
    base = f"engine({','.join(item.classes)})" if item.base == "engine" else "absolute"
    return (f"base={base} offset={offsets} width={item.width} count={item.count} stride={item.stride} access={item.access} "
            f"reset={resets}")


def _payload(spec, item, gen):
    return f"{_struct(spec, item, gen)} at=r{item.start // 8}.{item.start % 8} threads={','.join(t for t in THREADS if t in item.threads)}"


def _message_header(spec, item, gen):
    return f"{_struct(spec, item, gen)} functions={','.join(item.functions)} types={','.join(item.types) or 'all'}"


def _pci_register(spec, item, gen):
    here = [d for d in item.devices if spec.devices[d].gen == gen]
    columns = [f"{name}={','.join(f'{values.get(d, 0):#x}' for d in here)}"
               for name, values in (("offset", item.offsets), ("writable", item.writable), ("reset", item.resets))]
    return f"bytes={item.width // 8} count={item.count} {' '.join(columns)}"


_HEADS = {"command": _command, "struct": _struct, "register": _register, "payload": _payload, "message_header": _message_header,
          "pci_register": _pci_register}


def _rows(item, head, fields, reserved):
    lines = [f"{head} {format_position(f.first, f.width)} {f.name} {_type(item, f)}" for f in fields]
    return lines + [f"{head} {format_position(first, width)} {kind}" for first, width, kind in reserved]


def _unread(head, marks):
    def condition(m):
        first, width, value, equal = m.condition
        return f" {'when' if equal else 'unless'}={format_position(first, width)}={value}" if width else ""
    return [f"{head} unread {m.name} {format_position(m.first, m.width)} rest={','.join(map(str, m.rest))}{condition(m)}" for m in marks]


def _type(item, f):
    if f.values:
        text = "values{" + ",".join(f"{k}={v}" for k, v in sorted(f.values.items(), key=lambda kv: kv[1])) + "}"
    elif f.target:
        text = f"{f.type}:{f.target}"
    elif f.type in ("ufixed", "sfixed"):
        text = f"{f.type}:{f.width - f.fraction - (f.type == 'sfixed')}.{f.fraction}"
    else:
        text = f.type
    return text + (f" {f.access}" if item.kind in ("register", "pci_register") else "")


def files(spec):
    return {f"{spec.gens[gen]}.txt": view(spec, gen) for gen in spec.device_gens()}


def stale(spec, folder):
    """Returns one line for each golden file that differs from the description."""
    folder = Path(folder)
    wanted = files(spec)
    out = []
    for name, text in wanted.items():
        path = folder / name
        old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        new = text.splitlines()
        if old != new:
            more, fewer = len(set(new) - set(old)), len(set(old) - set(new))
            out.append(f"{path}: stale, {more} lines to add and {fewer} to remove: run specgen golden --write")
    for path in sorted(folder.glob("*.txt")):
        if path.name not in wanted:
            out.append(f"{path}: no such generation")
    return out
