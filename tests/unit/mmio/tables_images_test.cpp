// DG1 logical context and power context images, dword by dword, against the ledger rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "covers.h"
#include "mmio/context_image.h"
#include "spec/device_model.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;
using spec::EngineClass;

// Consecutive register pairs: the index of the first register dword, its offset, and the number of dwords.
struct Pair {
  uint32_t at;
  uint32_t offset;
  uint32_t dwords = 2;  // as the manual counts: 2 per register
};

struct Image {
  std::vector<uint32_t> words;
  std::vector<bool> checked;

  explicit Image(std::vector<uint32_t> w) : words(std::move(w)), checked(words.size(), false) {}

  void expect(uint32_t at, uint32_t value) {
    ASSERT_LT(at, words.size());
    EXPECT_EQ(words[at], value) << std::hex << "dword " << at;
    checked[at] = true;
  }
  void expect_noops(uint32_t first, uint32_t last) {
    for (uint32_t at = first; at <= last; ++at) {
      expect(at, 0);
    }
  }
  // Checks register dwords with `base` added; values are zero in a new image.
  void expect_pairs(const std::vector<Pair>& pairs, uint32_t base = 0, uint32_t step = 4) {
    for (const Pair& pair : pairs) {
      for (uint32_t i = 0; i < pair.dwords / 2; ++i) {
        expect(pair.at + 2 * i, base + pair.offset + step * i);
        expect(pair.at + 2 * i + 1, 0);
      }
    }
  }
  // Checks that the image holds nothing else.
  void expect_complete() const {
    for (size_t at = 0; at < words.size(); ++at) {
      EXPECT_TRUE(checked[at]) << std::hex << "dword " << at << " = " << words[at];
    }
  }
};

const spec::EngineModel& engine(std::string_view name) {
  const auto engines = spec::model(DeviceId::dg1).engines;
  const auto found = std::ranges::find(engines, name, &spec::EngineModel::name);
  EXPECT_NE(found, engines.end());
  return *found;
}

Image context(std::string_view name) {
  const spec::EngineModel& e = engine(name);
  return Image(ContextImage::for_engine(DeviceId::dg1, e.engine_class).build(e.mmio_base));
}

void expect_ring_context(Image& image) {
  image.expect_noops(0x00, 0x00);
  image.expect(0x01, 0x11081019);
  image.expect_pairs({{0x02, 0x244},
                      {0x04, 0x34},
                      {0x06, 0x30},
                      {0x08, 0x38},
                      {0x0a, 0x3c},
                      {0x0c, 0x168},
                      {0x0e, 0x140},
                      {0x10, 0x110},
                      {0x12, 0x1c0},
                      {0x14, 0x1c4},
                      {0x16, 0x1c8},
                      {0x18, 0x180},
                      {0x1a, 0x2b4}});
  image.expect_noops(0x1c, 0x20);
  image.expect(0x21, 0x11081011);
  image.expect_pairs({{0x22, 0x3a8},
                      {0x24, 0x28c},
                      {0x26, 0x288},
                      {0x28, 0x284},
                      {0x2a, 0x280},
                      {0x2c, 0x27c},
                      {0x2e, 0x278},
                      {0x30, 0x274},
                      {0x32, 0x270}});
}

void expect_engine_context(Image& image, uint32_t base) {
  image.expect_noops(0x50, 0x50);
  image.expect(0x51, 0x11001063);
  image.expect_pairs({{0x52, 0x588, 12}}, base, 0);  // one port, six times
  image.expect_pairs({{0x5e, 0x28},
                      {0x60, 0x9c},
                      {0x62, 0xc0},
                      {0x64, 0x178},
                      {0x66, 0x17c},
                      {0x68, 0x358},
                      {0x6a, 0x170},
                      {0x6c, 0x150},
                      {0x6e, 0x154},
                      {0x70, 0x158},
                      {0x72, 0x41c},
                      {0x74, 0x600, 64},
                      {0xb4, 0x68}},
                     base);
}

