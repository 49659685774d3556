// The writer: layouts from the format's description, and exact copies of traces of other writers.
#include "trace/aub_writer.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aub_builder.h"
#include "support/paths.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/device_ids.h"

namespace halogen::trace::aub {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> copy_of(ByteSource& source) {
  MemorySink sink;
  Writer writer(sink);
  Reader reader(source, "t.aub");
  const auto done = reader.read_all(writer);
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.message());
  EXPECT_TRUE(writer.finish().ok());
  EXPECT_EQ(writer.bytes(), sink.bytes().size());
  return {sink.bytes().begin(), sink.bytes().end()};
}

void expect_same(AubBuilder& aub) {
  const auto source = open_memory(aub.bytes());
  const auto copied = copy_of(*source);
  EXPECT_TRUE(std::ranges::equal(copied, aub.bytes()));
}

TEST(AubWriter, MemoryTraceRecordsRoundTrip) {
  AubBuilder aub;
  aub.version(19, "text of four").comment("four").comment("").write_register(0x2030, 8);
  aub.trace(0x01, {0x2234, 0x2002'0001, 0xffff, 0, 7});
  aub.trace(0x01, {0x2234, 0x0003'0000, 0xffff, 0xff, 7, 8});
  aub.trace(0x02, {0x2234, 0x0002'0006, 0x100, 0, 0x100});
  aub.trace(0x03, {0x2600, 0x4003'0040, 0xffff'ffff, 0xffff'ffff, 1, 2});
  aub.trace(0x04, {0x1000, 1, 0x2210'02c5, 8, 1, 2});
  aub.trace(0x05, {0x1000, 1, 0x2000'1925, 0xff, 0, 3});
  aub.trace(0x06, {0x1000, 1, 0x2260'0005, 6, 0x0403'0201, 0x0605});
  aub.trace(0x06, {0x1000, 0, 0x2000'0002, 4096, 0xdead'beef});
  aub.trace(0x07, {3}).trace(0x09, {77});
  aub.trace(0x0a, {0x20, 1, 64, 32, 16, 0x21, 0x0070'6d62});
  aub.trace(0x0c, {0x5123}).trace(0x0d, {1, 2, 3, 4}).trace(0x0f, {7});
  aub.trace(0x10, std::vector<uint32_t>(24, 5)).trace(0x3f, {1, 2});
  expect_same(aub);
}

TEST(AubWriter, ClassicRecordsRoundTrip) {
  AubBuilder aub;
  std::vector<uint32_t> version(12, 0);
  version[0] = 0x0400'0000;
  version[1] = 0x0061'7373;
  version[9] = 9;
  version[11] = 14;
  AubBuilder::append_text(version, "PCI-ID=0x29a2");
  aub.classic(0x05, version);
  aub.classic(0x14, {0x9f07'2c8b, 2, 0x2000'0000, 0, 0, 0, 0, 0, 0, 1});
  aub.classic(0x15, {0x1000, 0, 64, 0, 1, 0, 64, 0, 0x14, 5, 0, 0, 0x006e'6962});
  aub.classic(0x44, {1, 2, 256, 0x20, 64, 32, 0x3000, 1, 0, 8}).classic(0x1e, {1, 2, 3}).classic(0x7f, {4, 5});
  aub.classic(0x41, {0x0004'0102, 7, 0x4000, 6}).dwords({1, 2});
  aub.classic(0x41, {0x0000'0101, 7, 0x4000, 200'000, 1});
  for (uint32_t i = 0; i < 50'000; ++i) aub.dwords({i});
  expect_same(aub);
}

TEST(AubWriter, DiscontiguousPiecesBecomeSeparateWrites) {
  std::vector<uint32_t> body(1 + 63 * 3, 0);
  body[0] = (2u << 28) | (2u << 4);
  body[1] = 0x1000;
  body[3] = 4;
  body[4] = 0x9000;
  body[6] = 8;
  body.insert(body.end(), {0xa, 0xb, 0xc});
  AubBuilder in;
  in.version(11).trace(0x0b, body);
  AubBuilder out;
  out.version(11).write_memory(2, 0x1000, {0xa}).write_memory(2, 0x9000, {0xb, 0xc});
  const auto source = open_memory(in.bytes());
  EXPECT_TRUE(std::ranges::equal(copy_of(*source), out.bytes()));
}

TEST(AubWriter, LongWritesAreSplit) {
  constexpr size_t kMax = 262'124;  // the maximum of a 16-bit count of dwords
  std::vector<std::byte> data(2 * kMax + 10, std::byte{7});
  MemorySink sink;
  Writer writer(sink);
  writer.open(*spec::find_device("icl"), "test");
  writer.write(MemoryWrite{0x1000, false, false, Tiling::none, 42, MemorySpace::system, data, data.size()});
  std::vector<std::pair<uint64_t, size_t>> found;
  struct Count final : Visitor {
    std::vector<std::pair<uint64_t, size_t>>* found;
    void on(const Place&, const Record& record) override {
      if (const auto* write = std::get_if<MemoryWrite>(&record)) {
        found->emplace_back(write->address, write->data.size());
      }
    }
  } count;
  count.found = &found;
  const auto source = open_memory(sink.bytes());
  Reader reader(*source, "t.aub");
  ASSERT_TRUE(reader.read_all(count).ok());
  const std::vector<std::pair<uint64_t, size_t>> expected{
      {0x1000, kMax}, {0x1000 + kMax, kMax}, {0x1000 + 2 * kMax, 10}};
  EXPECT_EQ(found, expected);
}

TEST(AubWriter, VersionRecordNamesTheDevice) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    MemorySink sink;
    Writer writer(sink);
    writer.open(model, "test");
    struct Look final : Visitor {
      const spec::DeviceModel* model;
      void on(const Place&, const Record& record) override {
        const auto& version = std::get<Version>(record);
        EXPECT_EQ(version.recording, 1);
        EXPECT_EQ(device_of_aub_code(version.device)->gen, model->gen);
        EXPECT_EQ(device_of_pci_id(pci_id_in(version.text).value_or(0)), model);
      }
    } look;
    look.model = &model;
    const auto source = open_memory(sink.bytes());
    Reader reader(*source, "t.aub");
    ASSERT_TRUE(reader.read_all(look).ok());
    EXPECT_EQ(reader.records(), 1u);
  }
}

TEST(AubWriter, FullDiskIsReported) {
  struct Full final : ByteSink {
    Result<void> write(std::span<const std::byte> bytes) override {
      left -= std::min(left, bytes.size());
      return left == 0 ? Result<void>(Error{"t.aub: cannot be written."}) : Result<void>{};
    }
    Result<void> flush() override { return {}; }
    size_t left = 40;
  } full;
  Writer writer(full);
  writer.open(*spec::find_device("icl"), "test");
  for (int i = 0; i < 10; ++i) writer.write(Delay{1});
  const auto done = writer.finish();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.message(), "t.aub: cannot be written.");
}

class ForeignTrace : public ::testing::TestWithParam<const char*> {};

// Intel's driver wrote the whole trace, so the copy checks the layouts that it uses.
TEST_P(ForeignTrace, IsCopiedByteByByte) {
  const fs::path path = test::data_folder() / "aub" / GetParam();
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  auto packed = open_file(path);
  ASSERT_TRUE(packed.ok());
  const auto plain = read_rest(**packed, 0, size_t{1} << 30, "trace");
  ASSERT_TRUE(plain.ok());
  const auto source = open_memory(plain->as_bytes());
  EXPECT_TRUE(std::ranges::equal(copy_of(*source), plain->as_bytes()));
}

INSTANTIATE_TEST_SUITE_P(Products, ForeignTrace,
                         ::testing::Values("bdw_1x3x8_0_ocl.aub.xz", "icllp_1x8x8_0_ocl.aub.xz",
                                           "tgllp_1x6x16_0_ocl.aub.xz", "dg1_1x6x16_0_ocl.aub.xz"),
                         [](const auto& each) { return std::string(each.param).substr(0, 3); });

}  // namespace
}  // namespace halogen::trace::aub
