"""Which fields of the 3D pipeline no file of src/ reads, and whether spec/unread.toml says so.

A field counts as read when `.field`, `->field` or `::field` stands in a file that names its item, or in one that
includes or is included by such a file: templates do the reading for several items. So a field may be taken for read that is not, and never the other way round.
"""

import re
from pathlib import Path

import marks
from cppnames import ident
from names import Names

# 3D commands, and the structures that they lead to. Media and compute come with commands of their own.
COMMAND_TOPICS = "3d_"
STRUCT_TOPICS = {"blend", "constants", "depth", "sampler", "so_decl", "surface", "unit_states", "vertex", "viewport"}
# Rooms that look at state. Printing it is no reading.
ROOMS = ("engine", "message", "pipe3d", "surface")

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_COMMENT = re.compile(r"//.*")
_WORD = re.compile(r"\w+")
_MEMBER = re.compile(r"(?:\.|->|::)(\w+)")


class Sources:
    """What the files of the rooms name."""

    def __init__(self, root):
        root = Path(root)
        texts = {str(p.relative_to(root)): p.read_text(encoding="utf-8")
                 for room in ROOMS for p in sorted((root / room).rglob("*")) if p.suffix in (".h", ".cpp")}
        self.beside = {name: {name} for name in texts}
        for name, text in texts.items():
            for other in _INCLUDE.findall(text):
                if other in texts:
                    self.beside[name].add(other)
                    self.beside[other].add(name)
        plain = {name: _COMMENT.sub("", text) for name, text in texts.items()}
        self.words = {name: set(_WORD.findall(text)) for name, text in plain.items()}
        self.members = {name: set(_MEMBER.findall(text)) for name, text in plain.items()}

    def naming(self, words):
        return {name for name, here in self.words.items() if words & here}

    def reads(self, files, field):
        return any(field in self.members[other] for name in files for other in self.beside[name])


def audited(spec):
    for item in spec.commands.values():
        if item.topic.startswith(COMMAND_TOPICS):
            yield item
    for item in spec.structs.values():
        if item.topic in STRUCT_TOPICS:
            yield item


def faults(spec, root):
    """One line for each field that is neither read nor marked."""
    names, sources, out = Names(spec), Sources(root), []
    containers = {}
    for item in spec.items():
        for f in item.fields + [f for g in item.groups for f in g.fields]:
            if f.type == "struct":
                containers.setdefault(f.target, set()).add(names.of(item))
    for item in audited(spec):
        files = sources.naming({names.of(item)} | (containers.get(item.name, set()) if item.kind == "struct" else set()))
        if item.kind == "struct" and not files:
            continue  # what points to it is marked
        seen = {}
        for gen, layout in sorted(item.layouts.items()):
            for name, f, holder in marks.rows(layout):
                unread = any(m.name == f"{item.name}.{name}" for m in holder.unread)
                # Update bits are read by the generated merged().
                if not unread and name not in layout.inert and f.type != "struct" and not f.update:
                    seen.setdefault(name, []).append(spec.gens[gen])
        for name, gens in seen.items():
            if not sources.reads(files, ident(name.split(".")[-1])):
                out.append(f"{item.where.file}: {item.kind} {item.name}: {' '.join(gens)}: nothing in {root} reads {name}: "
                           "read it, or mark it in unread.toml")
    return out
