"""Checks that concern more than one item."""

import engine_ids
import marks
import read_pci
import read_tables
from cppnames import member_class
from generate import include_cycle
from layout import LayoutChecker


def run_checks(spec, diag):
    LayoutChecker(spec, diag).run()
    engine_ids.resolve(spec, diag.error)
    marks.apply(spec, diag)
    checker = Checker(spec, diag)
    checker.command_matches()
    checker.registers()
    checker.names()
    checker.nesting()
    checker.members()
    checker.includes()
    checker.updates()
    checker.payloads()
    checker.message_headers()
    read_tables.check_images(spec, diag.error)
    read_pci.check(spec, diag.error)
    checker.stale_exceptions()


class Checker:
    def __init__(self, spec, diag):
        self.spec = spec
        self.diag = diag

    def error(self, where, message, gen=None):
        self.diag.error(where, message, None if gen is None else self.spec.gens[gen])

    def command_matches(self):
        for gen in self.spec.device_gens():
            here = [c for c in self.spec.commands.values() if gen in c.match and gen in c.engines]
            for i, a in enumerate(here):
                mask, value = a.match[gen]
                for b in here[:i]:
                    other_mask, other_value = b.match[gen]
                    if (value ^ other_value) & mask & other_mask:
                        continue
                    engines = [e for e in a.engines[gen] if e in b.engines[gen]]
                    devices = [d for d in a.devices if d in b.devices and self.spec.devices[d].gen == gen]
                    if not engines or not devices:
                        continue
                    # Both calls are needed: each marks its exception as used.
                    if self.spec.excused("command_match", a.name, [b.name], gen) or \
                            self.spec.excused("command_match", b.name, [a.name], gen):
                        continue
                    self.error(a.where, f"a header can match {b.name} too, on {', '.join(engines)} of {', '.join(devices)}", gen)

    def registers(self):
        for device in self.spec.devices.values():
            owner = {}
            limit = device.data.get("mmio_bytes")
            gaps = [(row, t) for t in self.spec.range_tables.values() if t.has_domains and device.name in t.devices
                    for row in t.rows if row["domain"] == ""]
            for r in self.spec.registers.values():
                if device.name in r.offsets:
                    self._place(device, r, owner, limit)
                    self._endpoint(device, r, gaps)

    @staticmethod
    def _bases(device, r):
        return sorted({e["base"] for e in device.engines if e["class"] in r.classes}) if r.base == "engine" else [0]

    def _endpoint(self, device, r, gaps):
        """Rejects registers in ranges that have no endpoint according to a range table of the device."""
        size = (r.count - 1) * r.stride + r.width // 8
        for base in self._bases(device, r):
            first = base + r.offsets[device.name]
            for row, table in gaps:
                if first <= row["end"] and first + size > row["start"]:
                    if not self.spec.excused("no_endpoint", r.name, [table.name], device.gen):
                        self.error(r.where, f"{first:#x} of {device.name} lies in {row['start']:#x}..{row['end']:#x}, "
                                            f"where {table.name} has no endpoint", device.gen)
                    return

    def _place(self, device, r, owner, limit):
        for base in self._bases(device, r):
            for n in range(r.count):
                for part in range(0, r.width // 8, 4):
                    at = base + r.offsets[device.name] + n * r.stride + part
                    if limit and at >= limit:
                        self.error(r.where, f"{at:#x} lies past the {limit:#x} bytes of registers of {device.name}", device.gen)
                        return
                    other = owner.get(at)
                    if other is None:
                        owner[at] = r
                        continue
                    if not (self.spec.excused("register_overlap", r.name, [other.name], device.gen)
                            or self.spec.excused("register_overlap", other.name, [r.name], device.gen)):
                        self.error(r.where, f"shares {at:#x} of {device.name} with {other.name}", device.gen)
                        return

    def names(self):
        """Checks C++ names in one namespace: fields and groups of an item, value names of a field on all generations."""
        for item in self.spec.items():
            fields = {f.name for f in item.fields}
            for g in item.groups:
                if g.name in fields:
                    self.error(item.where.at(f"group {g.name}"), "a field has the same name")
            self._values(item.where, item.fields)
            for name in {g.name for g in item.groups}:
                self._values(item.where.at(f"group {name}"), [f for g in item.groups if g.name == name for f in g.fields])

    def _values(self, where, fields):
        seen = {}
        for f in fields:
            for name, value in (f.values or {}).items():
                if seen.setdefault((f.name, name), value) != value:
                    self.error(where.at(f"field {f.name}"), f"value {name} is {seen[f.name, name]} in one row and {value} in another")

    def members(self):
        """Checks that all rows of a name agree on the type of their common member."""
        for item in self.spec.items():
            lists = [(item.where, item.fields)]
            for name in dict.fromkeys(g.name for g in item.groups):
                lists.append((item.where.at(f"group {name}"), [f for g in item.groups if g.name == name for f in g.fields]))
            for where, fields in lists:
                for name in dict.fromkeys(f.name for f in fields):
                    rows = [f for f in fields if f.name == name and f.type != "mbo"]
                    if rows and member_class(rows) is None:
                        kinds = ", ".join(sorted({f.type + (":" + f.target if f.target else "") for f in rows}))
                        self.error(where.at(f"field {name}"), f"rows of one name need one type, not {kinds}")

    def nesting(self):
        def inner(s):
            fields = list(s.fields) + [f for g in s.groups for f in g.fields]
            return [self.spec.structs[f.target] for f in fields if f.type == "struct" and f.target in self.spec.structs]

        def visit(s, path):
            if s.name in path:
                self.error(s.where, f"contains itself: {' > '.join(path + [s.name])}")
                return
            for t in inner(s):
                visit(t, path + [s.name])

        for s in self.spec.structs.values():
            visit(s, [])
        for r in self.spec.registers.values():
            for f in r.fields:
                if f.type == "struct":
                    self.error(r.where.at(f"field {f.name}"), "registers have no nested structures")
            self._reset_bits(r)
        for r in self.spec.pci_registers.values():
            for f in r.fields:
                if f.type in ("struct", "ufixed", "sfixed", "float"):
                    self.error(r.where.at(f"field {f.name}"), f"registers of configuration space have no fields of type {f.type}")
            self._reset_bits(r)
        for p in (*self.spec.payloads.values(), *self.spec.message_headers.values()):
            for f in p.fields + [f for g in p.groups for f in g.fields]:
                if f.type in ("struct", "ufixed", "sfixed"):
                    self.error(p.where.at(f"field {f.name}"), f"payloads have no fields of type {f.type}")
                if f.first // 32 != (f.end - 1) // 32:
                    self.error(p.where.at(f"field {f.name}"), "a field of a payload lies within one dword")
            for g in p.groups:
                if g.bits % 32 and 32 % g.bits:
                    self.error(p.where.at(f"group {g.name}"), "elements of a payload's group do not cross dwords")

    def _reset_bits(self, r):
        for device, value in r.resets.items():
            gen = self.spec.devices[device].gen
            held = 0
            for f in (r.layouts[gen].fields if gen in r.layouts else []):
                held |= ((1 << f.width) - 1) << f.first
            for first, width, kind in (r.layouts[gen].reserved if gen in r.layouts else []):
                if kind == "mbo":
                    held |= ((1 << width) - 1) << first
            if value & ~held:
                self.error(r.where.at("reset"), f"sets bits {value & ~held:#x} that are in no field", gen)

    def updates(self):
        """Checks that an update bit names fields of its command, and each field has one update bit on a generation."""
        for item in self.spec.items():
            rows = [f for f in item.fields if f.update]
            if rows and item.kind != "command":
                self.error(item.where, "update is for fields of commands")
            for gen in sorted(item.gens):
                owner = {}
                names = {f.name for f in item.fields if gen in f.gens}
                for bit in (f for f in rows if gen in f.gens):
                    for name in bit.update[1]:
                        if name not in names:
                            self.error(item.where.at(f"field {bit.name}"), f"no field {name} to update", gen)
                        if owner.setdefault(name, bit.name) != bit.name:
                            self.error(item.where.at(f"field {bit.name}"), f"{owner[name]} updates {name} too", gen)

    def payloads(self):
        """Rejects payloads of one kind of thread that share a dword of its registers."""
        for gen in self.spec.device_gens():
            owner = {}
            for p in self.spec.payloads.values():
                for thread in p.threads if gen in p.dwords else []:
                    for dword in range(p.start, p.start + p.dwords[gen]):
                        other = owner.setdefault((thread, dword), p)
                        if other is not p:
                            self.error(p.where, f"shares r{dword // 8}.{dword % 8} of {thread} threads with {other.name}", gen)
                            break

    def message_headers(self):
        eu = self.spec.eu
        for h in self.spec.message_headers.values():
            for function in h.functions:
                if function not in eu.functions:
                    self.error(h.where.at("functions"), f"unknown function {function!r}")
            words = {w for m in eu.messages if m.function in h.functions for n, _, values in m.fields if n == "type" for w in values}
            words |= {w for m in eu.messages if m.function in h.functions for n, w in m.fixed if n == "type"}
            for word in h.types:
                if word not in words:
                    self.error(h.where.at("types"), f"no message of these functions has the type {word!r}")
            for gen in sorted(h.gens):
                if not any(gen in eu.functions.get(f, {}) for f in h.functions):
                    self.error(h.where.at("functions"), "none of these functions exists", gen)

    def includes(self):
        if not self.diag:
            cycle = include_cycle(self.spec)
            if cycle:
                self.error(next(i.where for i in self.spec.items() if i.topic == cycle[0]),
                           f"topics contain each other's structures: {' > '.join(cycle)}")

    def stale_exceptions(self):
        for e in self.spec.exceptions:
            if not e.used:
                self.diag.error(e.where, f"exception for {e.check} is no longer needed")
