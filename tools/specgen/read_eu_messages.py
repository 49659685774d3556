"""Shared functions and message descriptors of spec/eu: every bit of function control once in each layout."""

from dataclasses import dataclass, field

from read_eu import mask_of, pieces, runs, width_of

_CONTROL = (1 << 19) - 1
_LENGTHS = 0x1ff << 20 | 1 << 19  # message and response length, header: the same everywhere


@dataclass
class Message:
    name: str
    function: str
    gens: frozenset
    when: list = field(default_factory=list)    # (piece, value)
    fields: list = field(default_factory=list)  # (name, piece, values)


def read(r, raw):
    eu = r.spec.eu
    eu.functions, eu.messages = {}, []
    for where, name, table in raw["eu_function"]:
        r.keys(where, table, {"doc", "source", "code"}, ("doc", "code"))
        codes = {}
        for here, gens, row in r.variants(where, table.get("code", []), r.gens(where, {}), lambda v: {"at": v}):
            code = r.typed(here, row, "at", int, 0)
            if code > 15:
                r.error(here, "a function has four bits")
            for gen in gens:
                codes[gen] = code
        for other, theirs in eu.functions.items():
            for gen in sorted(g for g in codes if theirs.get(g) == codes[g]):
                r.error(where, f"{other} has the same code", gen)
        eu.functions[name] = codes
    for where, name, table in raw["eu_message"]:
        if r.keys(where, table, {"doc", "source", "function", "gens", "when", "fields", "reserved"}, ("doc", "function", "fields")):
            eu.messages.append(_message(r, eu, where, name, table))
    for function, codes in eu.functions.items():
        for gen in sorted(codes):
            if not any(m.function == function and gen in m.gens and not m.when for m in eu.messages):
                r.error(r_where(r, raw, function), f"function {function} has no layout for every message", gen)


def r_where(r, raw, function):
    return next(where for where, name, _ in raw["eu_function"] if name == function)


def _piece(r, where, text):
    place = pieces(text)
    if not place or len(place) != 1 or mask_of(place) >> 32:
        r.error(where, f"bad position {text!r} in a descriptor")
        return None
    return place[0]


def _message(r, eu, where, name, table):
    message = Message(name, table["function"], r.gens(where, table))
    if message.function not in eu.functions:
        r.error(where, f"unknown function {message.function!r}")
    else:
        for gen in sorted(message.gens - set(eu.functions[message.function])):
            r.error(where, f"there is no {message.function}", gen)
    taken = 0
    for row in table["fields"]:
        here = where.at(f"field {row.get('name', '?')}")
        if not r.keys(here, row, {"name", "at", "values", "doc"}, ("name", "at")):
            continue
        piece = _piece(r, here, row["at"])
        if piece is None:
            continue
        if mask_of([piece]) & (taken | _LENGTHS):
            r.error(here, f"overlap: {runs(mask_of([piece]) & (taken | _LENGTHS))}")
        taken |= mask_of([piece])
        values = row.get("values", {})
        for word, value in values.items():
            if not isinstance(value, int) or value < 0 or value >> piece[1]:
                r.error(here, f"the value of {word} does not fit")
        if len(set(values.values())) != len(values):
            r.error(here, "a value has two names")
        message.fields.append((row["name"], piece, values))
    for text in table.get("reserved", []):
        piece = _piece(r, where, text)
        if piece and mask_of([piece]) & taken:
            r.error(where, f"overlap: reserved {text}")
        taken |= mask_of([piece]) if piece else 0
    missing = _CONTROL & ~taken
    if missing:
        r.error(where, f"bits {runs(missing)} are in no field and not reserved")
    for row in table.get("when", []):
        piece = _piece(r, where, row.get("at"))
        if piece and isinstance(row.get("value"), int) and row["value"] >> width_of([piece]) == 0:
            message.when.append((piece, row["value"]))
        else:
            r.error(where, "when needs at and a value that fits")
    return message
