// The BLT engine as a client of a streamer: hangs and reset, faults in the middle, contexts, registers, tilings, time
// and snapshots.
#include "blit_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kPage = 4096;

class BlitEngine : public ::testing::TestWithParam<std::string> {
 protected:
  BlitBench bench{GetParam()};
};

std::vector<std::string> gen4_chips() {
  return {"i965", "gm965", "g45", "gm45"};
}

class BlitEngineGen4 : public BlitEngine {};

TEST_P(BlitEngine, OddImmediateDataHangsUntilReset) {
  const uint64_t target = bench.allocate(1);
  bench.run_commands(bench.setup(target, control(kDepth8, 0xcc, 64), {0, 0, 64, 64}, 1, 2) +
                     BlitBench::text_immediate({0, 0, 8, 8}, {~0u, ~0u, ~0u}) +
                     bench.color(target, control(kDepth8, 0xf0, 64), {0, 0, 1, 1}, 0x77));
  EXPECT_FALSE(bench.idle());
  EXPECT_EQ(bench.byte_at(target), 0) << "the command draws nothing and no later command runs";
  EXPECT_GE(bench.events(EventKind::undefined_behaviour), 1u);
  bench.device->reset_engine(bench.engine_model(bench.engine));
  if (bench.is_gen4()) {
    bench.enable_table();  // a register of the engine's block
  }
  bench.start_ring(bench.engine, 8);
  bench.run_commands(bench.color(target, control(kDepth8, 0xf0, 64), {0, 0, 1, 1}, 0x77));
  EXPECT_EQ(bench.byte_at(target), 0x77);
}

TEST_P(BlitEngine, ReservedBitsAreReportedAndIgnored) {
  COVERS("G45-8.7.1-03");
  const uint64_t target = bench.allocate(1);
  bench.run_commands(bench.color(target, control(kDepth8, 0xf0, 64), {0, 0, 4, 4}, 0x11));
  EXPECT_EQ(bench.events(EventKind::reserved_bits), 0u);
  bench.run_commands(bench.color(target, control(kDepth8, 0xf0, 64), {0, 0, 4, 4}, 0x22, kWriteAll | 1u << 13));
  EXPECT_EQ(bench.events(EventKind::reserved_bits), 1u);
  bench.run_commands(bench.color(target, control(kDepth8, 0xf0, 64, 1u << 27), {0, 0, 4, 4}, 0x33));
  EXPECT_EQ(bench.events(EventKind::reserved_bits), 2u);
  EXPECT_EQ(bench.byte_at(target), 0x33) << "the bits have no effect";
}

