"""Reads commands, structures, registers, payloads and message headers."""

import re

from model import ACCESS, EFFECTS, ENGINES, IN_PLACE, THREADS, Item, Length, Privilege
from ranges import SpecError, parse_gens
from read_fields import FieldReader

_START = re.compile(r"^r(\d+)\.([0-7])$")
_REGISTERS = 128
_NAME = re.compile(r"^[A-Za-z0-9_]+$")
_COMMON = {"doc", "source", "gens", "devices", "fields", "reserved"}


class ItemReader:
    def __init__(self, reader):
        self.r = reader
        self.f = FieldReader(reader)

    def start(self, kind, where, name, table, keys, required):
        self.r.keys(where, table, _COMMON | keys, ("doc", "source") + required)
        if not _NAME.match(name):
            self.r.error(where, "a name has letters, digits and underscores")
        gens = self.r.gens(where, table)
        item = Item(kind, name, where, where.file.stem, self.r.typed(where, table, "doc", str, ""),
                    self.r.typed(where, table, "source", str, ""), gens, self.r.item_devices(where, table, gens))
        if not item.devices:
            self.r.error(where, "no device has it")
        # Only generations that a device has get layouts.
        item.gens = frozenset(self.r.spec.devices[d].gen for d in item.devices)
        return item, gens

    def body(self, item, table, gens, register=False):
        item.fields = self.f.fields(item.where, table.get("fields", []), gens, register)
        item.reserved = self.f.reserved(item.where, table.get("reserved", []), gens)
        if not register:
            item.groups = self.f.groups(item.where, table.get("groups", []), gens)

    def command(self, where, name, table):
        item, gens = self.start("command", where, name, table, {"engines", "match", "length", "groups", "privilege", "manual_name"},
                                 ("engines", "match", "length"))
        self.body(item, table, gens)
        self._engines(item, table.get("engines"), gens)
        self._match(item, table.get("match"), gens)
        self._length(item, table.get("length"), gens)
        self._privilege(item, table.get("privilege", []), gens)
        item.manual_name = self.r.typed(where, table, "manual_name", str, name)
        if not _NAME.match(item.manual_name) or (item.manual_name == name and "manual_name" in table):
            self.r.error(where, "manual_name is another name, of letters, digits and underscores")
        return item

    def _privilege(self, item, rows, gens):
        where = item.where.at("privilege")
        if not isinstance(rows, list):
            self.r.error(where, "must be a list of tables")
            return
        for i, row in enumerate(rows):
            here = where.at(f"row {i}")
            if not isinstance(row, dict):
                self.r.error(here, "must be a table")
                continue
            if not self.r.keys(here, row, {"effect", "gens", "when", "register"}, ("effect",)):
                continue
            rule = Privilege(row["effect"], self.r.gens(here, row, gens) & item.gens, self.r.typed(here, row, "when", str, ""),
                             self.r.typed(here, row, "register", str, ""))
            if rule.effect not in EFFECTS:
                self.r.error(here, f"unknown effect {rule.effect!r}")
                continue
            for gen in sorted(rule.gens):
                self._privilege_fields(item, here, rule, gen)
                if any(rule.when == o.when and rule.register == o.register and gen in o.gens for o in item.privilege):
                    self.r.error(here, "given twice", gen)
            item.privilege.append(rule)

    def _privilege_fields(self, item, where, rule, gen):
        own = [f for f in item.fields if gen in f.gens]
        inner = [f for g in item.groups if gen in g.gens for f in g.fields if gen in f.gens]
        if rule.when and not any(f.name == rule.when for f in own):
            self.r.error(where, f"no field {rule.when}", gen)
        if rule.register and not any(f.name == rule.register and f.type in IN_PLACE for f in own + inner):
            self.r.error(where, f"no field {rule.register} that can hold a register", gen)

    def _engines(self, item, value, gens):
        where = item.where.at("engines")
        if value is None:
            return
        if not isinstance(value, dict):
            names = self.r.engine_names(where, value)
            item.engines = {gen: names for gen in item.gens}
            return
        for text, names in value.items():
            names = self.r.engine_names(where, names)
            try:
                chosen = parse_gens(text, self.r.spec.gens)
            except SpecError as e:
                self.r.error(where, str(e))
                continue
            for gen in sorted(chosen & item.gens):
                if gen in item.engines:
                    self.r.error(where, "given twice", gen)
                item.engines[gen] = names
        self.r.cover(where, item.engines, item.gens, "engines")

    def _match(self, item, value, gens):
        if value is None:
            return
        where = item.where.at("match")
        for here, chosen, bits in self.r.variants(where, value, gens, lambda v: {"bits": v}):
            if not self.r.keys(here, bits, {"bits"}, ("bits",)):
                continue
            if not isinstance(bits["bits"], dict):
                self.r.error(here, "must be a table of positions and values")
                continue
            mask = result = 0
            for text, number in bits["bits"].items():
                pos = self.r.position(here, text)
                if pos is None:
                    continue
                if pos.end > 32:
                    self.r.error(here, f"{text} is outside dword 0")
                elif not isinstance(number, int) or number < 0 or number >> pos.width:
                    self.r.error(here, f"{number} does not fit {text}")
                elif mask & (((1 << pos.width) - 1) << pos.first):
                    self.r.error(here, f"overlap: {text} repeats bits")
                else:
                    mask |= ((1 << pos.width) - 1) << pos.first
                    result |= number << pos.first
            for gen in chosen & item.gens:
                item.match[gen] = (mask, result)
        self.r.cover(where, item.match, item.gens, "match")

    def _length(self, item, value, gens):
        if value is None:
            return
        where = item.where.at("length")
        for here, chosen, row in self.r.variants(where, value, gens, lambda v: {"dwords": v} if isinstance(v, int) else v):
            rule = self._rule(here, row) if isinstance(row, dict) else self.r.error(here, "must be a number or a table")
            if rule:
                for gen in chosen & item.gens:
                    item.length[gen] = rule
        self.r.cover(where, item.length, item.gens, "length")

    def _rule(self, where, row):
        if "at" not in row:
            if not self.r.keys(where, row, {"dwords"}, ("dwords",)):
                return None
            dwords = self.r.typed(where, row, "dwords", int)
            if not dwords or dwords > 0xFFFF:
                self.r.error(where, "a length is at least one dword")
                return None
            return Length(fixed=dwords, min=dwords, max=dwords)
        if not self.r.keys(where, row, {"at", "bias", "min", "max"}, ("at", "bias", "min")):
            return None
        pos = self.r.position(where, row["at"])
        bias, low = self.r.typed(where, row, "bias", int, 0), self.r.typed(where, row, "min", int, 1)
        if pos is None:
            return None
        if pos.end > 32 or pos.width > 16:
            self.r.error(where, f"{row['at']} is outside dword 0 or too wide")
            return None
        top = min((1 << pos.width) - 1 + bias, 0xFFFF)
        high = self.r.typed(where, row, "max", int, top)
        if not bias <= low <= high <= top or low < 1:
            self.r.error(where, f"min {low} and max {high} must lie within {max(bias, 1)}..{top}, which the field can say")
        return Length(0, pos.first, pos.width, bias, low, high, "max" not in row)

    def struct(self, where, name, table):
        item, gens = self.start("struct", where, name, table, {"length", "groups"}, ("length",))
        self.body(item, table, gens)
        self._dwords(item, table, gens)
        return item

    def payload(self, where, name, table):
        item, gens = self.start("payload", where, name, table, {"threads", "at", "length", "groups"}, ("threads", "at", "length"))
        self.body(item, table, gens)
        self._dwords(item, table, gens)
        item.threads = self._words(where.at("threads"), table.get("threads"), THREADS)
        match = _START.match(str(table.get("at", "")))
        if match:
            item.start = int(match[1]) * 8 + int(match[2])
        if not match or item.start + max(item.dwords.values(), default=1) > _REGISTERS * 8:
            self.r.error(where, f"at = {table.get('at')!r} must be a register and a dword, such as \"r1.0\"")
        return item

    def message_header(self, where, name, table):
        item, gens = self.start("message_header", where, name, table, {"functions", "types", "length", "groups"},
                                 ("functions", "length"))
        self.body(item, table, gens)
        self._dwords(item, table, gens)
        # The names are compared with spec/eu by checks.py.
        item.functions = self._words(where.at("functions"), table.get("functions"))
        item.types = self._words(where.at("types"), table["types"]) if "types" in table else []
        return item

    def _words(self, where, names, known=None):
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.r.error(where, "must be a list of names, not empty")
            return []
        for name in names:
            if known is not None and name not in known:
                self.r.error(where, f"unknown name {name!r}")
        if len(set(names)) != len(names):
            self.r.error(where, "a name is listed twice")
        return names

    def _dwords(self, item, table, gens):
        where = item.where
        here = where.at("length")
        for place, chosen, row in self.r.variants(here, table.get("length", 1), gens, lambda v: {"dwords": v}):
            self.r.keys(place, row, {"dwords"}, ("dwords",))
            dwords = self.r.typed(place, row, "dwords", int, 1)
            if not dwords or dwords > 2047:
                self.r.error(place, "a size is 1..2047 dwords")
                continue
            for gen in chosen & item.gens:
                item.dwords[gen] = dwords
        self.r.cover(here, item.dwords, item.gens, "length")

    def register(self, where, name, table):
        keys = {"base", "engines", "offset", "width", "access", "reset", "count", "stride", "storage", "effects"}
        item, gens = self.start("register", where, name, table, keys, ("offset", "fields"))
        self.body(item, table, gens, register=True)
        item.base = table.get("base", "absolute")
        if item.base not in ("engine", "absolute"):
            self.r.error(where, f"unknown base {item.base!r}")
        if item.base == "engine":
            item.classes = self.r.engine_names(where, table["engines"]) if "engines" in table else list(ENGINES)
        elif "engines" in table:
            self.r.error(where, "engines need base = \"engine\"")
        item.width = table.get("width", 32)
        if item.width not in (32, 64):
            self.r.error(where, f"width is 32 or 64, not {item.width!r}")
            item.width = 32
        item.access = table.get("access", "rw")
        if item.access not in ACCESS:
            self.r.error(where, f"unknown access {item.access!r}")
            item.access = "rw"
        for field in item.fields:
            if item.access == "masked" and (field.access or field.end > 16):
                self.r.error(where.at(f"field {field.name}"), "a masked register has fields in 0[15:0], without own access")
            field.access = field.access or item.access
        if item.access == "masked" and item.width != 32:
            self.r.error(where, "a masked register has 32 bits")
        item.count = self.r.typed(where, table, "count", int, 1)
        item.stride = self.r.typed(where, table, "stride", int, 0)
        if item.count == 0 or item.count > 0xFFFF:
            self.r.error(where, "count must be 1..65535")
        if (item.count > 1) != ("stride" in table):
            self.r.error(where, "count and stride go together")
        if item.count > 1 and (item.stride % 4 or item.stride * 8 < item.width):
            self.r.error(where, f"stride {item.stride} is not a multiple of 4 or smaller than the register")
        item.storage = self.storage_rows(item, table.get("storage", False))
        item.effects = self.r.typed(where, table, "effects", str, "")
        self._offsets(item, table.get("offset"))
        self.set_resets(item, table.get("reset"))
        return item

    def storage_rows(self, item, value):
        """Returns where no unit acts on the register: rows of devices, engine classes and indices. Empty lists: all."""
        where = item.where.at("storage")
        if isinstance(value, bool):
            return [(list(item.devices), [], [])] if value else []
        rows, whole = [], []
        for row in value if isinstance(value, list) else [value]:
            if not isinstance(row, dict) or not row or not self.r.keys(where, row, {"gens", "devices", "engines", "indices"}):
                self.r.error(where, f"must be true, false, or rows with gens, devices, engines, indices, not {value!r}")
                continue
            gens = self.r.gens(where, row)
            chosen = [d for d in self.r.device_names(where, row) if self.r.spec.devices[d].gen in gens and d in item.devices]
            engines = self.r.engine_names(where, row["engines"]) if "engines" in row else []
            indices = self.r.typed(where, row, "indices", list, [])
            if not chosen:
                self.r.error(where, "no device of the register takes this row")
            if any(e not in item.classes for e in engines):
                self.r.error(where, "the register belongs to none of these engines, or not to all of them")
            if not all(isinstance(n, int) and 0 <= n < min(item.count, 32) for n in indices):
                self.r.error(where, f"indices are numbers below {min(item.count, 32)}")
                indices = []
            if not engines and not indices:
                whole += chosen
            rows.append((chosen, engines, indices))
        if len(set(whole)) != len(whole):
            self.r.error(where, "a device is named twice")
        if rows and set(whole) == set(item.devices):
            self.r.error(where, "the rows name every device of the register: say true")
        return rows

    def per_device(self, item, where, value, key):
        """Reads a number, or rows with gens and/or devices; a row with devices takes precedence over a row without."""
        if isinstance(value, int) and not isinstance(value, bool):
            return {d: value for d in item.devices}
        plain, named = {}, {}
        if not isinstance(value, list):
            self.r.error(where, f"must be a number or a list of rows, not {value!r}")
            return {}
        for i, row in enumerate(value):
            here = where.at(f"row {i}")
            if not isinstance(row, dict) or not self.r.keys(here, row, {"gens", "devices", key}, (key,)):
                continue
            number = self.r.typed(here, row, key, int, 0)
            gens = self.r.gens(here, row, None)
            target = named if "devices" in row else plain
            chosen = [d for d in self.r.device_names(here, row) if self.r.spec.devices[d].gen in gens and d in item.devices]
            if not chosen and gens & set(self.r.spec.device_gens()):
                self.r.error(here, "no device of the register takes this row")
            for device in chosen:
                if device in target:
                    self.r.error(here, f"given twice for {device}")
                target[device] = number
        return plain | named

    def _offsets(self, item, value):
        if value is None:
            return
        where = item.where.at("offset")
        item.offsets = self.per_device(item, where, value, "at")
        for device in item.devices:
            if device not in item.offsets:
                self.r.error(where, f"no offset for {device}")
            elif item.offsets[device] % 4:
                self.r.error(where, f"offset {item.offsets[device]:#x} is not a multiple of 4")

    def set_resets(self, item, value):
        where = item.where.at("reset")
        whole = self.per_device(item, where, value, "value") if value is not None else {}
        for device, number in whole.items():
            if number >> item.width:
                self.r.error(where, f"reset {number:#x} does not fit {item.width} bits")
        for device in item.devices:
            gen = self.r.spec.devices[device].gen
            fields = [f for f in item.fields if gen in f.gens and f.reset is not None]
            number = whole.get(device, 0)
            for f in fields:
                mine = (number >> f.first) & ((1 << f.width) - 1)
                if device in whole and mine != f.reset:
                    self.r.error(item.where.at(f"field {f.name}"), f"reset {f.reset:#x} differs from the register's {mine:#x}", gen)
                number |= f.reset << f.first
            item.resets[device] = number & ((1 << item.width) - 1)
