// Advanced contexts: root, context and PASID tables, their enable bits, and nested translation.
#include "memory/vtd.h"

#include <gtest/gtest.h>

#include <vector>

#include "covers.h"
#include "memory/memory_type.h"
#include "vtd_bench.h"

namespace halogen::memory::rows {
namespace {

FaultReason context_fault(const VtdBench& bench, uint64_t root = kRootRegister, unsigned function = 0,
                          const VtdConfig& config = {}) {
  VtdUnit unit(bench.model, bench.memory, config);
  unit.set_root(root);
  Fault fault;
  const bool found = unit.context(function, fault) != nullptr;
  EXPECT_EQ(found, fault.reason == FaultReason::none);
  return fault.reason;
}

WalkContext advanced(const VtdBench& bench, uint32_t pasid = 5, bool supervisor = false, bool accessed_dirty = false,
                     bool ignore_type = false, const SecondLevel* second = nullptr) {
  VtdUnit unit(bench.model, bench.memory, {});
  unit.set_root(kRootRegister);
  Fault fault;
  const VtdContext* context = unit.context(0, fault);
  EXPECT_NE(context, nullptr);
  const std::optional<VtdPasid> entry = unit.read_pasid(*context, pasid, fault);
  EXPECT_TRUE(entry.has_value()) << name_of(fault.reason);
  return advanced_walk(bench.formats, *context, *entry, second, supervisor, accessed_dirty, ignore_type);
}

// Root entry by bus, context entry by device and function, PASID entry by number, then the PML4 table.
TEST(Vtd, FunctionAndPasidSelectTheTables) {
  COVERS("ICL-MODE-04");
  COVERS("ICL-PTE-27");
  VtdBench bench;
  const Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  const WalkContext context = advanced(bench);
  EXPECT_EQ(context.roots[0], kTables[0]);
  EXPECT_EQ(context.format->mode, WalkMode::advanced48);
  const WalkResult result = walk(bench.memory, context, chain.va, kWrite);
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(physical(result, chain.va), page_target(Size::k4) + (chain.va & 0xfff));
  // Another PASID selects another process.
  bench.put_pasid(6, 0x0777'7000 | kPasidP);
  EXPECT_EQ(advanced(bench, 6).roots[0], 0x0777'7000u);
  // Another function selects another PASID table.
  auto other = VtdBench::base_context();
  other[2] = 0x0015'0000 | 4;
  bench.put_context(3, other);
  VtdUnit unit(bench.model, bench.memory, {});
  unit.set_root(kRootRegister);
  Fault fault;
  EXPECT_EQ(unit.context(3, fault)->pasid_table, 0x0015'0000u);
  EXPECT_EQ(unit.context(0, fault)->pasid_table, kPasids);
}

TEST(Vtd, MissingOrInvalidEntriesFault) {
  VtdBench bench;
  EXPECT_EQ(context_fault(bench), FaultReason::none);
  EXPECT_EQ(context_fault(bench, kRoot), FaultReason::root_not_present) << "root table type 0 does not support PASIDs";
  EXPECT_EQ(context_fault(bench, kRootRegister, 1), FaultReason::context_not_present);
  EXPECT_EQ(context_fault(bench, bit_at(11) | 0x7f'ffff'f000), FaultReason::root_not_present);
  bench.put(kRoot, kContexts);
  EXPECT_EQ(context_fault(bench), FaultReason::root_not_present);
  for (unsigned index = 1; index <= 11; ++index) {
    bench.put(kRoot, kContexts | 1 | bit_at(index));
    EXPECT_EQ(context_fault(bench), FaultReason::root_not_present) << index;
  }
  bench.put(kRoot, kContexts | 1 | bit_at(39));
  EXPECT_EQ(context_fault(bench), FaultReason::root_not_present) << "above the host address width";
  bench.put(kRoot, kContexts | 1);
  // The upper half of the root entry is for devices 16 to 31.
  bench.put(kRoot + 8, 0);
  EXPECT_EQ(context_fault(bench), FaultReason::none);

  const auto base = VtdBench::base_context();
  const auto with = [&](unsigned quadword, uint64_t set, uint64_t clear = 0) {
    auto entry = base;
    entry[quadword] = (entry[quadword] & ~clear) | set;
    bench.put_context(0, entry);
    return context_fault(bench);
  };
  EXPECT_EQ(with(0, 0, kCtxP), FaultReason::context_not_present);
  EXPECT_EQ(with(0, 0, kCtxPaside), FaultReason::context_invalid);
  for (uint64_t type = 0; type < 8; ++type) {  // bits 4:2: 0, 1, 4 and 5 translate requests with a PASID
    const bool translates = type == 0 || type == 1 || type == 4 || type == 5;
    EXPECT_EQ(with(0, type << 2), translates ? FaultReason::none : FaultReason::context_invalid) << type;
  }
  for (unsigned index = 39; index < 64; ++index) {
    for (const unsigned quadword : {0u, 2u, 3u}) {
      EXPECT_EQ(with(quadword, bit_at(index)), FaultReason::context_invalid) << quadword << " " << index;
    }
  }
  for (unsigned index = 4; index <= 11; ++index) {
    EXPECT_EQ(with(2, bit_at(index)), FaultReason::context_invalid);
  }
  for (unsigned index = 0; index <= 11; ++index) {
    EXPECT_EQ(with(3, bit_at(index)), FaultReason::context_invalid);
  }
  for (unsigned index = 28; index <= 31; ++index) {
    EXPECT_EQ(with(1, bit_at(index)), FaultReason::context_invalid);
  }
  for (unsigned entry = 0; entry < 8; ++entry) {
    EXPECT_EQ(with(1, bit_at(32 + 4 * entry + 3)), FaultReason::context_invalid);
  }
  for (uint64_t width = 0; width < 8; ++width) {  // only three and four levels are modelled
    auto entry = base;
    entry[0] |= kCtxNeste | kSecondLevel;
    entry[1] = (entry[1] & ~uint64_t{7}) | width;
    bench.put_context(0, entry);
    EXPECT_EQ(context_fault(bench), width == 1 || width == 2 ? FaultReason::none : FaultReason::context_invalid);
  }
}

TEST(Vtd, PasidEntriesAreChecked) {
  VtdBench bench;
  VtdUnit unit(bench.model, bench.memory, {});
  unit.set_root(kRootRegister);
  Fault fault;
  const VtdContext* context = unit.context(0, fault);
  ASSERT_NE(context, nullptr);
  const auto reason = [&](uint32_t pasid) {
    Fault found;
    const bool ok = unit.read_pasid(*context, pasid, found).has_value();
    EXPECT_EQ(ok, found.reason == FaultReason::none);
    return found.reason;
  };
  EXPECT_EQ(reason(5), FaultReason::none);
  EXPECT_EQ(reason(7), FaultReason::pasid_not_present);
  bench.put_pasid(511, kTables[0] | kPasidP);
  EXPECT_EQ(reason(511), FaultReason::none);
  bench.put_pasid(512, kTables[0] | kPasidP);
  EXPECT_EQ(reason(512), FaultReason::pasid_out_of_range) << "the table has 2^(4+5) entries";
  for (const unsigned index : {1u, 2u, 6u, 7u, 8u, 9u, 10u, 39u, 51u, 52u, 63u}) {
    bench.put_pasid(5, kTables[0] | kPasidP | bit_at(index));
    EXPECT_EQ(reason(5), FaultReason::pasid_not_present) << index;
  }
  bench.put_pasid(5, kTables[0] | kPasidP | kPasidSre | kPasid64k | bit_at(3) | bit_at(4));
  const std::optional<VtdPasid> entry = unit.read_pasid(*context, 5, fault);
  ASSERT_TRUE(entry.has_value());
  EXPECT_TRUE(entry->supervisor_requests);
  EXPECT_TRUE(entry->medium_pages);
  EXPECT_EQ(entry->type_index, 3);
  EXPECT_EQ(entry->table, kTables[0]);
}

TEST(Vtd, ContextEntryEnablesReachTheWalk) {
  VtdBench bench;
  const Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  const auto with = [&](uint64_t set, uint64_t clear = 0) {
    auto entry = VtdBench::base_context();
    entry[1] = (entry[1] & ~clear) | set;
    bench.put_context(0, entry);
  };
  const auto reason = [&](Access access, bool supervisor = false, bool dirty = false) {
    return walk(bench.memory, advanced(bench, 5, supervisor, dirty), kVa48, access).fault.reason;
  };
  // NXE
  chain.set(bench, 3, chain.levels[3].entry | kXd);
  with(0);
  EXPECT_EQ(reason(kFetch), FaultReason::none);
  with(kCtxNxe);
  EXPECT_EQ(reason(kFetch), FaultReason::execute_denied);
  chain.write(bench);
  // ERE
  with(0, kCtxEre);
  EXPECT_EQ(reason(kFetch), FaultReason::execute_denied);
  EXPECT_EQ(reason(kRead), FaultReason::none);
  // WPE and SMEP, for supervisor contexts
  chain.set(bench, 3, chain.levels[3].entry & ~kRw);
  with(0);
  EXPECT_EQ(reason(kWrite, true), FaultReason::none);
  EXPECT_EQ(reason(kWrite, false), FaultReason::write_denied);
  with(kCtxWpe);
  EXPECT_EQ(reason(kWrite, true), FaultReason::write_denied);
  chain.write(bench);
  with(kCtxSmep);
  EXPECT_EQ(reason(kFetch, true), FaultReason::execute_denied);
  EXPECT_EQ(reason(kFetch, false), FaultReason::none);
  // EAFE
  with(0);
  EXPECT_EQ(reason(kRead, false, true), FaultReason::none);
  EXPECT_EQ(bench.get(chain.levels[3].entry_address) & (kA | kEa), kA);
  with(kCtxEafe);
  EXPECT_EQ(reason(kRead, false, true), FaultReason::none);
  EXPECT_EQ(bench.get(chain.levels[3].entry_address) & (kA | kEa), kA | kEa);
}

// FL64KPE in the PASID entry: if it is clear, the size bit of the directory is ignored.
TEST(Vtd, MediumPagesNeedThePasidEntrysEnable) {
  VtdBench bench;
  const Chain chain = make_chain(bench, WalkMode::advanced48, Size::k64, kVa48, kRw | kUs);
  bench.put_pasid(5, kTables[0] | kPasidP | kPasid64k);
  EXPECT_EQ(walk(bench.memory, advanced(bench), chain.va, kRead).mapping.page_bits, 16);
  bench.put_pasid(5, kTables[0] | kPasidP);
  Steps steps;
  (void)walk(bench.memory, advanced(bench), chain.va, kRead, &steps);
  EXPECT_EQ(steps.addresses.back(), kTables[3] + ((chain.va >> 12) & 0x1ff) * 8);
}

// Updates of accessed and dirty bits need write-back tables, unless the control register ignores types.
TEST(Vtd, UpdatesNeedWriteBackTables) {
  COVERS("ICL-TLB-13");
  VtdBench bench;
  const Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  // Page attribute 2 (PCD alone) is uncached, 1 (PWT alone) write-through, 3 write-combining; all others write-back.
  auto entry = VtdBench::base_context();
  entry[1] = (entry[1] & 0xffff'ffff) | (uint64_t{0x6666'1046} << 32);
  bench.put_context(0, entry);
  for (const uint64_t type : {kPwt, kPcd, kPcd | kPwt}) {
    for (size_t level = 0; level < 3; ++level) {  // an entry gives the type of the table below
      chain.write(bench);
      chain.set(bench, level, chain.levels[level].entry | type);
      const WalkResult result = walk(bench.memory, advanced(bench, 5, false, true), kVa48, kWrite);
      EXPECT_EQ(result.fault.reason, FaultReason::update_not_writeback);
      EXPECT_EQ(result.fault.level, level + 1);
      EXPECT_EQ(bench.get(chain.levels[level + 1].entry_address) & (kA | kD), 0u) << "not updated";
      // "Ignore the page level cacheability and do atomic updates."
      EXPECT_FALSE(walk(bench.memory, advanced(bench, 5, false, true, /*ignore_type=*/true), kVa48, kWrite).fault);
      EXPECT_EQ(bench.get(chain.levels[3].entry_address) & (kA | kD), kA | kD);
      // If accessed and dirty bits are disabled, the type of tables is ignored.
      EXPECT_FALSE(walk(bench.memory, advanced(bench, 5, false, false), kVa48, kWrite).fault);
    }
    // The PASID entry gives the type of the top table: PWT is bit 3, PCD bit 4.
    chain.write(bench);
    bench.put_pasid(5, kTables[0] | kPasidP | type);
    const WalkResult result = walk(bench.memory, advanced(bench, 5, false, true), kVa48, kRead);
    EXPECT_EQ(result.fault.reason, FaultReason::update_not_writeback);
    EXPECT_EQ(result.fault.level, 0);
    bench.put_pasid(5, kTables[0] | kPasidP);
  }
  // Caching disabled altogether.
  entry[1] = (VtdBench::base_context()[1]) | kCtxCd;
  bench.put_context(0, entry);
  chain.write(bench);
  EXPECT_EQ(walk(bench.memory, advanced(bench, 5, false, true), kVa48, kRead).fault.reason,
            FaultReason::update_not_writeback);
  // A system agent without memory types for tables: all are write-back.
  VtdUnit simple(bench.model, bench.memory, {.memory_types = false});
  simple.set_root(kRootRegister);
  Fault fault;
  EXPECT_EQ(simple.context(0, fault)->writeback_types, 0xff);
  // By default the control register reports the error.
  EXPECT_FALSE(MemoryTypeState{}.page_updates_ignore_type);
}

// Guest memory from address 0 is at kGuest in the host, in 4 KB pages.
constexpr uint64_t kGuest = 0x20'0000'0000;

class Nested : public ::testing::Test {
 protected:
  Nested() : second(bench.model.gen, {kSecondLevel, 4, 39, false}) {
    // One table per level for the addresses used here: all are below 512 GB.
    bench.put(kSecondLevel, (kSecondLevel + 0x1000) | 7);
  }
  // Second level: R 0, W 1, X 2, page size 7.
  void map(uint64_t guest, uint64_t host, uint64_t rights = 3) {
    const uint64_t pdp = kSecondLevel + 0x1000 + ((guest >> 30) & 0x1ff) * 8;
    const uint64_t pd_table = kSecondLevel + 0x10'0000 + ((guest >> 30) & 0x1ff) * 0x1000;
    const uint64_t pt_table = kSecondLevel + 0x100'0000 + ((guest >> 21) & 0xffff) * 0x1000;
    bench.put(pdp, pd_table | 7);
    bench.put(pd_table + ((guest >> 21) & 0x1ff) * 8, pt_table | 7);
    bench.put(pt_table + ((guest >> 12) & 0x1ff) * 8, host | rights);
  }
  // Moves a guest's tables: all addresses in a chain are guest addresses, and the tables are elsewhere in the host.
  Chain guest_chain(Size size = Size::k4) {
    Chain chain = make_chain(bench, WalkMode::advanced48, size, kVa48, kRw | kUs);
    for (Chain::Level& level : chain.levels) {
      const uint64_t page = level.entry_address & ~uint64_t{0xfff};
      map(page, kGuest + page);
      bench.put(kGuest + level.entry_address, level.entry);
      bench.put(level.entry_address, 0);  // cleared at the guest's address in the host
    }
    chain.context.nested = &second;
    return chain;
  }

  VtdBench bench;
  SecondLevel second;
};

TEST_F(Nested, TablesAndPageAreTranslatedTwice) {
  COVERS("ICL-PTE-24");
  const Chain chain = guest_chain();
  const uint64_t page = page_target(Size::k4);
  map(page, 0x3'3333'3000);
  Steps steps;
  const WalkResult result = walk_of(bench, chain, kWrite, &steps);
  ASSERT_FALSE(result.fault) << name_of(result.fault.reason);
  ASSERT_EQ(steps.addresses.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(steps.addresses[i], kGuest + chain.levels[i].entry_address);
  }
  EXPECT_EQ(physical(result, kVa48), 0x3'3333'3000 + (kVa48 & 0xfff));
  // Without nesting the same numbers are host addresses.
  Chain flat = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  EXPECT_EQ(physical(walk_of(bench, flat, kWrite), kVa48), page + (kVa48 & 0xfff));
}

TEST_F(Nested, SecondLevelPageSizesAreHonoured) {
  const Chain chain = guest_chain();
  const uint64_t gpa = page_target(Size::k4) + (kVa48 & 0xfff);
  // A 1 GB page of the second level: bits 29:0 are unchanged.
  const uint64_t pdp = kSecondLevel + 0x1000 + ((gpa >> 30) & 0x1ff) * 8;
  bench.put(pdp, 0x1c'0000'0000 | bit_at(7) | 3);
  EXPECT_EQ(physical(walk_of(bench, chain, kWrite), kVa48), 0x1c'0000'0000 + (gpa & 0x3fff'ffff));
  EXPECT_EQ(walk_of(bench, chain, kWrite).mapping.page_bits, 12) << "the smaller page size counts";
  // A 2 MB page: bits 20:0 are unchanged.
  const uint64_t pd_table = 0x0500'0000;
  bench.put(pdp, pd_table | 3);
  bench.put(pd_table + ((gpa >> 21) & 0x1ff) * 8, 0x1a'2000'0000 | bit_at(7) | 3);
  EXPECT_EQ(physical(walk_of(bench, chain, kWrite), kVa48), 0x1a'2000'0000 + (gpa & 0x1f'ffff));
  // A 2 MB page of the first level over 4 KB pages of the second: each 4 KB page is translated separately.
  const Chain large = guest_chain(Size::m2);
  const uint64_t large_gpa = page_target(Size::m2) + (kVa48 & 0x1f'ffff);
  bench.put(kSecondLevel + 0x1000 + ((large_gpa >> 30) & 0x1ff) * 8, 0);
  map(large_gpa & ~uint64_t{0xfff}, 0x2'4444'4000);
  const WalkResult result = walk_of(bench, large, kRead);
  ASSERT_FALSE(result.fault) << name_of(result.fault.reason);
  EXPECT_EQ(result.mapping.page_bits, 12);
  EXPECT_EQ(physical(result, kVa48), 0x2'4444'4000 + (kVa48 & 0xfff));
  EXPECT_EQ(walk(bench.memory, large.context, kVa48 ^ 0x1000, kRead).fault.reason, FaultReason::second_level_absent);
}

TEST_F(Nested, SecondLevelRightsAreEnforced) {
  Chain chain = guest_chain();
  const uint64_t page = page_target(Size::k4);
  struct Case {
    uint64_t rights;
    FaultReason read, write;
  };
  const Case cases[] = {{0, FaultReason::second_level_absent, FaultReason::second_level_absent},
                        {1, FaultReason::none, FaultReason::second_level_denied},
                        {2, FaultReason::second_level_denied, FaultReason::none},
                        {3, FaultReason::none, FaultReason::none}};
  for (const Case& c : cases) {
    map(page, 0x3'3333'3000, c.rights);
    EXPECT_EQ(walk_of(bench, chain, kRead).fault.reason, c.read) << c.rights;
    EXPECT_EQ(walk_of(bench, chain, kWrite).fault.reason, c.write) << c.rights;
  }
  // Execute bits are enforced only with SLEE.
  map(page, 0x3'3333'3000, 3);
  EXPECT_FALSE(walk_of(bench, chain, kFetch).fault);
  const SecondLevel strict(bench.model.gen, {kSecondLevel, 4, 39, true});
  chain.context.nested = &strict;
  EXPECT_EQ(walk_of(bench, chain, kFetch).fault.reason, FaultReason::second_level_denied);
  chain.context.nested = &second;
  // Unreadable tables, and accessed bits in read-only tables.
  const uint64_t table = chain.levels[3].entry_address & ~uint64_t{0xfff};
  map(table, kGuest + table, 2);
  EXPECT_EQ(walk_of(bench, chain, kRead).fault.reason, FaultReason::second_level_denied);
  map(table, kGuest + table, 1);
  EXPECT_FALSE(walk_of(bench, chain, kRead).fault);
  chain.context.accessed_dirty = true;
  EXPECT_EQ(walk_of(bench, chain, kRead).fault.reason, FaultReason::second_level_denied);
  EXPECT_EQ(bench.get(kGuest + chain.levels[3].entry_address) & kA, 0u);
  map(table, kGuest + table, 3);
  EXPECT_FALSE(walk_of(bench, chain, kRead).fault);
  EXPECT_NE(bench.get(kGuest + chain.levels[3].entry_address) & kA, 0u);
}

// The rights of the second level are the AND of all its levels.
TEST_F(Nested, EveryLevelOfTheSecondLevelRestrictsRights) {
  const SecondLevel strict(bench.model.gen, {kSecondLevel, 4, 39, true});
  constexpr uint64_t kGuestPage = 0x1234'5000;
  map(kGuestPage, 0x3'3333'3000, 7);
  const uint64_t entries[] = {kSecondLevel, kSecondLevel + 0x1000,
                              kSecondLevel + 0x10'0000 + ((kGuestPage >> 21) & 0x1ff) * 8,
                              kSecondLevel + 0x100'0000 + (kGuestPage >> 21) * 0x1000 + 0x145 * 8};
  for (const uint64_t at : entries) {
    const uint64_t entry = bench.get(at);
    for (uint64_t rights = 1; rights < 8; ++rights) {
      if ((rights & 3) == 0) {
        continue;  // not present
      }
      bench.put(at, (entry & ~uint64_t{7}) | rights);
      const NestedTranslation::Result result = strict.translate(bench.memory, kGuestPage + 0x678);
      EXPECT_EQ(result.fault, FaultReason::none);
      EXPECT_EQ(result.readable, (rights & 1) != 0) << std::hex << at;
      EXPECT_EQ(result.writable, (rights & 2) != 0) << std::hex << at;
      EXPECT_EQ(result.executable, (rights & 4) != 0) << std::hex << at;
    }
    bench.put(at, entry);
  }
}

// The context entry gives the width of guest addresses: three or four levels.
TEST_F(Nested, ContextEntryGivesTheWidthOfTheSecondLevel) {
  map(kPasids, kGuest);
  bench.put(kGuest + 5 * 8, 0x0abc'd000 | kPasidP);
  for (const bool narrow : {false, true}) {
    auto entry = VtdBench::base_context();
    entry[0] |= kCtxNeste | (narrow ? kSecondLevel + 0x1000 : kSecondLevel);
    entry[1] = (entry[1] & ~uint64_t{7}) | (narrow ? kCtxAw39 : kCtxAw48);
    bench.put_context(0, entry);
    VtdUnit unit(bench.model, bench.memory, {});
    unit.set_root(kRootRegister);
    Fault fault;
    const VtdContext* context = unit.context(0, fault);
    ASSERT_NE(context, nullptr);
    const std::optional<VtdPasid> pasid = unit.read_pasid(*context, 5, fault);
    ASSERT_TRUE(pasid.has_value()) << narrow;
    EXPECT_EQ(pasid->table, 0x0abc'd000u);
  }
}

// The same on TLB hits: a page that a read cached still cannot be written or fetched if the second level forbids it.
TEST_F(Nested, SecondLevelRightsAreEnforcedOnTlbHits) {
  const SecondLevel strict(bench.model.gen, {kSecondLevel, 4, 39, true});
  Chain chain = guest_chain();
  for (const uint64_t table : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}}) {
    const uint64_t page = chain.levels[table].entry_address & ~uint64_t{0xfff};
    map(page, kGuest + page, 7);
  }
  const uint64_t page = page_target(Size::k4);
  const GpuVa va(kVa48 & ~uint64_t{7});
  bench.put(0x3'3333'3000 + (va.value & 0xfff), 0x11);
  for (const uint64_t rights : {uint64_t{1}, uint64_t{3}, uint64_t{5}, uint64_t{7}}) {
    SCOPED_TRACE(rights);
    map(page, 0x3'3333'3000, rights);
    chain.context.nested = &strict;
    FaultProbe probe;
    probe.action = FaultAction::stop;
    Tlb tlb(32);
    AddressSpace space(bench.memory, tlb, 1, probe);
    space.load(chain.context);
    EXPECT_EQ(space.load_value<uint64_t>(va), 0x11u);
    EXPECT_TRUE(probe.faults.empty());
    EXPECT_EQ(ok(space.store_value<uint64_t>(va, 0x11)), (rights & 2) != 0);
    uint32_t code = 0;
    EXPECT_EQ(ok(space.read(va, std::as_writable_bytes(std::span(&code, 1)), true)), (rights & 4) != 0);
    EXPECT_EQ(probe.faults.size(), (rights & 2 ? 0u : 1u) + (rights & 4 ? 0u : 1u));
    for (const Fault& fault : probe.faults) {
      EXPECT_EQ(fault.reason, FaultReason::second_level_denied);
    }
  }
}

TEST_F(Nested, ReservedBitsOfTheSecondLevelFault) {
  map(0x1234'5000, 0x3'3333'3000);
  const uint64_t pdp = kSecondLevel + 0x1000;
  const uint64_t pd = kSecondLevel + 0x10'0000 + ((0x1234'5000 >> 21) & 0x1ff) * 8;
  const uint64_t pt = kSecondLevel + 0x100'0000 + (0x1234'5000 >> 21) * 0x1000 + 0x145 * 8;
  const auto reason = [&] { return second.translate(bench.memory, 0x1234'5678).fault; };
  ASSERT_EQ(reason(), FaultReason::none);
  for (const uint64_t at : {kSecondLevel, pdp, pd, pt}) {
    const uint64_t entry = bench.get(at);
    for (unsigned index = 3; index < 64; ++index) {
      if (index >= 12 && index < 39) {
        continue;  // the address
      }
      bench.put(at, entry | bit_at(index));
      const bool leaf = at == pt;
      bool reserved = index >= 39 && index <= 51;
      if (!leaf) {  // page size at the top level; snoop and transient mapping exist only in leaf entries
        reserved = reserved || index == 11 || index == 62 || (index == 7 && at == kSecondLevel);
      }
      if (index == 7 && !leaf && at != kSecondLevel) {
        EXPECT_EQ(reason(), FaultReason::reserved_bit) << "the address is not aligned to the large page";
      } else {
        EXPECT_EQ(reason(), reserved ? FaultReason::reserved_bit : FaultReason::none) << std::hex << at << " " << index;
      }
    }
    bench.put(at, entry);
  }
  EXPECT_EQ(second.translate(bench.memory, bit_at(48)).fault, FaultReason::second_level_absent);
  const SecondLevel narrow(bench.model.gen, {kSecondLevel + 0x1000, 3, 39, false});
  EXPECT_EQ(narrow.translate(bench.memory, 0x1234'5678).address, 0x3'3333'3678u);
  EXPECT_EQ(narrow.translate(bench.memory, bit_at(39)).fault, FaultReason::second_level_absent);
}

// With nesting the PASID table is in guest memory too.
TEST_F(Nested, PasidTableIsInGuestMemory) {
  auto entry = VtdBench::base_context();
  entry[0] |= kCtxNeste | kSecondLevel;
  bench.put_context(0, entry);
  VtdUnit unit(bench.model, bench.memory, {});
  unit.set_root(kRootRegister);
  Fault fault;
  const VtdContext* context = unit.context(0, fault);
  ASSERT_NE(context, nullptr);
  EXPECT_FALSE(unit.read_pasid(*context, 5, fault).has_value());
  EXPECT_EQ(fault.reason, FaultReason::second_level_absent);
  bench.put(kGuest + 5 * 8, 0x0abc'd000 | kPasidP);
  map(kPasids, kGuest, 2);
  EXPECT_FALSE(unit.read_pasid(*context, 5, fault).has_value());
  EXPECT_EQ(fault.reason, FaultReason::second_level_denied) << "a table that cannot be read";
  map(kPasids, kGuest);
  EXPECT_EQ(unit.read_pasid(*context, 5, fault)->table, 0x0abc'd000u);
}

TEST(Vtd, UseCountOfAPasidIsInItsStateEntry) {
  VtdBench bench;
  VtdUnit unit(bench.model, bench.memory, {});
  unit.set_root(kRootRegister);
  Fault fault;
  const VtdContext without = *unit.context(0, fault);
  EXPECT_FALSE(unit.count_use(without, 5, 1)) << "only with deferred invalidation";
  auto entry = VtdBench::base_context();
  entry[0] |= kCtxDinve;
  bench.put_context(0, entry);
  unit.invalidate_context_cache();
  const VtdContext* context = unit.context(0, fault);
  // The count is in bits 47:32 of an eight-byte entry; other bits are unchanged.
  const uint64_t at = kStates + 5 * 8;
  bench.put(at, bit_at(63));
  EXPECT_TRUE(unit.count_use(*context, 5, 1));
  EXPECT_TRUE(unit.count_use(*context, 5, 1));
  EXPECT_EQ(bench.get(at), bit_at(63) | (uint64_t{2} << 32));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(unit.count_use(*context, 5, -1));
  }
  EXPECT_EQ(bench.get(at), bit_at(63)) << "the count does not wrap below zero";
  EXPECT_FALSE(unit.count_use(*context, 100'000, 1));
}

}  // namespace
}  // namespace halogen::memory::rows
