// AddressSpace as a client sees it: accesses across pages, null pages and unmapped pages, the decisions of a fault
// handler, and what stays cached until it is invalidated. Memory is one flat range; page tables are written as numbers.
#include "memory/address_space.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "spec/device_model.h"
#include "walk_rows_bench.h"

namespace halogen::memory {
namespace {

// Bits of Gen8 entries (seed 001).
constexpr uint64_t kP = 1, kRw = 2, kPs = 0x80, kNull = 0x200, kIps = 0x800, kLocal = 0x800;

class Handler final : public FaultHandler {
 public:
  FaultAction on_fault(const Fault& fault) override {
    faults.push_back(fault);
    return decide ? decide(fault) : action;
  }
  std::vector<Fault> faults;
  FaultAction action = FaultAction::skip;
  std::function<FaultAction(const Fault&)> decide;
};

// System memory: 64 MB from address 0, of which the upper 32 MB hold tables. Local memory: 4 MB. Data pages are filled
// with their number.
class AddressSpaceTest : public testing::Test {
 protected:
  static constexpr uint64_t kSystemBytes = 64 << 20;
  static constexpr uint64_t kLocalBytes = 4 << 20;
  static constexpr uint64_t kTables = 32 << 20;
  static constexpr uint64_t kVa = 0x0000'1234'5600'0000;

  AddressSpaceTest() : system_bytes_(kSystemBytes), local_bytes_(kLocalBytes) {
    memory_.add({MemorySpace::system, MemoryKind::ram, 0, kSystemBytes, &system_});
    memory_.add({MemorySpace::local, MemoryKind::local, 0, kLocalBytes, &local_});
    context_.format = formats_.find(WalkMode::legacy48);
    context_.roots[0] = new_table();
    context_.local_memory = true;
    space_.load(context_);
  }

  uint64_t& entry(uint64_t address) { return *reinterpret_cast<uint64_t*>(system_bytes_.data() + address); }
  uint64_t new_table() {
    next_table_ += kFrameBytes;
    return kTables + next_table_ - kFrameBytes;
  }
  // Returns the entry of `va` at the level that `shift` names; creates the tables above it.
  uint64_t& entry_of(uint64_t va, unsigned shift = 12) {
    uint64_t table = context_.roots[0];
    for (unsigned at = 39; at > shift; at -= 9) {
      uint64_t& upper = entry(table + 8 * ((va >> at) & 511));
      if (upper == 0) {
        upper = new_table() | kP | kRw;
      }
      table = upper & ~uint64_t{0xfff};
    }
    return entry(table + 8 * ((va >> shift) & 511));
  }
  void map(uint64_t va, uint64_t address, uint64_t bits = kP | kRw) { entry_of(va) = address | bits; }

  std::vector<uint8_t> read(uint64_t va, size_t bytes, AccessResult expected = AccessResult::ok) {
    std::vector<uint8_t> data(bytes, 0xee);
    EXPECT_EQ(space_.read(GpuVa(va), std::as_writable_bytes(std::span(data))), expected);
    return data;
  }
  AccessResult write(uint64_t va, const std::vector<uint8_t>& data) {
    return space_.write(GpuVa(va), std::as_bytes(std::span(data)));
  }
  uint8_t& system(uint64_t address) { return *reinterpret_cast<uint8_t*>(system_bytes_.data() + address); }
  uint8_t& local(uint64_t address) { return *reinterpret_cast<uint8_t*>(local_bytes_.data() + address); }
  uint64_t misses() const { return tlb_.statistics().misses; }
  uint64_t hits() const { return tlb_.statistics().hits; }

