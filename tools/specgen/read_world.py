"""Reads generations, devices, features, quirks, enumerations, tables and exceptions; then everything else."""

import re

import engine_ids
import marks
import read_domains
import read_eu
import read_eu_compact
import read_eu_messages
import read_features
import read_headers
import read_pci
from loading import load, topics
from model import BAR_KINDS, ENGINES, Device, Enum, Exception_, Spec, Table
from read_items import ItemReader
from reader import Reader

# `check` uses these while spec/devices.toml is empty.
FALLBACK_DEVICES = {"i965": "gen4", "gm965": "gen4", "g45": "gen4.5", "gm45": "gen4.5", "snb": "gen6", "bdw": "gen8",
                    "chv": "gen8", "skl": "gen9", "icl": "gen11", "tgl": "gen12", "dg1": "gen12"}
CHECKS = {"overlap", "command_match", "register_overlap", "lri_count", "no_endpoint"}
_IDENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_VALUE_NAME = re.compile(r"^[A-Za-z0-9_]+$")


def read_spec(root, diag):
    spec = Spec(root)
    raw = load(root, diag)
    spec.topics = topics(root)
    r = Reader(spec, diag)
    _generations(r, raw)
    _devices(r, raw["device"])
    _enums(r, raw["enum"])
    items = ItemReader(r)
    for kind, target in (("command", spec.commands), ("struct", spec.structs), ("register", spec.registers),
                         ("payload", spec.payloads), ("message_header", spec.message_headers)):
        for where, name, table in raw[kind]:
            target[name] = getattr(items, kind)(where, name, table)
    read_pci.read(r, items, raw)
    _tables(r, raw)
    read_domains.read(r, raw)
    read_eu.read(r, raw)
    read_eu_compact.read(r, raw)
    read_eu_messages.read(r, raw)
    read_headers.read(r, raw)
    for where, _, table in raw["exception"]:
        _exception(r, where, table)
    for kind in ("unread", "inert"):
        for where, _, table in raw[kind]:
            marks.read(r, where, kind == "inert", table)
    return spec


def _generations(r, raw):
    features = []
    for where, name, table in raw["generation"]:
        r.keys(where, table, {"name", "doc", "features", "without"}, ("name", "doc"))
        if name in r.spec.gens:
            r.error(where, "duplicate name")
        r.spec.gens.append(name)
        r.spec.gen_docs.append(table.get("doc", ""))
        features.append((where, table.get("features", []), table.get("without", [])))
    if not r.spec.gens or len(r.spec.gens) > 16:
        r.error(_root(r), "spec/generations.toml must list 1..16 generations")
    for where, name, table in raw["feature"]:
        read_features.declare(r, where, name, table)
    for where, name, table in raw["quirk"]:
        r.keys(where, table, {"doc", "source"}, ("doc", "source"))
        r.spec.quirks[name] = table.get("doc", "")
    for kind, target in (("feature", r.spec.features), ("quirk", r.spec.quirks)):
        for where, name, _ in raw[kind]:
            if not _IDENT.match(name):
                r.error(where, "bad name")
        if len(target) > 64:
            r.error(_root(r), f"more than 64 {kind}s")
    read_features.decide(r, features)
    r.gen_features = [list(names) for _, names, _ in features]
    r.declared = [(where, kind, name) for kind in ("feature", "quirk") for where, name, _ in raw[kind]]


def _root(r):
    from diag import Where
    return Where(r.spec.root)


_DEVICE_KEYS = {"doc", "source", "gen", "names", "pci", "steppings", "pci_families", "aub_codes", "bars", "mmio_bytes", "gtt_offset", "gtt_bytes", "engines",
                "topology", "timestamp", "memory", "interface", "features", "quirks", "supported"}
_OPTIONAL_KEYS = {"features", "quirks", "gtt_offset", "gtt_bytes", "steppings", "pci_families", "aub_codes", "interface"}
_PARTS = {"pci": {"id", "revision", "class", "subsystem", "other_ids"},
          "topology": {"slices", "subslices", "eus", "threads", "l3_banks"},
          "timestamp": {"hz"},
          "memory": {"stolen_bytes", "local_bytes", "virtual_bits", "physical_bits"}}


_INTERFACE_NUMBERS = {"slices", "subslices", "eus", "fences", "command_parser", "huc_error", "address_bits", "secure_error",
                      "fence_stride_kib", "physical_swizzle", "relocation_bits", "max_framebuffer", "process_tables"}
