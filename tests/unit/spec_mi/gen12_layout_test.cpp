// Layouts of the MI commands of DG1: ledger rows DG1-CS-11 to 15, DG1-PRED and DG1-ALU (seed 000 lines 1138 to 1340).
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "covers.h"
#include "hw/mi.h"
#include "hw/mi_flow.h"
#include "hw/mi_memory.h"
#include "hw/mi_register.h"
#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

constexpr GenId kGen = GenId::gen12;

uint32_t length(EngineClass engine, uint32_t header) {
  return frame(DeviceId::dg1, engine, header).dwords;
}
uint32_t length(uint32_t header) {
  return length(EngineClass::render, header);
}

TEST(Dg1MiLayout, NoopBatchAndArbitrationCommandsMatchTheManual) {
  const auto noop = hw::MI_NOOP::unpack(kGen, Dwords{mi(0x00, 1u << 22 | 0x3abcdeu)});
  EXPECT_TRUE(noop.identification_number_register_write_enable);
  EXPECT_EQ(noop.identification_number, 0x3abcdeu);

  using Start = hw::MI_BATCH_BUFFER_START;
  EXPECT_EQ(length(mi(0x31, 1)), 3u);
  const Start ggtt = Start::unpack(kGen, Dwords{mi(0x31, 1u << 22 | 1u << 15 | 1), 0x12345678u, 0x00009abcu});
  EXPECT_EQ(ggtt.address_space_indicator, Start::AddressSpaceIndicator::ggtt);
  EXPECT_TRUE(ggtt.predication_enable);
  EXPECT_TRUE(ggtt.second_level_batch_buffer);
  EXPECT_EQ(ggtt.batch_buffer_start_address.value, 0x00009abc12345678u);
  const Start ppgtt = Start::unpack(kGen, Dwords{mi(0x31, 1u << 8 | 1), 0xfffffffcu, 0xffffffffu});
  EXPECT_EQ(ppgtt.address_space_indicator, Start::AddressSpaceIndicator::ppgtt);
  EXPECT_FALSE(ppgtt.predication_enable);
  EXPECT_FALSE(ppgtt.second_level_batch_buffer);
  EXPECT_EQ(ppgtt.batch_buffer_start_address.value, 0xfffffffffffffffcu);
  EXPECT_EQ(must_be_zero(Start::kDesc, kGen, {mi(0x31, 1), 0, 0}, 1), ones(1, 0));

  EXPECT_TRUE(hw::MI_BATCH_BUFFER_END::unpack(kGen, Dwords{mi(0x0a, 1)}).end_context);
  EXPECT_TRUE(hw::MI_ARB_ON_OFF::unpack(kGen, Dwords{mi(0x08, 1)}).arbitration_enable);
  EXPECT_FALSE(hw::MI_ARB_ON_OFF::unpack(kGen, Dwords{mi(0x08, 1)}).allow_lite_restore);
  EXPECT_TRUE(hw::MI_ARB_ON_OFF::unpack(kGen, Dwords{mi(0x08, 2)}).allow_lite_restore);
}

