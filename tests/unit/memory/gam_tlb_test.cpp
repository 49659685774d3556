// Translation caches: sizes, contents, hits and misses, accessed and dirty bits. TLB rows of the ledger of Ice Lake PRM
// vol. 6 (seed 001).
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "covers.h"
#include "gam_bench.h"
#include "memory/gam_page_update.h"

namespace halogen::memory::rows {
namespace {

// Checks that a TLB holds exactly this many adjacent pages: one more evicts the oldest.
void expect_capacity(Tlb& tlb, unsigned entries) {
  tlb.invalidate_all();
  for (uint64_t page = 0; page < entries; ++page) {
    fill(tlb, page);
  }
  unsigned held = 0;
  for (uint64_t page = 0; page < entries; ++page) {
    held += holds(tlb, page) ? 1u : 0u;
  }
  EXPECT_EQ(held, entries);
  fill(tlb, entries);
  held = 0;
  for (uint64_t page = 0; page <= entries; ++page) {
    held += holds(tlb, page) ? 1u : 0u;
  }
  EXPECT_EQ(held, entries);
  EXPECT_TRUE(holds(tlb, entries));
  tlb.invalidate_all();
}

TEST(TlbRows, IceLakeHasTheManualsSizes) {
  COVERS("ICL-TLB-03");
  TlbSet tlbs(*spec::find_device("icl"));
  const std::pair<TlbClient, unsigned> sizes[] = {{TlbClient::l3, 768}, {TlbClient::mfx0, 256}, {TlbClient::mfx1, 256},
                                                  {TlbClient::blt, 32}, {TlbClient::z, 512},    {TlbClient::c, 256},
                                                  {TlbClient::ff, 128}, {TlbClient::vlf, 32},   {TlbClient::gav, 64},
                                                  {TlbClient::widi, 64}};
  for (const auto& [client, entries] : sizes) {
    SCOPED_TRACE(name_of(client));
    EXPECT_EQ(tlbs.of(client).entries(), entries);
    expect_capacity(tlbs.of(client), entries);
  }
  // The L3 TLB serves the data port, the sampler and all other streams of the EUs; media engines have separate halves.
  EXPECT_EQ(&tlbs.of(TlbClient::dc), &tlbs.of(TlbClient::l3));
  EXPECT_EQ(&tlbs.of(TlbClient::tx), &tlbs.of(TlbClient::l3));
  EXPECT_NE(&tlbs.of(TlbClient::mfx0), &tlbs.of(TlbClient::mfx1));
}

TEST(TlbRows, SkylakeHasTheManualsSizes) {
  COVERS("ICL-TLB-04");
  const spec::DeviceModel& model = *spec::find_device("skl");
  struct Split {
    L3TlbSplit split;
    unsigned l3, dc, tx, gatr;
    bool shared;
  };
  const Split splits[] = {{L3TlbSplit::graphics, 80, 100, 444, 16, false},
                          {L3TlbSplit::gpgpu, 80, 460, 100, 80, false},  // no GATR: it shares the L3 part
                          {L3TlbSplit::graphics_shared, 80, 544, 544, 16, true},
                          {L3TlbSplit::gpgpu_shared, 80, 560, 560, 80, true}};
  for (const Split& one : splits) {
    TlbSet tlbs(model, one.split);
    EXPECT_EQ(tlbs.of(TlbClient::l3).entries(), one.l3);
    EXPECT_EQ(tlbs.of(TlbClient::dc).entries(), one.dc);
    EXPECT_EQ(tlbs.of(TlbClient::tx).entries(), one.tx);
    EXPECT_EQ(tlbs.of(TlbClient::gatr).entries(), one.gatr);
    EXPECT_EQ(&tlbs.of(TlbClient::dc) == &tlbs.of(TlbClient::tx), one.shared);
    EXPECT_EQ(tlbs.of(TlbClient::z).entries(), 448u);
    EXPECT_EQ(tlbs.of(TlbClient::c).entries(), 448u);
    expect_capacity(tlbs.of(TlbClient::dc), one.dc);
    expect_capacity(tlbs.of(TlbClient::tx), one.tx);
    // The parts fill the 640 entries, without and with sharing.
    unsigned last = 0;
    for (const TlbRange& part : l3_tlb_parts(model, one.split)) {
      last = std::max<unsigned>(last, part.last);
    }
    EXPECT_EQ(last, 639u);
  }
}

// A set has at most 256 entries; the lowest page bits select the set.
TEST(TlbRows, LowPageBitsSelectTheSet) {
  COVERS("ICL-TLB-05");
  TlbSet tlbs(*spec::find_device("icl"));
  for (const auto& tlb : tlbs.all()) {
    EXPECT_LE((tlb->entries() + tlb->sets() - 1) / tlb->sets(), 256u);
    EXPECT_EQ(tlb->sets() > 1, tlb->entries() > 256u);
    if (tlb->sets() == 1) {
      continue;
    }
    // Pages with equal low bits share a set, which overflows while the other sets are empty.
    const uint64_t sets = tlb->sets(), room = tlb->entries() / sets;
    for (uint64_t i = 0; i <= room; ++i) {
      fill(*tlb, i * sets);
    }
    EXPECT_FALSE(holds(*tlb, 0));
    EXPECT_TRUE(holds(*tlb, sets));
    for (uint64_t i = 0; i < room; ++i) {
      fill(*tlb, i * sets + 1);  // an adjacent set is not affected
    }
    EXPECT_TRUE(holds(*tlb, sets));
  }
}

TEST(TlbRows, LeastRecentlyAllocatedEntryIsEvicted) {
  COVERS("ICL-TLB-14");
  Tlb tlb(32);
  for (uint64_t page = 0; page < 32; ++page) {
    fill(tlb, page);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(holds(tlb, 0));  // often used, and still the oldest
  }
  for (uint64_t page = 32; page < 64; ++page) {
    fill(tlb, page);
    EXPECT_FALSE(holds(tlb, page - 32));
    if (page < 63) {
      EXPECT_TRUE(holds(tlb, page - 31));
    }
  }
}

struct SpaceBench {
  explicit SpaceBench(bool accessed_dirty = false, uint64_t bits = kRw | kUs)
      : tlb(64), space(bench.memory, tlb, 1, probe) {
    chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, bits);
    chain.context.accessed_dirty = accessed_dirty;
    chain.context.execute_disable = true;
    chain.context.supervisor = (bits & kUs) == 0;
    space.load(chain.context);
  }
  uint64_t read() { return space.load_value<uint64_t>(GpuVa(kVa48 & ~uint64_t{7})); }
  bool write(uint64_t value) { return ok(space.store_value<uint64_t>(GpuVa(kVa48 & ~uint64_t{7}), value)); }
  bool fetch() {
    uint32_t code = 0;
    return ok(space.read(GpuVa(kVa48), std::as_writable_bytes(std::span(&code, 1)), true));
  }
  uint64_t entry(size_t level) const { return bench.get(chain.levels[level].entry_address); }

