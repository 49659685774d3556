// The register bank against the descriptions: every register of every device, bit by bit, with a formula that is
// independent of AccessPolicy.
#include "mmio/register_bank.h"

#include <gtest/gtest.h>

#include <random>

#include "covers.h"

namespace halogen::mmio {
namespace {

using spec::Access;

// --- policies as data, checked when compiling -------------------------------------------------------------------

constexpr AccessPolicy kMiMode{.rw = 0xffff, .masked = true};
static_assert(apply_write(kMiMode, 0x200, 0x0000'0100) == 0x200, "no mask bit, no change");
static_assert(apply_write(kMiMode, 0x200, 0x0100'0100) == 0x300, "the mask bit enables its partner");
static_assert(apply_write(kMiMode, 0x300, 0x0100'0000) == 0x200, "enabled and zero clears");
static_assert(apply_write(kMiMode, 0x200, 0x0100'0100, 0, 0x0000'ffff) == 0x200, "a word write has no mask half");
static_assert(apply_write(kMiMode, 0x200, 0x0100'0100, 0, 0xffff'0000) == 0x200, "nor has it data");

constexpr AccessPolicy kIir{.w1c = 0xffff'ffff};
static_assert(apply_write(kIir, 0xff, 0x0f) == 0xf0);
static_assert(apply_write(kIir, 0xffff, 0xffff, 0, 0xff) == 0xff00, "only the bytes that were written");

constexpr AccessPolicy kTrigger{.rw = 0xfe, .self_clearing = 1};
static_assert(apply_write(kTrigger, 0, 0xff) == 0xfe);

constexpr AccessPolicy kOnce{.w_once = 0xf};
static_assert(apply_write(kOnce, 0, 0x5, 0) == 0x5);
static_assert(apply_lock(kOnce, 0, 0x5) == 0xf, "zeros are locked too");
static_assert(apply_write(kOnce, 0x5, 0xa, 0xf) == 0x5);

static_assert(apply_read(AccessPolicy{.rw = 0xff, .wo = 0xff00, .ones = 1u << 31}, 0xffff'ffff) == 0x8000'00ff);
static_assert(byte_lanes(0, 4) == 0xffff'ffff && byte_lanes(2, 2) == 0xffff'0000 && byte_lanes(3, 1) == 0xff00'0000);

// --- every register of every device -----------------------------------------------------------------------------

// The kind of one bit of a register, from its description.
struct BitKind {
  bool exists = false;
  bool must_be_one = false;
  Access access = Access::ro;
};

BitKind bit_kind(const spec::RegisterDesc& desc, spec::GenId gen, unsigned bit) {
  const spec::Layout* layout = desc.layout(gen);
  for (const spec::ReservedDesc& reserved : layout->reserved) {
    if (reserved.must_be_one && bit >= reserved.first_bit && bit < reserved.first_bit + reserved.width) {
      return {true, true, Access::ro};
    }
  }
  for (const spec::FieldDesc& field : layout->fields) {
    if (bit >= field.first_bit && bit < field.first_bit + field.width) {
      return {true, false, field.access};
    }
  }
  return {};
}

// The state of one bit before and after a write of `value` to its dword.
struct SlowBit {
  bool stored;
  bool locked = false;

  void write(const BitKind& kind, const spec::RegisterDesc& desc, uint32_t value, unsigned bit, bool first_dword) {
    if (!kind.exists) {
      stored = false;
      return;
    }
    const bool one = ((value >> bit) & 1) != 0;
    if (desc.access == Access::masked && first_dword) {
      const bool enabled = bit < 16 && ((value >> (bit + 16)) & 1) != 0;
      if (!enabled) {
        return;
      }
    }
    switch (kind.access) {
      case Access::rw:
      case Access::wo:
      case Access::masked:
        stored = one;
        break;
      case Access::ro:
        break;
      case Access::w1c:
        stored = stored && !one;
        break;
      case Access::self_clearing:
        stored = false;
        break;
      case Access::w_once:
        if (!locked) {
          stored = one;
        }
        locked = true;
        break;
    }
  }

  bool read(const BitKind& kind) const {
    if (kind.must_be_one) {
      return true;
    }
    const bool hidden = kind.access == Access::wo || kind.access == Access::self_clearing;
    return kind.exists && !hidden && stored;
  }
};

class EveryRegister : public ::testing::TestWithParam<const spec::DeviceModel*> {};

TEST_P(EveryRegister, FollowsItsAccessKindsBitByBit) {
  const spec::DeviceModel& model = *GetParam();
  RegisterBank bank(RegisterMap::for_device(model));
  std::mt19937 random(20240229);
  ASSERT_FALSE(bank.map().slots().empty());
  for (const RegisterSlot& slot : bank.map().slots()) {
    const uint64_t reset = slot.desc->reset_value(model.id);
    std::array<SlowBit, 32> slow{};
    std::array<BitKind, 32> kinds{};
    for (unsigned bit = 0; bit < 32; ++bit) {
      kinds[bit] = bit_kind(*slot.desc, model.gen, bit + 32u * slot.dword);
      slow[bit] = {((reset >> (bit + 32u * slot.dword)) & 1) != 0};
    }
    const auto expect_read = [&](std::string_view when) {
      uint32_t expected = 0;
      for (unsigned bit = 0; bit < 32; ++bit) {
        expected |= static_cast<uint32_t>(slow[bit].read(kinds[bit])) << bit;
      }
      ASSERT_EQ(bank.read(slot), expected) << model.name << " " << slot.desc->name << " " << when;
    };
    expect_read("after reset");
    for (int round = 0; round < 6; ++round) {
      const uint32_t value = round == 0 ? 0xffff'ffff : round == 1 ? 0 : static_cast<uint32_t>(random());
      bank.write(slot, value);
      for (unsigned bit = 0; bit < 32; ++bit) {
        slow[bit].write(kinds[bit], *slot.desc, value, bit, slot.dword == 0);
      }
      expect_read("after a write");
      if (HasFatalFailure()) {
        return;
      }
    }
    bank.reset(slot);
    ASSERT_EQ(bank.peek(slot), static_cast<uint32_t>(reset >> (32 * slot.dword)));
  }
}

TEST_P(EveryRegister, IsAtTheOffsetOfItsDescription) {
  const spec::DeviceModel& model = *GetParam();
  const auto map = RegisterMap::for_device(model);
  size_t dwords = 0;
  for (const spec::RegisterDesc* desc : spec::registers()) {
    if ((desc->devices & spec::mask_of(model.id)) == 0) {
      EXPECT_TRUE(map->slots_of(*desc).empty());
      continue;
    }
    const auto check_at = [&](uint32_t base) {
      for (uint32_t n = 0; n < desc->count; ++n) {
        for (unsigned dword = 0; dword < desc->width_bits / 32u; ++dword) {
          const uint32_t at = base + desc->offset(model.id) + n * desc->stride + 4 * dword;
          const RegisterSlot* slot = map->find(at);
          ASSERT_NE(slot, nullptr) << desc->name;
          EXPECT_EQ(slot->desc, desc);
          EXPECT_EQ(slot->index, n);
          EXPECT_EQ(slot->dword, dword);
          ++dwords;
        }
      }
    };
    if (desc->base == spec::RegisterBase::absolute) {
      check_at(0);
    } else {
      for (const spec::EngineModel& engine : model.engines) {
        if ((desc->engines & spec::mask_of(engine.engine_class)) != 0) {
          check_at(engine.mmio_base);
        }
      }
    }
  }
  EXPECT_EQ(dwords, map->slots().size());
  EXPECT_TRUE(map->refused().empty()) << std::hex << map->refused().front();
}

TEST_P(EveryRegister, IsFoundOnlyAtItsOwnOffset) {
  const spec::DeviceModel& model = *GetParam();
  const auto map = RegisterMap::for_device(model);
  size_t claimed = 0;
  for (uint32_t offset = 0; offset < model.mmio_bytes; offset += 4) {
    if (const RegisterSlot* slot = map->find(offset)) {
      ASSERT_EQ(slot->offset, offset);
      ++claimed;
    }
  }
  EXPECT_EQ(claimed, map->slots().size());
  for (const uint64_t beyond : {model.mmio_bytes, uint64_t{0xffff'fffc}, uint64_t{0x1'0000'0000}, ~uint64_t{3}}) {
    EXPECT_EQ(map->find(beyond), nullptr);
  }
}

std::vector<const spec::DeviceModel*> all_models() {
  std::vector<const spec::DeviceModel*> models;
  for (const spec::DeviceModel& model : spec::device_models()) {
    models.push_back(&model);
  }
  return models;
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryRegister, ::testing::ValuesIn(all_models()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(RegisterMapTest, HypervisorRangeHasNoRegisters) {
  COVERS("DG1-MEM-05");
  const auto map = RegisterMap::for_device(*spec::find_device("dg1"));
  for (uint32_t offset = 0x178000; offset <= 0x178fff; offset += 4) {
    ASSERT_EQ(map->find(offset), nullptr) << std::hex << offset;
  }
}

// --- hooks, copies, snapshots -----------------------------------------------------------------------------------

class RegisterBankTest : public ::testing::Test {
 protected:
  RegisterBank bank{RegisterMap::for_device(*spec::find_device("dg1"))};
  const RegisterSlot& tail = *bank.map().find("RING_TAIL", "rcs0");
};

struct Recorder final : RegisterHandler {
  uint32_t on_read(const RegisterSlot&, unsigned, uint32_t stored) override {
    ++reads;
    return stored + 8;
  }
  uint32_t on_write(const RegisterWrite& write) override {
    seen.push_back(write.value);
    old_values.push_back(write.old_value);
    return write.next + 16;
  }
  int reads = 0;
  std::vector<uint32_t> seen;
  std::vector<uint32_t> old_values;
};

TEST_F(RegisterBankTest, HandlersSeeAccessesAndDecideWhatIsStored) {
  Recorder recorder;
  bank.attach(tail, recorder);
  bank.write(tail, 0x100);
  EXPECT_EQ(recorder.seen, (std::vector<uint32_t>{0x100}));
  EXPECT_EQ(bank.peek(tail), 0x110u);
  EXPECT_EQ(bank.read(tail), 0x118u);
  EXPECT_EQ(recorder.reads, 1);
  bank.write(tail, 0x55, byte_lanes(0, 1));
  EXPECT_EQ(recorder.old_values.back(), 0x110u);
}

TEST_F(RegisterBankTest, AttachingByNameReachesEveryEngine) {
  Recorder recorder;
  EXPECT_EQ(bank.attach("RING_TAIL", recorder), bank.map().slots_of("RING_TAIL").size());
  EXPECT_GE(bank.map().slots_of("RING_TAIL").size(), 5u);
  bank.write(*bank.map().find("RING_TAIL", "bcs0"), 0x40);
  EXPECT_EQ(recorder.seen.size(), 1u);
  EXPECT_EQ(bank.attach("NO_SUCH_REGISTER", recorder), 0u);
  EXPECT_EQ(bank.map().find("RING_TAIL", "vcs7"), nullptr);
}

TEST_F(RegisterBankTest, SnapshotIsACopy) {
  bank.write(tail, 0x100);
  const RegisterState before = bank.state();
  bank.write(tail, 0x200);
  EXPECT_NE(bank.state(), before);
  bank.restore(before);
  EXPECT_EQ(bank.read(tail), 0x100u);
  EXPECT_EQ(bank.state(), before);
}

TEST_F(RegisterBankTest, ProbesShowAccessesOnlyWhileListening) {
  std::vector<uint32_t> shown;
  {
    const auto subscription = bank.touched.listen([&](const RegisterTouch& touch) { shown.push_back(touch.value); });
    bank.write(tail, 0x80);
    bank.read(tail);
  }
  bank.read(tail);
  EXPECT_EQ(shown, (std::vector<uint32_t>{0x80, 0x80}));
}

TEST_F(RegisterBankTest, CopiesOfAReplicatedRegisterAreSeparate) {
  const RegisterSlot* replicated = nullptr;
  for (const RegisterSlot& slot : bank.map().slots()) {
    if (slot.copies > 1 && slot.policy.rw == 0xffff'ffff) {
      replicated = &slot;
      break;
    }
  }
  ASSERT_NE(replicated, nullptr);
  bank.write(*replicated, 0x11, kAllLanes, 0b01);
  bank.write(*replicated, 0x22, kAllLanes, 0b10);
  EXPECT_EQ(bank.read(*replicated, 0), 0x11u);
  EXPECT_EQ(bank.read(*replicated, 1), 0x22u);
  bank.write(*replicated, 0x33, kAllLanes, ~uint64_t{0});
  EXPECT_EQ(bank.read(*replicated, 0), 0x33u);
  EXPECT_EQ(bank.read(*replicated, replicated->copies - 1u), 0x33u);
}

TEST_F(RegisterBankTest, ReportCountsAccessedRegisters) {
  bank.write(tail, 8);
  bank.read(tail);
  FidelityReport report;
  bank.report(report);
  ASSERT_EQ(report.entries().size(), 1u);
  EXPECT_EQ(report.entries().begin()->first.second, "RING_TAIL");
  EXPECT_EQ(report.entries().begin()->second.count, 2u);
}

}  // namespace
}  // namespace halogen::mmio
