// Payloads and message headers. Expected words are written out from the manuals' tables.
#include "spec/payload.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "every_item.h"
#include "hw/message_headers.h"
#include "hw/pixel_payload.h"
#include "hw/thread_payloads.h"

namespace halogen::spec {
namespace {

template <class Payload>
std::array<uint32_t, Payload::kDwords> words_of(GenId gen, const Payload& payload) {
  std::array<uint32_t, Payload::kDwords> words;
  words.fill(0xffff'ffff);
  payload.write(gen, words.data());
  return words;
}

TEST(Payload, WriteAndReadAgreeWithPackAndUnpack) {
  std::mt19937 random(1);
  const auto check = [&](const ItemDesc& item, GenId gen, size_t dwords, Rewrite rewrite) {
    const test::Sized sized{&item, gen, dwords, nullptr};
    const test::Masks masks = test::masks_of(sized);
    for (int i = 0; i < 20; ++i) {
      const std::vector<uint32_t> in = test::make(sized, masks, random);
      std::vector<uint32_t> packed(dwords);
      std::vector<uint32_t> written(dwords, 0xffff'ffff);
      ASSERT_TRUE(item.repack(gen, in, packed)) << sized.label();
      rewrite(gen, in.data(), written.data());
      EXPECT_EQ(written, packed) << sized.label();
      EXPECT_EQ(written, in) << sized.label();
    }
  };
  for (size_t g = 0; g < kGenCount; ++g) {
    const auto gen = static_cast<GenId>(g);
    for (const PayloadDesc* p : payloads()) {
      if (p->layout(gen) != nullptr) check(*p, gen, p->dwords_of_gen[g], p->rewrite);
    }
    for (const MessageHeaderDesc* h : message_headers()) {
      if (h->layout(gen) != nullptr) check(*h, gen, h->dwords_of_gen[g], h->rewrite);
    }
    for (const PciRegisterDesc* r : pci_registers()) {
      if (r->layout(gen) != nullptr) check(*r, gen, 1, r->rewrite);
    }
  }
}

TEST(Payload, ThreadStateHoldsPointersAtTheirBitPositions) {
  const auto words = words_of(
      GenId::gen9,
      hw::THREAD_STATE{
          .scratch_size = 3, .sampler_table = 0x1'2360, .binding_table = 0x8040, .thread = 0x101, .scratch = 0x7c00});
  EXPECT_EQ(words, (std::array<uint32_t, 3>{0x0001'2363, 0x0000'8040, 0x0000'7d01}));
}

TEST(Payload, PixelHeaderOfGen6AndLaterHasFacingLayerAndViewport) {
  const auto words = words_of(
      GenId::gen9,
      hw::PIXEL_PRIMITIVE{.topology = hw::PrimitiveTopology::TRILIST, .back_facing = true, .layer = 5, .viewport = 3});
  EXPECT_EQ(words[0], 4u | 1u << 15 | 5u << 16 | 3u << 27);
}

TEST(Payload, PixelHeaderOfGen4HasTheMaskInTheFirstWord) {
  EXPECT_EQ(words_of(GenId::gen4, hw::PIXEL_PRIMITIVE{.mask = 0xf00f})[0], 0xf00fu);
}

TEST(Payload, SubspansOfGen4HaveAStartVertexAndLaterOnesSampleIndices) {
  hw::PIXEL_SUBSPANS old{.start_x = 1.0f, .start_y = -2.0f, .front_facing = true, .smooth = true, .mask = 0x00ff};
  old.squares[1] = {.x = 0x10, .y = 0x20};
  EXPECT_EQ(words_of(GenId::gen4_5, old),
            (std::array<uint32_t, 8>{0x3f80'0000, 0xc000'0000, 0, 0x0020'0010, 0, 0, 1u << 31 | 1u << 26, 0xff}));
  hw::PIXEL_SUBSPANS now{.back_facing = true, .layer = 1, .viewport = 2, .mask = 0xffff};
  now.samples = {{{.index = 1}, {.index = 2}, {.index = 3}, {.index = 15}}};
  now.squares[3] = {.x = 0xffff, .y = 4};
  EXPECT_EQ(words_of(GenId::gen12, now),
            (std::array<uint32_t, 8>{0xf321, 1u << 15 | 1u << 16 | 2u << 27, 0, 0, 0, 0x0004'ffff, 0, 0xffff}));
}

TEST(Payload, HullInstanceIsOneBitLowerFromGen11On) {
  const hw::HULL_PATCH patch{.handle = 7, .primitive_id = 9, .instance = 5};
  EXPECT_EQ(words_of(GenId::gen9, patch), (std::array<uint32_t, 3>{7, 9, 5u << 17}));
  EXPECT_EQ(words_of(GenId::gen11, patch), (std::array<uint32_t, 3>{7, 9, 5u << 16}));
}

TEST(Payload, ClipFlagsLieAboveTheTopology) {
  const hw::CLIP_OBJECT object{.handle = 1,
                               .topology = hw::PrimitiveTopology::POLYGON,
                               .first_edge = true,
                               .last_edge = false,
                               .user_planes = 0x81,
                               .planes = 0x21};
  EXPECT_EQ(words_of(GenId::gen4, object)[2], 14u | 1u << 8 | 0x81u << 14 | 0x21u << 26);
}

TEST(Payload, ValuesThatDoNotFitAreCutOffByWriteAndRefusedByPack) {
  const hw::MEDIA_POSITION position{.x = 0x3ff, .y = 1};
  EXPECT_EQ(words_of(GenId::gen9, position)[0], 0x1'01ffu);
  std::array<uint32_t, 1> words{};
  EXPECT_EQ(position.pack(GenId::gen9, words).fault, PackFault::too_wide);
}

TEST(Payload, SamplerHeaderHasSignedOffsets) {
  const std::array<uint32_t, 8> words{0, 0, 0x2'f7e8, 0x1240, 0, 0, 0, 0};
  const auto header = hw::SAMPLER_HEADER::read(GenId::gen11, words.data());
  EXPECT_EQ(header.r_offset, -8);
  EXPECT_EQ(header.v_offset, -2);
  EXPECT_EQ(header.u_offset, 7);
  EXPECT_EQ(header.channels_off, 0xf);
  EXPECT_EQ(header.gather_channel, 2);
  EXPECT_EQ(header.sampler_table, 0x1240u);
  EXPECT_FALSE(header.bindless);
}

TEST(Payload, MessageHeadersAreFoundByFunctionAndType) {
  const auto name = [](GenId gen, std::string_view function, std::string_view type) {
    const MessageHeaderDesc* const found = find_message_header(gen, function, type);
    return found == nullptr ? std::string_view() : found->name;
  };
  EXPECT_EQ(name(GenId::gen9, "rc", "render_target_write"), "RENDER_TARGET_HEADER");
  EXPECT_EQ(name(GenId::gen4, "dpwr", "render_target_write"), "RENDER_TARGET_HEADER");
  EXPECT_EQ(name(GenId::gen9, "rc", "media_block_read"), "MEDIA_BLOCK_HEADER");
  EXPECT_EQ(name(GenId::gen9, "dc0", "oword_block_read"), "DATA_PORT_HEADER");
  EXPECT_EQ(name(GenId::gen9, "smpl", "sample"), "SAMPLER_HEADER");
  EXPECT_EQ(name(GenId::gen6, "urb", "ff_sync"), "FF_SYNC_HEADER");
  EXPECT_EQ(name(GenId::gen9, "urb", "urb_simd8_write"), "");
  EXPECT_EQ(name(GenId::gen9, "gtwy", "barrier"), "");
}

}  // namespace
}  // namespace halogen::spec
