#include "memory/page_format.h"

#include <optional>

#include "base/bits.h"
#include "base/check.h"
#include "spec/descriptors.h"

namespace halogen::memory {
namespace {

using spec::FieldDesc;
using spec::StructDesc;

struct LevelSource {
  std::string_view name;
  uint8_t shift;
  uint8_t index_bits;
  std::string_view table;
  std::string_view leaf;
  std::string_view medium;
};

struct FormatSource {
  WalkMode mode;
  std::optional<spec::Feature> feature;  // no value: every device has the walk
  uint8_t address_bits;
  bool canonical;
  bool advanced;
  std::span<const LevelSource> levels;
};

constexpr LevelSource kGgtt[] = {{"GTT", 12, 20, "GTT_PTE", "", ""}};
constexpr LevelSource kFlat[] = {{"PPGTT", 12, 19, "GTT_PTE", "", ""}};
constexpr LevelSource kDirectory[] = {{"PD", 22, 9, "PPGTT_PDE_GEN6", "", ""}, {"PT", 12, 10, "GTT_PTE", "", ""}};
constexpr LevelSource kLegacy32[] = {
    {"PD", 21, 9, "LEGACY_PDE32", "", ""},
    {"PT", 12, 9, "LEGACY_PTE", "", "LEGACY_PTE_64K"},
};
constexpr LevelSource kLegacy48[] = {
    {"PML4", 39, 9, "LEGACY_PML4E", "", ""},
    {"PDP", 30, 9, "LEGACY_PDPE", "LEGACY_PDPE_1G", ""},
    {"PD", 21, 9, "LEGACY_PDE", "LEGACY_PDE_2M", ""},
    {"PT", 12, 9, "LEGACY_PTE", "", "LEGACY_PTE_64K"},
};
constexpr LevelSource kAdvanced48[] = {
    {"PML4", 39, 9, "ADVANCED_PML4E", "", ""},
    {"PDP", 30, 9, "ADVANCED_PDPE", "ADVANCED_PDPE_1G", ""},
    {"PD", 21, 9, "ADVANCED_PDE", "ADVANCED_PDE_2M", ""},
    {"PT", 12, 9, "ADVANCED_PTE", "", "ADVANCED_PTE_64K"},
};

uint64_t mask_of(const spec::Layout& layout, std::string_view name) {
  for (const FieldDesc& field : layout.fields) {
    if (field.name == name) {
      return low_mask(field.width) << field.first_bit;
    }
  }
  return 0;
}

EntryFormat entry_format(std::string_view name, spec::GenId gen, unsigned host_address_bits) {
  EntryFormat format;
  if (name.empty()) {
    return format;
  }
  const StructDesc* desc = spec::find_struct(name);
  check(desc != nullptr && desc->layout(gen) != nullptr, name);
  const spec::Layout& layout = *desc->layout(gen);
  format.desc = desc;
  format.bytes = static_cast<uint8_t>(4 * desc->dwords_of_gen[static_cast<size_t>(gen)]);
  format.present = mask_of(layout, "present") | mask_of(layout, "valid");
  format.writable = mask_of(layout, "writable");
  format.user = mask_of(layout, "user");
  format.execute_disable = mask_of(layout, "execute_disable");
  format.accessed = mask_of(layout, "accessed");
  format.dirty = mask_of(layout, "dirty");
  format.extended_accessed = mask_of(layout, "extended_accessed");
  format.page_size = mask_of(layout, "page_size");
  format.intermediate_page_size = mask_of(layout, "intermediate_page_size");
  format.null = mask_of(layout, "null");
  format.local_memory = mask_of(layout, "local_memory");
  format.pwt = mask_of(layout, "pwt");
  format.pcd = mask_of(layout, "pcd");
  format.pat = mask_of(layout, "pat");
  format.snooped = mask_of(layout, "snooped");
  format.address_high = mask_of(layout, "address_high");
  if (format.address_high != 0) {
    format.address = mask_of(layout, "address_low");
    format.address_high_shift = static_cast<uint8_t>(32 - std::countr_zero(format.address_high));
  } else {
    // The description has the width that the manual prints. The device decides how many of these bits exist.
    const uint64_t printed = mask_of(layout, "address");
    const auto lowest = static_cast<unsigned>(std::countr_zero(printed));
    format.address = low_mask(host_address_bits) & ~low_mask(lowest);
    format.reserved |= printed;  // bits that the device lacks are reserved
  }
  for (const spec::ReservedDesc& reserved : layout.reserved) {
    if (!reserved.ignored && !reserved.must_be_one) {
      format.reserved |= low_mask(reserved.width) << reserved.first_bit;
    }
  }
  format.reserved &= ~format.address;
  return format;
}

PageFormat make_format(const FormatSource& source, spec::GenId gen, unsigned host_address_bits) {
  PageFormat format;
  format.mode = source.mode;
  format.address_bits = source.address_bits;
  format.canonical = source.canonical;
  format.permissions_of_all_levels = source.advanced;
  format.reserved_bits_fault = source.advanced;
  for (const LevelSource& level : source.levels) {
    format.levels.push_back(
        {level.name, level.shift, level.index_bits, entry_format(level.table, gen, host_address_bits),
         entry_format(level.leaf, gen, host_address_bits), entry_format(level.medium, gen, host_address_bits)});
  }
  format.has_write_permission = format.levels.back().table.writable != 0;
  return format;
}

}  // namespace

std::string_view name_of(WalkMode mode) {
  switch (mode) {
    case WalkMode::ggtt:
      return "GGTT";
    case WalkMode::ppgtt_flat:
      return "PPGTT (flat)";
    case WalkMode::ppgtt_directory:
      return "PPGTT (directory in the GTT)";
    case WalkMode::legacy32:
      return "legacy 32-bit PPGTT";
    case WalkMode::legacy48:
      return "legacy 48-bit PPGTT";
    case WalkMode::advanced48:
      return "advanced 48-bit";
  }
  return "invalid";
}

PageFormats::PageFormats(const spec::DeviceModel& model, unsigned host_address_bits) {
  using spec::Feature;
  const FormatSource sources[] = {
      {WalkMode::ggtt, std::nullopt, 32, false, false, kGgtt},
      {WalkMode::ppgtt_flat, Feature::ppgtt_1level, 31, false, false, kFlat},
      {WalkMode::ppgtt_directory, Feature::ppgtt_2level, 31, false, false, kDirectory},
      {WalkMode::legacy32, Feature::ppgtt_3level, 32, false, false, kLegacy32},
      {WalkMode::legacy48, Feature::ppgtt_4level, 48, true, false, kLegacy48},
      {WalkMode::advanced48, Feature::ppgtt_advanced, 48, true, true, kAdvanced48},
  };
  for (const FormatSource& source : sources) {
    if (!source.feature || model.has(*source.feature)) {
      formats_.push_back(make_format(source, model.gen, host_address_bits));
    }
  }
}

const PageFormat* PageFormats::find(WalkMode mode) const {
  for (const PageFormat& format : formats_) {
    if (format.mode == mode) {
      return &format;
    }
  }
  return nullptr;
}

}  // namespace halogen::memory
