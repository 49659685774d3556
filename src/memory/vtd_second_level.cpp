#include "memory/vtd_second_level.h"

#include <array>
#include <span>

#include "base/bits.h"
#include "spec/item_ids.h"

namespace halogen::memory {
namespace {

using spec::StructId;

constexpr unsigned kIndexBits = 9;

}  // namespace

SecondLevel::Shape SecondLevel::shape_of(StructId id, spec::GenId gen, unsigned host_address_bits) {
  Shape shape;
  const spec::Layout* layout = spec::desc(id).layout(gen);
  if (layout == nullptr) {
    return shape;
  }
  for (const spec::FieldDesc& field : layout->fields) {
    const uint64_t mask = low_mask(field.width) << field.first_bit;
    if (field.name == "readable") {
      shape.readable = mask;
    } else if (field.name == "writable") {
      shape.writable = mask;
    } else if (field.name == "executable") {
      shape.executable = mask;
    } else if (field.name == "page_size") {
      shape.page_size = mask;
    } else if (field.name == "address") {
      shape.address = mask & low_mask(host_address_bits);
      shape.reserved |= mask & ~shape.address;
    }
  }
  for (const spec::ReservedDesc& reserved : layout->reserved) {
    if (!reserved.ignored) {
      shape.reserved |= low_mask(reserved.width) << reserved.first_bit;
    }
  }
  return shape;
}

SecondLevel::SecondLevel(spec::GenId gen, const Setup& setup)
    : setup_(setup),
      table_(shape_of(StructId::SECOND_LEVEL_TABLE_ENTRY, gen, setup.host_address_bits)),
      leaf_{shape_of(StructId::SECOND_LEVEL_PTE, gen, setup.host_address_bits),
            shape_of(StructId::SECOND_LEVEL_PDE_2M, gen, setup.host_address_bits),
            shape_of(StructId::SECOND_LEVEL_PDPE_1G, gen, setup.host_address_bits)} {}

NestedTranslation::Result SecondLevel::translate(const PhysicalMemory& memory, uint64_t guest_address) const {
  Result result;
  result.readable = result.writable = result.executable = true;
  result.fault = FaultReason::second_level_absent;
  if ((guest_address >> (kFrameBits + kIndexBits * setup_.levels)) != 0) {
    return result;  // the address is wider than the tables
  }
  uint64_t table = setup_.table;
  for (unsigned below = setup_.levels; below-- > 0;) {
    const unsigned shift = kFrameBits + kIndexBits * below;
    const uint64_t at = table + 8 * bits(guest_address, shift + kIndexBits - 1, shift);
    uint64_t entry = 0;
    if (!memory.read(MemorySpace::system, PhysAddr(at), std::as_writable_bytes(std::span(&entry, 1)))) {
      result.fault = FaultReason::table_hole;
      return result;
    }
    const bool large = below != 0 && (entry & table_.page_size) != 0;
    if (large && below > 2) {
      result.fault = FaultReason::reserved_bit;  // pages of this size do not exist
      return result;
    }
    const bool leaf = below == 0 || large;
    const Shape& shape = leaf ? leaf_[below] : table_;
    if ((entry & (shape.readable | shape.writable)) == 0) {
      return result;
    }
    if ((entry & shape.reserved) != 0) {
      result.fault = FaultReason::reserved_bit;
      return result;
    }
    result.readable = result.readable && (entry & shape.readable) != 0;
    result.writable = result.writable && (entry & shape.writable) != 0;
    result.executable = result.executable && (!setup_.execute_enable || (entry & shape.executable) != 0);
    table = entry & shape.address;
    if (leaf) {
      result.page_bits = static_cast<uint8_t>(shift);
      result.address = table | (guest_address & low_mask(shift));
      result.fault = FaultReason::none;
      return result;
    }
  }
  return result;
}

}  // namespace halogen::memory
