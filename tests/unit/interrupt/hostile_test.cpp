// Random register writes and events: nothing breaks, and the interrupt level equals a simple formula over the
// registers. Restored snapshots behave like the original.
#include "unit/interrupt/bench.h"

#include <random>

namespace halogen::interrupt {
namespace {

// Returns the pending bits of a bank of ISR, IMR, IIR and IER.
uint32_t bank(const InterruptBench& b, uint32_t offset) {
  return b.peek(offset + 8) & b.peek(offset + 12);
}
bool top_bit(const InterruptBench& b, uint32_t offset) {
  return (b.peek(offset) >> 31) != 0;
}

uint32_t display_banks(const InterruptBench& b) {
  uint32_t any = bank(b, 0xc4000) | bank(b, 0x44440) | bank(b, 0x44460) | bank(b, 0x44470);
  for (uint32_t pipe = 0; pipe < 4; ++pipe) {
    any |= bank(b, 0x44400 + 0x10 * pipe);
  }
  return any;
}

// Returns the expected level, from the registers alone.
bool expected_level(const InterruptBench& b) {
  switch (b.space.generation().interrupts()) {
    case InterruptKind::one_bank:
      return (b.peek(0x20a4) & b.peek(0x20a0)) != 0;
    case InterruptKind::display_master:
      return top_bit(b, 0x4400c) && (bank(b, 0x44000) | bank(b, 0x44010) | bank(b, 0x44020)) != 0;
    case InterruptKind::numbered_banks: {
      uint32_t below = bank(b, 0x44300) | bank(b, 0x44310) | bank(b, 0x44320) | bank(b, 0x44330) | bank(b, 0x444e0);
      below |= display_banks(b);
      const uint32_t cherryview = b.peek(0x1820a4) & b.peek(0x1820a0);
      return (top_bit(b, 0x44200) && below != 0) || cherryview != 0;
    }
    case InterruptKind::collapsed_banks: {
      if (b.model.name == "dg1") {
        return top_bit(b, 0x190008) && (b.peek(0x190008) & 0xf) != 0;
      }
      uint32_t below = b.peek(0x190018) | b.peek(0x19001c) | bank(b, 0x444e0) | bank(b, 0x444f0);
      below |= top_bit(b, 0x44200) ? display_banks(b) : 0;
      return top_bit(b, 0x190010) && below != 0;
    }
  }
  return false;
}

// Checks the bits of the master against the banks below.
void expect_master(const InterruptBench& b) {
  const auto bit = [](uint32_t pending, unsigned place) { return (pending != 0 ? 1u : 0u) << place; };
  if (b.space.generation().interrupts() == InterruptKind::numbered_banks) {
    uint32_t now = bit(bank(b, 0x44300) & 0xffff, 0) | bit(bank(b, 0x44300) >> 16, 1);
    now |= bit(bank(b, 0x44310) & 0xffff, 2) | bit(bank(b, 0x44310) >> 16, 3);
    now |= bit(bank(b, 0x44320) & 0xffff, 4) | bit(bank(b, 0x44320) >> 16, 5) | bit(bank(b, 0x44330), 6);
    now |= bit(bank(b, 0x44400), 16) | bit(bank(b, 0x44410), 17) | bit(bank(b, 0x44420), 18);
    now |=
        bit(bank(b, 0x44440), 20) | bit(bank(b, 0x44460), 22) | bit(bank(b, 0xc4000), 23) | bit(bank(b, 0x444e0), 30);
    EXPECT_EQ(b.peek(0x44200) & ~(1u << 31), now);
  }
  if (b.space.generation().interrupts() == InterruptKind::collapsed_banks) {
    uint32_t now = bit(b.peek(0x190018), 0) | bit(b.peek(0x19001c), 1);
    now |= bit(top_bit(b, 0x44200) ? display_banks(b) : 0, 16) | bit(bank(b, 0x444f0), 29) | bit(bank(b, 0x444e0), 30);
    EXPECT_EQ(b.peek(0x190010) & ~(1u << 31), now);
  }
}

// Returns the offsets of all interrupt registers and of the engines' HWSTAM.
std::vector<uint32_t> targets(const InterruptBench& b) {
  std::vector<uint32_t> offsets;
  for (const mmio::RegisterSlot& slot : b.space.bank().map().slots()) {
    if (slot.desc->topic.starts_with("interrupt") || slot.desc->name == "HWSTAM") {
      offsets.push_back(slot.offset);
    }
  }
  return offsets;
}

class Storm {
 public:
  Storm(InterruptBench& bench, unsigned seed) : b_(bench), random_(seed), targets_(targets(bench)) {}

