// The rules around the privilege lists: writable registers are readable, and slots that software adds.
#include "mmio/privilege.h"

#include <gtest/gtest.h>

#include "covers.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;

const spec::EngineModel& rcs(DeviceId device = DeviceId::dg1) {
  return spec::model(device).engines.front();
}

constexpr uint32_t kRw = 0u << 28;
constexpr uint32_t kReadOnly = 1u << 28;
constexpr uint32_t kWriteOnly = 2u << 28;
constexpr uint32_t kInvalid = 3u << 28;
constexpr uint32_t kDeny = 1u << 30;

TEST(Privilege, WritableRegistersAreReadable) {
  COVERS("DG1-PRIV-06");
  const Privilege privilege(DeviceId::dg1, rcs());
  // 7000 is in the write list, 2358 in the read list, 2030 in neither.
  EXPECT_TRUE(privilege.listed(0x7000, RegisterAccess::write));
  EXPECT_TRUE(privilege.listed(0x7000, RegisterAccess::read));
  EXPECT_FALSE(privilege.listed(0x2358, RegisterAccess::write));
  EXPECT_TRUE(privilege.listed(0x2358, RegisterAccess::read));
  EXPECT_FALSE(privilege.listed(0x2030, RegisterAccess::write));
  EXPECT_FALSE(privilege.listed(0x2030, RegisterAccess::read));
  for (const spec::DeviceModel& model : spec::device_models()) {
    for (const spec::EngineModel& engine : model.engines) {
      const Privilege own(model.id, engine);
      uint32_t unreadable = 0;
      for (uint32_t offset = 0; offset < 0x200000; offset += 4) {
        unreadable += own.listed(offset, RegisterAccess::write) && !own.listed(offset, RegisterAccess::read) ? 1u : 0u;
      }
      EXPECT_EQ(unreadable, 0u) << model.name << ' ' << engine.name;
    }
  }
}

TEST(ForceToNonPriv, SlotRegistersAreAtTheirOffsets) {
  COVERS("DG1-PRIV-07");
  const DeviceId dg1 = DeviceId::dg1;
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(force_to_nonpriv_offset(dg1, i), 0x4d0 + 4 * i);
  }
  for (size_t i = 12; i < 16; ++i) {
    EXPECT_EQ(force_to_nonpriv_offset(dg1, i), 0x010 + 4 * (i - 12));
  }
  for (size_t i = 16; i < 20; ++i) {
    EXPECT_EQ(force_to_nonpriv_offset(dg1, i), 0x1d0 + 4 * (i - 16));
  }
  EXPECT_FALSE(force_to_nonpriv_offset(dg1, 20).has_value());
  EXPECT_EQ(force_to_nonpriv_index(dg1, 0x4d0), 0u);
  EXPECT_EQ(force_to_nonpriv_index(dg1, 0x4fc), 11u);
  EXPECT_EQ(force_to_nonpriv_index(dg1, 0x010), 12u);
  EXPECT_EQ(force_to_nonpriv_index(dg1, 0x1dc), 19u);
  EXPECT_FALSE(force_to_nonpriv_index(dg1, 0x500).has_value());
  EXPECT_FALSE(force_to_nonpriv_index(dg1, 0x020).has_value());
  EXPECT_FALSE(force_to_nonpriv_index(dg1, 0x1e0).has_value());
}

TEST(ForceToNonPriv, OldDevicesHaveFewerSlots) {
  EXPECT_EQ(force_to_nonpriv_offset(DeviceId::skl, 11), 0x4fcu);
  EXPECT_FALSE(force_to_nonpriv_offset(DeviceId::skl, 12).has_value());
  EXPECT_FALSE(force_to_nonpriv_index(DeviceId::skl, 0x010).has_value());
  EXPECT_FALSE(force_to_nonpriv_offset(DeviceId::snb, 0).has_value());
}

// Linux writes plain offsets there; Gen11 added access, range and deny.
TEST(ForceToNonPriv, SlotsOfGen8AndGen9HoldAnAddressOnly) {
  for (const DeviceId device : {DeviceId::bdw, DeviceId::chv, DeviceId::skl}) {
    // Without lists, the slot alone decides.
    const Privilege privilege(rcs(device), {});
    const auto may = [&](uint32_t slot, uint32_t offset, RegisterAccess access) {
      const ForceToNonPriv decoded = ForceToNonPriv::decode(spec::model(device).gen, slot);
      return privilege.allows(offset, access, std::span(&decoded, 1));
    };
    for (const uint32_t high : {kRw, kReadOnly, kWriteOnly, kInvalid, kDeny}) {
      EXPECT_TRUE(may(0x2580 | high, 0x2580, RegisterAccess::read));
      EXPECT_TRUE(may(0x2580 | high, 0x2580, RegisterAccess::write));
    }
    EXPECT_FALSE(may(0x2580 | 3, 0x2584, RegisterAccess::write)) << "no range";
    EXPECT_TRUE(may(0x2584 | 3, 0x2584, RegisterAccess::write)) << "no alignment";
  }
}