TEST(Dg1MiLayout, RegisterCommandsMatchTheManual) {
  COVERS("DG1-CS-12");
  using Imm = hw::MI_LOAD_REGISTER_IMM;
  for (const uint32_t pairs : {1u, 2u, 51u, 126u}) EXPECT_EQ(length(mi(0x22, 2 * pairs - 1)), 1 + 2 * pairs);
  const Dwords two = {mi(0x22, 1u << 19 | 1u << 12 | 0xau << 8 | 3), ones(22, 2), 1, 0x2358, 2};
  const Imm imm = Imm::unpack(kGen, two);
  EXPECT_EQ(imm.byte_write_disables, 0xa);
  EXPECT_TRUE(imm.force_posted);
  EXPECT_FALSE(imm.mmio_remap_enable);
  EXPECT_TRUE(imm.add_cs_mmio_start_offset);
  EXPECT_TRUE(Imm::unpack(kGen, Dwords{mi(0x22, 1u << 17 | 1), 0, 0}).mmio_remap_enable);
  ASSERT_EQ(Imm::count_pairs(kGen, two), 2u);
  EXPECT_EQ(Imm::unpack_pairs(kGen, two, 0).register_offset, 0x7ffffcu);
  EXPECT_EQ(Imm::unpack_pairs(kGen, two, 0).data_dword, 1u);
  EXPECT_EQ(Imm::unpack_pairs(kGen, two, 1).register_offset, 0x2358u);
  EXPECT_EQ(Imm::unpack_pairs(kGen, two, 1).data_dword, 2u);

  EXPECT_EQ(length(mi(0x29, 2)), 4u);
  EXPECT_EQ(length(mi(0x24, 2)), 4u);
  EXPECT_EQ(length(mi(0x2a, 1)), 3u);
  using Load = hw::MI_LOAD_REGISTER_MEM;
  Load load = Load::unpack(kGen, Dwords{mi(0x29, 1u << 21 | 2), 0x2600, 0x1000, 0x1});
  EXPECT_TRUE(load.async_mode_enable);
  EXPECT_FALSE(load.use_global_gtt);
  EXPECT_FALSE(load.add_cs_mmio_start_offset);
  EXPECT_EQ(load.register_address, 0x2600u);
  EXPECT_EQ(load.memory_address.value, 0x100001000u);
  load = Load::unpack(kGen, Dwords{mi(0x29, 1u << 22 | 1u << 19 | 2), 0, 0, 0});
  EXPECT_TRUE(load.use_global_gtt);
  EXPECT_TRUE(load.add_cs_mmio_start_offset);
  using Store = hw::MI_STORE_REGISTER_MEM;
  Store store = Store::unpack(kGen, Dwords{mi(0x24, 1u << 21 | 2), 0x2600, 0x1000, 0x1});
  EXPECT_TRUE(store.predicate_enable);
  EXPECT_FALSE(store.use_global_gtt);
  store = Store::unpack(kGen, Dwords{mi(0x24, 1u << 22 | 1u << 19 | 2), 0x2600, 0x1000, 0x1});
  EXPECT_TRUE(store.use_global_gtt);
  EXPECT_TRUE(store.add_cs_mmio_start_offset);
  EXPECT_EQ(store.register_address, 0x2600u);
  EXPECT_EQ(store.memory_address.value, 0x100001000u);

  using Copy = hw::MI_LOAD_REGISTER_REG;
  const Copy source = Copy::unpack(kGen, Dwords{mi(0x2a, 1u << 18 | 1), 0x2600, 0x2608});
  EXPECT_TRUE(source.add_cs_mmio_start_offset_source);
  EXPECT_FALSE(source.add_cs_mmio_start_offset_destination);
  EXPECT_EQ(source.source_register_address, 0x2600u);
  EXPECT_EQ(source.destination_register_address, 0x2608u);
  EXPECT_TRUE(Copy::unpack(kGen, Dwords{mi(0x2a, 1u << 19 | 1), 0, 0}).add_cs_mmio_start_offset_destination);
}

