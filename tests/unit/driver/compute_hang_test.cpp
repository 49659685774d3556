// Compute kernels that do not end, submitted through ioctls: the program continues, a reset removes the batch and
// blames its context, three hangs in a row ban it, and kernels of other contexts work normally.
#include "compute/commands.h"
#include "door.h"
#include "engine/backend/render_state.h"
#include "eu/isa/assembler.h"

namespace halogen::driver {
namespace {

// Offsets of the parts of a program in its buffer, and the buffer's address in the context.
constexpr uint32_t kPlace = 0x40'0000;
constexpr uint32_t kBatch = 0, kCode = 0x1000, kState = 0x2000, kOut = 0x3000, kBytes = 0x4000;
constexpr uint32_t kTable = 0x100, kSurface = 0x200, kDescriptor = 0x300;
constexpr uint32_t kMark = 0x600d;

// Stores the mark to dword 0 of surface 0, then ends.
constexpr std::string_view kStore = R"(
    (W) mov (8|M0) r10.0<1>:ud 0x0:ud
    (W) mov (8|M0) r11.0<1>:ud 0x600d:ud
    (W) send.dc1 (8|M0) null r10 STORE
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null r127 NONE 0x0 0x02000010 {EOT}
)";
// A loop.
constexpr std::string_view kEndless = R"(
L0:
    add (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 0x1:ud
    while (8|M0) L0
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null r127 NONE 0x0 0x02000010 {EOT}
)";
// Waits for notifications that are never sent: with `wait`, and with `sync` on chips that wait for a barrier so.
constexpr std::string_view kWaits = R"(
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    WAIT
    (W) send.ts (8|M0) null r127 NONE 0x0 0x02000010 {EOT}
)";
// Waits at a barrier for two threads, in a group of one.
constexpr std::string_view kBarrier = R"(
    (W) mov (8|M0) r12.0<1>:ud r0.2<0;1,0>:ud
    (W) send.gtwy (8|M0) null r12 NONE 0x0 0x02000004
    WAIT
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null r127 NONE 0x0 0x02000010 {EOT}
)";
// No end-of-thread message: the bits that follow in memory are not an instruction.
constexpr std::string_view kNoEnd = R"(
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
)";

