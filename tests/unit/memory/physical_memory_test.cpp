// Physical memory: windows, unmapped frames, sparse frames and copies.
#include "memory/physical_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

#include "table_world.h"

namespace halogen::memory {
namespace {

constexpr MemorySpace kSystem = MemorySpace::system;
constexpr MemorySpace kLocal = MemorySpace::local;

std::vector<std::byte> pattern(size_t bytes, unsigned start = 1) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::byte>(start + i * 7);
  }
  return data;
}

class PhysicalMemoryTest : public testing::Test {
 protected:
  void add(MemorySpace space, MemoryKind kind, uint64_t first, uint64_t bytes, FrameSource& source) {
    memory_.add({space, kind, first, bytes, &source});
  }
  uint8_t byte_at(MemorySpace space, uint64_t address) {
    std::byte value{0xcc};
    memory_.read(space, PhysAddr(address), {&value, 1});
    return std::to_integer<uint8_t>(value);
  }
  bool put(MemorySpace space, uint64_t address, uint8_t value) {
    const std::byte stored{value};
    return memory_.write(space, PhysAddr(address), {&stored, 1});
  }

  PhysicalMemory memory_;
};

TEST_F(PhysicalMemoryTest, EmptyMemoryHasNoFrames) {
  EXPECT_EQ(memory_.frame(kSystem, PhysAddr(0)), nullptr);
  EXPECT_EQ(memory_.window_at(kSystem, PhysAddr(0)), nullptr);
  EXPECT_EQ(byte_at(kSystem, 0), 0);
  EXPECT_FALSE(put(kSystem, 0, 1));
}

TEST_F(PhysicalMemoryTest, LaterWindowHidesAnEarlierOne) {
  SparseFrames ram(64);
  SparseFrames stolen(16);
  add(kSystem, MemoryKind::ram, 0, 64 * kFrameBytes, ram);
  put(kSystem, 20 * kFrameBytes, 0x11);
  put(kSystem, 40 * kFrameBytes, 0x22);
  add(kSystem, MemoryKind::data_stolen, 16 * kFrameBytes, 16 * kFrameBytes, stolen);

  EXPECT_EQ(byte_at(kSystem, 20 * kFrameBytes), 0) << "the RAM below is hidden";
  EXPECT_EQ(byte_at(kSystem, 40 * kFrameBytes), 0x22) << "frames outside the window are unchanged";
  put(kSystem, 20 * kFrameBytes, 0x33);
  EXPECT_EQ(std::to_integer<int>(*ram.frame(20)), 0x11);
  EXPECT_EQ(std::to_integer<int>(*stolen.frame(4)), 0x33) << "frames are counted from the start of the window";

  const auto kind_at = [&](uint64_t address) { return memory_.window_at(kSystem, PhysAddr(address))->kind; };
  EXPECT_EQ(kind_at(16 * kFrameBytes - 1), MemoryKind::ram);
  EXPECT_EQ(kind_at(16 * kFrameBytes), MemoryKind::data_stolen);
  EXPECT_EQ(kind_at(32 * kFrameBytes - 1), MemoryKind::data_stolen);
  EXPECT_EQ(kind_at(32 * kFrameBytes), MemoryKind::ram);
  EXPECT_EQ(memory_.window_at(kSystem, PhysAddr(64 * kFrameBytes)), nullptr);
}

TEST_F(PhysicalMemoryTest, LatestOfOverlappingWindowsIsShown) {
  SparseFrames sources[3] = {SparseFrames(8), SparseFrames(8), SparseFrames(8)};
  // [0,8) then [2,6) then [4,12): the latest window wins at each frame.
  add(kSystem, MemoryKind::ram, 0, 8 * kFrameBytes, sources[0]);
  add(kSystem, MemoryKind::data_stolen, 2 * kFrameBytes, 4 * kFrameBytes, sources[1]);
  add(kSystem, MemoryKind::gtt_stolen, 4 * kFrameBytes, 8 * kFrameBytes, sources[2]);
  const int expected[12] = {0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2};
  const uint64_t starts[3] = {0, 2, 4};
  for (uint64_t frame = 0; frame < 12; ++frame) {
    const auto owner = static_cast<size_t>(expected[frame]);
    EXPECT_EQ(memory_.frame(kSystem, PhysAddr(frame * kFrameBytes + 5)), sources[owner].frame(frame - starts[owner]))
        << frame;
  }
  EXPECT_EQ(memory_.frame(kSystem, PhysAddr(12 * kFrameBytes)), nullptr);
}

