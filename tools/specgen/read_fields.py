"""Reads field, reserved and group rows, the parts that commands, structures and registers share."""

import re

from model import ACCESS, Field, Group, IN_PLACE, Reserved, UPDATES

_NAME = re.compile(r"^[a-z][a-z0-9_]*$")
_VALUE_NAME = re.compile(r"^[A-Za-z0-9_]+$")
_FIXED = re.compile(r"^(\d+)\.(\d+)$")
_PLAIN = {"uint", "int", "bool", "float", "mbo"} | IN_PLACE
_FIELD_KEYS = {"name", "at", "type", "gens", "values", "doc", "update"}


class FieldReader:
    def __init__(self, reader):
        self.r = reader

    def fields(self, where, rows, gens, register=False):
        out = []
        if not isinstance(rows, list):
            self.r.error(where, "fields must be a list")
            return out
        for i, row in enumerate(rows):
            field = self._field(where, i, row, gens, register)
            if field:
                out.append(field)
        self._unique(where, out)
        return out

    def _unique(self, where, rows):
        seen = {}
        for row in rows:
            for gen in sorted(row.gens & seen.get(row.name, frozenset())):
                self.r.error(where.at(f"field {row.name}"), "duplicate field", gen)
            seen[row.name] = seen.get(row.name, frozenset()) | row.gens

    def _field(self, where, index, row, gens, register):
        if not isinstance(row, dict):
            self.r.error(where.at(f"field {index}"), "must be a table")
            return None
        here = where.at(f"field {row.get('name', index)}")
        allowed = _FIELD_KEYS | ({"access", "reset"} if register else set())
        if not self.r.keys(here, row, allowed, ("name", "at")):
            return None
        name = str(row["name"])
        if not _NAME.match(name):
            self.r.error(here, "a field name is snake_case and starts with a letter")
        pos = self.r.position(here, row["at"])
        if pos is None:
            return None
        field = Field(name, pos.first, pos.width, "uint", self.r.gens(here, row, gens))
        field.doc = self.r.typed(here, row, "doc", str, "")
        self._type(here, field, str(row.get("type", "uint")))
        self._values(here, field, row.get("values"))
        self._update(here, field, row.get("update"))
        if field.type in IN_PLACE and pos.low > 31:
            self.r.error(here, f"bad position {row['at']!r}: a {field.type} starts in the dword it names")
        if register:
            field.access = row.get("access", "")
            if field.access and field.access not in ACCESS:
                self.r.error(here, f"unknown access {field.access!r}")
                field.access = ""
            if field.access == "masked":
                self.r.error(here, "masked is for whole registers only")
            field.reset = self.r.typed(here, row, "reset", int)
            if field.reset is not None and field.reset >> field.width:
                self.r.error(here, f"reset {field.reset:#x} does not fit {field.width} bits")
                field.reset = None
        return field

    def _type(self, where, field, text):
        base, colon, arg = text.partition(":")
        field.type = base
        if base in ("ufixed", "sfixed"):
            match = _FIXED.match(arg)
            if not match:
                self.r.error(where, f"bad type {text!r}: write {base}:I.F")
                return
            whole, field.fraction = int(match[1]), int(match[2])
            need = whole + field.fraction + (base == "sfixed")
            if field.width > 53:
                self.r.error(where, f"{base} of {field.width} bits is too wide for a double")
            if need != field.width:
                self.r.error(where, f"{text} needs {need} bits, the position has {field.width}")
        elif base in ("enum", "struct"):
            field.target = arg
            if not arg:
                self.r.error(where, f"bad type {text!r}")
        elif base not in _PLAIN or colon:
            self.r.error(where, f"unknown type {text!r}")
            field.type = "uint"
        if base == "bool" and field.width != 1:
            self.r.error(where, f"bool is one bit, the position has {field.width}")
        if base == "float" and field.width != 32:
            self.r.error(where, f"float is 32 bits, the position has {field.width}")
        limit = 64 - field.first % 32 if base in IN_PLACE else 64
        if base == "reg":
            limit = 32 - field.first % 32
        if base != "struct" and field.width > limit:
            self.r.error(where, f"{base} of {field.width} bits is too wide")

    def _update(self, where, field, update):
        if update is None:
            return
        ok = isinstance(update, dict) and len(update) == 1 and next(iter(update)) in UPDATES and field.type == "bool"
        names = next(iter(update.values())) if ok else None
        if not ok or not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.r.error(where, f"update is for a bool: {{ {' | '.join(UPDATES)} = [names of fields] }}")
            return
        field.update = (next(iter(update)), tuple(names))

    def _values(self, where, field, values):
        if values is None:
            return
        if field.type not in ("uint", "bool"):
            self.r.error(where, f"values need type uint, not {field.type}")
            return
        if not isinstance(values, dict) or not values:
            self.r.error(where, "values must be a table of names and numbers")
            return
        field.type = "uint"
        field.values = {}
        names = {}
        for name, value in values.items():
            if not _VALUE_NAME.match(name):
                self.r.error(where, f"bad value name {name!r}")
            elif not isinstance(value, int) or isinstance(value, bool) or value < 0:
                self.r.error(where, f"value {name} must be a number")
            elif value >> field.width:
                self.r.error(where, f"value {name} = {value} does not fit {field.width} bits")
            elif value in names:
                self.r.error(where, f"values {names[value]} and {name} are both {value}")
            else:
                names[value] = name
                field.values[name] = value

    def reserved(self, where, rows, gens):
        out = []
        if not isinstance(rows, list):
            self.r.error(where, "reserved must be a list")
            return out
        for i, row in enumerate(rows):
            here = where.at(f"reserved {i}")
            if isinstance(row, str):
                row = {"at": row}
            if not isinstance(row, dict):
                self.r.error(here, "must be a position or a table")
                continue
            if not self.r.keys(here, row, {"at", "gens", "ignored"}, ("at",)):
                continue
            pos = self.r.position(here, row["at"])
            if pos:
                out.append(Reserved(pos.first, pos.width, self.r.gens(here, row, gens),
                                    self.r.typed(here, row, "ignored", bool, False)))
        return out

    def groups(self, where, rows, gens):
        out = []
        if not isinstance(rows, list):
            self.r.error(where, "groups must be a list")
            return out
        for i, row in enumerate(rows):
            group = self._group(where, i, row, gens)
            if group:
                out.append(group)
        self._unique(where, out)
        return out

    def _group(self, where, index, row, gens):
        if not isinstance(row, dict):
            self.r.error(where.at(f"group {index}"), "must be a table")
            return None
        here = where.at(f"group {row.get('name', index)}")
        keys = {"name", "at", "bits", "count", "gens", "fields", "reserved", "doc"}
        if not self.r.keys(here, row, keys, ("name", "at", "bits", "count", "fields")):
            return None
        if not _NAME.match(str(row["name"])):
            self.r.error(here, "a group name is snake_case and starts with a letter")
        at = str(row["at"])
        pos = self.r.position(here, at if "[" in at else f"{at}[0]")
        bits = self.r.typed(here, row, "bits", int, 32)
        count = 0 if row["count"] == "rest" else row["count"]
        if not isinstance(count, int) or isinstance(count, bool) or count < 0 or (count == 0 and row["count"] != "rest"):
            self.r.error(here, f"count must be a number or \"rest\", not {row['count']!r}")
            return None
        if pos is None or not bits:
            return None
        chosen = self.r.gens(here, row, gens)
        group = Group(str(row["name"]), pos.first, bits, count, chosen)
        group.fields = self.fields(here, row["fields"], chosen)
        group.reserved = self.reserved(here, row.get("reserved", []), chosen)
        return group