TEST(Dg1MiLayout, MemoryCommandsMatchTheManual) {
  COVERS("DG1-CS-13");
  using Imm = hw::MI_STORE_DATA_IMM;
  EXPECT_TRUE(Imm::unpack(kGen, Dwords{mi(0x20, 1u << 10 | 2), 0, 0, 0}).force_write_completion_check);
  EXPECT_TRUE(Imm::unpack(kGen, Dwords{mi(0x20, 1u << 21 | 3), 0, 0, 0, 0}).store_qword);
  EXPECT_TRUE(Imm::unpack(kGen, Dwords{mi(0x20, 1u << 22 | 2), 0, 0, 0}).use_global_gtt);
  EXPECT_FALSE(Imm::unpack(kGen, Dwords{mi(0x20, 1u << 21 | 1u << 10 | 3), 0, 0, 0, 0}).use_global_gtt);

  using Index = hw::MI_STORE_DATA_INDEX;
  EXPECT_TRUE(Index::unpack(kGen, Dwords{mi(0x21, 1u << 21 | 1), 0, 0}).use_per_process_hardware_status_page);
  EXPECT_FALSE(Index::unpack(kGen, Dwords{mi(0x21, 1), 0, 0}).use_per_process_hardware_status_page);
  EXPECT_EQ(Index::unpack(kGen, Dwords{mi(0x21, 1), ones(11, 2), 0}).offset, 0xffcu);

  using Copy = hw::MI_COPY_MEM_MEM;
  EXPECT_EQ(length(mi(0x2e, 3)), 5u);
  const Copy to_ggtt = Copy::unpack(kGen, Dwords{mi(0x2e, 1u << 21 | 3), 0x1000, 1, 0x2000, 2});
  EXPECT_TRUE(to_ggtt.use_global_gtt_destination);
  EXPECT_FALSE(to_ggtt.use_global_gtt_source);
  EXPECT_EQ(to_ggtt.destination_memory_address.value, 0x100001000u);
  EXPECT_EQ(to_ggtt.source_memory_address.value, 0x200002000u);
  EXPECT_TRUE(Copy::unpack(kGen, Dwords{mi(0x2e, 1u << 22 | 3), 0, 0, 0, 0}).use_global_gtt_source);

  using Flush = hw::MI_FLUSH_DW;
  EXPECT_TRUE(Flush::unpack(kGen, Dwords{mi(0x26, 1u << 8 | 3), 0, 0, 0, 0}).notify_enable);
  EXPECT_TRUE(Flush::unpack(kGen, Dwords{mi(0x26, 1u << 18 | 3), 0, 0, 0, 0}).tlb_invalidate);
  EXPECT_TRUE(Flush::unpack(kGen, Dwords{mi(0x26, 1u << 21 | 3), 0, 0, 0, 0}).store_data_index);
  EXPECT_EQ(Flush::unpack(kGen, Dwords{mi(0x26, 1u << 14 | 3), 0, 0, 0, 0}).post_sync_operation,
            hw::PostSyncOperation::WRITE_IMMEDIATE_DATA);
  EXPECT_EQ(Flush::unpack(kGen, Dwords{mi(0x26, 3u << 14 | 3), 0, 0, 0, 0}).post_sync_operation,
            hw::PostSyncOperation::WRITE_TIMESTAMP);

  using End = hw::MI_CONDITIONAL_BATCH_BUFFER_END;
  EXPECT_EQ(length(mi(0x36, 2)), 4u);
  EXPECT_TRUE(End::unpack(kGen, Dwords{mi(0x36, 1u << 19 | 2), 0, 0, 0}).compare_mask_mode);
  EXPECT_TRUE(End::unpack(kGen, Dwords{mi(0x36, 1u << 21 | 2), 0, 0, 0}).compare_semaphore);
  EXPECT_TRUE(End::unpack(kGen, Dwords{mi(0x36, 1u << 22 | 2), 0, 0, 0}).use_global_gtt);
}

