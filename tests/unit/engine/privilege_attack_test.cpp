// Attacks of a batch of a process: it must not write control registers, reach the global table, or change a command
// that was checked. Every attack is a command that hardware defines. DG1 PRM vol. 13, User Mode Privileged Commands
// (seed 000); registers as Linux i915 names them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "covers.h"
#include "engine_events.h"
#include "mmio/privilege.h"
#include "user_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kGlobal = 1u << 22;
constexpr uint32_t kNopid = 0x94, kGpr = 0x600, kSlots = 0x4d0, kMode = 0x29c;
constexpr uint32_t kCheckDisable = 0x0001'0001;  // GFX_MODE, masked

// Offsets from the engine's base.
constexpr std::array kControl{
    0x030u,  // RING_TAIL
    0x034u,  // RING_HEAD
    0x038u,  // RING_START
    0x03cu,  // RING_CTL
    0x080u,  // HWS_PGA
    0x098u,  // HWSTAM
    0x09cu,  // MI_MODE
    0x0a8u,  // IMR
    0x0b0u,  // EIR
    0x0b4u,  // EMR
    0x0d0u,  // RESET_CTL
    0x180u,  // CCID
    0x230u,  // execlist port
    0x244u,  // CTXT_SR_CTL
    0x270u,  // page directory pointers
    0x274u, 0x278u, 0x27cu, 0x280u, 0x284u, 0x288u, 0x28cu,
    0x29cu,  // GFX_MODE
    0x4d0u,  // FORCE_TO_NONPRIV
    0x4fcu,
};
// Absolute offsets: fault registers, resets, force wake, masters of interrupts, a display plane, swizzling, fences.
constexpr std::array kOthers{0x4094u,  0x941cu,  0x9424u,  0xa188u,   0x44200u,  0x44304u,
                             0x7019cu, 0x70084u, 0x45010u, 0x100000u, 0x190010u, 0x190030u};

