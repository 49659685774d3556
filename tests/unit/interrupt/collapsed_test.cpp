// Gen11 and Gen12: classes, enable and mask registers, double-buffered second level, selector and shared identity,
// masters. DG1 PRM vol. 13, Interrupts (seed 000); register offsets from Linux i915 (intel_gt_regs.h).
#include "unit/interrupt/bench.h"

#include "covers.h"
#include "hw/enums.h"

namespace halogen::interrupt {
namespace {

constexpr uint32_t kTile = 0x190008;
constexpr uint32_t kMaster = 0x190010;
constexpr uint32_t kEnable = 1u << 31;
constexpr uint32_t kDisplayControl = 0x44200;
constexpr uint32_t dw(unsigned n) {
  return 0x190018 + 4 * n;
}
constexpr uint32_t identity(unsigned n) {
  return 0x190060 + 4 * n;
}
constexpr uint32_t selector(unsigned n) {
  return 0x190070 + 4 * n;
}
constexpr uint32_t kValid = 1u << 31;

// Registers of a source: enable and mask register with the shift of its half, second-level bit, class and instance.
struct Source {
  const char* name;
  uint32_t engine_class;
  uint32_t instance;
  unsigned dword;
  unsigned bit;
  uint32_t enable;
  unsigned enable_shift;
  uint32_t mask;
  unsigned mask_shift;
};
constexpr Source kRcs{"rcs0", 0, 0, 0, 0, 0x190030, 16, 0x190090, 16};
constexpr Source kBcs{"bcs0", 3, 0, 0, 15, 0x190030, 0, 0x1900a0, 16};
constexpr Source kVcs0{"vcs0", 1, 0, 1, 0, 0x190034, 16, 0x1900a8, 16};
constexpr Source kVcs1{"", 1, 1, 1, 1, 0x190034, 16, 0x1900a8, 0};
constexpr Source kVcs2{"vcs2", 1, 2, 1, 2, 0x190034, 16, 0x1900ac, 16};
constexpr Source kVecs0{"vecs0", 2, 0, 1, 31, 0x190034, 0, 0x1900d0, 16};
constexpr Source kVecs1{"", 2, 1, 1, 30, 0x190034, 0, 0x1900d0, 0};
constexpr Source kCcs0{"ccs0", 5, 0, 0, 4, 0x190048, 16, 0x190100, 16};
constexpr Source kCcs3{"", 5, 3, 0, 7, 0x190048, 16, 0x190104, 0};
constexpr Source kGuc{"", 4, 0, 0, 25, 0x190038, 16, 0x1900e8, 16};
constexpr Source kGtpm{"", 4, 1, 0, 16, 0x19003c, 16, 0x1900ec, 16};
constexpr Source kWdperf{"", 4, 2, 0, 20, 0x19003c, 0, 0x1900ec, 0};
constexpr Source kKcr{"", 4, 4, 0, 19, 0x190040, 16, 0x1900f0, 16};
constexpr Source kGunit{"", 4, 5, 0, 28, 0x190044, 16, 0x1900f4, 16};
constexpr Source kCsme{"", 4, 6, 0, 31, 0x190044, 0, 0x1900f4, 0};
constexpr Source kAll[] = {kRcs,
                           kBcs,
                           kVcs0,
                           kVcs1,
                           kVcs2,
                           kVecs0,
                           kVecs1,
                           kCcs0,
                           kCcs3,
                           kGuc,
                           kGtpm,
                           kWdperf,
                           kKcr,
                           kGunit,
                           kCsme,
                           {"", 1, 3, 1, 3, 0x190034, 16, 0x1900ac, 0},
                           {"", 1, 4, 1, 4, 0x190034, 16, 0x1900b0, 16},
                           {"", 1, 5, 1, 5, 0x190034, 16, 0x1900b0, 0},
                           {"", 1, 6, 1, 6, 0x190034, 16, 0x1900b4, 16},
                           {"", 1, 7, 1, 7, 0x190034, 16, 0x1900b4, 0},
                           {"", 2, 2, 1, 29, 0x190034, 0, 0x1900d4, 16},
                           {"", 2, 3, 1, 28, 0x190034, 0, 0x1900d4, 0},
                           {"", 5, 1, 0, 5, 0x190048, 16, 0x190100, 0},
                           {"", 5, 2, 0, 6, 0x190048, 16, 0x190104, 16}};

uint32_t message(const Source& source, uint32_t data) {
  return source.instance << 20 | source.engine_class << 16 | data;
}
uint32_t expected_identity(const Source& source, uint32_t data) {
  return kValid | message(source, data);
}

class Collapsed : public testing::TestWithParam<const char*> {
 protected:
  bool is_dg1() const { return std::string_view(GetParam()) == "dg1"; }
  // Gen12 added the masks of the upper instances.
  bool has(const Source& source) const {
    return std::string_view(GetParam()) != "icl" ||
           (source.engine_class != 5 && (source.engine_class != 1 || source.instance < 4) &&
            (source.engine_class != 2 || source.instance < 2));
  }
  void enable(const Source& source, uint32_t events) {
    b.write(source.enable, (b.peek(source.enable) & ~(0xffffu << source.enable_shift)) | events << source.enable_shift);
  }
  void unmask(const Source& source, uint32_t events) {
    b.write(source.mask, (b.peek(source.mask) | 0xffffu << source.mask_shift) & ~(events << source.mask_shift));
  }
  void open(const Source& source, uint32_t events = 0xffff) {
    enable(source, events);
    unmask(source, events);
  }
  void send(const Source& source, uint32_t data) { b.unit.deliver(message(source, data)); }
  // Serves a source by selector, identity and clear; returns what was reported.
  uint32_t serve(const Source& source) {
    b.write(selector(source.dword), 1u << source.bit);
    const uint32_t value = b.read(identity(source.dword));
    b.write(identity(source.dword), kValid);
    return value;
  }
  // DG1 latches that the tile has an interrupt.
  void acknowledge_tile() {
    if (is_dg1()) b.write(kTile, kEnable | 1);
  }
  // Returns the enable register that applies.
  uint32_t top() const { return is_dg1() ? kTile : kMaster; }