_INTERFACE_FLAGS = {"llc", "snoop", "coherent_aperture", "engine_reset", "read_only_pages", "sseu_control", "bonds", "preemption",
                    "secure_batches", "processor_copies", "perf", "async_flips", "semaphore_events", "frequency_events",
                    "actual_frequency", "rc6_events", "client_times", "discrete", "cache_calls", "caching_by_placement", "captures_in_recoverable",
                    "managed_buffers", "local_framebuffers"}


def _interface(r, where, device, table):
    """Reads what i915 reports to programs about the chip; one number for each engine."""
    part = table.get("interface")
    if part is None:
        return
    here = where.at("interface")
    keys = _INTERFACE_NUMBERS | _INTERFACE_FLAGS | {"engines"}
    r.keys(here, part, keys, tuple(keys))
    for key in part:
        r.typed(here, part, key, list if key == "engines" else bool if key in _INTERFACE_FLAGS else int)
    engines = part.get("engines", [])
    if len(engines) != len(table.get("engines", [])) or not all(isinstance(x, int) and -1 <= x <= 3 for x in engines):
        r.error(here, "engines: a number from -1 (not offered) to 3 for each engine")


def _devices(r, raw):
    for where, name, table in raw:
        r.keys(where, table, _DEVICE_KEYS, tuple(_DEVICE_KEYS - _OPTIONAL_KEYS))
        if not _IDENT.match(name):
            r.error(where, "bad name")
        if table.get("gen") not in r.spec.gens:
            r.error(where, f"unknown generation {table.get('gen')!r}")
            continue
        gen = r.spec.gens.index(table["gen"])
        device = Device(name, where, gen, table)
        for part, keys in _PARTS.items():
            r.keys(where.at(part), table.get(part, {}), keys, tuple(keys) if part != "pci" else ("id", "class"))
            for key in table.get(part, {}):
                r.typed(where.at(part), table[part], key, list if key == "other_ids" else int)
        for i, bar in enumerate(table.get("bars", [])):
            here = where.at(f"bar {i}")
            r.keys(here, bar, {"index", "kind", "bytes", "bits", "prefetchable"}, ("index", "kind", "bytes", "bits"))
            if bar.get("kind") not in BAR_KINDS:
                r.error(here, f"unknown kind {bar.get('kind')!r}")
        _device_engines(r, where, device, table)
        _trace_names(r, where, device, table)
        _steppings(r, where, device, table)
        _interface(r, where, device, table)
        for kind, known in (("features", r.spec.features), ("quirks", r.spec.quirks)):
            for entry in table.get(kind, []):
                if entry not in known:
                    r.error(where, f"unknown {kind[:-1]} {entry!r}")
        device.features = list(dict.fromkeys(r.gen_features[gen] + table.get("features", [])))
        device.quirks = list(table.get("quirks", []))
        r.spec.devices[name] = device
    if not raw:
        for name, gen in FALLBACK_DEVICES.items():
            if gen in r.spec.gens:
                r.spec.devices[name] = Device(name, _root(r), r.spec.gens.index(gen), {})
    else:
        used = {x for d in r.spec.devices.values() for x in d.features + d.quirks}
        used |= {q for d in r.spec.devices.values() for s in d.data.get("steppings", []) for q in s.get("quirks", [])}
        for where, kind, name in r.declared:
            if name not in used:
                r.error(where, f"no device has this {kind}")
        read_features.check_decided(r)
    if len(r.spec.devices) > 32:
        r.error(_root(r), "more than 32 devices")


def _steppings(r, where, device, table):
    """Reads the steppings of a device that a user can choose; one of them is the device as it is described."""
    steppings = r.typed(where, table, "steppings", list) or []
    revisions = []
    for i, stepping in enumerate(steppings):
        here = where.at(f"stepping {i}")
        if not isinstance(stepping, dict) or not r.keys(here, stepping, {"name", "revision", "quirks"}, ("name", "revision")):
            r.error(here, "a stepping is { name, revision, quirks }")
            continue
        r.typed(here, stepping, "name", str)
        revision = r.typed(here, stepping, "revision", int, 0)
        if not 0 <= revision <= 0xff or revision in revisions:
            r.error(here, f"revision {revision!r} is no byte, or that of another stepping")
        revisions.append(revision)
        for quirk in r.typed(here, stepping, "quirks", list) or []:
            if quirk not in r.spec.quirks:
                r.error(here, f"unknown quirk {quirk!r}")
    if steppings and table.get("pci", {}).get("revision") not in revisions:
        r.error(where, "no stepping has the revision of the device")