class PrivilegeAttack : public ::testing::TestWithParam<const char*> {
 protected:
  static std::vector<std::string_view> engines(const ContextBench& bench) {
    std::vector<std::string_view> names;
    for (const spec::EngineModel& engine : bench.model.engines) {
      if (engine.name == "rcs0" || engine.name == "bcs0" || engine.name == "vcs0") names.push_back(engine.name);
    }
    return names;
  }
  static std::vector<uint32_t> targets(const UserBench& bench) {
    std::vector<uint32_t> out(kOthers.begin(), kOthers.end());
    for (const uint32_t offset : kControl) out.push_back(bench.base + offset);
    return out;
  }
  // The commands that write a register; the value is in memory at kData and in register `source`.
  static std::vector<Dwords> ways(const UserBench& bench, uint32_t offset, uint32_t value) {
    const uint32_t source = bench.base + kGpr;
    std::vector<Dwords> out{{0x1100'0001, offset, value},                     // MI_LOAD_REGISTER_IMM
                            {0x1480'0002, offset, low(UserBench::kData), 0},  // MI_LOAD_REGISTER_MEM
                            {0x1500'0001, source, offset},                    // MI_LOAD_REGISTER_REG
                            {0x1100'0003, source, value, offset, value}};     // the second pair
    if (bench.engine == "rcs0") {
      out.push_back({0x7a00'0004, 1u << 20 | 1u << 23 | 1u << 14, offset, 0, value, 0});  // PIPE_CONTROL
    }
    return out;
  }
};

TEST_P(PrivilegeAttack, ControlRegistersCannotBeWritten) {
  const ContextBench chip(GetParam());
  for (const std::string_view engine : engines(chip)) {
    UserBench bench(GetParam(), engine);
    for (const uint32_t offset : targets(bench)) {
      const uint32_t before = bench.read(offset);
      for (const uint32_t value : {kCheckDisable, 0xffff'ffffu, 0x0bad'c0deu}) {
        bench.poke(bench.data, value);
        for (const Dwords& way : ways(bench, offset, value)) {
          bench.host.log.clear();
          bench.user(way);
          EXPECT_TRUE(bench.violated()) << engine << std::hex << ' ' << offset << ' ' << way[0];
          EXPECT_EQ(bench.host.log.count(EventKind::bad_access), 1u) << engine << std::hex << ' ' << offset;
          if (offset != bench.base + 0x034 && offset != bench.base + 0x030) {  // the ring's position moves by itself
            EXPECT_EQ(bench.read(offset), before) << engine << std::hex << ' ' << offset << ' ' << way[0];
          }
        }
      }
    }
  }
}

// The bit that switches the check off, and what it would allow.
TEST_P(PrivilegeAttack, PrivilegeCheckCannotBeDisabled) {
  UserBench bench(GetParam());
  bench.user({0x1100'0001, bench.base + kMode, kCheckDisable, 0x1000'0002 | kGlobal, low(bench.data), 0, 0x66});
  EXPECT_EQ(bench.value(kMode) & 1, 0u);
  EXPECT_EQ(bench.peek(bench.data), 0u);
  EXPECT_TRUE(bench.violated());
}

// A batch cannot open a register for itself.
TEST_P(PrivilegeAttack, SlotsCannotBeProgrammed) {
  UserBench bench(GetParam());
  bench.user({0x1100'0003, bench.base + kSlots, bench.base + kMode, bench.base + kMode, kCheckDisable});
  bench.user({0x1100'0001, bench.base + kMode, kCheckDisable});
  EXPECT_EQ(bench.value(kSlots), 0u);
  EXPECT_EQ(bench.value(kMode) & 1, 0u);
}

// Each refused dword raises one Event with its offset, so the Events are the refused set. The expected set is that of
// the lists, which mmio tests compare with their sources.
TEST_P(PrivilegeAttack, EveryRefusedWriteIsAnEvent) {
  UserBench bench(GetParam());
  const mmio::Privilege lists(bench.model.id, bench.engine_model("rcs0"));
  constexpr uint32_t kChunk = 300;  // loads of one dword in a page of commands
  std::set<uint32_t> refused;
  std::set<uint32_t> expected;
  bench.host.on_each_event = [&](const Event& event) {
    if (event.kind == EventKind::bad_access) refused.insert(static_cast<uint32_t>(event.value));
  };
  for (const auto& [first, last] :
       {std::pair{0u, 0x10000u}, std::pair{0x17000u, 0x25000u}, std::pair{0x40000u, 0x48000u},
        std::pair{0x100000u, 0x104000u}, std::pair{0x138000u, 0x139000u}, std::pair{0x144000u, 0x146000u},
        std::pair{0x190000u, 0x191000u}}) {
    for (uint32_t offset = first; offset < last;) {
      Dwords batch;
      for (uint32_t i = 0; i < kChunk && offset < last; ++i, offset += 4) {
        batch.insert(batch.end(), {0x1100'0001, offset, 0});
        if (!lists.allows(offset, mmio::RegisterAccess::write, {})) expected.insert(offset);
      }
      bench.user(batch);
      bench.host.log.clear();
    }
  }
  EXPECT_EQ(refused.size(), expected.size());
  EXPECT_TRUE(refused == expected);
}

// Gen11 and later check reads too.
TEST_P(PrivilegeAttack, ReadsFollowTheLists) {
  UserBench bench(GetParam());
  const mmio::Privilege lists(bench.model.id, bench.engine_model("rcs0"));
  bench.ring({0x1100'0001, bench.base + 0x98, 0x11});
  for (const uint32_t offset : targets(bench)) {
    const bool readable = !bench.has_queue();
    EXPECT_EQ(lists.allows(offset, mmio::RegisterAccess::read, {}), readable) << std::hex << offset;
    bench.poke(bench.data, 0xffff'ffff);
    bench.user({0x1200'0002, offset, low(UserBench::kData), 0});  // MI_STORE_REGISTER_MEM
    EXPECT_EQ(bench.violated(), !readable) << std::hex << offset;
    if (!readable) {
      EXPECT_EQ(bench.peek(bench.data), 0u) << std::hex << offset;
    }
    bench.user({0x1500'0001, offset, bench.base + kGpr});  // MI_LOAD_REGISTER_REG
    EXPECT_EQ(bench.violated(), !readable) << std::hex << offset;
    if (!readable) {
      EXPECT_EQ(bench.value(kGpr), 0u) << std::hex << offset;
    }
  }
}

// The check sees an open register; memory then names another one. The change is made in the middle of the command: the
// first pair writes a register without a description, which raises an Event.
TEST_P(PrivilegeAttack, CommandCannotChangeAfterItWasChecked) {
  UserBench bench(GetParam());
  constexpr uint32_t kNothing = 0x2ff8;
  bench.set_reg("rcs0", kSlots, kNothing);  // opened by the kernel
  bool changed = false;
  bench.host.on_each_event = [&](const Event& event) {
    if (event.kind == EventKind::unclaimed_register && event.address == kNothing) {
      bench.poke(bench.code + 12, bench.base + kMode);
      changed = true;
    }
  };
  bench.user({0x1100'0003, kNothing, 0, bench.base + kNopid, kCheckDisable});
  EXPECT_TRUE(changed);
  EXPECT_EQ(bench.value(kMode) & 1, 0u) << "the changed pair was executed";
  EXPECT_EQ(bench.value(kNopid), kCheckDisable & 0x3f'ffff) << "the pair that was checked was executed";
  EXPECT_FALSE(bench.violated());
}

// The same for a command that crosses a page boundary, whose dwords are collected.
TEST_P(PrivilegeAttack, SplitCommandCannotChangeAfterItWasChecked) {
  UserBench bench(GetParam());
  constexpr uint32_t kNothing = 0x2ff8;
  const uint64_t second = bench.allocate(1);
  bench.map_process(bench.context, UserBench::kCode + 0x1000, second);
  bench.set_reg("rcs0", kSlots, kNothing);
  bench.host.on_each_event = [&](const Event& event) {
    if (event.kind == EventKind::unclaimed_register && event.address == kNothing) {
      bench.poke(second, bench.base + kMode);
    }
  };
  bench.poke(bench.code + 0xff4, {0x1100'0003, kNothing, 0});
  bench.poke(second, {bench.base + kNopid, kCheckDisable, 0x0500'0000});
  bench.ring({0x1880'0101, low(UserBench::kCode) + 0xff4, high(UserBench::kCode)});
  EXPECT_EQ(bench.value(kMode) & 1, 0u);
  EXPECT_EQ(bench.value(kNopid), kCheckDisable & 0x3f'ffff);
}

INSTANTIATE_TEST_SUITE_P(Chips, PrivilegeAttack, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

// Gen4 to Gen6: a batch that is not secure writes no register, flips no plane and stores to no status page.
class EarlyAttack : public ::testing::TestWithParam<const char*> {};

TEST_P(EarlyAttack, NoRegisterCanBeWritten) {
  for (const uint32_t offset : {0x2030u, 0x203cu, 0x2080u, 0x2098u, 0x20a8u, 0x20c0u, 0x2120u, 0x2180u, 0x2310u,
                                0x2520u, 0x7019cu, 0x70184u, 0x3000u, 0x101000u}) {
    MiBench bench(GetParam());
    const uint32_t before = bench.read(offset);
    bench.go_in_batch(bench.load(offset, 0x0bad'c0de) + bench.load(offset, 0xffff'ffff), false);
    if (offset != 0x2030) {
      EXPECT_EQ(bench.read(offset), before) << std::hex << offset;
    }
  }
}

TEST_P(EarlyAttack, SecureBatchMayWriteRegisters) {
  MiBench bench(GetParam());
  bench.go_in_batch(bench.load(0x2310, 0x1234), true);
  EXPECT_EQ(bench.read(0x2310), 0x1234u);
}

INSTANTIATE_TEST_SUITE_P(Chips, EarlyAttack, ::testing::Values("i965", "gm965", "g45", "gm45", "snb"),
                         [](const auto& chip) { return std::string(chip.param); });

TEST(SandyBridgeAttack, FlipsAndStatusPagesArePrivileged) {
  MiBench bench("snb");
  constexpr uint32_t kSurface = 0x7019c;
  const auto surface = static_cast<uint32_t>(bench.allocate(64));
  const uint32_t before = bench.read(kSurface);
  const uint64_t page = bench.allocate(1);
  bench.set_reg("rcs0", 0x2080, low(page));  // HWS_PGA
  bench.go_in_batch({0x0a00'0001, 4096, surface}, false);
  EXPECT_EQ(bench.read(kSurface), before);
  bench.go_in_batch({0x1080'0001, 0x40 << 2, 0x77}, false);                                 // MI_STORE_DATA_INDEX
  bench.go_in_batch({0x7a00'0003, 1u << 20 | 1u << 21 | 1u << 14, 0x100, 0x55, 0}, false);  // PIPE_CONTROL
  EXPECT_EQ(bench.peek(page + 0x100), 0u);
}

}  // namespace
}  // namespace halogen
