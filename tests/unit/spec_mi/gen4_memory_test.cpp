// Layouts of 965 to GM45: stores, flushes, probes. G45 PRM vol. 1b 1.7, 1.13, 1.16, 1.17, 2.9, 3.5 (seed 003).
#include <gtest/gtest.h>

#include "covers.h"
#include "hw/mi_memory.h"
#include "hw/mi_video.h"
#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

constexpr auto kRender = EngineClass::render;
constexpr auto kVideo = EngineClass::video;

TEST(Gen4MiMemory, FlushMatchesTheManual) {
  COVERS("G45-1.7-01");
  using Command = hw::MI_FLUSH;
  EXPECT_EQ(must_be_zero(Command::kDesc, GenId::gen4, {mi(0x04)}, 0), ones(22, 4) | ones(0, 0));
  // Linux sets bit 5 on G45; it is reserved but not reported there.
  EXPECT_EQ(must_be_zero(Command::kDesc, GenId::gen4_5, {mi(0x04)}, 0), (ones(22, 4) | ones(0, 0)) & ~ones(5, 5));
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    Command expected{};
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x04)}), expected);
    expected.global_snapshot_count_reset = true;
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x04, 1u << 3)}), expected);
    expected = {};
    expected.render_cache_flush_inhibit = true;
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x04, 1u << 2)}), expected);
    expected = {};
    expected.state_instruction_cache_invalidate = true;
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x04, 1u << 1)}), expected);
  }
}

TEST(Gen4MiMemory, FlushOpcodeMatchesTheManual) {
  COVERS("G45-1.7-06");
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    EXPECT_EQ(frame(device, kRender, 0x02000000), (Frame{"MI_FLUSH", 1}));  // 04h in 28:23
  }
}

TEST(Gen4MiMemory, ProbeMatchesTheManual) {
  COVERS("G45-1.13.1-01");
  using Command = hw::MI_PROBE;
  const GenId gen = GenId::gen4_5;
  EXPECT_EQ(frame(DeviceId::gm45, kRender, mi(0x25, 0x3ff)), (Frame{"MI_PROBE", 0x401}));
  const Dwords dwords = {mi(0x25, 1), 0xfffff000u, 0x00001000u | 1023};
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, dwords, 0), ones(22, 10));
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, dwords, 1), ones(11, 10));
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, dwords, 2), ones(11, 10));
  ASSERT_EQ(Command::count_probes(gen, dwords), 2u);
  EXPECT_EQ(Command::unpack_probes(gen, dwords, 0).surface_page_base_address.value, 0xfffff000u);
  EXPECT_EQ(Command::unpack_probes(gen, dwords, 0).slot_number, 0);
  EXPECT_EQ(Command::unpack_probes(gen, dwords, 1).surface_page_base_address.value, 0x1000u);
  EXPECT_EQ(Command::unpack_probes(gen, dwords, 1).slot_number, 1023);
}

TEST(Gen4MiMemory, StoreDataImmMatchesTheManual) {
  COVERS("G45-1.16-01");
  using Command = hw::MI_STORE_DATA_IMM;
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const Dwords dword = {mi(0x20, 1u << 22 | 2), 0, 0x12345678u, 0xcafef00du};
    const Dwords qword = {mi(0x20, 1u << 21 | 3), 0xa, 0x12345678u, 0x01234567u, 0x89abcdefu};
    const DeviceId device = gen == GenId::gen4 ? DeviceId::i965 : DeviceId::gm45;
    EXPECT_EQ(frame(device, kRender, dword[0]), (Frame{"MI_STORE_DATA_IMM", 4}));
    EXPECT_EQ(frame(device, kRender, qword[0]), (Frame{"MI_STORE_DATA_IMM", 5}));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, dword, 0), ones(20, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, dword, 1), ones(31, 4));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, dword, 2), ones(1, 0));

    Command c = Command::unpack(gen, dword);
    EXPECT_EQ(c.memory_address_type, Command::MemoryAddressType::graphics_address);
    EXPECT_FALSE(c.use_global_gtt);
    EXPECT_EQ(c.address.value, 0x12345678u);
    ASSERT_EQ(Command::count_data(gen, dword), 1u);
    EXPECT_EQ(Command::unpack_data(gen, dword, 0).data_dword, 0xcafef00du);

    c = Command::unpack(gen, qword);
    EXPECT_EQ(c.memory_address_type, Command::MemoryAddressType::physical_address);
    EXPECT_TRUE(c.use_global_gtt);
    EXPECT_EQ(c.physical_start_address_extension, 0xa);
    ASSERT_EQ(Command::count_data(gen, qword), 2u);
    EXPECT_EQ(Command::unpack_data(gen, qword, 0).data_dword, 0x01234567u);
    EXPECT_EQ(Command::unpack_data(gen, qword, 1).data_dword, 0x89abcdefu);
  }
}

