#include "mmio/privilege.h"

#include <algorithm>

#include "base/bits.h"

namespace halogen {

namespace {

// The slots stand in three runs.
struct SlotRun {
  uint32_t first_index;
  uint32_t count;
  uint32_t offset;
};
constexpr SlotRun kSlotRuns[] = {{0, 12, 0x4d0}, {12, 4, 0x010}, {16, 4, 0x1d0}};

bool row_covers(const spec::PrivilegeRow& row, uint32_t offset, uint32_t engine_base) {
  const uint64_t start = uint64_t{row.offset} + (row.base == spec::RegisterBase::engine ? engine_base : 0u);
  return offset >= start && offset < start + uint64_t{row.dwords} * 4;
}

}  // namespace

uint32_t force_to_nonpriv_offset(size_t index) {
  for (const SlotRun& run : kSlotRuns) {
    if (index >= run.first_index && index < run.first_index + run.count) {
      return run.offset + 4 * (static_cast<uint32_t>(index) - run.first_index);
    }
  }
  return 0;
}

std::optional<size_t> force_to_nonpriv_index(uint32_t engine_offset) {
  for (const SlotRun& run : kSlotRuns) {
    if (engine_offset >= run.offset && engine_offset < run.offset + 4 * run.count && engine_offset % 4 == 0) {
      return run.first_index + (engine_offset - run.offset) / 4;
    }
  }
  return std::nullopt;
}

ForceToNonPriv ForceToNonPriv::decode(uint32_t slot) {
  ForceToNonPriv out;
  out.bytes = 4u << (2 * bits(slot, 1, 0));  // 1, 4, 16 or 64 dwords
  out.start = static_cast<uint32_t>(align_down(slot & 0x03ff'fffcu, out.bytes));
  const auto access = bits(slot, 29, 28);  // 3 is not defined: matches nothing
  out.reads = access == 0 || access == 1;
  out.writes = access == 0 || access == 2;
  out.deny = bit(slot, 30);
  return out;
}

bool ForceToNonPriv::covers(uint32_t offset, RegisterAccess access) const {
  return (access == RegisterAccess::read ? reads : writes) && offset >= start && offset - start < bytes;
}

Privilege::Privilege(spec::DeviceId device) : Privilege(device, spec::privilege_lists()) {}

Privilege::Privilege(spec::DeviceId device, std::span<const spec::PrivilegeList> lists) {
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
    // What may be written may be read too.
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
    const ForceToNonPriv slot = ForceToNonPriv::decode(value);
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

}  // namespace halogen
