// Long work has more time than the hang timeout, because the model is slower than a chip. Its time is limited too.
#include "door.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kPlace = 0x1000'0000;
constexpr uint32_t kSide = 4096;  // pixels of 4 bytes
constexpr uint32_t kColour = 0x1234'5678;

class LongWork : public Door {
 protected:
  void SetUp() override {}
  // Starts a driver whose clock shows this time more after each reading. A part of a blit takes six or seven readings.
  void boot_with(std::chrono::milliseconds per_reading) {
    DriverOptions options;
    options.hang_after = std::chrono::seconds(20);
    options.run_time = time_of_calls(per_reading);
    boot(options);
  }
  // Submits blits of 64 MiB, which have 64 parts each. The last one has its own colour.
  uint32_t submit(unsigned blits) {
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = create(uint64_t{kSide} * kSide * 4);
    objects[0].offset = kPlace;
    objects[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
    objects[1].handle = create(4096);
    objects[1].offset = kPlace / 2;
    objects[1].flags = EXEC_OBJECT_PINNED;
    std::vector<uint32_t> batch;
    for (unsigned i = 0; i < blits; ++i) {  // XY_COLOR_BLT
      const uint32_t colour = i + 1 == blits ? kColour : i;
      batch.insert(batch.end(), {0x5430'0005, 0x03f0'0000 | kSide * 4, 0, kSide << 16 | kSide, kPlace, 0, colour});
    }
    batch.push_back(0x0500'0000);
    batch.resize((batch.size() + 1) / 2 * 2);
    fill(objects[1].handle, batch);
    EXPECT_EQ(execute(objects, I915_EXEC_BLT), 0);
    return objects[0].handle;
  }
  uint32_t hangs() {
    drm_i915_reset_stats statistics{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
    return statistics.batch_active;
  }
};

TEST_P(LongWork, LongBlitIsNotAHang) {
  constexpr unsigned kBlits = 20;
  boot_with(std::chrono::milliseconds(4));  // over thirty seconds for all parts
  const uint32_t target = submit(kBlits);
  EXPECT_EQ(wait(target), 0);
  EXPECT_EQ(hangs(), 0u);
  uint32_t last = 0;
  std::memcpy(&last, content(target).data() + uint64_t{kSide} * kSide * 4 - 4, 4);
  EXPECT_EQ(last, kColour);
}

TEST_P(LongWork, TimeOfABatchWithProgressIsLimited) {
  constexpr unsigned kBlits = 20;
  boot_with(std::chrono::milliseconds(500));
  const uint32_t target = submit(kBlits);
  EXPECT_EQ(wait(target), 0);
  EXPECT_EQ(hangs(), 1u);
  const uint32_t next = submit(1);
  EXPECT_EQ(wait(next), 0);
  EXPECT_EQ(hangs(), 1u) << "the next batch works";
}

INSTANTIATE_TEST_SUITE_P(Chips, LongWork, ::testing::Values("bdw", "icl"), chip_name);

}  // namespace
}  // namespace halogen::driver
