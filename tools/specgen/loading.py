"""Reads spec/*.toml into raw tables and knows which kind of item belongs in which folder."""

import re
import tomllib
from pathlib import Path

from diag import Where

# kind -> folder (or file) that may hold it
HOMES = {
    "generation": "generations.toml", "feature": "generations.toml", "quirk": "generations.toml",
    "device": "devices.toml", "exception": "exceptions.toml",
    "unread": "unread.toml", "inert": "unread.toml",
    "enum": "enums", "command": "commands", "struct": "structs", "register": "registers",
    "payload": "payloads", "message_header": "payloads", "header": "headers.toml", "pci_register": "pci", "pci_list": "pci",
    "range_table": "tables", "unit_table": "tables", "privilege_list": "tables", "image": "tables",
    "wake_table": "tables", "replication_table": "tables",
    "eu_part": "eu", "eu_form": "eu", "eu_op": "eu", "eu_codes": "eu", "eu_traits": "eu", "eu_compact": "eu", "eu_message": "eu",
    "eu_function": "eu", "eu_words": "eu", "eu_bits": "eu",
}
LISTS = {"generation", "exception", "unread", "inert"}
TOPIC_FOLDERS = ("commands", "structs", "registers", "payloads", "pci")
_TOPIC = re.compile(r"^(?!(enums|readme)$)[a-z0-9_]+$")
NOT_ITEMS = {"genxml_differences.toml"}  # read by crosscheck


def spec_files(root):
    root = Path(root)
    return sorted(p for p in root.rglob("*.toml") if p.name not in NOT_ITEMS)


def topics(root):
    """Returns the topics, which are file names. They determine the names of the generated files without parsing."""
    root = Path(root)
    return sorted({p.stem for folder in TOPIC_FOLDERS for p in (root / folder).glob("*.toml")})


def load(root, diag):
    """kind -> list of (where, name, raw table)."""
    root = Path(root)
    raw = {kind: [] for kind in HOMES}
    seen = {}
    for path in spec_files(root):
        try:
            with open(path, "rb") as f:
                data = tomllib.load(f)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            diag.error(Where(path), f"not valid TOML: {e}")
            continue
        home = path.relative_to(root).parts[0]
        if home in TOPIC_FOLDERS and not _TOPIC.match(path.stem):
            diag.error(Where(path), "a topic's name has lower case letters, digits and underscores, and is not enums or readme")
        for kind, entries in data.items():
            where = Where(path)
            if kind not in HOMES:
                diag.error(where, f"unknown key {kind!r}")
                continue
            if HOMES[kind] != home:
                diag.error(where, f"[{kind}] belongs in spec/{HOMES[kind]}")
            if kind in LISTS:
                if not isinstance(entries, list):
                    diag.error(where, f"write [[{kind}]]")
                    continue
                for i, entry in enumerate(entries):
                    name = str(entry.get("name", entry.get("item", i)))
                    raw[kind].append((Where(path, f"{kind} {name}"), name, entry))
                continue
            if not isinstance(entries, dict):
                diag.error(where, f"write [{kind}.NAME]")
                continue
            for name, entry in entries.items():
                here = Where(path, f"{kind} {name}")
                if not isinstance(entry, dict):
                    diag.error(here, "must be a table")
                elif (kind, name) in seen:
                    diag.error(here, f"duplicate name, also in {seen[kind, name]}")
                else:
                    seen[kind, name] = path
                    raw[kind].append((here, name, entry))
    return raw
