// Buffered speculations: a piece sees its own writes, conflicts fail the commit, some accesses stop the piece. Gen8
// page tables in one flat piece of memory.
#include "memory/buffered_speculation.h"

#include <gtest/gtest.h>

#include <cstring>

#include "memory/page_format.h"
#include "memory/tlb.h"
#include "spec/device_model.h"

namespace halogen::memory {
namespace {

class NoFaults final : public FaultHandler {
 public:
  FaultAction on_fault(const Fault&) override {
    ++count;
    return FaultAction::skip;
  }
  unsigned count = 0;
};

class BufferedSpeculationTest : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 8 << 20, kTables = 4 << 20, kVa = 0x7654'0000'0000;
  static constexpr uint64_t kReadOnly = 100, kHole = 101, kAlias = 102;  // page numbers; kAlias maps page 0

  BufferedSpeculationTest() {
    memory_.add({MemorySpace::system, MemoryKind::ram, 0, kBytes, &frames_});
    WalkContext context;
    context.format = formats_.find(WalkMode::legacy48);
    context.roots[0] = kTables;
    const uint64_t indices[] = {kVa >> 39 & 511, kVa >> 30 & 511, kVa >> 21 & 511};
    for (uint64_t level = 0; level < 3; ++level) {
      entry(kTables + level * 4096 + indices[level] * 8) = (kTables + (level + 1) * 4096) | 3;
    }
    for (uint64_t page = 0; page < 512; ++page) {
      leaf(page) = page * 4096 | 3;
    }
    leaf(kReadOnly) = kReadOnly * 4096 | 1;
    leaf(kHole) = 0;
    leaf(kAlias) = 3;
    real_.load(context);
    for (size_t i = 0; i < 2; ++i) {
      spaces_[i].set_speculation(&speculations_[i]);
      speculations_[i].begin(real_, mutex_);
    }
  }
  uint64_t& entry(uint64_t at) { return *reinterpret_cast<uint64_t*>(bytes_.data() + at); }
  uint64_t& leaf(uint64_t page) { return entry(kTables + 3 * 4096 + page * 8); }
  uint32_t memory(uint64_t offset) const {
    uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + offset, 4);
    return value;
  }
  AccessResult write(size_t piece, uint64_t offset, uint32_t value) {
    return spaces_[piece].write(GpuVa{kVa + offset}, std::as_bytes(std::span(&value, 1)));
  }
  uint32_t read(size_t piece, uint64_t offset, AccessResult expected = AccessResult::ok) {
    uint32_t value = 0;
    EXPECT_EQ(spaces_[piece].read(GpuVa{kVa + offset}, std::as_writable_bytes(std::span(&value, 1))), expected);
    return value;
  }

  std::vector<std::byte> bytes_ = std::vector<std::byte>(kBytes);
  FlatFrames frames_{bytes_};
  PhysicalMemory memory_;
  PageFormats formats_{*spec::find_device("dg1"), 39};
  NoFaults faults_;
  Tlb tlb_{64}, none_{1};
  AddressSpace real_{memory_, tlb_, 3, faults_};
  AddressSpace spaces_[2] = {{memory_, none_, 0, faults_}, {memory_, none_, 0, faults_}};
  std::mutex mutex_;
  BufferedSpeculation speculations_[2];
  WrittenPages written_;
};

