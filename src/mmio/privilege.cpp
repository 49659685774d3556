#include "mmio/privilege.h"

#include <algorithm>

#include "base/bits.h"
#include "hw/context.h"
#include "spec/packing.h"

namespace halogen::mmio {

namespace {

// The slots are in three ranges, which the manual numbers consecutively.
constexpr const spec::RegisterDesc* kSlotRuns[] = {&hw::FORCE_TO_NONPRIV::kDesc, &hw::FORCE_TO_NONPRIV_12_15::kDesc,
                                                   &hw::FORCE_TO_NONPRIV_16_19::kDesc};

bool row_covers(const spec::PrivilegeRow& row, uint32_t offset, uint32_t engine_base) {
  const uint64_t start = uint64_t{row.offset} + (row.base == spec::RegisterBase::engine ? engine_base : 0u);
  return offset >= start && offset < start + uint64_t{row.dwords} * 4;
}

}  // namespace

std::optional<uint32_t> force_to_nonpriv_offset(spec::DeviceId device, size_t index) {
  for (const spec::RegisterDesc* run : kSlotRuns) {
    if (index < run->count) {
      const uint32_t first = run->offset(device);
      return first == spec::kNoOffset ? std::nullopt
                                      : std::optional(first + run->stride * static_cast<uint32_t>(index));
    }
    index -= run->count;
  }
  return std::nullopt;
}

std::optional<size_t> force_to_nonpriv_index(spec::DeviceId device, uint32_t engine_offset) {
  for (size_t index = 0; index < kForceToNonPrivSlots; ++index) {
    if (force_to_nonpriv_offset(device, index) == engine_offset) {
      return index;
    }
  }
  return std::nullopt;
}

ForceToNonPriv ForceToNonPriv::decode(spec::GenId gen, uint32_t slot) {
  ForceToNonPriv out;
  if (hw::FORCE_TO_NONPRIV::kDesc.layout(gen) == nullptr) {
    return out;
  }
  // The three ranges have one layout.
  const auto value = spec::unpack_register<hw::FORCE_TO_NONPRIV>(gen, slot);
  out.bytes = 4u << (2 * static_cast<unsigned>(value.range));  // 1, 4, 16 or 64 dwords
  out.start = static_cast<uint32_t>(align_down(value.address, out.bytes));
  using Access = hw::NonprivAccess;
  out.reads = value.access == Access::READ_WRITE || value.access == Access::READ;
  out.writes = value.access == Access::READ_WRITE || value.access == Access::WRITE;
  out.deny = value.deny;
  return out;
}

bool ForceToNonPriv::covers(uint32_t offset, RegisterAccess access) const {
  return (access == RegisterAccess::read ? reads : writes) && offset >= start && offset - start < bytes;
}

Privilege::Privilege(spec::DeviceId device) : Privilege(device, spec::privilege_lists()) {}

Privilege::Privilege(spec::DeviceId device, std::span<const spec::PrivilegeList> lists)
    : gen_(spec::model(device).gen) {
  for (const spec::PrivilegeList& list : lists) {
    if ((list.devices & spec::mask_of(device)) != 0) {
      lists_.push_back(&list);
    }
  }
}

bool Privilege::listed(const spec::EngineModel& engine, uint32_t offset, RegisterAccess access) const {
  return std::ranges::any_of(lists_, [&](const spec::PrivilegeList* list) {
    if ((list->engines & spec::mask_of(engine.engine_class)) == 0 ||
        (list->instance >= 0 && list->instance != engine.instance)) {
      return false;
    }
    // Writable registers are readable too.
    if (access == RegisterAccess::write && list->access != spec::ListAccess::write) {
      return false;
    }
    return std::ranges::any_of(
        list->rows, [&](const spec::PrivilegeRow& row) { return row_covers(row, offset, engine.mmio_base); });
  });
}

Permission Privilege::check(const spec::EngineModel& engine, uint32_t offset, RegisterAccess access,
                            std::span<const uint32_t> slots) const {
  bool added = false;
  for (const uint32_t value : slots) {
    const ForceToNonPriv slot = ForceToNonPriv::decode(gen_, value);
    if (slot.covers(offset, access)) {
      if (slot.deny) {
        return Permission::denied;
      }
      added = true;
    }
  }
  if (added || listed(engine, offset, access)) {
    return Permission::allowed;
  }
  return has_lists() ? Permission::denied : Permission::unknown;
}

}  // namespace halogen::mmio
