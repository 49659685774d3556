"""Compact forms of spec/eu: copies and index tables, each bit of the 64 once, each native bit at most once."""

from dataclasses import dataclass, field

from read_eu import mask_of, pieces, runs, width_of

RULES = ("none", "signed13", "by_type")
_COMPACT = 1 << 29  # the bit that marks a compact form


@dataclass
class Compact:
    name: str
    gens: frozenset
    kind: str
    copies: list = field(default_factory=list)  # (compact, native, second)
    tables: list = field(default_factory=list)  # (compact, native, second, rows)
    immediate: list = field(default_factory=list)
    rule: str = "none"


def read(r, raw):
    forms = r.spec.eu.compacts = []
    for where, name, table in raw["eu_compact"]:
        keys = {"doc", "source", "gens", "kind", "copy", "table", "immediate", "reserved"}
        if not r.keys(where, table, keys, ("doc", "source", "gens", "kind", "copy")):
            continue
        form = Compact(name, r.gens(where, table), table["kind"])
        if form.kind not in ("basic", "ternary"):
            r.error(where, f"unknown kind {form.kind!r}")
        for other in forms:
            for gen in sorted(form.gens & other.gens if form.kind == other.kind else ()):
                r.error(where, f"{other.name} is for the same", gen)
        for row in table["copy"]:
            here = where.at(f"copy {row.get('at', '?')}")
            places = _places(r, here, row, {"at", "native", "second"})
            if places:
                form.copies.append((*places, bool(row.get("second", False))))
                if width_of(places[0]) != width_of(places[1]):
                    r.error(here, "both sides must have the same width")
        for row in table.get("table", []):
            here = where.at(f"table {row.get('at', '?')}")
            places = _places(r, here, row, {"at", "native", "second", "rows"})
            if not places:
                continue
            rows = row.get("rows", [])
            if len(rows) != 1 << width_of(places[0]):
                r.error(here, f"needs {1 << width_of(places[0])} rows, has {len(rows)}")
            if any(not isinstance(v, int) or v < 0 or v >> width_of(places[1]) for v in rows):
                r.error(here, f"a row does not fit {width_of(places[1])} bits")
            form.tables.append((*places, bool(row.get("second", False)), rows))
        if "immediate" in table:
            here = where.at("immediate")
            form.immediate = pieces(table["immediate"].get("at"))
            form.rule = table["immediate"].get("rule")
            if form.rule not in RULES or not form.immediate:
                r.error(here, "needs at and a rule: signed13 or by_type")
        _check(r, where, form, table.get("reserved", []))
        forms.append(form)


def _places(r, here, row, allowed):
    if not r.keys(here, row, allowed, ("at", "native")):
        return None
    compact, native = pieces(row["at"]), pieces(row["native"])
    if not compact or not native or mask_of(compact) >> 64:
        r.error(here, "bad position")
        return None
    return compact, native


def _check(r, where, form, reserved):
    taken, native, second = _COMPACT, 0, 0
    for text in reserved:
        place = pieces(text)
        if not place or mask_of(place) & taken:
            r.error(where, f"bad or double reserved bits {text!r}")
        else:
            taken |= mask_of(place)
    for row in (*form.copies, *form.tables):
        mine = mask_of(row[0])
        if mine & taken:
            r.error(where, f"overlap: compact bits {runs(mine & taken)}")
        taken |= mine
        second |= mine if row[2] else 0
        target = mask_of(row[1])
        if target & native:
            r.error(where, f"overlap: native bits {runs(target & native)}")
        native |= target
    if form.immediate and mask_of(form.immediate) & ~second:
        r.error(where, "the immediate must lie in bits of the second source")
    missing = ~taken & ((1 << 64) - 1)
    if missing:
        r.error(where, f"compact bits {runs(missing)} are in no copy and no table")
