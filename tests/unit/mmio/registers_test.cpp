// The registers of one engine by id, and what they tell the bank about it.
#include "mmio/registers.h"

#include <gtest/gtest.h>

#include "base/event.h"
#include "mmio/mmio_space.h"
#include "spec/device_model.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;
using spec::RegisterId;

class NoHandler final : public RegisterHandler {};

struct RegistersTest : public ::testing::Test {
  const spec::DeviceModel& model = spec::model(DeviceId::tgl);
  EventLog events;
  MmioSpace space{model, RegisterMap::for_device(model), SteeringConfig::for_device(DeviceId::tgl), events, "gpu0"};
  Registers render{space, model.engines[0]};
  Registers other{space, model.engines[1]};

  bool acted_on(const Registers& registers, RegisterId id, unsigned dword) const {
    return space.bank().is_acted_on(*registers.slot(id, dword));
  }
};

TEST_F(RegistersTest, UseMarksEveryDwordOfTheEnginesOwnRegister) {
  constexpr unsigned kDwords = 32;
  for (unsigned dword = 0; dword < kDwords; ++dword) {
    EXPECT_FALSE(acted_on(render, RegisterId::CS_GPR, dword));
  }
  render.use({RegisterId::CS_GPR});
  for (unsigned dword = 0; dword < kDwords; ++dword) {
    EXPECT_TRUE(acted_on(render, RegisterId::CS_GPR, dword));
    EXPECT_FALSE(acted_on(other, RegisterId::CS_GPR, dword));
  }
  EXPECT_FALSE(acted_on(render, RegisterId::CCID, 0));
}

TEST_F(RegistersTest, AttachingMarksARegister) {
  NoHandler handler;
  render.attach(RegisterId::CCID, handler);
  EXPECT_TRUE(acted_on(render, RegisterId::CCID, 0));
}

TEST_F(RegistersTest, UseLeavesOutRegistersThatTheEngineDoesNotHave) {
  ASSERT_FALSE(render.has(RegisterId::PGTBL_CTL2));
  render.use({RegisterId::PGTBL_CTL2});
  render.poke(RegisterId::PGTBL_CTL2, 1);
  EXPECT_EQ(render.peek(RegisterId::PGTBL_CTL2), 0u);
}

#ifndef NDEBUG
TEST(RegistersDeathTest, AccessToARegisterThatNoUnitHasNamedStopsADebugBuild) {
  const spec::DeviceModel& model = spec::model(DeviceId::tgl);
  EventLog events;
  MmioSpace space(model, RegisterMap::for_device(model), SteeringConfig::for_device(DeviceId::tgl), events, "gpu0");
  const Registers registers(space, model.engines[0]);
  EXPECT_DEATH(registers.peek(RegisterId::CS_GPR), "name the register in Registers::use");
}
#endif

}  // namespace
}  // namespace halogen::mmio
