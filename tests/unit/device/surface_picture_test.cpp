// Surfaces as pictures, by address, format, tiling and pitch.
#include <gtest/gtest.h>

#include "device/surface_picture.h"
#include "unit/device/memory_bench.h"

namespace halogen::device {
namespace {

constexpr uint64_t kAt = 0x20'0000;
constexpr uint64_t kBacking = 0x1000'0000;

struct PictureBench : MemoryBench {
  PictureBench() : MemoryBench("skl") {
    for (uint64_t page = 0; page < 64; ++page) {
      map(kAt / 4096 + page, kBacking + page * 4096);
    }
  }
  void put(uint64_t offset, uint32_t value) { host.put<uint32_t>(kBacking + offset, value); }
  Result<SurfacePicture> take(const SurfaceView& view) {
    return picture_of(device->space(0, memory::Stream::batch, memory::TableKind::global), view);
  }
};

uint32_t color(uint32_t x, uint32_t y) {
  return x * 0x010203 + y * 0x040010;
}
picture::Rgba rgb(uint32_t value) {
  return {static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value), 255};
}

TEST(SurfacePictures, LinearAndTiledSurfacesGiveTheSamePicture) {
  for (const Tiling tiling : {Tiling::linear, Tiling::x, Tiling::y}) {
    PictureBench bench;
    constexpr uint32_t kPitch = 1024;
    for (uint32_t y = 0; y < 50; ++y) {
      for (uint32_t x = 0; x < 200; ++x) {
        const uint64_t at = tiling == Tiling::linear ? y * kPitch + x * 4
                            : tiling == Tiling::x    ? x_tiled(x * 4, y, kPitch)
                                                     : y_tiled(x * 4, y, kPitch);
        bench.put(at, color(x, y));
      }
    }
    const auto made = bench.take({kAt, 200, 50, kPitch, picture::PixelFormat::xrgb8888, tiling});
    ASSERT_TRUE(made.ok()) << made.message();
    EXPECT_EQ(made->missing_pages, 0u);
    for (uint32_t y = 0; y < 50; ++y) {
      for (uint32_t x = 0; x < 200; ++x) {
        ASSERT_EQ(made->image.at(x, y), rgb(color(x, y))) << name_of(tiling) << " " << x << " " << y;
      }
    }
  }
}

TEST(SurfacePictures, UnmappedPagesAreBlackAndCounted) {
  PictureBench bench;
  bench.put(63 * 4096, 0x123456);
  const auto made = bench.take({kAt + 63 * 4096, 1024, 3, 4096, picture::PixelFormat::xrgb8888, Tiling::linear});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->missing_pages, 2u);
  EXPECT_EQ(made->image.at(0, 0), rgb(0x123456));
  EXPECT_EQ(made->image.at(0, 1), rgb(0));
}

TEST(SurfacePictures, InvalidSizesAreRefused) {
  PictureBench bench;
  using picture::PixelFormat;
  const SurfaceView views[] = {
      {kAt, 0, 1, 64, PixelFormat::xrgb8888, Tiling::linear},  {kAt, 1, 0, 64, PixelFormat::xrgb8888, Tiling::linear},
      {kAt, 20000, 1, 80000, PixelFormat::r8, Tiling::linear}, {kAt, 17, 1, 64, PixelFormat::xrgb8888, Tiling::linear},
      {kAt, 16, 1, 0, PixelFormat::xrgb8888, Tiling::linear},  {kAt, 16, 1, 500, PixelFormat::xrgb8888, Tiling::x},
      {kAt, 129, 1, 512, PixelFormat::xrgb8888, Tiling::x},    {kAt, 16, 1, 1u << 25, PixelFormat::r8, Tiling::linear},
  };
  for (const SurfaceView& view : views) {
    const auto made = bench.take(view);
    EXPECT_FALSE(made.ok()) << view.width << " " << view.height << " " << view.pitch_B;
  }
}

// Any numbers give an error message or a picture.
TEST(SurfacePictures, AddressesWrap) {
  PictureBench bench;
  const auto made = bench.take({~uint64_t{0} - 100, 64, 2, 256, picture::PixelFormat::xrgb8888, Tiling::linear});
  ASSERT_TRUE(made.ok());
  EXPECT_GT(made->missing_pages, 0u);
}

}  // namespace
}  // namespace halogen::device
