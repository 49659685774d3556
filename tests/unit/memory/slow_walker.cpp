#include "slow_walker.h"

#include <cstring>

namespace halogen::memory::slow {
namespace {

// Tables are aligned, so an entry never crosses a frame. False: the frame is unmapped.
bool read_entry(Memory& memory, const Context& context, Outcome& outcome, uint64_t address, size_t bytes,
                uint64_t& entry) {
  outcome.entries.push_back(address);
  const uint8_t* frame = memory.frame(context.table_space, address / 4096);
  if (frame == nullptr) {
    outcome.reason = memory::FaultReason::table_hole;
    return false;
  }
  entry = 0;
  std::memcpy(&entry, frame + address % 4096 / bytes * bytes, bytes);
  return true;
}

void write_entry(Memory& memory, const Context& context, uint64_t address, uint64_t entry) {
  std::memcpy(memory.frame(context.table_space, address / 4096) + address % 4096 / 8 * 8, &entry, 8);
}

Outcome with_reason(Outcome outcome, memory::FaultReason reason) {
  outcome.reason = reason;
  return outcome;
}

// Returns whether bits 63:47 are all zero or all one.
bool is_canonical48(uint64_t address) {
  return address <= 0x0000'7fff'ffff'ffff || address >= 0xffff'8000'0000'0000;
}

// Returns bits HAW-1 to `low`.
uint64_t address_field(const Context& context, uint64_t entry, unsigned low) {
  uint64_t field = 0;
  for (unsigned bit = low; bit < context.haw; ++bit) {
    field |= entry & (uint64_t{1} << bit);
  }
  return field;
}

// A one-level table of four-byte entries; the position of the address bits above 31 differs by generation.
Outcome one_level_dwords(Memory& memory, const Context& context, uint64_t address, unsigned address_bits,
                         bool is_gen6) {
  Outcome outcome;
  if (address >= uint64_t{1} << address_bits) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  const uint64_t index = address / 4096;
  if (context.entries != 0 && index >= context.entries) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  uint64_t pte = 0;
  if (!read_entry(memory, context, outcome, context.root[0] + 4 * index, 4, pte)) {
    return outcome;
  }
  if ((pte & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  outcome.mapping.address = pte & 0xffff'f000;
  if (is_gen6) {
    outcome.mapping.address += ((pte >> 4) & 0xff) << 32;
  } else {
    outcome.mapping.address += ((pte >> 4) & 0xf) << 32;
    outcome.mapping.snooped = ((pte >> 1) & 3) == 3;
  }
  return outcome;
}

Outcome one_level_qwords(Memory& memory, const Context& context, uint64_t address, bool has_local_bit) {
  Outcome outcome;
  if (address > 0xffff'ffff) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  const uint64_t index = address / 4096;
  if (context.entries != 0 && index >= context.entries) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  uint64_t pte = 0;
  if (!read_entry(memory, context, outcome, context.root[0] + 8 * index, 8, pte)) {
    return outcome;
  }
  if ((pte & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  outcome.mapping.address = address_field(context, pte, 12);
  if (has_local_bit && context.local_memory && (pte & 2) != 0) {
    outcome.mapping.space = MemorySpace::local;
  }
  return outcome;
}

// A leaf of the legacy tables: bits 1 R/W, 3 PWT, 4 PCD, 9 Null, 11 Local Memory; PAT is bit 7 in a page table and bit
// 12 in a directory. Only the leaf holds the write permission.
Outcome legacy_leaf(const Context& context, Outcome outcome, uint64_t entry, unsigned page_bits, Access access) {
  const unsigned pat_bit = page_bits >= 21 ? 12 : 7;
  Mapping& mapping = outcome.mapping;
  mapping.page_bits = static_cast<uint8_t>(page_bits);
  mapping.writable = (entry & 0x2) != 0;
  if (access.writes() && !mapping.writable) {
    return with_reason(outcome, FaultReason::write_denied);
  }
  mapping.address = address_field(context, entry, page_bits);
  mapping.null = (entry & 0x200) != 0;
  if (context.local_memory && (entry & 0x800) != 0) {
    mapping.space = MemorySpace::local;
  }
  mapping.type_index = static_cast<uint8_t>(((entry >> pat_bit) & 1) * 4 + ((entry >> 4) & 1) * 2 + ((entry >> 3) & 1));
  return outcome;
}

// The page table below a legacy directory entry; bit 11 of that entry selects 64 KB pages.
Outcome legacy_page_table(Memory& memory, const Context& context, Outcome outcome, uint64_t pde, uint64_t address,
                          Access access) {
  const bool is_64k = (pde & 0x800) != 0 && context.medium_pages;
  const uint64_t index = is_64k ? ((address >> 16) & 0x1f) * 16 : (address >> 12) & 0x1ff;
  uint64_t pte = 0;
  if (!read_entry(memory, context, outcome, address_field(context, pde, 12) + 8 * index, 8, pte)) {
    return outcome;
  }
  if ((pte & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  return legacy_leaf(context, outcome, pte, is_64k ? 16 : 12, access);
}

// IA-32e rights: R/W and U/S are ANDed over the levels, XD is ORed.
struct AdvancedRights {
  bool all_writable = true;
  bool all_user = true;
  bool any_execute_disable = false;

  void add(uint64_t entry) {
    all_writable = all_writable && (entry & 0x2) != 0;
    all_user = all_user && (entry & 0x4) != 0;
    any_execute_disable = any_execute_disable || (entry >> 63) != 0;
  }
};

bool reserved_set(const Context& context, uint64_t entry, unsigned high, unsigned low) {
  for (unsigned bit = context.haw; bit <= 51; ++bit) {
    if (((entry >> bit) & 1) != 0) {
      return true;
    }
  }
  for (unsigned bit = low; bit <= high; ++bit) {
    if (((entry >> bit) & 1) != 0) {
      return true;
    }
  }
  return false;
}

// Marks an entry as used: A (bit 5), and EA (bit 10) if the PASID entry enables it.
void mark_used(Memory& memory, const Context& context, uint64_t address, uint64_t entry, bool dirty) {
  if (!context.accessed_dirty) {
    return;
  }
  entry |= 0x20;
  if (context.extended_accessed) {
    entry |= 0x400;
  }
  if (dirty) {
    entry |= 0x40;
  }
  write_entry(memory, context, address, entry);
}

Outcome advanced_leaf(Memory& memory, const Context& context, Outcome outcome, uint64_t entry, unsigned page_bits,
                      const AdvancedRights& rights, Access access) {
  const unsigned pat_bit = page_bits >= 21 ? 12 : 7;
  Mapping& mapping = outcome.mapping;
  mapping.page_bits = static_cast<uint8_t>(page_bits);
  mapping.writable = rights.all_writable;
  mapping.user = rights.all_user;
  mapping.executable = !(context.execute_disable && rights.any_execute_disable);
  if (!context.supervisor && !mapping.user) {
    return with_reason(outcome, FaultReason::privilege_denied);
  }
  if (access.writes() && !mapping.writable && !(context.supervisor && !context.write_protect)) {
    return with_reason(outcome, FaultReason::write_denied);
  }
  if (access.instruction && !mapping.executable) {
    return with_reason(outcome, FaultReason::execute_denied);
  }
  mark_used(memory, context, outcome.entries.back(), entry, access.writes());
  mapping.dirty = !context.accessed_dirty || access.writes() || (entry & 0x40) != 0;
  mapping.address = address_field(context, entry, page_bits);
  mapping.type_index = static_cast<uint8_t>(((entry >> pat_bit) & 1) * 4 + ((entry >> 4) & 1) * 2 + ((entry >> 3) & 1));
  return outcome;
}

}  // namespace

Outcome ggtt_gen4(Memory& memory, const Context& context, uint64_t address, Access) {
  return one_level_dwords(memory, context, address, 32, false);
}

Outcome ggtt_gen6(Memory& memory, const Context& context, uint64_t address, Access) {
  return one_level_dwords(memory, context, address, 32, true);
}

Outcome ggtt_gen8(Memory& memory, const Context& context, uint64_t address, Access) {
  return one_level_qwords(memory, context, address, false);
}

Outcome ggtt_gen12(Memory& memory, const Context& context, uint64_t address, Access) {
  return one_level_qwords(memory, context, address, true);
}

// Up to 512 pages of PTEs: 2 GB.
Outcome ppgtt_flat_gen4(Memory& memory, const Context& context, uint64_t address, Access) {
  return one_level_dwords(memory, context, address, 31, false);
}

// 512 directory entries of 4 MB each; an entry holds address bits 31:12 in place and 39:32 in 11:4.
Outcome ppgtt_directory_gen6(Memory& memory, const Context& context, uint64_t address, Access) {
  Outcome outcome;
  if (address > 0x7fff'ffff) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  const uint64_t directory_index = address / (4 * 1024 * 1024);
  if (context.entries != 0 && directory_index >= context.entries) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  uint64_t pde = 0;
  if (!read_entry(memory, context, outcome, context.root[0] + 4 * directory_index, 4, pde)) {
    return outcome;
  }
  if ((pde & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  const uint64_t table = (pde & 0xffff'f000) + (((pde >> 4) & 0xff) << 32);
  uint64_t pte = 0;
  if (!read_entry(memory, context, outcome, table + 4 * (address / 4096 % 1024), 4, pte)) {
    return outcome;
  }
  if ((pte & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  outcome.mapping.address = (pte & 0xffff'f000) + (((pte >> 4) & 0xff) << 32);
  return outcome;
}

// Four pointers by 31:30, directory by 29:21, table by 20:12. No 2 MB or 1 GB pages.
Outcome legacy32(Memory& memory, const Context& context, uint64_t address, Access access) {
  Outcome outcome;
  if (address > 0xffff'ffff) {
    return with_reason(outcome, FaultReason::out_of_range);
  }
  uint64_t pde = 0;
  if (!read_entry(memory, context, outcome, context.root[(address >> 30) & 3] + 8 * ((address >> 21) & 0x1ff), 8,
                  pde)) {
    return outcome;
  }
  if ((pde & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  return legacy_page_table(memory, context, outcome, pde, address, access);
}

// PML4 47:39, PDP 38:30, PD 29:21, PT 20:12; bit 7 of a PDP or PD entry makes it a page.
Outcome legacy48(Memory& memory, const Context& context, uint64_t address, Access access) {
  Outcome outcome;
  if (!is_canonical48(address)) {
    return with_reason(outcome, FaultReason::not_canonical);
  }
  uint64_t pml4e = 0;
  if (!read_entry(memory, context, outcome, context.root[0] + 8 * ((address >> 39) & 0x1ff), 8, pml4e)) {
    return outcome;
  }
  if ((pml4e & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  uint64_t pdpe = 0;
  if (!read_entry(memory, context, outcome, address_field(context, pml4e, 12) + 8 * ((address >> 30) & 0x1ff), 8,
                  pdpe)) {
    return outcome;
  }
  if ((pdpe & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  if ((pdpe & 0x80) != 0) {
    return legacy_leaf(context, outcome, pdpe, 30, access);
  }
  uint64_t pde = 0;
  if (!read_entry(memory, context, outcome, address_field(context, pdpe, 12) + 8 * ((address >> 21) & 0x1ff), 8, pde)) {
    return outcome;
  }
  if ((pde & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  if ((pde & 0x80) != 0) {
    return legacy_leaf(context, outcome, pde, 21, access);
  }
  return legacy_page_table(memory, context, outcome, pde, address, access);
}

Outcome advanced48(Memory& memory, const Context& context, uint64_t address, Access access) {
  Outcome outcome;
  AdvancedRights rights;
  if (!is_canonical48(address)) {
    return with_reason(outcome, FaultReason::not_canonical);
  }

  uint64_t pml4e = 0;
  if (!read_entry(memory, context, outcome, context.root[0] + 8 * ((address >> 39) & 0x1ff), 8, pml4e)) {
    return outcome;
  }
  if ((pml4e & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  if (reserved_set(context, pml4e, 7, 7)) {
    return with_reason(outcome, FaultReason::reserved_bit);
  }
  rights.add(pml4e);
  mark_used(memory, context, outcome.entries.back(), pml4e, false);

  uint64_t pdpe = 0;
  if (!read_entry(memory, context, outcome, address_field(context, pml4e, 12) + 8 * ((address >> 30) & 0x1ff), 8,
                  pdpe)) {
    return outcome;
  }
  if ((pdpe & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  const bool is_1g = (pdpe & 0x80) != 0;
  if (is_1g ? reserved_set(context, pdpe, 29, 13) : reserved_set(context, pdpe, 0, 1)) {
    return with_reason(outcome, FaultReason::reserved_bit);
  }
  rights.add(pdpe);
  if (is_1g) {
    return advanced_leaf(memory, context, outcome, pdpe, 30, rights, access);
  }
  mark_used(memory, context, outcome.entries.back(), pdpe, false);

  uint64_t pde = 0;
  if (!read_entry(memory, context, outcome, address_field(context, pdpe, 12) + 8 * ((address >> 21) & 0x1ff), 8, pde)) {
    return outcome;
  }
  if ((pde & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  const bool is_2m = (pde & 0x80) != 0;
  if (is_2m ? reserved_set(context, pde, 20, 13) : reserved_set(context, pde, 0, 1)) {
    return with_reason(outcome, FaultReason::reserved_bit);
  }
  rights.add(pde);
  if (is_2m) {
    return advanced_leaf(memory, context, outcome, pde, 21, rights, access);
  }
  mark_used(memory, context, outcome.entries.back(), pde, false);

  // Bit 11 is used only if the PASID entry enables 64 KB pages; else it is ignored.
  const bool is_64k = (pde & 0x800) != 0 && context.medium_pages;
  const uint64_t index = is_64k ? ((address >> 16) & 0x1f) * 16 : (address >> 12) & 0x1ff;
  uint64_t pte = 0;
  if (!read_entry(memory, context, outcome, address_field(context, pde, 12) + 8 * index, 8, pte)) {
    return outcome;
  }
  if ((pte & 1) == 0) {
    return with_reason(outcome, FaultReason::not_present);
  }
  if (is_64k ? reserved_set(context, pte, 15, 12) : reserved_set(context, pte, 0, 1)) {
    return with_reason(outcome, FaultReason::reserved_bit);
  }
  rights.add(pte);
  return advanced_leaf(memory, context, outcome, pte, is_64k ? 16 : 12, rights, access);
}

Walk find_walk(spec::GenId gen, WalkMode mode) {
  using spec::GenId;
  const bool is_gen4 = gen == GenId::gen4 || gen == GenId::gen4_5;
  switch (mode) {
    case WalkMode::ggtt:
      if (is_gen4) {
        return ggtt_gen4;
      }
      if (gen == GenId::gen6) {
        return ggtt_gen6;
      }
      return gen == GenId::gen12 ? ggtt_gen12 : ggtt_gen8;
    case WalkMode::ppgtt_flat:
      return is_gen4 ? ppgtt_flat_gen4 : nullptr;
    case WalkMode::ppgtt_directory:
      return gen == GenId::gen6 ? ppgtt_directory_gen6 : nullptr;
    case WalkMode::legacy32:
      return legacy32;
    case WalkMode::legacy48:
      return legacy48;
    case WalkMode::advanced48:
      return advanced48;
  }
  return nullptr;
}

}  // namespace halogen::memory::slow
