// Address slices, page sizes, rights and null pages: WALK and MODE rows and the other PTE rows of the ledger of Ice
// Lake PRM vol. 6 (seed 001).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "covers.h"
#include "memory/gam.h"
#include "spec/descriptors.h"
#include "walk_rows_bench.h"

namespace halogen::memory::rows {
namespace {

constexpr uint64_t kGsm = 0x7f80'0000;  // start of the memory that holds the global table

WalkContext ggtt(const Bench& bench) {
  WalkContext context;
  context.format = bench.formats.find(WalkMode::ggtt);
  context.roots[0] = kGsm;
  context.entries = bit_at(20);
  return context;
}

TEST(WalkRows, GlobalTableIsIndexedByPageNumber) {
  COVERS("ICL-WALK-01");
  COVERS("ICL-MODE-01");
  Bench bench;
  const WalkContext context = ggtt(bench);
  for (const uint64_t va :
       {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x1234'5678}, uint64_t{0x8000'0fff}, uint64_t{0xffff'ffff}}) {
    SCOPED_TRACE(va);
    const uint64_t entry_address = kGsm + ((va >> 12) & 0xf'ffff) * 8;
    bench.put(entry_address, 0x12'3456'7000 | kP);
    Steps steps;
    const WalkResult result = walk(bench.memory, context, va, kWrite, &steps);
    ASSERT_FALSE(result.fault);
    EXPECT_EQ(steps.addresses, std::vector{entry_address});
    EXPECT_EQ(physical(result, va), 0x12'3456'7000 + (va & 0xfff));
    EXPECT_EQ(result.mapping.page_bits, 12);
  }
  EXPECT_EQ(walk(bench.memory, context, bit_at(32), kRead).fault.reason, FaultReason::out_of_range);
}

// Every bit of the entry: 0 present, HAW-1:12 the page, all others ignored.
TEST(WalkRows, GlobalTableEntryBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-18");
  for (const unsigned haw : {39u, 46u}) {
    Bench bench("icl", haw);
    const WalkContext context = ggtt(bench);
    const uint64_t page = 0x15'5a5a'5000;
    bench.put(kGsm, page | kP);
    const Mapping base = walk(bench.memory, context, 0, kRead).mapping;
    for (unsigned index = 0; index < 64; ++index) {
      SCOPED_TRACE(index);
      bench.put(kGsm, (page | kP) ^ bit_at(index));
      const WalkResult result = walk(bench.memory, context, 0, kWrite);
      if (index == 0) {
        EXPECT_EQ(result.fault.reason, FaultReason::not_present);
      } else if (index >= 12 && index < haw) {
        EXPECT_EQ(result.mapping.address, base.address ^ bit_at(index));
      } else {
        EXPECT_FALSE(result.fault);
        EXPECT_EQ(result.mapping, base);
      }
    }
  }
  // Gen12: bit 1 selects local memory, and the address extends to bit 45.
  Bench bench("dg1", 46);
  WalkContext context = ggtt(bench);
  context.local_memory = true;
  bench.put(kGsm, bit_at(45) | bit_at(12) | bit_at(1) | kP);
  const Mapping mapping = walk(bench.memory, context, 0, kRead).mapping;
  EXPECT_EQ(mapping.space, MemorySpace::local);
  EXPECT_EQ(mapping.address, bit_at(45) | bit_at(12));
}

// 32-bit addresses: VA[31:30] selects a pointer, VA[29:21] the directory entry, VA[20:12] the table entry.
TEST(WalkRows, Legacy32WalkUsesThePrintedAddressBits) {
  COVERS("ICL-WALK-03");
  COVERS("ICL-MODE-02");
  Bench bench;
  WalkContext context;
  context.format = bench.formats.find(WalkMode::legacy32);
  for (unsigned pdp = 0; pdp < 4; ++pdp) {
    context.roots[pdp] = 0x0100'0000 + 0x10'0000 * pdp;
  }
  for (const uint64_t va : {uint64_t{0x0000'0000}, uint64_t{0x3fff'ffff}, uint64_t{0x4020'1abc}, uint64_t{0x9a3d'5678},
                            uint64_t{0xffff'ffff}}) {
    SCOPED_TRACE(va);
    const uint64_t directory = context.roots[va >> 30] + ((va >> 21) & 0x1ff) * 8;
    const uint64_t table = 0x0300'0000 + ((va >> 12) & 0x1ff) * 8;
    bench.put(directory, 0x0300'0000 | kP | kRw);
    bench.put(table, 0x2'4680'a000 | kP | kRw);
    Steps steps;
    const WalkResult result = walk(bench.memory, context, va, kWrite, &steps);
    ASSERT_FALSE(result.fault);
    EXPECT_EQ(steps.addresses, (std::vector{directory, table}));
    EXPECT_EQ(physical(result, va), 0x2'4680'a000 + (va & 0xfff));
  }
  EXPECT_EQ(walk(bench.memory, context, bit_at(32), kRead).fault.reason, FaultReason::out_of_range);
}

// 48-bit addresses: four slices of nine bits, in both kinds of tables.
TEST(WalkRows, FortyEightBitWalkUsesThePrintedAddressBits) {
  COVERS("ICL-WALK-04");
  COVERS("ICL-MODE-03");
  for (const WalkMode mode : {WalkMode::legacy48, WalkMode::advanced48}) {
    Bench bench;
    for (const uint64_t va : {uint64_t{0}, kVa48, uint64_t{0x7fff'ffff'ffff}, uint64_t{0xffff'8000'0000'0000},
                              uint64_t{0xffff'ffff'ffff'ffff}}) {
      SCOPED_TRACE(va);
      const Chain chain = make_chain(bench, mode, Size::k4, va, kRw | kUs);
      const std::vector<uint64_t> expected{kTables[0] + ((va >> 39) & 0x1ff) * 8, kTables[1] + ((va >> 30) & 0x1ff) * 8,
                                           kTables[2] + ((va >> 21) & 0x1ff) * 8,
                                           kTables[3] + ((va >> 12) & 0x1ff) * 8};
      Steps steps;
      const WalkResult result = walk_of(bench, chain, kWrite, &steps);
      ASSERT_FALSE(result.fault);
      EXPECT_EQ(steps.addresses, expected);
      EXPECT_EQ(physical(result, va), page_target(Size::k4) + (va & 0xfff));
    }
  }
}

TEST(WalkRows, MediumPagesUseEverySixteenthEntry) {
  COVERS("ICL-WALK-05");
  for (const WalkMode mode : {WalkMode::legacy32, WalkMode::legacy48, WalkMode::advanced48}) {
    SCOPED_TRACE(name_of(mode));
    Bench bench;
    for (unsigned group = 0; group < 32; ++group) {
      const uint64_t va = 0x4000'0000 + (uint64_t{group} << 16) + 0x9abc;  // VA[15:12] is not zero
      const Chain chain = make_chain(bench, mode, Size::k64, va, kRw | kUs);
      // The other fifteen entries are ignored.
      const uint64_t first = chain.levels.back().entry_address;
      for (unsigned other = 1; other < 16; ++other) {
        bench.put(first + 8 * other, other % 2 == 0 ? ~uint64_t{0} : 0);
      }
      Steps steps;
      const WalkResult result = walk_of(bench, chain, kWrite, &steps);
      ASSERT_FALSE(result.fault);
      const uint64_t table = first & ~uint64_t{0xfff};
      EXPECT_EQ(steps.addresses.back(), table + 8 * 16 * group) << "address bits 20:16, then four zeros";
      EXPECT_EQ(result.mapping.page_bits, 16);
      EXPECT_EQ(physical(result, va), page_target(Size::k64) + (va & 0xffff));
    }
  }
}

TEST(WalkRows, LargePagesEndTheWalkEarly) {
  COVERS("ICL-WALK-06");
  COVERS("ICL-WALK-07");
  for (const WalkMode mode : {WalkMode::legacy48, WalkMode::advanced48}) {
    for (const Size size : {Size::m2, Size::g1}) {
      Bench bench;
      const Chain chain = make_chain(bench, mode, size, kVa48, kRw | kUs);
      Steps steps;
      const WalkResult result = walk_of(bench, chain, kWrite, &steps);
      ASSERT_FALSE(result.fault);
      EXPECT_EQ(steps.addresses.size(), size == Size::m2 ? 3u : 2u);
      const uint64_t offset = kVa48 & (size == Size::m2 ? 0x1f'ffffu : 0x3fff'ffffu);
      EXPECT_EQ(physical(result, kVa48), page_target(size) + offset);
    }
  }
}

// 32-bit tables have no large pages: bit 7 of a directory entry is ignored.
TEST(WalkRows, Legacy32HasNoLargePages) {
  COVERS("ICL-WALK-08");
  Bench bench;
  Chain chain = make_chain(bench, WalkMode::legacy32, Size::k4, kVa32, kRw);
  chain.set(bench, 0, chain.levels[0].entry | kPs);
  Steps steps;
  const WalkResult result = walk_of(bench, chain, kWrite, &steps);
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(steps.addresses.size(), 2u);
  EXPECT_EQ(result.mapping.page_bits, 12);
}

TEST(WalkRows, AdvancedTablesHaveAllPageSizes) {
  COVERS("ICL-WALK-09");
  for (const Size size : {Size::k4, Size::k64, Size::m2, Size::g1}) {
    Bench bench;
    Chain chain = make_chain(bench, WalkMode::advanced48, size, kVa48, kRw | kUs);
    EXPECT_EQ(walk_of(bench, chain, kRead).mapping.page_bits, page_bits_of(size));
    if (size == Size::k64) {  // FL64KPE is clear: the table is read as 4 KB entries
      chain.context.medium_pages = false;
      Steps steps;
      (void)walk_of(bench, chain, kRead, &steps);
      EXPECT_EQ(steps.addresses.back(), kTables[3] + ((kVa48 >> 12) & 0x1ff) * 8);
    }
  }
}

TEST(WalkRows, NonCanonicalAddressesFault) {
  COVERS("ICL-WALK-10");
  COVERS("ICL-AS-09");
  for (const WalkMode mode : {WalkMode::legacy48, WalkMode::advanced48}) {
    Bench bench;
    const Chain low = make_chain(bench, mode, Size::k4, kVa48, kRw | kUs);
    const Chain high = make_chain(bench, mode, Size::k4, kVa48 | 0xffff'8000'0000'0000, kRw | kUs);
    EXPECT_FALSE(walk_of(bench, low, kRead).fault);
    EXPECT_FALSE(walk_of(bench, high, kRead).fault);
    for (unsigned index = 48; index < 64; ++index) {
      for (const Chain* chain : {&low, &high}) {
        const WalkResult result = walk(bench.memory, chain->context, chain->va ^ bit_at(index), kRead);
        EXPECT_EQ(result.fault.reason, FaultReason::not_canonical) << index;
      }
    }
    // Through an AddressSpace it is a fault of the access.
    FaultProbe probe;
    Tlb tlb(32);
    AddressSpace space(bench.memory, tlb, 1, probe);
    space.load(low.context);
    EXPECT_EQ(space.load_value<uint32_t>(GpuVa(low.va ^ bit_at(60))), 0u);
    ASSERT_EQ(probe.faults.size(), 1u);
    EXPECT_EQ(probe.faults[0].reason, FaultReason::not_canonical);
  }
}

// Directory entries may be added on demand: an added entry is seen immediately, a removed entry stays until an
// invalidation.
TEST(WalkRows, AddedEntriesAreSeenAndRemovedEntriesNeedAnInvalidation) {
  COVERS("ICL-WALK-11");
  COVERS("ICL-TLB-20");
  Bench bench;
  Chain chain = make_chain(bench, WalkMode::legacy32, Size::k4, kVa32, kRw);
  FaultProbe probe;
  Tlb tlb(32);
  AddressSpace space(bench.memory, tlb, 1, probe);
  chain.set(bench, 0, 0);  // no directory entry when the context is loaded
  space.load(chain.context);
  bench.put(page_target(Size::k4) + (kVa32 & 0xff8), 0x1122'3344'5566'7788);
  const GpuVa va(kVa32 & ~uint64_t{7});
  EXPECT_EQ(space.load_value<uint64_t>(va), 0u);
  EXPECT_EQ(probe.faults.size(), 1u);
  chain.set(bench, 0, chain.levels[0].entry);
  EXPECT_EQ(space.load_value<uint64_t>(va), 0x1122'3344'5566'7788u);
  EXPECT_EQ(probe.faults.size(), 1u);
  for (const size_t level : {size_t{0}, size_t{1}}) {
    chain.set(bench, level, 0);
    EXPECT_EQ(space.load_value<uint64_t>(va), 0x1122'3344'5566'7788u) << "the old translation is still cached";
    space.invalidate();
    EXPECT_EQ(space.load_value<uint64_t>(va), 0u);
    chain.write(bench);
    EXPECT_EQ(space.load_value<uint64_t>(va), 0x1122'3344'5566'7788u);
  }
}

// The page address of MI_UPDATE_GTT, bits 31:12, selects the quadword at bits 22:3 of the table.
TEST(WalkRows, UpdateGttAddressSelectsTheEntry) {
  Bench bench;
  const WalkContext context = ggtt(bench);
  for (const uint64_t va : {uint64_t{0x0000'1000}, uint64_t{0xabcd'e000}, uint64_t{0xffff'f000}}) {
    Steps steps;
    (void)walk(bench.memory, context, va, kRead, &steps);
    ASSERT_EQ(steps.addresses.size(), 1u);
    EXPECT_EQ(steps.addresses[0] - kGsm, (va & 0xffff'f000) >> 9);
  }
}

// Reads of a null page return zero, writes are dropped, and memory is not accessed.
TEST(PteRows, NullPagesReadZeroAndDropWrites) {
  COVERS("ICL-PTE-19");
  for (const WalkMode mode : {WalkMode::legacy32, WalkMode::legacy48}) {
    for (const Size size : {Size::k4, Size::k64, Size::m2, Size::g1}) {
      if (mode == WalkMode::legacy32 && size > Size::k64) {
        continue;
      }
      Bench bench;
      Chain chain = make_chain(bench, mode, size, mode == WalkMode::legacy32 ? kVa32 : kVa48, kRw);
      chain.set(bench, chain.levels.size() - 1, chain.leaf().entry | kNull);
      const GpuVa va(chain.va & ~uint64_t{7});
      const uint64_t behind = page_target(size) + (va.value & (bit_at(page_bits_of(size)) - 1));
      bench.put(behind, 0xdead'beef'dead'beef);
      FaultProbe probe;
      Tlb tlb(32);
      AddressSpace space(bench.memory, tlb, 1, probe);
      space.load(chain.context);
      EXPECT_EQ(space.load_value<uint64_t>(va), 0u);
      EXPECT_EQ(space.store_value<uint64_t>(va, 1), AccessResult::ok);
      EXPECT_TRUE(space.view(va, kRead).null);
      EXPECT_TRUE(space.view(va, kRead).bytes.empty());
      EXPECT_EQ(bench.get(behind), 0xdead'beef'dead'beefu);
      EXPECT_TRUE(probe.faults.empty());
      // Without the bit it is an ordinary page.
      chain.set(bench, chain.levels.size() - 1, chain.leaf().entry);
      space.invalidate();
      EXPECT_EQ(space.load_value<uint64_t>(va), 0xdead'beef'dead'beefu);
    }
  }
}

// Legacy: only the leaf has a write permission. Advanced: every level has.
TEST(PteRows, WritePermissionIsCheckedAtItsLevels) {
  COVERS("ICL-PTE-21");
  for (const WalkMode mode : {WalkMode::legacy32, WalkMode::legacy48, WalkMode::advanced48}) {
    const size_t depth = mode == WalkMode::legacy32 ? 2 : 4;
    for (unsigned pattern = 0; pattern < (1u << depth); ++pattern) {
      Bench bench;
      Chain chain = make_chain(bench, mode, Size::k4, mode == WalkMode::legacy32 ? kVa32 : kVa48, kUs);
      for (size_t level = 0; level < depth; ++level) {
        chain.levels[level].entry |= (pattern >> level) & 1 ? kRw : 0;
      }
      chain.write(bench);
      const bool all = pattern == (1u << depth) - 1;
      const bool leaf = ((pattern >> (depth - 1)) & 1) != 0;
      const bool expected = mode == WalkMode::advanced48 ? all : leaf;
      EXPECT_EQ(walk_of(bench, chain, kWrite).fault.reason, expected ? FaultReason::none : FaultReason::write_denied);
      EXPECT_EQ(walk_of(bench, chain, kRead).mapping.writable, expected);
    }
  }
}

TEST(PteRows, AdvancedTablesRespectTheContextEnables) {
  COVERS("ICL-PTE-22");
  Bench bench;
  Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  for (size_t level = 0; level < 4; ++level) {
    chain.write(bench);
    chain.set(bench, level, chain.levels[level].entry | kXd);
    chain.context.execute_disable = false;
    EXPECT_FALSE(walk_of(bench, chain, kFetch).fault);
    chain.context.execute_disable = true;  // NXE
    EXPECT_EQ(walk_of(bench, chain, kFetch).fault.reason, FaultReason::execute_denied);
    EXPECT_FALSE(walk_of(bench, chain, kWrite).fault);
  }
  chain.context.execute_disable = false;
  // Tables are read as write-back whatever PCD and PWT are; G has no effect.
  chain.write(bench);
  const Mapping base = walk_of(bench, chain, kRead).mapping;
  for (size_t level = 0; level < 3; ++level) {
    chain.write(bench);
    chain.set(bench, level, chain.levels[level].entry | kPcd | kPwt);
    EXPECT_EQ(walk_of(bench, chain, kRead).mapping, base);
  }
  chain.write(bench);
  chain.set(bench, 3, chain.levels[3].entry | kG);
  EXPECT_EQ(walk_of(bench, chain, kRead).mapping, base);
}

// Supervisor contexts may use supervisor pages; with WPE they respect read-only pages.
TEST(PteRows, SupervisorWritesRespectWpe) {
  Bench bench;
  Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, 0);
  EXPECT_EQ(walk_of(bench, chain, kRead).fault.reason, FaultReason::privilege_denied);
  chain.context.supervisor = true;
  EXPECT_FALSE(walk_of(bench, chain, kRead).fault);
  chain.context.write_protect = true;
  EXPECT_EQ(walk_of(bench, chain, kWrite).fault.reason, FaultReason::write_denied);
  chain.context.write_protect = false;
  EXPECT_FALSE(walk_of(bench, chain, kWrite).fault);
  // Supervisor execution prevention: no fetch from a user page.
  Chain user = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  user.context.supervisor = true;
  EXPECT_FALSE(walk_of(bench, user, kFetch).fault);
  user.context.supervisor_execute_protection = true;
  EXPECT_EQ(walk_of(bench, user, kFetch).fault.reason, FaultReason::execute_denied);
}

// Reserved bits fault only in advanced tables; legacy tables have none.
TEST(PteRows, ReservedBitsFaultOnlyInAdvancedTables) {
  COVERS("ICL-PTE-23");
  for (const Size size : {Size::k4, Size::k64, Size::m2, Size::g1}) {
    Bench bench;
    Chain advanced = make_chain(bench, WalkMode::advanced48, size, kVa48, kRw | kUs);
    for (size_t level = 0; level < advanced.levels.size(); ++level) {
      for (unsigned index = 39; index <= 51; ++index) {
        advanced.write(bench);
        advanced.set(bench, level, advanced.levels[level].entry | bit_at(index));
        EXPECT_EQ(walk_of(bench, advanced, kRead).fault.reason, FaultReason::reserved_bit);
        EXPECT_EQ(walk_of(bench, advanced, kRead).fault.level, level);
      }
    }
    Chain legacy = make_chain(bench, WalkMode::legacy48, size, kVa48, kRw);
    const Mapping base = walk_of(bench, legacy, kRead).mapping;
    for (size_t level = 0; level < legacy.levels.size(); ++level) {
      legacy.write(bench);
      legacy.set(bench, level, legacy.levels[level].entry | mask_of(63, 39));
      EXPECT_EQ(walk_of(bench, legacy, kRead).mapping, base);
    }
  }
}

// Devices without 64 KB pages, with an enable register, and without one.
TEST(PteRows, MediumPagesNeedTheEnableIfTheChipHasOne) {
  COVERS("ICL-PTE-26");
  struct Case {
    const char* device;
    uint32_t written;
    bool expected;
  };
  for (const Case& one : {Case{"bdw", 15, false}, Case{"skl", 0, false}, Case{"skl", 7, false}, Case{"skl", 15, true},
                          Case{"skl", 0xff, true}, Case{"icl", 0, true}, Case{"tgl", 0, true}}) {
    SCOPED_TRACE(one.device);
    Bench bench(one.device);
    EventLog events;
    TlbSet tlbs(bench.model);
    FaultUnit faults(bench.model, {}, events, "gpu0");
    MemoryTypes types(bench.model);
    VtdUnit vtd(bench.model, bench.memory, {});
    Gam gam(bench.model, {bench.formats, tlbs, faults, types, vtd}, events, "gpu0");
    if (gam.owns(spec::find_register("GAMW_ECO_DEV_RW_IA")->id)) {
      EXPECT_EQ(spec::find_register("GAMW_ECO_DEV_RW_IA")->offset(bench.model.id), 0x4080u);
      gam.write(spec::find_register("GAMW_ECO_DEV_RW_IA")->id, one.written);
    }
    EXPECT_EQ(gam.medium_pages(), one.expected);
    const bool narrow = bench.formats.find(WalkMode::legacy48) == nullptr;
    if (narrow) {
      continue;
    }
    const Chain chain = make_chain(bench, WalkMode::legacy48, Size::k64, kVa48, kRw);
    gam.write_descriptor(0, 0, 0x100 | 0x18 | 0x2 | 0x1);  // per-process, 48-bit, legacy, valid
    gam.write_descriptor(0, 1, kTables[0]);
    gam.on_message(0, 0x1'0001);
    gam.on_message(0, 0x2'0002);
    const WalkResult result = walk(bench.memory, gam.engine(0).walk, kVa48, kRead);
    EXPECT_EQ(!result.fault && result.mapping.page_bits == 16, one.expected);
    (void)chain;
  }
}

// All three kinds of tables have entries of eight bytes, of which they use different bits.
TEST(WalkRows, KindsOfTablesUseDifferentBits) {
  COVERS("ICL-AS-11");
  Bench bench;
  for (const WalkMode mode : {WalkMode::advanced48, WalkMode::legacy32, WalkMode::legacy48}) {
    const uint64_t va = mode == WalkMode::legacy32 ? kVa32 & ~uint64_t{0xfff} : kVa48 & ~uint64_t{0xfff};
    const Chain chain = make_chain(bench, mode, Size::k4, va, kRw | kUs);
    Steps here, next;
    (void)walk(bench.memory, chain.context, va, kRead, &here);
    (void)walk(bench.memory, chain.context, va + 0x1000, kRead, &next);
    EXPECT_EQ(next.addresses.back() - here.addresses.back(), 8u) << name_of(mode);
  }
  const WalkContext context = ggtt(bench);
  Steps here, next;
  (void)walk(bench.memory, context, 0, kRead, &here);
  (void)walk(bench.memory, context, 0x1000, kRead, &next);
  EXPECT_EQ(next.addresses.back() - here.addresses.back(), 8u);
  // One entry without R/W and U/S and with bits 9 and 45: each kind of table interprets it differently.
  const auto judged = [&](WalkMode mode) {
    const uint64_t entry = 0x1234'5000 | kP | kNull | bit_at(45);
    if (mode == WalkMode::ggtt) {
      bench.put(kGsm, entry);
      return walk(bench.memory, context, 0, kWrite);
    }
    Chain chain = make_chain(bench, mode, Size::k4, kVa48, kRw | kUs);
    chain.set(bench, 3, entry);
    return walk_of(bench, chain, kWrite);
  };
  EXPECT_FALSE(judged(WalkMode::ggtt).fault);
  EXPECT_FALSE(judged(WalkMode::ggtt).mapping.null) << "only valid and address bits are used";
  EXPECT_EQ(judged(WalkMode::legacy48).fault.reason, FaultReason::write_denied) << "R/W is used, bit 45 is not";
  EXPECT_EQ(judged(WalkMode::advanced48).fault.reason, FaultReason::reserved_bit)
      << "above the address it must be zero";
}

}  // namespace
}  // namespace halogen::memory::rows