// The second page of the destination is not mapped: only the lines before it are written.
TEST_P(BlitEngine, FaultWritesOnlyTheMappedLines) {
  const uint64_t target = bench.allocate(3);
  bench.set_entry(target / kPage + 1, 0);
  bench.run_commands(bench.color(target, control(kDepth32, 0xf0, 512), {0, 0, 16, 24}, 0xa5a5'a5a5));
  for (uint64_t line = 0; line < 8; ++line) {
    EXPECT_EQ(bench.peek(target + line * 512 + 60), 0xa5a5'a5a5u) << line;
    EXPECT_EQ(bench.peek(target + line * 512 + 64), 0u) << line;
  }
  EXPECT_EQ(bench.peek(target + kPage), 0u) << "the page that was not mapped";
  EXPECT_GE(bench.host.log.events().size(), 1u);
}

TEST_P(BlitEngineGen4, ContextSwitchRestoresSetupAndClipRectangle) {
  COVERS("G45-8.4-03");
  const uint64_t first = bench.allocate(1);
  const uint64_t second = bench.allocate(1);
  const uint64_t target = bench.allocate(2);
  const uint64_t other = bench.allocate(1);
  const uint64_t pattern = bench.allocate(1);
  bench.fill(pattern, 256, 0x3c);
  const uint64_t third = bench.allocate(1);
  const uint64_t fourth = bench.allocate(1);
  const uint64_t mono = bench.allocate(1);
  const uint64_t colors = bench.allocate(1);
  const uint64_t other_pattern = bench.allocate(1) + 192;
  for (unsigned i = 0; i < 64; ++i) {
    bench.put_byte(other_pattern + i, static_cast<uint8_t>(0x80 + i));
  }
  constexpr uint32_t kRestoreInhibit = 1, kSave = 1u << 8;  // MI_SET_CONTEXT
  const auto context = [](uint64_t address, uint32_t flags) {
    return Dwords{0x18u << 23, static_cast<uint32_t>(address) | flags};
  };
  // Each part of the state: control (depth, operation, pitch, clipping, mask), colours, pattern, base, clip rectangle.
  // The contexts differ in every register that they load.
  bench.run_commands(context(first, kSave | kRestoreInhibit) +
                     bench.setup_mono(target, control(kDepth32, 0x5a, 128, kClip), {1, 1, 9, 9}, 0x0101'0101,
                                      0xf0f0'f0f0, 0x0000'00ff, 0x00ff'0000, 1u << 20) +
                     context(third, kSave | kRestoreInhibit) +
                     bench.setup_mono(mono, control(kDepth8, 0xf0, 64), {2, 2, 30, 30}, 0x44, 0x55, 0x0f0f'ff00,
                                      0xff00'00f0, 2u << 20) +
                     context(fourth, kSave | kRestoreInhibit) +
                     bench.setup(colors, control(kDepth8, 0xf0, 32), {0, 0, 9, 9}, 0x66, 0x77, other_pattern) +
                     context(second, kSave | kRestoreInhibit) +
                     bench.setup(other, control(kDepth8, 0xcc, 64), {0, 0, 2, 2}, 0x22, 0x33, pattern) +
                     context(first, kSave) + BlitBench::scanlines({0, 0, 16, 16}));
  for (unsigned y = 0; y < 16; ++y) {
    for (unsigned x = 0; x < 16; ++x) {
      const bool inside = x >= 1 && x < 9 && y >= 1 && y < 9;
      const bool foreground = y % 8 == 0 || y % 8 == 6;  // lines 0 and 6 of the pattern; no alpha
      EXPECT_EQ(bench.peek(target + y * 128 + 4 * x), inside ? (foreground ? 0xf0'f0f0 : 0x01'0101) : 0)
          << x << ", " << y;
    }
  }
  EXPECT_EQ(bench.peek(other), 0u);
  // The second context: colour pattern, 8 bits, text colours.
  bench.run_commands(context(second, kSave) + BlitBench::text_immediate({0, 0, 8, 8}, {0x0000'40c0, 0}));
  EXPECT_EQ(bench.byte_at(other), 0x33);
  EXPECT_EQ(bench.byte_at(other + 1), 0x33);
  EXPECT_EQ(bench.byte_at(other + 2), 0x22);
  EXPECT_EQ(bench.byte_at(other + 64), 0x22);
  EXPECT_EQ(bench.byte_at(other + 65), 0x33);
  // The third context: both halves of its monochrome pattern.
  bench.run_commands(context(third, kSave) + BlitBench::scanlines({0, 0, 8, 8}));
  constexpr uint8_t kLines[] = {0x00, 0xff, 0x0f, 0x0f, 0xf0, 0x00, 0x00, 0xff};
  for (unsigned y = 0; y < 8; ++y) {
    for (unsigned x = 0; x < 8; ++x) {
      EXPECT_EQ(bench.byte_at(mono + y * 64 + x), (kLines[y] & 0x80 >> x) != 0 ? 0x55 : 0x44) << x << ", " << y;
    }
  }
  // The fourth context: the address of its colour pattern.
  bench.run_commands(context(fourth, kSave) + BlitBench::scanlines({0, 0, 8, 8}));
  for (unsigned y = 0; y < 8; ++y) {
    for (unsigned x = 0; x < 8; ++x) {
      EXPECT_EQ(bench.byte_at(colors + y * 32 + x), 0x80 + 8 * y + x) << x << ", " << y;
    }
  }
}

// BR16 is the only BR register with an MMIO offset; the others cannot be read.
TEST_P(BlitEngineGen4, SolidColourCanBeRead) {
  COVERS("G45-8.7-01");
  const uint64_t target = bench.allocate(1);
  bench.run_commands(bench.color(target, control(kDepth32, 0xf0, 64), {0, 0, 4, 4}, 0xdead'beef));
  EXPECT_EQ(bench.read(0x40040), 0xdead'beefu);
  bench.write(0x40040, 0x1234);
  EXPECT_EQ(bench.read(0x40040), 0xdead'beefu) << "the register is read only";
  bench.run_commands(bench.copy(target, control(kDepth32, 0xcc, 64), {0, 0, 1, 1}, target, 64, 2, 2));
  EXPECT_EQ(bench.read(0x40040), 0xdead'beefu) << "a copy does not load a pattern";
  for (uint32_t offset = 0x40000; offset < 0x40080; offset += 4) {
    if (offset != 0x40040) {
      EXPECT_EQ(bench.read(offset), 0u) << std::hex << offset;
    }
  }
}

// BR09 is written last and starts the BLT: a drawing command draws once, a setup does not draw. An XOR with the
// destination shows how often.
TEST_P(BlitEngineGen4, DestinationAddressHas29BitsAndStartsTheBlt) {
  COVERS("G45-8.10.6-01");
  const uint64_t low = bench.allocate(1), high = low | 0x1000'0000, page = bench.allocate(1);
  bench.map(high / kPage, BlitBench::host_address(page));
  bench.run_commands(bench.color(high | 0xe000'0000u, control(kDepth32, 0x5a, 64), {0, 0, 4, 4}, 0x1234'5678));
  EXPECT_EQ(bench.peek(page), 0x1234'5678u) << "bits 31:29 are dropped, bit 28 is not";
  EXPECT_EQ(bench.peek(low), 0u);
  bench.run_commands(bench.setup(high | 0xe000'0000u, control(kDepth32, 0x5a, 64), {0, 0, 64, 64}, 0xff, 0));
  EXPECT_EQ(bench.peek(page), 0x1234'5678u) << "a setup loads the address and draws nothing";
  bench.run_commands(BlitBench::pixel(0, 0));
  EXPECT_EQ(bench.peek(page), 0x1234'5678u ^ 0xff);
  EXPECT_EQ(bench.peek(page + 4), 0x1234'5678u);
  bench.run_commands(BlitBench::pixel(1, 0) + BlitBench::pixel(1, 0) + BlitBench::pixel(2, 0));
  EXPECT_EQ(bench.peek(page + 4), 0x1234'5678u) << "twice";
  EXPECT_EQ(bench.peek(page + 8), 0x1234'5678u ^ 0xff);
  EXPECT_EQ(bench.peek(low), 0u);
}

// BR14: height in bits 28:16, width in bytes in bits 12:0, each at the largest value of its thirteen bits.
TEST_P(BlitEngineGen4, SizeOfALinearBltIsHeightAndByteWidth) {
  COVERS("G45-8.10.10-01");
  constexpr uint32_t kLargest = 0x1fff;
  const auto bytes_of = [&](uint32_t height, uint32_t width, uint32_t pitch) {
    const uint64_t target = bench.allocate(17);
    bench.run_commands(BlitBench::with_header(0x40, kWriteAll,
                                              Dwords{control(kDepth8, 0xf0, static_cast<int>(pitch)),
                                                     height << 16 | width, static_cast<uint32_t>(target), 0x5a}));
    uint64_t inside = 0, all = 0;
    for (uint64_t i = 0; i < 17 * kPage; ++i) {
      const bool drawn = bench.byte_at(target + i) == 0x5a;
      all += drawn ? 1u : 0u;
      inside += drawn && i / pitch < height && i % pitch < width ? 1u : 0u;
    }
    return std::pair{inside, all};
  };
  EXPECT_EQ(bytes_of(3, kLargest, 0x2000), std::pair(uint64_t{3} * kLargest, uint64_t{3} * kLargest));
  EXPECT_EQ(bytes_of(kLargest, 5, 8), std::pair(uint64_t{5} * kLargest, uint64_t{5} * kLargest));
  EXPECT_EQ(bench.host.log.events().size(), 0u);
  // A size that asks for more data than arrive hangs the engine.
  const uint64_t target = bench.allocate(1);
  bench.run_commands(bench.setup(target, control(kDepth8, 0xcc, 64), {0, 0, 64, 64}, 1, 2) +
                     BlitBench::text_immediate({0, 0, 8, 9}, {~0u, ~0u}) +
                     bench.color(target, control(kDepth8, 0xf0, 64), {0, 0, 1, 1}, 0x77));
  EXPECT_FALSE(bench.idle());
  EXPECT_EQ(bench.byte_at(target), 0);
}

// Cacheable pages have both bits 2:1 of their entry set.
TEST_P(BlitEngineGen4, CacheableMemoryIsLinearAndOnOneSideOnly) {
  COVERS("G45-8.5-01");
  const auto cacheable = [&](uint64_t address) {
    bench.set_entry(address / kPage, bench.entry(address / kPage) | 6);
    return address;
  };
  const uint64_t plain = bench.allocate(2), other = bench.allocate(1);
  const uint64_t first = cacheable(bench.allocate(1)), second = cacheable(bench.allocate(1));
  const auto reported = [&](const Dwords& commands) {
    bench.host.log.clear();
    bench.run_commands(commands);
    EXPECT_TRUE(bench.idle());
    EXPECT_EQ(bench.host.log.events().size(), bench.events(EventKind::undefined_behaviour));
    return bench.host.log.events().size();
  };
  const uint32_t linear = control(kDepth32, 0xcc, 64), tiled = control(kDepth32, 0xcc, 512 / 4);
  const Box box{0, 0, 4, 4};
  EXPECT_EQ(reported(bench.copy(plain, linear, box, other, 64, 0, 0)), 0u);
  EXPECT_EQ(reported(bench.copy(first, linear, box, other, 64, 0, 0)), 0u);
  EXPECT_EQ(reported(bench.copy(plain, linear, box, second, 64, 0, 0)), 0u);
  EXPECT_EQ(reported(bench.copy(first, linear, box, second, 64, 0, 0)), 1u) << "both sides";
  EXPECT_EQ(reported(bench.copy(first, tiled, box, other, 64, 0, 0, kWriteAll | kTiled)), 1u);
  EXPECT_EQ(reported(bench.copy(plain, linear, box, second, 512 / 4, 0, 0, kWriteAll | kSourceTiled)), 1u);
  EXPECT_EQ(reported(bench.copy(plain, tiled, box, other, 512 / 4, 0, 0, kWriteAll | kTiled | kSourceTiled)), 0u);
  EXPECT_EQ(reported(bench.mono_copy(first, linear, box, other, 1, 2)), 0u);
  EXPECT_EQ(reported(bench.mono_copy(plain, linear, box, second, 1, 2)), 1u);
  EXPECT_EQ(reported(bench.pattern(first, control(kDepth32, 0xf0, 64), box, other)), 0u);
  EXPECT_EQ(reported(bench.pattern(plain, control(kDepth32, 0xf0, 64), box, second)), 1u);
}

// A cache line of source line Y that is also one of destination line Y-1: reported, and the engine goes on.
TEST_P(BlitEngineGen4, SourceInTheDestinationLineAboveIsReported) {
  COVERS("G45-8.7.1-01");
  const uint64_t surface = bench.allocate(2), other = bench.allocate(2);
  const auto reported = [&](uint64_t base, int pitch, uint64_t source, int source_pitch) {
    bench.host.log.clear();
    bench.run_commands(bench.copy(base, control(kDepth32, 0xcc, pitch), {0, 1, 8, 9}, source, source_pitch, 0, 0) +
                       bench.color(other + kPage, control(kDepth8, 0xf0, 64), {0, 0, 1, 1}, 0x77));
    EXPECT_TRUE(bench.idle());
    EXPECT_EQ(bench.byte_at(other + kPage), 0x77) << "later commands run";
    bench.put_byte(other + kPage, 0);
    return bench.events(EventKind::undefined_behaviour) == 1 && bench.host.log.events().size() == 1;
  };
  EXPECT_TRUE(reported(surface, 100, surface, 100)) << "pitches that are not whole cache lines";
  EXPECT_TRUE(reported(surface + 4, 128, surface, 128)) << "another base";
  EXPECT_FALSE(reported(surface, 128, surface, 192)) << "one base and whole cache lines";
  EXPECT_FALSE(reported(surface, 128, surface, 128)) << "the manual's first workaround";
  EXPECT_FALSE(reported(other, 100, surface, 100)) << "the second: an intermediate surface";
  EXPECT_FALSE(reported(surface, 100, other, 100));
}

// BR12 holds a byte address of 29 bits.
TEST_P(BlitEngineGen4, AddressesWrapAt512MB) {
  COVERS("G45-8.10.8-01");
  const uint64_t target = bench.allocate(1);
  const uint64_t source = bench.allocate(1);
  for (unsigned i = 0; i < 32; ++i) {
    bench.put_byte(source + i, static_cast<uint8_t>(0x80 + i));
  }
  bench.run_commands(
      bench.copy(target | 0xe000'0000u, control(kDepth8, 0xcc, 64), {3, 0, 11, 1}, source + 0x2000'0005u, 64, 0, 0));
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.byte_at(target + i), i >= 3 && i < 11 ? 0x85 + (i - 3) : 0) << i;
  }
}

// The longest line and the largest number of lines that a command can name, checked byte by byte.
TEST_P(BlitEngine, LargestWidthAndHeightAreDrawn) {
  COVERS("G45-8.2.1-04");
  constexpr uint64_t kLine = 32768, kLines = 65535;
  const auto linear = [&](uint32_t lines, uint32_t width, uint32_t pitch, uint64_t to, uint32_t value) {
    return BlitBench::with_header(
        0x40, kWriteAll,
        Dwords{control(kDepth8, 0xf0, static_cast<int>(pitch)), lines << 16 | width} + bench.at(to) + Dwords{value});
  };
  const auto count = [&](uint64_t from, uint64_t bytes, uint8_t value) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < bytes; ++i) {
      found += bench.byte_at(from + i) == value ? 1u : 0u;
    }
    return found;
  };
  const uint64_t wide = bench.allocate(10);
  bench.run_commands(linear(1, kLine, 0x7ffc, wide + 100, 0x5c));
  EXPECT_EQ(count(wide + 100, kLine, 0x5c), kLine);
  EXPECT_EQ(count(wide, 10 * kPage, 0x5c), kLine) << "no other byte is written";
  EXPECT_EQ(bench.host.log.events().size(), 0u);
  const uint64_t high = bench.allocate(66);
  bench.run_commands(linear(kLines, 4, 4, high + 4, 0xa3));
  EXPECT_EQ(count(high + 4, 4 * kLines, 0xa3), 4 * kLines);
  EXPECT_EQ(count(high, 66 * kPage, 0xa3), 4 * kLines) << "no other byte is written";
  EXPECT_EQ(bench.host.log.events().size(), 0u);
  bench.run_commands(linear(1, kLine + 1, 0x7ffc, wide, 0x5c));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
}

// With a solid pattern the pattern bits are ignored, and the operand is the background colour.
TEST_P(BlitEngineGen4, SetupControlAppliesToDrawing) {
  COVERS("G45-8.10.2-01");
  const uint64_t target = bench.allocate(1);
  const auto control_register = [&] { return bench.device->engines().engine(0).state().blit.setup.control; };
  bench.run_commands(bench.setup_mono(target, control(kDepth32, 0x5a, 64, kSolid | kClip), {1, 0, 3, 1}, 0x0a0b'0c0d,
                                      0x1111'1111, ~0u, ~0u, 1u << 20) +
                     BlitBench::scanlines({0, 0, 8, 8}));
  EXPECT_EQ(control_register(), kSolid | kClip | 1u << 26 | kDepth32 << 24 | 0x5au << 16 | 64);
  EXPECT_EQ(bench.peek(target), 0u) << "clipped";
  EXPECT_EQ(bench.peek(target + 4), 0x000b'0c0du) << "the background colour, without alpha";
  EXPECT_EQ(bench.peek(target + 8), 0x000b'0c0du);
  EXPECT_EQ(bench.peek(target + 12), 0u);
  bench.run_commands(BlitBench::scanlines({0, 0, 8, 8}));
  EXPECT_EQ(bench.peek(target + 4), 0u) << "xor";
  bench.run_commands(
      bench.setup_mono(target, control(kDepth8, 0xf0, 64, kMonoPatternTransparent), {}, 0x22, 0x33, 0x0000'0080, 0) +
      BlitBench::scanlines({0, 0, 8, 1}));
  EXPECT_EQ(control_register(), kMonoPatternTransparent | 3u << 26 | 0xf0u << 16 | 64);
  EXPECT_EQ(bench.byte_at(target), 0x33);
  EXPECT_EQ(bench.byte_at(target + 1), 0) << "transparent";
  bench.run_commands(bench.setup(target, control(kDepth8, 0xcc, 64, kMonoSourceTransparent), {}, 0x44, 0x55) +
                     BlitBench::text_immediate({0, 0, 8, 1}, {0x40, 0}));
  EXPECT_EQ(control_register(), kMonoSourceTransparent | 3u << 26 | 0xccu << 16 | 64);
  EXPECT_EQ(bench.byte_at(target), 0x33) << "transparent";
  EXPECT_EQ(bench.byte_at(target + 1), 0x55);
}

// Snooped system memory as source with uncached memory as destination, and vice versa; pattern and monochrome data in
// the stream.
TEST_P(BlitEngineGen4, OperandsMayBeInSnoopedAndUncachedMemory) {
  COVERS("G45-8.1-01");
  constexpr uint64_t kSnooped = 3u << 1;  // bits 2:1 of a Gen4 entry
  const uint64_t plain = bench.allocate(1);
  const uint64_t snooped = bench.allocate(1);
  bench.set_entry(snooped / kPage, bench.pte(EngineBench::host_address(snooped)) | kSnooped);
  bench.poke(snooped, 0x1234'5678);
  bench.run_commands(bench.copy(plain, control(kDepth32, 0xcc, 64), {3, 3, 4, 4}, snooped, 64, 0, 0));
  EXPECT_EQ(bench.peek(plain + 3 * 64 + 12), 0x1234'5678u);
  bench.run_commands(bench.copy(snooped, control(kDepth32, 0xcc, 64), {7, 7, 8, 8}, plain, 64, 3, 3));
  EXPECT_EQ(bench.peek(snooped + 7 * 64 + 28), 0x1234'5678u);
  Dwords pattern{control(kDepth8, 0xf0, 64), pack_yx(16, 0), pack_yx(17, 1), static_cast<uint32_t>(plain)};
  pattern.resize(pattern.size() + 16, 0x9999'9999);
  bench.run_commands(BlitBench::with_header(0x72, kWriteAll, pattern) +
                     bench.setup(plain, control(kDepth8, 0xcc, 64), {}, 0, 0x42) +
                     BlitBench::text_immediate({0, 18, 8, 19}, {0x80, 0}));
  EXPECT_EQ(bench.byte_at(plain + 16 * 64), 0x99);
  EXPECT_EQ(bench.byte_at(plain + 18 * 64), 0x42);
  EXPECT_EQ(bench.host.log.events().size(), 0u);
  bench.run_commands(bench.color(plain, control(kDepth8, 0xf0, 66), {0, 0, 1, 1}, 0));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "the pitch is not a multiple of a dword";
}

TEST_P(BlitEngineGen4, TilingOfDestinationComesFromTheDrawingCommand) {
  COVERS("G45-8.9-10");
  const uint64_t target = bench.allocate(4);
  bench.run_commands(bench.setup(target, control(kDepth8, 0xf0, 1024 / 4), {0, 0, 99, 99}, 0x4d, 0) +
                     BlitBench::pixel(600, 9, kTiled));
  EXPECT_EQ(bench.byte_at(target + device::x_tiled(600, 9, 1024)), 0x4d);
  EXPECT_GE(bench.events(EventKind::undefined_behaviour), 1u) << "the setup selected linear";
}

// From Gen6 on BCS_SWCTRL selects tile Y for "tiled", separately for source and destination.
TEST(BlitEngineTiling, ControlRegisterSelectsTileY) {
  for (const std::string& chip : every_chip()) {
    BlitBench bench(chip);
    if (bench.is_gen4()) {
      continue;
    }
    const uint64_t target = bench.allocate(8);
    const uint64_t source = bench.allocate(8);
    for (unsigned y = 0; y < 32; ++y) {
      for (unsigned x = 0; x < 100; ++x) {
        bench.poke(source + device::y_tiled(x * 4, y, 512), y << 16 | x);
      }
    }
    bench.set_reg(bench.engine, 0x200, 3u << 16 | 1);  // source
    bench.run_commands(bench.copy(target, control(kDepth32, 0xcc, 1024 / 4), {130, 5, 200, 25}, source, 512 / 4, 3, 4,
                                  kWriteAll | kTiled | kSourceTiled));
    EXPECT_EQ(bench.peek(target + device::x_tiled(130 * 4, 5, 1024)), 4u << 16 | 3) << chip;
    EXPECT_EQ(bench.peek(target + device::x_tiled(199 * 4, 24, 1024)), 23u << 16 | 72) << chip;
    bench.set_reg(bench.engine, 0x200, 3u << 16 | 2);  // destination
    bench.run_commands(
        bench.color(target, control(kDepth32, 0xf0, 1024 / 4), {7, 40, 8, 41}, 0x1234'5678, kWriteAll | kTiled));
    EXPECT_EQ(bench.peek(target + device::y_tiled(7 * 4, 40, 1024)), 0x1234'5678u) << chip;
  }
}

// XY_FAST_COPY_BLT: a copy from every tile mode to linear and back gives the same bytes.
TEST(BlitEngineTiling, FastCopyRoundTripInEveryTileMode) {
  for (const char* chip : {"skl", "icl", "tgl"}) {
    for (const uint32_t mode : {0u, 1u, 2u, 3u, 4u}) {  // linear, X, Y, Ys, Yf
      for (const uint32_t depth : {0u, 1u, 3u, 4u, 5u}) {
        BlitBench bench(chip);
        const uint64_t source = bench.allocate(16);
        bench.allocate((16 - bench.allocate(1) / kPage % 16) %
                       16);  // the next allocation starts one page above a 64 KB boundary
        uint64_t tiled = bench.allocate(48);
        tiled = (tiled + 0xffff) & ~uint64_t{0xffff};
        const uint64_t back = bench.allocate(16);
        const unsigned pixel_B = depth < 2 ? 1u << depth : depth == 3 ? 4 : depth == 4 ? 8 : 16;
        for (unsigned i = 0; i < 4 * kPage; i += 4) {
          bench.poke(source + i, i * 0x9e37'79b1u);
        }
        const uint32_t method = mode == 4 ? 2 : mode;
        const uint32_t type = mode == 4 ? 1 : 0;
        const int pitch = mode == 0 ? 1024 : 1024 / 4;
        const int width = static_cast<int>(512 / pixel_B);
        const auto copy = [&](uint64_t to, uint32_t to_method, uint32_t to_type, int to_pitch, uint64_t from,
                              uint32_t from_method, uint32_t from_type, int from_pitch) {
          return BlitBench::with_header(
              0x42, from_method << 20 | to_method << 13,
              Dwords{from_type << 31 | to_type << 30 | depth << 24 | static_cast<uint32_t>(to_pitch), pack_yx(0, 0),
                     pack_yx(20, width)} +
                  bench.at(to) + Dwords{pack_yx(0, 0), static_cast<uint32_t>(from_pitch)} + bench.at(from));
        };
        bench.run_commands(copy(tiled, method, type, pitch, source, 0, 0, 512) +
                           copy(back, 0, 0, 512, tiled, method, type, pitch));
        for (unsigned i = 0; i < 20 * 512; i += 4) {
          ASSERT_EQ(bench.peek(back + i), bench.peek(source + i)) << chip << " " << mode << " " << depth << " " << i;
        }
        if (mode == 1) {
          EXPECT_EQ(bench.peek(tiled + device::x_tiled(256, 13, 1024)), bench.peek(source + 13 * 512 + 256));
        } else if (mode == 2) {
          EXPECT_EQ(bench.peek(tiled + device::y_tiled(256, 13, 1024)), bench.peek(source + 13 * 512 + 256));
        }
      }
    }
  }
}

// The time of many long BLTs is proportional to their bytes, and all are complete when the device is settled.
TEST_P(BlitEngine, TimeIsProportionalToTheBytes) {
  constexpr unsigned kBlits = 400;
  const uint64_t target = bench.allocate(16);
  Dwords commands;
  for (unsigned i = 0; i < kBlits; ++i) {
    commands = commands + bench.color(target, control(kDepth32, 0xf0, 1024), {0, 0, 256, 16}, i);
  }
  bench.emit(bench.engine, commands);
  bench.submit(bench.engine);
  bench.device->advance(1000);
  EXPECT_NE(bench.peek(target), kBlits - 1) << "a quarter of a megabyte takes longer";
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(target), kBlits - 1);
  EXPECT_TRUE(bench.idle());
}

// Colours, operation, depth, destination and pattern keep the values of the previous setup.
TEST_P(BlitEngine, SetupClipLoadsOnlyTheRectangle) {
  COVERS("G45-8.9.3-01");
  const uint64_t target = bench.allocate(1);
  const uint64_t pattern = bench.allocate(1);
  bench.run_commands(bench.setup(target, control(kDepth8, 0xcc, 64, kClip), {1, 0, 3, 1}, 0x21, 0x43, pattern));
  const auto number = static_cast<unsigned>(&bench.engine_model(bench.engine) - bench.model.engines.data());
  const auto setup = [&] { return bench.device->engines().engine(number).state().blit.setup; };
  blit::SetupState expected = setup();
  EXPECT_EQ(expected.clip_first, pack_yx(0, 1));
  EXPECT_EQ(expected.clip_end, pack_yx(1, 3));
  bench.run_commands(BlitBench::setup_clip({2, 1, 6, 3}) + BlitBench::text_immediate({0, 0, 8, 8}, {0xaaaa'aaaa, 0}));
  expected.clip_first = pack_yx(1, 2);
  expected.clip_end = pack_yx(3, 6);
  EXPECT_EQ(setup(), expected);
  for (unsigned y = 0; y < 4; ++y) {
    for (unsigned x = 0; x < 8; ++x) {
      const bool inside = x >= 2 && x < 6 && y >= 1 && y < 3;
      EXPECT_EQ(bench.byte_at(target + y * 64 + x), !inside ? 0 : x % 2 == 0 ? 0x43 : 0x21) << x << ", " << y;
    }
  }
}

TEST_P(BlitEngine, SnapshotHoldsTheSetup) {
  const uint64_t target = bench.allocate(1);
  bench.run_commands(bench.setup(target, control(kDepth8, 0xf0, 64), {0, 0, 64, 64}, 0x5c, 0));
  const auto snapshot = bench.device->snapshot();
  bench.run_commands(bench.setup(target, control(kDepth8, 0x00, 64), {0, 0, 1, 1}, 0x11, 0));
  bench.device->restore(snapshot);
  bench.start_ring(bench.engine, 8);
  bench.run_commands(BlitBench::pixel(9, 9));
  EXPECT_EQ(bench.byte_at(target + 9 * 64 + 9), 0x5c);
}

const auto kName = [](const auto& chip) { return chip.param; };
INSTANTIATE_TEST_SUITE_P(Chips, BlitEngine, ::testing::ValuesIn(every_chip()), kName);
INSTANTIATE_TEST_SUITE_P(Chips, BlitEngineGen4, ::testing::ValuesIn(gen4_chips()), kName);

}  // namespace
}  // namespace halogen
