// Offsets and layouts of the registers of a command streamer: rings, execlist ports, context status, predicates,
// watchdog. Numbers are from ledger dg1.md (seed 000) and G45 PRM vol. 1b chapter 5 (seed 003).
#include <gtest/gtest.h>

#include <array>

#include "covers.h"
#include "unit/spec_registers/registers.h"

namespace halogen::spec_registers {
namespace {

using spec::Access;

struct EngineAt {
  std::string_view name;
  uint32_t base;
};

// MMIO bases of the engines of DG1, from DG1 PRM vol. 13, Register Access and User Mode Privileges (seed 000).
constexpr std::array kDg1Engines = {EngineAt{"rcs0", 0x2000},   EngineAt{"pocs0", 0x18000}, EngineAt{"bcs0", 0x22000},
                                    EngineAt{"ccs0", 0x1a000},  EngineAt{"vcs0", 0x1c0000}, EngineAt{"vcs2", 0x1d0000},
                                    EngineAt{"vecs0", 0x1c8000}};

struct Expected {
  std::string_view name;
  uint32_t offset;
};

void expect_on_all_engines(std::span<const Expected> rows) {
  for (const EngineAt& engine : kDg1Engines) {
    for (const Expected& row : rows) {
      EXPECT_EQ(at(DeviceId::dg1, row.name, engine.name), engine.base + row.offset) << row.name << ' ' << engine.name;
    }
  }
}

TEST(Ring, EveryEngineHasFourRegisters) {
  COVERS("DG1-CS-03");
  constexpr std::array rows = {Expected{"RING_TAIL", 0x30}, Expected{"RING_HEAD", 0x34}, Expected{"RING_START", 0x38},
                               Expected{"RING_CTL", 0x3c}};
  expect_on_all_engines(rows);
  EXPECT_EQ(bits(GenId::gen12, "RING_HEAD", "wrap_count"), (Bits{31, 21}));
  EXPECT_EQ(bits(GenId::gen12, "RING_HEAD", "head_offset"), (Bits{20, 2}));
  EXPECT_EQ(bits(GenId::gen12, "RING_TAIL", "tail_offset"), (Bits{20, 3}));
  EXPECT_EQ(bits(GenId::gen12, "RING_START", "starting_address"), (Bits{31, 12}));
  EXPECT_EQ(bits(GenId::gen12, "RING_CTL", "buffer_length_pages_minus_1"), (Bits{20, 12}));
  EXPECT_EQ(bits(GenId::gen12, "RING_CTL", "automatic_report_head"), (Bits{2, 1}));
  EXPECT_EQ(bits(GenId::gen12, "RING_CTL", "enable"), (Bits{0, 0}));
}

TEST(Ring, LengthCountsPagesUpToTwoMegabytes) {
  COVERS("G45-5.3.4-04");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const Bits length = bits(gen, "RING_CTL", "buffer_length_pages_minus_1");
    ASSERT_EQ(length.lo, 12) << "the field counts 4 KB pages";
    const uint32_t largest = (1u << (length.hi - length.lo + 1)) * 4096u;
    EXPECT_EQ(largest, 2u * 1024 * 1024);
  }
}

TEST(Ring, ReportsEvery64KbOr128KbOnGen4AndEvery4KbLater) {
  EXPECT_EQ(value_name(GenId::gen4, "RING_CTL", "automatic_report_head", 1), "EVERY_64KB");
  EXPECT_EQ(value_name(GenId::gen4, "RING_CTL", "automatic_report_head", 2), "");
  EXPECT_EQ(value_name(GenId::gen4, "RING_CTL", "automatic_report_head", 3), "EVERY_128KB");
  EXPECT_EQ(value_name(GenId::gen6, "RING_CTL", "automatic_report_head", 2), "EVERY_4KB");
}

TEST(Ring, InUseBitIsTheLowestOfTheGen4Tail) {
  EXPECT_EQ(bits(GenId::gen4, "RING_TAIL", "in_use"), (Bits{0, 0}));
  EXPECT_EQ(bits(GenId::gen8, "RING_TAIL", "in_use"), Bits{});
}

TEST(Ring, IsAtTheBaseOfEachEngine) {
  EXPECT_EQ(at(DeviceId::i965, "RING_TAIL", "rcs0"), 0x2030u);
  EXPECT_EQ(at(DeviceId::g45, "RING_TAIL", "vcs0"), 0x4030u);
  EXPECT_EQ(at(DeviceId::snb, "RING_TAIL", "vcs0"), 0x12030u);
  EXPECT_EQ(at(DeviceId::snb, "RING_TAIL", "bcs0"), 0x22030u);
  EXPECT_EQ(at(DeviceId::chv, "RING_TAIL", "vecs0"), 0x1a030u);
  EXPECT_EQ(at(DeviceId::icl, "RING_TAIL", "vcs2"), 0x1d0030u);
}

TEST(Status, PageAddressHasAnotherOffsetFromSandyBridgeOn) {
  EXPECT_EQ(at(DeviceId::g45, "HWS_PGA", "rcs0"), 0x2080u);
  EXPECT_EQ(at(DeviceId::snb, "HWS_PGA", "rcs0"), 0x4080u);
  EXPECT_EQ(at(DeviceId::snb, "HWS_PGA", "vcs0"), 0x14080u);
  EXPECT_EQ(at(DeviceId::snb, "HWS_PGA", "bcs0"), 0x24080u);
  EXPECT_EQ(at(DeviceId::icl, "HWS_PGA", "vecs0"), 0x1c8080u);
}

TEST(Errors, EveryEngineHasThreeRegistersWithTheirGen12Bits) {
  constexpr std::array rows = {Expected{"EIR", 0xb0},    Expected{"EMR", 0xb4},   Expected{"ESR", 0xb8},
                               Expected{"IPEHR", 0x68},  Expected{"IPEIR", 0x64}, Expected{"HWSTAM", 0x98},
                               Expected{"HWS_PGA", 0x80}};
  expect_on_all_engines(rows);
  EXPECT_EQ(access(GenId::gen12, "EIR", "command_privilege_violation"), spec::Access::w1c);
  EXPECT_EQ(reset(DeviceId::dg1, "EMR"), 0xffff'ffffu);
}

TEST(Execlist, PortQueueAndStatusAreAtTheirOffsets) {
  constexpr std::array rows = {Expected{"ELSP", 0x230}, Expected{"EXECLIST_STATUS", 0x234},
                               Expected{"EXECLIST_CONTROL", 0x550}};
  expect_on_all_engines(rows);
  for (const EngineAt& engine : kDg1Engines) {
    for (unsigned n = 0; n < 8; ++n) {
      EXPECT_EQ(at(DeviceId::dg1, "EXECLIST_SQ_CONTENTS", engine.name, n), engine.base + 0x510 + 8 * n);
    }
    EXPECT_EQ(who(DeviceId::dg1, engine.base + 0x54c), "EXECLIST_SQ_CONTENTS");
    EXPECT_EQ(who(DeviceId::dg1, engine.base + 0x238), "EXECLIST_STATUS") << "the upper half";
  }
  EXPECT_EQ(bits(GenId::gen12, "EXECLIST_CONTROL", "load"), (Bits{0, 0}));
  EXPECT_EQ(access(GenId::gen8, "ELSP", "descriptor_part"), spec::Access::wo);
  EXPECT_EQ(at(DeviceId::bdw, "EXECLIST_SQ_CONTENTS", "rcs0"), kNowhere) << "the queue came with Gen11";
  EXPECT_EQ(at(DeviceId::bdw, "ELSP", "rcs0"), 0x2230u);
}

TEST(Execlist, ContextStatusHasItsMmioCopies) {
  COVERS("DG1-CSB-07");
  for (const EngineAt& engine : kDg1Engines) {
    EXPECT_EQ(at(DeviceId::dg1, "CTXT_ST_PTR", engine.name), engine.base + 0x3a0);
    for (unsigned n = 0; n < 6; ++n) {
      EXPECT_EQ(at(DeviceId::dg1, "CTXT_ST_BUF", engine.name, n), engine.base + 0x370 + 8 * n);
      EXPECT_EQ(at(DeviceId::dg1, "CTXT_ST_BUF_UPPER", engine.name, n), engine.base + 0x3c0 + 8 * n);
    }
  }
  EXPECT_EQ(spec::find_register("CTXT_ST_BUF")->count, 6);
  EXPECT_EQ(spec::find_register("CTXT_ST_BUF_UPPER")->count, 6);
  EXPECT_EQ(spec::find_register("CTXT_ST_BUF")->width_bits, 64);
  // Gen8 and Gen9 have six entries and three-bit pointers.
  EXPECT_EQ(at(DeviceId::skl, "CTXT_ST_BUF_UPPER", "rcs0"), kNowhere);
  EXPECT_EQ(bits(GenId::gen9, "CTXT_ST_PTR", "read_pointer"), (Bits{10, 8}));
  EXPECT_EQ(bits(GenId::gen9, "CTXT_ST_PTR", "write_pointer"), (Bits{2, 0}));
  EXPECT_EQ(bits(GenId::gen11, "CTXT_ST_PTR", "read_pointer"), (Bits{11, 8}));
  EXPECT_EQ(bits(GenId::gen11, "CTXT_ST_PTR", "write_pointer"), (Bits{3, 0}));
}

TEST(Context, RegistersOfImageAndWorkaroundBatchesAreAtTheirOffsets) {
  constexpr std::array rows = {Expected{"CTXT_SR_CTL", 0x244},
                               Expected{"BB_PER_CTX_PTR", 0x1c0},
                               Expected{"INDIRECT_CTX", 0x1c4},
                               Expected{"INDIRECT_CTX_OFFSET", 0x1c8},
                               Expected{"CCID", 0x180},
                               Expected{"CTX_TIMESTAMP", 0x3a8},
                               Expected{"SEMAPHORE_TOKEN", 0x2b4},
                               Expected{"CSB_INTERRUPT_MASK", 0x218},
                               Expected{"MI_MODE", 0x9c},
                               Expected{"GFX_MODE", 0x29c},
                               Expected{"INSTPM", 0xc0},
                               Expected{"TIMESTAMP", 0x358},
                               Expected{"PR_CTR_CTL", 0x178},
                               Expected{"PR_CTR_THRSH", 0x17c}};
  expect_on_all_engines(rows);
  for (const EngineAt& engine : kDg1Engines) {
    for (unsigned n = 0; n < 4; ++n) {
      EXPECT_EQ(at(DeviceId::dg1, "PDP", engine.name, n), engine.base + 0x270 + 8 * n);
      EXPECT_EQ(who(DeviceId::dg1, engine.base + 0x274 + 8 * n), "PDP") << "the upper half";
    }
    for (unsigned n = 0; n < 16; ++n) {
      EXPECT_EQ(at(DeviceId::dg1, "CS_GPR", engine.name, n), engine.base + 0x600 + 8 * n);
    }
  }
  EXPECT_EQ(bits(GenId::gen12, "BB_PER_CTX_PTR", "valid"), (Bits{0, 0}));
  EXPECT_EQ(bits(GenId::gen12, "BB_PER_CTX_PTR", "force"), (Bits{2, 2}));
  EXPECT_EQ(bits(GenId::gen12, "INDIRECT_CTX", "size_cachelines"), (Bits{5, 0}));
  EXPECT_EQ(bits(GenId::gen12, "CTXT_SR_CTL", "engine_context_restore_inhibit"), (Bits{0, 0}));
  EXPECT_EQ(bits(GenId::gen12, "CTXT_SR_CTL", "engine_context_save_inhibit"), (Bits{2, 2}));
  EXPECT_EQ(bits(GenId::gen12, "CTXT_SR_CTL", "inhibit_synchronous_context_switch"), (Bits{3, 3}));
  EXPECT_EQ(bits(GenId::gen12, "CTXT_SR_CTL", "oar_context_enable"), (Bits{8, 8}));
  EXPECT_EQ(bits(GenId::gen12, "GFX_MODE", "execlist_enable"), (Bits{15, 15}));
  EXPECT_EQ(bits(GenId::gen12, "GFX_MODE", "prefetch_disable"), (Bits{10, 10}));
  EXPECT_EQ(at(DeviceId::snb, "GFX_MODE", "rcs0"), 0x2520u) << "Gen6 has it elsewhere";
}

TEST(Predicate, SixRegistersAreAtTheirOffsets) {
  COVERS("DG1-PRED-01");
  constexpr std::array rows = {Expected{"MI_PREDICATE_SRC0", 0x400},     Expected{"MI_PREDICATE_SRC1", 0x408},
                               Expected{"MI_PREDICATE_DATA", 0x410},     Expected{"MI_PREDICATE_RESULT", 0x418},
                               Expected{"MI_PREDICATE_RESULT_1", 0x41c}, Expected{"MI_PREDICATE_RESULT_2", 0x3bc}};
  expect_on_all_engines(rows);
  for (const std::string_view name : {"MI_PREDICATE_SRC0", "MI_PREDICATE_SRC1", "MI_PREDICATE_DATA"}) {
    EXPECT_EQ(spec::find_register(name)->width_bits, 64) << name;
  }
  for (const std::string_view name : {"MI_PREDICATE_RESULT", "MI_PREDICATE_RESULT_1", "MI_PREDICATE_RESULT_2"}) {
    EXPECT_EQ(spec::find_register(name)->width_bits, 32) << name;
  }
}

TEST(Timestamp, UnitDependsOnTheGeneration) {
  EXPECT_EQ(bits(GenId::gen6, "TIMESTAMP", "ticks"), (Bits{35, 0}));
  EXPECT_EQ(bits(GenId::gen12, "TIMESTAMP", "ticks"), (Bits{35, 0}));
  // On G45 the upper dword counts 1024 ns: bit 20 is a quarter nanosecond.
  EXPECT_EQ(bits(GenId::gen4_5, "TIMESTAMP", "quarter_nanoseconds"), (Bits{63, 20}));
}

TEST(Watchdog, ControlNamesItsTwoUnits) {
  EXPECT_EQ(bits(GenId::gen12, "PR_CTR_CTL", "count_select"), (Bits{31, 31}));
  EXPECT_EQ(bits(GenId::gen12, "PR_CTR_CTL", "control"), (Bits{30, 0}));
  EXPECT_EQ(value_name(GenId::gen12, "PR_CTR_CTL", "control", 0), "enable");
  EXPECT_EQ(value_name(GenId::gen12, "PR_CTR_CTL", "control", 1), "disable");
  EXPECT_EQ(value_name(GenId::gen12, "PR_CTR_CTL", "count_select", 0), "timestamp_toggles");
}

}  // namespace
}  // namespace halogen::spec_registers