  std::vector<std::byte> system_bytes_;
  std::vector<std::byte> local_bytes_;
  FlatFrames system_{system_bytes_};
  FlatFrames local_{local_bytes_};
  PhysicalMemory memory_;
  PageFormats formats_{*spec::find_device("dg1"), 39};
  Handler handler_;
  Tlb tlb_{64};
  AddressSpace space_{memory_, tlb_, 3, handler_};
  WalkContext context_;
  uint64_t next_table_ = 0;
};

TEST_F(AddressSpaceTest, AccessesMayCrossPages) {
  // The pages are not in order; only the last two are adjacent.
  const uint64_t pages[] = {0x5000, 0x2000, 0x9000, 0x7000, 0x8000};
  for (uint64_t i = 0; i < 5; ++i) {
    map(kVa + i * 4096, pages[i]);
  }
  for (const uint64_t offset : {0u, 1u, 64u, 4032u, 4095u}) {
    for (const size_t bytes : {1u, 2u, 8u, 63u, 64u, 65u, 4096u, 4097u, 9000u, 16000u}) {
      std::vector<uint8_t> data(bytes);
      for (size_t i = 0; i < bytes; ++i) {
        data[i] = static_cast<uint8_t>(i * 31 + offset + bytes);
      }
      ASSERT_EQ(write(kVa + offset, data), AccessResult::ok);
      for (size_t i = 0; i < bytes; ++i) {
        const uint64_t at = offset + i;
        ASSERT_EQ(system(pages[at / 4096] + at % 4096), data[i]) << offset << "+" << i;
      }
      ASSERT_EQ(read(kVa + offset, bytes), data) << offset << " " << bytes;
    }
  }
  EXPECT_TRUE(handler_.faults.empty());
}

// Every address of a large page invalidates the whole page.
TEST_F(AddressSpaceTest, InvalidationOfALargePageDropsAllOfIt) {
  constexpr uint64_t kMedium = kVa + (64 << 20), kSmall = kVa + (128 << 20);
  const auto fill = [&](uint64_t from, uint8_t value) {
    for (uint64_t at = 0; at < 32; ++at) {
      system(from + at * 4096) = static_cast<uint8_t>(value + at);
    }
  };
  fill(4 << 20, 10);
  fill(8 << 20, 100);
  const auto point_at = [&](uint64_t address) {
    entry_of(kVa, 21) = address | kP | kRw | kPs;
    for (uint64_t page = 0; page < 32; page += 16) {  // 64 KB: every sixteenth entry
      entry_of(kMedium + page * 4096) = (address + page * 4096) | kP | kRw;
    }
    entry_of(kMedium, 21) |= kIps;
    map(kSmall, address);
    map(kSmall + 4096, address + 4096);
  };
  point_at(4 << 20);
  const auto see = [&](uint64_t va) {
    std::vector<int> seen;
    for (uint64_t at = 0; at < 32; ++at) {
      seen.push_back(read(va + at * 4096, 1)[0]);
    }
    return seen;
  };
  const std::vector<int> old_2m = see(kVa), old_64k = see(kMedium);
  EXPECT_EQ(old_2m[31], 41);
  EXPECT_EQ(old_64k[31], 41);
  EXPECT_EQ(read(kSmall, 1)[0], 10);
  EXPECT_EQ(read(kSmall + 4096, 1)[0], 11);
  point_at(8 << 20);
  EXPECT_EQ(see(kVa + 0), old_2m) << "translations stay until they are invalidated";
  space_.invalidate_page(GpuVa(kSmall));
  EXPECT_EQ(read(kSmall, 1)[0], 100);
  EXPECT_EQ(read(kSmall + 4096, 1)[0], 11) << "another page is not affected";
  EXPECT_EQ(read(kVa + 4096, 1)[0], 11);
  space_.invalidate_page(GpuVa(kMedium + 3 * 4096));
  EXPECT_EQ(read(kMedium + 15 * 4096, 1)[0], 115);
  EXPECT_EQ(read(kMedium + 16 * 4096, 1)[0], 26) << "another 64 KB page is not affected";
  space_.invalidate_page(GpuVa(kVa + (1 << 20)));
  EXPECT_EQ(read(kVa, 1)[0], 100);
  EXPECT_EQ(read(kVa + 31 * 4096, 1)[0], 131);
}

TEST_F(AddressSpaceTest, EmptyAccessesTouchNothing) {
  EXPECT_EQ(space_.read(GpuVa(kVa), {}), AccessResult::ok);
  EXPECT_EQ(space_.write(GpuVa(~uint64_t{0}), {}), AccessResult::ok);
  EXPECT_EQ(space_.read_each({}, 64, nullptr), AccessResult::ok);
  const GpuVa addresses[] = {GpuVa(kVa), GpuVa(kVa)};
  EXPECT_EQ(space_.read_each(addresses, 0, nullptr), AccessResult::ok);
  EXPECT_TRUE(handler_.faults.empty());
  EXPECT_EQ(hits() + misses(), 0u);
}

TEST_F(AddressSpaceTest, ValuesNeedNoAlignment) {
  map(kVa, 0x5000);
  map(kVa + 4096, 0x2000);
  EXPECT_EQ(space_.store_value<uint64_t>(GpuVa(kVa + 4093), 0x1122'3344'5566'7788), AccessResult::ok);
  EXPECT_EQ(system(0x5fff), 0x66);
  EXPECT_EQ(system(0x2000), 0x55);
  EXPECT_EQ(space_.load_value<uint64_t>(GpuVa(kVa + 4093)), 0x1122'3344'5566'7788u);
  EXPECT_EQ(space_.load_value<uint16_t>(GpuVa(kVa + 4095)), 0x5566u);
}

TEST_F(AddressSpaceTest, NullPagesReadZeroAndDropWrites) {
  map(kVa, 0x5000);
  map(kVa + 4096, 0x6000, kP | kRw | kNull);
  map(kVa + 8192, 0x7000);
  EXPECT_EQ(write(kVa, std::vector<uint8_t>(3 * 4096, 0x77)), AccessResult::ok);
  EXPECT_EQ(system(0x5fff), 0x77);
  EXPECT_EQ(system(0x6000), 0);
  EXPECT_EQ(system(0x7000), 0x77);
  const std::vector<uint8_t> data = read(kVa + 4095, 4098);
  EXPECT_EQ(data.front(), 0x77);
  EXPECT_EQ(data[1], 0);
  EXPECT_EQ(data[4096], 0);
  EXPECT_EQ(data.back(), 0x77);
  EXPECT_TRUE(handler_.faults.empty());
  const AddressSpace::View view = space_.view(GpuVa(kVa + 4096), kWrite);
  EXPECT_TRUE(view.null);
  EXPECT_TRUE(view.bytes.empty());
  EXPECT_EQ(view.result, AccessResult::ok);
}

TEST_F(AddressSpaceTest, PageOutsideMemoryFaults) {
  map(kVa, 0x70'0000'0000);
  EXPECT_EQ(space_.load_value<uint32_t>(GpuVa(kVa)), 0u);
  EXPECT_EQ(write(kVa, {1, 2, 3}), AccessResult::ok);
  ASSERT_EQ(handler_.faults.size(), 2u);
  EXPECT_EQ(handler_.faults[0].reason, FaultReason::page_hole);
  EXPECT_EQ(handler_.faults[1].reason, FaultReason::page_hole);
  EXPECT_EQ(handler_.faults[1].direction, Direction::write);
}

TEST_F(AddressSpaceTest, SkippedFaultReadsZeroAndTheAccessContinues) {
  map(kVa, 0x5000);
  map(kVa + 8192, 0x7000);
  system(0x5fff) = 1;
  system(0x7000) = 2;
  const std::vector<uint8_t> data = read(kVa + 4095, 4098);
  EXPECT_EQ(data.front(), 1);
  EXPECT_EQ(data[1], 0);
  EXPECT_EQ(data.back(), 2);
  ASSERT_EQ(handler_.faults.size(), 1u);
  EXPECT_EQ(handler_.faults[0].reason, FaultReason::not_present);
  EXPECT_EQ(handler_.faults[0].address, kVa + 4096);
}

// Every kind of access returns what the fault handler decided.
TEST_F(AddressSpaceTest, FaultThatStopsEndsTheAccessWithItsResult) {
  map(kVa, 0x5000);
  map(kVa + 8192, 0x7000);
  const std::pair<FaultAction, AccessResult> rows[] = {{FaultAction::stop, AccessResult::stopped},
                                                       {FaultAction::hang, AccessResult::hung},
                                                       {FaultAction::wait, AccessResult::waits_for_page}};
  for (const auto& [action, result] : rows) {
    SCOPED_TRACE(static_cast<int>(action));
    handler_.action = action;
    system(0x5fff) = 1;
    const std::vector<uint8_t> data = read(kVa + 4095, 4098, result);
    EXPECT_EQ(data.front(), 1) << "bytes before the fault are read";
    EXPECT_EQ(data[1], 0xee) << "bytes after the fault are not touched";
    EXPECT_EQ(write(kVa, std::vector<uint8_t>(3 * 4096, 0x77)), result);
    EXPECT_EQ(system(0x5000), 0x77);
    EXPECT_EQ(system(0x7000), 0);
    EXPECT_EQ(space_.store_value<uint32_t>(GpuVa(kVa + 4096), 1), result);
    EXPECT_EQ(space_.view(GpuVa(kVa + 4096), kRead).result, result);
    const GpuVa addresses[] = {GpuVa(kVa), GpuVa(kVa + 4096), GpuVa(kVa + 8192)};
    std::vector<uint8_t> each(12, 0xee);
    EXPECT_EQ(space_.read_each(addresses, 4, reinterpret_cast<std::byte*>(each.data())), result);
    EXPECT_EQ(each, (std::vector<uint8_t>{0x77, 0x77, 0x77, 0x77, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee}));
  }
}

// Work that waits for a page is repeated and raises its other faults again, so the wait counts.
TEST_F(AddressSpaceTest, WorkEndsWithTheGreatestResultOfItsAccesses) {
  const auto work = [&](std::initializer_list<FaultAction> actions) {
    space_.begin_work(5);
    for (const FaultAction action : actions) {
      handler_.action = action;
      static_cast<void>(space_.store_value<uint32_t>(GpuVa(kVa), 1));
    }
    return space_.end_work();
  };
  EXPECT_EQ(work({}).result, AccessResult::ok);
  const AddressSpace::Work skipped = work({FaultAction::skip, FaultAction::skip});
  EXPECT_EQ(skipped.result, AccessResult::ok);
  EXPECT_EQ(skipped.skipped, 7u);
  EXPECT_EQ(work({FaultAction::stop, FaultAction::skip}).result, AccessResult::stopped);
  EXPECT_EQ(work({FaultAction::stop, FaultAction::hang}).result, AccessResult::hung);
  EXPECT_EQ(work({FaultAction::wait, FaultAction::hang}).result, AccessResult::waits_for_page);
  EXPECT_EQ(work({FaultAction::hang}).skipped, 5u);
}

TEST_F(AddressSpaceTest, RepeatedAccessWalksAgain) {
  system(0x6000) = 0x42;
  for (const FaultAction action : {FaultAction::stop, FaultAction::wait}) {
    entry_of(kVa) = 0;
    space_.invalidate();
    handler_.decide = [&](const Fault& fault) {
      map(fault.address & ~uint64_t{0xfff}, 0x6000);
      return action;
    };
    std::byte value{};
    EXPECT_FALSE(ok(space_.read(GpuVa(kVa), std::span(&value, 1))));
    EXPECT_EQ(value, std::byte{0}) << "the access did not happen";
    EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x42);
  }
  // A write permission that the handler adds is honoured too.
  map(kVa + 4096, 0x7000, kP);
  handler_.decide = [&](const Fault& fault) {
    EXPECT_EQ(fault.reason, FaultReason::write_denied);
    map(kVa + 4096, 0x7000);
    return FaultAction::wait;
  };
  EXPECT_EQ(write(kVa + 4096, {9}), AccessResult::waits_for_page);
  EXPECT_EQ(system(0x7000), 0);
  EXPECT_EQ(write(kVa + 4096, {9}), AccessResult::ok);
  EXPECT_EQ(system(0x7000), 9);
}

TEST_F(AddressSpaceTest, WithoutATableEveryAccessFaults) {
  space_.load({});
  EXPECT_EQ(space_.load_value<uint32_t>(GpuVa(kVa)), 0u);
  ASSERT_EQ(handler_.faults.size(), 1u);
  EXPECT_EQ(handler_.faults[0].reason, FaultReason::table_disabled);
}

TEST_F(AddressSpaceTest, HitNeedsNoWalk) {
  map(kVa, 0x5000);
  for (int i = 0; i < 10; ++i) {
    space_.load_value<uint32_t>(GpuVa(kVa + 4 * static_cast<uint64_t>(i)));
  }
  EXPECT_EQ(misses(), 1u);
  EXPECT_EQ(hits(), 9u);
  EXPECT_EQ(space_.walk_statistics().walks, 1u);
  EXPECT_EQ(space_.walk_statistics().entry_loads, 4u) << "a cold walk of four levels";
  map(kVa + 4096, 0x6000);
  space_.load_value<uint32_t>(GpuVa(kVa + 4096));
  EXPECT_EQ(space_.walk_statistics().entry_loads, 5u) << "an adjacent page costs one entry";
}

TEST_F(AddressSpaceTest, RemovedPageStaysCachedUntilInvalidated) {
  map(kVa, 0x5000);
  system(0x5000) = 0x11;
  system(0x6000) = 0x22;
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11);
  entry_of(kVa) = 0;
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11) << "a cleared present bit is not seen";
  map(kVa, 0x6000);
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11) << "a changed page address is not seen";
  space_.invalidate_page(GpuVa(kVa + 4096));
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11) << "invalidating another page has no effect";
  space_.invalidate_page(GpuVa(kVa));
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x22);
  entry_of(kVa) = 0;
  space_.invalidate();
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0);
  EXPECT_EQ(handler_.faults.size(), 1u);
}

