"""Finds commands and fields that no file of src/ reads and that spec/unread.toml does not list.

A field counts as read if `.field`, `->field` or `::field` occurs in a file that names its item, or in a file that
includes or is included by such a file, because templates read several items. An unread field may therefore count as
read, but never the reverse.
"""

import re
from pathlib import Path

import marks
from cppnames import ident
from names import Names

# Commands of all engines but those of codecs, which are never executed, and the structures that they point to.
CODEC_TOPICS = ("video",)
STRUCT_TOPICS = {"blend", "constants", "depth", "sampler", "so_decl", "surface", "unit_states", "vertex", "viewport"}
# Rooms that read state. Printing state does not count as reading.
ROOMS = ("blit", "compute", "device", "engine", "message", "oa", "pipe3d", "surface")

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_COMMENT = re.compile(r"//.*")
_WORD = re.compile(r"\w+")
# Groups of dwords that handlers take as they stand in the command, without unpacking.
PAYLOADS = {"data", "entries", "wide_entries", "immediate_data", "inline_data"}
# Files that read fields of an item by the text of their names: ends of names, in quotes.
BY_TEXT = {"MI_WAIT_FOR_EVENT": "engine/mi/wait_conditions.cpp", "MI_WAIT_FOR_EVENT_965G": "engine/mi/wait_conditions.cpp"}

_QUOTED = re.compile(r'"(\w+)"')
_MEMBER = re.compile(r"(?:\.|->|::)(\w+)")


class Sources:
    """The names that occur in the files of the rooms."""

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
        self.quoted = {name: set(_QUOTED.findall(plain[name])) for name in set(BY_TEXT.values()) if name in plain}

    def naming(self, words):
        return {name for name, here in self.words.items() if words & here}

    def reads_text(self, item, field):
        ends = self.quoted.get(BY_TEXT.get(item), ())
        return any(field.endswith(end) for end in ends)

    def reads(self, files, field):
        return any(field in self.members[other] for name in files for other in self.beside[name])


def audited(spec):
    for item in spec.commands.values():
        if not item.topic.startswith(CODEC_TOPICS):
            yield item
    for item in spec.structs.values():
        if item.topic in STRUCT_TOPICS:
            yield item


def _marked(item):
    """Returns whether a command has marks in every layout."""
    return all(layout.unread or layout.inert or any(g.unread for g in layout.groups) for layout in item.layouts.values())


def faults(spec, root):
    """Returns one line for each field that is neither read nor marked."""
    names, sources, out = Names(spec), Sources(root), []
    containers = {}
    for item in spec.items():
        for f in item.fields + [f for g in item.groups for f in g.fields]:
            if f.type == "struct":
                containers.setdefault(f.target, set()).add(names.of(item))
    for item in audited(spec):
        files = sources.naming({names.of(item)} | (containers.get(item.name, set()) if item.kind == "struct" else set()))
        if item.kind == "struct" and not files:
            continue  # the field that points to it is marked
        seen = {}
        for gen, layout in sorted(item.layouts.items()):
            for name, f, holder in marks.rows(layout):
                unread = any(m.name == f"{item.name}.{name}" for m in holder.unread)
                # Update bits are read by the generated merged().
                if not unread and name not in layout.inert and f.type != "struct" and not f.update:
                    seen.setdefault(name, []).append(spec.gens[gen])
        if item.kind == "command" and not files and not _marked(item):
            out.append(f"{item.where.file}: command {item.name}: nothing in {root} names it: handle it, or mark its fields in unread.toml")
            continue
        for name, gens in seen.items():
            payload = item.kind == "command" and bool(files) and name.split(".")[0] in PAYLOADS
            if not payload and not sources.reads_text(item.name, name) and not sources.reads(files, ident(name.split(".")[-1])):
                out.append(f"{item.where.file}: {item.kind} {item.name}: {' '.join(gens)}: nothing in {root} reads {name}: "
                           "read it, or mark it in unread.toml")
    return out
