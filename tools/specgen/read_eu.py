"""Reads spec/eu: parts and forms of instructions, operations, codes, traits; checks that every bit of a form is accounted for."""

import re
from dataclasses import dataclass, field

BITS = 128
KINDS = ("basic", "math", "sync", "nothing", "wide", "macro", "ternary", "ternary_macro", "branch", "diverge", "jump", "send",
         "split_send")
ALLOW = ("predicate", "condition", "saturate", "modifiers", "branch_control", "uip", "dst", "no_dst", "absolute", "controls")
CLASSES = ("move", "select", "logic", "shift", "compare", "bits", "arithmetic", "function", "group", "macro", "mask", "branch", "send",
           "wait", "nothing", "illegal")
LANE_LOCAL = ("move", "select", "logic", "shift", "compare", "bits", "arithmetic", "function")
ACCUMULATOR = ("reads", "own", "implicit")
TYPES = ("ub", "b", "uw", "w", "ud", "d", "uq", "q", "hf", "f", "df", "nf", "v", "uv", "vf")
SETS = {"int": ("ub", "b", "uw", "w", "ud", "d", "v", "uv"), "quad": ("uq", "q"), "float": ("hf", "f", "df", "nf", "vf"), "any": TYPES}
CODES = {"register_type": (TYPES, 16), "immediate_type": (TYPES, 16), "ternary_type": (TYPES, 8), "ternary_float_type": (TYPES, 8),
         "ternary_file": (("arf", "grf", "mrf"), 2),
         "file": (("arf", "grf", "mrf", "immediate"), 4),
         "predicate": (("none", "normal", "any_v", "all_v", "any2h", "all2h", "any4h", "all4h", "any8h", "all8h", "any16h", "all16h",
                        "any32h", "all32h", "replicate_x", "replicate_y", "replicate_z", "replicate_w"), 16),
         "ternary_vertical": (None, 4)}
CODES["predicate16"] = CODES["predicate"]
_PIECE = re.compile(r"^(\d+)(?::(\d+))?$")


@dataclass
class Eu:
    parts: dict = field(default_factory=dict)
    forms: dict = field(default_factory=dict)
    ops: dict = field(default_factory=dict)
    codes: dict = field(default_factory=dict)   # name -> gen -> {code: value}
    traits: dict = field(default_factory=dict)  # name -> [value by generation]
    field_names: list = field(default_factory=list)
    compacts: list = field(default_factory=list)
    functions: dict = field(default_factory=dict)  # name -> gen -> code
    messages: list = field(default_factory=list)
    bits: list = field(default_factory=list)  # (name, doc, [(field, low, width, doc)])


@dataclass
class Block:
    """The fields of a part or of a form, before they are laid out for one generation."""

    name: str
    where: object
    gens: frozenset
    rows: list = field(default_factory=list)      # (kind, name, pieces, gens, variants or None, value)
    variants: list = field(default_factory=list)  # (name, gens)
    parts: list = field(default_factory=list)     # forms: (name, gens)
    units: dict = field(default_factory=dict)     # forms: gen -> bytes
    kind: str = ""
    layouts: dict = field(default_factory=dict)   # forms: gen -> {field: pieces}
    fixed: dict = field(default_factory=dict)     # forms: gen -> [(pieces, value)]


def pieces(text):
    """[(low, width)] from the most significant part on, or None."""
    out = []
    for part in text.split("|") if isinstance(text, str) else [""]:
        match = _PIECE.match(part)
        if not match:
            return None
        high = int(match[1])
        low = int(match[2]) if match[2] else high
        if low > high or high >= BITS or high // 64 != low // 64:
            return None
        out.append((low, high - low + 1))
    return out


def mask_of(place):
    mask = 0
    for low, width in place:
        mask |= ((1 << width) - 1) << low
    return mask


def width_of(place):
    return sum(width for _, width in place)


def runs(mask):
    bits = [b for b in range(BITS) if mask >> b & 1]
    out, start = [], 0
    for i in range(1, len(bits) + 1):
        if i == len(bits) or bits[i] != bits[i - 1] + 1:
            out.append(f"{bits[i - 1]}:{bits[start]}" if i - start > 1 else f"{bits[start]}")
            start = i
    return ", ".join(out)


def read(r, raw):
    eu = r.spec.eu = Eu()
    for where, name, table in raw["eu_part"]:
        eu.parts[name] = _block(r, where, name, table, {"doc", "source", "gens", "variants", "fields", "reserved", "fixed"})
    for where, name, table in raw["eu_form"]:
        keys = {"doc", "source", "gens", "variants", "fields", "reserved", "fixed", "parts", "unit", "kind"}
        form = eu.forms[name] = _block(r, where, name, table, keys)
        _form(r, eu, form, table)
    for where, name, table in raw["eu_codes"]:
        eu.codes[name] = _codes(r, where, name, table)
    for where, name, table in raw["eu_traits"]:
        eu.traits[name] = _trait(r, where, table)
    for where, name, table in raw["eu_op"]:
        eu.ops[name] = _op(r, eu, where, name, table)
    _unique_codes(r, eu)
    eu.field_names = sorted({row[1] for block in (*eu.parts.values(), *eu.forms.values()) for row in block.rows if row[0] == "field"})
    for form in eu.forms.values():
        for gen in sorted(form.gens):
            _lay_out(r, eu, form, gen)


