// Decodes captured data if it is present: traces of Intel's compute driver and execbuffers of Mesa, NEO and
// intel-gpu-tools. Folder: the environment variable HALOGEN_DATA, else ../shared/data beside the source tree.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "decode/file_decoder.h"
#include "recorder.h"
#include "support/paths.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"

namespace halogen::decode {
namespace {

namespace fs = std::filesystem;

// Lists decoding faults, with one example of each; descriptions are corrected from this list.
class FaultList final : public Output {
 public:
  void record(const RecordLine&) override {}
  void heading(std::string_view text) override { place_ = text; }
  void node(const Node& node, spec::GenId gen) override {
    if (node.kind == NodeKind::unknown_command) {
      add(fmt::format("unknown command {:#010x} on {}", node.dwords.empty() ? 0 : node.dwords[0], spec::name_of(gen)));
    }
    look(node, gen);
  }
  bool open() const override { return true; }

  std::string text() const {
    std::string all;
    for (const auto& [what, where] : faults_) all += fmt::format("{} (first in {})\n", what, where);
    return all;
  }
  const std::set<std::string_view>& followed() const { return followed_; }

 private:
  void look(const Node& node, spec::GenId gen) {
    if (node.kind == NodeKind::structure) followed_.insert(node.item->name);
    if (node.guessed) return;
    for (const ReservedValue& reserved : node.fields.reserved) {
      add(fmt::format("{} has reserved bit {} ({} bits) set to {:#x} on {}", node.item->name, reserved.first_bit,
                      reserved.width, reserved.value, spec::name_of(gen)));
    }
    for (const std::string& fault : node.faults) {
      add(fmt::format("{}: {}", node.item != nullptr ? node.item->name : "?", fault));
    }
    for (const Node& child : node.children) look(child, gen);
  }
  void add(const std::string& what) { faults_.try_emplace(what, place_); }

  std::string place_;
  std::map<std::string, std::string> faults_;
  std::set<std::string_view> followed_;
};

class PassOn final : public Output {
 public:
  explicit PassOn(FaultList& to) : to_(to) {}
  void record(const RecordLine& line) override { to_.record(line); }
  void heading(std::string_view text) override { to_.heading(text); }
  void node(const Node& node, spec::GenId gen) override { to_.node(node, gen); }
  bool open() const override { return true; }

