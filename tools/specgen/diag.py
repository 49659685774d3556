"""Collects errors instead of stopping at the first one, so that one run shows all of them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Where:
    """A position in the description: file, item and, inside the item, a field or another part."""

    file: Path
    item: str = ""
    part: str = ""

    def at(self, part):
        return Where(self.file, self.item, f"{self.part} {part}".strip())

    def __str__(self):
        return ": ".join(str(x) for x in (self.file, self.item, self.part) if str(x))


class Diagnostics:
    def __init__(self):
        self._errors = {}  # (where, message) -> generations, in order of appearance

    def error(self, where, message, gen=None):
        gens = self._errors.setdefault((where, message), [])
        if gen is not None and gen not in gens:
            gens.append(gen)

    def lines(self, only=()):
        wanted = [Path(f).resolve() for f in only]
        for (where, message), gens in self._errors.items():
            if wanted and where.file.resolve() not in wanted:
                continue
            text = f"{where}: {' '.join(gens)}: {message}" if gens else f"{where}: {message}"
            yield text

    def __bool__(self):
        return bool(self._errors)