TEST_F(AddressSpaceTest, AddedPageNeedsNoInvalidation) {
  system(0x5000) = 0x11;
  for (const unsigned shift : {39u, 30u, 21u, 12u}) {  // the entry at this level is missing
    const uint64_t va = kVa + (uint64_t{1} << shift) * 3;
    EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(va)), 0);
    map(va, 0x5000);
    EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(va)), 0x11);
  }
  EXPECT_EQ(handler_.faults.size(), 4u);
}

TEST_F(AddressSpaceTest, AddedRightsNeedNoInvalidation) {
  map(kVa, 0x5000, kP);
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0);
  EXPECT_EQ(write(kVa, {1}), AccessResult::ok);
  EXPECT_EQ(handler_.faults.size(), 1u);
  EXPECT_EQ(system(0x5000), 0);
  map(kVa, 0x5000);
  EXPECT_EQ(write(kVa, {1}), AccessResult::ok);
  EXPECT_EQ(system(0x5000), 1);
  EXPECT_EQ(handler_.faults.size(), 1u);
}

TEST_F(AddressSpaceTest, MovedTableStaysCachedUntilInvalidated) {
  map(kVa, 0x5000);
  map(kVa + 4096, 0x5000);
  system(0x5000) = 0x11;
  system(0x6000) = 0x22;
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11);
  const uint64_t other = new_table();
  entry(other + 8) = 0x6000 | kP | kRw;
  entry_of(kVa, 21) = other | kP | kRw;
  space_.invalidate_page(GpuVa(kVa));  // drops the upper levels too
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa + 4096)), 0x22);
}

