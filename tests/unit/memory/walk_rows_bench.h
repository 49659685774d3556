// Bench for the tests that follow the manual row by row: all memory below 2^39, page tables written as numbers, one
// chain of entries for one address. Bit positions here and in the tests are typed from Ice Lake PRM vol. 6, never taken
// from spec/ (seed 001).
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "memory/walker.h"
#include "spec/device_model.h"

namespace halogen::memory::rows {

constexpr uint64_t bit_at(unsigned index) {
  return uint64_t{1} << index;
}
constexpr uint64_t mask_of(unsigned hi, unsigned lo) {
  return (~uint64_t{0} >> (63 - hi)) & ~(bit_at(lo) - 1);
}

// Bits that most entries share (seed 001).
constexpr uint64_t kP = bit_at(0), kRw = bit_at(1), kUs = bit_at(2), kPwt = bit_at(3), kPcd = bit_at(4);
constexpr uint64_t kA = bit_at(5), kD = bit_at(6), kPs = bit_at(7), kG = bit_at(8), kNull = bit_at(9);
constexpr uint64_t kEa = bit_at(10), kIps = bit_at(11), kLm = bit_at(11), kXd = bit_at(63);
constexpr uint64_t kPatSmall = bit_at(7), kPatLarge = bit_at(12);

struct Bench {
  explicit Bench(const char* device = "icl", unsigned haw = 39)
      : model(*spec::find_device(device)), formats(model, haw), system(bit_at(27)), local(bit_at(20)) {
    memory.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, bit_at(39), &system});
    memory.add({memory::MemorySpace::local, memory::MemoryKind::local, 0, bit_at(32), &local});
  }

  void put(uint64_t address, uint64_t value, memory::MemorySpace space = memory::MemorySpace::system) {
    ASSERT_TRUE(memory.write(space, PhysAddr(address), std::as_bytes(std::span(&value, 1))));
  }
  void put32(uint64_t address, uint32_t value) {
    ASSERT_TRUE(memory.write(memory::MemorySpace::system, PhysAddr(address), std::as_bytes(std::span(&value, 1))));
  }
  uint64_t get(uint64_t address, memory::MemorySpace space = memory::MemorySpace::system) const {
    uint64_t value = 0;
    EXPECT_TRUE(memory.read(space, PhysAddr(address), std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }

  const spec::DeviceModel& model;
  memory::PageFormats formats;
  memory::SparseFrames system;
  memory::SparseFrames local;
  memory::PhysicalMemory memory;
};

// Collects every entry that a walk reads.
class Steps final : public memory::WalkRecorder {
 public:
  void on_step(const memory::WalkStep& step) override { addresses.push_back(step.entry_address); }
  std::vector<uint64_t> addresses;
};

enum class Size : uint8_t { k4, k64, m2, g1 };
constexpr unsigned page_bits_of(Size size) {
  return size == Size::k4 ? 12 : size == Size::k64 ? 16 : size == Size::m2 ? 21 : 30;
}

// A chain of entries from the root to the page of one address. The tables are far apart.
struct Chain {
  struct Level {
    uint64_t entry_address = 0;
    uint64_t entry = 0;
    uint64_t target = 0;  // the table or page that it points at
  };
  uint64_t va = 0;
  Size size = Size::k4;
  std::vector<Level> levels;
  memory::WalkContext context;

  Level& leaf() { return levels.back(); }
  void write(Bench& bench) const {
    for (const Level& level : levels) {
      bench.put(level.entry_address, level.entry);
    }
  }
  void set(Bench& bench, size_t level, uint64_t entry) const { bench.put(levels[level].entry_address, entry); }
};

inline constexpr uint64_t kVa48 = 0x0000'5a5b'9234'5678;
inline constexpr uint64_t kVa32 = 0x9a3d'5678;
inline constexpr uint64_t kTables[4] = {0x0100'1000, 0x0260'2000, 0x0430'4000, 0x0890'8000};

constexpr uint64_t page_target(Size size) {
  switch (size) {
    case Size::k4:
      return 0x15'5a5a'5000;
    case Size::k64:
      return 0x15'5a5a'0000;
    case Size::m2:
      return 0x15'5a40'0000;
    case Size::g1:
      return 0x15'4000'0000;
  }
  return 0;
}

// Sets `bits` in every entry besides address, page size and present.
inline Chain make_chain(Bench& bench, WalkMode mode, Size size, uint64_t va, uint64_t bits) {
  Chain chain;
  chain.va = va;
  chain.size = size;
  chain.context.format = bench.formats.find(mode);
  const bool narrow = mode == WalkMode::legacy32;
  unsigned table = 0;
  if (narrow) {
    chain.context.roots[(va >> 30) & 3] = kTables[0];
  } else {
    chain.context.roots[0] = kTables[0];
  }
  // Index slices: 47:39, 38:30, 29:21, 20:12.
  for (unsigned shift = narrow ? 21 : 39;; shift -= 9, ++table) {
    uint64_t index = (va >> shift) & 0x1ff;
    const bool is_page = shift == 12 || (shift == 21 && size == Size::m2) || (shift == 30 && size == Size::g1);
    if (shift == 12 && size == Size::k64) {
      index = ((va >> 16) & 0x1f) << 4;  // VA[20:16] and four zeros
    }
    Chain::Level level;
    level.entry_address = kTables[table] + 8 * index;
    level.target = is_page ? page_target(size) : kTables[table + 1];
    level.entry = level.target | kP | bits;
    if (is_page && shift != 12) {
      level.entry |= kPs;
    }
    if (shift == 21 && size == Size::k64) {
      level.entry |= kIps;
    }
    chain.levels.push_back(level);
    if (is_page) {
      break;
    }
  }
  chain.write(bench);
  return chain;
}

inline WalkResult walk_of(const Bench& bench, const Chain& chain, Access access, Steps* steps = nullptr) {
  return walk(bench.memory, chain.context, chain.va, access, steps);
}

// Returns the physical address that a walk gives for the chain's address.
inline uint64_t physical(const WalkResult& result, uint64_t va) {
  return result.mapping.address + (va & (bit_at(result.mapping.page_bits) - 1));
}

// Counts faults and returns the configured answer.
class FaultProbe final : public FaultHandler {
 public:
  FaultAction on_fault(const Fault& fault) override {
    faults.push_back(fault);
    return action;
  }
  void on_large_page(uint64_t) override { ++large_pages; }
  std::vector<Fault> faults;
  FaultAction action = FaultAction::skip;
  unsigned large_pages = 0;
};

}  // namespace halogen::memory::rows
