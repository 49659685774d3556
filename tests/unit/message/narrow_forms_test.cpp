// Rare forms of data port messages: 16-bit atomics (Gen12) and SIMD4x2 (up to Gen11). Expected values are computed by
// hand.
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

class HalfAtomics : public MessageBench {};

constexpr uint32_t kUntyped = 3, kUntypedFloat = 28, kA64 = 19, kA64Float = 30;

TEST_P(HalfAtomics, IntegersTouchTheirHalfOnly) {
  bind_raw(2, 0x5000, 64);
  const auto run = [&](unsigned operation, uint16_t memory, uint32_t first, uint32_t second) {
    word(0x5004) = 0x1234u | uint32_t{memory} << 16;
    grf(kPayload, 3) = 6;
    grf(kPayload + 1, 3) = first | 0xabcd'0000;  // the upper half of an operand is ignored
    grf(kPayload + 2, 3) = second | 0xabcd'0000;
    EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | kUntyped << 14 | (0x30 | operation) << 8 | 2, 8, 8),
              SendOutcome::done);
    EXPECT_EQ(word(0x5004) & 0xffff, 0x1234u);
    EXPECT_EQ(response(0, 3), operation == 15 ? (memory - 1u) & 0xffff : memory);
    return word(0x5004) >> 16;
  };
  EXPECT_EQ(run(1, 0xff00, 0x0ff0, 0), 0x0f00u);
  EXPECT_EQ(run(5, 0xffff, 0, 0), 0u);
  EXPECT_EQ(run(7, 0xfff0, 0x20, 0), 0x10u);
  EXPECT_EQ(run(10, 0xffff, 1, 0), 1u) << "signed";
  EXPECT_EQ(run(12, 0xffff, 1, 0), 0xffffu) << "unsigned";
  EXPECT_EQ(run(14, 5, 5, 8), 8u);
  EXPECT_EQ(run(14, 5, 6, 8), 5u);
  EXPECT_EQ(run(15, 0, 0, 0), 0xffffu);
  EXPECT_EQ(log_.events().size(), 0u);
}

TEST_P(HalfAtomics, FloatsStoreTheResultOfTheirOperation) {
  constexpr uint16_t kOne = 0x3c00, kTwo = 0x4000, kMinusTwo = 0xc000, kNan = 0x7e00;
  bind_raw(2, 0x5000, 64);
  const auto run = [&](unsigned operation, uint16_t memory, uint32_t first, uint32_t second) {
    word(0x5000) = memory;
    grf(kPayload) = 0;
    grf(kPayload + 1) = first;
    grf(kPayload + 2) = second;
    EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | kUntypedFloat << 14 | (0x30 | operation) << 8 | 2, 1, 1),
              SendOutcome::done);
    EXPECT_EQ(response(0, 0), memory);
    return word(0x5000);
  };
  EXPECT_EQ(run(1, kOne, kTwo, 0), kTwo);
  EXPECT_EQ(run(1, kOne, kMinusTwo, 0), kOne);
  EXPECT_EQ(run(2, kOne, kMinusTwo, 0), kMinusTwo);
  EXPECT_EQ(run(2, kNan, kOne, 0), kOne);
  EXPECT_EQ(run(3, kOne, kOne, kTwo), kTwo);
  EXPECT_EQ(run(3, kOne, kTwo, kTwo), kOne);
}

TEST_P(HalfAtomics, WorkWith64BitAddresses) {
  word(0x8000) = 0x0005'0007;
  grf64(kPayload, 0) = kVa + 0x8002;
  grf(kPayload + 2) = 3;
  EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | kA64 << 14 | 0x2700 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(word(0x8000), 0x0008'0007u);
  EXPECT_EQ(response(0, 0), 5u);
  word(0x8000) = 0x3c00;
  grf64(kPayload, 0) = kVa + 0x8000;
  grf(kPayload + 2) = 0x4000;
  EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | kA64Float << 14 | 0x2100 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(word(0x8000), 0x4000u);
}

INSTANTIATE_TEST_SUITE_P(Chips, HalfAtomics, testing::Values("tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

class VectorPairs : public MessageBench {};

TEST_P(VectorPairs, VectorsAreReadAndWrittenPerVertex) {
  bind_raw(1, 0x3000, 64);
  for (uint32_t i = 0; i < 16; ++i) {
    word(0x3000 + i * 4) = 0x100 + i;
  }
  grf(kPayload, 0) = 16;
  grf(kPayload, 4) = 56;  // two dwords of the vector are outside
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kResponse, i) = 0xdead;
  }
  // The descriptor disables z, the channel mask disables w of the first vector.
  EXPECT_EQ(send(kPort1, 1u << 25 | 1u << 20 | 1u << 14 | 4u << 8 | 1, 0xf7, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 0x104u);
  EXPECT_EQ(response(0, 1), 0x105u);
  EXPECT_EQ(response(0, 2), 0xdeadu);
  EXPECT_EQ(response(0, 3), 0xdeadu);
  EXPECT_EQ(response(0, 4), 0x10eu);
  EXPECT_EQ(response(0, 5), 0x10fu);
  EXPECT_EQ(response(0, 7), 0u);
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 1, i) = 0xa0 + i;
  }
  EXPECT_EQ(send(kPort1, 2u << 25 | 9u << 14 | 4u << 8 | 1, 0xf7, 8), SendOutcome::done);
  EXPECT_EQ(word(0x3010), 0xa0u);
  EXPECT_EQ(word(0x3014), 0xa1u);
  EXPECT_EQ(word(0x3018), 0x106u);
  EXPECT_EQ(word(0x301c), 0x107u);
  EXPECT_EQ(word(0x3038), 0xa4u);
  EXPECT_EQ(word(0x303c), 0xa5u);
  EXPECT_EQ(word(0x3040), 0u);
}

TEST_P(VectorPairs, AtomicsUseTheFirstTwoComponents) {
  if (GetParam() == "dg1") {
    GTEST_SKIP() << "this generation has other messages at these numbers";
  }
  bind_raw(1, 0x3000, 64);
  word(0x3000) = 5;
  word(0x3020) = 5;
  grf(kPayload, 0) = 0;
  grf(kPayload, 4) = 32;
  for (const unsigned vector : {0u, 1u}) {
    grf(kPayload + 1, vector * 4) = 5 + vector;  // compared
    grf(kPayload + 1, vector * 4 + 1) = 9;       // written
  }
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 3u << 14 | 0x2e00 | 1, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(word(0x3000), 9u);
  EXPECT_EQ(word(0x3020), 5u);
  EXPECT_EQ(response(0, 0), 5u);
  EXPECT_EQ(response(0, 4), 5u);
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 3u << 14 | 0x2700 | 1, 0xf0, 8), SendOutcome::done);
  EXPECT_EQ(word(0x3000), 9u) << "the first vector is disabled";
  EXPECT_EQ(word(0x3020), 11u);
}

INSTANTIATE_TEST_SUITE_P(Chips, VectorPairs, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
