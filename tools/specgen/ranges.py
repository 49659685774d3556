"""Generation ranges ("gen8..", "gen4..gen6, gen9") and bit positions ("1[47:2]")."""

import re
from dataclasses import dataclass

_POSITION = re.compile(r"^(\d+)\[(\d+)(?::(\d+))?\]$")


class SpecError(Exception):
    """A message without a position; the code that catches it adds the position."""


@dataclass(frozen=True)
class Position:
    first: int  # from bit 0 of dword 0
    width: int
    low: int    # as written, in the dword as written

    @property
    def end(self):
        return self.first + self.width


def parse_position(text):
    match = _POSITION.match(text) if isinstance(text, str) else None
    if not match:
        raise SpecError(f"bad position {text!r}: write D[hi:lo] or D[bit]")
    dword, high = int(match[1]), int(match[2])
    low = int(match[3]) if match[3] is not None else high
    if low > high:
        raise SpecError(f"bad position {text!r}: the high bit comes first")
    return Position(dword * 32 + low, high - low + 1, low)


def format_position(first, width):
    dword, low = divmod(first, 32)
    return f"{dword}[{low}]" if width == 1 else f"{dword}[{low + width - 1}:{low}]"


def format_runs(bits):
    """Returns a set of bit numbers as positions, dword by dword."""
    out, bits = [], sorted(bits)
    start = 0
    for i in range(1, len(bits) + 1):
        if i == len(bits) or bits[i] != bits[i - 1] + 1 or bits[i] % 32 == 0:
            out.append(format_position(bits[start], i - start))
            start = i
    return ", ".join(out)


def parse_gens(text, names):
    """Returns the set of generation indices that a range names; `names` is the list of generations in order."""
    if not isinstance(text, str) or not text.strip():
        raise SpecError(f"bad generation range {text!r}")
    chosen = set()
    for part in (p.strip() for p in text.split(",")):
        low, dots, high = part.partition("..")
        for name in (low, high):
            if name and name not in names:
                raise SpecError(f"unknown generation {name!r} in {text!r}")
        if not dots:
            if not low:
                raise SpecError(f"bad generation range {text!r}")
            high = low
        first = names.index(low) if low else 0
        last = names.index(high) if high else len(names) - 1
        if first > last:
            raise SpecError(f"generation range {part!r} runs backwards")
        chosen.update(range(first, last + 1))
    return frozenset(chosen)
