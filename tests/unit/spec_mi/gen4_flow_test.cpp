// Layouts of 965 to GM45: batches, arbitration, contexts, registers, semaphores. G45 PRM vol. 1b 1.3 to 1.18, 2.4, 3.4
// (seed 003).
#include <gtest/gtest.h>

#include "covers.h"
#include "hw/mi_flow.h"
#include "hw/mi_register.h"
#include "hw/mi_video.h"
#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

constexpr auto kRender = EngineClass::render;
constexpr auto kVideo = EngineClass::video;

TEST(Gen4MiFlow, ArbOnOffMatchesTheManual) {
  COVERS("G45-1.3-01");
  EXPECT_EQ(frame(DeviceId::gm45, kRender, mi(0x08)), (Frame{"MI_ARB_ON_OFF", 1}));
  EXPECT_FALSE(hw::MI_ARB_ON_OFF::unpack(GenId::gen4_5, Dwords{mi(0x08)}).arbitration_enable);
  EXPECT_TRUE(hw::MI_ARB_ON_OFF::unpack(GenId::gen4_5, Dwords{mi(0x08, 1)}).arbitration_enable);
  EXPECT_EQ(must_be_zero(hw::MI_ARB_ON_OFF::kDesc, GenId::gen4_5, {mi(0x08)}, 0), ones(22, 1));
}

TEST(Gen4MiFlow, BatchBufferStartMatchesTheManual) {
  COVERS("G45-1.5-01");
  using Command = hw::MI_BATCH_BUFFER_START;
  const Dwords legal = {mi(0x31), 0};
  EXPECT_EQ(frame(DeviceId::i965, kRender, legal[0]), (Frame{"MI_BATCH_BUFFER_START", 2}));
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 0), ones(22, 11) | ones(6, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 1), ones(5, 4));
    const Command c = Command::unpack(gen, Dwords{mi(0x31, 3u << 9 | 1u << 8 | 0u << 7), 0x12345640u | 0xa});
    EXPECT_EQ(c.command_arbitration_control, Command::CommandArbitrationControl::no_arbitration);
    EXPECT_EQ(c.buffer_security_indicator, Command::BufferSecurityIndicator::non_secure);
    EXPECT_EQ(c.memory_space_select, Command::MemorySpaceSelect::physical_memory);
    EXPECT_EQ(c.batch_buffer_start_address.value, 0x12345640u);
    EXPECT_EQ(c.batch_buffer_start_address_extension, 0xa);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x31, 1u << 7), 0}).memory_space_select,
              Command::MemorySpaceSelect::graphics_memory);
  }
}

TEST(Gen4MiFlow, BatchBufferStartSecurityMatchesTheManual) {
  COVERS("G45-1.5-04");
  using Command = hw::MI_BATCH_BUFFER_START;
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x31, 1u << 8), 0}).buffer_security_indicator,
              Command::BufferSecurityIndicator::non_secure);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x31, 0), 0}).buffer_security_indicator,
              Command::BufferSecurityIndicator::secure);
  }
}

TEST(Gen4MiFlow, BatchBufferStartOfTheVideoStreamerMatchesTheManual) {
  COVERS("G45-2.4-01");
  using Command = hw::MI_BATCH_BUFFER_START_VCE;
  EXPECT_EQ(frame(DeviceId::gm45, kVideo, mi(0x31)), (Frame{"MI_BATCH_BUFFER_START_VCE", 2}));
  const Command c = Command::unpack(GenId::gen4_5, Dwords{mi(0x31, 1u << 8), 0xfffffffcu});
  EXPECT_EQ(c.buffer_security_indicator, Command::BufferSecurityIndicator::non_secure);
  EXPECT_EQ(c.batch_buffer_start_address.value, 0xfffffffcu);
  EXPECT_EQ(Command::unpack(GenId::gen4_5, Dwords{mi(0x31), 0}).buffer_security_indicator,
            Command::BufferSecurityIndicator::secure);
  // Bit 7 is reserved too, but Linux sets it on this ring: by the ledger row it is not reported.
  EXPECT_EQ(must_be_zero(Command::kDesc, GenId::gen4_5, {mi(0x31), 0}, 0), ones(22, 9) | ones(6, 6));
  EXPECT_EQ(must_be_zero(Command::kDesc, GenId::gen4_5, {mi(0x31), 0}, 1), ones(1, 0));
  EXPECT_EQ(spec::find_field(Command::kDesc, GenId::gen4_5, "memory_space_select"), nullptr);
  EXPECT_EQ(spec::find_field(Command::kDesc, GenId::gen4_5, "command_arbitration_control"), nullptr);
}