  Bench bench;
  FaultProbe probe;
  Tlb tlb;
  AddressSpace space;
  Chain chain;
};

// Frame; AND of R/W; AND of U/S; OR of XD; dirty bit and memory type of the leaf.
TEST(TlbRows, EntryCombinesTheRightsOfAllLevels) {
  COVERS("ICL-TLB-07");
  for (unsigned pattern = 0; pattern < 16; ++pattern) {
    for (const uint64_t flag : {kRw, kUs, kXd}) {
      SpaceBench one;
      one.chain.context.supervisor = true;  // so that supervisor pages can be used
      one.chain.context.write_protect = true;
      one.chain.context.accessed_dirty = true;
      one.space.load(one.chain.context);
      for (size_t level = 0; level < 4; ++level) {
        const uint64_t base = one.chain.levels[level].entry & ~flag;
        one.chain.set(one.bench, level, base | ((pattern >> level) & 1 ? flag : 0));
      }
      (void)one.read();
      const TlbEntry* entry = one.tlb.look_up(1, kVa48 >> 12, kRead);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->frame, one.bench.memory.frame(MemorySpace::system, PhysAddr(page_target(Size::k4))));
      EXPECT_EQ(entry->writable, flag != kRw || pattern == 15);
      EXPECT_EQ(entry->user, flag != kUs || pattern == 15);
      EXPECT_EQ(entry->executable, flag != kXd || pattern == 0);
      EXPECT_FALSE(entry->dirty);
    }
  }
  SpaceBench one(true);
  one.chain.set(one.bench, 3, one.chain.levels[3].entry | kD | kPcd | kPatSmall);
  (void)one.read();
  const TlbEntry* entry = one.tlb.look_up(1, kVa48 >> 12, kRead);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(entry->dirty);
  EXPECT_EQ(entry->type_index, 6);
}

