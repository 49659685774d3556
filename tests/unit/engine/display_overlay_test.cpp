// The overlay of 965 and GM965: flips by command, with overlay registers in a page of memory. G45 PRM vol. 1b 1.12,
// 5.4.5 (seed 003).
#include "screen_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kPending = 1u << 9;
constexpr uint32_t kContinue = 0, kOn = 1, kOff = 2, kReserved = 3;
using Dwords = FlowBench::Dwords;

struct OverlayBench : ScreenBench {
  explicit OverlayBench(std::string_view name) : ScreenBench(name) {
    first = page_of(0x1000);
    second = page_of(0x2000);
  }
  // A page with known values in its registers and coefficients; coefficients begin at 0x200.
  uint64_t page_of(uint32_t number, uint32_t configuration = 0) {
    const uint64_t at = allocate(1);
    for (uint32_t i = 0; i < 1024; ++i) {
      poke(at + 4 * i, number + i);
    }
    poke(at + 0x64, configuration);
    return at;
  }
  static Dwords overlay(uint32_t mode, uint64_t page, bool coefficients = true) {
    return {0x11u << 23 | mode << 21, static_cast<uint32_t>(page) | (coefficients ? 1u : 0u)};
  }
  void run(const Dwords& dwords) {
    go(dwords);
    expect_done_at_once();
  }
  void frame() {
    advance_to(vblank_at(0, (now() - started[0]) / 1'000'000 + ((now() - started[0]) % 1'000'000 >= 800'000)));
  }
  uint32_t loaded(size_t dword) const {
    const std::vector<uint32_t>& all = device->display().overlay().registers;
    return dword < all.size() ? all[dword] : 0;
  }
  bool pending() { return (read(kIsr) & kPending) != 0; }
  bool on() const { return device->display().overlay().on; }

  uint64_t first = 0, second = 0;
};

class DisplayOverlay : public ::testing::TestWithParam<std::string> {
 protected:
  DisplayOverlay() : bench(GetParam()) { bench.start_pipe(0); }
  OverlayBench bench;
};

TEST_P(DisplayOverlay, FlipIsPendingUntilItsRegistersAreRead) {
  COVERS("G45-5.4.5-01");
  COVERS("G45-1.12-05");
  bench.write(ScreenBench::kImr, ~kPending);
  EXPECT_FALSE(bench.pending());
  bench.go(FlowBench::join({bench.overlay(kOn, bench.first), {kFlush}, bench.wait(ScreenBench::kOverlay)}));
  bench.device->advance(ScreenBench::kSoon);
  EXPECT_TRUE(bench.pending());
  EXPECT_EQ(bench.loaded(1), 0u) << "not read yet";
  bench.expect_done_at(bench.vblank_at(0, 0));
  EXPECT_FALSE(bench.pending());
  EXPECT_EQ(bench.read(ScreenBench::kIir) & kPending, kPending);
  EXPECT_EQ(bench.loaded(1), 0x1001u);
  EXPECT_EQ(bench.loaded(0x7f), 0x107fu);
  EXPECT_EQ(bench.loaded(0x80), 0x1080u) << "coefficients are read too";
  EXPECT_EQ(bench.loaded(1023), 0x13ffu);
  // Without the flag only the registers are read.
  bench.run(bench.overlay(kContinue, bench.second, false));
  bench.poke(bench.second + 4, 0x7777);  // before the blank
  bench.frame();
  EXPECT_EQ(bench.loaded(1), 0x7777u) << "read at the blank";
  EXPECT_EQ(bench.loaded(0x7f), 0x207fu);
  EXPECT_EQ(bench.loaded(0x80), 0x1080u) << "the coefficients are unchanged";
  EXPECT_EQ(bench.undefined(), 0u);
  // The page is read through the global table: a missing entry is an error of the overlay.
  EXPECT_EQ(bench.read(0x2024), 0u);
  bench.run(bench.overlay(kContinue, 0x0fff'0000));
  bench.frame();
  EXPECT_EQ(bench.read(0x2024), 1u << 17);
  EXPECT_FALSE(bench.pending());
}

// The overlay's translation is renewed at each vertical blank: its registers come from the new page.
TEST_P(DisplayOverlay, ChangedEntryIsUsedAtTheNextVerticalBlank) {
  COVERS("G45-5.3.10-05");
  bench.run(bench.overlay(kOn, bench.first));
  bench.frame();
  EXPECT_EQ(bench.loaded(1), 0x1001u);
  bench.map(bench.first / EngineBench::kPage, EngineBench::host_address(bench.second));
  EXPECT_EQ(bench.loaded(1), 0x1001u);
  bench.run(bench.overlay(kContinue, bench.first));
  bench.frame();
  EXPECT_EQ(bench.loaded(1), 0x2001u);
}

TEST_P(DisplayOverlay, LaterFlipReplacesAPendingFlip) {
  COVERS("G45-1.12-04");
  bench.run(FlowBench::join({bench.overlay(kOn, bench.first), bench.overlay(kContinue, bench.second)}));
  EXPECT_TRUE(bench.pending()) << "the parser continued";
  bench.frame();
  EXPECT_EQ(bench.loaded(1), 0x2001u);
  EXPECT_FALSE(bench.pending());
  bench.frame();
  EXPECT_EQ(bench.loaded(1), 0x2001u) << "the first flip was replaced";
}

TEST_P(DisplayOverlay, FlipModesSwitchTheOverlayOnAndOff) {
  COVERS("G45-1.12-02");
  bench.run(bench.overlay(kOn, bench.first));
  bench.frame();
  EXPECT_TRUE(bench.on());
  bench.run(bench.overlay(kContinue, bench.first));
  bench.frame();
  EXPECT_TRUE(bench.on());
  bench.run(bench.overlay(kOff, bench.second));
  EXPECT_TRUE(bench.pending());
  bench.frame();
  EXPECT_FALSE(bench.on());
  EXPECT_FALSE(bench.pending());
  EXPECT_EQ(bench.loaded(1), 0x1001u) << "registers are not updated";
  EXPECT_EQ(bench.loaded(0x80), 0x1080u) << "nor coefficients";
  EXPECT_EQ(bench.undefined(), 0u);
  bench.run(bench.overlay(kReserved, bench.second));
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_FALSE(bench.pending());
}

TEST_P(DisplayOverlay, OffWithoutCoefficientsIsReported) {
  COVERS("G45-1.12-06");
  bench.run(bench.overlay(kOn, bench.first, false));
  bench.frame();
  bench.run(bench.overlay(kContinue, bench.first, false));
  bench.frame();
  EXPECT_EQ(bench.undefined(), 0u);
  bench.run(bench.overlay(kOff, bench.first));
  EXPECT_EQ(bench.undefined(), 1u) << "hardware may hang; the model reports it and continues";
  bench.frame();
  EXPECT_FALSE(bench.pending());
}

TEST_P(DisplayOverlay, ShutdownSequenceCompletes) {
  COVERS("G45-1.12.1-01");
  bench.run(bench.overlay(kOn, bench.first));
  bench.frame();
  bench.poke(bench.first + 0x68, 0);  // command register: the overlay is not shown
  bench.go(FlowBench::join({bench.overlay(kContinue, bench.first), bench.wait(ScreenBench::kOverlay),
                            bench.overlay(kOff, bench.first), bench.wait(ScreenBench::kOverlay)}));
  bench.expect_done_at(bench.vblank_at(0, 2));
  EXPECT_EQ(bench.loaded(0x68 / 4), 0u);
  EXPECT_FALSE(bench.on());
  EXPECT_EQ(bench.undefined(), 0u);
  // The pipe stops during the sequence.
  bench.run(bench.overlay(kOn, bench.first));
  bench.frame();
  bench.run(bench.overlay(kOff, bench.first));
  EXPECT_EQ(bench.undefined(), 0u);
  bench.stop_pipe(0);
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_FALSE(bench.pending()) << "the flip completes without a running pipe";
}

TEST_P(DisplayOverlay, InvalidSequencesAreReported) {
  COVERS("G45-1.12.2-01");
  const auto reported = [&](std::initializer_list<uint32_t> modes) {
    OverlayBench fresh(GetParam());
    fresh.start_pipe(0);
    for (const uint32_t mode : modes) {
      fresh.run(fresh.overlay(mode, fresh.first));
      fresh.frame();
      EXPECT_FALSE(fresh.pending());
    }
    return fresh.undefined();
  };
  EXPECT_EQ(reported({kOn, kOff}), 0u);
  EXPECT_EQ(reported({kOn, kContinue, kContinue, kOff, kOn, kContinue, kOff}), 0u);
  EXPECT_EQ(reported({kContinue}), 1u);
  EXPECT_EQ(reported({kOn, kOn}), 1u);
  EXPECT_EQ(reported({kOn, kOff, kOff}), 1u);
  EXPECT_EQ(reported({kOn, kOff, kContinue}), 1u);
}

TEST_P(DisplayOverlay, FlipFollowsThePipeSelectedByItsRegisters) {
  OverlayBench other(GetParam());
  ScreenMode mode;
  mode.v_active = 30;
  other.start_pipe(0);
  other.start_pipe(1, mode);
  const uint64_t page = other.page_of(0x3000, 1u << 18);
  other.go(FlowBench::join({other.overlay(kOn, page), other.wait(ScreenBench::kOverlay)}));
  other.expect_done_at(other.vblank_at(0, 0));
  other.go(FlowBench::join({other.overlay(kContinue, page), other.wait(ScreenBench::kOverlay)}));
  other.expect_done_at(other.vblank_at(1, 1));
  EXPECT_EQ(other.undefined(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Gen4, DisplayOverlay, ::testing::Values("i965", "gm965"), chip_name);

}  // namespace
}  // namespace halogen