TEST(ForceToNonPriv, ChipsWithoutSlotsDecodeNothing) {
  const ForceToNonPriv slot = ForceToNonPriv::decode(spec::GenId::gen6, 0x2580);
  EXPECT_FALSE(slot.reads);
  EXPECT_FALSE(slot.writes);
}

TEST(ForceToNonPriv, EmptySlotOpensNothing) {
  for (const spec::GenId gen : {spec::GenId::gen8, spec::GenId::gen11, spec::GenId::gen12}) {
    const ForceToNonPriv slot = ForceToNonPriv::decode(gen, 0);
    EXPECT_FALSE(slot.reads);
    EXPECT_FALSE(slot.writes);
  }
}

TEST(ForceToNonPriv, SlotsExtendTheLists) {
  COVERS("DG1-PRIV-07");
  const Privilege privilege(DeviceId::dg1, rcs());
  const auto may = [&](uint32_t slot, uint32_t offset, RegisterAccess access) {
    std::array<ForceToNonPriv, kForceToNonPrivSlots> slots{};
    slots[19] = ForceToNonPriv::decode(spec::GenId::gen12, slot);
    return privilege.allows(offset, access, slots);
  };
  EXPECT_FALSE(may(0, 0x2580, RegisterAccess::write));
  EXPECT_TRUE(may(0x2580 | kRw, 0x2580, RegisterAccess::write));
  EXPECT_TRUE(may(0x2580 | kRw, 0x2580, RegisterAccess::read));
  EXPECT_FALSE(may(0x2580 | kRw, 0x2584, RegisterAccess::write)) << "one dword";
  EXPECT_TRUE(may(0x2580 | kReadOnly, 0x2580, RegisterAccess::read));
  EXPECT_FALSE(may(0x2580 | kReadOnly, 0x2580, RegisterAccess::write));
  EXPECT_FALSE(may(0x2580 | kWriteOnly, 0x2580, RegisterAccess::read));
  EXPECT_TRUE(may(0x2580 | kWriteOnly, 0x2580, RegisterAccess::write));
  EXPECT_FALSE(may(0x2580 | kInvalid, 0x2580, RegisterAccess::read));
  EXPECT_FALSE(may(0x2580 | kInvalid, 0x2580, RegisterAccess::write));
  EXPECT_FALSE(may(0x7000 | kDeny, 0x7000, RegisterAccess::write)) << "deny removes a listed register";
  EXPECT_TRUE(may(0x7000 | kDeny, 0x7004, RegisterAccess::write));
  // The range has 1, 4, 16 or 64 dwords.
  const uint32_t dwords[] = {1, 4, 16, 64};
  for (uint32_t range = 0; range < 4; ++range) {
    const uint32_t bytes = 4 * dwords[range];
    EXPECT_TRUE(may(0x9c00 | range, 0x9c00 + bytes - 4, RegisterAccess::write)) << range;
    EXPECT_FALSE(may(0x9c00 | range, 0x9c00 + bytes, RegisterAccess::write)) << range;
    EXPECT_FALSE(may(0x9c00 | range, 0x9bfc, RegisterAccess::write)) << range;
  }
  // The address has bits 25:2.
  EXPECT_TRUE(may(0x0200'0000, 0x0200'0000, RegisterAccess::write));
}

// A streamer that no list names may access nothing, until software opens a register.
TEST(Privilege, WithoutListsEverythingIsRefused) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    for (const spec::EngineModel& engine : model.engines) {
      const Privilege privilege(engine, {});
      uint32_t allowed = 0;
      for (uint32_t offset = 0; offset < 0x10000; offset += 4) {
        allowed += privilege.allows(offset, RegisterAccess::write, {}) ? 1u : 0u;
        allowed += privilege.allows(offset, RegisterAccess::read, {}) ? 1u : 0u;
      }
      EXPECT_EQ(allowed, 0u) << engine.name;
    }
  }
  const Privilege privilege(rcs(DeviceId::icl), {});
  ForceToNonPriv slot = ForceToNonPriv::decode(spec::GenId::gen11, 0x7000);
  EXPECT_TRUE(privilege.allows(0x7000, RegisterAccess::write, std::span(&slot, 1)));
  slot = ForceToNonPriv::decode(spec::GenId::gen11, 0x7000 | kDeny);
  EXPECT_FALSE(privilege.allows(0x7000, RegisterAccess::write, std::span(&slot, 1)));
}

}  // namespace
}  // namespace halogen::mmio
