"""Adds the marks of spec/unread.toml to the layouts: fields that the model does not read, or need not read."""

from dataclasses import replace
from fnmatch import fnmatchcase

from model import Mark, Unread


def read(r, where, inert, table):
    keys = {"item", "fields", "gens", "reason"} | (set() if inert else {"rest", "when", "unless"})
    if not r.keys(where, table, keys, ("fields", "reason") if inert else ("item", "fields", "reason")):
        return
    fields = table["fields"]
    if not isinstance(fields, list) or not all(isinstance(f, str) for f in fields):
        r.error(where, "fields must be a list of names")
        return
    items = table.get("item", "*")
    items = items if isinstance(items, list) else [items]
    if not items or not all(isinstance(i, str) for i in items):
        r.error(where, "item must be a name or a list of names")
        return
    rest = table.get("rest", 0)
    rest = tuple(rest) if isinstance(rest, list) else (rest,)
    if not rest or not all(_is_value(v) for v in rest):
        r.error(where, "rest must be a number or a list of numbers")
        rest = (0,)
    reason = r.typed(where, table, "reason", str, "")
    if reason.endswith("."):
        r.error(where, "a reason is part of a sentence: no full stop")
    r.spec.marks.append(Mark(inert, items, fields, r.gens(where, table), rest,
                             _condition(r, where, table), reason, where))


def _is_value(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _condition(r, where, table):
    given = [k for k in ("when", "unless") if k in table]
    if not given:
        return ()
    rows = table[given[0]]
    if len(given) > 1 or not isinstance(rows, dict) or len(rows) != 1 or not all(map(_is_value, rows.values())):
        r.error(where, "write when or unless = { field = value }")
        return ()
    return (*next(iter(rows.items())), given[0] == "when")


def is_pattern(name):
    return bool(set("*?[") & set(name))


def rows(layout):
    """(name, field, the layout or the group that holds it) of all fields."""
    for f in layout.fields:
        yield f.name, f, layout
    for g in layout.groups:
        for f in g.fields:
            yield f"{g.name}.{f.name}", f, g


def apply(spec, diag):
    """Adds all marks; call it after the layouts are made. Marks of nested structures come last."""
    items = [*spec.commands.values(), *spec.structs.values()]
    # Names come before patterns, which match the remaining fields.
    for mark in sorted(spec.marks, key=lambda m: (any(map(is_pattern, m.items)), any(map(is_pattern, m.fields)), m.inert)):
        here = [i for i in items if any(fnmatchcase(i.name, name) for name in mark.items)]
        for name in mark.items:
            if not any(fnmatchcase(i.name, name) for i in items):
                diag.error(mark.where, f"no command or structure {name}")
        for name in mark.fields if here else []:
            hits = [_mark(spec, diag, mark, name, item, gen) for item in here for gen in item.layouts if gen in mark.gens]
            if not any(hits):
                diag.error(mark.where.at(f"field {name}"), "no such field")
    own = {(s.name, gen): _flat(layout) for s in spec.structs.values() for gen, layout in s.layouts.items()}
    for item in items:
        for gen, layout in item.layouts.items():
            for _, f, holder in rows(layout):
                holder.unread += _inner(spec, own, f, gen)


def _moved(mark, bits):
    first, width, *rest = mark.condition
    return replace(mark, first=mark.first + bits, condition=(first + bits, width, *rest) if width else mark.condition)


def _flat(layout):
    """Returns the marks of a structure, with those of each element of its groups."""
    return layout.unread + [_moved(m, g.first + i * g.bits) for g in layout.groups for i in range(g.count) for m in g.unread]


def _inner(spec, own, f, gen, path=()):
    if f.type != "struct" or (f.target, gen) not in own or f.target in path:
        return []  # a structure that contains itself is reported elsewhere
    out = list(own[f.target, gen])
    for inner in spec.structs[f.target].layouts[gen].fields:
        out += _inner(spec, own, inner, gen, (*path, f.target))
    return [_moved(m, f.first) for m in out]


def _mark(spec, diag, mark, wanted, item, gen):
    """Returns whether the item has such a field on the generation."""
    layout, hit = item.layouts[gen], False
    for name, f, holder in rows(layout):
        if not fnmatchcase(name, wanted) or (f.type == "struct" and not mark.inert):
            continue  # the fields inside a structure are marked, not the structure
        hit = True
        full = f"{item.name}.{name}"
        known = name in layout.inert or any(m.name == full for m in holder.unread)
        if known and not is_pattern(wanted) and not any(map(is_pattern, mark.items)):
            diag.error(mark.where.at(f"field {name}"), "marked twice", spec.gens[gen])
        elif not known and mark.inert:
            layout.inert[name] = mark.reason
        elif not known:
            errors, condition = _problems(mark, layout, f, holder)
            for text in errors:
                diag.error(mark.where.at(f"field {name}"), text, spec.gens[gen])
            holder.unread.append(Unread(full, mark.reason, f.first, f.width, mark.rest, condition))
    return hit


def _problems(mark, layout, f, holder):
    """Returns the errors of a mark of this field, and its condition."""
    errors, condition = [], (0, 0, 0, False)
    if any(v >> f.width for v in mark.rest):
        errors.append(f"a value at rest does not fit {f.width} bits")
    if mark.when:
        name, value, equal = mark.when
        beside = [o for _, o, h in rows(layout) if o.name == name and h is holder and o is not f]
        if not beside:
            errors.append(f"no field {name} beside it")
        elif value >> beside[0].width:
            errors.append(f"{value} does not fit {name}")
        else:
            condition = (beside[0].first, beside[0].width, value, equal)
    return errors, condition
