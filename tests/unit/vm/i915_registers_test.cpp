// The lists of registers that i915 accesses (tests/golden/i915-registers), compared with the model. No class may get
// worse, and the classes are true: unclaimed registers raise their Event and no others do, storage has no effect, and
// registers with semantics have code, a policy other than plain storage, or a constant value. If the log of a stub is
// available, the lists contain everything that the driver did with it.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mmio/register_answer.h"
#include "support/paths.h"
#include "trace/byte_source.h"
#include "unit/device/test_host.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Row {
  bool read = false;
  bool written = false;
  mmio::AnswerClass answer = mmio::AnswerClass::unclaimed;
  std::string name;
  std::string reason;
};

struct List {
  std::map<uint32_t, Row> rows;
  std::vector<std::string> problems;  // malformed lines, and lines that are out of order
};

List parse(std::istream& in) {
  static const std::regex form(R"(0x([0-9a-f]{6}) ([r-])([w-]) (semantics|storage|unclaimed) +(\S+)(?: ; (.+))?)");
  List list;
  for (std::string line; std::getline(in, line);) {
    std::smatch part;
    if (line.starts_with('#')) continue;
    if (!std::regex_match(line, part, form)) {
      list.problems.push_back("no row: " + line);
      continue;
    }
    const auto offset = static_cast<uint32_t>(std::stoul(part[1], nullptr, 16));
    const Row row{part[2] == "r", part[3] == "w", *mmio::answer_class_named(part[4].str()), part[5], part[6]};
    const bool in_order = list.rows.empty() || offset > list.rows.rbegin()->first;
    const bool explained = (row.answer == mmio::AnswerClass::unclaimed) == !row.reason.empty();
    if (!in_order || offset % 4 != 0) list.problems.push_back("out of order or not aligned: " + line);
    if (!explained || row.reason == "no reason yet") list.problems.push_back("without a reason: " + line);
    if (!row.read && !row.written) list.problems.push_back("not touched: " + line);
    list.rows[offset] = row;
  }
  return list;
}

List list_of(std::string_view device) {
  const fs::path path = test::source_folder() / "tests" / "golden" / "i915-registers" / (std::string(device) + ".txt");
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return parse(in);
}

// Returns the registers whose class is worse than the list says.
std::vector<std::string> worse_than(const List& list, mmio::MmioSpace& space) {
  std::vector<std::string> worse;
  for (const auto& [offset, row] : list.rows) {
    const mmio::RegisterAnswer now = mmio::answer_at(space, offset);
    if (now.answer < row.answer) {
      worse.push_back(
          fmt::format("{:#08x} {} was {}, is {}", offset, row.name, name_of(row.answer), name_of(now.answer)));
    }
  }
  return worse;
}

class I915Registers : public ::testing::TestWithParam<const char*> {
 protected:
  I915Registers() { mmio().wake().state().power_gating = false; }
  mmio::MmioSpace& mmio() { return bench_.device->mmio(); }
  // An offset without an endpoint terminates the access.
  size_t unclaimed_events() const {
    return bench_.events(EventKind::unclaimed_register) + bench_.events(EventKind::terminated_access);
  }

  device::Bench bench_{GetParam()};
  const List list_ = list_of(GetParam());
};

TEST_P(I915Registers, NoRegisterClassRegresses) {
  EXPECT_THAT(list_.problems, IsEmpty());
  EXPECT_GT(list_.rows.size(), 100u);
  EXPECT_THAT(worse_than(list_, mmio()), IsEmpty());
  std::map<mmio::AnswerClass, size_t> counts;
  size_t better = 0;
  for (const auto& [offset, row] : list_.rows) {
    const mmio::AnswerClass now = mmio::answer_at(mmio(), offset).answer;
    ++counts[now];
    better += now > row.answer ? 1 : 0;
  }
  std::cout << fmt::format("{}: {} registers: {} semantics, {} storage, {} unclaimed", GetParam(), list_.rows.size(),
                           counts[mmio::AnswerClass::semantics], counts[mmio::AnswerClass::storage],
                           counts[mmio::AnswerClass::unclaimed])
            << (better == 0 ? "" : fmt::format("; {} better than listed: scripts/i915-registers.py write", better))
            << '\n';
}

