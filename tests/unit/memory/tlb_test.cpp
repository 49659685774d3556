// The TLB alone: capacity, sets, replacement, hit rules, invalidations. A random test compares it with a simple list.
#include "memory/tlb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "table_world.h"

namespace halogen::memory {
namespace {

constexpr Access kFetch{.instruction = true};

std::byte* fake_frame(uint64_t page) {
  static std::vector<std::byte> kBytes(1 << 16);
  return kBytes.data() + page % kBytes.size();
}

TlbEntry entry(uint64_t page, SpaceTag space = 1) {
  TlbEntry made;
  made.page = page;
  made.frame = fake_frame(page);
  made.space = space;
  made.writable = made.dirty = made.executable = made.user = true;
  return made;
}

bool holds(Tlb& tlb, uint64_t page, SpaceTag space = 1, Access access = kRead) {
  const TlbEntry* found = tlb.look_up(space, page, access);
  return found != nullptr && found->page == page && found->space == space && found->frame == fake_frame(page);
}

TEST(Tlb, HasAtMost256EntriesInASet) {
  // Sizes from Ice Lake PRM vol. 6, TLB - Final Page Entry (seed 001), and the number of sets of at most 256 entries, a
  // power of two.
  struct Row {
    unsigned entries;
    unsigned sets;
  };
  for (const Row& row : {Row{1, 1}, Row{32, 1}, Row{64, 1}, Row{128, 1}, Row{256, 1}, Row{257, 2}, Row{448, 2},
                         Row{512, 2}, Row{640, 4}, Row{768, 4}}) {
    Tlb tlb(row.entries);
    EXPECT_EQ(tlb.entries(), row.entries);
    EXPECT_EQ(tlb.sets(), row.sets) << row.entries;
  }
}

TEST(Tlb, HoldsAsManyAdjacentPagesAsItHasEntries) {
  for (const unsigned entries : {1u, 2u, 32u, 256u, 448u, 512u, 640u, 768u}) {
    Tlb tlb(entries);
    for (uint64_t page = 1000; page < 1000 + entries; ++page) {
      tlb.fill(entry(page));
    }
    for (uint64_t page = 1000; page < 1000 + entries; ++page) {
      ASSERT_TRUE(holds(tlb, page)) << entries << " " << page;
    }
    EXPECT_EQ(tlb.statistics().hits, entries);
    EXPECT_EQ(tlb.statistics().misses, 0u);
    EXPECT_FALSE(holds(tlb, 999));
    EXPECT_EQ(tlb.statistics().misses, 1u);
  }
}

TEST(Tlb, LowPageBitsSelectTheSet) {
  Tlb tlb(512);  // two sets of 256: bit 12 of the address selects the set
  for (uint64_t i = 0; i < 256; ++i) {
    tlb.fill(entry(2 * i + 1));
  }
  for (uint64_t i = 0; i < 300; ++i) {
    tlb.fill(entry(2 * i));
  }
  for (uint64_t i = 0; i < 256; ++i) {
    EXPECT_TRUE(holds(tlb, 2 * i + 1)) << "even pages do not affect the odd set";
  }
  for (uint64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(holds(tlb, 2 * i), i >= 44) << "the even set keeps its last 256 pages";
  }
}

TEST(Tlb, LeastRecentlyAllocatedEntryIsEvictedEvenIfJustUsed) {
  Tlb tlb(4);
  for (uint64_t page = 0; page < 4; ++page) {
    tlb.fill(entry(page));
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(holds(tlb, 0));
  }
  tlb.fill(entry(4));
  EXPECT_FALSE(holds(tlb, 0));
  EXPECT_TRUE(holds(tlb, 1));
  tlb.fill(entry(2));  // already present: no allocation and no eviction
  tlb.fill(entry(5));
  EXPECT_FALSE(holds(tlb, 1));
  EXPECT_TRUE(holds(tlb, 2));
  tlb.fill(entry(6));
  EXPECT_FALSE(holds(tlb, 2)) << "a refresh does not change its age";
}

TEST(Tlb, NothingIsEvictedWhileThereIsRoom) {
  Tlb tlb(4);
  for (uint64_t page = 0; page < 4; ++page) {
    tlb.fill(entry(page));
  }
  tlb.invalidate_page(1, 2);
  tlb.fill(entry(7));
  for (const uint64_t page : {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{7}}) {
    EXPECT_TRUE(holds(tlb, page)) << page;
  }
  tlb.fill(entry(8));
  EXPECT_FALSE(holds(tlb, 0));
}

TEST(Tlb, FillOfTheSamePageReplacesIt) {
  Tlb tlb(4);
  tlb.fill(entry(3));
  TlbEntry other = entry(3);
  other.frame = fake_frame(99);
  other.type_index = 5;
  tlb.fill(other);
  EXPECT_EQ(tlb.look_up(1, 3, kRead)->type_index, 5);
  EXPECT_EQ(tlb.look_up(1, 3, kRead)->frame, fake_frame(99));
}

TEST(Tlb, AddressSpacesAreSeparate) {
  Tlb tlb(16);
  tlb.fill(entry(3, 1));
  EXPECT_FALSE(holds(tlb, 3, 2));
  EXPECT_FALSE(holds(tlb, 3, kGlobalSpace));
  tlb.fill(entry(3, 2));
  EXPECT_TRUE(holds(tlb, 3, 1));
  EXPECT_TRUE(holds(tlb, 3, 2));
}

TEST(Tlb, PageZeroOfSpaceZeroIsAnOrdinaryEntry) {
  Tlb tlb(4);
  EXPECT_FALSE(holds(tlb, 0, 0));
  tlb.fill(entry(0, 0));
  EXPECT_TRUE(holds(tlb, 0, 0));
  tlb.invalidate_page(0, 0);
  EXPECT_FALSE(holds(tlb, 0, 0));
}

TEST(Tlb, MissingRightIsAMissThatDropsTheEntry) {
  struct Row {
    const char* name;
    bool TlbEntry::*right;
    Access access;
  };
  for (const Row& row : {Row{"read-only", &TlbEntry::writable, kWrite}, Row{"clean", &TlbEntry::dirty, kWrite},
                         Row{"not executable", &TlbEntry::executable, kFetch}}) {
    SCOPED_TRACE(row.name);
    Tlb tlb(16);
    TlbEntry lacking = entry(3);
    lacking.*row.right = false;
    tlb.fill(lacking);
    EXPECT_TRUE(holds(tlb, 3, 1, kRead)) << "reads do not need the right";
    EXPECT_EQ(tlb.statistics().rewalks, 0u);
    EXPECT_FALSE(holds(tlb, 3, 1, row.access));
    EXPECT_EQ(tlb.statistics().rewalks, 1u);
    EXPECT_EQ(tlb.statistics().misses, 0u);
    EXPECT_FALSE(holds(tlb, 3, 1, kRead)) << "the entry was dropped";
    EXPECT_EQ(tlb.statistics().misses, 1u);
    tlb.fill(entry(3));
    EXPECT_TRUE(holds(tlb, 3, 1, row.access));
  }
}

TEST(Tlb, SufficientRightsAreHits) {
  Tlb tlb(16);
  TlbEntry data = entry(3);
  data.executable = false;
  tlb.fill(data);
  EXPECT_TRUE(holds(tlb, 3, 1, kWrite));
  TlbEntry code = entry(4);
  code.writable = code.dirty = false;
  tlb.fill(code);
  EXPECT_TRUE(holds(tlb, 4, 1, kFetch));
  EXPECT_EQ(tlb.statistics().hits, 2u);
}

TEST(Tlb, InvalidationsDropOnlyTheirTarget) {
  const auto filled = [] {
    Tlb tlb(600);
    for (uint64_t page = 0; page < 200; ++page) {
      tlb.fill(entry(page, 1));
      tlb.fill(entry(page, 2));
    }
    return tlb;
  };
  const auto count = [](Tlb& tlb, SpaceTag space) {
    unsigned found = 0;
    for (uint64_t page = 0; page < 200; ++page) {
      found += holds(tlb, page, space) ? 1u : 0u;
    }
    return found;
  };
  Tlb all = filled();
  all.invalidate_all();
  EXPECT_EQ(count(all, 1) + count(all, 2), 0u);
  Tlb space = filled();
  space.invalidate_space(1);
  EXPECT_EQ(count(space, 1), 0u);
  EXPECT_EQ(count(space, 2), 200u);
  Tlb page = filled();
  page.invalidate_page(1, 77);
  EXPECT_FALSE(holds(page, 77, 1));
  EXPECT_EQ(count(page, 1), 199u);
  EXPECT_EQ(count(page, 2), 200u);
  page.invalidate_page(1, 5000);  // not present
  EXPECT_EQ(count(page, 1), 199u);
}

TEST(Tlb, PageResponseDropsOnlyAFaultedEntry) {
  Tlb tlb(16);
  tlb.fill(entry(3));
  TlbEntry faulted = entry(4);
  faulted.frame = nullptr;
  faulted.fault = FaultReason::not_present;
  tlb.fill(faulted);
  tlb.invalidate_faults(1, 3);
  EXPECT_TRUE(holds(tlb, 3));
  const TlbEntry* found = tlb.look_up(1, 4, kWrite);
  ASSERT_NE(found, nullptr) << "a faulted entry is found, whatever its rights are";
  EXPECT_EQ(found->fault, FaultReason::not_present);
  tlb.invalidate_faults(1, 4);
  EXPECT_EQ(tlb.look_up(1, 4, kRead), nullptr);
  tlb.invalidate_faults(1, 4);
}

// A simple model: one list per set, oldest allocation first.
class PlainTlb {
 public:
  PlainTlb(unsigned entries, unsigned sets) : sets_(sets) {
    for (unsigned i = 0; i < sets; ++i) {
      sets_[i].capacity = entries / sets + (i < entries % sets ? 1 : 0);
    }
  }
  bool look_up(SpaceTag space, uint64_t page, Access access) {
    Set& set = set_of(page);
    const auto found = find(set, space, page);
    if (found == set.entries.end()) {
      return false;
    }
    if ((access.writes() && !(found->writable && found->dirty)) || (access.instruction && !found->executable)) {
      set.entries.erase(found);
      return false;
    }
    return true;
  }
  void fill(const TlbEntry& filled) {
    Set& set = set_of(filled.page);
    if (const auto found = find(set, filled.space, filled.page); found != set.entries.end()) {
      *found = filled;
      return;
    }
    if (set.entries.size() == set.capacity) {
      set.entries.pop_front();
    }
    set.entries.push_back(filled);
  }
  template <class Predicate>
  void remove_if(Predicate predicate) {
    for (Set& set : sets_) {
      set.entries.remove_if(predicate);
    }
  }