TEST_F(AddressSpaceTest, NewContextDropsOldTranslations) {
  map(kVa, 0x5000);
  system(0x5000) = 0x11;
  system(0x6000) = 0x22;
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11);
  context_.roots[0] = new_table();
  map(kVa, 0x6000);
  space_.load(context_);
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x22);
  // The other client of the TLB keeps its entries.
  AddressSpace other(memory_, tlb_, 4, handler_);
  other.load(context_);
  other.load_value<uint8_t>(GpuVa(kVa));
  const uint64_t before = misses();
  space_.load(context_);
  other.load_value<uint8_t>(GpuVa(kVa));
  EXPECT_EQ(misses(), before);
}

TEST_F(AddressSpaceTest, LocalMemoryBitSelectsLocalMemory) {
  map(kVa, 0x5000, kP | kRw | kLocal);
  map(kVa + 4096, 0x5000);
  EXPECT_EQ(write(kVa, {0x11}), AccessResult::ok);
  EXPECT_EQ(write(kVa + 4096, {0x22}), AccessResult::ok);
  EXPECT_EQ(local(0x5000), 0x11);
  EXPECT_EQ(system(0x5000), 0x22);
  // Without local memory the bit is ignored.
  context_.local_memory = false;
  space_.load(context_);
  EXPECT_EQ(write(kVa, {0x33}), AccessResult::ok);
  EXPECT_EQ(system(0x5000), 0x33);
  EXPECT_EQ(local(0x5000), 0x11);
}

