// pack() with hand-made dwords from the manuals, and the values that it refuses.
#include <gtest/gtest.h>

#include <array>

#include "hw/mi_memory.h"
#include "hw/mi_register.h"
#include "hw/mode.h"
#include "hw/page_tables.h"
#include "hw/ring.h"
#include "hw/sampler.h"
#include "spec/packing.h"

namespace halogen::spec {
namespace {

TEST(Pack, WritesMatchLengthAndFields) {
  hw::MI_STORE_DATA_IMM store;
  store.address = GpuVa{0x1234'5678'9abc};
  store.use_global_gtt = true;
  std::array<uint32_t, 4> out{};
  ASSERT_TRUE(store.pack(GenId::gen9, out));
  // Opcode 20h in 28:23, bit 22 global, length 4 - 2; a 48-bit address in dwords 1 and 2.
  EXPECT_EQ(out[0], (0x20u << 23) | (1u << 22) | 2u);
  EXPECT_EQ(out[1], 0x5678'9abcu);
  EXPECT_EQ(out[2], 0x1234u);
  EXPECT_EQ(out[3], 0u);
}

TEST(Pack, MemberPositionDependsOnTheGeneration) {
  hw::MI_STORE_DATA_IMM store;
  store.address = GpuVa{0x1000};
  store.use_global_gtt = true;
  std::array<uint32_t, 4> out{};
  ASSERT_TRUE(store.pack(GenId::gen4, out));
  EXPECT_EQ(out[0], (0x20u << 23) | (1u << 21) | 2u);
  EXPECT_EQ(out[2], 0x1000u);
}

TEST(Pack, RestGroupsArePackedOneByOne) {
  std::array<uint32_t, 5> out{};
  ASSERT_TRUE(hw::MI_LOAD_REGISTER_IMM{}.pack(GenId::gen9, out));
  ASSERT_EQ(hw::MI_LOAD_REGISTER_IMM::count_pairs(GenId::gen9, out), 2u);
  ASSERT_TRUE(hw::MI_LOAD_REGISTER_IMM::pack_pairs(GenId::gen9, out, 0, {.register_offset = 0x2358, .data_dword = 7}));
  ASSERT_TRUE(hw::MI_LOAD_REGISTER_IMM::pack_pairs(GenId::gen9, out, 1, {.register_offset = 0x235c, .data_dword = 8}));
  EXPECT_EQ(out, (std::array<uint32_t, 5>{0x11000003, 0x2358, 7, 0x235c, 8}));
  EXPECT_EQ(hw::MI_LOAD_REGISTER_IMM::unpack_pairs(GenId::gen9, out, 1).register_offset, 0x235cu);
  EXPECT_EQ(hw::MI_LOAD_REGISTER_IMM::unpack_pairs(GenId::gen9, out, 2).register_offset, 0u);  // past the end
  const PackResult past = hw::MI_LOAD_REGISTER_IMM::pack_pairs(GenId::gen9, out, 2, {});
  EXPECT_EQ(past.fault, PackFault::wrong_length);
}

TEST(Pack, RefusesAValueThatDoesNotFit) {
  hw::MI_STORE_DATA_IMM store;
  store.address = GpuVa{uint64_t{1} << 48};
  std::array<uint32_t, 4> out{};
  const PackResult wide = store.pack(GenId::gen9, out);
  EXPECT_EQ(wide.fault, PackFault::too_wide);
  EXPECT_EQ(wide.field, "address");
  EXPECT_EQ(describe(wide), "field address: the value does not fit");
  store.address = GpuVa{0x1002};  // bit 1 is below the field
  EXPECT_EQ(store.pack(GenId::gen9, out).fault, PackFault::too_wide);
}

TEST(Pack, RefusesAFieldThatTheGenerationLacks) {
  hw::MI_STORE_DATA_IMM store;
  store.store_qword = true;
  std::array<uint32_t, 4> out{};
  const PackResult result = store.pack(GenId::gen4, out);
  EXPECT_EQ(result.fault, PackFault::absent);
  EXPECT_EQ(result.field, "store_qword");
  EXPECT_TRUE(store.pack(GenId::gen8, out));
}

TEST(Pack, RefusesAWrongLength) {
  std::array<uint32_t, 3> three{};
  EXPECT_EQ(hw::MI_STORE_DATA_IMM{}.pack(GenId::gen9, three).fault, PackFault::wrong_length);
  EXPECT_EQ(hw::MI_STORE_DATA_IMM{}.pack(GenId::gen9, {}).fault, PackFault::wrong_length);
  EXPECT_EQ(hw::GTT_PTE{}.pack(GenId::gen4, three).fault, PackFault::wrong_length);
  EXPECT_EQ(hw::RING_TAIL{}.pack(GenId::gen4, three).fault, PackFault::wrong_length);
}

TEST(Pack, RefusesAnUndescribedGeneration) {
  std::array<uint32_t, 4> out{};
  EXPECT_EQ(hw::MI_STORE_DATA_IMM{}.pack(GenId::gen7, out).fault, PackFault::no_such_item);
}

TEST(Pack, FixedPointFieldsRoundTripInTheirRange) {
  hw::SAMPLER_STATE sampler;
  std::array<uint32_t, 4> out{};
  for (const double bias : {-16.0, -0.5, 0.0, 1.25, 15.99609375}) {  // S4.8: -16 to 16 - 1/256
    sampler.texture_lod_bias = bias;
    ASSERT_TRUE(sampler.pack(GenId::gen9, out)) << bias;
    EXPECT_EQ(bits(out[0], 13, 1), static_cast<uint64_t>(static_cast<int64_t>(bias * 256)) & 0x1fff) << bias;
    EXPECT_EQ(hw::SAMPLER_STATE::unpack(GenId::gen9, out).texture_lod_bias, bias);
  }
  for (const double bias : {16.0, -16.01, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    sampler.texture_lod_bias = bias;
    EXPECT_EQ(sampler.pack(GenId::gen9, out).field, "texture_lod_bias") << bias;
  }
}

TEST(Pack, RegistersArePackedAsNumbers) {
  const auto tail = unpack_register<hw::RING_TAIL>(GenId::gen9, 0x1234'5678);
  EXPECT_EQ(tail.tail_offset, 0x1234'5678u & 0x1f'fff8u);  // bits 20:3, in place
  uint64_t value = 0;
  ASSERT_TRUE(pack_register(tail, GenId::gen9, value));
  EXPECT_EQ(value, 0x1234'5678u & 0x1f'fff8u);
}

}  // namespace
}  // namespace halogen::spec
