// Dispatches through a streamer: group counts from registers, predicates, statistics, settings that persist, hangs,
// resets, and snapshots during a dispatch.
#include <algorithm>

#include "kernels.h"
#include "support/engine_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kThreads = 0x290, kCountX = 0x500, kPredicate = 0x418;
using Dwords = std::vector<uint32_t>;

class ComputeStreamer : public ::testing::Test {
 protected:
  ComputeStreamer() {
    code_ = bench.allocate(1);
    state_ = bench.allocate(1);
    out_ = bench.allocate(4);
    bench.start_ring(kRcs, 8);
    // A buffer of 16 KB at binding table index 0.
    bench.poke(state_ + 0x100, 0x200);
    bench.poke(state_ + 0x200, {0x87fd'4000, 0, 0x7f007f, 0, 0, 0, 0, 0, static_cast<uint32_t>(out_), 0});
    load(compute::kernels::kDump);
  }
  template <size_t N>
  void load(const uint32_t (&kernel)[N]) {
    bench.poke(code_, std::span(kernel));
    bench.poke(state_ + 0x300, {0, 0, 0, 0, 0x100, 0, 1, 0});
  }
  Dwords settings() const {
    Dwords words = {0x6904'0302};  // GPGPU
    const auto base = [](uint64_t address) { return static_cast<uint32_t>(address) | 1; };
    Dwords bases(19);
    bases[0] = 0x6101'0011;
    bases[1] = 1;
    bases[4] = base(state_);
    bases[6] = base(state_);
    bases[8] = base(state_);
    bases[10] = base(code_);
    words.insert(words.end(), bases.begin(), bases.end());
    const Dwords front = {0x7000'0007, 0, 0, 31u << 16, 0, 0, 0, 0, 0};
    words.insert(words.end(), front.begin(), front.end());
    const Dwords descriptors = {0x7002'0002, 0, 32, 0x300};
    words.insert(words.end(), descriptors.begin(), descriptors.end());
    return words;
  }
  static Dwords walker(uint32_t groups, uint32_t flags = 0) {
    return {0x7105'000d | flags, 0, 0, 0, 0, 0, 0, groups, 0, 0, 1, 0, 1, 0xff, ~0u};
  }
  bool run(const Dwords& commands) {
    bench.emit(kRcs, commands);
    bench.submit(kRcs);
    return bench.device->settle();
  }
  // Returns the number of groups that have written their registers, and clears their output.
  uint32_t groups_seen() {
    uint32_t count = 0;
    for (uint32_t group = 0; group < 16; ++group) {
      const uint64_t at = out_ + group * (512 + 128);  // each group has its own slot
      count += bench.peek(at + 4) == group && bench.peek(at + 16) == 0x100;
      bench.poke(at + 16, 0);
    }
    return count;
  }
  bool idle() { return bench.reg(kRcs, EngineBench::kHead) == bench.ring_tail(kRcs); }

  EngineBench bench{"skl"};
  uint64_t code_ = 0;
  uint64_t state_ = 0;
  uint64_t out_ = 0;
};

TEST_F(ComputeStreamer, SettingsPersistAcrossSubmissions) {
  EXPECT_TRUE(run(settings()));
  EXPECT_TRUE(run(walker(3)));
  EXPECT_EQ(groups_seen(), 3u);
  EXPECT_TRUE(run(walker(5)));
  EXPECT_EQ(groups_seen(), 5u);
  EXPECT_EQ(bench.reg(kRcs, kThreads), 64u) << "channels: eight groups of one thread of eight";
}

// As in Mesa's iris, binding tables are in the pool and surface states are relative to the surface base.
TEST_F(ComputeStreamer, BindingTablesAreReadFromThePoolIfEnabled) {
  constexpr uint32_t kPoolAlloc = 0x7919'0002, kEnable = 1u << 11;
  const uint64_t pool = bench.allocate(1);
  const uint64_t elsewhere = bench.allocate(1);
  bench.poke(pool + 0x100, 0x200);
  bench.poke(state_ + 0x240, {0x87fd'4000, 0, 0x7f007f, 0, 0, 0, 0, 0, static_cast<uint32_t>(elsewhere), 0});
  bench.poke(state_ + 0x100, 0x240);
  EXPECT_TRUE(run(settings()));
  EXPECT_TRUE(run({kPoolAlloc, static_cast<uint32_t>(pool) | kEnable, 0, 1u << 12}));
  EXPECT_TRUE(run(walker(3)));
  EXPECT_EQ(groups_seen(), 3u);
  EXPECT_EQ(bench.peek(elsewhere + 16), 0u);
  EXPECT_TRUE(run({kPoolAlloc, static_cast<uint32_t>(pool), 0, 1u << 12}));  // pool disabled
  EXPECT_TRUE(run(walker(3)));
  EXPECT_EQ(groups_seen(), 0u);
  EXPECT_EQ(bench.peek(elsewhere + 16), 0x100u);
}

TEST_F(ComputeStreamer, IndirectGroupCountsComeFromRegisters) {
  EXPECT_TRUE(run(settings()));
  bench.set_reg(kRcs, kCountX, 4);
  bench.set_reg(kRcs, kCountX + 4, 1);
  bench.set_reg(kRcs, kCountX + 8, 1);
  EXPECT_TRUE(run(walker(2, 1u << 10)));
  EXPECT_EQ(groups_seen(), 4u);
  bench.set_reg(kRcs, kCountX + 8, 0);
  EXPECT_TRUE(run(walker(2, 1u << 10)));
  EXPECT_EQ(groups_seen(), 0u) << "a count of zero in one direction starts no group";
}

TEST_F(ComputeStreamer, ClearPredicateSkipsTheDispatch) {
  EXPECT_TRUE(run(settings()));
  bench.set_reg(kRcs, kPredicate, 0);
  EXPECT_TRUE(run(walker(2, 1u << 8)));
  EXPECT_EQ(groups_seen(), 0u);
  bench.set_reg(kRcs, kPredicate, 1);
  EXPECT_TRUE(run(walker(2, 1u << 8)));
  EXPECT_EQ(groups_seen(), 2u);
}

TEST_F(ComputeStreamer, InvalidDispatchHangsUntilReset) {
  EXPECT_TRUE(run(settings()));
  bench.poke(code_, {0, 0, 0, 0});
  run(walker(1));
  EXPECT_FALSE(idle());
  bench.device->reset_engine(bench.engine_model(kRcs));
  load(compute::kernels::kDump);
  bench.start_ring(kRcs, 8);
  EXPECT_TRUE(run(settings()));
  EXPECT_TRUE(run(walker(1)));
  EXPECT_EQ(groups_seen(), 1u);
}

// The kernel waits for a dword that the CPU writes. A copy of the device that was made during the wait completes
// too.
TEST_F(ComputeStreamer, EndlessKernelAllowsTimeAndSnapshots) {
  load(compute::kernels::kSpin);
  EXPECT_TRUE(run(settings()));
  bench.emit(kRcs, walker(1));
  bench.submit(kRcs);
  bench.device->advance(1'000'000);
  EXPECT_FALSE(idle());
  const auto state = bench.device->snapshot();
  bench.device->advance(1'000'000);
  EXPECT_FALSE(idle());
  bench.poke(out_, 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(out_ + 4), 7u);
  bench.poke(out_, 0);
  bench.poke(out_ + 4, 0);
  bench.device->restore(state);
  bench.device->advance(1'000'000);
  EXPECT_FALSE(idle());
  bench.poke(out_, 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(out_ + 4), 7u);
}

TEST_F(ComputeStreamer, ReportNamesExecutedInstructions) {
  EXPECT_TRUE(run(settings()));
  EXPECT_TRUE(run(walker(2)));
  const FidelityReport report = bench.device->fidelity();
  const auto& walkers = report.entries().at({FidelityKind::command, "GPGPU_WALKER"});
  EXPECT_EQ(walkers.count, 1u);
  EXPECT_EQ(walkers.fidelity, FidelityClass::exact);
  const auto& writes = report.entries().at({FidelityKind::message, "dc0 oword_block_write"});
  EXPECT_EQ(writes.count, 2u);
}

// Inline data follow the constants, as kernels of intel-vaapi-driver and igt expect.
TEST_F(ComputeStreamer, MediaObjectStartsOneThread) {
  bench.poke(state_ + 0x300, {0, 0, 0, 0, 0x100, 1u << 16, 0, 0});
  bench.poke(state_ + 0x400, {0xc0c0, 0xc0c1});
  bench.poke(state_ + 0x500, {0x1d1d, 0x1d1e});
  EXPECT_TRUE(run(settings()));
  EXPECT_TRUE(run({0x7001'0002, 0, 64, 0x400}));
  EXPECT_TRUE(run({0x7100'0005, 0, 0, 0, 3, 0, 0xabcd}));
  const uint64_t at = out_ + 3 * 512;  // slot selected by the X position
  EXPECT_EQ(bench.peek(at + 4), 3u);
  EXPECT_EQ(bench.peek(at + 16), 0x100u);
  EXPECT_EQ(bench.peek(at + 32), 0xc0c0u);
  EXPECT_EQ(bench.peek(at + 64), 0xabcdu);
  EXPECT_EQ(bench.peek(at + 68), 0u) << "the rest of the register is zero";
  EXPECT_EQ(bench.peek(at + 96), 0xffff'ffffu) << "all channels are enabled";
  // Indirect data instead of inline data.
  EXPECT_TRUE(run({0x7100'0004, 0, 8, 0x500, 5, 0}));
  EXPECT_EQ(bench.peek(out_ + 5 * 512 + 64), 0x1d1du);
  EXPECT_EQ(bench.peek(out_ + 5 * 512 + 68), 0x1d1eu);
  EXPECT_EQ(bench.peek(out_ + 5 * 512 + 72), 0u);
  // A persistent object has twelve dwords and no position.
  Dwords persistent(16);
  persistent[0] = 0x7102'000e;
  persistent[4] = 0x9191;
  EXPECT_TRUE(run(persistent));
  EXPECT_EQ(bench.peek(out_ + 64), 0x9191u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
}

TEST_F(ComputeStreamer, MediaObjectWithoutADescriptorIsDropped) {
  EXPECT_TRUE(run({0x7100'0004, 0, 0, 0, 0, 0}));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
}

// Three positions in one row. Each thread gets the constants, the inline data and its position.
TEST_F(ComputeStreamer, MediaObjectWalkerStartsEveryThread) {
  bench.poke(state_ + 0x300, {0, 0, 0, 0, 0x100, 1u << 16, 0, 0});
  bench.poke(state_ + 0x400, {0xc0c0, 0xc0c1});
  EXPECT_TRUE(run(settings()));
  EXPECT_TRUE(run({0x7001'0002, 0, 64, 0x400}));
  Dwords walk(18);
  walk[0] = 0x7103'0010;
  walk[7] = 0x0fff'0fff;   // maximum loop counts
  walk[8] = 1u << 16 | 3;  // block resolution
  walk[11] = 1u << 16;     // outer loop: down
  walk[12] = 1;            // inner loop: to the right
  walk[13] = 1u << 16 | 3;
  walk[15] = 3;
  walk[16] = 1u << 16;
  walk[17] = 0xabcd;
  EXPECT_TRUE(run(walk));
  EXPECT_EQ(groups_seen(), 3u);
  for (uint32_t x = 0; x < 3; ++x) {
    EXPECT_EQ(bench.peek(out_ + x * 640 + 32), 0xc0c0u);
    EXPECT_EQ(bench.peek(out_ + x * 640 + 64), 0xabcdu);
  }
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
  // With the scoreboard the threads run one after the other, all in the first slot.
  walk[2] = 1u << 21;
  EXPECT_TRUE(run(walk));
  for (uint32_t x = 0; x < 3; ++x) {
    EXPECT_EQ(bench.peek(out_ + x * 512 + 4), x);
    EXPECT_EQ(bench.peek(out_ + x * 512 + 64), 0xabcdu);
  }
  // An empty field starts no thread.
  walk[13] = 0;
  EXPECT_TRUE(run(walk));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
}

}  // namespace
}  // namespace halogen
