#include "device/options.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "device/firmware.h"
#include "gen/generation.h"

namespace halogen::device {

namespace {

constexpr uint64_t kStolenStep = 0x10'0000;
constexpr uint64_t kMaxStolen = 0x1'0000'0000;
constexpr uint64_t kMinAperture = 0x400'0000;
constexpr uint64_t kMinLocal = 0x1000'0000;  // room for what firmware reserves

const spec::SteppingModel* find_stepping(const spec::DeviceModel& model, const DeviceOptions& options) {
  const auto found = std::ranges::find(model.steppings, options.stepping, &spec::SteppingModel::name);
  return found == model.steppings.end() ? nullptr : &*found;
}

std::string wrong_stepping(const spec::DeviceModel& model, const std::string& stepping) {
  std::string names;
  for (const spec::SteppingModel& each : model.steppings) {
    names += fmt::format("{}{}", names.empty() ? "" : " or ", each.name);
  }
  return names.empty() ? fmt::format("the stepping of {} cannot be chosen", model.name)
                       : fmt::format("\"{}\" is not a stepping of {}; use {}", stepping, model.name, names);
}

}  // namespace

Result<void> check_options(const spec::DeviceModel& model, const DeviceOptions& options) {
  if (!eu::is_available(options.executor)) {
    return Error{fmt::format("executor \"{}\" is not available; use interpreter", eu::name_of(options.executor))};
  }
  if (!options.stepping.empty() && find_stepping(model, options) == nullptr) {
    return Error{wrong_stepping(model, options.stepping)};
  }
  const bool known_id = options.pci_id == 0 || options.pci_id == model.pci_id ||
                        std::ranges::find(model.other_pci_ids, options.pci_id) != model.other_pci_ids.end();
  if (!known_id) {
    return Error{fmt::format("{:04x} is not a PCI id of {}", options.pci_id, model.name)};
  }
  for (const uint64_t bytes : {options.local_bytes, options.local_bar_bytes}) {
    if (bytes != 0 && model.local_bytes == 0) {
      return Error{fmt::format("{} has no local memory to resize", model.name)};
    }
    if (bytes != 0 && (!std::has_single_bit(bytes) || bytes < kMinLocal || bytes > model.local_bytes)) {
      return Error{fmt::format("local memory of {} and its BAR must be a power of two from {} MB to {} MB", model.name,
                               kMinLocal >> 20, model.local_bytes >> 20)};
    }
  }
  if (options.gtt_bytes != 0 &&
      (!std::has_single_bit(options.gtt_bytes) || options.gtt_bytes < 0x80000 || options.gtt_bytes > model.gtt_bytes)) {
    return Error{fmt::format("the global table of {} must be a power of two from 512 KB to {} KB", model.name,
                             model.gtt_bytes >> 10)};
  }
  if (options.aperture_bytes != 0) {
    const uint64_t entry = Generation(model).ggtt_entry_bytes();
    const uint64_t reach = gtt_bytes(model, options) / entry * 4096;
    if (std::ranges::find(model.bars, spec::BarKind::gmadr, &spec::BarModel::kind) == model.bars.end()) {
      return Error{fmt::format("{} has no aperture to resize", model.name)};
    }
    if (!std::has_single_bit(options.aperture_bytes) || options.aperture_bytes < kMinAperture ||
        options.aperture_bytes > reach) {
      return Error{fmt::format("the aperture of {} must be a power of two from {} MB to {} MB", model.name,
                               kMinAperture >> 20, reach >> 20)};
    }
  }
  if (options.stolen_bytes && (*options.stolen_bytes % kStolenStep != 0 || *options.stolen_bytes > kMaxStolen ||
                               (model.local_bytes != 0 && *options.stolen_bytes >= local_bytes(model, options) / 2))) {
    return Error{fmt::format("stolen memory of {} must be a multiple of 1 MB up to {} MB, and half of local memory",
                             model.name, kMaxStolen >> 20)};
  }
  if (options.wopcm_offset) {
    const uint64_t stolen = stolen_bytes(model, options);
    if (*options.wopcm_offset % kStolenStep != 0 || stolen < kWopcmBytes ||
        *options.wopcm_offset > stolen - kWopcmBytes) {
      return Error{fmt::format(
          "firmware's part of stolen memory of {} must start at a multiple of 1 MB and end within it", model.name)};
    }
  }
  if (options.stolen_base != 0) {
    const uint64_t table = gtt_bytes(model, options);
    const uint64_t end = uint64_t{1} << model.physical_bits;
    if (model.local_bytes != 0) {
      return Error{fmt::format("stolen memory of {} lies in local memory; its address cannot be set", model.name)};
    }
    if (options.stolen_base % kStolenStep != 0 || options.stolen_base <= table || options.stolen_base > end ||
        stolen_bytes(model, options) > end - options.stolen_base) {
      return Error{fmt::format("stolen memory of {} must start at a multiple of 1 MB above {} MB and end below {} GB",
                               model.name, table >> 20, end >> 30)};
    }
  }
  return {};
}

spec::DeviceModel model_of(const spec::DeviceModel& model, const DeviceOptions& options) {
  spec::DeviceModel chosen = model;
  if (const spec::SteppingModel* const stepping = find_stepping(model, options)) {
    chosen.pci_revision = stepping->revision;
    chosen.quirks |= stepping->quirks;
  }
  return chosen;
}

uint64_t bar_bytes(const spec::BarModel& bar, const DeviceOptions& options) {
  if (bar.kind == spec::BarKind::gmadr && options.aperture_bytes != 0) {
    return options.aperture_bytes;
  }
  if (bar.kind != spec::BarKind::lmem) {
    return bar.bytes;
  }
  return options.local_bar_bytes != 0 ? options.local_bar_bytes
         : options.local_bytes != 0   ? options.local_bytes
                                      : bar.bytes;
}

uint64_t local_bytes(const spec::DeviceModel& model, const DeviceOptions& options) {
  if (options.wide_local && model.local_bytes != 0) {
    return uint64_t{1} << model.physical_bits;
  }
  return options.local_bytes != 0 ? options.local_bytes : model.local_bytes;
}

uint64_t stolen_bytes(const spec::DeviceModel& model, const DeviceOptions& options) {
  return options.stolen_bytes.value_or(model.stolen_bytes);
}

uint64_t gtt_bytes(const spec::DeviceModel& model, const DeviceOptions& options) {
  return options.gtt_bytes != 0 ? options.gtt_bytes : model.gtt_bytes;
}

}  // namespace halogen::device
