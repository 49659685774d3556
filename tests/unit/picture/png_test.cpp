// PNG files: the library's reader returns the same pixels, and equal pixels give the same bytes.
#include <gtest/gtest.h>
#include <png.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "picture/png.h"

namespace halogen::picture {
namespace {

Image read_back(const std::vector<std::byte>& bytes, bool& alpha) {
  png_image info{};
  info.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&info, bytes.data(), bytes.size()), 0) << info.message;
  alpha = (info.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  info.format = PNG_FORMAT_RGBA;
  Image image(info.width, info.height);
  EXPECT_NE(png_image_finish_read(&info, nullptr, image.pixels.data(), 0, nullptr), 0) << info.message;
  return image;
}

Image noise(uint32_t width, uint32_t height, bool alpha, uint32_t seed) {
  std::mt19937 random(seed);
  Image image(width, height);
  for (Rgba& pixel : image.pixels) {
    const auto bits = static_cast<uint32_t>(random());
    pixel = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8), static_cast<uint8_t>(bits >> 16),
             static_cast<uint8_t>(alpha ? bits >> 24 : 255)};
  }
  return image;
}

TEST(Png, DecodedPixelsEqualTheOriginal) {
  for (const auto& [width, height] : {std::pair(1u, 1u), {7u, 3u}, {64u, 65u}, {300u, 1u}}) {
    for (const bool alpha : {false, true}) {
      const Image image = noise(width, height, alpha, width * 2 + (alpha ? 1 : 0));
      const auto bytes = to_png(image);
      ASSERT_TRUE(bytes.ok());
      bool with_alpha = !alpha;
      EXPECT_EQ(read_back(*bytes, with_alpha), image);
      EXPECT_EQ(with_alpha, alpha);
    }
  }
}

TEST(Png, EqualPixelsGiveEqualFiles) {
  const auto once = to_png(noise(50, 40, true, 5));
  const auto again = to_png(noise(50, 40, true, 5));
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(*once, *again);
  const std::string_view text(reinterpret_cast<const char*>(once->data()), once->size());
  for (const std::string_view chunk : {"tIME", "tEXt", "zTXt", "iTXt", "pHYs"}) {
    EXPECT_EQ(text.find(chunk), std::string_view::npos) << chunk;
  }
}

TEST(Png, APictureWithoutPixelsIsRefused) {
  EXPECT_FALSE(to_png(Image{}).ok());
  EXPECT_FALSE(to_png(Image(0, 5)).ok());
  Image broken(2, 2);
  broken.pixels.pop_back();
  EXPECT_FALSE(to_png(broken).ok());
}

TEST(Png, WriteErrorsAreReported) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "halogen_png_test.png").string();
  const Image image = noise(9, 9, false, 1);
  ASSERT_TRUE(write_png(path, image).ok());
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = to_png(image);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(text, std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  std::filesystem::remove(path);
  const auto refused = write_png("/there/is/no/such/folder/x.png", image);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("/there/is/no"), std::string::npos);
}

}  // namespace
}  // namespace halogen::picture
