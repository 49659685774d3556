"""Reads wake tables (power domains and their request registers) and replication tables (steering), and checks them."""

import re

from model import Table

_BITS = re.compile(r"^(\d+)(?::(\d+))?$")
_WAKE_KEYS = {"doc", "source", "devices", "ranges", "ports", "shadow", "writes_wake"}
_REPLICATION_KEYS = {"doc", "source", "devices", "ranges", "slice_ranges", "slices", "multicast", "slice", "subslice",
                     "selector_reset", "groups", "selectors"}


def read(r, raw):
    """Reads both kinds of tables; call it after the range tables are read."""
    for where, name, table in raw["wake_table"]:
        if r.keys(where, table, _WAKE_KEYS, ("doc", "source", "devices", "ranges", "ports")):
            r.spec.wake_tables[name] = _wake(r, _item(r, "wake_table", where, name, table), table)
    for where, name, table in raw["replication_table"]:
        if r.keys(where, table, _REPLICATION_KEYS, ("doc", "source", "devices", "ranges", "slice", "subslice", "groups",
                                                    "selectors")):
            r.spec.replication_tables[name] = _replication(r, _item(r, "replication_table", where, name, table), table)
    for store in (r.spec.wake_tables, r.spec.replication_tables):
        owner = {}
        for item in store.values():
            for device in item.devices:
                if device in owner:
                    r.error(item.where, f"device {device} already has {owner[device]}")
                owner[device] = item.name


def _item(r, kind, where, name, table):
    return Table(kind, name, where, table.get("doc", ""), table.get("source", ""), r.device_names(where, table), [])


def _ranges(r, item, name):
    """Returns the range table of that name if it serves every device of the item."""
    table = r.spec.range_tables.get(name)
    if table is None:
        r.error(item.where, f"unknown range table {name!r}")
        return []
    for device in item.devices:
        if device not in table.devices:
            r.error(item.where, f"range table {name} is not for {device}")
    return table.rows


def _offset(r, where, row, key):
    value = r.typed(where, row, key, int, 0)
    if value % 4:
        r.error(where, f"{key} must be a multiple of 4")
    return value


def _wake(r, item, table):
    item.ranges = table["ranges"]
    item.writes_wake = r.typed(item.where, table, "writes_wake", bool, False)
    seen = set()
    for i, row in enumerate(table["ports"]):
        here = item.where.at(f"port {i}")
        if not r.keys(here, row, {"domain", "request", "ack", "access", "bits"}, ("domain", "request", "ack")):
            continue
        port = {"domain": row["domain"], "request": _offset(r, here, row, "request"), "ack": _offset(r, here, row, "ack"),
                "access": row.get("access", "masked"), "bits": r.typed(here, row, "bits", int, 0xFFFF)}
        if port["access"] not in ("masked", "rw"):
            r.error(here, f"access must be masked or rw, not {port['access']!r}")
        for offset in (port["request"], port["ack"]):
            if offset in seen:
                r.error(here, f"{offset:#x} is given twice")
            seen.add(offset)
        item.rows.append(port)
    item.shadow = []
    for row in table.get("shadow", []):
        if not isinstance(row, list) or len(row) != 2 or row[1] < row[0]:
            r.error(item.where, f"bad shadow range {row!r}")
        elif item.shadow and row[0] <= item.shadow[-1][1]:
            r.error(item.where, f"shadow range {row[0]:#x} is not sorted or overlaps")
        else:
            item.shadow.append(tuple(row))
    domains = {port["domain"] for port in item.rows}
    for row in _ranges(r, item, item.ranges):
        for name in row["domain"].split("|"):
            if name not in domains | {"", "aon"}:
                r.error(item.where, f"{item.ranges} names domain {name!r} at {row['start']:#x}, which no port wakes")
    for device in item.devices:
        for engine in r.spec.devices[device].engines:
            if engine.get("domain", "") not in domains | {""}:
                r.error(item.where, f"engine {engine['name']} of {device} is in domain {engine['domain']!r}, which no port wakes")
    return item


def _bits(r, item, table, key, default=None):
    text = table.get(key, default)
    m = _BITS.match(text) if isinstance(text, str) else None
    if not m or int(m[1]) > 31 or int(m[2] or m[1]) > int(m[1]):
        r.error(item.where, f"{key} must be \"high:low\" or \"bit\" within 31:0, not {text!r}")
        return 0, 0
    return int(m[1]), int(m[2] or m[1])


def _replication(r, item, table):
    item.ranges = table["ranges"]
    item.slice_ranges = table.get("slice_ranges", "")
    item.slices = r.typed(item.where, table, "slices", int, 1)
    item.selector_reset = r.typed(item.where, table, "selector_reset", int, 0)
    item.fields = {key: _bits(r, item, table, key) for key in ("slice", "subslice")}
    item.fields["multicast"] = _bits(r, item, table, "multicast") if "multicast" in table else None
    item.groups = {}
    for i, row in enumerate(table["groups"]):
        here = item.where.at(f"group {row.get('name', i)}")
        if not r.keys(here, row, {"name", "instances", "fuse", "sense", "first_bit", "bits"}, ("name", "instances")):
            continue
        if ("fuse" in row) != ("sense" in row) or row.get("sense", "enable") not in ("enable", "disable"):
            r.error(here, "fuse needs sense, which is enable or disable")
        group = {"name": row["name"], "instances": row["instances"], "fuse": _offset(r, here, row, "fuse"),
                 "sense": row.get("sense", "none"), "first_bit": r.typed(here, row, "first_bit", int, 0),
                 "bits": r.typed(here, row, "bits", int, row["instances"])}
        if not 1 <= row["instances"] <= 32 or group["first_bit"] + group["bits"] > 32 or not group["bits"]:
            r.error(here, "instances and fuse bits must be 1..32")
        if row["name"] in item.groups:
            r.error(here, "given twice")
        item.groups[row["name"]] = group
    for i, row in enumerate(table["selectors"]):
        here = item.where.at(f"selector {row.get('name', i)}")
        if not r.keys(here, row, {"name", "offset", "origin", "endpoints"}, ("name", "offset", "origin")):
            continue
        if row["origin"] not in ("host", "command_streamer"):
            r.error(here, f"unknown origin {row['origin']!r}")
        item.rows.append({"name": row["name"], "offset": _offset(r, here, row, "offset"), "origin": row["origin"],
                          "endpoints": row.get("endpoints", "")})
    for row in _ranges(r, item, item.ranges):
        name = row["replication"]
        if name and name not in item.groups:
            r.error(item.where, f"{item.ranges} names group {name!r} at {row['start']:#x}, which is not described")
        elif name and item.groups[name]["instances"] != row["instances"]:
            r.error(item.where, f"{item.ranges} counts {row['instances']} instances of {name} at {row['start']:#x}")
    if item.slice_ranges:
        _ranges(r, item, item.slice_ranges)
    return item
