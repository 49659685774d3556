#include "trace/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "trace/device_ids.h"

namespace halogen::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kGood = R"({"device":"chv","pci":"0x22b1","gen":8,"program":"p","exec":1,"engine":"RENDER",
 "flags":"0xc1801","ctx":2,"batch_handle":8,"batch_start_offset":0,"batch_len":8,"batch_gpu":"0xffff800010170000",
 "objects":[{"handle":8,"gpu":"0xffff800010170000","size":4096,"stored":8,"file":"bo_00008.bin","exec_flags":"0x80",
   "tiling":"none","stride":0,"userptr":false,"region":""}],
 "relocs":[{"bo":8,"offset":4,"target":8,"delta":0,"rd":0,"wd":0}]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_with(const std::string& from, const std::string& to) {
  const auto capture = parse_manifest(replaced(kGood, from, to), "m.json");
  return capture.ok() ? "" : capture.message();
}

class CaptureFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / fmt_name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path make(const std::string& name, const std::string& manifest, const std::string& content) const {
    const fs::path folder = root_ / name;
    fs::create_directories(folder);
    std::ofstream(folder / "manifest.json") << manifest;
    std::ofstream(folder / "bo_00008.bin", std::ios::binary) << content;
    return folder;
  }
  fs::path root_;

 private:
  static std::string fmt_name() {
    return std::string("halogen_capture_") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
};

TEST(Manifest, ValidManifestIsRead) {
  const auto capture = parse_manifest(kGood, "m.json");
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_EQ(capture->batch_gpu.value, 0x8000'1017'0000u) << "the canonical form is removed";
  EXPECT_EQ(capture->pci_id, 0x22b1u);
  EXPECT_EQ(capture->engine_class, spec::EngineClass::render);
  EXPECT_EQ(capture->flags, 0xc1801u);
  ASSERT_EQ(capture->objects.size(), 1u);
  EXPECT_EQ(capture->objects[0].bytes, 4096u);
  ASSERT_EQ(capture->relocs.size(), 1u);
  EXPECT_EQ(capture->model(), spec::find_device("chv"));
}

TEST(Manifest, EnginesAreFoundInAllSpellings) {
  const auto engine = [](const std::string& text) {
    return parse_manifest(replaced(kGood, "RENDER", text), "m")->engine_class;
  };
  EXPECT_EQ(engine("BLT"), spec::EngineClass::blit);
  EXPECT_EQ(engine(""), spec::EngineClass::render);
  EXPECT_EQ(engine("ctxengine[0]=class0:inst0"), spec::EngineClass::render);
  EXPECT_EQ(engine("ctxengine[1]=class1:inst0"), spec::EngineClass::blit);
  EXPECT_EQ(engine("ctxengine[1]=class2:inst1"), spec::EngineClass::video);
}

TEST(Manifest, ErrorsAreOneSentenceWithTheFile) {
  EXPECT_EQ(parse_manifest("{", "m.json").message(), "m.json: not valid JSON at byte 2.");
  EXPECT_EQ(parse_manifest("9999999999999999999e999999999999999", "m.json").message(),
            "m.json: holds a number that is out of range.");
  EXPECT_EQ(error_with("\"delta\":0", "\"delta\":-1e400"), "m.json: holds a number that is out of range.");
  EXPECT_EQ(parse_manifest("[]", "m.json").message(), "m.json: the manifest is not a JSON object.");
  EXPECT_EQ(parse_manifest("{}", "m.json").message(), "m.json: the manifest has no \"batch_handle\".");
  EXPECT_EQ(error_with("\"batch_handle\":8", "\"batch_handle\":9"),
            "m.json: the batch, object 9, is not in \"objects\".");
  EXPECT_EQ(error_with("\"size\":4096", "\"size\":\"big\""), "m.json: \"size\" of objects[0] is not a number.");
  EXPECT_EQ(error_with("\"size\":4096", "\"size\":-1"), "m.json: \"size\" of objects[0] is not a number.");
  EXPECT_EQ(error_with("\"handle\":8", "\"handle\":4294967296"),
            "m.json: \"handle\" of objects[0] does not fit 32 bits.");
  EXPECT_EQ(error_with("RENDER", "WARP"), "m.json: the engine \"WARP\" is not known.");
  EXPECT_EQ(error_with("bo_00008.bin", "../../etc/passwd"), "m.json: \"file\" of objects[0] is not a plain file name.");
  EXPECT_THAT(error_with("\"size\":4096", "\"size\":\"0xffffffffffff\""), HasSubstr("runs past the end"));
  EXPECT_THAT(error_with("[{\"handle\"", "{\"a\":[{\"handle\""), HasSubstr(": not valid JSON"));
}