TEST_F(BufferedSpeculationTest, WritesArePrivateUntilCommit) {
  EXPECT_EQ(write(0, 0x1000, 5), AccessResult::ok);
  EXPECT_EQ(write(0, 0x1ffe, 0x1122'3344), AccessResult::ok) << "over two pages";
  EXPECT_EQ(read(0, 0x1000), 5u);
  EXPECT_EQ(read(0, 0x1ffe), 0x1122'3344u);
  EXPECT_EQ(read(0, 0x1ffc), 0x3344'0000u) << "own bytes beside bytes of memory";
  EXPECT_EQ(read(1, 0x1000), 0u);
  EXPECT_EQ(memory(0x1000), 0u);
  EXPECT_TRUE(speculations_[0].commit(written_));
  EXPECT_EQ(memory(0x1000), 5u);
  EXPECT_EQ(memory(0x1ffe), 0x1122'3344u);
  EXPECT_FALSE(speculations_[1].commit(written_)) << "it read the dword before the first commit";
}

TEST_F(BufferedSpeculationTest, WritesToNeighbouringBytesDoNotConflict) {
  for (size_t i = 0; i < 2; ++i) {
    const std::byte one{static_cast<uint8_t>(i + 1)};
    EXPECT_EQ(spaces_[i].write(GpuVa{kVa + 0x3000 + i}, std::span(&one, 1)), AccessResult::ok);
  }
  EXPECT_EQ(read(1, 0x3004), 0u) << "the next dword";
  EXPECT_TRUE(speculations_[0].commit(written_));
  EXPECT_TRUE(speculations_[1].commit(written_));
  EXPECT_EQ(memory(0x3000), 0x0201u);
}

TEST_F(BufferedSpeculationTest, LastCommittedWriteWins) {
  EXPECT_EQ(write(1, 0x3000, 2), AccessResult::ok);
  EXPECT_EQ(write(0, 0x3000, 1), AccessResult::ok);
  EXPECT_TRUE(speculations_[0].commit(written_));
  EXPECT_TRUE(speculations_[1].commit(written_));
  EXPECT_EQ(memory(0x3000), 2u);
}

TEST_F(BufferedSpeculationTest, AliasedAddressesConflict) {
  EXPECT_EQ(write(0, 0x10, 7), AccessResult::ok);
  EXPECT_EQ(read(0, kAlias * 4096 + 0x10), 7u);
  EXPECT_EQ(read(1, kAlias * 4096 + 0x10), 0u);
  EXPECT_TRUE(speculations_[0].commit(written_));
  EXPECT_FALSE(speculations_[1].commit(written_));
}

TEST_F(BufferedSpeculationTest, FaultsAndAtomicsStopUntilDirect) {
  read(0, kHole * 4096, AccessResult::stopped);
  EXPECT_EQ(write(0, kReadOnly * 4096, 1), AccessResult::stopped) << "a read-only page";
  EXPECT_EQ(spaces_[0].view(GpuVa{kVa}, kWrite).result, AccessResult::stopped) << "an atomic operation";
  EXPECT_EQ(faults_.count, 0u) << "a speculative access does not report its fault";
  speculations_[0].go_direct(written_);
  EXPECT_EQ(read(0, kHole * 4096), 0u);
  EXPECT_EQ(faults_.count, 1u);
  const AddressSpace::View view = spaces_[0].view(GpuVa{kVa + 0x20}, kWrite);
  ASSERT_FALSE(view.bytes.empty());
  EXPECT_EQ(read(1, 0x24), 0u);
  EXPECT_FALSE(speculations_[1].commit(written_)) << "the view is recorded as a write";
}

TEST_F(BufferedSpeculationTest, DirectWriteConflictsWithLaterCommit) {
  EXPECT_EQ(read(1, 0x5000), 0u);
  speculations_[0].go_direct(written_);
  EXPECT_EQ(write(0, 0x5000, 9), AccessResult::ok);
  EXPECT_EQ(memory(0x5000), 9u);
  EXPECT_FALSE(speculations_[1].commit(written_));
}

TEST_F(BufferedSpeculationTest, RemappedPageFailsTheCommit) {
  EXPECT_EQ(read(1, 0x5000), 0u);
  leaf(5) = 7 * 4096 | 3;
  EXPECT_FALSE(speculations_[1].commit(written_));
}

TEST_F(BufferedSpeculationTest, BlocksAreReusedAfterBegin) {
  for (uint64_t round = 0; round < 3; ++round) {
    speculations_[0].begin(real_, mutex_);
    for (uint64_t page = 0; page < 100; ++page) {
      EXPECT_EQ(write(0, page * 4096 + round * 4, static_cast<uint32_t>(page + round)), AccessResult::ok);
    }
    written_.clear();
    EXPECT_TRUE(speculations_[0].commit(written_));
    for (uint64_t page = 0; page < 100; ++page) {
      EXPECT_EQ(memory(page * 4096 + round * 4), page + round);
    }
  }
}

}  // namespace
}  // namespace halogen::memory
