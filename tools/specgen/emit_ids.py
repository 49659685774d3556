"""spec/generation_ids.h, spec/gens_with_device.h, spec/item_ids.h, spec/thread_kinds.h and spec/registry.cpp."""

from cppnames import gen_ident, ident
from emit_types import KIND, NOTE, NUMBERED
from model import ENGINES, THREADS


def _enum(name, labels, kind="uint8_t"):
    return [f"enum class {name} : {kind} {{"] + [f"  {label}," for label in labels] + ["};"]


def generation_ids(spec):
    out = [NOTE + "#pragma once", "", "#include <cstddef>", "#include <cstdint>", "", "namespace halogen::spec {", ""]
    out += _enum("GenId", [f"{gen_ident(g)},  // {d}".rstrip(",") for g, d in zip(spec.gens, spec.gen_docs)])
    out += [f"constexpr size_t kGenCount = {len(spec.gens)};", ""]
    out += _enum("DeviceId", [ident(d) for d in spec.devices]) + [f"constexpr size_t kDeviceCount = {len(spec.devices)};", ""]
    out += _enum("EngineClass", ENGINES) + [f"constexpr size_t kEngineClassCount = {len(ENGINES)};", ""]
    for name, table in (("Feature", spec.features), ("Quirk", spec.quirks)):
        out += [f"enum class {name} : uint8_t {{"] + [f"  {ident(k)},  // {' '.join(d.split())}" for k, d in table.items()]
        out += ["};", f"constexpr size_t k{name}Count = {len(table)};", ""]
    return "\n".join(out + ["}  // namespace halogen::spec", ""])


def gens_with_device(spec):
    gens = sorted({device.gen for device in spec.devices.values()})
    out = [NOTE + "#pragma once", "", '#include "spec/descriptors.h"', "", "namespace halogen::spec {", ""]
    out += ["// The generations of which spec/devices.toml has a device."]
    masks = " | ".join(f"mask_of(GenId::{gen_ident(spec.gens[g])})" for g in gens) or "0"
    out += [f"constexpr GenMask kGensWithDevice = static_cast<GenMask>({masks});", ""]
    return "\n".join(out + ["}  // namespace halogen::spec", ""])


def thread_kinds():
    out = [NOTE + "#pragma once", "", "#include <cstddef>", "#include <cstdint>", "#include <string_view>", "", "namespace halogen::spec {", ""]
    out += ["// Kinds of threads, by what their first registers hold."] + _enum("ThreadKind", THREADS)
    out += [f"constexpr std::string_view kThreadNames[] = {{{', '.join(chr(34) + t + chr(34) for t in THREADS)}}};",
            "", "}  // namespace halogen::spec", ""]
    return "\n".join(out)


def item_ids(names):
    out = [NOTE + "#pragma once", "", "#include <cstddef>", "#include <cstdint>", "", "namespace halogen::spec {", ""]
    for kind in NUMBERED:
        order = names.order[kind]
        out += _enum(f"{KIND[kind]}Id", [ident(n) for n in order], "uint16_t")
        out += [f"constexpr size_t k{KIND[kind]}Count = {len(order)};", ""]
    return "\n".join(out + ["}  // namespace halogen::spec", ""])


def registry(spec, names):
    out = [NOTE] + [f'#include "hw/{t}.h"' for t in spec.topics]
    out += ['#include "spec/descriptors.h"', '#include "spec/payload.h"', '#include "spec/pci.h"', "", "namespace halogen::spec {", ""]
    for kind, order in names.order.items():
        desc = KIND[kind] + "Desc"
        if order:
            out += [f"static constexpr const {desc}* k{KIND[kind]}s[] = {{"]
            out += [f"    &hw::{names.cpp[kind, n]}::kDesc," for n in order] + ["};"]
        body = f"k{KIND[kind]}s" if order else "{}"
        out += [f"std::span<const {desc}* const> {kind}s() {{ return {body}; }}", ""]
    return "\n".join(out + ["}  // namespace halogen::spec", ""])
