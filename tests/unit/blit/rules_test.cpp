// Restrictions on BLT commands and the engine's reaction: G45 PRM vol. 1b 8.2, 8.4, 8.7.1 (seed 003) and the
// restrictions of each command. Commands are written as the manual encodes them, and decoded as on the first Gen4 chip.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "blit/blit_commands.h"
#include "blit/blit_place.h"
#include "blit/blit_registers.h"
#include "blit/blit_rules.h"
#include "covers.h"
#include "hw/blt.h"
#include "spec/command_table.h"

namespace halogen::blit {
namespace {

using Dwords = std::vector<uint32_t>;

constexpr uint32_t kBase = 0x0010'0000;
constexpr uint32_t kOther = 0x0080'0000;
constexpr uint32_t kAll = 3u << 20;

uint32_t yx(int y, int x) {
  return static_cast<uint32_t>(y) << 16 | (static_cast<uint32_t>(x) & 0xffff);
}
uint32_t br13(uint32_t depth, uint32_t rop, int pitch, uint32_t flags = 0) {
  return flags | depth << 24 | rop << 16 | (static_cast<uint32_t>(pitch) & 0xffff);
}

class BlitRules : public ::testing::Test {
 protected:
  BlitRules() : table(spec::DeviceId::i965, spec::EngineClass::render) {}

