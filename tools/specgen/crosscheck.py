"""Compares the description with genxml: items and fields that both have must have the same bits.

Every disagreement must be listed in spec/genxml_differences.toml with its reason; a row that is not needed is an error.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import genxml
from diag import Where
from genxml import normal
from ranges import format_position, parse_gens, SpecError

FILE = "genxml_differences.toml"


@dataclass
class Summary:
    items: int = 0
    fields: int = 0        # compared by name
    same_bits: int = 0     # another name in genxml, the same bits
    unmatched: int = 0     # a field that only genxml has
    missing: int = 0       # an item that only genxml has
    disagreements: int = 0


class Listed:
    """spec/genxml_differences.toml."""

    def __init__(self, spec, diag):
        self.rows, path = [], Path(spec.root) / FILE
        if not path.exists():
            return
        with open(path, "rb") as f:
            data = tomllib.load(f)
        for key in data:
            if key != "difference":
                diag.error(Where(path), f"unknown key {key!r}")
        for i, row in enumerate(data.get("difference", [])):
            where = Where(path, f"difference {row.get('item', i)}", str(row.get("field", "")))
            for key in row:
                if key not in ("item", "field", "gens", "reason"):
                    diag.error(where, f"unknown key {key!r}")
            if any(not row.get(key) for key in ("item", "field", "reason")):
                diag.error(where, "needs item, field and reason")
                continue
            try:
                gens = parse_gens(row["gens"], spec.gens) if "gens" in row else frozenset(range(len(spec.gens)))
            except SpecError as e:
                diag.error(where, str(e))
                continue
            self.rows.append({"where": where, "item": row["item"], "field": row["field"], "gens": gens, "used": set()})

    def has(self, item, field, gen):
        hit = False
        for row in self.rows:
            if row["item"] == item and row["field"] == field and gen in row["gens"]:
                row["used"].add(gen)
                hit = True
        return hit

    def stale(self, diag):
        for row in self.rows:
            if not row["used"]:
                diag.error(row["where"], "no longer a difference")


class CrossCheck:
    def __init__(self, spec, diag):
        self.spec, self.diag = spec, diag
        self.listed = Listed(spec, diag)
        self.summary = Summary()
        self.details = []
        self.missing = {}

    def run(self, folder):
        for path in sorted(Path(folder).glob("*.xml")):
            gen = genxml.generation_of(path, self.spec.gens)
            if gen in self.spec.device_gens():
                self._generation(gen, genxml.read(path))
        self.listed.stale(self.diag)
        self.summary.missing = len(self.missing)

    def _generation(self, gen, theirs):
        ours = {(i.kind, normal(i.name)): i for i in self.spec.items() if gen in i.layouts}
        for key, other in theirs.items():
            if key in ours:
                self.summary.items += 1
                self._item(gen, ours[key], other)
            else:
                self.missing.setdefault((other.kind, other.name), []).append(self.spec.gens[gen])

    def _disagree(self, gen, item, field, text):
        self.summary.disagreements += 1
        if not self.listed.has(item.name, field, gen):
            self.diag.error(item.where.at(f"field {field}"), f"genxml disagrees: {text}", self.spec.gens[gen])

    def _item(self, gen, item, other):
        mine = {}
        layout = item.layouts[gen]
        for f in layout.fields:
            mine.setdefault(normal(f.name), []).append((f.first, f.width, f.name))
        for g in layout.groups:
            for f in g.fields:
                mine.setdefault(normal(f.name), []).append((g.first + f.first, f.width, f.name))
        bits = {(first, width) for rows in mine.values() for first, width, _ in rows}
        theirs = {}
        for name, first, width, kind, default in other.fields:
            theirs.setdefault(normal(name), []).append((name, first, width, kind, default))
        header = self._header(gen, item, other) if item.kind == "command" else set()
        for key, rows in theirs.items():
            if key in header:
                continue
            if key in mine:
                self.summary.fields += 1
                self._field(gen, item, mine[key], rows)
            elif any((first, width) in bits for _, first, width, _, _ in rows):
                self.summary.same_bits += 1
            else:
                self.summary.unmatched += 1
                self.details.append(f"{self.spec.gens[gen]} {item.name}: genxml field {rows[0][0]} at "
                                    f"{format_position(rows[0][1], rows[0][2])} has no counterpart")
        self._size(gen, item, other)

    def _field(self, gen, item, mine, theirs):
        for first, width, name in mine:
            for _, other_first, other_width, kind, _ in theirs:
                if (first, width) == (other_first, other_width):
                    return
                # In genxml addresses take whole qwords or dwords: our field must lie inside.
                if kind in ("address", "offset") and other_first <= first and first + width <= other_first + other_width:
                    return
        ours = format_position(mine[0][0], mine[0][1])
        text = ", ".join(format_position(f, w) for _, f, w, _, _ in theirs)
        self._disagree(gen, item, mine[0][2], f"{ours} here, {text} there")

    def _header(self, gen, item, other):
        """Compares match and length bits; returns their genxml names."""
        mask, value = item.match[gen]
        names = set()
        for name, first, width, _, default in other.fields:
            if first + width > 32:
                continue
            own = ((1 << width) - 1) << first
            if normal(name) == "dwordlength":
                names.add(normal(name))
                rule = item.length[gen]
                if rule.width and (rule.first, rule.width) != (first, width):
                    self._disagree(gen, item, "length", f"{format_position(rule.first, rule.width)} here, "
                                                        f"{format_position(first, width)} there")
            elif default is not None and mask & own:
                names.add(normal(name))
                if ((default << first) ^ value) & mask & own:
                    self._disagree(gen, item, "match", f"{name} is {(value & own) >> first:#x} here, {default:#x} there")
        return names

    def _size(self, gen, item, other):
        if item.kind == "struct" and other.dwords and other.dwords != item.dwords[gen]:
            self._disagree(gen, item, "length", f"{item.dwords[gen]} dwords here, {other.dwords} there")
        if item.kind == "command" and other.dwords:
            rule = item.length[gen]
            if not rule.min <= other.dwords <= rule.max:
                self._disagree(gen, item, "length", f"{rule.min}..{rule.max} dwords here, {other.dwords} there")
            if rule.width and other.bias and rule.bias != other.bias:
                self._disagree(gen, item, "length", f"bias {rule.bias} here, {other.bias} there")
        if item.kind == "register" and other.offset is not None:
            devices = [d for d in item.devices if self.spec.devices[d].gen == gen]
            places = set()
            for d in devices:
                bases = [e["base"] for e in self.spec.devices[d].engines if e["class"] in item.classes] if item.base == "engine" else [0]
                places |= {base + item.offsets[d] for base in bases}
            if other.offset not in places:
                here = ", ".join(f"{p:#x}" for p in sorted(places))
                self._disagree(gen, item, "offset", f"{here} here, {other.offset:#x} there")