 private:
  FaultList& to_;
};

// Decodes everything at or below a path twice, counting and printing.
void expect_understood(const fs::path& path, FaultList& faults, std::map<std::string, Counts>& counts) {
  FileOptions options;
  options.make_output = [&](const RegisterNames&) { return std::make_unique<PassOn>(faults); };
  const auto printed = decode_path(path, options, [&](const FileResult& result) {
    counts[result.name] = result.counts;
    EXPECT_FALSE(result.counts.faulty()) << result.name;
    EXPECT_EQ(result.counts.reserved, 0u) << result.name;
    return true;
  });
  EXPECT_TRUE(printed.ok()) << printed.message();
  options.make_output = nullptr;
  const auto counted = decode_path(path, options, [&](const FileResult& result) {
    EXPECT_EQ(result.counts.commands, counts[result.name].commands) << result.name;
    return true;
  });
  EXPECT_TRUE(counted.ok()) << counted.message();
  EXPECT_EQ(faults.text(), "");
}

// Records by kind, space by space, as counted by an independent parser.
struct TraceFacts {
  const char* file;
  const char* device;
  uint32_t bytes;
  uint32_t packets;
  uint32_t comments;
  uint32_t register_writes;
  uint32_t memory_writes;
  uint32_t contexts;
  uint32_t system_bytes;
  uint32_t local_bytes;
  uint32_t table_entries;  // of each level
  uint32_t commands;       // ring and batches; the local memory trace jumps between its two batches
};
constexpr TraceFacts kTraces[] = {
    {"bdw_1x3x8_0_ocl.aub.xz", "bdw", 423'908, 456, 17, 7, 431, 0, 411'100, 0, 85, 2u + 9 + 6},
    {"icllp_1x8x8_0_ocl.aub.xz", "icl", 428'352, 475, 18, 20, 436, 0, 415'004, 0, 86, 2u + 14 + 6},
    {"tgllp_1x6x16_0_ocl.aub.xz", "tgl", 621'528, 818, 18, 137, 661, 1, 599'388, 0, 131, 2u + 18 + 7},
    {"dg1_1x6x16_0_ocl.aub.xz", "dg1", 760'356, 987, 21, 138, 826, 1, 139'648, 599'196, 0, 0},
};

class CountRecords final : public trace::aub::Visitor {
 public:
  void on(const trace::aub::Place&, const trace::aub::Record& record) override {
    namespace aub = trace::aub;
    comments += std::holds_alternative<aub::Comment>(record) ? 1u : 0u;
    register_writes += std::holds_alternative<aub::RegisterWrite>(record) ? 1u : 0u;
    contexts += std::holds_alternative<aub::PpgttContextCreate>(record) ? 1u : 0u;
    unknown += std::holds_alternative<aub::Unknown>(record) ? 1u : 0u;
    if (const auto* write = std::get_if<aub::MemoryWrite>(&record)) {
      ++memory_writes;
      records[static_cast<size_t>(write->space)] += 1;
      bytes[static_cast<size_t>(write->space)] += write->data.size();
    }
  }
  uint64_t comments = 0, register_writes = 0, contexts = 0, unknown = 0, memory_writes = 0;
  std::array<uint64_t, 16> records{};
  std::array<uint64_t, 16> bytes{};
};

class Traces : public ::testing::TestWithParam<TraceFacts> {};

TEST_P(Traces, AreDecodedToTheLastByte) {
  const TraceFacts& facts = GetParam();
  const fs::path path = test::data_folder() / "aub" / facts.file;
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  auto source = trace::open_file(path);
  ASSERT_TRUE(source.ok()) << source.message();
  trace::aub::Reader reader(**source, facts.file);
  CountRecords found;
  const auto done = reader.read_all(found);
  ASSERT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(reader.bytes(), facts.bytes);
  EXPECT_EQ(reader.records(), facts.packets);
  EXPECT_EQ(found.comments, facts.comments);
  EXPECT_EQ(found.register_writes, facts.register_writes);
  EXPECT_EQ(found.memory_writes, facts.memory_writes);
  EXPECT_EQ(found.contexts, facts.contexts);
  EXPECT_EQ(found.unknown, 0u);
  EXPECT_EQ(found.bytes[2], facts.system_bytes);
  EXPECT_EQ(found.bytes[1], facts.local_bytes);
  EXPECT_EQ(found.records[4], 3u);
  EXPECT_EQ(found.bytes[4], 176u);
  for (const size_t space : {6u, 8u, 9u, 10u}) {
    EXPECT_EQ(found.records[space], facts.table_entries);
    EXPECT_EQ(found.bytes[space], facts.table_entries * 8);
  }
  FaultList faults;
  std::map<std::string, Counts> counts;
  expect_understood(path, faults, counts);
  const Counts& all = counts[path.string()];
  EXPECT_EQ(all.records, facts.packets);
  EXPECT_EQ(all.streams, 1u);
  if (facts.commands != 0) {
    EXPECT_EQ(all.commands, facts.commands);
  }
  EXPECT_TRUE(faults.followed().contains("INTERFACE_DESCRIPTOR_DATA"));
  EXPECT_TRUE(faults.followed().contains("RENDER_SURFACE_STATE"));
}

INSTANTIATE_TEST_SUITE_P(Neo, Traces, ::testing::ValuesIn(kTraces),
                         [](const auto& row) { return std::string(row.param.device); });

struct CaptureFacts {
  const char* archive;
  uint64_t batches;
};
constexpr CaptureFacts kCaptures[] = {{"i965", 5}, {"g45", 11}, {"snb", 13}, {"chv", 14},
                                      {"bdw", 21}, {"icl", 38}, {"dg1", 37}};

class Captures : public ::testing::TestWithParam<CaptureFacts> {};

TEST_P(Captures, AreDecodedCompletely) {
  const CaptureFacts& facts = GetParam();
  const fs::path archive = test::data_folder() / "execbuffers" / (std::string(facts.archive) + ".tar.xz");
  if (!fs::exists(archive)) GTEST_SKIP() << archive << " not found; set HALOGEN_DATA to the folder of captured data";
  const fs::path folder = test::binary_folder() / "captures" / facts.archive;
  if (!fs::exists(folder)) {
    const fs::path partial = folder.string() + ".part";
    fs::remove_all(partial);
    fs::create_directories(partial);
    const std::string command = fmt::format("tar -xJf '{}' -C '{}'", archive.string(), partial.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    fs::rename(partial, folder);
  }
  FaultList faults;
  std::map<std::string, Counts> counts;
  expect_understood(folder, faults, counts);
  EXPECT_EQ(counts.size(), facts.batches);
}

INSTANTIATE_TEST_SUITE_P(Execbuffers, Captures, ::testing::ValuesIn(kCaptures),
                         [](const auto& row) { return std::string(row.param.archive); });

}  // namespace
}  // namespace halogen::decode