  InterruptBench b{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Devices, Collapsed, testing::Values("icl", "tgl", "dg1"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Collapsed, EverySourceHasItsClassInstanceAndRegisters) {
  COVERS("DG1-IRQ-02");
  COVERS("DG1-IRQ-12");
  for (const Source& source : kAll) {
    if (!has(source)) {
      continue;
    }
    open(source, 0x8421);
    send(source, 0x8421);
    EXPECT_EQ(b.peek(dw(source.dword)), 1u << source.bit) << source.engine_class << '/' << source.instance;
    EXPECT_EQ(b.peek(dw(1 - source.dword)), 0u);
    EXPECT_EQ(b.read(dw(source.dword)), 1u << source.bit);
    EXPECT_EQ(serve(source), expected_identity(source, 0x8421));
    b.write(dw(source.dword), 1u << source.bit);
    enable(source, 0);
    unmask(source, 0);
  }
  EXPECT_EQ(b.log.events().size(), 0u);
  // Reserved classes, an instance that does not exist, reserved message bits.
  for (const uint32_t wrong : {6u << 16 | 1, 7u << 16 | 1, 9u << 20 | 1, 4u << 16 | 9u << 20 | 1}) {
    b.unit.deliver(wrong);
    EXPECT_EQ(b.log.count(EventKind::unsupported), 1u) << std::hex << wrong;
    b.log.clear();
  }
  for (const uint32_t bit : {31u, 30u, 26u, 19u}) {
    b.unit.deliver(1u << bit | 1);
    EXPECT_EQ(b.log.count(EventKind::reserved_bits), 1u) << bit;
    b.log.clear();
  }
}

TEST_P(Collapsed, EnginesReportTheirCausesWithSixteenBits) {
  COVERS("DG1-IRQ-13");
  struct Way {
    EngineCause cause;
    uint32_t data;
  };
  for (const Source& source : kAll) {
    if (*source.name == '\0' || !has(source)) {
      continue;
    }
    open(source);
    for (const Way& way : {Way{EngineCause::user, 1u << 0},
                           {EngineCause::master_error, 1u << 3},
                           {EngineCause::notify, 1u << 4},
                           {EngineCause::watchdog, 1u << 6},
                           {EngineCause::page_fault, 1u << 7},
                           {EngineCause::context_switch, 1u << 8},
                           {EngineCause::semaphore_wait, 1u << 11}}) {
      b.unit.raise(b.engine(source.name), way.cause);
      EXPECT_EQ(b.read(dw(source.dword)), 1u << source.bit) << source.name;
      EXPECT_EQ(serve(source), expected_identity(source, way.data)) << source.name;
      b.write(dw(source.dword), 1u << source.bit);
    }
  }
  b.unit.raise(b.engine("pocs0"), EngineCause::user);
  EXPECT_EQ(b.log.count(EventKind::unsupported), 1u) << "has no identity";
}

TEST_P(Collapsed, EverySourceHasExactlySixteenBits) {
  COVERS("DG1-IRQ-14");
  // Two sources share an enable or mask register, one half each: the bits of one never affect the other.
  for (const auto& [upper, lower] : {std::pair{kVcs0, kVcs1}, std::pair{kVecs0, kVecs1}, std::pair{kGtpm, kWdperf},
                                     std::pair{kGunit, kCsme}, std::pair{kRcs, kBcs}}) {
    open(upper);
    enable(lower, 0xffff);
    unmask(lower, 0);
    send(upper, 0xffff);
    EXPECT_EQ(b.read(dw(upper.dword)), 1u << upper.bit);
    EXPECT_EQ(serve(upper), expected_identity(upper, 0xffff)) << "all sixteen bits";
    b.write(dw(upper.dword), 1u << upper.bit);
    unmask(upper, 0);
    open(lower);
    send(lower, 0xffff);
    EXPECT_EQ(b.read(dw(lower.dword)), 1u << lower.bit);
    EXPECT_EQ(serve(lower), expected_identity(lower, 0xffff));
    b.write(dw(lower.dword), 1u << lower.bit);
    unmask(lower, 0);
  }
}

TEST_P(Collapsed, DisabledEventsAreLostAndClassesShareAnEnable) {
  COVERS("DG1-IRQ-03");
  unmask(kVcs0, 0xffff);
  unmask(kVcs2, 0xffff);
  send(kVcs0, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 0u);
  enable(kVcs0, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 0u) << "enabling later does not restore them";
  send(kVcs2, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 1u << 2) << "one enable for all instances of a class";
  send(kVcs2, 0x2);
  b.read(dw(1));
  EXPECT_EQ(serve(kVcs2), expected_identity(kVcs2, 0x1)) << "a disabled event is not latched";
  b.write(dw(1), 1u << 2);
  // In class Other each instance has its own enable.
  unmask(kGtpm, 0xffff);
  unmask(kWdperf, 0xffff);
  enable(kGtpm, 0x1);
  send(kWdperf, 0x1);
  EXPECT_EQ(b.peek(dw(0)), 0u);
  send(kGtpm, 0x1);
  EXPECT_EQ(b.peek(dw(0)), 1u << 16);
}

TEST_P(Collapsed, MaskedEventsStayLatchedUntilUnmasked) {
  COVERS("DG1-IRQ-04");
  enable(kVcs0, 0xffff);
  send(kVcs0, 0x5);
  send(kVcs2, 0x2);
  EXPECT_EQ(b.peek(dw(1)), 0u);
  unmask(kVcs2, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 0u) << "another event of the instance";
  unmask(kVcs2, 0xffff);
  EXPECT_EQ(b.peek(dw(1)), 1u << 2) << "one mask per instance";
  unmask(kVcs0, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 1u << 2 | 1u << 0);
  b.read(dw(1));
  EXPECT_EQ(serve(kVcs0), expected_identity(kVcs0, 0x1)) << "only unmasked events";
  EXPECT_EQ(serve(kVcs2), expected_identity(kVcs2, 0x2));
  b.write(dw(1), 1u << 2 | 1u << 0);
  EXPECT_EQ(b.peek(dw(1)), 0u);
  unmask(kVcs0, 0x5);
  EXPECT_EQ(b.peek(dw(1)), 1u << 0) << "the other event was pending";
  b.read(dw(1));
  EXPECT_EQ(serve(kVcs0), expected_identity(kVcs0, 0x4));
}

TEST_P(Collapsed, EnablesArePerClassAndMasksPerInstance) {
  COVERS("DG1-IRQ-10");
  enable(kVecs0, 0x1);
  unmask(kVecs1, 0x1);
  send(kVecs0, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 0u) << "masked: another instance is unmasked";
  send(kVecs1, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 1u << 30);
  send(kVcs0, 0x1);
  unmask(kVcs0, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 1u << 30) << "another class was enabled";
}

TEST_P(Collapsed, SecondLevelIsFrozenWhileItIsServed) {
  COVERS("DG1-IRQ-05");
  open(kRcs);
  open(kBcs);
  open(kVcs0);
  b.write(top(), kEnable);
  b.write(kMaster, kEnable);
  send(kRcs, 0x1);
  EXPECT_EQ(b.rises, 1u);
  EXPECT_EQ(b.peek(dw(0)), 1u << 0);
  send(kBcs, 0x1);
  EXPECT_EQ(b.peek(dw(0)), 1u << 0 | 1u << 15) << "not read: still collecting";
  EXPECT_EQ(b.rises, 1u);
  EXPECT_EQ(b.read(dw(0)), 1u << 0 | 1u << 15);

  send(kRcs, 0x100);
  serve(kRcs);
  send(kRcs, 0x10);  // after its service
  b.write(dw(0), 1u << 0);
  EXPECT_EQ(b.read(dw(0)), 1u << 15) << "new events wait until the register is clear";
  send(kVcs0, 0x1);
  EXPECT_EQ(b.peek(dw(1)), 1u << 0) << "the other dword is not locked";
  b.read(dw(1));
  serve(kVcs0);
  b.write(dw(1), 1u << 0);
  serve(kBcs);
  b.write(dw(0), 1u << 15);
  EXPECT_EQ(b.read(dw(0)), 1u << 0) << "from the secondary storage";
  EXPECT_EQ(b.peek(kMaster) & 3u, 1u);
  EXPECT_EQ(serve(kRcs), expected_identity(kRcs, 0x10));
  b.write(dw(0), 1u << 0);
  EXPECT_EQ(b.peek(dw(0)), 0u);
  EXPECT_EQ(b.read(dw(0)), 0u);
  send(kBcs, 0x1);
  EXPECT_EQ(b.peek(dw(0)), 1u << 15) << "reading zero locks nothing";
  EXPECT_EQ(b.log.events().size(), 0u);
}

TEST_P(Collapsed, ClearingTheDwordWithPendingEventsRaisesANewEvent) {
  COVERS("DG1-IRQ-05");
  if (is_dg1()) {
    return;  // its master latches; see TileMaster
  }
  open(kRcs);
  b.write(kMaster, kEnable);
  send(kRcs, 0x1);
  b.read(dw(0));
  serve(kRcs);
  send(kRcs, 0x2);
  EXPECT_EQ(b.rises, 1u);
  b.write(dw(0), 1u);
  EXPECT_TRUE(b.level);
  EXPECT_EQ(b.rises, 2u) << "low for a moment, then the second event";
}

TEST_P(Collapsed, EngineIsServedThroughSelectorAndSharedIdentity) {
  COVERS("DG1-IRQ-06");
  open(kRcs);
  open(kBcs);
  send(kRcs, 0x9);
  send(kBcs, 0x1);
  EXPECT_EQ(b.read(dw(0)), 1u << 0 | 1u << 15);
  EXPECT_EQ(b.read(identity(0)), 0u);
  b.write(selector(0), 1u << 0);
  EXPECT_EQ(b.read(selector(0)), 1u << 0);
  EXPECT_EQ(b.read(identity(0)), expected_identity(kRcs, 0x9));
  EXPECT_EQ(b.read(identity(0)), expected_identity(kRcs, 0x9)) << "until it is cleared";
  b.write(identity(0), 0x03f7'ffff);
  EXPECT_EQ(b.read(identity(0)), expected_identity(kRcs, 0x9)) << "only clearing the valid bit ends the service";
  b.write(identity(0), kValid);
  EXPECT_EQ(b.read(identity(0)), 0u);
  EXPECT_EQ(b.read(selector(0)), 0u);
  EXPECT_EQ(b.read(dw(0)), 1u << 0 | 1u << 15) << "software clears the bits, one by one or at the end";
  EXPECT_EQ(serve(kBcs), expected_identity(kBcs, 0x1));
  b.write(dw(0), 1u << 0 | 1u << 15);
  EXPECT_EQ(b.read(dw(0)), 0u);
  EXPECT_EQ(b.log.events().size(), 0u);
}

TEST_P(Collapsed, ServiceMistakesAreReportedAndLoseNothing) {
  COVERS("DG1-IRQ-06");
  const auto expect_mistake = [this](std::string_view item) {
    ASSERT_EQ(b.log.count(EventKind::undefined_behaviour), 1u) << item;
    EXPECT_EQ(b.log.events().back().item, item);
    b.log.clear();
  };
  open(kRcs);
  open(kBcs);
  send(kRcs, 0x1);
  b.read(dw(0));
  b.write(selector(0), 1u << 15);
  expect_mistake("IIR_REG_SELECTOR0");  // not pending
  EXPECT_EQ(b.read(identity(0)), 0u);
  send(kBcs, 0x2);  // stays pending
  b.write(selector(0), 1u << 15 | 1u << 0);
  expect_mistake("IIR_REG_SELECTOR0");  // not one-hot
  EXPECT_EQ(b.read(identity(0)), 0u);
  b.write(dw(0), 1u << 0);
  expect_mistake("GT_INTR_DW0");  // before service
  EXPECT_EQ(b.read(dw(0)), 1u << 15);
  send(kRcs, 0x4);
  b.write(selector(0), 1u << 15);
  EXPECT_EQ(b.read(identity(0)), expected_identity(kBcs, 0x2));
  b.write(selector(0), 1u << 15);
  expect_mistake("IIR_REG_SELECTOR0");  // the last identity is still valid
  EXPECT_EQ(b.read(identity(0)), expected_identity(kBcs, 0x2));
  b.write(identity(0), kValid);
  b.write(dw(0), 1u << 15);
  b.read(dw(0));
  EXPECT_EQ(serve(kRcs), expected_identity(kRcs, 0x5)) << "includes events that were cleared without service";
}

// The part of DG1-IRQ-07 that a device without virtual functions has; docs/requirements/open.md has the rest.
TEST_P(Collapsed, MasterShowsLevelsAndItsEnableForwardsThem) {
  // Each bit alone asserts the interrupt while the enable is set. The display has an enable of its own in front.
  b.write(0x4440c, 1);
  b.write(0x44404, ~1u);
  b.write(top(), kEnable);
  EXPECT_FALSE(b.level);
  for (const Source& source : {kRcs, kVcs0}) {
    open(source);
    send(source, 0x1);
    EXPECT_TRUE(b.level) << source.name;
    EXPECT_EQ(b.read(kMaster) & 0x1'0003, 1u << source.dword);
    b.write(top(), 0);
    EXPECT_FALSE(b.level) << source.name;
    b.write(top(), kEnable);
    EXPECT_TRUE(b.level) << "the bit is still set";
    b.read(dw(source.dword));
    serve(source);
    b.write(dw(source.dword), 1u << source.bit);
    acknowledge_tile();
    EXPECT_FALSE(b.level) << source.name;
  }
  b.unit.display_event(DisplayCause::vblank, 0);
  EXPECT_FALSE(b.level);
  b.write(kDisplayControl, kEnable);
  EXPECT_TRUE(b.level);
  EXPECT_EQ(b.read(kMaster) & 0x1'0003, 1u << 16);
  b.write(0x44408, 1);
  acknowledge_tile();
  EXPECT_FALSE(b.level);
  b.write(kDisplayControl, 0);
  b.write(top(), 0);
  open(kRcs);
  open(kVcs0);
  send(kRcs, 0x1);
  EXPECT_EQ(b.read(kMaster), 1u);
  send(kVcs0, 0x1);
  EXPECT_EQ(b.read(kMaster), 3u);
  b.write(kMaster, 0x7fff'ffff);
  EXPECT_EQ(b.read(kMaster), 3u) << "read-only levels";
  EXPECT_FALSE(b.level);
  b.write(top(), kEnable);
  EXPECT_TRUE(b.level);
  b.write(top(), 0);
  EXPECT_FALSE(b.level);
  b.read(dw(0));
  serve(kRcs);
  b.write(dw(0), 1u);
  EXPECT_EQ(b.read(kMaster) & 3u, 2u) << "the dword is clear";
  b.read(dw(1));
  serve(kVcs0);
  b.write(dw(1), 1u);
  EXPECT_EQ(b.read(kMaster), 0u);
  // Display.
  b.write(0x4440c, 1);
  b.write(0x44404, ~1u);
  b.unit.display_event(DisplayCause::vblank, 0);
  EXPECT_EQ(b.read(kDisplayControl), 1u << 16);
  EXPECT_EQ(b.read(kMaster), 0u) << "the display has its own enable";
  b.write(kDisplayControl, kEnable);
  EXPECT_EQ(b.read(kMaster), 1u << 16);
  b.write(kDisplayControl, 0);
  EXPECT_EQ(b.read(kMaster), 0u);
  // Copies for other virtual machines are separate: their messages do not reach this one.
  b.unit.deliver(1u << 27 | message(kRcs, 1));
  EXPECT_EQ(b.read(kMaster), 0u);
  EXPECT_EQ(b.log.count(EventKind::unsupported), 1u);
}

// The unit alone. Contexts with faults are in tests/unit/engine/page_fault_test.cpp.
TEST_P(Collapsed, FaultRepairModeBypassesTheMask) {
  constexpr uint32_t kPageFault = 1u << 7;
  enable(kRcs, 0xffff);
  b.unit.set_level(b.engine("rcs0"), EngineCause::page_fault, true);
  EXPECT_EQ(b.peek(dw(0)), 0u) << "masked";
  b.unit.set_fault_repair(b.engine("rcs0"), true);
  EXPECT_EQ(b.peek(dw(0)), 1u << 0) << "the masked page fault";
  b.read(dw(0));
  EXPECT_EQ(serve(kRcs), expected_identity(kRcs, kPageFault));
  b.write(dw(0), 1u);
  b.unit.set_level(b.engine("rcs0"), EngineCause::page_fault, false);
  b.unit.set_level(b.engine("rcs0"), EngineCause::page_fault, true);
  b.unit.raise(b.engine("rcs0"), EngineCause::user);
  EXPECT_EQ(b.peek(dw(0)), 1u << 0);
  b.read(dw(0));
  EXPECT_EQ(serve(kRcs), expected_identity(kRcs, kPageFault)) << "the user interrupt stays masked";
  b.write(dw(0), 1u);
  b.unit.set_fault_repair(b.engine("rcs0"), false);
  b.unit.set_level(b.engine("rcs0"), EngineCause::page_fault, false);
  b.unit.set_level(b.engine("rcs0"), EngineCause::page_fault, true);
  EXPECT_EQ(b.peek(dw(0)), 0u);
}

// No source documents the scheduler's registers: tested by calls only.
TEST_P(Collapsed, SchedulerHasItsOwnTwoVectors) {
  open(kRcs, 0x1);
  open(kVcs0, 0x1);
  b.unit.route_to_scheduler(spec::EngineClass::render, 0x100);
  b.unit.route_to_scheduler(spec::EngineClass::video, 0x100);
  b.write(top(), kEnable);
  b.write(kMaster, kEnable);
  send(kRcs, 0x100);
  EXPECT_EQ(b.unit.scheduler_vector(0), 1u << 0);
  EXPECT_EQ(b.unit.scheduler_vector(1), 0u);
  EXPECT_FALSE(b.level) << "not for the host";
  EXPECT_EQ(b.peek(dw(0)), 0u);
  send(kVcs2, 0x101);
  EXPECT_EQ(b.unit.scheduler_vector(0), 1u << 0) << "32 engines each";
  EXPECT_EQ(b.unit.scheduler_vector(1), 1u << 2);
  EXPECT_EQ(b.peek(dw(1)), 0u) << "masked on the host side";
  send(kVcs0, 0x001);
  EXPECT_EQ(b.unit.scheduler_vector(1), 1u << 2);
  EXPECT_TRUE(b.level);
  EXPECT_EQ(b.unit.take_scheduler_events(1, 2), 0x100u);
  EXPECT_EQ(b.unit.scheduler_vector(1), 0u);
  EXPECT_EQ(b.unit.scheduler_vector(0), 1u << 0) << "independent of the host";
  EXPECT_EQ(b.unit.take_scheduler_events(0, 0), 0x100u);
  EXPECT_EQ(b.unit.take_scheduler_events(0, 0), 0u);
  EXPECT_TRUE(b.level) << "the scheduler's service does not affect the host";
  EXPECT_EQ(b.unit.take_scheduler_events(7, 99), 0u);
  EXPECT_EQ(b.unit.scheduler_vector(7), 0u);
}

// DG1: the tile bit is latched when a lower level rises; its register has the only enable.
TEST(TileMaster, TileBitIsLatchedAndAcknowledged) {
  InterruptBench b("dg1");
  b.write(0x190030, 0xffff'ffff);
  b.write(0x190090, 0);
  b.write(0x1900a0, 0);
  b.user("rcs0");
  EXPECT_EQ(b.read(kTile), 1u) << "latched while disabled";
  EXPECT_FALSE(b.level);
  b.write(kTile, kEnable);
  EXPECT_TRUE(b.level);
  // As Linux i915 does it: disable, read, acknowledge, serve, enable.
  b.write(kTile, 0);
  EXPECT_FALSE(b.level);
  EXPECT_EQ(b.read(kTile), 1u);
  b.write(kTile, 1);
  EXPECT_EQ(b.read(kTile), 0u);
  const uint32_t master = b.read(kMaster);
  EXPECT_EQ(master, 1u);
  b.write(kMaster, master);
  EXPECT_EQ(b.read(dw(0)), 1u);
  b.write(selector(0), 1);
  EXPECT_EQ(b.read(identity(0)), kValid | 1u);
  b.user("bcs0");
  b.write(identity(0), kValid);
  b.write(dw(0), 1);
  b.write(kTile, kEnable);
  EXPECT_EQ(b.rises, 2u) << "events that arrived during the service";
  b.write(kTile, 0);
  b.write(kTile, b.read(kTile));
  b.read(dw(0));
  b.write(selector(0), 1u << 15);
  EXPECT_EQ(b.read(identity(0)), kValid | 3u << 16 | 1u);
  b.write(identity(0), kValid);
  b.write(dw(0), 1u << 15);
  b.write(kTile, kEnable);
  EXPECT_EQ(b.rises, 2u);
  EXPECT_FALSE(b.level);
}

TEST(TileMaster, PendingEventInterruptsAgainWhenEnabled) {
  InterruptBench b("dg1");
  b.write(0x190030, 0xffff'ffff);
  b.write(0x190090, 0);
  b.user("rcs0");
  b.write(kTile, 1);  // a restarting driver acknowledges without service
  EXPECT_EQ(b.read(kTile), 0u);
  b.write(kTile, kEnable);
  EXPECT_TRUE(b.level);
  EXPECT_EQ(b.read(kTile), kEnable | 1u);
}

}  // namespace
}  // namespace halogen::interrupt