TEST(Dg1Context, RingContextMatchesTheManual) {
  COVERS("DG1-CTX-06");
  for (const std::string_view name : {"bcs0", "vcs0", "vcs2", "vecs0"}) {
    Image image = context(name);
    expect_ring_context(image);
    image.expect_noops(0x34, 0x3f);
    // 13 and 9 registers; both headers have the CS-relative bit (19) and the posted bit (12).
    const auto slots = ContextImage::for_engine(DeviceId::dg1, engine(name).engine_class).slots();
    const auto within = [&](uint32_t first, uint32_t last) {
      return std::ranges::count_if(slots, [&](const ImageSlot& s) { return s.at >= first && s.at <= last; });
    };
    EXPECT_EQ(within(0x02, 0x1b), 13) << name;
    EXPECT_EQ(within(0x22, 0x33), 9) << name;
    EXPECT_EQ(within(0x02, 0x3f), 22) << name;
    for (const ImageSlot& slot : slots) {
      EXPECT_TRUE(slot.relative || slot.at > 0x33) << name << std::hex << slot.at;
    }
  }
}

TEST(Dg1Context, EndOfTheRingContextMatchesTheManual) {
  COVERS("DG1-CTX-07");
  for (const std::string_view name : {"vcs0", "vcs2", "vecs0"}) {
    Image image = context(name);
    image.expect_noops(0x40, 0x4f);
  }
  Image image = context("bcs0");
  image.expect_noops(0x40, 0x40);
  image.expect(0x41, 0x11001003);
  image.expect_pairs({{0x42, 0x22200}, {0x44, 0x22204}});
  image.expect_noops(0x46, 0x4f);
}

TEST(Dg1Context, EngineContextMatchesTheManual) {
  COVERS("DG1-CTX-08");
  const std::map<std::string_view, uint32_t> bases = {
      {"bcs0", 0x22000}, {"vcs0", 0x1c0000}, {"vcs2", 0x1d0000}, {"vecs0", 0x1c8000}};
  for (const auto& [name, base] : bases) {
    Image image = context(name);
    expect_engine_context(image, base);
  }
}

TEST(Dg1Context, WakeUpAndEndMatchTheManual) {
  COVERS("DG1-CTX-09");
  for (const std::string_view name : {"bcs0", "vcs0", "vecs0"}) {
    Image image = context(name);
    EXPECT_EQ(image.words.size(), 0xd0u);
    if (name == "bcs0") {
      image.expect_noops(0xb6, 0xb7);
    } else {
      image.expect(0xb6, 0x1du << 23);  // MI_FORCE_WAKEUP, two dwords
      image.expect(0xb7, 0);
    }
    image.expect_noops(0xca, 0xcf);
  }
}

TEST(Dg1Context, TranslationTableSectionMatchesTheManual) {
  COVERS("DG1-CTX-10");
  for (const auto& [name, aux, trtt] : {std::tuple{"vecs0", 0x4230u, 0x4460u}, std::tuple{"vcs0", 0x4210u, 0x4420u}}) {
    Image image = context(name);
    image.expect_noops(0xb8, 0xb8);
    image.expect(0xb9, 0x1102100f);
    image.expect_pairs({{0xba, aux, 4}, {0xbe, trtt, 12}});
  }
  Image image = context("bcs0");
  image.expect_noops(0xb8, 0xb8);
  image.expect(0xb9, 0x1102100b);
  image.expect_pairs({{0xba, 0x4480, 12}});
  image.expect_noops(0xc6, 0xc9);
}

TEST(Dg1Context, OffsetsAreRelativeToTheUnit) {
  COVERS("DG1-CTX-11");
  Image vecs = context("vecs0");
  vecs.expect(0x02, 0x244);  // the header's CS-relative bit adds 1C8000
  vecs.expect(0x5e, 0x1c8028);
  Image bcs = context("bcs0");
  bcs.expect(0x5e, 0x22028);  // the blitter's base is 22000 ...
  bcs.expect(0x42, 0x22200);  // ... and 20000 only for the two registers printed as 2200 and 2204
  bcs.expect(0x44, 0x22204);
}

TEST(Dg1Context, MediaAndCopyImagesAreComplete) {
  for (const std::string_view name : {"bcs0", "vcs0", "vecs0"}) {
    Image image = context(name);
    const uint32_t base = engine(name).mmio_base;
    expect_ring_context(image);
    image.expect_noops(0x34, 0x3f);
    expect_engine_context(image, base);
    const ContextImage desc = ContextImage::for_engine(DeviceId::dg1, engine(name).engine_class);
    EXPECT_EQ(desc.value_at(0x34), 5u) << "RING_HEAD";
    EXPECT_EQ(desc.value_at(0x588, 5), 0x5du);
    EXPECT_FALSE(desc.value_at(0x588, 6).has_value());
    EXPECT_FALSE(desc.value_at(0xc8).has_value());
  }
}

