"""[header.*] of spec/headers.toml: bits of a command's first dword that are the same for every command of a client."""

from ranges import SpecError, parse_position


def read(r, raw):
    for where, name, table in raw["header"]:
        if not r.keys(where, table, {"doc", "source", "fields", "reserved"}, ("doc", "source", "fields")):
            continue
        if not name.islower() or not name.isidentifier():
            r.error(where, "a name is snake_case")
        taken, rows = {}, []
        for row in table["fields"]:
            here = where.at(f"field {row.get('name', '?')}")
            if not r.keys(here, row, {"name", "at", "values", "doc"}, ("name", "at")):
                continue
            position = _claim(r, here, row["at"], row["name"], taken)
            if position is None:
                continue
            values = row.get("values", {})
            for word, value in values.items():
                if not isinstance(value, int) or value < 0 or value >> position.width:
                    r.error(here, f"the value of {word} does not fit")
            rows.append((row["name"], row.get("doc", ""), position.first, position.width, values))
        for text in table.get("reserved", []):
            _claim(r, where, text, "reserved", taken)
        missing = [bit for bit in range(32) if bit not in taken]
        if missing:
            r.error(where, f"bits {', '.join(map(str, missing))} are in no field and not reserved")
        r.spec.headers[name] = (table["doc"], rows)


def _claim(r, where, text, name, taken):
    try:
        position = parse_position(text)
    except SpecError as e:
        r.error(where, str(e))
        return None
    if position.first + position.width > 32:
        r.error(where, f"{text} is outside dword 0")
        return None
    for bit in range(position.first, position.first + position.width):
        if bit in taken:
            r.error(where, f"overlap: bit {bit} is in {taken[bit]} too")
            return None
    for bit in range(position.first, position.first + position.width):
        taken[bit] = name
    return position
