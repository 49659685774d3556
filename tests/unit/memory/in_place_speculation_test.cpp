// Accesses of several host threads that are kept or rolled back together.
#include "memory/in_place_speculation.h"

#include "unit/pipe3d/pixel_world.h"

namespace halogen::memory {
namespace {

using Kind = InPlaceSpeculation::Side::Kind;

class InPlaceSpeculationTest : public testing::Test {
 protected:
  static constexpr uint64_t kVa = pipe3d::PixelWorld::kVa;

  InPlaceSpeculationTest() {
    world_.scramble(1);
    speculation_.begin(world_.space());
    writer_.begin();
    other_.begin();
    reader_.begin();
  }
  uint32_t at(uint64_t offset) { return world_.value<uint32_t>(kVa + offset); }

  pipe3d::PixelWorld world_;
  InPlaceSpeculation speculation_;
  InPlaceSpeculation::Side writer_{speculation_, world_.space().memory(), Kind::writer};
  InPlaceSpeculation::Side other_{speculation_, world_.space().memory(), Kind::writer};
  InPlaceSpeculation::Side reader_{speculation_, world_.space().memory(), Kind::reader};
};

TEST_F(InPlaceSpeculationTest, IsKeptWithoutConflict) {
  EXPECT_EQ(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, 0x1234), AccessResult::ok);
  EXPECT_EQ(other_.space().store_value<uint32_t>(GpuVa{kVa + 12}, 0x5678), AccessResult::ok);
  EXPECT_EQ(reader_.space().load_value<uint32_t>(GpuVa{kVa + 0x3000}), at(0x3000));
  EXPECT_TRUE(speculation_.finish());
  EXPECT_EQ(at(8), 0x1234u);
  EXPECT_EQ(at(12), 0x5678u);
}

TEST_F(InPlaceSpeculationTest, IsRolledBackWhenAReadConflictsWithAWrite) {
  const uint32_t old = at(8);
  const uint32_t last = at(0x1ffc);
  EXPECT_EQ(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, ~old), AccessResult::ok);
  EXPECT_EQ(other_.space().load_value<uint32_t>(GpuVa{kVa + 8}), ~old) << "writes reach memory at once";
  EXPECT_EQ(other_.space().store_value<uint32_t>(GpuVa{kVa + 0x1ffc}, ~last), AccessResult::ok);
  reader_.space().load_value<uint32_t>(GpuVa{kVa + 0x800});
  EXPECT_FALSE(speculation_.finish());
  EXPECT_EQ(at(8), old);
  EXPECT_EQ(at(0x1ffc), last);
}

TEST_F(InPlaceSpeculationTest, WriteOfAReaderIsRefused) {
  const uint32_t old = at(8);
  reader_.space().load_value<uint32_t>(GpuVa{kVa + 8});
  EXPECT_EQ(reader_.space().store_value<uint32_t>(GpuVa{kVa + 8}, ~old), AccessResult::stopped);
  EXPECT_TRUE(speculation_.refused());
  EXPECT_FALSE(speculation_.finish());
  EXPECT_EQ(at(8), old);
}

TEST_F(InPlaceSpeculationTest, MissingPageIsRefusedWithoutAFault) {
  std::byte bytes[4];
  EXPECT_EQ(reader_.space().read(GpuVa{kVa - 4096}, bytes), AccessResult::stopped);
  EXPECT_FALSE(speculation_.finish());
  EXPECT_EQ(world_.faults(), 0u);
}

// Tiled resources at `first` and above.
class TilesFrom final : public PreTranslation {
 public:
  explicit TilesFrom(uint64_t first) : first_(first) {}
  bool covers(uint64_t address) override { return address >= first_; }
  Result translate(uint64_t address, Access /*access*/) override { return {.address = address}; }
  void on_unmapped_tile(uint64_t /*address*/, Tile /*tile*/) override {}

 private:
  uint64_t first_;
};

TEST_F(InPlaceSpeculationTest, TiledResourcesAreRefused) {
  TilesFrom tiles(kVa + 0x10'0000);
  world_.space().set_pre_translation(&tiles);
  EXPECT_EQ(reader_.space().load_value<uint32_t>(GpuVa{kVa + 8}), at(8));
  EXPECT_FALSE(speculation_.refused());
  reader_.space().load_value<uint32_t>(GpuVa{kVa + 0x10'0000});
  EXPECT_TRUE(speculation_.refused());
  EXPECT_FALSE(speculation_.finish());
}

TEST_F(InPlaceSpeculationTest, RollsBackToTheStateAtBegin) {
  EXPECT_EQ(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, 1), AccessResult::ok);
  EXPECT_TRUE(speculation_.finish());
  speculation_.begin(world_.space());
  writer_.begin();
  EXPECT_EQ(writer_.space().store_value<uint32_t>(GpuVa{kVa + 8}, 2), AccessResult::ok);
  speculation_.refuse();
  EXPECT_FALSE(speculation_.finish());
  EXPECT_EQ(at(8), 1u) << "the value at begin()";
}

}  // namespace
}  // namespace halogen::memory
