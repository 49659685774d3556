// The effect of every bit of every page table entry that the Ice Lake PRM vol. 6 (seed 001) prints, set and clear, for
// reads, writes and fetches, at both host address widths.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "covers.h"
#include "pte_rows_kinds.h"
#include "walk_rows_bench.h"

namespace halogen::memory::rows {
namespace {

using enum Means;

// The bits that are set in every entry of a chain: all rights.
constexpr uint64_t full_rights(WalkMode mode) {
  return mode == WalkMode::advanced48 ? kRw | kUs : kRw;
}

class BitCheck {
 public:
  BitCheck(const EntryKind& kind, unsigned haw) : kind_(kind), haw_(haw), bench_("icl", haw) {
    chain_ = make_chain(bench_, kind.mode, kind.size, kind.mode == WalkMode::legacy32 ? kVa32 : kVa48,
                        full_rights(kind.mode));
    entry_ = chain_.levels[kind.level].entry;
    base_ = walk_of(bench_, chain_, kRead, &base_steps_);
  }

  void run() {
    ASSERT_FALSE(base_.fault) << name_of(base_.fault.reason);
    ASSERT_EQ(physical(base_, chain_.va), page_target(kind_.size) + (chain_.va & (bit_at(page_bits()) - 1)));
    std::vector<bool> seen(64);
    for (const BitRow& row : kind_.rows) {
      const unsigned hi = row.hi >= kTop - 1 ? haw_ - (kTop - row.hi) : row.hi;
      const unsigned lo = row.lo == kTop ? haw_ : row.lo;
      for (unsigned index = lo; index <= hi; ++index) {
        SCOPED_TRACE(std::string(kind_.name) + " bit " + std::to_string(index) + " HAW " + std::to_string(haw_));
        ASSERT_FALSE(seen[index]);
        seen[index] = true;
        check(index, row.means);
        chain_.write(bench_);
      }
    }
    for (unsigned index = 0; index < 64; ++index) {
      EXPECT_TRUE(seen[index]) << kind_.name << ": bit " << index << " has no meaning";
    }
  }

 private:
  unsigned page_bits() const { return page_bits_of(kind_.size); }
  bool is_leaf() const { return kind_.level + 1 == chain_.levels.size(); }

  WalkResult with(uint64_t entry, Access access = kRead, Steps* steps = nullptr) {
    chain_.write(bench_);
    chain_.set(bench_, kind_.level, entry);
    return walk_of(bench_, chain_, access, steps);
  }
  void expect_fault(uint64_t entry, Access access, FaultReason reason) {
    const WalkResult result = with(entry, access);
    EXPECT_EQ(result.fault.reason, reason) << name_of(result.fault.reason);
    EXPECT_EQ(result.fault.direction, access.direction);
    EXPECT_EQ(result.fault.instruction, access.instruction);
  }
  // The walk does not depend on the bit.
  void expect_same(uint64_t entry) {
    for (const Access access : {kRead, kWrite, kFetch}) {
      Steps before, after;
      const WalkResult one = with(entry_, access, &before);
      const WalkResult two = with(entry, access, &after);
      EXPECT_EQ(one.fault.reason, FaultReason::none);
      EXPECT_EQ(two.fault.reason, FaultReason::none);
      EXPECT_EQ(one.mapping, two.mapping);
      EXPECT_EQ(before.addresses, after.addresses);
      EXPECT_EQ(bench_.get(chain_.levels[kind_.level].entry_address), entry);
    }
  }