TEST(Dg1Context, RenderImageMatchesPublicDrivers) {
  COVERS("DG1-CTX-12");
  Image image = context("rcs0");
  expect_ring_context(image);
  image.expect(0x34, 0x11081005);
  image.expect_pairs({{0x35, 0x1b0}, {0x37, 0x5a8}, {0x39, 0x5ac}});
  image.expect_noops(0x3b, 0x40);
  image.expect(0x41, 0x11080001);
  image.expect_pairs({{0x42, 0xc8}});
  EXPECT_EQ(ContextImage::for_engine(DeviceId::dg1, EngineClass::render).value_at(0xc8), 0x43u);
  image.expect_noops(0x44, 0x50);
  image.expect(0x51, 0x11081065);
  image.expect_pairs({{0x52, 0x588, 12}}, 0, 0);
  image.expect_pairs({{0x5e, 0x28},
                      {0x60, 0x9c},
                      {0x62, 0xc0},
                      {0x64, 0x178},
                      {0x66, 0x17c},
                      {0x68, 0x358},
                      {0x6a, 0x170},
                      {0x6c, 0x150},
                      {0x6e, 0x154},
                      {0x70, 0x158},
                      {0x72, 0x41c},
                      {0x74, 0x600, 64},
                      {0xb4, 0x68},
                      {0xb6, 0x84}});
  image.expect_noops(0xb8, 0xbf);
  // The rest is not public; our image holds the tables of the engine and the operands of MI_PREDICATE.
  image.expect_noops(0xc0, 0xc0);
  image.expect(0xc1, 0x1100100f);
  image.expect_pairs({{0xc2, 0x4200, 4}, {0xc6, 0x4400, 12}});
  image.expect(0xd2, 0x1108100d);
  image.expect_pairs({{0xd3, 0x400, 14}});
  image.expect_noops(0xe1, 0xf0);
  // Registers that belong to a context by igt-gpu-tools' gem_ctx_isolation.c, by address.
  image.expect(0xf1, 0x1100103f);
  image.expect_pairs({{0xf2, 0x2300, 36},
                      {0x116, 0x2290, 4},
                      {0x11a, 0x2500, 6},
                      {0x120, 0x2420},
                      {0x122, 0x2430, 10},
                      {0x12c, 0x2690, 6}});
  image.expect_noops(0x132, 0x142);
  // Performance counters, where i915 expects them (i915_perf.c). An MI_NOOP says where the registers end.
  image.expect(0x143, 0x11081001);
  image.expect_pairs({{0x144, 0x360}});
  image.expect_noops(0x146, 0x146);
  image.expect(0x147, 0x11001087);
  image.expect_pairs({{0x148, 0x2348, 8}, {0x150, 0x22c8, 4},  {0x154, 0x22d8, 4},  {0x158, 0x22f0, 8},
                      {0x160, 0x2448, 8}, {0x168, 0x2458, 8},  {0x170, 0x2468, 8},  {0x178, 0x24a0, 8},
                      {0x180, 0x25d0, 4}, {0x184, 0x25b0, 4},  {0x188, 0x25d8, 4},  {0x18c, 0x25b8, 4},
                      {0x190, 0x2478, 4}, {0x194, 0x5200, 16}, {0x1a4, 0x5240, 16}, {0x1b4, 0x5280, 8},
                      {0x1bc, 0x7000, 6}, {0x1c2, 0x2364},     {0x1c4, 0x7010},     {0x1c6, 0x7018},
                      {0x1c8, 0x7038},    {0x1ca, 0x7040},     {0x1cc, 0xe518},     {0x1ce, 0xb134}});
  image.expect_noops(0x1d0, 0x3fe);
  image.expect(0x3ff, 0x5b2);
  image.expect_noops(0x400, 0x5ae);
  image.expect(0x5af, 0x11001001);
  image.expect_pairs({{0x5b0, 0x2960}});
  image.expect_complete();
}