TEST(Manifest, ContradictionsAreReported) {
  EXPECT_EQ(error_with("\"gen\":8", "\"gen\":9"), "m.json: says generation 9, but chv is gen8.");
  EXPECT_EQ(error_with("\"batch_len\":8", "\"batch_len\":4100"),
            "m.json: the batch has 4100 bytes from byte 0 on, but object 8 has 4096.");
  EXPECT_EQ(error_with("\"batch_start_offset\":0", "\"batch_start_offset\":4092"),
            "m.json: the batch has 8 bytes from byte 4092 on, but object 8 has 4096.");
  EXPECT_EQ(error_with("\"batch_start_offset\":0", "\"batch_start_offset\":\"0xffffffffffffffff\""),
            "m.json: the batch has 8 bytes from byte 18446744073709551615 on, but object 8 has 4096.");
  EXPECT_EQ(error_with("\"batch_gpu\":\"0xffff800010170000\"", "\"batch_gpu\":4096"),
            "m.json: the batch is at 0x1000, but object 8 is at 0x800010170000.");
  const std::string second = R"("objects":[{"handle":9,"gpu":"0x80001016f000","size":SIZE,"file":"x.bin"},)";
  EXPECT_EQ(error_with("\"objects\":[", replaced(second, "SIZE", "4097")),
            "m.json: objects 9 and 8 overlap at 0x800010170000.");
  EXPECT_EQ(error_with("\"objects\":[", replaced(second, "SIZE", "4096")), "") << "they only touch";
  EXPECT_EQ(
      error_with("\"device\":\"chv\",\"pci\":\"0x22b1\",\"gen\":8", "\"device\":\"g45\",\"pci\":\"0x2e22\",\"gen\":4"),
      "")
      << "gen4.5 counts as 4";
}

TEST_F(CaptureFolder, IsFoundAtAndBelowAFolderInOrder) {
  const auto second = make("chv/p/exec_001", kGood, "12345678");
  const auto first = make("chv/p/exec_000", kGood, "12345678");
  auto found = find_captures(root_);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(*found, (std::vector<fs::path>{first, second}));
  found = find_captures(first);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, std::vector<fs::path>{first});
}

TEST_F(CaptureFolder, ContentIsReadAndPadded) {
  const auto capture = read_capture(make("e", replaced(kGood, "\"stored\":8", "\"stored\":5"), "12345"));
  ASSERT_TRUE(capture.ok()) << capture.message();
  EXPECT_EQ(capture->objects[0].content, (std::vector<uint32_t>{0x34333231, 0x35}));
}

TEST_F(CaptureFolder, TruncatedObjectIsRefused) {
  const auto folder = make("e", kGood, "1234567");
  EXPECT_EQ(read_capture(folder).message(),
            (folder / "bo_00008.bin").string() + ": holds 7 bytes, the manifest says 8.");
  std::ofstream(folder / "bo_00008.bin") << "123456789";
  EXPECT_THAT(read_capture(folder).message(), HasSubstr("holds 9 bytes, the manifest says 8."));
}

TEST_F(CaptureFolder, MissingFilesAreReportedInOneSentence) {
  EXPECT_THAT(find_captures(root_).message(), HasSubstr(": not a capture: no manifest.json in it or below."));
  EXPECT_THAT(find_captures(root_ / "nowhere").message(), HasSubstr("cannot list the folder"));
  const auto folder = make("e", kGood, "12345678");
  fs::remove(folder / "bo_00008.bin");
  EXPECT_THAT(read_capture(folder).message(), HasSubstr("bo_00008.bin: object 8 has no content"));
  std::ofstream(folder / "bo_00008.bin") << std::string(5000, 'x');
  std::ofstream(folder / "manifest.json") << replaced(kGood, "\"stored\":8", "\"stored\":5000");
  EXPECT_THAT(read_capture(folder).message(), HasSubstr("holds 5000 bytes, but object 8 has 4096."));
  fs::remove(folder / "manifest.json");
  EXPECT_THAT(read_capture(folder).message(), HasSubstr("manifest.json: cannot read the file"));
}

TEST(DeviceIds, DeviceIsFoundByCodePciIdAndComment) {
  EXPECT_EQ(device_of_aub_code(30), spec::find_device("dg1"));
  EXPECT_EQ(device_of_aub_code(200), nullptr);
  EXPECT_EQ(device_of_pci_id(0x29a2), spec::find_device("i965"));
  EXPECT_EQ(device_of_pci_id(0x2a42), spec::find_device("gm45"));
  EXPECT_EQ(device_of_pci_id(0x1616), spec::find_device("bdw"));
  EXPECT_EQ(device_of_pci_id(0x9a49), spec::find_device("tgl"));
  EXPECT_EQ(device_of_pci_id(0x11616), nullptr);
  EXPECT_EQ(device_of_pci_id(0x2a12), spec::find_device("gm965")) << "another id of the model";
  EXPECT_EQ(device_of_pci_id(0x3e92), spec::find_device("skl")) << "a relative";
  EXPECT_EQ(device_of_aub_code(0), spec::find_device("i965"));
  EXPECT_EQ(device_of_aub_code(24), spec::find_device("skl"));
  EXPECT_EQ(pci_id_in("PCI-ID=0x1616 Broadwell"), 0x1616u);
  EXPECT_EQ(pci_id_in("nothing"), std::nullopt);
  EXPECT_EQ(pci_id_in("PCI-ID="), std::nullopt);
}

TEST(DeviceIds, EveryRowNamesADevice) {
  for (unsigned code = 0; code < 256; ++code) {
    const auto* device = device_of_aub_code(static_cast<uint8_t>(code));
    if (device != nullptr) {
      EXPECT_FALSE(device->name.empty());
    }
  }
  for (const spec::DeviceModel& device : spec::device_models()) EXPECT_EQ(device_of_pci_id(device.pci_id), &device);
}

}  // namespace
}  // namespace halogen::trace