TEST_F(AddressSpaceTest, MediumPagesTranslate64KB) {
  entry_of(kVa, 21) = new_table() | kP | kRw | kIps;
  entry_of(kVa) = 0x3'0000 | kP | kRw;             // the first 64 KB
  entry_of(kVa + 0x1'0000) = 0x1'0000 | kP | kRw;  // the second
  entry_of(kVa + 0x1'1000) = ~uint64_t{0};         // the other fifteen entries are ignored
  for (uint64_t at = 0; at < 0x2'0000; at += 0x1000) {
    system(at < 0x1'0000 ? 0x3'0000 + at : at) = static_cast<uint8_t>(at >> 12);
  }
  for (uint64_t at = 0; at < 0x2'0000; at += 0x1000) {
    EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa + at)), at >> 12);
  }
  EXPECT_TRUE(handler_.faults.empty());
  EXPECT_EQ(space_.walk_statistics().entry_loads, 4u + 31u);
}

TEST_F(AddressSpaceTest, LargePagesTranslate2MBAnd1GB) {
  entry_of(kVa, 21) = 0x40'0000 | kP | kRw | kPs;
  entry_of(kVa + (uint64_t{1} << 30), 30) = 0 | kP | kRw | kPs;
  for (uint64_t at = 0; at < 0x20'0000; at += 0x3000) {
    EXPECT_EQ(write(kVa + at, {static_cast<uint8_t>(at >> 12)}), AccessResult::ok);
    EXPECT_EQ(system(0x40'0000 + at), static_cast<uint8_t>(at >> 12));
  }
  const uint64_t giga = (kVa + (uint64_t{1} << 30)) & ~uint64_t{0x3fff'ffff};
  for (uint64_t at = 0; at < 0x20'0000; at += 0x3000) {
    EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(giga + 0x40'0000 + at)), static_cast<uint8_t>(at >> 12));
  }
  EXPECT_TRUE(handler_.faults.empty());
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(giga + kSystemBytes)), 0) << "the page extends past the end of memory";
  EXPECT_EQ(handler_.faults.size(), 1u);
}

TEST_F(AddressSpaceTest, RemovedLargePageStaysCachedUntilInvalidated) {
  entry_of(kVa, 21) = 0x40'0000 | kP | kRw | kPs;
  system(0x40'5000) = 0x55;
  space_.load_value<uint8_t>(GpuVa(kVa));
  entry_of(kVa, 21) = 0;
  space_.invalidate_page(GpuVa(kVa + 0x10'0000));
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa + 0x5000)), 0) << "an invalidation also clears the walk caches";
}

TEST_F(AddressSpaceTest, RemovedMemoryIsNotAccessed) {
  map(kVa, 0x5000);
  system(0x5000) = 0x11;
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x11);
  std::vector<std::byte> moved = system_bytes_;
  moved[0x5000] = std::byte{0x99};
  FlatFrames frames(moved);
  memory_.remove_all(MemorySpace::system);
  std::fill(system_bytes_.begin(), system_bytes_.end(), std::byte{0xdd});
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0) << "everything is unmapped now";
  memory_.add({MemorySpace::system, MemoryKind::ram, 0, kSystemBytes, &frames});
  EXPECT_EQ(space_.load_value<uint8_t>(GpuVa(kVa)), 0x99);
  EXPECT_EQ(space_.view(GpuVa(kVa), kRead).bytes.data(), moved.data() + 0x5000);
}

