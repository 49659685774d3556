// Work on several ways to memory that stands or is taken back as a whole.
#include "memory/attempt.h"

#include "unit/pipe3d/pixel_world.h"

namespace halogen::memory {
namespace {

using Kind = Attempt::Side::Kind;

class Attempts : public testing::Test {
 protected:
  static constexpr uint64_t kVa = pipe3d::PixelWorld::kVa;

  Attempts() {
    world_.scramble(1);
    attempt_.begin(world_.space());
    writer_.begin();
    other_.begin();
    reader_.begin();
  }
  uint32_t at(uint64_t offset) { return world_.value<uint32_t>(kVa + offset); }

  pipe3d::PixelWorld world_;
  Attempt attempt_;
  Attempt::Side writer_{attempt_, world_.space().memory(), Kind::writer};
  Attempt::Side other_{attempt_, world_.space().memory(), Kind::writer};
  Attempt::Side reader_{attempt_, world_.space().memory(), Kind::reader};
};

TEST_F(Attempts, StandsWhenNobodyMeets) {
  EXPECT_TRUE(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, 0x1234));
  EXPECT_TRUE(other_.space().store_value<uint32_t>(GpuVa{kVa + 12}, 0x5678));
  EXPECT_EQ(reader_.space().load_value<uint32_t>(GpuVa{kVa + 0x3000}), at(0x3000));
  EXPECT_TRUE(attempt_.finish());
  EXPECT_EQ(at(8), 0x1234u);
  EXPECT_EQ(at(12), 0x5678u);
}

TEST_F(Attempts, IsTakenBackWhenAReaderMeetsAWriter) {
  const uint32_t old = at(8);
  const uint32_t last = at(0x1ffc);
  EXPECT_TRUE(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, ~old));
  EXPECT_EQ(other_.space().load_value<uint32_t>(GpuVa{kVa + 8}), ~old) << "writes are there at once";
  EXPECT_TRUE(other_.space().store_value<uint32_t>(GpuVa{kVa + 0x1ffc}, ~last));
  reader_.space().load_value<uint32_t>(GpuVa{kVa + 0x800});
  EXPECT_FALSE(attempt_.finish());
  EXPECT_EQ(at(8), old);
  EXPECT_EQ(at(0x1ffc), last);
}

TEST_F(Attempts, ReadersDoNotWrite) {
  const uint32_t old = at(8);
  reader_.space().load_value<uint32_t>(GpuVa{kVa + 8});
  EXPECT_FALSE(reader_.space().store_value<uint32_t>(GpuVa{kVa + 8}, ~old));
  EXPECT_TRUE(attempt_.refused());
  EXPECT_FALSE(attempt_.finish());
  EXPECT_EQ(at(8), old);
}

TEST_F(Attempts, NothingFaults) {
  std::byte bytes[4];
  EXPECT_FALSE(reader_.space().read(GpuVa{kVa - 4096}, bytes));
  EXPECT_FALSE(attempt_.finish());
  EXPECT_EQ(world_.faults(), 0u);
}

// Tiled resources from an address on.
class TilesFrom final : public PreTranslation {
 public:
  explicit TilesFrom(uint64_t first) : first_(first) {}
  bool covers(uint64_t address) override { return address >= first_; }
  Result translate(uint64_t address, Access /*access*/) override { return {.address = address}; }
  void on_unmapped_tile(uint64_t /*address*/, Tile /*tile*/) override {}

 private:
  uint64_t first_;
};

TEST_F(Attempts, OnlyTiledResourcesAreLeftOut) {
  TilesFrom tiles(kVa + 0x10'0000);
  world_.space().set_pre_translation(&tiles);
  EXPECT_EQ(reader_.space().load_value<uint32_t>(GpuVa{kVa + 8}), at(8));
  EXPECT_FALSE(attempt_.refused());
  reader_.space().load_value<uint32_t>(GpuVa{kVa + 0x10'0000});
  EXPECT_TRUE(attempt_.refused());
  EXPECT_FALSE(attempt_.finish());
}

TEST_F(Attempts, BeginsAnew) {
  EXPECT_TRUE(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, 1));
  EXPECT_TRUE(attempt_.finish());
  attempt_.begin(world_.space());
  writer_.begin();
  EXPECT_TRUE(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, 2));
  attempt_.refuse();
  EXPECT_FALSE(attempt_.finish());
  EXPECT_EQ(at(8), 1u) << "saved before the write of this attempt";
}

}  // namespace
}  // namespace halogen::memory
