"""Reads Mesa's genxml files: another description of the same hardware, used only for comparison."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

KINDS = {"instruction": "command", "struct": "struct", "register": "register"}


@dataclass
class XmlItem:
    kind: str
    name: str
    dwords: int = 0            # 0: variable
    bias: int = 0
    offset: int = None         # registers
    fields: list = field(default_factory=list)  # (name, first, width, type, default)


def normal(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def generation_of(path, gens):
    """gen45.xml is gen4.5; None for files of generations that the spec does not have."""
    match = re.match(r"^gen(\d+)$", Path(path).stem)
    if not match:
        return None
    digits = match[1]
    for name in (f"gen{digits}", f"gen{digits[:-1]}.{digits[-1]}"):
        if name in gens:
            return gens.index(name)
    return None


def read(path):
    """(kind, normalised name) -> XmlItem"""
    out = {}
    for node in ET.parse(path).getroot():
        if node.tag not in KINDS:
            continue
        item = XmlItem(KINDS[node.tag], node.get("name"), int(node.get("length", "0")), int(node.get("bias", "0")))
        if node.get("num"):
            item.offset = int(node.get("num"), 0)
        _collect(node, 0, item.fields)
        out[item.kind, normal(item.name)] = item
    return out


def _collect(node, base, fields):
    for child in node:
        if child.tag == "field":
            first = int(child.get("start"))
            default = child.get("default")
            fields.append((child.get("name"), base + first, int(child.get("end")) - first + 1, child.get("type", ""),
                           int(default, 0) if default is not None and re.match(r"^(0x)?[0-9a-fA-F]+$", default) else None))
        elif child.tag == "group":
            # Element 0 stands for the group.
            _collect(child, base + int(child.get("start", "0")), fields)
