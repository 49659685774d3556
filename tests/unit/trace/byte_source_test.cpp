#include "trace/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace halogen::trace {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> pack(std::span<const std::byte> plain) {
  std::vector<std::byte> out(plain.size() + 4096);
  size_t at = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(plain.data()),
                                    plain.size(), reinterpret_cast<uint8_t*>(out.data()), &at, out.size()),
            LZMA_OK);
  out.resize(at);
  return out;
}

std::vector<std::byte> sample(size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return data;
}

Result<std::vector<std::byte>> drain(ByteSource& source, size_t step) {
  std::vector<std::byte> all;
  for (;;) {
    std::vector<std::byte> part(step);
    auto got = source.read(part);
    if (!got) return got.error();
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(*got));
    if (*got < step) return all;
  }
}

TEST(ByteSource, XzFilesAreDecompressed) {
  const auto plain = sample(300'000);
  const auto packed = pack(plain);
  const auto source = open_memory(packed);
  const auto all = drain(*source, 777);
  ASSERT_TRUE(all.ok()) << all.message();
  EXPECT_EQ(*all, plain);
  EXPECT_EQ(source->position(), packed.size());
}

TEST(ByteSource, PositionIsThatOfTheCompressedFile) {
  std::vector<std::byte> plain(4'000'000);  // does not compress well
  for (uint64_t i = 0, x = 1; i < plain.size(); ++i, x = x * 6364136223846793005u + 1442695040888963407u) {
    plain[i] = static_cast<std::byte>(x >> 56);
  }
  const auto packed = pack(plain);
  const auto unpacked = open_memory(packed);
  std::vector<std::byte> half(plain.size() / 2);
  ASSERT_TRUE(unpacked->read(half).ok());
  EXPECT_GT(unpacked->position(), packed.size() / 3);
  EXPECT_LT(unpacked->position(), packed.size() / 3 * 2);
  const auto path = std::filesystem::temp_directory_path() / "halogen_byte_position_test.bin";
  std::ofstream(path, std::ios::binary) << "0123456789";
  const auto file = open_file(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->position(), 0u) << "the examined bytes were returned";
  std::array<std::byte, 7> some{};
  ASSERT_TRUE((*file)->read(some).ok());
  EXPECT_EQ((*file)->position(), 7u);
  std::filesystem::remove(path);
}

TEST(ByteSource, CutAndCorruptXzAreErrors) {
  auto packed = pack(sample(300'000));
  const auto cut = std::span<const std::byte>(packed).first(packed.size() / 2);
  EXPECT_THAT(drain(*open_memory(cut), 4096).message(), HasSubstr("cut off"));
  packed[packed.size() / 2] ^= std::byte{0xff};
  EXPECT_THAT(drain(*open_memory(packed), 4096).message(), HasSubstr("corrupt"));
}

TEST(ByteSource, FilesAreReadAndErrorsAreReported) {
  const auto folder = std::filesystem::temp_directory_path();
  EXPECT_THAT(open_file(folder).message(), HasSubstr(": a folder, not a file."));
  EXPECT_THAT(open_file(folder / "no such file").message(), HasSubstr("cannot open the file: No such file"));
  const auto path = folder / "halogen_byte_source_test.bin";
  std::ofstream(path, std::ios::binary) << "abc";
  auto source = open_file(path);
  ASSERT_TRUE(source.ok());
  const auto all = drain(**source, 16);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 3u);
  std::filesystem::remove(path);
}

TEST(ReadRest, GrowsStopsAtTheLimitAndPadsWithZeros) {
  const auto plain = sample(300'001);
  for (const size_t expected : {size_t{0}, size_t{5}, size_t{300'001}, size_t{1'000'000}}) {
    const auto content = read_rest(*open_memory(plain), expected, 1'000'000, "f");
    ASSERT_TRUE(content.ok());
    ASSERT_EQ(content->bytes, plain.size());
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), content->as_bytes().begin()));
    EXPECT_EQ(content->dwords[content->bytes / 4] >> 8, 0u) << "one byte is left in the last dword";
  }
  EXPECT_EQ(read_rest(*open_memory(plain), 0, 1000, "f").message(), "f: too long: more than 1000 bytes.");
}

}  // namespace
}  // namespace halogen::trace