TEST(Gen4MiFlow, NoopNumberHas22Bits) {
  COVERS("G45-1.11-02");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const auto c = hw::MI_NOOP::unpack(gen, Dwords{mi(0x00, 1u << 22 | 0x2aaaaau)});
    EXPECT_EQ(c.identification_number, 0x2aaaaau);
    EXPECT_TRUE(c.identification_number_register_write_enable);
    EXPECT_EQ(hw::MI_NOOP::unpack(gen, Dwords{0x007fffffu}).identification_number, 0x3fffffu);
    EXPECT_FALSE(hw::MI_NOOP::unpack(gen, Dwords{0x003fffffu}).identification_number_register_write_enable);
    EXPECT_EQ(must_be_zero(hw::MI_NOOP::kDesc, gen, {0}, 0), 0u);
  }
}

TEST(Gen4MiFlow, SetContextMatchesTheManual) {
  COVERS("G45-1.15-01");
  using Command = hw::MI_SET_CONTEXT;
  EXPECT_EQ(frame(DeviceId::gm965, kRender, mi(0x18)), (Frame{"MI_SET_CONTEXT", 2}));
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x18), 0}, 1), ones(10, 9));
    Command c = Command::unpack(gen, Dwords{mi(0x18), 0xabcde800u | 1u << 8 | 0xau << 4 | 1u << 3 | 1u << 1});
    EXPECT_EQ(c.logical_context_address.value, 0xabcde800u);
    EXPECT_EQ(c.memory_space_select, Command::MemorySpaceSelect::global_graphics_memory);
    EXPECT_EQ(c.logical_context_address_extension, 0xa);
    EXPECT_TRUE(c.extended_state_save_enable);
    EXPECT_FALSE(c.extended_state_restore_enable);
    EXPECT_TRUE(c.force_restore);
    EXPECT_FALSE(c.restore_inhibit);
    c = Command::unpack(gen, Dwords{mi(0x18), 1u << 2 | 1u << 0});
    EXPECT_EQ(c.memory_space_select, Command::MemorySpaceSelect::physical_memory);
    EXPECT_TRUE(c.extended_state_restore_enable);
    EXPECT_TRUE(c.restore_inhibit);
    EXPECT_FALSE(c.force_restore);
  }
}

TEST(Gen4MiFlow, LoadRegisterImmMatchesTheManual) {
  COVERS("G45-1.8-01");
  using Command = hw::MI_LOAD_REGISTER_IMM;
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x22, 1)), (Frame{"MI_LOAD_REGISTER_IMM", 3}));
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const Dwords legal = {mi(0x22, 1), 0, 0};
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 0), ones(22, 12) | ones(7, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 1), ones(1, 0));
    const Dwords dwords = {mi(0x22, 1u << 8 | 1), 0xfffffffcu, 0x01020304u};
    EXPECT_EQ(Command::unpack(gen, dwords).byte_write_disables, 1);  // bit 8: data byte 7:0
    ASSERT_EQ(Command::count_pairs(gen, dwords), 1u);
    EXPECT_EQ(Command::unpack_pairs(gen, dwords, 0).register_offset, 0xfffffffcu);
    EXPECT_EQ(Command::unpack_pairs(gen, dwords, 0).data_dword, 0x01020304u);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x22, 0xfu << 8 | 1), 0, 0}).byte_write_disables, 0xf);
  }
}

// G45 PRM vol. 1b 3.2 (seed 003): the blitter chapter gives the command the same bits.
TEST(Gen4MiFlow, LoadRegisterImmOfTheBlitterIsTheSame) {
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    const auto find = [&](EngineClass engine) { return spec::CommandTable::get(device, engine).find(mi(0x22, 1)); };
    EXPECT_EQ(find(EngineClass::blit), find(kRender));
    EXPECT_EQ(find(EngineClass::blit), &hw::MI_LOAD_REGISTER_IMM::kDesc);
  }
}

TEST(Gen4MiFlow, LoadRegisterImmTakesSeveralPairs) {
  COVERS("G45-1.8-06");
  using Command = hw::MI_LOAD_REGISTER_IMM;
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    const GenId gen = spec::model(device).gen;
    for (uint32_t n = 1; n <= 32; ++n) {  // the length field has six bits
      EXPECT_EQ(frame(device, kRender, mi(0x22, 2 * n - 1)), (Frame{"MI_LOAD_REGISTER_IMM", 1 + 2 * n}));
    }
    const Dwords three = {mi(0x22, 5), 0x2084, 1, 0x2088, 2, 0x208c, 3};
    ASSERT_EQ(Command::count_pairs(gen, three), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(Command::unpack_pairs(gen, three, i).register_offset, 0x2084 + 4 * i);
      EXPECT_EQ(Command::unpack_pairs(gen, three, i).data_dword, i + 1);
    }
  }
}