TEST_F(AddressSpaceTest, ViewEndsAtThePage) {
  map(kVa, 0x5000);
  map(kVa + 4096, 0x6000, kP);
  AddressSpace::View view = space_.view(GpuVa(kVa + 0x123), kWrite);
  EXPECT_EQ(view.bytes.data(), system_bytes_.data() + 0x5123);
  EXPECT_EQ(view.bytes.size(), 4096u - 0x123);
  view = space_.view(GpuVa(kVa + 4096), kWrite);
  EXPECT_TRUE(view.bytes.empty());
  ASSERT_EQ(handler_.faults.size(), 1u);
  EXPECT_EQ(handler_.faults[0].reason, FaultReason::write_denied);
  EXPECT_EQ(space_.view(GpuVa(kVa + 4096), kRead).bytes.size(), 4096u);
}

TEST_F(AddressSpaceTest, BatchedAccessesEqualSingleAccesses) {
  std::vector<GpuVa> addresses;
  for (uint64_t i = 0; i < 100; ++i) {
    map(kVa + i * 4096, (100 - i) * 4096);
    system((100 - i) * 4096 + i) = static_cast<uint8_t>(i);
    addresses.push_back(GpuVa(kVa + i * 4096 + i));
  }
  addresses[50] = GpuVa(kVa + 51 * 4096 - 2);  // crosses a page
  addresses[60] = GpuVa(kVa + (1 << 21));      // not mapped
  std::vector<uint32_t> got(100);
  EXPECT_EQ(space_.read_each(addresses, 4, reinterpret_cast<std::byte*>(got.data())), AccessResult::ok);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(got[i], space_.load_value<uint32_t>(addresses[i])) << i;
    got[i] = static_cast<uint32_t>(i * 0x01010101);
  }
  EXPECT_EQ(handler_.faults.size(), 2u);
  EXPECT_EQ(space_.write_each(addresses, 4, reinterpret_cast<const std::byte*>(got.data())), AccessResult::ok);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(space_.load_value<uint32_t>(addresses[i]), i == 60 ? 0 : got[i]) << i;
  }
}

