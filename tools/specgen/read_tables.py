"""Reads range tables, privilege lists and context images, and checks their rows."""

_COLUMNS = ["start", "end", "domain", "replication", "instances"]
_LRI = 0x22 << 23


def range_table(r, item, table):
    columns = table["columns"]
    for name in columns:
        if name not in _COLUMNS:
            r.error(item.where, f"unknown column {name!r}")
    for name in ("start", "end"):
        if name not in columns:
            r.error(item.where, f"missing column {name!r}")
            return
    item.has_domains = "domain" in columns
    item.null = r.typed(item.where, table, "null", bool, False)
    if item.null and (not item.has_domains or any(row[columns.index("domain")] for row in table["rows"] if len(row) == len(columns))):
        r.error(item.where, "rows of null ranges have the domain \"\"")
    previous = None
    for i, values in enumerate(table["rows"]):
        here = item.where.at(f"row {i}")
        if not isinstance(values, list) or len(values) != len(columns):
            r.error(here, f"needs {len(columns)} values")
            continue
        row = {"domain": "", "replication": "", "instances": 0} | dict(zip(columns, values))
        if any(not isinstance(row[c], int) or row[c] < 0 for c in ("start", "end", "instances")) or row["end"] < row["start"]:
            r.error(here, f"bad range {row['start']!r}..{row['end']!r}")
            continue
        if previous and row["start"] < previous["start"]:
            r.error(here, f"not sorted: {row['start']:#x} after {previous['start']:#x}")
        elif previous and row["start"] <= previous["end"]:
            r.error(here, f"overlap: {row['start']:#x} lies in the row before, which ends at {previous['end']:#x}")
        previous = row
        item.rows.append(row)
    for span in table.get("spans", []):
        _contiguous(r, item, span)


def check_null_ranges(r):
    """Checks that every device has one table of null ranges, if any device has one."""
    tables = [t for t in r.spec.range_tables.values() if t.null]
    for device in r.spec.devices.values() if tables else []:
        names = [t.name for t in tables if device.name in t.devices]
        if len(names) != 1:
            r.error(device.where, f"needs one range table with null = true, not {names or 'none'}")


def _contiguous(r, item, span):
    if not isinstance(span, list) or len(span) != 2:
        r.error(item.where, f"bad span {span!r}")
        return
    at = span[0]
    for row in item.rows:
        if row["end"] < span[0] or row["start"] > span[1]:
            continue
        if row["start"] > at:
            r.error(item.where, f"gap: {at:#x}..{row['start'] - 1:#x} is in no row")
        at = row["end"] + 1
    if at <= span[1]:
        r.error(item.where, f"gap: {at:#x}..{span[1]:#x} is in no row")


def unit_table(r, item, table):
    """Reads units and their MMIO bases; checks that the engines of the table's devices have these bases."""
    seen = {}
    for i, row in enumerate(table["rows"]):
        here = item.where.at(f"row {row.get('name', i) if isinstance(row, dict) else i}")
        if not isinstance(row, dict) or not r.keys(here, row, {"name", "base"}, ("name",)):
            r.error(here, "needs name and base")
            continue
        base = r.typed(here, row, "base", int)
        if base is None or base % 4:
            r.error(here, "base must be a multiple of 4")
            continue
        for key in (row["name"], base):
            if key in seen:
                r.error(here, f"{key if isinstance(key, str) else hex(key)} is given twice")
            seen[key] = True
        item.rows.append({"name": row["name"], "base": base})
    bases = {row["name"]: row["base"] for row in item.rows}
    for name in item.devices:
        for engine in r.spec.devices[name].engines:
            wanted = bases.get(engine["name"].upper())
            if wanted is None:
                r.error(item.where, f"has no row for engine {engine['name']} of {name}")
            elif wanted != engine["base"]:
                r.error(item.where, f"{engine['name']} of {name} is at {engine['base']:#x}, not at {wanted:#x}")


def privilege_list(r, item, table):
    item.access = table["access"]
    if item.access not in ("read", "write"):
        r.error(item.where, f"unknown access {item.access!r}")
    item.instance = table.get("instance", -1)
    item.slots = r.typed(item.where, table, "slots", bool, False)
    for i, row in enumerate(table["rows"]):
        here = item.where.at(f"row {row.get('name', i)}")
        if not r.keys(here, row, {"name", "offset", "base", "dwords"}, ("name",)):
            continue
        if not isinstance(row.get("offset"), int) or row["offset"] < 0 or row["offset"] % 4:
            r.error(here, "offset must be a multiple of 4")
            continue
        if row.get("base", "absolute") not in ("engine", "absolute"):
            r.error(here, f"unknown base {row['base']!r}")
        dwords = r.typed(here, row, "dwords", int, 1)
        if item.slots and dwords not in (1, 4, 16, 64):
            r.error(here, "a slot has 1, 4, 16 or 64 dwords")
        item.rows.append({"name": row["name"], "offset": row["offset"], "base": row.get("base", "absolute"), "dwords": dwords})


def image(r, item, table):
    at = None
    for i, entry in enumerate(table["entries"]):
        here = item.where.at(f"entry {i}")
        r.keys(here, entry, {"at", "noop", "lri", "literal", "registers"}, ())
        kinds = [k for k in ("noop", "lri", "literal") if k in entry]
        if not isinstance(entry.get("at"), int) or len(kinds) != 1:
            r.error(here, "needs at, and one of noop, lri, literal")
            continue
        registers = []
        for row in entry.get("registers", []):
            if r.keys(here, row, {"name", "offset"}, ("name",)) and isinstance(row.get("offset"), int):
                registers.append((row["name"], row["offset"]))
            else:
                r.error(here, "a register needs name and offset")
        header = entry.get("lri", entry.get("literal", 0))
        noops = r.typed(here, entry, "noop", int, 0)
        if "noop" in entry and not noops:
            r.error(here, "noop counts from one")
        if registers and "lri" not in entry:
            r.error(here, "registers need lri")
        item.rows.append({"at": entry["at"], "noops": noops, "lri": header, "registers": registers, "where": here,
                          "is_lri": "lri" in entry})
        size = noops or 1 + 2 * len(registers)
        if at is not None and entry["at"] != at:
            word = "gap" if entry["at"] > at else "overlap"
            r.error(here, f"{word}: starts at {entry['at']:#x}, the entry before ends at {at:#x}")
        at = entry["at"] + size


def check_images(spec, error):
    for item in spec.images.values():
        for row in item.rows:
            if not row["is_lri"]:
                continue
            if row["lri"] >> 23 != _LRI >> 23:
                error(row["where"], f"{row['lri']:#010x} is not an MI_LOAD_REGISTER_IMM header")
                continue
            want = ((row["lri"] & 0xFF) + 1) // 2
            if want != len(row["registers"]) and not spec.excused("lri_count", item.name, [f"{row['at']:#x}"]):
                error(row["where"], f"the LRI header says {want} registers, {len(row['registers'])} are listed")
