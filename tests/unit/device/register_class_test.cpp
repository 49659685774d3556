// Reports about registers are true for every register of every chip: `storage = true` in spec/registers says that no
// unit acts on a register. A unit acts on a register if it is attached to it, if it found it through RegisterBank::use,
// or if the engine room, which addresses its registers by id, names it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mmio/register_answer.h"
#include "support/paths.h"
#include "unit/device/test_host.h"

namespace halogen::device {
namespace {

namespace fs = std::filesystem;

// Returns the registers that the engine room reads or writes by id: get<hw::X>, set(hw::X), RegisterId::X. A question
// whether a register exists, has(RegisterId::X), is not an access. kContextRegisters and kRingRegisters only name the
// registers that a context image saves.
std::set<std::string> engine_registers() {
  static const std::regex ignored(R"re(//[^\n]*|\bhas\((?:\w+::)*RegisterId::\w+\)|\bhas<hw::\w+>\(\))re");
  static const std::regex lists(R"re(constexpr std::array k(?:Context|Ring)Registers\{[^}]*\})re");
  static const std::regex name(R"re((?:\bhw::|RegisterId::)(\w+))re");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() / "src" / "engine")) {
    const fs::path extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h") continue;
    std::ifstream in(entry.path());
    const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::string text = std::regex_replace(std::regex_replace(all, ignored, ""), lists, "");
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) names.insert((*it)[1].str());
  }
  return names;
}

// A name in the specification that begins with a digit is an identifier with an underscore in front of it.
bool names(const std::set<std::string>& names, std::string_view name) {
  return names.contains(std::string(name)) || names.contains("_" + std::string(name));
}

class RegisterClasses : public ::testing::TestWithParam<const spec::DeviceModel*> {};

// A unit may serve a register on some of the chips that have it. One chip is enough for semantics.
TEST(RegisterClass, NoUnitOfAnyChipActsOnStorageRegisters) {
  const std::set<std::string> by_engines = engine_registers();
  ASSERT_TRUE(by_engines.contains("RING_TAIL"));
  ASSERT_FALSE(by_engines.contains("OACTXCONTROL"));
  std::map<const spec::RegisterDesc*, bool> acted_on;
  for (const spec::DeviceModel* model : every_model()) {
    const Bench bench(*model);
    const mmio::RegisterBank& bank = bench.device->mmio().bank();
    for (const mmio::RegisterSlot& slot : bank.map().slots()) {
      acted_on[slot.desc] |= bank.is_acted_on(slot) || names(by_engines, slot.desc->name);
    }
  }
  EXPECT_GT(acted_on.size(), 900u);
  for (const auto& [desc, acted] : acted_on) {
    EXPECT_EQ(desc->storage, !acted) << desc->name << (acted ? ": a unit acts on it" : ": no unit acts on it");
  }
}

TEST_P(RegisterClasses, ReportsAndAnswersFollowTheDescription) {
  const Bench bench(*GetParam());
  mmio::MmioSpace& mmio = bench.device->mmio();
  for (const mmio::RegisterSlot& slot : mmio.bank().map().slots()) {
    if (!slot.endpoint || mmio::Vga::contains(slot.offset)) continue;
    const auto expected = slot.desc->storage ? mmio::AnswerClass::storage : mmio::AnswerClass::semantics;
    EXPECT_EQ(mmio::answer_at(mmio, slot.offset).answer, expected) << slot.desc->name;
    mmio.bank().read(slot);
  }
  const FidelityReport report = bench.device->fidelity();
  for (const auto& [key, entry] : report.entries()) {
    const spec::RegisterDesc* const desc = key.first == FidelityKind::reg ? spec::find_register(key.second) : nullptr;
    if (desc == nullptr || !desc->storage) continue;
    EXPECT_EQ(entry.fidelity, FidelityClass::approximate) << key.second;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RegisterClasses, ::testing::ValuesIn(every_model()), model_name);

}  // namespace
}  // namespace halogen::device
