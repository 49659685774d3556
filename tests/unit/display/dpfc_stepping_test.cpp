// The two steppings of GM45's compressor.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/dpfc_bench.h"

namespace halogen::display::fbc_test {
namespace {

constexpr uint64_t kFar = 0x40'0000;
constexpr uint32_t kTracking = 0x8000'0000;
constexpr uint32_t kModes = DpfcBench::kPersistent | DpfcBench::kNoRegisterNuke;

// Flips to another surface in persistent mode without invalidation by flips of registers. Returns the lines that stay
// compressed.
unsigned lines_after_flip(DpfcBench& bench) {
  bench.flip_by_register(bench.surface + kFar);
  bench.next_vblank();
  return bench.compressed_lines();
}

TEST(DpfcSteppings, OnlyTheSecondHasTheSwitchForFlipsByRegister) {
  COVERS("G45-7.2.2-02");
  for (const char* const stepping : {"", "a", "b"}) {
    SCOPED_TRACE(stepping);
    DpfcBench bench({}, stepping);
    bench.fill_desktop(1);
    bench.enable(kModes);
    const bool first = std::string(stepping) == "a";
    EXPECT_EQ(bench.read(DpfcBench::kControl), bench.control(first ? DpfcBench::kPersistent : kModes));
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), first ? 1u : 0u);
    EXPECT_EQ(bench.compressed_lines(), 480u);
    EXPECT_EQ(lines_after_flip(bench), first ? 0u : 480u) << "invalidated unless the switch exists and is set";
  }
}

// Moves the fence to the back buffer, writes a line of it and flips: persistent mode invalidates what it tracked.
TEST(DpfcSteppings, OnlyTheSecondTracksWritesOfTheProcessorToABackBuffer) {
  COVERS("G45-7.2.9-01");
  for (const char* const stepping : {"", "a", "b"}) {
    SCOPED_TRACE(stepping);
    DpfcBench bench({}, stepping);
    bench.fill_desktop(1);
    bench.enable(DpfcBench::kPersistent | DpfcBench::kNoCommandNuke);
    const uint64_t back = bench.surface + kFar;
    const uint64_t start = back - uint64_t{DpfcBench::kLinesBefore} * bench.screen.pitch_B;
    bench.write(0x3000 + 8 * DpfcBench::kFenceNumber, 0);
    bench.set_fence(2, start, (start >> 12) + 0x3ff, bench.screen.pitch_B, false);
    bench.write(DpfcBench::kControl, (bench.read(DpfcBench::kControl) & ~15u) | 2);
    const bool first = std::string(stepping) == "a";
    EXPECT_EQ(bench.events(), 0u);
    bench.write(DpfcBench::kExtra, kTracking);
    EXPECT_EQ(bench.read(DpfcBench::kExtra), first ? 0 : kTracking);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), first ? 1u : 0u);
    bench.device->bar_write(2, back + uint64_t{77} * bench.screen.pitch_B, 4, 1);
    bench.flip_by_command(back);
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), first ? 480u : 479u) << "without tracking the line counts as unchanged";
    bench.write(DpfcBench::kExtra, ~kTracking);
    EXPECT_EQ(bench.read(DpfcBench::kExtra), 0u) << "reserved bits";
  }
}

TEST(DpfcSteppings, TheSteppingIsTheRevisionOfTheDevice) {
  const auto revision = [](std::string stepping) {
    DpfcBench bench({}, std::move(stepping));
    return bench.device->config_read(8, 1);
  };
  EXPECT_EQ(revision("a"), 3u) << "A3";
  EXPECT_EQ(revision("b"), 7u) << "B3";
  EXPECT_EQ(revision(""), 7u);
}

TEST(DpfcSteppings, UnknownSteppingsAreRefused) {
  TestHost host;
  const auto refused = [&](std::string_view name, std::string stepping) {
    const auto made = device::Device::create(*spec::find_device(name), host, {.stepping = std::move(stepping)});
    return made ? std::string("made") : made.message();
  };
  EXPECT_EQ(refused("gm45", "c"), "\"c\" is not a stepping of gm45; use a or b");
  EXPECT_EQ(refused("g45", "a"), "the stepping of g45 cannot be chosen");
  EXPECT_EQ(refused("gm45", "a"), "made");
}

}  // namespace
}  // namespace halogen::display::fbc_test