// ---- power contexts

constexpr uint32_t kVecs = 0x1c8000;

Image power(std::string_view name) {
  return Image(ContextImage::named(name).build(kVecs));
}

TEST(Dg1PowerContext, ImageWithoutDisplayMatchesTheManual) {
  COVERS("DG1-PWR-02");
  Image image = power("dg1_power_no_display");
  image.expect_noops(0, 0);
  image.expect(1, 0x110000b5);
  image.expect_pairs(
      {{0x02, 0x29c},     {0x04, 0x80},      {0x06, 0x50},      {0x08, 0x54},      {0x0a, 0x58},  {0x0c, 0x94},
       {0x0e, 0x98},      {0x10, 0xa8},      {0x12, 0xb0},      {0x14, 0xb4},      {0x16, 0xc4},  {0x18, 0x214},
       {0x1a, 0x248},     {0x1c, 0xcc},      {0x1e, 0x4cc},     {0x20, 0x4c8},     {0x22, 0x4bc}, {0x24, 0x180},
       {0x26, 0x3bc},     {0x28, 0x3a0},     {0x2a, 0x370, 24}, {0x42, 0x3c0, 24}, {0x5a, 0x24c}, {0x5c, 0x23c},
       {0x5e, 0x4d0, 24}, {0x76, 0x010, 8},  {0x7e, 0x1d0, 8},  {0x86, 0x234, 4},  {0x8a, 0x1ac}, {0x8c, 0x424},
       {0x8e, 0x428, 4},  {0x92, 0x510, 32}, {0xb2, 0x218},     {0xb4, 0x56c}},
      kVecs);
  image.expect_noops(0xb6, 0xbf);  // begins with a pair that the header counts and the table does not list
  image.expect_complete();
}

TEST(Dg1PowerContext, ImageWithDisplayMatchesTheManual) {
  COVERS("DG1-PWR-03");
  Image image = power("dg1_power_display");
  image.expect_noops(0, 0);
  image.expect(1, 0x110000c7);
  image.expect_pairs(
      {{0x02, 0x29c},     {0x04, 0x80},     {0x06, 0x50},  {0x08, 0x54},  {0x0a, 0x58},      {0x0c, 0x94},
       {0x0e, 0x98},      {0x10, 0xa8},     {0x12, 0xb0},  {0x14, 0xb4},  {0x16, 0xc4},      {0x18, 0x214},
       {0x1a, 0x248},     {0x1c, 0x2d0},    {0x1e, 0x2d4}, {0x20, 0x2ec}, {0x22, 0xcc},      {0x24, 0x4cc},
       {0x26, 0x4c8},     {0x28, 0x4bc},    {0x2a, 0x180}, {0x2c, 0x3bc}, {0x2e, 0x3a0},     {0x30, 0x370, 24},
       {0x48, 0x3c0, 24}, {0x60, 0x24c},    {0x62, 0x23c}, {0x64, 0x2e8}, {0x66, 0x4d0, 24}, {0x7e, 0x010, 8},
       {0x86, 0x1d0, 8},  {0x8e, 0x234, 4}, {0x92, 0x1ac}, {0x94, 0x424}, {0x96, 0x428, 4},  {0x9a, 0x2b8},
       {0x9c, 0x2c0},     {0x9e, 0x2c4},    {0xa0, 0x1f8}, {0xa2, 0x188}, {0xa4, 0x18c},     {0xa6, 0x510, 32},
       {0xc6, 0x218},     {0xc8, 0x56c}},
      kVecs);
  image.expect_noops(0xca, 0xd3);
  image.expect_complete();
}

