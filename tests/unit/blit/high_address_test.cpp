// Blits above 2^47, where graphics addresses have copies of bit 47 above it. Page tables take this form only. Commands
// hold the address in it, or with zeros above bit 47.
#include "blit_bench.h"
#include "device/surface_picture.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kCopy = "bcs0";
constexpr uint64_t kTarget = 0xffff'8000'1234'5000, kSource = 0xffff'ffff'ffff'e000;
constexpr uint64_t kPlain = 0x0000'ffff'ffff'ffff;
constexpr int kPitch = 256;

class HighBlit : public ::testing::TestWithParam<const char*> {
 protected:
  HighBlit() : bench(GetParam()), context(bench.create(kCopy, 1)) {
    target = bench.allocate(2);
    source = bench.allocate(2);
    for (uint64_t page = 0; page < 2; ++page) {
      bench.map_process(context, (kTarget & kPlain) + page * ContextBench::kPage, target + page * ContextBench::kPage);
      bench.map_process(context, (kSource & kPlain) + page * ContextBench::kPage, source + page * ContextBench::kPage);
    }
    bench.host.log.clear();
  }
  static Dwords at(uint64_t address) { return {static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)}; }
  void run(const Dwords& commands) {
    bench.emit(context, commands);
    bench.run(context);
  }
  // Fills 16 x 24 pixels with the colour, then copies 8 x 4 pixels of the source to column 2, line 1.
  void draw(uint64_t to, uint64_t from) {
    run(BlitBench::with_header(
        0x50, kWriteAll,
        Dwords{control(kDepth32, 0xf0, kPitch), pack_yx(0, 0), pack_yx(24, 16)} + at(to) + Dwords{0x00c0'ffee}));
    run(BlitBench::with_header(0x53, kWriteAll,
                               Dwords{control(kDepth32, 0xcc, kPitch), pack_yx(1, 2), pack_yx(5, 10)} + at(to) +
                                   Dwords{pack_yx(0, 0), kPitch} + at(from)));
  }
  uint32_t pixel(int x, int y) { return bench.peek(target + static_cast<uint64_t>(y * kPitch + x * 4)); }

  ContextBench bench;
  ContextBench::Context context;
  uint64_t target = 0, source = 0;
};

// Line 24 of the source, which is copied to line 5 and after, lies on the second page.
TEST_P(HighBlit, FillsAndCopiesReachAddressesInBothForms) {
  for (int i = 0; i < 2048; ++i) {
    bench.poke(source + static_cast<uint64_t>(4 * i), 0x5000'0000u + static_cast<uint32_t>(i));
  }
  for (const bool plain : {false, true}) {
    SCOPED_TRACE(plain);
    for (uint64_t i = 0; i < 2 * ContextBench::kPage; i += 4) {
      bench.poke(target + i, 0);
    }
    draw(plain ? kTarget & kPlain : kTarget, plain ? kSource & kPlain : kSource);
    for (int y = 0; y < 26; ++y) {
      for (int x = 0; x < 20; ++x) {
        const bool copied = x >= 2 && x < 10 && y >= 1 && y < 5;
        const uint32_t expected = copied             ? 0x5000'0000u + static_cast<uint32_t>((y - 1) * 64 + x - 2)
                                  : x < 16 && y < 24 ? 0x00c0'ffeeu
                                                     : 0u;
        ASSERT_EQ(pixel(x, y), expected) << x << ", " << y;
      }
    }
  }
  EXPECT_TRUE(bench.host.log.events().empty());
}

TEST_P(HighBlit, PictureShowsTheSurfaceAtAddressesInBothForms) {
  draw(kTarget, kSource);
  const unsigned engine = [&] {
    unsigned number = 0;
    while (bench.model.engines[number].name != kCopy) {
      ++number;
    }
    return number;
  }();
  memory::AddressSpace& space = bench.device->space(engine, memory::Stream::batch, memory::TableKind::per_process);
  for (const uint64_t address : {kTarget, kTarget & kPlain}) {
    const auto made =
        device::picture_of(space, {address, 16, 24, kPitch, picture::PixelFormat::xrgb8888, Tiling::linear});
    ASSERT_TRUE(made.ok()) << made.message();
    EXPECT_EQ(made->missing_pages, 0u);
    EXPECT_EQ(made->image.at(15, 23), (picture::Rgba{0xc0, 0xff, 0xee, 255}));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, HighBlit, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace halogen
