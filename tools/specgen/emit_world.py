"""spec/device_data.cpp and spec/table_data.cpp: device models, range tables, privilege lists, context images."""

import engine_ids
from cppnames import gen_ident, ident
from emit_tables import Pool, mask, quote
from emit_types import NOTE
from model import ENGINES


def _flag(value):
    return "true" if value else "false"


def device_data(spec):
    bars, engines, ids = Pool("BarModel", "kBars"), Pool("EngineModel", "kEngines"), Pool("uint16_t", "kIds")
    families, codes = Pool("PciFamily", "kFamilies"), Pool("uint8_t", "kAubCodes")
    steppings = Pool("SteppingModel", "kSteppings")
    features, quirks = list(spec.features), list(spec.quirks)
    rows = []
    for d in spec.devices.values():
        t = d.data
        pci, topology, memory = t.get("pci", {}), t.get("topology", {}), t.get("memory", {})
        bar_span = bars.span(f"{{{b['index']}, BarKind::{b['kind']}, {b['bytes']:#x}, {b['bits']}, {_flag(b.get('prefetchable'))}}}"
                             for b in t.get("bars", []))
        engine_span = engines.span(f"{{{quote(e['name'])}, EngineClass::{e['class']}, {e.get('instance', 0)}, {e['base']:#x}, "
                                   f"{quote(e.get('domain', ''))}, {engine_ids.numbers(e)}}}" for e in d.engines)
        id_span = ids.span(f"{x:#x}" for x in pci.get("other_ids", []))
        family_span = families.span(f"{{{f['mask']:#x}, {f['id']:#x}}}" for f in t.get("pci_families", []))
        code_span = codes.span(str(x) for x in t.get("aub_codes", []))
        stepping_span = steppings.span(f"{{{quote(s['name'])}, {s['revision']:#x}, {mask(quirks.index(q) for q in s.get('quirks', []))}}}"
                                       for s in t.get("steppings", []))
        text = ", ".join(quote(t.get(k, "")) for k in ("names", "doc", "source", "supported"))
        rows.append(
            f"    {{DeviceId::{ident(d.name)}, {quote(d.name)}, {text}, GenId::{gen_ident(spec.gens[d.gen])}, "
            f"{pci.get('id', 0):#x}, {pci.get('revision', 0):#x}, {pci.get('class', 0):#x}, {pci.get('subsystem', 0):#x}, {bar_span}, "
            f"{t.get('mmio_bytes', 0):#x}, {t.get('gtt_offset', 0):#x}, {t.get('gtt_bytes', 0):#x}, {engine_span}, {{"
            + ", ".join(str(topology.get(k, 0)) for k in ("slices", "subslices", "eus", "threads", "l3_banks"))
            + f"}}, {t.get('timestamp', {}).get('hz', 0)}, {memory.get('stolen_bytes', 0):#x}, {memory.get('local_bytes', 0):#x}, "
            f"{memory.get('virtual_bits', 0)}, {memory.get('physical_bits', 0)}, {mask(features.index(f) for f in d.features)}, "
            f"{mask(quirks.index(q) for q in d.quirks)}, {id_span}, {family_span}, {code_span}, {stepping_span}}},")
    out = [NOTE + '#include "spec/device_model.h"', "", "namespace halogen::spec {", "",
           "using namespace std::string_view_literals;", "", "namespace {"]
    out += bars.lines() + engines.lines() + ids.lines() + families.lines() + codes.lines() + steppings.lines()
    out += ["constexpr DeviceModel kModels[] = {"] + rows + ["};", "}  // namespace", "",
            "std::span<const DeviceModel> device_models() { return kModels; }", ""]
    for kind, labels in (("GenId", spec.gens), ("EngineClass", ENGINES)):
        name = "kGenNames" if kind == "GenId" else "kEngineNames"
        out += [f"static constexpr std::string_view {name}[] = {{" + ", ".join(quote(x) for x in labels) + "};",
                f"std::string_view name_of({kind} id) {{ return {name}[static_cast<size_t>(id)]; }}", ""]
    return "\n".join(out + ["}  // namespace halogen::spec", ""])


def storage_data(spec, names):
    """spec/storage_data.cpp: registers that are storage on some devices, on some engines or at some indices."""
    order = list(spec.devices)
    rows = []
    for item in spec.items():
        if item.kind != "register" or item.is_storage_everywhere():
            continue
        for devices, engines, indices in item.storage:
            masks = (sum(1 << order.index(d) for d in devices), sum(1 << ENGINES.index(e) for e in engines), sum(1 << n for n in indices))
            rows.append(f"    {{RegisterId::{names.of(item)}, " + ", ".join(f"{m:#x}" for m in masks) + "},")
    out = [NOTE + '#include "spec/storage.h"', "", "#include <array>", "", '#include "spec/item_ids.h"', "", "namespace halogen::spec {", ""]
    out += ["namespace {", f"constexpr std::array<StoragePart, {len(rows)}> kParts{{{{"] + rows + ["}};", "}  // namespace", "",
            "std::span<const StoragePart> storage_parts() { return kParts; }", "", "}  // namespace halogen::spec", ""]
    return "\n".join(out)


