// Work that takes much longer than the hang timeout but makes progress is not a hang.
#include "door.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kPlace = 0x1000'0000;
constexpr uint32_t kSide = 4096;  // pixels of 4 bytes
constexpr uint32_t kColour = 0x1234'5678;

class LongWork : public Door {};

// Blits do not appear in statistics registers.
TEST_P(LongWork, LongBlitIsNotAHang) {
  constexpr unsigned kBlits = 100;  // 64 MiB each: a third of a second in total at 20 GiB/s
  DriverOptions options;
  options.hang_after = std::chrono::milliseconds(20);
  boot(options);
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = create(uint64_t{kSide} * kSide * 4);
  objects[0].offset = kPlace;
  objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
  objects[1].handle = create(4096);
  objects[1].offset = kPlace / 2;
  objects[1].flags = EXEC_OBJECT_PINNED;
  std::vector<uint32_t> batch;
  for (unsigned i = 0; i < kBlits; ++i) {  // XY_COLOR_BLT
    const uint32_t colour = i + 1 == kBlits ? kColour : i;
    batch.insert(batch.end(), {0x5430'0005, 0x03f0'0000 | kSide * 4, 0, kSide << 16 | kSide, kPlace, 0, colour});
  }
  batch.push_back(0x0500'0000);
  batch.resize((batch.size() + 1) / 2 * 2);
  fill(objects[1].handle, batch);
  ASSERT_EQ(execute(objects, I915_EXEC_BLT), 0);
  EXPECT_EQ(wait(objects[0].handle), 0);
  drm_i915_reset_stats statistics{};
  EXPECT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
  EXPECT_EQ(statistics.batch_active, 0u);
  uint32_t last = 0;
  std::memcpy(&last, content(objects[0].handle).data() + uint64_t{kSide} * kSide * 4 - 4, 4);
  EXPECT_EQ(last, kColour);
}

INSTANTIATE_TEST_SUITE_P(Chips, LongWork, ::testing::Values("bdw", "icl"), chip_name);

}  // namespace
}  // namespace halogen::driver
