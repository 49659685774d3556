// BLTs of a careless or hostile guest: bases that differ only in bits that the engine ignores, destinations with
// overlapping lines, two graphics addresses of one page, and unmapped memory.
#include <cstring>

#include "blit/blitter.h"
#include "blit_bench.h"
#include "support/blit_bench.h"
#include "unit/display/fbc_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kDropped = 0xe000'0000;  // bits 31:29 of BR09 and BR12

std::vector<uint8_t> bytes_at(BlitBench& bench, uint64_t address, uint64_t bytes) {
  std::vector<uint8_t> all(bytes);
  for (uint64_t i = 0; i < bytes; ++i) {
    all[i] = bench.byte_at(address + i);
  }
  return all;
}

void put_bytes(BlitBench& bench, uint64_t address, const std::vector<uint8_t>& from) {
  for (uint64_t i = 0; i < from.size(); ++i) {
    bench.put_byte(address + i, from[i]);
  }
}

class HostileGen4 : public ::testing::TestWithParam<std::string> {
 protected:
  BlitBench bench{GetParam()};
};

// If source and destination have the same base after masking, the direction follows the coordinates, so that
// overlapping source pixels are read before they are overwritten.
TEST_P(HostileGen4, IgnoredBaseBitsDoNotAffectTheDirection) {
  COVERS("G45-8.9-04");
  constexpr uint64_t kPitch = 256;
  struct Move {
    int x, y, sx, sy;
  };
  for (const Move& move : {Move{0, 1, 0, 0}, Move{1, 0, 0, 0}, Move{0, 0, 0, 1}, Move{3, 2, 1, 4}}) {
    for (const bool source_named : {false, true}) {
      const uint64_t target = bench.allocate(3);
      const std::vector<uint8_t> before = random_bytes(3 * kPage, 5);
      put_bytes(bench, target, before);
      const uint64_t named = target | kDropped;
      bench.run_commands(bench.copy(source_named ? target : named, control(kDepth32, 0xcc, kPitch),
                                    {move.x, move.y, move.x + 60, move.y + 40}, source_named ? named : target, kPitch,
                                    move.sx, move.sy));
      std::vector<uint8_t> expected = before;
      for (uint64_t line = 0; line < 40; ++line) {
        for (uint64_t i = 0; i < 240; ++i) {
          expected[(static_cast<uint64_t>(move.y) + line) * kPitch + static_cast<uint64_t>(move.x) * 4 + i] =
              before[(static_cast<uint64_t>(move.sy) + line) * kPitch + static_cast<uint64_t>(move.sx) * 4 + i];
        }
      }
      EXPECT_EQ(difference(bytes_at(bench, target, 3 * kPage), expected), "") << move.x << ", " << move.y;
    }
  }
  EXPECT_EQ(bench.host.log.events().size(), 0u);
}

// With different addresses the copy goes forward, so that the first line is copied over all others.
TEST_P(HostileGen4, DifferentBasesCopyForward) {
  constexpr uint64_t kPitch = 256;
  const uint64_t target = bench.allocate(2);
  const std::vector<uint8_t> before = random_bytes(2 * kPage, 6);
  put_bytes(bench, target, before);
  bench.run_commands(
      bench.copy((target + kPitch) | kDropped, control(kDepth8, 0xcc, kPitch), {0, 0, 200, 20}, target, kPitch, 0, 0));
  std::vector<uint8_t> expected = before;
  for (uint64_t line = 1; line <= 20; ++line) {
    std::copy_n(before.begin(), 200, expected.begin() + static_cast<std::ptrdiff_t>(line * kPitch));
  }
  EXPECT_EQ(difference(bytes_at(bench, target, 2 * kPage), expected), "");
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "an overlap with different bases";
}

