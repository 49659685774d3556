"""Reads and checks configuration space: its registers and the lists of capabilities."""

import re

from model import CapabilityList

_NAME = re.compile(r"^[a-z][a-z0-9_]*$")
_BYTES = 256
_HEADER_BYTES = 0x40
_FIRST, _NEXT, _ID = "first_capability", "next_capability", "capability_id"


def read(r, items, raw):
    for where, name, table in raw["pci_list"]:
        r.spec.pci_lists[name] = _list(r, where, name, table)
    places = {(device, capability): at for chain in r.spec.pci_lists.values() for device in chain.devices for capability, at in chain.rows}
    for where, name, table in raw["pci_register"]:
        r.spec.pci_registers[name] = _register(r, items, where, name, table, places)
    for chain in r.spec.pci_lists.values():
        _link(r, chain)


def _list(r, where, name, table):
    r.keys(where, table, {"doc", "source", "devices", "rows"}, ("doc", "source", "devices", "rows"))
    chain = CapabilityList(name, where, r.device_names(where, table), [])
    for i, row in enumerate(table.get("rows", [])):
        here = where.at(f"row {i}")
        if not isinstance(row, dict) or not r.keys(here, row, {"capability", "at"}, ("capability", "at")):
            continue
        capability, at = str(row["capability"]), r.typed(here, row, "at", int, 0)
        if not _NAME.match(capability) or capability in dict(chain.rows):
            r.error(here, f"capability {capability!r} must be a new name in snake_case")
        elif at % 4 or not _HEADER_BYTES <= at < _BYTES:
            r.error(here, f"at {at:#x} must be a multiple of 4 in {_HEADER_BYTES:#x}..{_BYTES - 4:#x}")
        else:
            chain.rows.append((capability, at))
    return chain


def _register(r, items, where, name, table, places):
    keys = {"offset", "width", "access", "reset", "count", "capability", "implemented"}
    item, gens = items.start("pci_register", where, name, table, keys, ("offset", "width", "fields"))
    items.body(item, table, gens, register=True)
    item.width = table.get("width", 32)
    if item.width not in (8, 16, 32):
        r.error(where, f"width is 8, 16 or 32, not {item.width!r}")
        item.width = 32
    item.access = table.get("access", "ro")
    for field in item.fields:
        field.access = field.access or item.access
        if field.access not in ("ro", "rw"):
            r.error(where.at(f"field {field.name}"), f"access is ro or rw, not {field.access!r}")
    item.count = r.typed(where, table, "count", int, 1)
    if not 1 <= item.count < _BYTES:
        r.error(where, f"count must be 1..{_BYTES - 1}")
    item.capability = r.typed(where, table, "capability", str, "")
    if item.capability:
        item.devices = [d for d in item.devices if (d, item.capability) in places]
        item.gens = frozenset(r.spec.devices[d].gen for d in item.devices)
        if not item.devices:
            r.error(where, f"no device has the capability {item.capability!r}")
    item.offsets = items.per_device(item, where.at("offset"), table.get("offset", 0), "at")
    r.cover(where.at("offset"), {r.spec.devices[d].gen for d in item.offsets}, item.gens, "offset")
    item.relative = dict(item.offsets)
    item.offsets = {d: at + places.get((d, item.capability), 0) for d, at in item.offsets.items()}
    item.dwords = {gen: 1 for gen in item.gens}
    items.set_resets(item, table.get("reset"))
    _writable(r, item, table.get("implemented", []))
    return item


def _writable(r, item, rows):
    """`implemented` names fields that only some devices have: elsewhere they keep their reset value."""
    absent = {d: set() for d in item.devices}
    for i, row in enumerate(rows if isinstance(rows, list) else [None]):
        here = item.where.at(f"implemented {i}")
        if not isinstance(row, dict) or not r.keys(here, row, {"fields", "devices"}, ("fields", "devices")):
            r.error(here, "needs fields and devices")
            continue
        for name in row["fields"]:
            if not any(f.name == name for f in item.fields):
                r.error(here, f"no field {name!r}")
        for device in set(item.devices) - set(r.device_names(here, row)):
            absent[device] |= set(row["fields"])
    for device in item.devices:
        gen = r.spec.devices[device].gen
        bits = [f for f in item.fields if gen in f.gens and f.access == "rw" and f.name not in absent[device]]
        item.writable[device] = sum(((1 << f.width) - 1) << f.first for f in bits)


def _field(r, item, name, device):
    gen = r.spec.devices[device].gen
    return next((f for f in item.fields if f.name == name and gen in f.gens and (f.first % 8, f.width) == (0, 8)), None)


def _link(r, chain):
    """Computes the links: the start of the list, and the next capability in the first register of each capability."""
    for device in chain.devices:
        here = [i for i in r.spec.pci_registers.values() if device in i.offsets]
        at, follower = 0, _FIRST
        holders = [i for i in here if not i.capability and _field(r, i, _FIRST, device)]
        for capability, place in [*chain.rows, ("", 0)]:
            if len(holders) != 1:
                r.error(chain.where, f"{device} needs one register with the field {follower} of 8 bits" + (f" at the start of {at}" if at else ""))
                return
            link = _field(r, holders[0], follower, device)
            holders[0].resets[device] |= place << link.first
            if not capability:
                break
            at, follower = capability, _NEXT
            holders = [i for i in here if i.capability == capability and i.relative[device] == 0
                       and _field(r, i, _NEXT, device) and _field(r, i, _ID, device)]
            for holder in holders:
                chain.ids[capability] = holder.resets[device] >> _field(r, holder, _ID, device).first & 0xFF


def check(spec, error):
    """Checks that every device has one list, if any device has one, and that registers do not share bytes."""
    for device in spec.devices.values() if spec.pci_lists else []:
        lists = [c.name for c in spec.pci_lists.values() if device.name in c.devices]
        if len(lists) != 1:
            error(device.where, f"needs one pci_list, not {', '.join(lists) or 'none'}")
        owner = {}
        for item in spec.pci_registers.values():
            if device.name not in item.offsets:
                continue
            first = item.offsets[device.name]
            if first % (item.width // 8) or first + item.count * item.width // 8 > _BYTES:
                error(item.where, f"{first:#x} of {device.name} is not aligned or past {_BYTES:#x}")
            others = {owner.setdefault(b, item.name) for b in range(first, first + item.count * item.width // 8)} - {item.name}
            for other in sorted(others):
                error(item.where, f"shares bytes of {device.name} with {other}")