TEST(Gen4MiFlow, LoadRegisterImmOfTheVideoStreamerMatchesTheManual) {
  using Command = hw::MI_LOAD_REGISTER_IMM_VCE;  // the encoding of G45-2.6-01; the streamer checks its conditions
  const GenId gen = GenId::gen4_5;
  const Dwords legal = {mi(0x22, 1), 0, 0};
  for (const DeviceId device : {DeviceId::g45, DeviceId::gm45}) {
    EXPECT_EQ(frame(device, kVideo, legal[0]), (Frame{"MI_LOAD_REGISTER_IMM_VCE", 3}));
  }
  EXPECT_EQ(Command::kDesc.manual_name, "MI_LOAD_REGISTER_IMM");
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 0), ones(22, 12) | ones(7, 6));
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 1), ones(31, 23) | ones(1, 0));
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 2), 0u);
  const Dwords dwords = {mi(0x22, 5u << 8 | 1), ones(22, 2), 0x89abcdefu};
  EXPECT_EQ(Command::unpack(gen, dwords).byte_write_disables, 5);
  EXPECT_EQ(Command::unpack_pairs(gen, dwords, 0).register_offset, 0x7ffffcu);
  EXPECT_EQ(Command::unpack_pairs(gen, dwords, 0).data_dword, 0x89abcdefu);
}

TEST(Gen4MiFlow, StoreRegisterMemRegisterFieldMatchesTheManual) {
  COVERS("G45-1.18-06");
  using Command = hw::MI_STORE_REGISTER_MEM;
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x24, 1)), (Frame{"MI_STORE_REGISTER_MEM", 3}));
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const Command c = Command::unpack(gen, Dwords{mi(0x24, 1), ones(18, 2), 0});
    EXPECT_EQ(c.register_address, ones(18, 2));
    EXPECT_EQ(c.physical_start_address_extension, 0);
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x24, 1), 0, 0}, 1), ones(27, 19) | ones(1, 0));
  }
}

TEST(Gen4MiFlow, WaitForEventOfTheVideoStreamerMatchesTheManual) {
  for (const DeviceId device : {DeviceId::g45, DeviceId::gm45}) {
    EXPECT_EQ(frame(device, kVideo, mi(0x03)), (Frame{"MI_WAIT_FOR_EVENT_VCE", 1}));
  }
  using Command = hw::MI_WAIT_FOR_EVENT_VCE;
  EXPECT_EQ(Command::kDesc.manual_name, "MI_WAIT_FOR_EVENT");
  EXPECT_EQ(must_be_zero(Command::kDesc, GenId::gen4_5, {mi(0x03)}, 0), ones(22, 0));
  EXPECT_TRUE(Command::kDesc.layout(GenId::gen4_5)->fields.empty()) << "there is no event to wait for";
}

TEST(Gen4MiFlow, SemaphoreMboxMatchesTheManual) {
  COVERS("G45-3.4-01");
  using Command = hw::MI_SEMAPHORE_MBOX;
  const GenId gen = GenId::gen4_5;
  EXPECT_EQ(frame(DeviceId::gm45, kRender, mi(0x16, 1)).name, "MI_SEMAPHORE_MBOX");
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x16, 1), 0, 0}, 0), ones(19, 6));
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x16, 1), 0, 0}, 2), ones(1, 0));
  Command c = Command::unpack(gen, Dwords{mi(0x16, 1u << 22 | 1u << 20 | 1), 0x89abcdefu, 0xfffffffcu});
  EXPECT_TRUE(c.use_global_gtt);
  EXPECT_FALSE(c.update_semaphore);
  EXPECT_TRUE(c.compare_semaphore);
  EXPECT_EQ(c.semaphore_data_dword, 0x89abcdefu);
  EXPECT_EQ(c.semaphore_address.value, 0xfffffffcu);
  c = Command::unpack(gen, Dwords{mi(0x16, 1u << 21 | 1), 0, 0});
  EXPECT_FALSE(c.use_global_gtt);
  EXPECT_TRUE(c.update_semaphore);
}

TEST(Gen4MiFlow, SemaphoreMboxHasThreeDwords) {
  COVERS("G45-3.4-02");
  for (const EngineClass engine : {kRender, kVideo}) {
    EXPECT_EQ(frame(DeviceId::gm45, engine, mi(0x16, 1)), (Frame{"MI_SEMAPHORE_MBOX", 3}));
  }
  const spec::LengthRule& rule = hw::MI_SEMAPHORE_MBOX::kDesc.length_of_gen[static_cast<size_t>(GenId::gen4_5)];
  EXPECT_EQ(rule.min, 3);
  EXPECT_EQ(rule.max, 3);
  EXPECT_EQ(hw::MI_SEMAPHORE_MBOX::unpack(GenId::gen4_5, Dwords{mi(0x16, 1), 7, 0x1000}).semaphore_address.value,
            0x1000u);
}

}  // namespace
}  // namespace halogen::spec_mi