  void step() {
    if (random_() % 100 == 0) {
      open();
    }
    switch (random_() % 8) {
      case 0:
        b_.unit.raise(some_engine(), some_cause());
        break;
      case 1:
        b_.unit.set_level(some_engine(), some_cause(), random_() % 2 == 0);
        break;
      case 2:
        b_.unit.display(static_cast<DisplayCause>(random_() % 8), static_cast<unsigned>(random_() % 6),
                        static_cast<unsigned>(random_() % 9), random_() % 2 == 0);
        break;
      case 3:
        b_.unit.deliver(static_cast<uint32_t>(random_()));
        break;
      case 4:
        b_.read(some_target());
        break;
      case 5:
        other();
        break;
      default: {
        // All ones, all zeros, single bits and random values, so that masks and enables are often open.
        const uint32_t values[] = {0u, ~0u, 1u << random_() % 32, 0x8000'0000u, static_cast<uint32_t>(random_())};
        b_.space.write_dword(some_target(), values[random_() % 5], lanes(), mmio::MmioSpace::Origin::command_streamer);
      }
    }
  }

 private:
  unsigned some_engine() { return static_cast<unsigned>(random_() % (b_.model.engines.size() + 1)); }
  EngineCause some_cause() { return static_cast<EngineCause>(random_() % 12); }
  uint32_t some_target() { return targets_[random_() % targets_.size()]; }
  uint32_t lanes() {
    return random_() % 4 == 0 ? mmio::byte_lanes(static_cast<unsigned>(random_() % 4), 1) : mmio::kAllLanes;
  }
  // Acts as software that enables everything and starts over.
  void open() {
    for (const uint32_t offset : targets_) {
      const std::string_view name = b_.space.bank().find(offset)->desc->name;
      if (name.ends_with("IMR") || name.ends_with("INTR_MASK") || name.starts_with("GTIMR")) {
        b_.write(offset, 0);
      } else if (name.ends_with("IER") || name.ends_with("INTR_ENABLE") || name.starts_with("GTIER")) {
        b_.write(offset, ~0u);
      } else if (name.find("IIR") != std::string_view::npos || name.starts_with("GT_INTR_DW")) {
        b_.write(offset, ~0u);
      } else if (name.ends_with("IRQ") || name.ends_with("CTL") || name == "MSTR_TILE_INTR") {
        b_.write(offset, 0xf);
        b_.write(offset, 1u << 31);
      }
    }
  }
  void other() {
    switch (random_() % 5) {
      case 0:
        b_.unit.set_fault_repair(static_cast<unsigned>(random_() % 16), random_() % 2 == 0);
        break;
      case 1:
        b_.unit.route_to_scheduler(static_cast<spec::EngineClass>(random_() % 6), static_cast<uint16_t>(random_()));
        break;
      case 2:
        b_.unit.take_scheduler_events(static_cast<unsigned>(random_() % 3), static_cast<unsigned>(random_() % 40));
        break;
      case 3:
        b_.unit.reset_engine(some_engine());
        break;
      default:
        if (random_() % 32 == 0) {
          b_.space.reset();
          b_.unit.reset();
        }
    }
  }

  InterruptBench& b_;
  std::mt19937 random_;
  std::vector<uint32_t> targets_;
};

class Hostile : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, Hostile,
                         testing::Values("i965", "gm965", "g45", "gm45", "snb", "bdw", "chv", "skl", "icl", "tgl",
                                         "dg1"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Hostile, LevelEqualsTheRegisterFormula) {
  unsigned rises = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    InterruptBench b(GetParam());
    Storm storm(b, seed);
    for (unsigned i = 0; i < 4000; ++i) {
      storm.step();
      ASSERT_EQ(b.level, expected_level(b)) << i;
      ASSERT_EQ(b.unit.asserted(), b.level);
      expect_master(b);
    }
    rises += b.rises;
    b.space.reset();
    b.unit.reset();
    EXPECT_FALSE(b.level);
  }
  EXPECT_GT(rises, 50u) << "the random writes do reach interrupts";
}

TEST_P(Hostile, RestoredSnapshotBehavesLikeTheOriginal) {
  InterruptBench one(GetParam());
  Storm(one, 77).step();
  Storm first(one, 1);
  for (unsigned i = 0; i < 1000; ++i) {
    first.step();
  }
  InterruptBench two(GetParam());
  two.space.restore(one.space.state());
  two.unit.restore(one.unit.snapshot());
  two.level = one.level;
  EXPECT_EQ(two.unit.snapshot(), one.unit.snapshot());
  one.reports.clear();
  one.rises = 0;
  one.log.clear();
  Storm left(one, 2);
  Storm right(two, 2);
  for (unsigned i = 0; i < 1000; ++i) {
    left.step();
    right.step();
  }
  EXPECT_EQ(one.unit.snapshot(), two.unit.snapshot());
  EXPECT_EQ(one.space.state(), two.space.state());
  EXPECT_EQ(one.rises, two.rises);
  EXPECT_EQ(one.reports, two.reports);
  EXPECT_EQ(one.log.events().size(), two.log.events().size());
}

TEST_P(Hostile, ResetClearsLevelConditions) {
  InterruptBench b(GetParam());
  for (const uint32_t offset : targets(b)) {
    b.write(offset, 0);
  }
  b.unit.set_level(0, EngineCause::master_error, true);
  b.unit.reset_engine(0);
  b.reports.clear();
  b.unit.set_level(0, EngineCause::master_error, false);
  EXPECT_TRUE(b.reports.empty()) << "the condition had ended";
  b.unit.set_level(0, EngineCause::master_error, true);
  EXPECT_EQ(b.take_reports().size(), 1u);
}

}  // namespace
}  // namespace halogen::interrupt