TEST(Dg1MiLayout, SemaphoresMatchTheManual) {
  using Wait = hw::MI_SEMAPHORE_WAIT;
  EXPECT_EQ(length(mi(0x1c, 2)), 4u);
  EXPECT_EQ(length(mi(0x1c, 3)), 5u);
  constexpr std::array kCompare = {
      hw::SemaphoreCompare::SAD_GREATER_THAN_SDD, hw::SemaphoreCompare::SAD_GREATER_THAN_OR_EQUAL_SDD,
      hw::SemaphoreCompare::SAD_LESS_THAN_SDD,    hw::SemaphoreCompare::SAD_LESS_THAN_OR_EQUAL_SDD,
      hw::SemaphoreCompare::SAD_EQUAL_SDD,        hw::SemaphoreCompare::SAD_NOT_EQUAL_SDD,
  };
  for (uint32_t code = 0; code < kCompare.size(); ++code) {
    EXPECT_EQ(Wait::unpack(kGen, Dwords{mi(0x1c, code << 12 | 2), 0, 0, 0}).compare_operation, kCompare[code]);
  }
  EXPECT_EQ(Wait::unpack(kGen, Dwords{mi(0x1c, 1u << 15 | 2), 0, 0, 0}).wait_mode, hw::SemaphoreWaitMode::POLLING_MODE);
  EXPECT_EQ(Wait::unpack(kGen, Dwords{mi(0x1c, 2), 0, 0, 0}).wait_mode, hw::SemaphoreWaitMode::SIGNAL_MODE);
  EXPECT_TRUE(Wait::unpack(kGen, Dwords{mi(0x1c, 1u << 16 | 2), 0, 0, 0}).register_poll_mode);
  EXPECT_EQ(Wait::unpack(kGen, Dwords{mi(0x1c, 1u << 22 | 2), 0, 0, 0}).memory_type,
            Wait::MemoryType::global_graphics_address);
  const Wait token = Wait::unpack(kGen, Dwords{mi(0x1c, 3), 0x55, 0x1000, 0x2, 0x1fu << 5});
  EXPECT_EQ(token.semaphore_data_dword, 0x55u);
  EXPECT_EQ(token.semaphore_address.value, 0x200001000u);
  EXPECT_EQ(token.wait_token_number, 0x1f);

  using Signal = hw::MI_SEMAPHORE_SIGNAL;
  constexpr std::array kTargets = {"RCS",  "VCS0", "BCS",  "VECS", "VCS1",  "",      "VCS2",  "VCS3",
                                   "VCS4", "VCS5", "VCS6", "VCS7", "VECS1", "VECS2", "VECS3", ""};
  for (uint32_t code = 0; code < kTargets.size(); ++code) {
    EXPECT_EQ(value_name(Signal::kDesc, kGen, "target_engine_select", code), kTargets[code]);
    const Signal signal = Signal::unpack(kGen, Dwords{mi(0x1b, code << 15), 0x1234});
    EXPECT_EQ(static_cast<uint32_t>(signal.target_engine_select), code);
    EXPECT_EQ(signal.target_context_id, 0x1234u);
    EXPECT_FALSE(signal.post_sync_operation);
  }
  EXPECT_TRUE(Signal::unpack(kGen, Dwords{mi(0x1b, 1u << 21), 0}).post_sync_operation);
}

TEST(Dg1MiLayout, AtomicAndReportPerfCountMatchTheManual) {
  COVERS("DG1-CS-15");
  using Atomic = hw::MI_ATOMIC;
  constexpr std::array kOperations = {"",    "AND",  "OR",   "XOR",  "MOVE", "INC",  "DEC",    "ADD",
                                      "SUB", "RSUB", "IMAX", "IMIN", "UMAX", "UMIN", "CMP_WR", "PREDEC"};
  for (uint32_t code = 1; code < kOperations.size(); ++code) {
    EXPECT_EQ(value_name(Atomic::kDesc, kGen, "atomic_opcode", code), kOperations[code]);
    EXPECT_EQ(value_name(Atomic::kDesc, kGen, "atomic_opcode", 0x20 + code), std::string(kOperations[code]) + "8B");
  }
  EXPECT_EQ(value_name(Atomic::kDesc, kGen, "atomic_opcode", 0x4e), "CMP_WR16B");
  const auto flags = [](uint32_t bits) { return Atomic::unpack(kGen, Dwords{mi(0x2f, bits | 1), 0, 0}); };
  EXPECT_EQ(flags(0x2eu << 8).atomic_opcode, hw::AtomicOpcode::CMP_WR8B);
  EXPECT_TRUE(flags(1u << 16).return_data_control);
  EXPECT_TRUE(flags(1u << 17).cs_stall);
  EXPECT_TRUE(flags(1u << 18).inline_data);
  EXPECT_EQ(flags(2u << 19).data_size, hw::AtomicDataSize::OCTWORD);
  EXPECT_TRUE(flags(1u << 21).post_sync_operation);
  EXPECT_EQ(flags(1u << 22).memory_type, Atomic::MemoryType::global_graphics_address);

  using Report = hw::MI_REPORT_PERF_COUNT;
  EXPECT_EQ(frame(DeviceId::dg1, EngineClass::render, mi(0x28, 2)), (Frame{"MI_REPORT_PERF_COUNT", 4}));
  const Report report = Report::unpack(kGen, Dwords{mi(0x28, 2), 0x12345640u | 1, 0x5, 0xabcd});
  EXPECT_TRUE(report.use_global_gtt);
  EXPECT_EQ(report.memory_address.value, 0x512345640u);
  EXPECT_EQ(report.report_id, 0xabcdu);
}