 private:
  struct Set {
    size_t capacity = 0;
    std::list<TlbEntry> entries;
  };
  Set& set_of(uint64_t page) { return sets_[page % sets_.size()]; }
  static std::list<TlbEntry>::iterator find(Set& set, SpaceTag space, uint64_t page) {
    return std::find_if(set.entries.begin(), set.entries.end(),
                        [&](const TlbEntry& held) { return held.page == page && held.space == space; });
  }
  std::vector<Set> sets_;
};

TEST(Tlb, AgreesWithASimpleList) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    constexpr unsigned kSizes[] = {1, 2, 3, 16, 255, 256, 448, 640};
    const unsigned size = kSizes[seed % 8];
    Tlb tlb(size);
    PlainTlb plain(size, tlb.sets());
    worlds::Random random(seed);
    const uint64_t pages = size * (1 + random.below(3));
    for (unsigned step = 0; step < 4000; ++step) {
      const auto space = static_cast<SpaceTag>(random.below(3));
      // Pages far apart too: the high bits must be compared.
      const uint64_t page = random.below(pages) | (random.percent(10) ? uint64_t{1} << random.below(52) : 0);
      const uint64_t choice = random.below(100);
      if (choice < 40) {
        TlbEntry made = entry(page, space);
        made.writable = random.percent(80);
        made.dirty = random.percent(80);
        made.executable = random.percent(80);
        tlb.fill(made);
        plain.fill(made);
      } else if (choice < 95) {
        const Access access{.direction = random.percent(30) ? Direction::write : Direction::read,
                            .instruction = random.percent(20)};
        const TlbEntry* found = tlb.look_up(space, page, access);
        ASSERT_EQ(found != nullptr, plain.look_up(space, page, access)) << "seed " << seed << " step " << step;
        if (found != nullptr) {
          ASSERT_TRUE(found->page == page && found->space == space) << "seed " << seed << " step " << step;
        }
      } else if (choice < 98) {
        tlb.invalidate_page(space, page);
        plain.remove_if([&](const TlbEntry& held) { return held.page == page && held.space == space; });
      } else if (choice < 99) {
        tlb.invalidate_space(space);
        plain.remove_if([&](const TlbEntry& held) { return held.space == space; });
      } else if (random.percent(20)) {
        tlb.invalidate_all();
        plain.remove_if([](const TlbEntry&) { return true; });
      }
    }
  }
}

}  // namespace
}  // namespace halogen::memory