TEST_F(PhysicalMemoryTest, WindowWithoutFramesHidesEarlierWindows) {
  SparseFrames ram(16);
  SparseFrames nothing(0);
  add(kSystem, MemoryKind::ram, 0, 16 * kFrameBytes, ram);
  add(kSystem, MemoryKind::wopcm, 4 * kFrameBytes, 4 * kFrameBytes, nothing);
  EXPECT_NE(memory_.frame(kSystem, PhysAddr(3 * kFrameBytes)), nullptr);
  EXPECT_EQ(memory_.frame(kSystem, PhysAddr(4 * kFrameBytes)), nullptr);
  EXPECT_EQ(memory_.window_at(kSystem, PhysAddr(4 * kFrameBytes))->kind, MemoryKind::wopcm);
}

TEST_F(PhysicalMemoryTest, SystemAndLocalMemoryBothStartAtZero) {
  SparseFrames ram(4);
  SparseFrames local(4);
  add(kSystem, MemoryKind::ram, 0, 4 * kFrameBytes, ram);
  add(kLocal, MemoryKind::local, 0, 4 * kFrameBytes, local);
  put(kSystem, 0x10, 1);
  put(kLocal, 0x10, 2);
  EXPECT_EQ(byte_at(kSystem, 0x10), 1);
  EXPECT_EQ(byte_at(kLocal, 0x10), 2);
  memory_.remove_all(kSystem);
  EXPECT_EQ(memory_.frame(kSystem, PhysAddr(0x10)), nullptr);
  EXPECT_EQ(byte_at(kLocal, 0x10), 2);
}

TEST_F(PhysicalMemoryTest, ListenersAreNotifiedOfEveryChange) {
  struct Keeper : PhysicalMemory::Watcher {
    using Watcher::Watcher;
    void drop_host_addresses() override { ++told; }
    unsigned told = 0;
  };
  SparseFrames ram(4);
  Keeper first(memory_);
  add(kSystem, MemoryKind::ram, 0, 4 * kFrameBytes, ram);
  EXPECT_EQ(first.told, 1u);
  {
    Keeper second(memory_);
    memory_.remove_all(kSystem);
    EXPECT_EQ(first.told, 2u);
    EXPECT_EQ(second.told, 1u);
  }
  memory_.remove_all(kLocal);
  EXPECT_EQ(first.told, 3u);
  // Listener and memory may be destroyed in either order.
  auto memory = std::make_unique<PhysicalMemory>();
  Keeper third(*memory);
  memory.reset();
  EXPECT_EQ(third.told, 0u);
}

TEST_F(PhysicalMemoryTest, EachOfManyWindowsIsFound) {
  std::vector<std::unique_ptr<SparseFrames>> sources;
  for (uint64_t i = 0; i < 100; ++i) {
    sources.push_back(std::make_unique<SparseFrames>(1));
    add(kSystem, MemoryKind::ram, i * 2 * kFrameBytes, kFrameBytes, *sources.back());
  }
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(memory_.frame(kSystem, PhysAddr(i * 2 * kFrameBytes)), sources[i]->frame(0));
    EXPECT_EQ(memory_.frame(kSystem, PhysAddr((i * 2 + 1) * kFrameBytes)), nullptr);
  }
}

TEST_F(PhysicalMemoryTest, FlatFramesEndWithTheirLastWholeFrame) {
  std::vector<std::byte> bytes(3 * kFrameBytes + 100);
  FlatFrames flat(bytes);
  EXPECT_EQ(flat.frame(2), bytes.data() + 2 * kFrameBytes);
  EXPECT_EQ(flat.frame(3), nullptr);
  EXPECT_EQ(flat.frame(~uint64_t{0} >> kFrameBits), nullptr);
  // A window larger than its source: the rest is unmapped.
  add(kSystem, MemoryKind::ram, 0, 8 * kFrameBytes, flat);
  EXPECT_NE(memory_.frame(kSystem, PhysAddr(3 * kFrameBytes - 1)), nullptr);
  EXPECT_EQ(memory_.frame(kSystem, PhysAddr(3 * kFrameBytes)), nullptr);
}

