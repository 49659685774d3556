// Reports about registers are true for every register of every chip: `storage` in spec/registers says on which devices,
// on which engines and at which indices no unit acts on a register. A unit acts on a register if it is attached to it,
// or if it found it through RegisterBank::use, which the typed registers of all rooms call.
#include <map>
#include <string_view>

#include <gtest/gtest.h>

#include "mmio/register_answer.h"
#include "mmio/storage.h"
#include "unit/device/test_host.h"

namespace halogen::device {
namespace {

class RegisterClasses : public ::testing::TestWithParam<const spec::DeviceModel*> {};

TEST_P(RegisterClasses, UnitsActOnExactlyTheRegistersThatAreNotStorage) {
  const Bench bench(*GetParam());
  const mmio::RegisterBank& bank = bench.device->mmio().bank();
  EXPECT_GT(bank.map().slots().size(), 100u);
  for (const mmio::RegisterSlot& slot : bank.map().slots()) {
    const bool acted = bank.is_acted_on(slot);
    EXPECT_EQ(mmio::is_storage(slot, GetParam()->id), !acted)
        << slot.desc->name << ":" << (slot.engine == nullptr ? "" : slot.engine->name) << "[" << slot.index << "]"
        << (acted ? ": a unit acts on it" : ": no unit acts on it");
  }
}

TEST_P(RegisterClasses, ReportsAndAnswersFollowTheDescription) {
  const Bench bench(*GetParam());
  mmio::MmioSpace& mmio = bench.device->mmio();
  std::map<std::string_view, bool> has_storage;  // by name, of the registers that are read here
  for (const mmio::RegisterSlot& slot : mmio.bank().map().slots()) {
    if (!slot.endpoint || mmio::Vga::contains(slot.offset)) continue;
    const bool storage = mmio::is_storage(slot, GetParam()->id);
    const auto expected = storage ? mmio::AnswerClass::storage : mmio::AnswerClass::semantics;
    EXPECT_EQ(mmio::answer_at(mmio, slot.offset).answer, expected) << slot.desc->name;
    mmio.bank().read(slot);
    has_storage[slot.desc->name] |= storage;
  }
  const FidelityReport report = bench.device->fidelity();
  size_t compared = 0;
  for (const auto& [key, entry] : report.entries()) {
    const auto known = key.first == FidelityKind::reg ? has_storage.find(key.second) : has_storage.end();
    if (known == has_storage.end()) continue;
    ++compared;
    EXPECT_EQ(entry.reason == "plain storage", known->second) << key.second;  // units give other reasons
    EXPECT_TRUE(!known->second || entry.fidelity == FidelityClass::approximate) << key.second;
  }
  EXPECT_EQ(compared, has_storage.size());
}

// A chip or an engine may lack the unit that acts on the register elsewhere.
TEST(RegisterClass, OneRegisterMayBeStorageOnSomeChipsAndEnginesOnly) {
  const auto storage = [](spec::DeviceId device, std::string_view name, std::string_view engine) {
    const auto map = mmio::RegisterMap::for_device(spec::model(device));
    return mmio::is_storage(*map->find(name, engine), device);
  };
  EXPECT_FALSE(storage(spec::DeviceId::g45, "PGTBL_ER", ""));
  EXPECT_TRUE(storage(spec::DeviceId::snb, "PGTBL_ER", ""));
  EXPECT_FALSE(storage(spec::DeviceId::gm45, "RNCID", "rcs0"));
  EXPECT_TRUE(storage(spec::DeviceId::g45, "RNCID", "rcs0"));
  EXPECT_FALSE(storage(spec::DeviceId::tgl, "MI_PREDICATE_SRC0", "rcs0"));
  EXPECT_TRUE(storage(spec::DeviceId::tgl, "MI_PREDICATE_SRC0", "bcs0"));
}

INSTANTIATE_TEST_SUITE_P(Devices, RegisterClasses, ::testing::ValuesIn(every_model()), model_name);

}  // namespace
}  // namespace halogen::device
