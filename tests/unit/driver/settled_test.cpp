// A call that waits between binding its buffers and submitting its batch lets other calls run.
#include <atomic>
#include <thread>

#include "sync_door.h"

namespace halogen::driver {
namespace {

class Settled : public SyncDoor {
 protected:
  static constexpr uint64_t kPlace = 0x4000'0000;
  static drm_i915_gem_exec_object2 pinned(uint32_t handle) {
    drm_i915_gem_exec_object2 object{};
    object.handle = handle;
    object.offset = kPlace;
    object.flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
    return object;
  }
  uint32_t store(uint32_t value) {
    const uint32_t batch = create(4096);
    fill(batch, {0x1000'0002, static_cast<uint32_t>(kPlace), 0, value, 0x0500'0000, 0});
    return batch;
  }
  uint32_t first_word(uint32_t handle) {
    uint32_t word = 0;
    std::memcpy(&word, content(handle).data(), sizeof word);
    return word;
  }
};

// The first call relocates into a busy buffer and waits; the second call takes the address of the first one's buffer.
TEST_P(Settled, EvictedBufferIsBoundAgainBeforeSubmission) {
  Gate gate;
  const uint32_t late = create(4096), first = create(4096), second = create(4096);
  const uint32_t first_batch = store(0xaaaa), second_batch = store(0xbbbb);
  drm_i915_gem_exec_object2 used{};
  used.handle = late;
  ASSERT_EQ(run({.context = context(), .in = gate.descriptor(), .more = {used}}), 0);
  drm_i915_gem_relocation_entry entry{};
  entry.target_handle = first;
  entry.presumed_offset = ~uint64_t{0};
  entry.offset = 64;
  std::atomic<int> result{1};
  std::thread caller([&] {
    drm_i915_gem_exec_object2 relocated{};
    relocated.handle = late;
    relocated.relocation_count = 1;
    relocated.relocs_ptr = reinterpret_cast<uintptr_t>(&entry);
    drm_i915_gem_exec_object2 batch{};
    batch.handle = first_batch;
    std::vector<drm_i915_gem_exec_object2> objects{pinned(first), relocated, batch};
    result = execute(objects);
  });
  // Every call of this thread lets the other one run.
  drm_i915_gem_busy busy{};
  busy.handle = first_batch;
  for (int i = 0; i < 200 && result == 1; ++i) {
    ASSERT_EQ(call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(result, 1) << "it waits for the buffer that the device uses";
  drm_i915_gem_exec_object2 batch{};
  batch.handle = second_batch;
  std::vector<drm_i915_gem_exec_object2> objects{pinned(second), batch};
  EXPECT_EQ(execute(objects), 0);
  EXPECT_EQ(wait(second), 0);
  EXPECT_EQ(first_word(second), 0xbbbbu);
  gate.open();
  caller.join();
  EXPECT_EQ(result, 0);
  EXPECT_EQ(wait(first), 0);
  EXPECT_EQ(first_word(first), 0xaaaau);
  EXPECT_EQ(first_word(second), 0xbbbbu) << "in its own buffer";
}

// Other calls run between the pieces.
TEST_P(Settled, IdleBuffersAreEvictedInPieces) {
  std::vector<drm_i915_gem_exec_object2> objects(9);
  for (size_t i = 0; i < objects.size(); ++i) objects[i].handle = i + 1 < objects.size() ? create(4096) : make_empty();
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(wait(objects.back().handle), 0);
  driver->with_lock([&] {
    Space& space = *file->contexts.find(0)->space;
    const BufferRef kept = file->buffers.find(objects[0].handle);
    const auto may_go = [&](const Buffer& buffer) { return &buffer != kept.get(); };
    unsigned pieces = 0;
    for (std::optional<uint64_t> next = 0; next; ++pieces) next = space.evict_idle(may_go, *next, 2);
    EXPECT_GE(pieces, objects.size() / 2);
    for (const drm_i915_gem_exec_object2& each : objects) {
      const BufferRef buffer = file->buffers.find(each.handle);
      EXPECT_EQ(space.find(*buffer).has_value(), buffer == kept);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Chips, Settled, ::testing::Values("bdw", "skl", "icl"), chip_name);

}  // namespace
}  // namespace halogen::driver