TEST(Dg1MiLayout, SetPredicateMatchesTheManual) {
  COVERS("DG1-PRED-03");
  const auto name = [](uint64_t code) {
    return value_name(hw::MI_SET_PREDICATE::kDesc, kGen, "predicate_enable", code);
  };
  EXPECT_EQ(name(0), "NOOP_NEVER");
  EXPECT_EQ(name(1), "NOOP_ON_RESULT2_CLEAR");
  EXPECT_EQ(name(2), "NOOP_ON_RESULT2_SET");
  EXPECT_EQ(name(3), "NOOP_ON_RESULT_CLEAR");
  EXPECT_EQ(name(4), "NOOP_ON_RESULT_SET");
  for (uint64_t code = 5; code < 15; ++code) EXPECT_EQ(name(code), "");
  EXPECT_EQ(name(15), "NOOP_ALWAYS");
  EXPECT_EQ(hw::MI_SET_PREDICATE::unpack(kGen, Dwords{0x0080000fu}).predicate_enable,
            hw::SetPredicateEnable::NOOP_ALWAYS);
  EXPECT_EQ(must_be_zero(hw::MI_SET_PREDICATE::kDesc, kGen, {mi(0x01)}, 0), ones(22, 4));
}

TEST(Dg1MiLayout, PredicateMatchesTheManual) {
  COVERS("DG1-PRED-05");
  using Command = hw::MI_PREDICATE;
  const auto name = [](std::string_view field, uint64_t code) { return value_name(Command::kDesc, kGen, field, code); };
  EXPECT_EQ(name("compare_operation", 0), "COMPARE_TRUE");
  EXPECT_EQ(name("compare_operation", 1), "COMPARE_FALSE");
  EXPECT_EQ(name("compare_operation", 2), "COMPARE_SRCS_EQUAL");
  EXPECT_EQ(name("compare_operation", 3), "COMPARE_DELTAS_EQUAL");
  EXPECT_EQ(name("combine_operation", 0), "COMBINE_SET");
  EXPECT_EQ(name("combine_operation", 1), "COMBINE_AND");
  EXPECT_EQ(name("combine_operation", 2), "COMBINE_OR");
  EXPECT_EQ(name("combine_operation", 3), "COMBINE_XOR");
  EXPECT_EQ(name("load_operation", 0), "LOAD_KEEP");
  EXPECT_EQ(name("load_operation", 2), "LOAD_LOAD");
  EXPECT_EQ(name("load_operation", 3), "LOAD_LOADINV");
  const Command c = Command::unpack(kGen, Dwords{mi(0x0c, 3u << 6 | 1u << 3 | 2)});
  EXPECT_EQ(c.load_operation, hw::PredicateLoad::LOAD_LOADINV);
  EXPECT_EQ(c.combine_operation, hw::PredicateCombine::COMBINE_AND);
  EXPECT_EQ(c.compare_operation, hw::PredicateCompare::COMPARE_SRCS_EQUAL);
}