TEST_P(I915Registers, OnlyUnclaimedRegistersRaiseUnclaimedEvents) {
  for (const auto& [offset, row] : list_.rows) {
    const size_t before = unclaimed_events();
    bench_.read(offset);
    const bool unclaimed = mmio::answer_at(mmio(), offset).answer == mmio::AnswerClass::unclaimed;
    EXPECT_EQ(unclaimed_events() - before, unclaimed ? 1u : 0u) << fmt::format("{:#x} {}", offset, row.name);
  }
}

TEST_P(I915Registers, StorageRegistersHaveNoEffect) {
  size_t seen = 0;
  for (const auto& [offset, row] : list_.rows) {
    if (mmio::answer_at(mmio(), offset).answer != mmio::AnswerClass::storage) continue;
    ++seen;
    const mmio::RegisterSlot& slot = *mmio().bank().find(offset);
    for (const uint32_t value : {0xffff'ffffu, 0u}) {
      const device::DeviceState before =
          bench_.device->snapshot();  // the complete state: engines, interrupts, display, memory
      bench_.write(offset, value);
      device::DeviceState after = bench_.device->snapshot();
      for (unsigned copy = 0; copy < slot.copies; ++copy) {
        after.mmio.registers.values[slot.first_value + copy] = before.mmio.registers.values[slot.first_value + copy];
      }
      after.mmio.registers.locks = before.mmio.registers.locks;
      EXPECT_TRUE(before == after) << fmt::format("{:#x} {}: a write changed something else", offset, row.name);
    }
  }
  EXPECT_GT(seen, 10u);
}

// Bits that a write changes without another effect, with or without a mask.
bool is_plain(const mmio::AccessPolicy& policy) {
  return (policy.ro | policy.wo | policy.w1c | policy.self_clearing | policy.w_once | policy.ones) == 0;
}

// Names of registers in the model's sources: "hw::X", "RegisterId::X", or "X" in quotes, complete or up to a
// placeholder for the letter of a pipe. Comments do not count.
std::set<std::string> names_in_sources() {
  static const std::regex word(R"re((?:hw::|RegisterId::|")([A-Z][A-Z0-9_]+)(?:\{\})?)re");
  static const std::regex comment("//[^\n]*");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() / "src")) {
    const fs::path extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h") continue;
    std::ifstream in(entry.path());
    const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::string text = std::regex_replace(all, comment, "");
    for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) names.insert((*it)[1].str());
  }
  return names;
}

// A register that no code names has semantics if its bits clear themselves, are cleared by ones or are written with a
// mask; if it is read-only and not zero, as a constant of the chip; or if a table of the chip uses it.
TEST_P(I915Registers, SemanticRegistersAreNamedInCodeOrAreConstants) {
  static const std::set<std::string> sources = names_in_sources();
  EXPECT_TRUE(sources.contains("RING_TAIL") && !sources.contains("DERRMR"));
  size_t by_code = 0;
  for (const auto& [offset, row] : list_.rows) {
    const mmio::RegisterSlot* const slot = mmio().bank().find(offset);
    if (mmio::answer_at(mmio(), offset).answer != mmio::AnswerClass::semantics || slot == nullptr) continue;
    const std::string name(slot->desc->name);
    const bool by_pipe =
        name.size() > 2 && name[name.size() - 2] == '_' && sources.contains(name.substr(0, name.size() - 2));
    const bool by_pipe_format = name.size() > 1 && sources.contains(name.substr(0, name.size() - 1));
    const bool code = sources.contains(name) || by_pipe || by_pipe_format;
    const bool table = mmio().wake().is_request(offset) || mmio().wake().is_ack(offset) ||
                       mmio().steering().is_selector(offset) || mmio().steering().fuse_reflection(offset).has_value();
    by_code += code ? 1 : 0;
    const bool holds = code || table || !is_plain(slot->policy);
    EXPECT_TRUE(holds) << fmt::format("{:#x} {}: nothing acts on it: say storage = true in spec/registers", offset,
                                      name);
  }
  EXPECT_GT(by_code, 60u);
}

