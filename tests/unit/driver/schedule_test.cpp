// Scheduling as in i915: priorities and their inheritance, time slices, hangs that block other work, a full ring; and
// completion reported by interrupts.
#include <gtest/gtest.h>

#include <chrono>

#include "door.h"
#include "hw/interrupt_gen11.h"
#include "hw/interrupt_gen4.h"
#include "hw/interrupt_gen6.h"
#include "hw/interrupt_gen8.h"

namespace halogen::driver {
namespace {

using std::chrono::milliseconds;
constexpr int64_t kSecond = 1'000'000'000;
constexpr uint32_t kArbitrationCheck = 0x0280'0000, kBatchEnd = 0x0500'0000;

class Schedule : public Door {
 protected:
  void boot_with(milliseconds hang_after) {
    DriverOptions options;
    options.hang_after = hang_after;
    boot(options);
  }
  uint32_t make_context(int priority) {
    drm_i915_gem_context_create create{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, create), 0);
    drm_i915_gem_context_param set{};
    set.ctx_id = create.ctx_id;
    set.param = I915_CONTEXT_PARAM_PRIORITY;
    set.value = static_cast<__u64>(__s64{priority});
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, set), 0);
    return create.ctx_id;
  }
  // A batch that loops until its first dword is changed. `lets_in`: it contains preemption points.
  uint32_t start_endless(uint32_t context, bool lets_in, std::vector<drm_i915_gem_exec_object2> others = {}) {
    const uint32_t handle = create(4096);
    const uint32_t place = 0x10'0000 * handle;
    fill(handle, {0, lets_in ? kArbitrationCheck : 0, 0x1880'0101, place, 0});
    drm_i915_gem_exec_object2 object{};
    object.handle = handle;
    object.offset = place;
    object.flags = EXEC_OBJECT_PINNED;
    others.push_back(object);
    EXPECT_EQ(execute(others, I915_EXEC_RENDER, context), 0);
    return handle;
  }
  void end(uint32_t handle) { fill(handle, {kBatchEnd, kBatchEnd}); }
  int submit_empty(uint32_t batch, uint32_t context, std::vector<drm_i915_gem_exec_object2> others = {},
                   uint64_t flags = I915_EXEC_RENDER) {
    drm_i915_gem_exec_object2 object{};
    object.handle = batch;
    others.push_back(object);
    return execute(others, flags, context);
  }
  static drm_i915_gem_exec_object2 written(uint32_t handle) {
    drm_i915_gem_exec_object2 object{};
    object.handle = handle;
    object.flags = EXEC_OBJECT_WRITE;
    return object;
  }
  uint32_t hangs_of(uint32_t context) {
    drm_i915_reset_stats statistics{};
    statistics.ctx_id = context;
    EXPECT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
    return statistics.batch_active;
  }
};

// ---- chips with preemption

class Preemption : public Schedule {};

TEST_P(Preemption, EqualPrioritiesAreTimeSliced) {
  const uint32_t one = make_context(0), two = make_context(0);
  const uint32_t endless = start_endless(one, true);
  const uint32_t batch = make_empty();
  ASSERT_EQ(submit_empty(batch, two), 0);
  EXPECT_EQ(wait(batch, 10 * kSecond), 0);
  EXPECT_EQ(wait(endless, 0), -ETIME) << "it keeps running";
  end(endless);
  EXPECT_EQ(wait(endless, 10 * kSecond), 0);
  EXPECT_EQ(hangs_of(one), 0u);
}

TEST_P(Preemption, LowerPriorityWaits) {
  boot_with(milliseconds(5000));
  const uint32_t urgent = make_context(0), other = make_context(-5);
  const uint32_t endless = start_endless(urgent, true);
  const uint32_t batch = make_empty();
  ASSERT_EQ(submit_empty(batch, other), 0);
  EXPECT_EQ(wait(batch, kSecond / 5), -ETIME);
  end(endless);
  EXPECT_EQ(wait(batch, 10 * kSecond), 0);
}

// The middle request is less urgent than the running one, but a more urgent request waits for its result.
TEST_P(Preemption, PriorityIsInheritedByDependencies) {
  boot_with(milliseconds(5000));
  const uint32_t runs = make_context(-500), low = make_context(-600), high = make_context(-10);
  const uint32_t endless = start_endless(runs, true);
  const uint32_t shared = create(4096), first = make_empty(), second = make_empty();
  ASSERT_EQ(submit_empty(first, low, {written(shared)}), 0);
  EXPECT_EQ(wait(first, kSecond / 5), -ETIME) << "less urgent than what runs";
  ASSERT_EQ(submit_empty(second, high, {written(shared)}), 0);
  EXPECT_EQ(wait(second, 4 * kSecond), 0);
  EXPECT_EQ(wait(first, 0), 0);
  EXPECT_EQ(wait(endless, 0), -ETIME);
  end(endless);
  EXPECT_EQ(wait(endless, 10 * kSecond), 0);
}

TEST_P(Preemption, PreemptibleBatchIsNotHung) {
  boot_with(milliseconds(100));
  const uint32_t context = make_context(0);
  const uint32_t endless = start_endless(context, true);
  EXPECT_EQ(wait(endless, kSecond), -ETIME);
  EXPECT_EQ(hangs_of(context), 0u);
  end(endless);
  EXPECT_EQ(wait(endless, 10 * kSecond), 0);
}

TEST_P(Preemption, NonPreemptibleBatchHangsSoonerIfUrgentWorkWaits) {
  static constexpr milliseconds kHangAfter{20'000}, kReading{10};
  const auto readings = std::make_shared<std::atomic<int64_t>>(0);
  DriverOptions options;
  options.hang_after = kHangAfter;
  options.run_time = [readings] { return kReading * ++*readings; };
  boot(options);
  const uint32_t context = make_context(-5), urgent = make_context(0);
  start_endless(context, false);
  const uint32_t batch = make_empty();
  const int64_t before = *readings;
  ASSERT_EQ(submit_empty(batch, urgent), 0);
  EXPECT_EQ(wait(batch), 0);
  EXPECT_LE(kReading * (*readings - before), kHangAfter / 2) << "a quarter of the normal timeout";
  EXPECT_GE(kReading * (*readings - before), kHangAfter / 4);
  EXPECT_EQ(hangs_of(context), 1u);
  EXPECT_EQ(hangs_of(urgent), 0u) << "it only waited";
}

INSTANTIATE_TEST_SUITE_P(Chips, Preemption, ::testing::Values("skl", "icl", "tgl", "dg1"), chip_name);

// ---- chips with execlists

class Rings : public Schedule {};

TEST_P(Rings, FullRingBlocksTheProgram) {
  boot_with(milliseconds(20'000));
  const uint32_t context = make_context(0);
  const uint32_t endless = start_endless(context, true);
  const uint32_t batch = make_empty();
  drm_i915_gem_exec_object2 object{};
  object.handle = batch;
  drm_i915_gem_execbuffer2 request{};
  request.buffers_ptr = reinterpret_cast<uintptr_t>(&object);
  request.buffer_count = 1;
  request.rsvd1 = context;
  int result = 0, count = 0;
  while (result == 0 && count < 1000) {
    result = driver->ioctl(*file, DRM_IOCTL_I915_GEM_EXECBUFFER2, reinterpret_cast<uintptr_t>(&request), true);
    if (result == 0) ++count;
  }
  EXPECT_EQ(result, -EWOULDBLOCK);
  EXPECT_GT(count, 16) << "some requests fit";
  EXPECT_EQ(submit_empty(batch, make_context(0)), 0) << "another context has its own ring";
  end(endless);
  EXPECT_EQ(submit_empty(batch, context), 0) << "waits for space";
  EXPECT_EQ(wait(batch, 10 * kSecond), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, Rings, ::testing::Values("bdw", "chv", "icl", "dg1"), chip_name);

// ---- all chips

class Engines : public Schedule {
 protected:
  // The register that enables interrupts of the device.
  uint32_t master() const {
    switch (Generation(model()).interrupts()) {
      case InterruptKind::one_bank:
        return at(hw::IER::kDesc);
      case InterruptKind::display_master:
        return at(hw::DEIER::kDesc);
      case InterruptKind::numbered_banks:
        return at(hw::MASTER_IRQ::kDesc);
      case InterruptKind::collapsed_banks:
        return at(model().has(spec::Feature::tile_interrupt_master) ? hw::MSTR_TILE_INTR::kDesc
                                                                    : hw::GFX_MSTR_IRQ::kDesc);
    }
    return 0;
  }
  uint32_t at(const spec::RegisterDesc& desc) const {
    const uint32_t base = desc.base == spec::RegisterBase::engine ? model().engines[0].mmio_base : 0;
    return desc.offset(model().id) + base;
  }
};

TEST_P(Engines, InterruptsReportCompletion) {
  boot_with(milliseconds(20'000));
  const uint32_t batch = make_empty();
  ASSERT_EQ(submit_empty(batch, 0), 0);
  ASSERT_EQ(wait(batch, 10 * kSecond), 0);
  uint32_t before = 0;
  Hardware& hardware = driver->gpu().hardware();
  driver->with_lock([&] {
    before = hardware.read(master());
    hardware.write(master(), 0);
  });
  ASSERT_EQ(submit_empty(batch, 0), 0);
  EXPECT_EQ(wait(batch, kSecond / 5), -ETIME) << "no interrupt came";
  driver->with_lock([&] { hardware.write(master(), before); });
  EXPECT_EQ(wait(batch, 10 * kSecond), 0);
}

// Another engine waits for the result of the hung request: it continues after the hang is resolved.
TEST_P(Engines, HungEngineDoesNotBlockOthers) {
  if (driver->gpu().offered().size() < 2) GTEST_SKIP() << "one engine";
  boot_with(milliseconds(50));
  drm_i915_gem_relocation_entry relocation{};
  const uint32_t shared = create(4096);
  std::vector<drm_i915_gem_exec_object2> objects{written(shared), make_endless(relocation)};
  ASSERT_EQ(execute(objects, I915_EXEC_RENDER), 0);
  const uint32_t batch = make_empty();
  const uint64_t other = driver->gpu().find(spec::EngineClass::blit, 0) != nullptr ? I915_EXEC_BLT : I915_EXEC_BSD;
  ASSERT_EQ(submit_empty(batch, 0, {written(shared)}, other), 0);
  EXPECT_EQ(wait(shared, 20 * kSecond), 0);
  EXPECT_EQ(wait(batch, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, Engines, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