def _block(r, where, name, table, keys):
    r.keys(where, table, keys, ("doc", "source"))
    block = Block(name, where, r.gens(where, table))
    for row in table.get("variants", []):
        here = where.at("variants")
        if r.keys(here, row, {"name", "gens"}, ("name",)):
            block.variants.append((row["name"], r.gens(here, row, block.gens)))
    names = {v for v, _ in block.variants}
    for kind, key, allowed in (("field", "fields", {"name", "at", "gens", "in", "doc"}), ("reserved", "reserved", {"at", "gens", "in"}),
                               ("fixed", "fixed", {"at", "gens", "in", "value"})):
        for row in table.get(key, []):
            here = where.at(f"{key} {row.get('name', row.get('at', '?'))}")
            if not r.keys(here, row, allowed, ("at", "name") if kind == "field" else ("at",)):
                continue
            place = pieces(row["at"])
            if place is None:
                r.error(here, f"bad position {row['at']!r}: write hi:lo or bit, parts separated by |, none across bit 64")
                continue
            inside = row.get("in")
            if inside is not None and (not isinstance(inside, list) or not inside or set(inside) - names):
                r.error(here, f"in must name variants of {name}")
                continue
            value = row.get("value", 0)
            if kind == "fixed" and (not isinstance(value, int) or value < 0 or value >> width_of(place)):
                r.error(here, f"the value {value!r} does not fit")
                continue
            block.rows.append((kind, row.get("name", ""), place, r.gens(here, row, block.gens), inside, value))
    return block


def _form(r, eu, form, table):
    form.kind = table.get("kind", form.name)
    if form.kind not in KINDS:
        r.error(form.where, f"unknown kind {form.kind!r}")
    for row in table.get("parts", []):
        row = {"name": row} if isinstance(row, str) else row
        if row.get("name") not in eu.parts:
            r.error(form.where, f"unknown part {row.get('name')!r}")
            continue
        form.parts.append((row["name"], r.gens(form.where.at(f"part {row['name']}"), row, form.gens)))
    if "unit" in table:
        for here, gens, row in r.variants(form.where.at("unit"), table["unit"], form.gens, lambda v: {"bytes": v}):
            for gen in gens:
                form.units[gen] = r.typed(here, row, "bytes", int, 1)
        for gen in sorted(form.gens - set(form.units)):
            r.error(form.where, "no unit", gen)


def _lay_out(r, eu, form, gen):
    """Checks that all variants of a block cover the same bits, and that blocks cover all bits without overlap."""
    blocks = [eu.parts[name] for name, gens in form.parts if gen in gens] + [form]
    taken, layout, fixed = 0, {}, []
    for block in blocks:
        where = form.where if block is form else form.where.at(f"part {block.name}")
        covered = None
        for variant in [v for v, gens in block.variants if gen in gens] or [None]:
            mask = 0
            for kind, name, place, gens, inside, _ in block.rows:
                if gen not in gens or (inside is not None and variant not in inside):
                    continue
                mine = mask_of(place)
                if mine & mask or sum(w for _, w in place) != bin(mine).count("1"):
                    r.error(where, f"overlap: {name or kind} at {runs(mine)}" + (f" ({variant})" if variant else ""), gen)
                mask |= mine
            if covered is not None and mask != covered:
                r.error(where, f"variant {variant} covers other bits than the one before: {runs(mask ^ covered)}", gen)
            covered = mask if covered is None else covered
        if covered & taken:
            r.error(where, f"overlap with another part: {runs(covered & taken)}", gen)
        taken |= covered
        for kind, name, place, gens, _, value in block.rows:
            if gen not in gens:
                continue
            if kind == "fixed":
                fixed.append((place, value))
            elif kind == "field":
                if layout.setdefault(name, place) != place:
                    r.error(where, f"field {name} is at two places", gen)
    missing = ~taken & ((1 << BITS) - 1)
    if missing:
        r.error(form.where, f"bits {runs(missing)} are in no field and not reserved", gen)
    form.layouts[gen], form.fixed[gen] = layout, fixed


