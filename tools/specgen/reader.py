"""Helpers shared by the readers of all kinds: keys, generation and device lists, per-generation variants."""

from ranges import SpecError, parse_gens, parse_position


class Reader:
    """Holds the spec that is being built, and collects errors."""

    def __init__(self, spec, diag):
        self.spec = spec
        self.diag = diag
        self.device_features = set()    # features that devices name, not generations

    def error(self, where, message, gen=None):
        self.diag.error(where, message, None if gen is None else self.spec.gens[gen])

    def keys(self, where, table, allowed, required=()):
        """Reports unknown and missing keys. False: a required key is missing."""
        for key in table:
            if key not in allowed:
                self.error(where, f"unknown key {key!r}")
        missing = [key for key in required if key not in table or table[key] in ("", [], None)]
        for key in missing:
            self.error(where, f"missing {key}")
        return not missing

    def typed(self, where, table, key, kind, default=None):
        """Returns table[key] if it has the right type; else reports an error and returns the default."""
        value = table.get(key, default)
        if key in table and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            self.error(where, f"{key} must be {'a number' if kind is int else kind.__name__}, not {value!r}")
            return default
        if kind is int and isinstance(value, int) and value < 0:
            self.error(where, f"{key} must not be negative")
            return default
        return value

    def gens(self, where, table, within=None):
        """Returns the range under `gens`, intersected with `within`."""
        everything = frozenset(range(len(self.spec.gens)))
        within = everything if within is None else within
        if "gens" not in table:
            return within
        try:
            chosen = parse_gens(table["gens"], self.spec.gens)
        except SpecError as e:
            self.error(where, str(e))
            return within
        if not chosen & within:
            self.error(where, f"gens {table['gens']!r} has no generation in common with the item")
        return chosen & within

    def device_names(self, where, table):
        names = table.get("devices")
        if names is None:
            return list(self.spec.devices)
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.error(where, "devices must be a list of names")
            return list(self.spec.devices)
        for name in names:
            if name not in self.spec.devices:
                self.error(where, f"unknown device {name!r}")
        return [d for d in self.spec.devices if d in names]

    def engine_names(self, where, names):
        from model import ENGINES
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            self.error(where, "engines must be a list of engine classes, not empty")
            return []
        for name in names:
            if name not in ENGINES:
                self.error(where, f"unknown engine {name!r}")
        if len(set(names)) != len(names):
            self.error(where, "an engine is listed twice")
        return [e for e in ENGINES if e in names]

    def position(self, where, text):
        try:
            return parse_position(text)
        except SpecError as e:
            self.error(where, str(e))
            return None

    def item_devices(self, where, table, gens):
        """Returns the devices that have an item of these generations, restricted to `devices`."""
        names = self.device_names(where, table)
        for name in names:
            if "devices" in table and self.spec.devices[name].gen not in gens:
                self.error(where, f"device {name!r} is {self.spec.gens[self.spec.devices[name].gen]}, outside gens")
        return [name for name in names if self.spec.devices[name].gen in gens]

    def variants(self, where, value, gens, single):
        """Yields (where, generations, value or table) of a value, or of a list of tables with disjoint `gens`."""
        if not isinstance(value, list):
            yield where, gens, single(value)
            return
        taken = set()
        for i, row in enumerate(value):
            here = where.at(f"row {i}")
            if not isinstance(row, dict):
                self.error(here, "must be a table with gens")
                continue
            chosen = self.gens(here, row, gens)
            for gen in sorted(chosen & taken):
                self.error(here, "given twice", gen)
            yield here, chosen - taken, {k: v for k, v in row.items() if k != "gens"}
            taken |= chosen

    def cover(self, where, found, wanted, what):
        """Checks that every generation in `wanted` has a value."""
        for gen in sorted(wanted):
            if gen not in found:
                self.error(where, f"no {what} for this generation", gen)