TEST(Gen4MiMemory, StoreDataImmLengthBiasIsTwo) {
  COVERS("G45-1.16-07");
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x20, 2)).dwords, 4u);
  EXPECT_EQ(hw::MI_STORE_DATA_IMM::kDesc.length_of_gen[static_cast<size_t>(GenId::gen4)].bias, 2);
}

TEST(Gen4MiMemory, StoreDataImmAddressIsInDwordTwo) {
  COVERS("G45-3.5-02");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const auto c = hw::MI_STORE_DATA_IMM::unpack(gen, Dwords{mi(0x20, 1u << 22 | 2), 0, 0xfffffffcu, 0});
    EXPECT_EQ(c.address.value, 0xfffffffcu);
  }
}

TEST(Gen4MiMemory, StoreDataImmOfTheVideoStreamerMatchesTheManual) {
  COVERS("G45-2.9-01");
  using Command = hw::MI_STORE_DATA_IMM_VCE;
  const GenId gen = GenId::gen4_5;
  const Dwords qword = {mi(0x20, 1u << 22 | 3), 0, 0xfffffff8u, 1, 2};
  EXPECT_EQ(frame(DeviceId::gm45, kVideo, mi(0x20, 2)), (Frame{"MI_STORE_DATA_IMM_VCE", 4}));
  EXPECT_EQ(frame(DeviceId::gm45, kVideo, qword[0]), (Frame{"MI_STORE_DATA_IMM_VCE", 5}));
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, qword, 1), ~0u);
  EXPECT_EQ(must_be_zero(Command::kDesc, gen, qword, 2), ones(1, 0));
  EXPECT_TRUE(Command::unpack(gen, qword).use_global_gtt);
  EXPECT_FALSE(Command::unpack(gen, Dwords{mi(0x20, 2), 0, 0, 0}).use_global_gtt);
  EXPECT_EQ(Command::unpack(gen, qword).address.value, 0xfffffff8u);
  ASSERT_EQ(Command::count_data(gen, qword), 2u);
  EXPECT_EQ(Command::unpack_data(gen, qword, 0).data_dword, 1u);
  EXPECT_EQ(Command::unpack_data(gen, qword, 1).data_dword, 2u);
}

TEST(Gen4MiMemory, StoreDataImmOfTheVideoStreamerReserves21To6) {
  COVERS("G45-2.9-04");
  EXPECT_EQ(must_be_zero(hw::MI_STORE_DATA_IMM_VCE::kDesc, GenId::gen4_5, {mi(0x20, 2), 0, 0, 0}, 0), ones(21, 6));
}

TEST(Gen4MiMemory, Bit22OfStoreDataImmDependsOnTheStreamer) {
  COVERS("G45-2.9-05");
  const uint32_t header = mi(0x20, 1u << 22 | 2);
  EXPECT_EQ(frame(DeviceId::gm45, kRender, header).name, "MI_STORE_DATA_IMM");
  EXPECT_EQ(frame(DeviceId::gm45, kVideo, header).name, "MI_STORE_DATA_IMM_VCE");
  const Dwords dwords = {header, 0, 0x1000, 0};
  EXPECT_EQ(hw::MI_STORE_DATA_IMM::unpack(GenId::gen4_5, dwords).memory_address_type,
            hw::MI_STORE_DATA_IMM::MemoryAddressType::graphics_address);
  EXPECT_FALSE(hw::MI_STORE_DATA_IMM::unpack(GenId::gen4_5, dwords).use_global_gtt);
  EXPECT_TRUE(hw::MI_STORE_DATA_IMM_VCE::unpack(GenId::gen4_5, dwords).use_global_gtt);
}

TEST(Gen4MiMemory, StoreDataIndexMatchesTheManual) {
  COVERS("G45-1.17-01");
  using Command = hw::MI_STORE_DATA_INDEX;
  const Dwords qword = {mi(0x21, 2), 1023u << 2, 0x01234567u, 0x89abcdefu};
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    const GenId gen = spec::model(device).gen;
    EXPECT_EQ(frame(device, kRender, mi(0x21, 1)), (Frame{"MI_STORE_DATA_INDEX", 3}));
    EXPECT_EQ(frame(device, kRender, qword[0]), (Frame{"MI_STORE_DATA_INDEX", 4}));
    // Bit 22 selects the surface probe list, which only hardware may write. On G45 and GM45, bit 21 selects the status
    // page of the process.
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, qword, 0), gen == GenId::gen4 ? ones(21, 6) : ones(20, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, qword, 1), ones(31, 12) | ones(1, 0));
    const Command c = Command::unpack(gen, qword);
    EXPECT_EQ(c.offset, 1023u * 4);
    EXPECT_EQ(c.data_dword_0, 0x01234567u);
    EXPECT_EQ(c.data_dword_1, 0x89abcdefu);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x21, 1), 16u << 2, 5}).offset, 64u);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x21, 1), 16u << 2, 5}).data_dword_1, 0u);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x21, 1u << 21 | 1), 64, 5}).use_per_process_hardware_status_page,
              gen == GenId::gen4_5);
  }
}

}  // namespace
}  // namespace halogen::spec_mi