def _codes(r, where, name, table):
    r.keys(where, table, {"doc", "source", "rows"}, ("doc", "source", "rows"))
    if name not in CODES:
        r.error(where, "unknown code table")
        return {}
    values, size = CODES[name]
    out = {}
    for here, gens, row in r.variants(where, table.get("rows", []), r.gens(where, {}), lambda v: v):
        r.keys(here, row, {"codes"} if values else {"numbers"}, ())
        codes = {}
        pairs = row.get("codes", {}).items() if values else ((n, i) for i, n in enumerate(row.get("numbers", [])))
        for value, code in pairs:
            if values and value not in values:
                r.error(here, f"unknown value {value!r}")
            elif not isinstance(code, int) or not 0 <= code < size:
                r.error(here, f"code {code!r} of {value!r} does not fit")
            elif code in codes:
                r.error(here, f"code {code} means both {codes[code]!r} and {value!r}")
            else:
                codes[code] = value
        for gen in gens:
            out[gen] = codes
    return out


def _trait(r, where, table):
    r.keys(where, table, {"doc", "source", "rows"}, ("doc", "source", "rows"))
    values = [0] * len(r.spec.gens)
    for here, gens, row in r.variants(where, table.get("rows", []), r.gens(where, {}), lambda v: v):
        for gen in gens:
            values[gen] = r.typed(here, row, "value", int, 0)
    return values


@dataclass
class Op:
    name: str
    where: object
    doc: str
    by_gen: dict = field(default_factory=dict)  # gen -> (code, form, sources, kind)
    allow: list = field(default_factory=list)
    types: list = field(default_factory=list)   # (dst mask, src mask)
    group: str = ""                             # its class
    values: int = 0                             # sources that hold values
    lane_local: bool = False
    ignores_modifiers: bool = False
    accumulator: list = field(default_factory=list)


def _op_traits(r, op, table):
    """Reads the properties of an operation that are the same on every generation."""
    op.group = table.get("class", "nothing")
    if op.group not in CLASSES:
        r.error(op.where, f"unknown class {op.group!r}")
    op.lane_local = table.get("lane_local", op.group in LANE_LOCAL)
    op.ignores_modifiers = table.get("ignores_modifiers", False)
    for key, value in (("lane_local", op.lane_local), ("ignores_modifiers", op.ignores_modifiers)):
        if not isinstance(value, bool):
            r.error(op.where, f"{key} is true or false")
    if op.ignores_modifiers and "modifiers" in table.get("allow", []):
        r.error(op.where, "modifiers are both allowed and ignored")
    op.values = table.get("values", table.get("sources", 0))
    if not isinstance(op.values, int) or not 0 <= op.values <= 3:
        r.error(op.where, "values is a number of sources, at most 3")
    op.accumulator = table.get("accumulator", [])
    for word in op.accumulator:
        if word not in ACCUMULATOR:
            r.error(op.where, f"unknown word {word!r} in accumulator")


def _op(r, eu, where, name, table):
    r.keys(where, table, {"doc", "source", "class", "lane_local", "ignores_modifiers", "values", "accumulator", "code", "form", "kind", "sources", "allow", "types"},
           ("doc", "class", "code", "form"))
    op = Op(name, where, table.get("doc", ""))
    _op_traits(r, op, table)
    for word in table.get("allow", []):
        if word not in ALLOW:
            r.error(where, f"unknown word {word!r} in allow")
    op.allow = table.get("allow", [])
    for here, gens, row in r.variants(where.at("code"), table.get("code", []), r.gens(where, {}), lambda v: {"at": v}):
        r.keys(here, row, {"at", "form", "sources"}, ())
        form = row.get("form", table.get("form"))
        code = r.typed(here, row, "at", int, 0)
        sources = row.get("sources", table.get("sources", 0))
        if code > 127 or not isinstance(sources, int) or not 0 <= sources <= 3:
            r.error(here, "an opcode has 7 bits, an operation at most 3 sources")
        if form not in eu.forms:
            r.error(here, f"unknown form {form!r}")
            continue
        kind = table.get("kind", eu.forms[form].kind)
        if kind not in KINDS:
            r.error(here, f"unknown kind {kind!r}")
        for gen in sorted(gens):
            if gen not in eu.forms[form].gens:
                r.error(here, f"form {form} does not exist", gen)
            op.by_gen[gen] = (code, form, sources, kind)
    for text in table.get("types", []):
        sides = [side.split() for side in text.split("<-")]
        if len(sides) != 2 or not all(sides):
            r.error(where, f"bad types {text!r}: write dst <- src")
            continue
        masks = []
        for side in sides:
            mask = 0
            for word in side:
                if word not in SETS and word not in TYPES:
                    r.error(where, f"unknown type {word!r}")
                for t in SETS.get(word, (word,)):
                    mask |= 1 << TYPES.index(t) if t in TYPES else 0
            masks.append(mask)
        op.types.append(tuple(masks))
    return op


def _unique_codes(r, eu):
    taken = {}
    for op in eu.ops.values():
        for gen, (code, _, _, _) in op.by_gen.items():
            other = taken.setdefault((gen, code), op.name)
            if other != op.name:
                r.error(op.where, f"opcode {code:#04x} is also that of {other}", gen)