TEST_F(PhysicalMemoryTest, SparseFramesAreZeroAndKeepTheirAddress) {
  SparseFrames sparse(1 << 20);
  EXPECT_EQ(sparse.touched(), 0u);
  std::byte* frame = sparse.frame(123'456);
  ASSERT_NE(frame, nullptr);
  for (size_t i = 0; i < kFrameBytes; ++i) {
    ASSERT_EQ(frame[i], std::byte{0});
  }
  frame[17] = std::byte{9};
  for (uint64_t number = 0; number < 3000; ++number) {
    sparse.frame(number * 331);
  }
  EXPECT_EQ(sparse.frame(123'456), frame);
  EXPECT_EQ(frame[17], std::byte{9});
  EXPECT_EQ(sparse.frame(1 << 20), nullptr) << "past the end";
  EXPECT_EQ(sparse.frame(~uint64_t{0}), nullptr);
}

TEST_F(PhysicalMemoryTest, SparseFramesAreLimitedInNumber) {
  SparseFrames sparse(1 << 20, 3);
  std::byte* first = sparse.frame(0);
  EXPECT_NE(sparse.frame(5000), nullptr);
  EXPECT_NE(sparse.frame(900'000), nullptr);
  EXPECT_EQ(sparse.touched(), 3u);
  EXPECT_EQ(sparse.frame(1), nullptr) << "next to an existing frame";
  EXPECT_EQ(sparse.frame(70'000), nullptr) << "in a range that was never accessed";
  EXPECT_EQ(sparse.touched(), 3u);
  EXPECT_EQ(sparse.frame(0), first) << "existing frames stay";
}

TEST_F(PhysicalMemoryTest, DirectRangeEndsAtTheNextWindow) {
  std::vector<std::byte> bytes(64 * kFrameBytes);
  FlatFrames ram(bytes);
  SparseFrames stolen(64);
  add(kSystem, MemoryKind::ram, 0x100 * kFrameBytes, 64 * kFrameBytes, ram);
  add(kLocal, MemoryKind::local, 0x110 * kFrameBytes, 64 * kFrameBytes, stolen);
  const auto range_at = [&](uint64_t frame) {
    const DirectRange range = memory_.direct_range(kSystem, PhysAddr(frame * kFrameBytes + 0x123));
    return std::tuple(range.first / kFrameBytes, range.bytes / kFrameBytes, range.host);
  };
  EXPECT_EQ(range_at(0x105), std::tuple(0x100u, 64u, bytes.data())) << "windows of other spaces do not end it";
  add(kSystem, MemoryKind::data_stolen, 0x110 * kFrameBytes, 8 * kFrameBytes, stolen);
  EXPECT_EQ(range_at(0x105), std::tuple(0x100u, 16u, bytes.data()));
  EXPECT_EQ(range_at(0x118), std::tuple(0x118u, 40u, bytes.data() + 24 * kFrameBytes));
  EXPECT_EQ(range_at(0x13f), std::tuple(0x118u, 40u, bytes.data() + 24 * kFrameBytes));
  EXPECT_EQ(range_at(0x112), std::tuple(0x112u, 1u, stolen.frame(2))) << "a range of sparse memory is one frame long";
  EXPECT_EQ(range_at(0x140), std::tuple(0u, 0u, nullptr));
  EXPECT_EQ(range_at(0xff), std::tuple(0u, 0u, nullptr));
}

TEST_F(PhysicalMemoryTest, DirectRangeHasTheSameBytesAsFrames) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    worlds::Random random(seed);
    PhysicalMemory memory;
    std::vector<std::byte> bytes(40 * kFrameBytes + 77);
    FlatFrames flat[2] = {FlatFrames(bytes), FlatFrames(std::span(bytes).first(9 * kFrameBytes))};
    SparseFrames sparse(20);
    for (uint64_t i = 1 + random.below(6); i > 0; --i) {
      FrameSource* sources[] = {&flat[0], &flat[1], &sparse};
      memory.add({random.percent(80) ? kSystem : kLocal, MemoryKind::ram, random.below(60) * kFrameBytes,
                  random.below(50) * kFrameBytes, sources[random.below(3)]});
    }
    for (uint64_t frame = 0; frame < 120; ++frame) {
      const DirectRange range = memory.direct_range(kSystem, PhysAddr(frame * kFrameBytes));
      const std::byte* expected = memory.frame(kSystem, PhysAddr(frame * kFrameBytes));
      ASSERT_EQ(range.bytes == 0, expected == nullptr) << "seed " << seed << " frame " << frame;
      if (range.bytes == 0) {
        continue;
      }
      ASSERT_LT(frame * kFrameBytes - range.first, range.bytes);
      for (uint64_t at = 0; at < range.bytes; at += kFrameBytes) {
        ASSERT_EQ(memory.frame(kSystem, PhysAddr(range.first + at)), range.host + at) << "seed " << seed;
      }
    }
  }
}

TEST_F(PhysicalMemoryTest, CopiesMayCrossFrames) {
  SparseFrames ram(8);
  add(kSystem, MemoryKind::ram, 0x10000, 8 * kFrameBytes, ram);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{4095}, uint64_t{4089}}) {
    for (const size_t bytes : {size_t{1}, size_t{2}, size_t{64}, size_t{4096}, size_t{4097}, size_t{3 * 4096 + 5}}) {
      const std::vector<std::byte> written = pattern(bytes, static_cast<unsigned>(offset + bytes));
      ASSERT_TRUE(memory_.write(kSystem, PhysAddr(0x10000 + offset), written));
      std::vector<std::byte> read(bytes);
      ASSERT_TRUE(memory_.read(kSystem, PhysAddr(0x10000 + offset), read));
      EXPECT_EQ(read, written) << offset << " " << bytes;
      for (size_t i = 0; i < bytes; i += 97) {
        const uint64_t at = offset + i;
        EXPECT_EQ(ram.frame(at / kFrameBytes)[at % kFrameBytes], written[i]);
      }
    }
  }
}

TEST_F(PhysicalMemoryTest, CopyAcrossAnUnmappedFrameCopiesTheRest) {
  SparseFrames low(1);
  SparseFrames high(1);
  add(kSystem, MemoryKind::ram, 0, kFrameBytes, low);
  add(kSystem, MemoryKind::ram, 2 * kFrameBytes, kFrameBytes, high);
  const std::vector<std::byte> written = pattern(3 * kFrameBytes);
  EXPECT_FALSE(memory_.write(kSystem, PhysAddr(0), written));
  std::vector<std::byte> read(3 * kFrameBytes, std::byte{0xee});
  EXPECT_FALSE(memory_.read(kSystem, PhysAddr(0), read));
  EXPECT_EQ(std::memcmp(read.data(), written.data(), kFrameBytes), 0);
  for (size_t i = kFrameBytes; i < 2 * kFrameBytes; ++i) {
    ASSERT_EQ(read[i], std::byte{0}) << "an unmapped frame reads as zero";
  }
  EXPECT_EQ(std::memcmp(read.data() + 2 * kFrameBytes, written.data() + 2 * kFrameBytes, kFrameBytes), 0);
}

TEST_F(PhysicalMemoryTest, EmptyCopiesSucceed) {
  EXPECT_TRUE(memory_.read(kSystem, PhysAddr(0), {}));
  EXPECT_TRUE(memory_.write(kSystem, PhysAddr(~uint64_t{0}), {}));
}

TEST_F(PhysicalMemoryTest, TopOfTheAddressSpaceIsUsable) {
  SparseFrames top(1);
  constexpr uint64_t kTop = ~uint64_t{0} - kFrameBytes + 1;
  add(kSystem, MemoryKind::ram, kTop, kFrameBytes, top);
  EXPECT_TRUE(put(kSystem, ~uint64_t{0}, 5));
  EXPECT_EQ(byte_at(kSystem, ~uint64_t{0}), 5);
  EXPECT_EQ(memory_.frame(kSystem, PhysAddr(kTop - 1)), nullptr);
  std::vector<std::byte> read(16, std::byte{0xee});
  EXPECT_FALSE(memory_.read(kSystem, PhysAddr(~uint64_t{0} - 7), read)) << "wraps to address zero, which is unmapped";
  EXPECT_EQ(read[7], std::byte{5});
  EXPECT_EQ(read[8], std::byte{0});
}

TEST(MemoryKindNames, EveryKindHasOne) {
  for (const MemoryKind kind :
       {MemoryKind::ram, MemoryKind::data_stolen, MemoryKind::gtt_stolen, MemoryKind::wopcm, MemoryKind::local}) {
    EXPECT_NE(name_of(kind), "invalid");
  }
}

}  // namespace
}  // namespace halogen::memory