  void check(unsigned index, Means means) {
    const uint64_t flag = bit_at(index);
    const uint64_t set = entry_ | flag, clear = entry_ & ~flag;
    switch (means) {
      case ignored:
        expect_same(entry_ ^ flag);
        return;
      case reserved:
        expect_fault(set, kRead, FaultReason::reserved_bit);
        EXPECT_EQ(with(set).fault.level, kind_.level);
        return;
      case address:
        check_address(flag);
        return;
      case present: {
        expect_fault(clear, kRead, FaultReason::not_present);
        // If an entry is not present, its other bits are ignored.
        expect_fault(0xffff'ffff'ffff'fffe, kWrite, FaultReason::not_present);
        const Fault fault = with(clear).fault;
        EXPECT_EQ(fault.level, kind_.level);
        EXPECT_EQ(fault.entry_address, chain_.levels[kind_.level].entry_address);
        EXPECT_EQ(fault.below, full_depth() - 1 - kind_.level);
        return;
      }
      case write:
        expect_fault(clear, kWrite, FaultReason::write_denied);
        EXPECT_FALSE(with(clear, kRead).fault);
        EXPECT_FALSE(with(clear, kFetch).fault);
        EXPECT_FALSE(with(clear, kRead).mapping.writable);
        EXPECT_TRUE(with(set, kWrite).mapping.writable);
        return;
      case no_write:
        EXPECT_FALSE(with(clear, kWrite).fault);
        EXPECT_TRUE(with(clear, kRead).mapping.writable);
        return;
      case user:
        for (const Access access : {kRead, kWrite, kFetch}) {
          expect_fault(clear, access, FaultReason::privilege_denied);
        }
        chain_.context.supervisor = true;
        EXPECT_FALSE(with(clear, kWrite).fault);
        EXPECT_FALSE(with(clear).mapping.user);
        chain_.context.supervisor = false;
        return;
      case execute_off:
        expect_same(set);  // the context does not enable it
        chain_.context.execute_disable = true;
        expect_fault(set, kFetch, FaultReason::execute_denied);
        EXPECT_FALSE(with(set, kRead).fault);
        EXPECT_FALSE(with(set, kWrite).fault);
        EXPECT_FALSE(with(set, kRead).mapping.executable);
        EXPECT_TRUE(with(clear, kFetch).mapping.executable);
        chain_.context.execute_disable = false;
        return;
      case accessed:
        check_kept(flag, kRead, true);
        check_kept(flag, kWrite, true);
        return;
      case dirty:
        check_kept(flag, kRead, false);
        check_kept(flag, kWrite, true);
        check_dirty(flag);
        return;
      case extended:
        expect_same(set);
        check_kept(flag, kRead, false);
        chain_.context.extended_accessed = true;
        check_kept(flag, kRead, true);
        check_kept(flag, kWrite, true);
        chain_.context.extended_accessed = false;
        return;
      case type0:
      case type1:
      case type2:
        EXPECT_EQ(with(clear).mapping.type_index, 0);
        EXPECT_EQ(with(set).mapping.type_index, means == type0 ? 1 : means == type1 ? 2 : 4);
        EXPECT_EQ(physical(with(set), chain_.va), physical(base_, chain_.va));
        return;
      case size:
        check_size(entry_ ^ flag);
        return;
      case medium:
        check_medium(set);
        return;
      case null:
        for (const Access access : {kRead, kWrite}) {
          EXPECT_TRUE(with(set, access).mapping.null);
          EXPECT_FALSE(with(clear, access).mapping.null);
        }
        return;
      case local:
        EXPECT_EQ(with(set).mapping.space, MemorySpace::system);  // the device has no local memory
        expect_same(set);
        chain_.context.local_memory = true;
        EXPECT_EQ(with(set).mapping.space, MemorySpace::local);
        EXPECT_EQ(with(clear).mapping.space, MemorySpace::system);
        chain_.context.local_memory = false;
        return;
    }
  }

  size_t full_depth() const { return kind_.mode == WalkMode::legacy32 ? 2 : 4; }

  void check_address(uint64_t flag) {
    Steps steps;
    const WalkResult result = with(entry_ ^ flag, kRead, &steps);
    if (is_leaf()) {
      EXPECT_FALSE(result.fault);
      EXPECT_EQ(result.mapping.address, base_.mapping.address ^ flag);
      return;
    }
    // The next entry is read from the other table.
    const Chain::Level& next = chain_.levels[kind_.level + 1];
    const uint64_t index = next.entry_address - chain_.levels[kind_.level].target;
    const uint64_t expected = (chain_.levels[kind_.level].target ^ flag) + index;
    if (result.fault.reason == FaultReason::table_hole) {
      EXPECT_EQ(result.fault.entry_address, expected);
    } else {
      ASSERT_GT(steps.addresses.size(), kind_.level + 1);
      EXPECT_EQ(steps.addresses[kind_.level + 1], expected);
    }
  }

  // A bit that the walk sets in the entry, only if the context enables it.
  void check_kept(uint64_t flag, Access access, bool expected) {
    const uint64_t at = chain_.levels[kind_.level].entry_address;
    const uint64_t start = entry_ & ~flag;
    EXPECT_FALSE(with(start, access).fault);
    EXPECT_EQ(bench_.get(at), start);
    chain_.context.accessed_dirty = true;
    EXPECT_FALSE(with(start, access).fault);
    EXPECT_EQ((bench_.get(at) & flag) != 0, expected);
    const uint64_t managed = kA | kD | kEa;
    EXPECT_EQ(bench_.get(at) & ~managed, start & ~managed) << "nothing else changes";
    // Sticky: a walk never clears it.
    EXPECT_FALSE(with(start | flag, kRead).fault);
    EXPECT_NE(bench_.get(at) & flag, 0u);
    chain_.context.accessed_dirty = false;
  }
  void check_dirty(uint64_t flag) {
    chain_.context.accessed_dirty = true;
    EXPECT_FALSE(with(entry_ & ~flag, kRead).mapping.dirty);
    EXPECT_TRUE(with(entry_ & ~flag, kWrite).mapping.dirty);
    EXPECT_TRUE(with(entry_ | flag, kRead).mapping.dirty);
    chain_.context.accessed_dirty = false;
  }

  // Bit 7 selects whether the entry maps a page or points to a table.
  void check_size(uint64_t other) {
    Steps steps;
    const WalkResult result = with(other, kRead, &steps);
    if (is_leaf()) {
      // The entry was a page: now the walk continues one level further, where the table is empty.
      EXPECT_EQ(steps.addresses.size(), chain_.levels.size() + 1);
      EXPECT_EQ(result.fault.reason, FaultReason::not_present);
    } else {
      EXPECT_EQ(steps.addresses.size(), kind_.level + 1);
      if (!result.fault) {
        EXPECT_EQ(result.mapping.page_bits, kind_.level == 1 ? 30 : 21);
      } else {
        EXPECT_EQ(result.fault.reason,
                  FaultReason::reserved_bit);  // the address of the table is not aligned to the page size
      }
    }
  }

  void check_medium(uint64_t set) {
    const uint64_t table = chain_.levels[kind_.level].target;
    // Every sixteenth entry, selected by VA[20:16].
    const uint64_t expected = table + 8 * (((chain_.va >> 16) & 0x1f) << 4);
    Steps steps;
    (void)with(set, kRead, &steps);
    EXPECT_EQ(steps.addresses.back(), expected);
    chain_.context.medium_pages = false;  // disabled outside the tables: 4 KB pages
    Steps off;
    const WalkResult result = with(set, kRead, &off);
    EXPECT_EQ(off.addresses, base_steps_.addresses);
    EXPECT_EQ(result.mapping, base_.mapping);
    chain_.context.medium_pages = true;
  }

  const EntryKind& kind_;
  unsigned haw_;
  Bench bench_;
  Chain chain_;
  uint64_t entry_ = 0;
  WalkResult base_;
  Steps base_steps_;
};

void check_kind(const EntryKind& kind) {
  for (const unsigned haw : {39u, 46u}) {
    BitCheck(kind, haw).run();
  }
}

TEST(PteRows, AdvancedPml4eBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-01");
  check_kind(kAdvancedPml4e);
}
TEST(PteRows, AdvancedPdpeBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-02");
  check_kind(kAdvancedPdpe);
}
TEST(PteRows, AdvancedPdpe1gBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-03");
  check_kind(kAdvancedPdpe1g);
}
TEST(PteRows, AdvancedPdeBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-04");
  check_kind(kAdvancedPde);
}
TEST(PteRows, AdvancedPde2mBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-05");
  check_kind(kAdvancedPde2m);
}
TEST(PteRows, AdvancedPte64kBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-06");
  check_kind(kAdvancedPte64k);
}
TEST(PteRows, AdvancedPte4kBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-07");
  check_kind(kAdvancedPte);
}
TEST(PteRows, Legacy32PdeBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-08");
  check_kind(kNarrowPde);
}
TEST(PteRows, Legacy32Pte64kBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-09");
  check_kind(kNarrowPte64k);
}
TEST(PteRows, Legacy32Pte4kBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-10");
  check_kind(kNarrowPte);
}
TEST(PteRows, Legacy48Pml4eBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-11");
  check_kind(kLegacyPml4e);
}
TEST(PteRows, Legacy48PdpeBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-12");
  check_kind(kLegacyPdpe);
}
TEST(PteRows, Legacy48Pdpe1gBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-13");
  check_kind(kLegacyPdpe1g);
}
TEST(PteRows, Legacy48PdeBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-14");
  check_kind(kLegacyPde);
}
TEST(PteRows, Legacy48Pde2mBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-15");
  check_kind(kLegacyPde2m);
}
TEST(PteRows, Legacy48Pte64kBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-16");
  check_kind(kLegacyPte64k);
}
TEST(PteRows, Legacy48Pte4kBitsHaveTheDocumentedEffects) {
  COVERS("ICL-PTE-17");
  check_kind(kLegacyPte);
}

}  // namespace
}  // namespace halogen::memory::rows