// A page that a read brought into the TLB does not allow fetches that the context forbids.
TEST(AddressSpaceAdvanced, FetchesAreCheckedOnTlbHits) {
  for (const bool by_supervisor : {false, true}) {
    SCOPED_TRACE(by_supervisor);
    rows::Bench bench("skl");
    rows::Chain chain =
        rows::make_chain(bench, WalkMode::advanced48, rows::Size::k4, rows::kVa48, rows::kRw | rows::kUs);
    chain.context.supervisor = by_supervisor;
    chain.context.supervisor_execute_protection = by_supervisor;
    chain.context.execute_requests = by_supervisor;
    Handler handler;
    Tlb tlb(32);
    AddressSpace space(bench.memory, tlb, 1, handler);
    space.load(chain.context);
    uint32_t word = 0;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    EXPECT_EQ(space.read(GpuVa(chain.va), bytes), AccessResult::ok);
    EXPECT_TRUE(handler.faults.empty());
    EXPECT_EQ(space.read(GpuVa(chain.va), bytes, /*instruction=*/true), AccessResult::ok);
    ASSERT_EQ(handler.faults.size(), 1u);
    EXPECT_EQ(handler.faults[0].reason, FaultReason::execute_denied);
  }
}

// Tables of Gen4 and Gen6 through AddressSpace: entries of four bytes, address bits above 31 in bits 7:4 and 11:4.
TEST(AddressSpaceOldTables, FourByteEntriesAreTranslated) {
  struct Row {
    const char* device;
    WalkMode mode;
    uint32_t entry;
    uint64_t page;
  };
  for (const Row& row : {Row{"g45", WalkMode::ggtt, 0x0000'5031, 0x3'0000'5000},
                         Row{"gm45", WalkMode::ppgtt_flat, 0x0000'5031, 0x3'0000'5000},
                         Row{"snb", WalkMode::ggtt, 0x0000'5933, 0x93'0000'5000},
                         Row{"snb", WalkMode::ppgtt_directory, 0x0000'5933, 0x93'0000'5000}}) {
    SCOPED_TRACE(row.device);
    SparseFrames frames(uint64_t{1} << 28);
    PhysicalMemory memory;
    memory.add({MemorySpace::system, MemoryKind::ram, 0, uint64_t{1} << 40, &frames});
    const PageFormats formats(*spec::find_device(row.device), 40);
    const auto put = [&](uint64_t address, uint32_t value) {
      memory.write(MemorySpace::system, PhysAddr(address), std::as_bytes(std::span(&value, 1)));
    };
    uint64_t table = 0x10'0000;
    if (row.mode == WalkMode::ppgtt_directory) {
      put(0x10'0000 + 4 * 3, 0x0020'0001);
      table = 0x20'0000 - 3 * 4096;
    }
    constexpr uint64_t kVa = 0xc0'0000;  // in the fourth 4 MB
    put(table + 4 * (kVa >> 12), row.entry);
    put(table + 4 * ((kVa >> 12) + 1), row.entry + 0x1000);
    Handler handler;
    Tlb tlb(32);
    AddressSpace space(memory, tlb, kGlobalSpace, handler);
    space.load({.format = formats.find(row.mode), .roots = {0x10'0000}});
    EXPECT_EQ(space.store_value<uint64_t>(GpuVa(kVa + 0xffc), 0x1122'3344'5566'7788), AccessResult::ok);
    put(table + 4 * ((kVa >> 12) + 1), 0);
    EXPECT_EQ(space.load_value<uint64_t>(GpuVa(kVa + 0xffc)), 0x1122'3344'5566'7788u) << "cached until invalidated";
    uint64_t there = 0;
    memory.read(MemorySpace::system, PhysAddr(row.page + 0xffc), std::as_writable_bytes(std::span(&there, 1)));
    EXPECT_EQ(there, 0x1122'3344'5566'7788u);
    EXPECT_TRUE(handler.faults.empty());
    space.invalidate();
    EXPECT_EQ(space.load_value<uint64_t>(GpuVa(kVa + 0xffc)), 0x5566'7788u);
    ASSERT_EQ(handler.faults.size(), 1u);
    EXPECT_EQ(handler.faults[0].reason, FaultReason::not_present);
    EXPECT_EQ(handler.faults[0].address, kVa + 0x1000);
  }
}

}  // namespace
}  // namespace halogen::memory