  static Dwords command(uint32_t opcode, uint32_t flags, const Dwords& rest) {
    Dwords all{2u << 29 | opcode << 22 | flags | static_cast<uint32_t>(rest.size() - 1)};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  const spec::CommandDesc& desc(const Dwords& dwords) const {
    const auto [found, length] = table.frame(dwords[0]);
    EXPECT_NE(found, nullptr);
    EXPECT_EQ(length, dwords.size());
    return *found;
  }
  std::optional<BlitJob> decode_one(const Dwords& dwords, Modes modes = {}) {
    const BlitCommand in{kGen, desc(dwords), dwords};
    std::optional<BlitJob> job = decode(in, modes, state);
    recorder.record(in, job ? &*job : nullptr, state);
    return job;
  }
  BrokenRules broken(const Dwords& dwords) {
    const std::optional<BlitJob> job = decode_one(dwords);
    return check_rules({kGen, desc(dwords), dwords}, job.value(), state);
  }
  // Returns whether exactly this rule is broken.
  ::testing::AssertionResult breaks(const Dwords& dwords, Rule rule) {
    const BrokenRules found = broken(dwords);
    for (unsigned number = 0; number < kRules; ++number) {
      const auto each = static_cast<Rule>(number);
      if (found.has(each) != (each == rule)) {
        return ::testing::AssertionFailure() << (found.has(each) ? "broken: " : "not broken: ") << text_of(each);
      }
    }
    return ::testing::AssertionSuccess();
  }

  static Dwords copy(uint32_t rop, uint32_t base, int pitch, int dx, int dy, uint32_t source, int source_pitch, int sx,
                     int sy, uint32_t flags = kAll) {
    return command(0x53, flags,
                   {br13(3, rop, pitch), yx(dy, dx), yx(dy + 8, dx + 8), base, yx(sy, sx),
                    static_cast<uint32_t>(source_pitch) & 0xffff, source});
  }
  static Dwords fill(uint32_t rop, int pitch, uint32_t base = kBase, uint32_t flags = kAll) {
    return command(0x50, flags, {br13(3, rop, pitch), yx(0, 0), yx(4, 4), base, 0x1234'5678});
  }
  static Dwords setup(uint32_t rop, int pitch, uint32_t flags = kAll) {
    return command(0x01, flags, {br13(0, rop, pitch), yx(0, 0), yx(99, 99), kBase, 1, 2, kOther});
  }
  static Dwords text(const Dwords& data, int width = 8, int height = 8) {
    Dwords rest{yx(0, 0), yx(height, width)};
    rest.insert(rest.end(), data.begin(), data.end());
    return command(0x31, 0, rest);
  }

  static constexpr spec::GenId kGen = static_cast<spec::GenId>(0);  // the first
  spec::CommandTable table;
  Recorder recorder;
  BlitState state;
};

TEST_F(BlitRules, UsualCommandsBreakNoRule) {
  EXPECT_FALSE(broken(fill(0xf0, 1024)).any());
  EXPECT_FALSE(broken(copy(0xcc, kBase, 1024, 0, 0, kOther, 512, 3, 4)).any());
  EXPECT_FALSE(broken(copy(0xcc, kBase, 1024, 8, 0, kBase, 1024, 3, 4)).any()) << "overlap in one surface";
  decode_one(setup(0xcc, 1024));
  EXPECT_FALSE(broken(text({1, 2})).any());
}

TEST_F(BlitRules, OddImmediateDataHangs) {
  COVERS("G45-8.9.7-02");
  decode_one(setup(0xcc, 1024));
  EXPECT_TRUE(breaks(text({1, 2, 3}), Rule::even_immediate));
  EXPECT_TRUE(broken(text({1, 2, 3})).hangs());
  EXPECT_TRUE(broken(text({1})).hangs());
  EXPECT_TRUE(breaks(text({}), Rule::enough_immediate));
  EXPECT_TRUE(broken(text({1, 2}, 8, 9)).hangs()) << "72 bits needed, 64 given";
  EXPECT_TRUE(breaks(text({1, 2, 3, 4}), Rule::exact_immediate));
  EXPECT_FALSE(broken(text({1, 2, 3, 4})).hangs());
}

TEST_F(BlitRules, EveryImmediateCommandNeedsWholeQuadwords) {
  COVERS("G45-8.2.2.2-01");
  decode_one(setup(0xcc, 1024));
  EXPECT_TRUE(broken(text({1, 2, 3})).hangs());
  const Dwords mono{br13(0, 0xcc, 64), yx(0, 0), yx(4, 16), kBase, 0, 1};
  for (const size_t data : {1u, 2u, 3u}) {
    Dwords rest = mono;
    for (size_t i = 0; i < data; ++i) {
      rest.push_back(0);
    }
    EXPECT_EQ(broken(command(0x71, kAll, rest)).hangs(), data % 2 != 0) << data;  // four words
  }
  struct Row {
    uint32_t opcode;
    size_t before;
    uint32_t rop;
  };
  for (const Row& row : {Row{0x72, 4, 0xf0}, Row{0x77, 6, 0xf0}, Row{0x74, 7, 0xca}, Row{0x75, 7, 0xca}}) {
    for (const size_t data : {16u, 17u, 18u}) {
      Dwords rest(row.before + data);
      rest[0] = br13(0, row.rop, 64);
      rest[2] = yx(4, 4);
      rest[3] = kBase;
      EXPECT_EQ(broken(command(row.opcode, kAll, rest)).hangs(), data % 2 != 0) << row.opcode << " " << data;
    }
  }
}

TEST_F(BlitRules, ImmediateSourcesAreLimitedTo128Bytes) {
  COVERS("G45-8.2.2.3-03");
  decode_one(setup(0xcc, 1024));
  EXPECT_FALSE(broken(text(Dwords(32), 32, 32)).any()) << "128 bytes";
  EXPECT_TRUE(breaks(text(Dwords(34), 32, 34), Rule::short_immediate));
  EXPECT_FALSE(broken(text(Dwords(34), 32, 34)).hangs());
}

TEST_F(BlitRules, NegativePitchIsForbiddenForPixelsAndText) {
  COVERS("G45-8.4-02");
  decode_one(setup(0xcc, -1024));
  EXPECT_TRUE(breaks(text({1, 2}), Rule::forward_pitch));
  EXPECT_TRUE(breaks(command(0x26, 0, {yx(0, 0), yx(8, 8), kOther}), Rule::forward_pitch));
  decode_one(setup(0xf0, -1024));
  EXPECT_TRUE(breaks(command(0x24, 0, {yx(0, 0)}), Rule::forward_pitch));
  EXPECT_FALSE(broken(command(0x25, 0, {yx(0, 0), yx(8, 8)})).any()) << "allowed for scan lines";
}

TEST_F(BlitRules, PixelsAndScanLinesMustNotUseASource) {
  COVERS("G45-8.9.4-02");
  for (const uint32_t rop : {0xf0u, 0x00u, 0xffu, 0x5au}) {
    decode_one(setup(rop, 1024));
    EXPECT_FALSE(broken(command(0x24, 0, {yx(0, 0)})).any()) << rop;
    EXPECT_FALSE(broken(command(0x25, 0, {yx(0, 0), yx(8, 8)})).any()) << rop;
  }
  decode_one(setup(0xcc, 1024));
  EXPECT_TRUE(breaks(command(0x24, 0, {yx(0, 0)}), Rule::no_source));
  EXPECT_TRUE(breaks(command(0x25, 0, {yx(0, 0), yx(8, 8)}), Rule::no_source));
  decode_one(setup(0xf0, -8));
  EXPECT_TRUE(breaks(command(0x24, 0, {yx(0, 0)}), Rule::forward_pitch));
}

TEST_F(BlitRules, SourceCopiesMustUseTheirSourceAndNoPattern) {
  COVERS("G45-8.9.15-02");
  for (unsigned rop = 0; rop < 256; ++rop) {
    const bool pattern = (rop & 0xf) != rop >> 4;
    const bool source = (rop & 0x33) != (rop >> 2 & 0x33);
    const BrokenRules found = broken(copy(rop, kBase, 1024, 0, 0, kOther, 1024, 0, 0));
    EXPECT_EQ(found.has(Rule::no_pattern), pattern) << rop;
    EXPECT_EQ(found.has(Rule::uses_source), !source) << rop;
  }
}

TEST_F(BlitRules, PatternOnlyOperationNeedsAMonoSource) {
  COVERS("G45-8.2.1.3-04");
  const Dwords full{br13(3, 0xf0, 1024), yx(0, 0), yx(8, 8), kBase, 1024, yx(0, 0), kOther, 0x0090'0000};
  EXPECT_TRUE(breaks(command(0x55, kAll, full), Rule::pattern_alone));
  const Dwords mono{br13(3, 0xf0, 1024), yx(0, 0), yx(8, 8), kBase, kOther, 0, 1, 0x0090'0000};
  EXPECT_FALSE(broken(command(0x56, kAll, mono)).any()) << "allowed with a monochrome source";
  EXPECT_FALSE(broken(fill(0xf0, 1024)).any()) << "allowed without any source";
}

TEST_F(BlitRules, MonochromeSourceWidthIsLimited) {
  COVERS("G45-8.2.1-06");
  const auto mono = [](int width) {
    return command(0x54, kAll, {br13(0, 0xcc, 0x7ffc), yx(0, 0), yx(1, width), kBase, kOther, 0, 1});
  };
  EXPECT_FALSE(broken(mono(32745)).any());
  EXPECT_TRUE(breaks(mono(32746), Rule::mono_width));
  decode_one(setup(0xcc, 0x7ffc));
  EXPECT_FALSE(broken(command(0x26, 0, {yx(0, 0), yx(1, 32745), kOther})).any());
  EXPECT_TRUE(breaks(command(0x26, 0, {yx(0, 0), yx(1, 32746), kOther}), Rule::mono_width));
}

// A source has the size of its destination in every command, so no command can break this rule.
TEST_F(BlitRules, SourceHasTheSizeOfTheDestination) {
  COVERS("G45-8.2.1-05");
  const std::optional<BlitJob> job = decode_one(copy(0xcc, kBase, 1024, 10, 20, kOther, 512, 3, 4));
  const std::optional<Placement> where = place(job.value());
  EXPECT_EQ(where->width(), 8u);
  EXPECT_EQ(where->height(), 8u);
  EXPECT_EQ(where->source_x, 3);
  EXPECT_EQ(where->source_y, 4);
}

TEST_F(BlitRules, SourceKeyNeedsASource) {
  COVERS("G45-8.9.10-02");
  for (uint32_t mode = 0; mode < 8; ++mode) {
    const Dwords keyed =
        command(0x76, kAll | mode << 17, {br13(3, 0xf0, 1024), yx(0, 0), yx(8, 8), kBase, kOther, 0, ~0u});
    EXPECT_EQ(broken(keyed).has(Rule::key_without_source), mode == 1 || mode == 3) << mode;
  }
}

TEST_F(BlitRules, MonochromeSourceMustNotOverlapOrGoBackwards) {
  COVERS("G45-8.9.17-02");
  const auto mono = [](uint32_t source) {
    return command(0x54, kAll, {br13(3, 0xcc, 64), yx(0, 0), yx(8, 8), kBase, source, 0, 1});
  };
  EXPECT_TRUE(breaks(mono(kBase), Rule::mono_overlap));
  EXPECT_TRUE(breaks(mono(kBase - 14), Rule::mono_overlap)) << "the last word overlaps the first two bytes";
  EXPECT_FALSE(broken(mono(kBase - 16)).any());
  EXPECT_FALSE(broken(mono(kBase + 7 * 64 + 32)).any());
  const std::optional<BlitJob> job = decode_one(mono(kBase));
  EXPECT_FALSE(job->x_backward);
  EXPECT_FALSE(job->y_backward);
}

TEST_F(BlitRules, OverlapsAreCoherentOnlyInOneSurface) {
  COVERS("G45-8.7.1-02");
  EXPECT_FALSE(broken(copy(0xcc, kBase, 128, 2, 2, kBase, 128, 0, 0)).any());
  EXPECT_TRUE(breaks(copy(0xcc, kBase, 100, 2, 2, kBase, 100, 0, 0), Rule::coherent_overlap));
  EXPECT_TRUE(breaks(copy(0xcc, kBase + 4, 128, 2, 2, kBase, 128, 0, 0), Rule::coherent_overlap));
  EXPECT_TRUE(breaks(copy(0xcc, kBase, 128, 2, 2, kBase, 132, 0, 0), Rule::coherent_overlap));
  EXPECT_FALSE(broken(copy(0xcc, kBase, 100, 0, 0, kBase, 100, 0, 40)).any()) << "the rectangles do not overlap";
}

// SRC_COPY_BLT names no bases. Its rule is that a cache line of source line Y must not be in destination line Y-1.
TEST_F(BlitRules, LinearCopyLinesMustNotShareCacheLines) {
  const auto move = [](uint32_t to, int pitch, uint32_t from, int from_pitch, uint32_t lines = 4) {
    return command(0x43, kAll,
                   {br13(0, 0xcc, pitch), lines << 16 | 32, to, static_cast<uint32_t>(from_pitch) & 0xffff, from});
  };
  EXPECT_TRUE(breaks(move(kBase, 40, kBase, 40), Rule::coherent_overlap))
      << "bytes 40 to 63 are in a cache line of line 0";
  EXPECT_TRUE(breaks(move(kBase + 100, 100, kBase, 100), Rule::coherent_overlap));
  EXPECT_TRUE(breaks(move(kBase + 128, 100, kBase, 128), Rule::coherent_overlap));
  EXPECT_FALSE(broken(move(kBase, 64, kBase + 8, 64)).any()) << "whole cache lines";
  EXPECT_FALSE(broken(move(kBase, 128, kBase + 128, 128)).any()) << "one line up, whole cache lines";
  EXPECT_FALSE(broken(move(kBase, 100, kOther, 100)).any()) << "the rectangles do not overlap";
  EXPECT_FALSE(broken(move(kBase, 100, kBase + 8, 100, 1)).any()) << "there is no line before";
  EXPECT_TRUE(breaks(move((kBase + 100) | 0x2000'0000, 100, kBase, 100), Rule::coherent_overlap))
      << "the same lower 29 bits";
}

TEST_F(BlitRules, TiledSurfacesNeedAlignedBaseAndPitch) {
  COVERS("G45-8.9-08");
  const uint32_t tiled = kAll | 1u << 11;
  EXPECT_FALSE(broken(fill(0xf0, 1024 / 4, kBase, tiled)).any());
  EXPECT_TRUE(breaks(fill(0xf0, 1024 / 4, kBase + 64, tiled), Rule::tiled_base));
  EXPECT_TRUE(breaks(fill(0xf0, 260, kBase, tiled), Rule::tiled_pitch));
  EXPECT_TRUE(breaks(fill(0xf0, 1022), Rule::dword_pitch));
  const std::optional<BlitJob> job = decode_one(fill(0xf0, -256, kBase, tiled));
  EXPECT_EQ(decode_one(fill(0xf0, 1024 / 4, kBase + 64, tiled))->destination.base, kBase) << "the low bits are ignored";
  EXPECT_EQ(job->destination.pitch_B, -1024);
  EXPECT_EQ(job->destination.tile, &surface::kTileX);
}

TEST_F(BlitRules, PatternAlignmentAndFixedPatternNumbersAreChecked) {
  const auto pattern = [](uint32_t depth, uint32_t address) {
    return command(0x51, kAll, {br13(depth, 0xf0, 1024), yx(0, 0), yx(8, 8), kBase, address});
  };
  EXPECT_FALSE(broken(pattern(0, kOther + 64)).any());
  EXPECT_TRUE(breaks(pattern(1, kOther + 64), Rule::aligned_pattern));
  EXPECT_FALSE(broken(pattern(2, kOther + 128)).any());
  EXPECT_TRUE(breaks(pattern(3, kOther + 128), Rule::aligned_pattern));
  for (uint32_t number = 0; number < 16; ++number) {
    const bool reserved = number == 6 || number == 7 || number >= 12;
    EXPECT_EQ(broken(command(0x59, kAll | number << 15, {br13(0, 0xf0, 64), yx(0, 0), yx(8, 8), kBase, 0, 1}))
                  .has(Rule::fixed_pattern),
              reserved)
        << number;
  }
}

// The drawn result is checked in BlitEngine.LargestWidthAndHeightAreDrawn.
TEST_F(BlitRules, DestinationLineIsLimitedTo32KB) {
  const auto linear = [](uint32_t height, uint32_t width) {
    return command(0x40, kAll, {br13(0, 0xf0, 0x7ffc), height << 16 | width, kBase, 1});
  };
  EXPECT_FALSE(broken(linear(65535, 32768)).any());
  EXPECT_TRUE(breaks(linear(1, 32769), Rule::line_bytes));
  // 65,536 lines: an XY command can name at most -32768 to 32767, one line less.
  EXPECT_FALSE(broken(command(0x50, kAll, {br13(3, 0xf0, 0x7ffc), yx(-32768, 0), yx(32767, 8192), kBase, 1})).any());
  EXPECT_TRUE(breaks(command(0x50, kAll, {br13(3, 0xf0, 0x7ffc), yx(0, 0), yx(1, 8193), kBase, 1}), Rule::line_bytes));
}

TEST_F(BlitRules, SetupAndDrawingCommandMustAgreeOnTiling) {
  decode_one(setup(0xf0, 1024, kAll | 1u << 11));
  EXPECT_TRUE(breaks(command(0x25, 0, {yx(0, 0), yx(8, 8)}), Rule::setup_tiling));
  EXPECT_FALSE(broken(command(0x25, 1u << 11, {yx(0, 0), yx(8, 8)})).any());
}

// Opcode 11h is the only setup with the solid pattern bit.
TEST_F(BlitRules, SolidScanLinesNeedTheMonochromeSetup) {
  COVERS("G45-8.9.5-02");
  decode_one(command(0x11, kAll, {br13(0, 0xf0, 1024, 1u << 31), yx(0, 0), yx(99, 99), kBase, 7, 8, 0, 0}));
  EXPECT_TRUE(decode_one(command(0x25, 0, {yx(0, 0), yx(8, 8)}))->pattern.solid_select);
  decode_one(command(0x01, kAll, {br13(0, 0xf0, 1024, 1u << 31), yx(0, 0), yx(99, 99), kBase, 7, 8, kOther}));
  EXPECT_FALSE(decode_one(command(0x25, 0, {yx(0, 0), yx(8, 8)}))->pattern.solid_select);
}

// A drawing command changes no state that a later command uses, except the clip rectangle and the setup.
TEST_F(BlitRules, DrawingCommandsDoNotChangeTheSetup) {
  COVERS("G45-8.4-01");
  decode_one(setup(0xcc, 1024));
  const SetupState before = state.setup;
  decode_one(fill(0xf0, 256));
  decode_one(copy(0xcc, kOther, 512, 0, 0, kBase, 512, 0, 0));
  decode_one(command(0x52, kAll, {br13(3, 0xf0, 256), yx(0, 0), yx(8, 8), kOther, 5, 6, 0x1111'1111, 0x2222'2222}));
  decode_one(text({1, 2}));
  EXPECT_EQ(state.setup, before);
  const std::optional<BlitJob> one = decode_one(text({1, 2}));
  EXPECT_EQ(one->destination.base, kBase);
  EXPECT_EQ(one->mono.colors, (Colors{1, 2}));
  EXPECT_EQ(one->clip, (Rect{0, 0, 99, 99}));
  decode_one(command(0x03, 0, {yx(5, 6), yx(7, 8)}));
  EXPECT_EQ(state.setup.control, before.control);
  EXPECT_EQ(decode_one(text({1, 2}))->clip, (Rect{6, 5, 8, 7}));
  const std::optional<BlitJob> clipped =
      decode_one(command(0x50, kAll, {br13(3, 0xf0, 256, 1u << 30), yx(0, 0), yx(8, 8), kOther, 5}));
  EXPECT_EQ(clipped->clip, (Rect{6, 5, 8, 7}));
  EXPECT_TRUE(clipped->clipped);
}

TEST_F(BlitRules, ControlRegisterHoldsTheLastCommand) {
  COVERS("G45-8.10.1-01");
  const auto br00 = [&] {
    const auto value = static_cast<uint32_t>(state.br[0]);
    EXPECT_EQ(value >> 31, 0u) << "not busy between commands";
    return value;
  };
  decode_one(setup(0xcc, 1024));
  EXPECT_EQ(br00(), 0x01u << 22 | kAll);
  decode_one(setup(0xcc, 1024, 1u << 20 | 1u << 11));
  EXPECT_EQ(br00(), 0x01u << 22 | 1u << 20 | 1u << 11);
  decode_one(command(0x03, 0, {yx(5, 6), yx(7, 8)}));
  EXPECT_EQ(br00(), 0x03u << 22);
  decode_one(command(0x11, 2u << 20, {br13(0, 0xf0, 1024), yx(0, 0), yx(99, 99), kBase, 7, 8, 0, 0}));
  EXPECT_EQ(br00(), 1u << 29 | 0x11u << 22 | 2u << 20) << "setup with a monochrome pattern";
  // All fields of a keyed pattern: mask, seeds, mode 5, tiling, clipping.
  decode_one(command(0x76, 1u << 20 | 5u << 17 | 6u << 12 | 1u << 11 | 3u << 8,
                     {br13(3, 0x5a, 256, 1u << 30), yx(0, 0), yx(8, 8), kBase, kOther, 0, ~0u}));
  EXPECT_EQ(br00(),
            1u << 30 | 1u << 29 | 0x76u << 22 | 1u << 20 | 6u << 12 | 1u << 11 | 5u << 8 | 3u << 5 | 1u << 4 | 1u << 1);
  // A monochrome source that starts at bit 5, and a monochrome pattern.
  decode_one(command(0x58, kAll | 5u << 17, {br13(3, 0xc0, 256), yx(0, 0), yx(8, 8), kBase, kOther, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(br00(), 1u << 29 | 0x58u << 22 | kAll | 5u << 17 | 1u << 2 | 1u);
  decode_one(copy(0xcc, kBase, 256, 0, 0, kOther, 256, 0, 0, kAll | 1u << 15));
  EXPECT_EQ(br00(), 1u << 29 | 0x53u << 22 | kAll | 1u << 15 | 1u << 3);
  decode_one(setup(0xcc, 1024));
  decode_one(command(0x26, 1u << 16 | 1u << 11, {yx(0, 0), yx(8, 8), kOther}));
  EXPECT_EQ(br00(), 0x26u << 22 | kAll | 1u << 16 | 1u << 11 | 1u << 2) << "byte packed, with the mask of the setup";
}

TEST_F(BlitRules, RegistersHoldTheLastCommand) {
  COVERS("G45-8.10.9-01");
  COVERS("G45-8.10.16-01");
  decode_one(command(0x57, 1u << 20,
                     {br13(2, 0x96, 512, 1u << 31 | 1u << 30 | 1u << 28), yx(-3, -4), yx(30, 40), kBase, 0x1fc,
                      yx(5, 6), kOther, 0xb0b, 0xf0f, 0x0403'0201, 0x0807'0605}));
  EXPECT_EQ(state.br[13], (1u << 31 | 1u << 30 | 1u << 28 | 1u << 26 | 2u << 24 | 0x96u << 16 | 512u));
  EXPECT_EQ(state.br[22], yx(-3, -4));
  EXPECT_EQ(state.br[23], yx(30, 40));
  EXPECT_EQ(state.br[9], kBase);
  EXPECT_EQ(state.br[11], 0x1fcu);
  EXPECT_EQ(state.br[26], yx(5, 6));
  EXPECT_EQ(state.br[12], kOther);
  EXPECT_EQ(state.br[16], 0xb0bu);
  EXPECT_EQ(state.br[17], 0xf0fu);
  EXPECT_EQ(state.br[20], 0x0403'0201u);
  EXPECT_EQ(state.br[21], 0x0807'0605u);
  decode_one(command(0x03, 0, {yx(5, 6), yx(7, 8)}));
  EXPECT_EQ(state.setup.clip_first, yx(5, 6));
  EXPECT_EQ(state.setup.clip_end, yx(7, 8));
}

TEST_F(BlitRules, LinearSizeHasThirteenBits) {
  decode_one(command(0x40, kAll, {br13(0, 0xf0, 128), 0x0123u << 16 | 0x0fedu, kBase, 1}));
  EXPECT_EQ(state.br[14], 0x0123'0fedu);
  decode_one(command(0x40, kAll, {br13(0, 0xf0, 128), 0xe123u << 16 | 0xffedu, kBase, 1}));
  EXPECT_EQ(state.br[14], 0x0123'1fedu) << "thirteen bits of each";
  decode_one(setup(0xcc, 1024));
  EXPECT_TRUE(broken(text({1, 2}, 8, 9)).hangs()) << "the engine expects data that it does not receive";
  EXPECT_TRUE(broken(text({1, 2, 3, 4})).any()) << "the engine receives more data than it expects";
}

// BR01: dword 1 of the setup, with the byte mask in bits 27:26.
TEST_F(BlitRules, SetupControlRegisterHoldsDwordOne) {
  decode_one(command(0x11, 2u << 20,
                     {br13(3, 0x5a, -4, 1u << 31 | 1u << 30 | 1u << 28), yx(0, 0), yx(9, 9), kBase, 7, 8, 9, 10}));
  EXPECT_EQ(state.setup.control, 1u << 31 | 1u << 30 | 1u << 28 | 2u << 26 | 3u << 24 | 0x5au << 16 | 0xfffcu);
  EXPECT_EQ(state.setup.pattern_low, 9u);
  EXPECT_EQ(state.setup.pattern_high, 10u);
  decode_one(command(0x01, 1u << 20, {br13(1, 0xcc, 64, 1u << 29), yx(0, 0), yx(9, 9), kBase, 7, 8, ~0u}));
  EXPECT_EQ(state.setup.control, 1u << 29 | 1u << 26 | 1u << 24 | 0xccu << 16 | 64u);
  EXPECT_EQ(state.setup.pattern, 0x1fff'ffc0u) << "bits 28:6";
}

TEST_F(BlitRules, AddressesHave29Bits) {
  COVERS("G45-8.10.11-01");
  EXPECT_EQ(decode_one(fill(0xf0, 64, 0xe010'0004))->address_mask, 0x1fff'ffffu);
  EXPECT_EQ(state.br[9], 0x0010'0004u);
  const Dwords full{br13(3, 0xca, 1024), yx(0, 0), yx(8, 8), kBase, 1024, yx(0, 0), 0xe080'0005, ~0u};
  EXPECT_EQ(decode_one(command(0x55, kAll, full))->pattern.address, 0x1fff'ffc0u);
  EXPECT_EQ(state.br[12], 0x0080'0005u);
  EXPECT_EQ(state.br[15], 0x1fff'ffc0u);
  const Dwords keyed{br13(3, 0xf0, 1024), yx(0, 0), yx(8, 8), kBase, ~0u, 0, 0};
  EXPECT_EQ(decode_one(command(0x76, kAll, keyed))->pattern.address, 0x07ff'ffc0u)
      << "the manual's table gives bits 26:6";
}

}  // namespace
}  // namespace halogen::blit
