// Page walks through traces: hand-made traces, and every address that captured traces use.
#include "decode/trace_walk.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "decode/aub_decoder.h"
#include "recorder.h"
#include "support/paths.h"
#include "trace/aub_reader.h"
#include "unit/trace/aub_builder.h"

namespace halogen::decode {
namespace {

namespace fs = std::filesystem;
using engine::StreamSpace;
using ::testing::HasSubstr;
using trace::AubBuilder;

constexpr uint32_t kSystem = 2;
constexpr uint32_t kGgttEntry = 4;

class TraceWalk : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  // Writes a Gen11 trace with two contexts: tables at 0x100000 and at 0x200000, images at 0x6000 and 0x9000.
  fs::path two_contexts() {
    AubBuilder aub;
    aub.version(19);
    for (uint32_t page = 1; page < 12; ++page) aub.write_qword(kGgttEntry, page * 8, page * 0x1000u | 1);
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t image = i == 0 ? 0x6000 : 0x9000;
      const uint32_t tables = i == 0 ? 0x10'0000 : 0x20'0000;
      aub.write_memory(kSystem, image + 0x1000,
                       {0, 0x1100'100f, 0x2244, 0, 0x2034, 0, 0x2030, 8, 0x2038, 0x2000, 0x203c, 0x1, 0x2274, 0, 0x2270,
                        tables, 0x2244, 0, 0x0500'0000});
      aub.write_qword(kSystem, tables, tables + 0x1003);
      aub.write_qword(kSystem, tables + 0x1000, tables + 0x2003);
      aub.write_qword(kSystem, tables + 0x2000, tables + 0x3003);
      aub.write_qword(kSystem, tables + 0x3000 + 5 * 8, 0x4'0000 + i * 0x1000 + (i == 0 ? 0x3 : 0x19));
      aub.write_qword(kSystem, tables + 0x2000 + 8, 0x1'0080'0083);  // 2 MB
      aub.write_memory(kSystem, 0x4'0000 + i * 0x1000 + 8, {0x1111'0000 + i, 7});
      aub.write_memory(kSystem, 0x2000, {0, 0});
      aub.write_register(0x2510, image | 0x119).write_register(0x2514, 0).write_register(0x2550, 1);
    }
    path_ = fs::temp_directory_path() /
            (std::string("halogen_walk_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".aub");
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(aub.bytes().data()), static_cast<std::streamsize>(aub.bytes().size()));
    return path_;
  }
  fs::path path_;
};

TEST_F(TraceWalk, WalksLastContextByDefault) {
  const auto report = walk_trace(two_contexts(), {.address = GpuVa{0x5008}});
  ASSERT_TRUE(report.ok()) << report.message();
  ASSERT_TRUE(report->mapped());
  ASSERT_EQ(report->steps.size(), 4u);
  EXPECT_EQ(report->steps[0].level, "PML4");
  EXPECT_EQ(report->steps[0].entry_address, 0x20'0000u);
  EXPECT_EQ(report->steps[3].entry_address, 0x20'3028u);
  EXPECT_EQ(report->steps[3].entry, 0x4'1019u);
  EXPECT_EQ(report->physical, 0x4'1008u);
  EXPECT_EQ(report->data[0], 0x1111'0001u);
  EXPECT_FALSE(report->result.mapping.writable);
  EXPECT_EQ(report->result.mapping.type_index, 3u) << "PCD and PWT";
  EXPECT_EQ(report->context, 1u);
  const std::string text = report->to_text();
  EXPECT_THAT(text, HasSubstr("icl, legacy 48-bit PPGTT, address 0x5008, rcs0 context 1 of 2 at 0x9000\n"));
  EXPECT_THAT(text,
              HasSubstr("  PML4 0x200000 in system memory = 0x0000000000201003 LEGACY_PML4E present=1 writable=1"));
  EXPECT_THAT(text, HasSubstr("address=0x41000"));
  EXPECT_THAT(text, HasSubstr("page of 4 KB at 0x41000 in system memory, read execute, memory type index 3\n"));
  EXPECT_THAT(text, HasSubstr("physical address 0x41008: 11110001 00000007"));
}

TEST_F(TraceWalk, ChosenContextCanMapALargePage) {
  const fs::path path = two_contexts();
  auto report = walk_trace(path, {.address = GpuVa{0x5008}, .context = 0});
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_EQ(report->physical, 0x4'0008u);
  EXPECT_TRUE(report->result.mapping.writable);
  report = walk_trace(path, {.address = GpuVa{0x2a'bcd0}});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->steps.size(), 3u);
  EXPECT_EQ(report->physical, 0x1'008a'bcd0u);
  EXPECT_THAT(report->to_text(), HasSubstr("page of 2 MB at 0x100800000"));
  EXPECT_THAT(report->to_text(), HasSubstr("not written by the trace"));
  EXPECT_THAT(walk_trace(path, {.address = GpuVa{0}, .context = 2}).message(),
              HasSubstr("context 2 does not exist; 2 were submitted, counted from 0."));
}

TEST_F(TraceWalk, FaultIsReportedWithItsLevel) {
  const auto report = walk_trace(two_contexts(), {.address = GpuVa{0x80'0000'0000}});
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->mapped());
  EXPECT_EQ(report->steps.size(), 1u);
  EXPECT_THAT(report->to_text(), HasSubstr("  fault: "));
  const auto json = nlohmann::json::parse(report->to_json());
  EXPECT_EQ(json["mapped"], false);
  EXPECT_EQ(json["steps"][0]["level"], "PML4");
  EXPECT_FALSE(json["fault"].get<std::string>().empty());
}

TEST_F(TraceWalk, GlobalTableIsPrintedAsJson) {
  const auto report = walk_trace(two_contexts(), {.address = GpuVa{0x2004}, .global = true});
  ASSERT_TRUE(report.ok()) << report.message();
  const auto json = nlohmann::json::parse(report->to_json());
  EXPECT_EQ(json["mode"], "GGTT");
  EXPECT_EQ(json["steps"][0]["entry_address"], "0x10");
  EXPECT_EQ(json["steps"][0]["fields"]["valid"], true);
  EXPECT_EQ(json["steps"][0]["fields"]["address"], "0x2000");
  EXPECT_EQ(json["physical"], "0x2004");
  EXPECT_EQ(json["page_bytes"], 4096);
  EXPECT_FALSE(json.contains("context"));
}

TEST_F(TraceWalk, TraceWithoutContextIsReported) {
  path_ = fs::temp_directory_path() / "halogen_walk_none.aub";
  AubBuilder aub;
  aub.version(19);
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char*>(aub.bytes().data()), static_cast<std::streamsize>(aub.bytes().size()));
  EXPECT_THAT(walk_trace(path_, {.address = GpuVa{0}}).message(),
              HasSubstr("submits no context; --ggtt walks the global table."));
}

// In captured traces, the page that a walk finds must be in a memory record at that physical address.
struct Record {
  memory::MemorySpace space;
  uint64_t address;
  std::vector<std::byte> data;
};

class Both final : public trace::aub::Visitor {
 public:
  explicit Both(AubDecoder& decoder) : decoder_(decoder) {}
  void on(const trace::aub::Place& place, const trace::aub::Record& record) override {
    namespace aub = trace::aub;
    if (const auto* write = std::get_if<aub::MemoryWrite>(&record)) {
      if (write->space == aub::MemorySpace::system || write->space == aub::MemorySpace::local) {
        records.push_back(
            {write->space == aub::MemorySpace::local ? memory::MemorySpace::local : memory::MemorySpace::system,
             write->address,
             {write->data.begin(), write->data.end()}});
      }
    }
    decoder_.on(place, record);
  }
  bool some_record_holds(memory::MemorySpace space, uint64_t address, uint32_t dword) const {
    return std::any_of(records.begin(), records.end(), [&](const Record& record) {
      if (record.space != space || address < record.address) return false;
      const uint64_t at = address - record.address;
      return at + sizeof dword <= record.data.size() && std::memcmp(record.data.data() + at, &dword, sizeof dword) == 0;
    });
  }
  std::vector<Record> records;

 private:
  AubDecoder& decoder_;
};

class CapturedWalks : public ::testing::TestWithParam<const char*> {};

TEST_P(CapturedWalks, EveryUsedAddressTranslatesToWrittenMemory) {
  const fs::path path = test::data_folder() / "aub" / GetParam();
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  auto source = trace::open_file(path);
  ASSERT_TRUE(source.ok()) << source.message();
  trace::aub::Reader reader(**source, GetParam());
  Recorder out;
  AubDecoder decoder(nullptr, [&](const RegisterNames&) { return std::make_unique<Borrowed>(out); });
  Both both(decoder);
  ASSERT_TRUE(reader.read_all(both).ok());
  std::vector<const Node*> nodes;
  for (const Node& node : out.nodes) nodes.push_back(&node);
  size_t checked = 0;
  size_t structures = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    for (const Node& next : node.children) nodes.push_back(&next);
    if (node.kind == NodeKind::missing) continue;
    structures += node.kind == NodeKind::structure ? 1 : 0;
    for (size_t d = 0; d < node.dwords.size(); ++d) {
      const GpuVa at = node.address + d * sizeof(uint32_t);
      const memory::WalkResult found = decoder.memory()->walk(node.space, at);
      ASSERT_FALSE(found.fault) << fmt::format("{:#x}", at.value);
      const uint64_t physical = found.mapping.address + at.value % memory::kFrameBytes;
      ASSERT_TRUE(both.some_record_holds(found.mapping.space, physical, node.dwords[d]))
          << fmt::format("{:#x} at {:#x}: {:08x}", at.value, physical, node.dwords[d]);
      ++checked;
    }
  }
  EXPECT_GT(structures, 2u);
  EXPECT_GT(checked, 100u);
}

INSTANTIATE_TEST_SUITE_P(Neo, CapturedWalks,
                         ::testing::Values("bdw_1x3x8_0_ocl.aub.xz", "icllp_1x8x8_0_ocl.aub.xz",
                                           "tgllp_1x6x16_0_ocl.aub.xz", "dg1_1x6x16_0_ocl.aub.xz"),
                         [](const auto& row) {
                           const std::string name = row.param;
                           return name.substr(0, name.find('_'));
                         });

}  // namespace
}  // namespace halogen::decode