TEST(Dg1MiLayout, AluInstructionMatchesTheManual) {
  COVERS("DG1-ALU-02");
  // LOAD SRCA, R5 and STORE R3, ACCU as encoded in the command.
  const Dwords dwords = {mi(0x1a, 1), 0x080u << 20 | 0x20u << 10 | 0x5u, 0x180u << 20 | 0x3u << 10 | 0x31u};
  EXPECT_EQ(length(dwords[0]), 3u);
  ASSERT_EQ(hw::MI_MATH::count_instructions(kGen, dwords), 2u);
  const auto load = hw::MI_MATH::unpack_instructions(kGen, dwords, 0).instruction;
  EXPECT_EQ(load.alu_opcode, hw::MiAluOpcode::LOAD);
  EXPECT_EQ(load.operand_1, hw::MiAluOperand::SRCA);
  EXPECT_EQ(load.operand_2, hw::MiAluOperand::R5);
  const auto store = hw::MI_MATH::unpack_instructions(kGen, dwords, 1).instruction;
  EXPECT_EQ(store.alu_opcode, hw::MiAluOpcode::STORE);
  EXPECT_EQ(store.operand_1, hw::MiAluOperand::R3);
  EXPECT_EQ(store.operand_2, hw::MiAluOperand::ACCU);
}

TEST(Dg1MiLayout, AluOpcodesMatchTheManual) {
  COVERS("DG1-ALU-03");
  struct Row {
    std::string_view name;
    uint32_t code;
  };
  constexpr std::array kRows = {
      Row{"NOOP", 0x000},  Row{"LOAD", 0x080}, Row{"LOADINV", 0x480}, Row{"LOAD0", 0x081},
      Row{"LOAD1", 0x481}, Row{"ADD", 0x100},  Row{"SUB", 0x101},     Row{"AND", 0x102},
      Row{"OR", 0x103},    Row{"XOR", 0x104},  Row{"STORE", 0x180},   Row{"STOREINV", 0x580},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(value_name(hw::MI_MATH_ALU_INSTRUCTION::kDesc, kGen, "alu_opcode", row.code), row.name);
  }
  // Prefix 11:10, operation 9:7 and sub-operation 6:0 of every named code.
  size_t named = 0;
  for (uint32_t code = 0; code < 0x1000; ++code) {
    const std::string_view name = value_name(hw::MI_MATH_ALU_INSTRUCTION::kDesc, kGen, "alu_opcode", code);
    if (name.empty()) continue;
    ++named;
    const bool load = name.starts_with("LOAD");
    const bool store = name.starts_with("STORE");
    EXPECT_EQ(code >> 10, name.ends_with("INV") || name == "LOAD1" ? 1u : 0u) << name;
    EXPECT_EQ(code >> 7 & 7, name == "NOOP" ? 0u : load ? 1u : store ? 3u : 2u) << name;
    if (load) {
      EXPECT_EQ(code & 0x7f, name.ends_with("0") || name.ends_with("1") ? 1u : 0u) << name;
    }
    if (store || name == "NOOP") {
      EXPECT_EQ(code & 0x7f, 0u) << name;
    }
  }
  EXPECT_EQ(named, kRows.size());
}

TEST(Dg1MiLayout, AluRegistersMatchTheManual) {
  COVERS("DG1-ALU-04");
  for (const char* operand : {"operand_1", "operand_2"}) {
    const auto name = [&](uint64_t code) {
      return value_name(hw::MI_MATH_ALU_INSTRUCTION::kDesc, kGen, operand, code);
    };
    for (uint64_t n = 0; n < 16; ++n) EXPECT_EQ(name(n), "R" + std::to_string(n));
    EXPECT_EQ(name(0x20), "SRCA");
    EXPECT_EQ(name(0x21), "SRCB");
    EXPECT_EQ(name(0x31), "ACCU");
    EXPECT_EQ(name(0x32), "ZF");
    EXPECT_EQ(name(0x33), "CF");
    size_t named = 0;
    for (uint64_t code = 0; code < 0x400; ++code) named += name(code).empty() ? 0u : 1u;
    EXPECT_EQ(named, 21u);
  }
}

}  // namespace
}  // namespace halogen::spec_mi