def _trace_names(r, where, device, table):
    """Reads the identifiers of a device in traces: codes of AUB version records, and families of PCI ids."""
    for key in ("aub_codes", "pci_families"):
        r.typed(where, table, key, list)
    others = list(r.spec.devices.values())
    for code in table.get("aub_codes", []):
        if not isinstance(code, int) or isinstance(code, bool) or not 0 <= code <= 0xff:
            r.error(where, f"aub_codes: {code!r} is no byte")
        for other in others:
            if code in other.data.get("aub_codes", []):
                r.error(where, f"aub_codes: {code} is {other.name} too")
    for i, family in enumerate(table.get("pci_families", [])):
        here = where.at(f"pci_families {i}")
        if not isinstance(family, dict) or not r.keys(here, family, {"mask", "id"}, ("mask", "id")):
            r.error(here, "a family is { mask, id }")
            continue
        mask, value = r.typed(here, family, "mask", int, 0), r.typed(here, family, "id", int, 0)
        if max(mask, value) > 0xffff or value & ~mask:
            r.error(here, "mask and id have 16 bits, and id none outside the mask")
        for other in others:
            for theirs in other.data.get("pci_families", []):
                if isinstance(theirs, dict) and ((value ^ theirs.get("id", 0)) & mask & theirs.get("mask", 0)) == 0:
                    r.error(here, f"shares PCI ids with a family of {other.name}")


def _device_engines(r, where, device, table):
    seen = set()
    for i, engine in enumerate(table.get("engines", [])):
        here = where.at(f"engine {engine.get('name', i)}")
        if not r.keys(here, engine, {"name", "class", "instance", "base", "domain"} | engine_ids.keys(), ("name", "class", "base")):
            continue
        if engine["class"] not in ENGINES:
            r.error(here, f"unknown engine {engine['class']!r}")
            continue
        key = (engine["class"], engine.get("instance", 0))
        if key in seen or engine["name"] in seen:
            r.error(here, "duplicate engine")
        seen |= {key, engine["name"]}
        device.engines.append(engine)


def _enums(r, raw):
    for where, name, table in raw:
        r.keys(where, table, {"doc", "source", "values"}, ("doc", "source", "values"))
        if not _IDENT.match(name):
            r.error(where, "bad name")
        enum = Enum(name, where, table.get("doc", ""), table.get("source", ""), [])
        taken = {}
        for label, row in table.get("values", {}).items():
            here = where.at(f"value {label}")
            row = row if isinstance(row, dict) else {"value": row}
            r.keys(here, row, {"value", "gens"}, ("value",))
            value = r.typed(here, row, "value", int, 0)
            if not _VALUE_NAME.match(label):
                r.error(here, "bad value name")
            gens = r.gens(here, row)
            for gen in sorted(gens):
                other = taken.setdefault((gen, value), label)
                if other != label:
                    r.error(here, f"has the same value {value} as {other}", gen)
            enum.values.append((label, value, gens))
        r.spec.enums[name] = enum


def _tables(r, raw):
    common = {"doc", "source", "devices"}
    extra = {"range_table": {"columns", "rows", "spans", "null"},
             "unit_table": {"rows"},
             "privilege_list": {"engines", "instance", "access", "slots", "rows"},
             "image": {"engines", "entries"}}
    stores = {"range_table": r.spec.range_tables, "unit_table": r.spec.unit_tables, "privilege_list": r.spec.privilege_lists, "image": r.spec.images}
    import read_tables
    for kind, keys in extra.items():
        required = ("doc", "source", "devices") + tuple(sorted(keys - {"spans", "instance", "null", "slots"}))
        for where, name, table in raw[kind]:
            ok = r.keys(where, table, common | keys, required)
            if not _IDENT.match(name):
                r.error(where, "bad name")
            item = Table(kind, name, where, table.get("doc", ""), table.get("source", ""),
                         r.device_names(where, table), [])
            if "engines" in keys:
                item.engines = r.engine_names(where, table.get("engines"))
            if ok:
                getattr(read_tables, kind)(r, item, table)
            stores[kind][name] = item
    if raw["range_table"]:
        read_tables.check_null_ranges(r)


def _exception(r, where, table):
    if not r.keys(where, table, {"check", "item", "fields", "gens", "reason"}, ("check", "item", "reason")):
        return
    if table["check"] not in CHECKS:
        r.error(where, f"unknown check {table['check']!r}")
    r.spec.exceptions.append(Exception_(table["check"], table["item"], table.get("fields", []), r.gens(where, table),
                                        table["reason"], where))