// The addresses of a linear command have bits above the address width.
TEST_P(HostileGen4, LinearCopyIgnoresTheUpperAddressBits) {
  const uint64_t target = bench.allocate(1);
  const std::vector<uint8_t> before = random_bytes(kPage, 7);
  put_bytes(bench, target, before);
  // By eight bytes to the left and to the right, each in its safe direction.
  bench.run_commands(BlitBench::with_header(
      0x43, kWriteAll,
      {control(kDepth8, 0xcc, 64, 1u << 30), 1u << 16 | 1000, static_cast<uint32_t>(target + 8 + 999) | kDropped, 64,
       static_cast<uint32_t>(target + 999)}));
  std::vector<uint8_t> expected = before;
  std::copy_n(before.begin(), 1000, expected.begin() + 8);
  EXPECT_EQ(difference(bytes_at(bench, target, kPage), expected), "");
  // In the unsafe direction: eight bytes repeat.
  put_bytes(bench, target, before);
  bench.run_commands(
      BlitBench::with_header(0x43, kWriteAll,
                             {control(kDepth8, 0xcc, 64), 1u << 16 | 1000, static_cast<uint32_t>(target + 8) | kDropped,
                              64, static_cast<uint32_t>(target)}));
  expected = before;
  for (size_t i = 0; i < 1000; ++i) {
    expected[8 + i] = before[i % 8];
  }
  EXPECT_EQ(difference(bytes_at(bench, target, kPage), expected), "");
}

INSTANTIATE_TEST_SUITE_P(Chips, HostileGen4, ::testing::Values("i965", "gm965", "g45", "gm45"),
                         [](const auto& chip) { return chip.param; });

TEST(HostileCompression, FrameBufferCompressorGetsTheMaskedBase) {
  display::fbc_test::FbcBench bench;
  bench.write(display::fbc_test::FbcBench::kControl2, 0);
  bench.enable(1024);
  bench.pass();
  ASSERT_EQ(bench.count_tags(display::fbc_test::kTagCompressed), bench.tags());
  const uint32_t pitch = bench.screen.pitch_B;
  const uint32_t ring = 0x0600'0000;  // a page in the global table that the surface does not use
  constexpr uint64_t kRing = 0x7000'0000;
  bench.map(ring / kPage, kRing);
  const uint32_t commands[] = {0x5430'0804,
                               control(kDepth32, 0xf0, static_cast<int>(pitch / 4)),
                               pack_yx(10, 0),
                               pack_yx(11, 4),
                               static_cast<uint32_t>(bench.surface) | kDropped,
                               0x1234,
                               0,
                               0};
  for (size_t i = 0; i < std::size(commands); ++i) {
    bench.host.put<uint32_t>(kRing + 4 * i, commands[i]);
  }
  bench.write(0x2038, ring);
  bench.write(0x2034, 0);
  bench.write(0x2030, 0);
  bench.write(0x203c, 1);
  bench.write(0x2030, sizeof(commands));
  ASSERT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(0, 10), 0x1234u);
  EXPECT_EQ(bench.tag_of_line(10), display::fbc_test::kTagModified);
  EXPECT_EQ(bench.count_tags(display::fbc_test::kTagModified), 1u);
}

class HostileBlit : public ::testing::TestWithParam<std::string> {
 protected:
  BlitBench bench{GetParam()};
};

// X tiles to linear memory with overlapping lines: every pixel has the value of the last line that covers it.
TEST_P(HostileBlit, OverlappingLinesAreDrawnInOrder) {
  const uint64_t source = bench.allocate(8);
  const uint64_t target = bench.allocate(2);
  for (const int pitch : {256, 4, 1020, -256}) {
    const std::vector<uint8_t> from = random_bytes(8 * kPage, 8);
    const std::vector<uint8_t> before = random_bytes(2 * kPage, 9);
    put_bytes(bench, source, from);
    put_bytes(bench, target, before);
    const uint64_t base = pitch < 0 ? 2048 : 0;
    bench.run_commands(bench.copy(target + base, control(kDepth32, 0xcc, pitch), {0, 0, 256, 8}, source, 1024 / 4, 0, 0,
                                  kWriteAll | kSourceTiled));
    std::vector<uint8_t> expected = before;
    for (int line = 0; line < 8; ++line) {
      for (uint64_t x = 0; x < 1024; ++x) {
        const uint64_t in_tile = x / 512 * 4096 + static_cast<uint64_t>(line) * 512 + x % 512;
        expected[base + static_cast<uint64_t>(static_cast<int64_t>(line) * pitch) + x] = from[in_tile];
      }
    }
    EXPECT_EQ(difference(bytes_at(bench, target, 2 * kPage), expected), "") << pitch;
  }
}