class ComputeHangs : public Door {
 protected:
  void SetUp() override {}  // each test starts the driver with its own options
  uint32_t create_context() {
    drm_i915_gem_context_create_ext create{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), 0);
    return create.ctx_id;
  }
  drm_i915_reset_stats statistics(uint32_t context) {
    drm_i915_reset_stats statistics{};
    statistics.ctx_id = context;
    EXPECT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
    return statistics;
  }
  std::vector<std::byte> code_of(std::string_view text) const {
    const bool sync = is("tgl") || is("dg1");
    std::string all(text);
    const auto replace = [&](std::string_view what, std::string_view by) {
      if (const size_t at = all.find(what); at != std::string::npos) all.replace(at, what.size(), by);
    };
    replace("WAIT", sync ? "(W) sync.bar (1|M0) null" : "(W) wait (1|M0) n0.0<0;1,0>:ud");
    replace("NONE", sync ? "null" : "");
    replace("NONE", sync ? "null" : "");
    replace("STORE", sync ? "r11 0x40 0x02026e00" : "0x0 0x04026e00");  // untyped write of one dword, eight lanes
    auto code = eu::assemble(model().gen, all);
    EXPECT_TRUE(code.ok()) << code.message();
    return code.ok() ? code.value() : std::vector<std::byte>{};
  }
  // Creates a buffer with everything that one dispatch needs.
  uint32_t make(std::string_view kernel_text, uint32_t groups, uint32_t barrier_threads) {
    const uint32_t handle = create(kBytes);
    const std::span<std::byte> bytes = content(handle);
    const auto put = [&](uint32_t at, const std::vector<uint32_t>& words) {
      std::memcpy(bytes.data() + at, words.data(), words.size() * 4);
    };
    const std::vector<std::byte> code = code_of(kernel_text);
    std::memcpy(bytes.data() + kCode, code.data(), code.size());
    put(kState + kTable, {kSurface});
    put(kState + kSurface, {0x87fd'4000, 0, 0x1f'007f, 0, 0, 0, 0, 0, kPlace + kOut, 0});
    put(kState + kDescriptor, {0, 0, 0, 0, kTable, 0, barrier_threads | 1u << 21, 0});
    compute::Settings settings;
    engine::RenderState render;
    render.pipeline = 2;
    render.pipeline_masked = !is("bdw") && !is("chv");
    render.bases.surface = render.bases.dynamic = kPlace + kState;
    render.bases.instruction = kPlace + kCode;
    settings.max_threads = 31;
    settings.descriptors_offset = kDescriptor;
    settings.descriptors_B = 32;
    std::vector<uint32_t> batch;
    render.append_commands(model().gen, batch);
    compute::append_commands(model().gen, settings, batch);
    const std::vector<uint32_t> rest = {0x7105'000d, 0, 0, 0, 0, 0, 0, groups, 0, 0, 1, 0, 1, 0xff, ~0u, 0x0500'0000};
    batch.insert(batch.end(), rest.begin(), rest.end());
    put(kBatch, batch);
    return handle;
  }
  int run(uint32_t handle, uint32_t context) {
    std::vector<drm_i915_gem_exec_object2> objects(1);
    objects[0].handle = handle;
    objects[0].offset = kPlace;
    objects[0].flags = EXEC_OBJECT_PINNED;
    return execute(objects, 0, context);
  }
  uint32_t shown(uint32_t handle) {
    uint32_t value = 0;
    std::memcpy(&value, content(handle).data() + kOut, 4);
    return value;
  }
  void works(uint32_t context) {
    const uint32_t good = make(kStore, 1, 1);
    ASSERT_EQ(run(good, context), 0);
    EXPECT_EQ(wait(good), 0);
    EXPECT_EQ(shown(good), kMark);
  }
  void hangs(std::string_view text, uint32_t groups = 1, uint32_t barrier_threads = 1, uint32_t times = 1) {
    DriverOptions options;
    options.hang_after = std::chrono::milliseconds(80);
    options.run_time = time_of_calls(std::chrono::milliseconds(20));
    options.hardware.device.threads = groups == 1 ? 1 : 3;
    boot(options);
    const uint32_t guilty = create_context(), other = create_context();
    works(guilty);
    for (uint32_t time = 1; time <= times; ++time) {
      const uint32_t bad = make(text, groups, barrier_threads);
      ASSERT_EQ(run(bad, guilty), 0) << "the program continues";
      // On a busy host the reset may come before the first check.
      const int early = wait(bad, 1'000'000);
      EXPECT_TRUE(early == -ETIME || (early == 0 && statistics(guilty).batch_active == time)) << early;
      EXPECT_EQ(wait(bad), 0) << "a reset ends it";
      EXPECT_EQ(shown(bad), 0u);
      EXPECT_EQ(statistics(guilty).batch_active, time);
      EXPECT_EQ(statistics(other).batch_active, 0u);
      works(other);
      if (time < 3) works(guilty);
    }
    if (times == 3) {
      EXPECT_EQ(run(make(kStore, 1, 1), guilty), -EIO) << "banned";
    }
    works(other);
    EXPECT_EQ(statistics(other).batch_active, 0u);
    EXPECT_EQ(statistics(other).batch_pending, 0u);
  }
};

TEST_P(ComputeHangs, EndlessLoopIsReset) {
  hangs(kEndless, 1, 1, 3);
}

TEST_P(ComputeHangs, EndlessLoopInEveryGroupIsReset) {
  hangs(kEndless, 100'000);
}

TEST_P(ComputeHangs, BarrierThatOtherThreadsNeverReachIsReset) {
  hangs(kBarrier, 1, 2, 3);
}

TEST_P(ComputeHangs, BarrierNeverReachedInEveryGroupIsReset) {
  hangs(kBarrier, 100'000, 2);
}

TEST_P(ComputeHangs, WaitForNotificationThatNeverComesIsReset) {
  hangs(kWaits);
}

TEST_P(ComputeHangs, ThreadWithoutEndOfThreadMessageIsReset) {
  hangs(kNoEnd);
}

INSTANTIATE_TEST_SUITE_P(Chips, ComputeHangs, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"), chip_name);

}  // namespace
}  // namespace halogen::driver
