"""Flattens each item for each generation and accounts for every bit of it."""

from dataclasses import replace

from model import Layout
from ranges import format_position, format_runs


class LayoutChecker:
    def __init__(self, spec, diag):
        self.spec = spec
        self.diag = diag
        self.gen = None

    def error(self, where, message):
        self.diag.error(where, message, self.spec.gens[self.gen])

    def run(self):
        for item in self.spec.items():
            for gen in sorted(item.gens):
                self.gen = gen
                item.layouts[gen] = self._flatten(item)
        for item in self.spec.items():
            for gen in item.layout_gens():
                self.gen = gen
                self._check_item(item, item.layouts[gen])

    def _flatten(self, item):
        def parts(fields, reserved):
            here = [f for f in fields if self.gen in f.gens]
            bits = [(r.first, r.width, "ignored" if r.ignored else "reserved") for r in reserved if self.gen in r.gens]
            bits += [(f.first, f.width, "mbo") for f in here if f.type == "mbo"]
            return sorted((f for f in here if f.type != "mbo"), key=lambda f: (f.first, f.name)), sorted(bits)

        fields, reserved = parts(item.fields, item.reserved)
        groups = []
        for g in sorted(item.groups, key=lambda g: g.first):
            if self.gen in g.gens:
                inner, bits = parts(g.fields, g.reserved)
                groups.append(replace(g, fields=inner, reserved=bits, unread=[]))
        return Layout(fields, groups, reserved)

    def extent(self, item):
        """(bits that must be accounted for, whether the item may extend beyond them)"""
        if item.kind in ("register", "pci_register"):
            return item.width, False
        if item.kind in ("struct", "payload", "message_header"):
            return item.dwords.get(self.gen, 1) * 32, False
        rule = item.length.get(self.gen)
        return (rule.max * 32, rule.open) if rule else (0, False)

    def _check_item(self, item, layout):
        extent, is_open = self.extent(item)
        if not extent:
            return
        rest = [g for g in layout.groups if g.count == 0]
        if is_open and not rest:
            self.error(item.where.at("length"), "without max a command needs a group with count \"rest\"")
            return
        if rest and item.kind != "command":
            self.error(item.where.at(f"group {rest[0].name}"), "count \"rest\" is for commands")
            return
        covered = extent
        if rest:
            if rest[0].first >= extent:
                self.error(item.where.at(f"group {rest[0].name}"), f"starts past the end, at {format_position(rest[0].first, 1)}")
            covered = min(extent, rest[0].first)
        occupied = {}  # bit -> name
        self._claim_header(item, occupied)
        for g in layout.groups:
            self._group(item, g, extent, rest, occupied)
        self._claim_rows(item, item.where, layout.fields, layout.reserved, occupied, extent)
        if rest:
            after = [b for b in occupied if b >= rest[0].first and occupied[b] != rest[0].name]
            if after:
                self.error(item.where.at(f"group {rest[0].name}"), f"not last: {occupied[min(after)]} comes after it")
        self._missing(item.where, occupied, covered)

    def _claim_header(self, item, occupied):
        if item.kind == "command":
            mask = item.match.get(self.gen, (0, 0))[0]
            for bit in range(32):
                if mask >> bit & 1:
                    occupied[bit] = "match"
            rule = item.length.get(self.gen)
            if rule and rule.width:
                self._claim(item, item.where.at("length"), "length", rule.first, rule.width, occupied, 32)
        if item.kind == "register" and item.access == "masked":
            self._claim(item, item.where, "mask", 16, 16, occupied, 32)

    def _group(self, item, g, extent, rest, occupied):
        where = item.where.at(f"group {g.name}")
        if g.count:
            self._claim(item, where, g.name, g.first, g.bits * g.count, occupied, extent)
        inner = {}
        self._claim_rows(item, where, g.fields, g.reserved, inner, g.bits)
        self._missing(where, inner, g.bits)

    def _claim_rows(self, item, where, fields, reserved, occupied, extent):
        for f in fields:
            here = where.at(f"field {f.name}")
            self._claim(item, here, f.name, f.first, f.width, occupied, extent)
            self._references(item, here, f)
        for first, width, kind in reserved:
            self._claim(item, where, f"{kind} {format_position(first, width)}", first, width, occupied, extent)

    def _claim(self, item, where, name, first, width, occupied, extent):
        if first + width > extent:
            self.error(where, f"{name} at {format_position(first, width)} is past the length of {extent} bits")
            width = max(0, extent - first)
        clashes = sorted({occupied[b] for b in range(first, first + width) if b in occupied and occupied[b] != name})
        for other in clashes:
            if not self.spec.excused("overlap", item.name, [name, other], self.gen):
                self.error(where, f"overlap: {name} at {format_position(first, width)} shares bits with {other}")
        for b in range(first, first + width):
            occupied.setdefault(b, name)

    def _missing(self, where, occupied, extent):
        missing = set(range(extent)) - occupied.keys()
        if missing:
            self.error(where, f"bits {format_runs(missing)} are neither field nor reserved")

    def _references(self, item, where, f):
        if f.type == "enum":
            enum = self.spec.enums.get(f.target)
            if enum is None:
                self.error(where, f"unknown enum {f.target!r}")
                return
            for name, value, gens in enum.values:
                if self.gen in gens and value >> f.width:
                    self.error(where, f"value {name} = {value} of {f.target} does not fit {f.width} bits")
        elif f.type == "struct":
            struct = self.spec.structs.get(f.target)
            if struct is None:
                self.error(where, f"unknown struct {f.target!r}")
                return
            if self.gen not in struct.dwords:
                self.error(where, f"struct {f.target} does not exist on this generation")
                return
            if f.first % 32:
                self.error(where, "a nested structure starts at a dword")
            size = struct.dwords[self.gen] * 32
            if size != f.width:
                self.error(where, f"struct {f.target} has {size} bits, the position has {f.width}")
