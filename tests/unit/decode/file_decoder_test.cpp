#include "decode/file_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "recorder.h"
#include "unit/trace/aub_builder.h"

namespace halogen::decode {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileDecoder : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() /
            (std::string("halogen_files_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path file(const std::string& name, std::string_view content) const {
    std::ofstream(root_ / name, std::ios::binary) << content;
    return root_ / name;
  }
  fs::path capture(const std::string& name, const std::string& manifest, std::span<const uint32_t> batch) const {
    fs::create_directories(root_ / name);
    std::ofstream(root_ / name / "manifest.json") << manifest;
    std::ofstream out(root_ / name / "b.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(batch.data()), static_cast<std::streamsize>(batch.size_bytes()));
    return root_ / name;
  }
  static std::string manifest(const std::string& device, const std::string& engine, int length) {
    return R"({"device":")" + device + R"(","pci":"0x29a2","engine":")" + engine +
           R"(","batch_handle":1,"batch_gpu":4096,"batch_len":)" + std::to_string(length) +
           R"(,"objects":[{"handle":1,"gpu":4096,"size":4096,"file":"b.bin"}]})";
  }
  std::string decode(const fs::path& path) {
    results_.clear();
    const auto done = decode_path(path, options_, [&](const FileResult& result) {
      results_.push_back(result);
      return true;
    });
    return done.ok() ? "" : done.message();
  }

  fs::path root_;
  FileOptions options_;
  std::vector<FileResult> results_;
};

TEST_F(FileDecoder, HexTextAndBinaryAreTheSameDwords) {
  options_.device = spec::find_device("bdw");
  const std::string binary("\x01\x00\x00\x11\x44\x22\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05", 16);
  EXPECT_EQ(decode(file("raw.bin", binary)), "");
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].counts.commands, 2u);
  EXPECT_EQ(decode(file("raw.txt", "# load\n1000: 0x11000001, 2244 1\n05000000 // end\n")), "");
  EXPECT_EQ(results_[0].counts.commands, 2u);
  EXPECT_FALSE(results_[0].counts.faulty());
}

TEST_F(FileDecoder, EngineOptionSelectsTheCommandTable) {
  options_.device = spec::find_device("bdw");
  const fs::path blit = file("blit.txt", "54000005 0 0 0 0 0 0 05000000");  // XY_COLOR_BLT, 64-bit form
  EXPECT_EQ(decode(blit), "");
  EXPECT_EQ(results_[0].counts.unknown, 1u);
  options_.engine = spec::EngineClass::blit;
  EXPECT_EQ(decode(blit), "");
  EXPECT_EQ(results_[0].counts.unknown, 0u);
  EXPECT_EQ(results_[0].counts.commands, 2u);
}

TEST_F(FileDecoder, BadInputIsOneSentence) {
  EXPECT_THAT(decode(root_ / "no"), HasSubstr("cannot open the file"));
  EXPECT_THAT(decode(file("empty", "")), HasSubstr("empty: empty file."));
  EXPECT_THAT(decode(file("foreign",
                          "\x7f"
                          "ELF....")),
              HasSubstr("raw dwords need a device: give one with --device."));
  options_.device = spec::find_device("bdw");
  EXPECT_THAT(decode(file("odd", std::string("\x7f\x00\x00\x00\x01", 5))),
              HasSubstr("5 bytes, which is not a whole number of dwords"));
  EXPECT_THAT(decode(file("text", "05000000\n123456789\n")),
              HasSubstr("line 2: \"123456789\" is not a hexadecimal dword."));
  EXPECT_THAT(decode(file("typo", "0500000o\n0\n")), HasSubstr("line 1: \"0500000o\" is not a hexadecimal dword."));
  EXPECT_THAT(decode(file("prose", "hello")), HasSubstr("line 1: \"hello\" is not a hexadecimal dword."));
  EXPECT_THAT(decode(file("one", "zzzz")), HasSubstr("line 1: \"zzzz\""));
  EXPECT_EQ(decode(file("remark", "# Größe\n05000000\n")), "");
  EXPECT_THAT(decode(root_), HasSubstr(": not a capture"));
}

TEST_F(FileDecoder, PipesAreRead) {
  options_.device = spec::find_device("bdw");
  const fs::path path = root_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "11000001 2244 1\n05000000\n"; });
  EXPECT_EQ(decode(path), "");
  writer.join();
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].counts.commands, 2u);
  trace::AubBuilder aub;
  aub.version(11).comment("x");
  std::thread second([&] {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(aub.bytes().data()), static_cast<std::streamsize>(aub.bytes().size()));
  });
  EXPECT_EQ(decode(path), "");
  second.join();
  EXPECT_EQ(results_[0].counts.records, 2u);
}

TEST_F(FileDecoder, CapturesAreFoundByFolderAndByTree) {
  const std::vector<uint32_t> batch{0, 0x0500'0000};
  const fs::path first = capture("p/exec_000", manifest("bdw", "RENDER", 8), batch);
  const fs::path second = capture("p/exec_001", manifest("965g", "", 0), batch);
  EXPECT_EQ(decode(root_), "");
  ASSERT_EQ(results_.size(), 2u);
  EXPECT_EQ(results_[0].name, first.string());
  EXPECT_EQ(results_[1].name, second.string());
  EXPECT_EQ(results_[1].counts.commands, 2u) << "an unknown name is found by its PCI id";
  EXPECT_EQ(decode(second), "");
  EXPECT_EQ(results_.size(), 1u);
}

TEST_F(FileDecoder, CapturesOfUnknownDevicesAreReported) {
  auto text = manifest("weird", "RENDER", 8);
  text.replace(text.find("0x29a2"), 6, "0xbeef");
  const std::vector<uint32_t> batch{0x0500'0000};
  const fs::path folder = capture("e", text, batch);
  EXPECT_THAT(decode(folder), HasSubstr("was captured on \"weird\", PCI id 0xbeef"));
  options_.device = spec::find_device("bdw");
  EXPECT_EQ(decode(folder), "");
}

TEST_F(FileDecoder, TracesAreRecognisedByTheirFirstRecord) {
  trace::AubBuilder aub;
  aub.version(11).comment("x");
  const auto bytes = aub.bytes();
  const fs::path path = file("t.aub", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  EXPECT_EQ(decode(path), "");
  EXPECT_EQ(results_[0].counts.records, 2u);
  const fs::path cut = file("cut.aub", {reinterpret_cast<const char*>(bytes.data()), bytes.size() - 1});
  EXPECT_THAT(decode(cut), HasSubstr("cut.aub: record 1 at byte 0x1c: the file ends inside the record"));
}

}  // namespace
}  // namespace halogen::decode