def interface_data(spec):
    """spec/interface_data.cpp: what i915 tells programs about each chip."""
    engines = Pool("int8_t", "kEngines")
    rows = []
    for d in spec.devices.values():
        t = d.data.get("interface", {})
        numbers = ", ".join(str(t.get(k, 0)) for k in ("slices", "subslices", "eus", "fences", "command_parser", "huc_error",
                                                       "address_bits", "secure_error", "fence_stride_kib", "physical_swizzle",
                                                       "relocation_bits", "max_framebuffer", "process_tables"))
        flags = ", ".join(_flag(t.get(k)) for k in ("llc", "snoop", "coherent_aperture", "engine_reset", "read_only_pages",
                                                    "sseu_control", "bonds", "preemption", "secure_batches", "processor_copies",
                                                    "perf", "async_flips", "semaphore_events", "frequency_events",
                                                    "actual_frequency", "rc6_events", "client_times", "discrete",
                                                    "cache_calls", "caching_by_placement", "captures_in_recoverable",
                                                    "managed_buffers", "local_framebuffers"))
        rows.append(f"    {{{numbers}, {flags}, {engines.span(str(x) for x in t.get('engines', []))}}},")
    out = [NOTE + '#include "spec/interface_model.h"', "", "namespace halogen::spec {", "", "namespace {"] + engines.lines()
    out += ["constexpr InterfaceModel kInterfaces[] = {"] + rows + ["};", "}  // namespace", "",
            "const InterfaceModel& interface_of(DeviceId id) { return kInterfaces[static_cast<size_t>(id)]; }", "",
            "}  // namespace halogen::spec", ""]
    return "\n".join(out)


class _Tables:
    def __init__(self, spec):
        self.order = list(spec.devices)

    def head(self, t):
        return f"{quote(t.name)}, {quote(t.doc)}, {quote(t.source)}, {mask(self.order.index(d) for d in t.devices)}"


def _engines(t):
    return mask(ENGINES.index(e) for e in t.engines)


def table_data(spec):
    tables = _Tables(spec)
    ranges, rows = Pool("MmioRange", "kRanges"), Pool("PrivilegeRow", "kRows")
    registers, entries = Pool("ImageRegister", "kImageRegisters"), Pool("ImageEntry", "kEntries")
    units = Pool("UnitBase", "kUnits")
    all_tables = {"RangeTable": [], "UnitTable": [], "PrivilegeList": [], "ContextImageDesc": []}
    for t in spec.range_tables.values():
        span = ranges.span(f"{{{r['start']:#x}, {r['end']:#x}, {quote(r['domain'])}, {quote(r['replication'])}, {r['instances']}}}"
                           for r in t.rows)
        all_tables["RangeTable"].append(f"{{{tables.head(t)}, {_flag(t.null)}, {span}}}")
    for t in spec.unit_tables.values():
        span = units.span(f"{{{quote(r['name'])}, {r['base']:#x}}}" for r in t.rows)
        all_tables["UnitTable"].append(f"{{{tables.head(t)}, {span}}}")
    for t in spec.privilege_lists.values():
        span = rows.span(f"{{{quote(r['name'])}, RegisterBase::{r['base']}, {r['offset']:#x}, {r['dwords']}}}" for r in t.rows)
        all_tables["PrivilegeList"].append(f"{{{tables.head(t)}, {_engines(t)}, {t.instance}, ListAccess::{t.access}, {_flag(t.slots)}, {span}}}")
    for t in spec.images.values():
        lines = []
        for r in t.rows:
            span = registers.span(f"{{{quote(n)}, {o:#x}}}" for n, o in r["registers"])
            lines.append(f"{{{r['at']:#x}, {r['noops']}, {r['lri']:#x}, {span}}}")
        all_tables["ContextImageDesc"].append(f"{{{tables.head(t)}, {_engines(t)}, {entries.span(lines)}}}")
    out = [NOTE + '#include "spec/tables.h"', "", "namespace halogen::spec {", "",
           "using namespace std::string_view_literals;", "", "namespace {"]
    for pool in (ranges, units, rows, registers, entries):
        out += pool.lines()
    for kind, lines in all_tables.items():
        if lines:
            out += [f"constexpr {kind} k{kind}s[] = {{"] + [f"    {line}," for line in lines] + ["};"]
    out += ["}  // namespace", ""]
    for kind, function in (("RangeTable", "range_tables"), ("UnitTable", "unit_tables"), ("PrivilegeList", "privilege_lists"), ("ContextImageDesc", "context_images")):
        body = f"k{kind}s" if all_tables[kind] else "{}"
        out.append(f"std::span<const {kind}> {function}() {{ return {body}; }}")
    return "\n".join(out + ["", "}  // namespace halogen::spec", ""])