TEST_P(I915Registers, CoverEveryRegisterOfTheStubRun) {
  const fs::path path = test::data_folder() / "i915-access" / (std::string(GetParam()) + ".txt.xz");
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  auto source = trace::open_file(path);
  ASSERT_TRUE(source.ok()) << source.message();
  const auto content = trace::read_rest(**source, 1u << 16, 64u << 20, path.string());
  ASSERT_TRUE(content.ok()) << content.message();
  const std::string text(reinterpret_cast<const char*>(content->as_bytes().data()), content->bytes);
  static const std::regex touch(R"(([0-9a-f]+)\((\d+)/(\d+)\))");
  size_t seen = 0;
  const size_t start = text.find("FIRST-TOUCH:");
  ASSERT_NE(start, std::string::npos);
  for (std::sregex_iterator it(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), touch), end; it != end;
       ++it) {
    const uint64_t offset = std::stoull((*it)[1], nullptr, 16) & ~uint64_t{3};
    if (offset >= bench_.device->model().mmio_bytes) continue;
    const auto found = list_.rows.find(static_cast<uint32_t>(offset));
    ASSERT_NE(found, list_.rows.end()) << fmt::format("{:#x}", offset);
    EXPECT_TRUE((*it)[2] == "0" || found->second.read) << fmt::format("{:#x}", offset);
    EXPECT_TRUE((*it)[3] == "0" || found->second.written) << fmt::format("{:#x}", offset);
    ++seen;
  }
  EXPECT_GT(seen, 90u);
}

INSTANTIATE_TEST_SUITE_P(Chips, I915Registers, ::testing::Values("g45", "snb", "chv", "icl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

// The comparison of lists itself.
TEST(RegisterLists, RegressedAndMalformedRowsAreDetected) {
  const device::Bench bench("snb");
  mmio::MmioSpace& space = bench.device->mmio();
  std::istringstream good(
      "# a comment\n0x002030 rw semantics RING_TAIL:rcs0\n0x0c5100 -w unclaimed - ; for a reason\n");
  const List list = parse(good);
  EXPECT_THAT(list.problems, IsEmpty());
  EXPECT_THAT(worse_than(list, space), IsEmpty());
  std::istringstream claimed("0x0c5100 -w storage   GMBUS0\n");
  EXPECT_THAT(worse_than(parse(claimed), space), ElementsAre("0x0c5100 GMBUS0 was storage, is unclaimed"));
  std::istringstream bad("0x002030 rw fine RING_TAIL\n0x002040 -- storage A\n0x002038 r- unclaimed -\n");
  EXPECT_THAT(parse(bad).problems,
              ElementsAre(HasSubstr("no row"), HasSubstr("not touched"), HasSubstr("out of order or not aligned"),
                          HasSubstr("without a reason")));
}

TEST(RegisterAnswers, AnswersNameEngineIndexAndHalf) {
  const device::Bench bench("icl");
  mmio::MmioSpace& space = bench.device->mmio();
  EXPECT_EQ(mmio::answer_at(space, 0x22030).name, "RING_TAIL:bcs0");
  EXPECT_EQ(mmio::answer_at(space, 0x22030).answer, mmio::AnswerClass::semantics);
  EXPECT_EQ(mmio::answer_at(space, 0x100008).name, "FENCE_GEN7[1]");
  EXPECT_EQ(mmio::answer_at(space, 0x10000c).name, "FENCE_GEN7[1]+4");
  EXPECT_EQ(mmio::answer_at(space, 0xfdc).answer, mmio::AnswerClass::semantics) << "a selector";
  EXPECT_EQ(mmio::answer_at(space, 0x3c4).answer, mmio::AnswerClass::semantics) << "VGA";
  EXPECT_EQ(mmio::answer_at(space, 0xffff'fffc).answer, mmio::AnswerClass::unclaimed);
}

}  // namespace
}  // namespace halogen
