#include "mmio/privilege.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bits.h"
#include "hw/context.h"
#include "spec/packed.h"
#include "spec/packing.h"

namespace halogen::mmio {

namespace {

// The slots are in three ranges, which the manual numbers consecutively.
constexpr const spec::RegisterDesc* kSlotRuns[] = {&hw::FORCE_TO_NONPRIV::kDesc, &hw::FORCE_TO_NONPRIV_12_15::kDesc,
                                                   &hw::FORCE_TO_NONPRIV_16_19::kDesc};

// Returns the lists that hold for the streamer, either those of the hardware or those of the driver's slots.
std::vector<const spec::PrivilegeList*> lists_of(spec::DeviceId device, const spec::EngineModel& engine, bool slots) {
  std::vector<const spec::PrivilegeList*> lists;
  for (const spec::PrivilegeList& list : spec::privilege_lists()) {
    if (list.slots == slots && (list.devices & spec::mask_of(device)) != 0 &&
        (list.engines & spec::mask_of(engine.engine_class)) != 0 &&
        (list.instance < 0 || list.instance == engine.instance)) {
      lists.push_back(&list);
    }
  }
  return lists;
}

uint32_t offset_of(const spec::PrivilegeRow& row, uint32_t engine_base) {
  return row.offset + (row.base == spec::RegisterBase::engine ? engine_base : 0u);
}

hw::NonprivRange range_of(uint32_t dwords) {
  unsigned code = 0;
  for (; dwords > 1; dwords /= 4) {
    ++code;
  }
  return static_cast<hw::NonprivRange>(code);
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
  if (slot == 0 || hw::FORCE_TO_NONPRIV::kDesc.layout(gen) == nullptr) {
    return out;  // not programmed: no register is at offset 0
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

std::vector<uint32_t> slots_of_driver(spec::DeviceId device, const spec::EngineModel& engine) {
  std::vector<uint32_t> values;
  for (const spec::PrivilegeList* list : lists_of(device, engine, true)) {
    for (const spec::PrivilegeRow& row : list->rows) {
      hw::FORCE_TO_NONPRIV slot;
      slot.address = offset_of(row, engine.mmio_base);
      slot.access = list->access == spec::ListAccess::write ? hw::NonprivAccess::READ_WRITE : hw::NonprivAccess::READ;
      slot.range = range_of(row.dwords);
      values.push_back(spec::packed32(slot, spec::model(device).gen));
    }
  }
  return values;
}

Privilege::Privilege(spec::DeviceId device, const spec::EngineModel& engine)
    : Privilege(engine, lists_of(device, engine, false)) {}

Privilege::Privilege(const spec::EngineModel& engine, std::span<const spec::PrivilegeList* const> lists) {
  for (const spec::PrivilegeList* list : lists) {
    for (const spec::PrivilegeRow& row : list->rows) {
      add(readable_, row, engine.mmio_base);  // writable registers are readable too
      if (list->access == spec::ListAccess::write) {
        add(writable_, row, engine.mmio_base);
      }
    }
  }
  merge(readable_);
  merge(writable_);
}

void Privilege::add(Ranges& ranges, const spec::PrivilegeRow& row, uint32_t engine_base) {
  const uint64_t start = offset_of(row, engine_base);
  ranges.push_back({start, start + uint64_t{row.dwords} * sizeof(uint32_t)});
}

void Privilege::merge(Ranges& ranges) {
  std::ranges::sort(ranges, {}, &Range::start);
  Ranges merged;
  for (const Range& range : ranges) {
    if (!merged.empty() && range.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

bool Privilege::listed(uint32_t offset, RegisterAccess access) const {
  const Ranges& ranges = access == RegisterAccess::write ? writable_ : readable_;
  const auto after = std::ranges::upper_bound(ranges, uint64_t{offset}, {}, &Range::start);
  return after != ranges.begin() && offset < std::prev(after)->end;
}

bool Privilege::allows(uint32_t offset, RegisterAccess access, std::span<const ForceToNonPriv> slots) const {
  bool allowed = listed(offset, access);
  for (const ForceToNonPriv& slot : slots) {
    if (slot.covers(offset, access)) {
      if (slot.deny) {
        return false;
      }
      allowed = true;
    }
  }
  return allowed;
}

}  // namespace halogen::mmio
