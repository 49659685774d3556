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
    fixed: list = field(default_factory=list)   # (name, word): fields without bits, whose word the layout implies


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
    words = {}
    for where, name, table in raw["eu_words"]:
        if r.keys(where, table, {"doc", "values"}, ("doc", "values")):
            words[name] = table["values"]
    used = set()
    for where, name, table in raw["eu_message"]:
        if r.keys(where, table, {"doc", "source", "function", "gens", "when", "set", "fields", "reserved"}, ("doc", "function", "fields")):
            eu.messages.append(_message(r, eu, where, name, table, words, used))
    for where, name, _ in raw["eu_words"]:
        if name in words and name not in used:
            r.error(where, "no message uses these words")
    _bits(r, eu, raw)
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


def _bits(r, eu, raw):
    eu.bits = []
    for where, name, table in raw["eu_bits"]:
        if not r.keys(where, table, {"doc", "source", "fields"}, ("doc", "source", "fields")):
            continue
        taken, rows = 0, []
        for row in table["fields"]:
            here = where.at(f"field {row.get('name', '?')}")
            piece = _piece(r, here, row.get("at")) if r.keys(here, row, {"name", "at", "doc"}, ("name", "at")) else None
            if piece is None:
                continue
            if mask_of([piece]) & taken:
                r.error(here, f"overlap: {runs(mask_of([piece]) & taken)}")
            taken |= mask_of([piece])
            rows.append((row["name"], *piece, row.get("doc")))
        eu.bits.append((name, table["doc"], rows))


def _values(r, here, row, words, used):
    values = row.get("values", {})
    if isinstance(values, str):
        used.add(values)
        if values not in words:
            r.error(here, f"unknown words {values!r}")
        values = words.get(values, {})
    return values


def _message(r, eu, where, name, table, words, used):
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
        values = _values(r, here, row, words, used)
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
    for key, word in table.get("set", {}).items():
        if not isinstance(word, str) or key in (n for n, _, _ in message.fields):
            r.error(where, f"set {key} needs a word, and no field of that name")
        else:
            message.fixed.append((key, word))
    return message