// The same base with a source above the destination: drawn upwards, so the first line is last, although the rectangles
// do not overlap.
TEST_P(HostileBlit, OverlappingLinesAreDrawnUpwards) {
  const uint64_t target = bench.allocate(4);
  const std::vector<uint8_t> before = random_bytes(4 * kPage, 10);
  put_bytes(bench, target, before);
  bench.run_commands(bench.copy(target, control(kDepth8, 0xcc, 64), {0, 100, 200, 108}, target, 64, 0, 0));
  std::vector<uint8_t> expected = before;
  for (uint64_t line = 8; line-- > 0;) {
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(line * 64), 200,
                expected.begin() + static_cast<std::ptrdiff_t>((100 + line) * 64));
  }
  EXPECT_EQ(difference(bytes_at(bench, target, 4 * kPage), expected), "");
}

// Source and destination share a page through two graphics addresses, which the command does not show. Every path reads
// a line within the page before it writes it.
TEST_P(HostileBlit, OnePageMayHaveTwoGraphicsAddresses) {
  const uint64_t page = bench.allocate(2);
  const uint64_t again = bench.allocate(2);
  for (uint64_t i = 0; i < 2; ++i) {
    bench.map(again / kPage + i, EngineBench::host_address(page + i * kPage));
  }
  const std::vector<uint8_t> before = random_bytes(2 * kPage, 11);
  struct Case {
    uint64_t width;
    uint64_t ahead;
    uint32_t flags;  // of the source: linear or tiled
  };
  for (const Case& each : {Case{600, 16, 0}, Case{2000, 16, 0}, Case{3800, 100, 0}, Case{400, 100, kSourceTiled}}) {
    put_bytes(bench, page, before);
    bench.run_commands(bench.copy(again + each.ahead, control(kDepth8, 0xcc, 512),
                                  {0, 0, static_cast<int>(each.width), 1}, page, each.flags != 0 ? 128 : 512, 0, 0,
                                  kWriteAll | each.flags));
    std::vector<uint8_t> expected = before;
    std::copy_n(before.begin(), each.width, expected.begin() + static_cast<std::ptrdiff_t>(each.ahead));
    EXPECT_EQ(difference(bytes_at(bench, page, 2 * kPage), expected), "") << each.width;
  }
}

// A destination of 256 MB without mapping: one command must not fill the host's memory with Events.
TEST_P(HostileBlit, LargeUnmappedDestinationIsReportedOnce) {
  const uint64_t sentinel = bench.allocate(1);
  bench.run_commands(bench.color(0x0800'0000, control(kDepth32, 0xf0, 32764), {0, 0, 8191, 8000}, 1) +
                     bench.color(sentinel, control(kDepth32, 0xf0, 64), {0, 0, 1, 1}, 0x600d));
  EXPECT_LE(bench.host.log.events().size(), 4u);
  EXPECT_GE(bench.events(EventKind::fault), 1u);
  if (bench.is_gen4()) {  // a fault does not stop the engine
    EXPECT_EQ(bench.peek(sentinel), 0x600du);
    EXPECT_EQ(bench.events(EventKind::fault), 2u);
    EXPECT_GT(bench.host.log.events().back().value, 60'000u) << "the number of missed accesses";
  }
}

// Unmapped monochrome source data is read for every line.
TEST_P(HostileBlit, UnmappedSourceIsReportedOnce) {
  const uint64_t target = bench.allocate(16);
  bench.run_commands(bench.mono_copy(target, control(kDepth8, 0xcc, 16), {0, 0, 16, 4096}, 0x0800'0000, 0x11, 0x22));
  EXPECT_LE(bench.host.log.events().size(), 4u);
  EXPECT_GE(bench.events(EventKind::fault), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, HostileBlit, ::testing::Values("i965", "g45", "snb", "bdw", "skl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
