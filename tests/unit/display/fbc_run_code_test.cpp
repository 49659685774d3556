// Pixel runs and tags alone.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "covers.h"
#include "display/fbc/fbc_run_code.h"
#include "display/fbc/fbc_tags.h"
#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {
namespace {

using display::fbc::PixelKind;

struct Kind {
  PixelKind kind;
  uint32_t format;
};
constexpr Kind kKinds[] = {{PixelKind::bits32, 6}, {PixelKind::bits16, 5}, {PixelKind::bits15, 4}};

std::vector<std::byte> line_of(const std::vector<uint32_t>& pixels, PixelKind kind) {
  std::vector<std::byte> bytes(pixels.size() * display::fbc::bytes_of(kind));
  for (size_t i = 0; i < pixels.size(); ++i) {
    std::memcpy(bytes.data() + i * display::fbc::bytes_of(kind), &pixels[i], display::fbc::bytes_of(kind));
  }
  return bytes;
}

std::vector<uint32_t> encode(const std::vector<uint32_t>& pixels, PixelKind kind, size_t room = 4096) {
  std::vector<uint32_t> runs(room);
  const std::optional<size_t> count = display::fbc::encode(line_of(pixels, kind), kind, runs);
  EXPECT_TRUE(count.has_value());
  runs.resize(count.value_or(0));
  return runs;
}

TEST(FbcRuns, AreDwordsWithTheLengthAboveTheColour) {
  // Figures 6-1 and 6-2.
  EXPECT_EQ(encode({0xff12'3456, 0x0012'3456, 0x7712'3456, 0x55ab'cdef}, PixelKind::bits32),
            (std::vector<uint32_t>{0x0212'3456, 0x00ab'cdef}))
      << "alpha is dropped";
  EXPECT_EQ(encode({0xf800, 0xf800, 0x001f}, PixelKind::bits16), (std::vector<uint32_t>{0x0001'f800, 0x0000'001f}));
  EXPECT_EQ(encode({0xffff, 0x7fff}, PixelKind::bits15), (std::vector<uint32_t>{0x0001'7fff})) << "bit 15 is reserved";
}

TEST(FbcRuns, RunLengthIsLimited) {
  EXPECT_EQ(encode(std::vector<uint32_t>(256, 7), PixelKind::bits32), (std::vector<uint32_t>{0xff00'0007}));
  EXPECT_EQ(encode(std::vector<uint32_t>(257, 7), PixelKind::bits32), (std::vector<uint32_t>{0xff00'0007, 7}));
  EXPECT_EQ(encode(std::vector<uint32_t>(2048, 7), PixelKind::bits32), std::vector<uint32_t>(8, 0xff00'0007));
  EXPECT_EQ(encode(std::vector<uint32_t>(2048, 7), PixelKind::bits16), (std::vector<uint32_t>{0x07ff'0007}));
  EXPECT_EQ(encode(std::vector<uint32_t>(2049, 7), PixelKind::bits16), (std::vector<uint32_t>{0x07ff'0007, 7}));
}

TEST(FbcRuns, AgreeWithTheReferenceEncoder) {
  std::mt19937 random(1);
  for (const Kind& kind : kKinds) {
    for (int round = 0; round < 400; ++round) {
      const size_t width = 1 + random() % 2048;
      const uint32_t likely = 1 + static_cast<uint32_t>(random()) % 300;
      std::vector<uint32_t> pixels;
      uint32_t value = 0;
      for (size_t i = 0; i < width; ++i) {
        if (random() % likely == 0) {
          value = static_cast<uint32_t>(random());
        }
        // Ignored bits are random.
        const uint32_t noise = static_cast<uint32_t>(random()) & (kind.format == 6   ? 0xff00'0000
                                                                  : kind.format == 4 ? 0x8000
                                                                                     : 0);
        pixels.push_back((value ^ noise) & (kind.format == 6 ? ~0u : 0xffff));
      }
      const std::vector<uint32_t> expected = slow_runs(pixels, kind.format);
      ASSERT_EQ(encode(pixels, kind.kind), expected) << "width " << width << " format " << kind.format;
      // One dword less is not enough.
      std::vector<uint32_t> small(expected.size() - 1);
      EXPECT_FALSE(display::fbc::encode(line_of(pixels, kind.kind), kind.kind, small).has_value());
      // Decoding ignores the random data after the last run.
      std::vector<uint32_t> runs = expected;
      runs.insert(runs.end(), 7, 0xffff'ffff);
      std::vector<std::byte> line(width * display::fbc::bytes_of(kind.kind));
      EXPECT_TRUE(display::fbc::decode(runs, kind.kind, line));
      const uint32_t mask = kind.format == 6 ? 0xff'ffff : kind.format == 5 ? 0xffff : 0x7fff;
      for (size_t i = 0; i < width; ++i) {
        uint32_t got = 0;
        std::memcpy(&got, line.data() + i * display::fbc::bytes_of(kind.kind), display::fbc::bytes_of(kind.kind));
        ASSERT_EQ(got, pixels[i] & mask) << i;
      }
    }
  }
}

TEST(FbcRuns, RunsThatEndTooEarlyLeaveZeros) {
  std::vector<std::byte> line(16, std::byte{0xee});
  const uint32_t run = 0x0100'0005;
  EXPECT_FALSE(display::fbc::decode({&run, 1}, PixelKind::bits32, line));
  EXPECT_EQ(line[0], std::byte{5});
  EXPECT_EQ(line[4], std::byte{5});
  EXPECT_EQ(line[8], std::byte{0});
  EXPECT_FALSE(display::fbc::decode({}, PixelKind::bits16, line));
}

TEST(FbcTags, CoverPairsOfLinesFromAnEvenLineOfTheSurface) {
  for (const bool odd : {false, true}) {
    const unsigned lines = 480;
    const unsigned tags = display::fbc::tags_of(lines, odd);
    EXPECT_EQ(tags, odd ? 241u : 240u);
    unsigned next = 0;
    for (unsigned tag = 0; tag < tags; ++tag) {
      const display::fbc::TagLines covered = display::fbc::lines_of(tag, lines, odd);
      EXPECT_EQ(covered.first, next);
      EXPECT_EQ(covered.count, odd && (tag == 0 || tag == tags - 1) ? 1u : 2u);
      for (unsigned i = 0; i < covered.count; ++i) {
        EXPECT_EQ(display::fbc::tag_of(covered.first + i, odd), tag);
      }
      next += covered.count;
    }
    EXPECT_EQ(next, lines);
  }
}

TEST(FbcTags, TagsStartModifiedAndAreCounted) {
  display::fbc::TagArray tags;
  EXPECT_EQ(tags.modified(), 784u);
  tags.set(17, display::fbc::Tag::compressed);
  tags.set(18, display::fbc::Tag::uncompressible);
  tags.set(19, display::fbc::Tag::uncompressed);
  EXPECT_EQ(tags.words[1], 3u << 2 | 2u << 4 | 1u << 6);
  EXPECT_EQ(tags.modified(), 781u);
  tags.start_pass();
  EXPECT_EQ(tags.modified(), 0u);
  EXPECT_EQ(tags.get(17), display::fbc::Tag::compressed);
  EXPECT_EQ(tags.get(18), display::fbc::Tag::uncompressible);
  EXPECT_EQ(tags.get(783), display::fbc::Tag::uncompressed);
}

}  // namespace
}  // namespace halogen::display::fbc_test