TEST(Dg1PowerContext, FullImageMatchesTheManual) {
  COVERS("DG1-PWR-04");
  Image image = power("dg1_power_full");
  image.expect_noops(0, 0);
  image.expect(1, 0x110000db);
  image.expect_pairs(
      {{0x02, 0x29c}, {0x04, 0x80},     {0x06, 0x3c},      {0x08, 0x34},      {0x0a, 0x30},      {0x0c, 0x38},
       {0x0e, 0x3c},  {0x10, 0x168},    {0x12, 0x140},     {0x14, 0x110},     {0x16, 0x11c},     {0x18, 0x114},
       {0x1a, 0x118}, {0x1c, 0x50},     {0x1e, 0x54},      {0x20, 0x58},      {0x22, 0x94},      {0x24, 0x98},
       {0x26, 0xa8},  {0x28, 0xb0},     {0x2a, 0xb4},      {0x2c, 0xc4},      {0x2e, 0x134},     {0x30, 0x16c},
       {0x32, 0x148}, {0x34, 0x14c},    {0x36, 0x214},     {0x38, 0x248},     {0x3a, 0x2d0},     {0x3c, 0x2d4},
       {0x3e, 0x2ec}, {0x40, 0xcc},     {0x42, 0x4cc},     {0x44, 0x4c8},     {0x46, 0x4bc},     {0x48, 0x180},
       {0x4a, 0x138}, {0x4c, 0x13c},    {0x4e, 0x3bc},     {0x50, 0x3a0},     {0x52, 0x370, 24}, {0x6a, 0x3c0, 24},
       {0x82, 0x24c}, {0x84, 0x23c},    {0x86, 0x2e8},     {0x88, 0x4d0, 24}, {0xa0, 0x234, 4},  {0xa4, 0x1ac},
       {0xa6, 0x424}, {0xa8, 0x428, 4}, {0xac, 0x2b8},     {0xae, 0x2c0},     {0xb0, 0x2c4},     {0xb2, 0x1f8},
       {0xb4, 0x188}, {0xb6, 0x18c},    {0xb8, 0x510, 32}, {0xd8, 0x218},     {0xda, 0x56c}},
      kVecs);
  image.expect_noops(0xdc, 0xdd);
  image.expect_complete();
}

TEST(Dg1PowerContext, HeadersCountTheirRegisters) {
  COVERS("DG1-PWR-05");
  const struct {
    std::string_view name;
    uint32_t length;
    size_t pairs;
    bool has_unlisted;
    uint32_t execlist_status;
  } images[] = {{"dg1_power_no_display", 0xb5, 91, true, 0x86},
                {"dg1_power_display", 0xc7, 100, false, 0x8e},
                {"dg1_power_full", 0xdb, 110, true, 0xa0}};
  for (const auto& expected : images) {
    const ContextImage image = ContextImage::named(expected.name);
    ASSERT_FALSE(image.empty());
    EXPECT_EQ(image.build(kVecs)[1], 0x11000000u | expected.length) << expected.name;
    EXPECT_EQ(image.slots().size(), expected.pairs) << expected.name;
    EXPECT_EQ(image.value_at(0).has_value(), expected.has_unlisted) << expected.name;
    EXPECT_EQ(image.value_at(0x234), expected.execlist_status + 1) << expected.name;
    EXPECT_EQ(image.value_at(0x238), expected.execlist_status + 3) << "the upper dword is there too";
  }
}

TEST(ContextImages, OlderChipsHaveTheDriversOffsets) {
  // Values at fixed dwords that drivers rely on: HEAD 5, TAIL 7, START 9, CTL 11, PDP0 upper 31 and lower 33 (hex).
  for (const DeviceId device : {DeviceId::bdw, DeviceId::chv, DeviceId::skl, DeviceId::icl, DeviceId::tgl}) {
    for (const EngineClass e : {EngineClass::render, EngineClass::blit, EngineClass::video, EngineClass::vebox}) {
      const ContextImage image = ContextImage::for_engine(device, e);
      ASSERT_FALSE(image.empty());
      EXPECT_EQ(image.value_at(0x34), 0x05u);
      EXPECT_EQ(image.value_at(0x30), 0x07u);
      EXPECT_EQ(image.value_at(0x38), 0x09u);
      EXPECT_EQ(image.value_at(0x3c), 0x0bu);
      EXPECT_EQ(image.value_at(0x274), 0x31u);
      EXPECT_EQ(image.value_at(0x270), 0x33u);
      if (e == EngineClass::render) {
        EXPECT_EQ(image.value_at(0xc8), 0x43u);
      }
    }
  }
  EXPECT_TRUE(ContextImage::for_engine(DeviceId::snb, EngineClass::render).empty());
  EXPECT_TRUE(ContextImage::named("no such image").empty());
  EXPECT_EQ(ContextImage::named("no such image").dwords(), 0u);
}

}  // namespace
}  // namespace halogen::mmio