TEST(TlbRows, MissingRightIsAMiss) {
  COVERS("ICL-TLB-08");
  SpaceBench one;
  one.chain.set(one.bench, 3, (one.chain.levels[3].entry & ~kRw) | kXd);
  (void)one.read();
  // Upgraded in memory: the cached entry is dropped and walked again.
  one.chain.write(one.bench);
  EXPECT_TRUE(one.write(5));
  EXPECT_EQ(one.tlb.statistics().rewalks, 1u);
  EXPECT_TRUE(one.probe.faults.empty());
  EXPECT_TRUE(one.tlb.look_up(1, kVa48 >> 12, kWrite)->writable) << "replaced by the new entry";
  SpaceBench two;
  two.chain.set(two.bench, 2, two.chain.levels[2].entry | kXd);
  (void)two.read();
  two.chain.write(two.bench);
  EXPECT_TRUE(two.fetch());
  EXPECT_EQ(two.tlb.statistics().rewalks, 1u);
  EXPECT_TRUE(two.probe.faults.empty());
}

TEST(TlbRows, WriteToACleanEntryWalksAgain) {
  COVERS("ICL-TLB-09");
  SpaceBench one(true);
  (void)one.read();
  EXPECT_EQ(one.entry(3) & kD, 0u);
  EXPECT_TRUE(one.write(1));
  EXPECT_EQ(one.tlb.statistics().rewalks, 1u);
  EXPECT_NE(one.entry(3) & kD, 0u);
  const uint64_t walks = one.tlb.statistics().misses + one.tlb.statistics().rewalks;
  EXPECT_TRUE(one.write(2));
  EXPECT_EQ(one.tlb.statistics().misses + one.tlb.statistics().rewalks, walks) << "now a hit";
  // The leaf entry is read again, so a page that moved meanwhile is found.
  SpaceBench two(true);
  (void)two.read();
  two.chain.set(two.bench, 3, (two.chain.levels[3].entry & ~mask_of(38, 12)) | 0x0777'7000);
  EXPECT_TRUE(two.write(9));
  EXPECT_EQ(two.bench.get(0x0777'7000 + (kVa48 & 0xff8)), 9u);
}

TEST(TlbRows, AccessedBitsAreSetAtEveryLevel) {
  COVERS("ICL-TLB-10");
  SpaceBench one(true);
  (void)one.read();
  for (size_t level = 0; level < 4; ++level) {
    EXPECT_NE(one.entry(level) & kA, 0u) << level;
  }
  // The TLB does not store the bit: a hit does not check it.
  for (size_t level = 0; level < 4; ++level) {
    one.chain.set(one.bench, level, one.chain.levels[level].entry);
  }
  (void)one.read();
  EXPECT_EQ(one.entry(3) & kA, 0u);
  one.space.invalidate();
  (void)one.read();
  EXPECT_NE(one.entry(3) & kA, 0u);
  // Neither does it store user or supervisor: an allowed translation is not checked again.
  for (size_t level = 0; level < 4; ++level) {
    SpaceBench user;
    (void)user.read();
    user.chain.set(user.bench, level, user.chain.levels[level].entry & ~kUs);
    EXPECT_TRUE(user.write(4));
    EXPECT_TRUE(user.probe.faults.empty());
    user.space.invalidate();
    (void)user.read();
    EXPECT_EQ(user.probe.faults.size(), 1u);
  }
  // No prefetch: adjacent entries in the same cache line are unchanged.
  SpaceBench two(true);
  const uint64_t line = two.chain.levels[3].entry_address & ~uint64_t{63};
  for (uint64_t at = line; at < line + 64; at += 8) {
    two.bench.put(at, two.chain.levels[3].entry);
  }
  (void)two.read();
  for (uint64_t at = line; at < line + 64; at += 8) {
    EXPECT_EQ((two.bench.get(at) & kA) != 0, at == two.chain.levels[3].entry_address);
  }
  // If an entry cannot be marked, the walk does not use it or any level below.
  SpaceBench three(true);
  three.chain.context.writeback_types = 0;
  three.space.load(three.chain.context);
  three.probe.action = FaultAction::stop;
  three.read();
  EXPECT_EQ(three.probe.faults.size(), 1u);
}

TEST(TlbRows, AccessedAndDirtyFlagsAreSticky) {
  COVERS("ICL-TLB-11");
  for (const Size size : {Size::k4, Size::k64, Size::m2, Size::g1}) {
    Bench bench;
    Chain chain = make_chain(bench, WalkMode::advanced48, size, kVa48, kRw | kUs);
    chain.context.accessed_dirty = true;
    EXPECT_FALSE(walk_of(bench, chain, kRead).fault);
    for (size_t level = 0; level < chain.levels.size(); ++level) {
      EXPECT_EQ(bench.get(chain.levels[level].entry_address), chain.levels[level].entry | bit_at(5));
    }
    EXPECT_FALSE(walk_of(bench, chain, kWrite).fault);
    for (size_t level = 0; level < chain.levels.size(); ++level) {
      const bool leaf = level + 1 == chain.levels.size();
      EXPECT_EQ(bench.get(chain.levels[level].entry_address),
                chain.levels[level].entry | bit_at(5) | (leaf ? bit_at(6) : 0));
    }
    EXPECT_FALSE(walk_of(bench, chain, kRead).fault);  // sticky
    EXPECT_NE(bench.get(chain.leaf().entry_address) & bit_at(6), 0u);
  }
  // Data is not written before the dirty bit is: if the bit cannot be written, neither is the data.
  class ReadOnlyTables final : public NestedTranslation {
   public:
    Result translate(const PhysicalMemory&, uint64_t address) const override {
      const bool table = address < 0x1000'0000;
      return {address, 12, true, !table, true, FaultReason::none};
    }
  };
  const ReadOnlyTables nested;
  SpaceBench one(true, kRw | kUs | kA);
  one.chain.context.nested = &nested;
  one.space.load(one.chain.context);
  const uint64_t at = page_target(Size::k4) + (kVa48 & 0xff8);
  one.bench.put(at, 0x1111);
  one.probe.action = FaultAction::stop;
  EXPECT_EQ(one.read(), 0x1111u);
  EXPECT_FALSE(one.write(0x2222));
  EXPECT_EQ(one.bench.get(at), 0x1111u);
}

// The sixteen operations: R/W is bit 0, extended access bit 1, write protect bit 2, intermediate bit 3.
TEST(TlbRows, AtomicPageUpdatesSetTheManualsBits) {
  COVERS("ICL-TLB-12");
  struct Row {
    uint8_t opcode;
    std::vector<unsigned> sets;  // as the manual prints them
  };
  const Row rows[] = {
      {0b1100'0000, {5}}, {0b1100'0001, {5, 6}}, {0b1100'0010, {5, 10}}, {0b1100'0011, {5, 6, 10}},
      {0b1100'0100, {5}}, {0b1100'0101, {5, 6}}, {0b1100'0110, {5, 10}}, {0b1100'0111, {5, 6, 10}},
      {0b1100'1000, {5}}, {0b1100'1001, {5, 6}}, {0b1100'1010, {5, 10}}, {0b1100'1011, {5, 6, 10}},
      {0b1100'1100, {5}}, {0b1100'1101, {5, 6}}, {0b1100'1110, {5, 10}}, {0b1100'1111, {5, 6, 10}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.opcode));
    uint64_t expected = 0;
    for (const unsigned index : row.sets) {
      expected |= bit_at(index);
    }
    if ((row.opcode & 8) != 0) {
      expected &= ~bit_at(6);  // the manual says elsewhere that only a leaf entry has a dirty bit
    }
    Bench bench;
    Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
    const std::vector<LevelFormat>& levels = chain.context.format->levels;
    const EntryFormat& format = (row.opcode & 8) != 0 ? levels[1].table : levels[3].table;
    EXPECT_EQ(page_update(row.opcode, 0, format), expected);
    EXPECT_EQ(page_update(row.opcode, ~uint64_t{0}, format), ~uint64_t{0});
    EXPECT_EQ(page_update(row.opcode, 0x8000'0012'3456'7007, format), 0x8000'0012'3456'7007 | expected);
    const Direction direction = (row.opcode & 1) != 0 ? Direction::write : Direction::read;
    EXPECT_EQ(page_update_opcode(direction, row.opcode & 2, row.opcode & 4, row.opcode & 8), row.opcode);
    // The walker updates the entry of the level in the same way.
    chain.context.accessed_dirty = true;
    chain.context.extended_accessed = (row.opcode & 2) != 0;
    chain.context.write_protect = (row.opcode & 4) != 0;
    EXPECT_FALSE(walk_of(bench, chain, (row.opcode & 1) != 0 ? kWrite : kRead).fault);
    const size_t level = (row.opcode & 8) != 0 ? 1 : 3;
    EXPECT_EQ(bench.get(chain.levels[level].entry_address), chain.levels[level].entry | expected);
  }
  EXPECT_EQ(page_update(0x00, 7, Bench().formats.find(WalkMode::advanced48)->levels[3].table), 7u)
      << "not one of the operations";
}

// Changes that need no invalidation.
TEST(TlbRows, AddedRightsNeedNoInvalidation) {
  COVERS("ICL-TLB-17");
  {  // Present 0 to 1: a missing entry is not cached at any level.
    for (size_t level = 0; level < 4; ++level) {
      SpaceBench one;
      one.chain.set(one.bench, level, 0);
      (void)one.read();
      EXPECT_EQ(one.probe.faults.size(), 1u);
      one.chain.write(one.bench);
      one.bench.put(page_target(Size::k4) + (kVa48 & 0xff8), 3);
      EXPECT_EQ(one.read(), 3u);
      EXPECT_EQ(one.probe.faults.size(), 1u);
    }
  }
  {  // Accessed 0 to 1.
    SpaceBench one(true);
    one.chain.set(one.bench, 3, one.chain.levels[3].entry | kA);
    (void)one.read();
    EXPECT_TRUE(one.probe.faults.empty());
  }
  // R/W and U/S 0 to 1, XD 1 to 0: at most one spurious fault per address.
  for (size_t level = 0; level < 4; ++level) {
    SpaceBench one;
    one.chain.set(one.bench, level, (one.chain.levels[level].entry & ~kRw) | kXd);
    (void)one.read();
    one.chain.write(one.bench);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(one.write(1));
      EXPECT_TRUE(one.fetch());
    }
    EXPECT_LE(one.probe.faults.size(), 1u);
    EXPECT_EQ(one.read(), 1u);
    SpaceBench two;
    two.chain.set(two.bench, level, two.chain.levels[level].entry & ~kUs);
    (void)two.read();
    EXPECT_EQ(two.probe.faults.size(), 1u);  // a real fault
    two.chain.write(two.bench);
    EXPECT_TRUE(two.write(8));
    EXPECT_EQ(two.read(), 8u);
    EXPECT_LE(two.probe.faults.size(), 2u);
  }
}

// IA-32e: 48-bit addresses, up to 52 physical bits, reserved bits above the implemented width.
TEST(TlbRows, Ia32eEntriesAreTranslated) {
  COVERS("ICL-TLB-19");
  for (const unsigned width : {39u, 46u, 52u}) {
    Bench bench("icl", width);
    Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
    for (unsigned index = 12; index <= 51; ++index) {
      chain.set(bench, 3, kP | kRw | kUs | bit_at(index));
      const WalkResult result = walk_of(bench, chain, kRead);
      if (index < width) {
        EXPECT_EQ(result.mapping.address, bit_at(index));
        EXPECT_FALSE(result.fault);
      } else {
        EXPECT_EQ(result.fault.reason, FaultReason::reserved_bit);
      }
    }
    // Not present: all other bits are ignored, including reserved bits.
    for (size_t level = 0; level < 4; ++level) {
      chain.write(bench);
      chain.set(bench, level, ~uint64_t{1});
      EXPECT_EQ(walk_of(bench, chain, kRead).fault.reason, FaultReason::not_present);
    }
    EXPECT_EQ(walk(bench.memory, chain.context, bit_at(48), kRead).fault.reason, FaultReason::not_canonical);
  }
}

}  // namespace
}  // namespace halogen::memory::rows
