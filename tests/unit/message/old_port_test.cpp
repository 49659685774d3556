// Data ports of Gen4 to Gen6. Descriptors are those of public compilers.
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr uint32_t kHeader = 1u << 19;

struct PortCase {
  uint8_t read, write;             // functions
  uint32_t type_at;                // bit position of the read message type
  uint32_t dual_read, dword_read;  // types
  uint32_t write_at, block_write, dual_write, dword_write;
  uint32_t block_unit;  // bytes
};
constexpr PortCase kGen4{4, 5, 12, 1, 3, 12, 0, 1, 3, 1};
constexpr PortCase kGen45{4, 5, 11, 2, 6, 12, 0, 1, 3, 1};
constexpr PortCase kGen6{4, 5, 13, 2, 6, 13, 8, 9, 11, 16};

class OldPort : public MessageBench {
 protected:
  OldPort() { map_low(); }
  const PortCase& port() const { return GetParam() == "i965" ? kGen4 : GetParam() == "g45" ? kGen45 : kGen6; }
  // Binds a buffer of 16-byte elements.
  void bind_buffer(uint8_t index, uint32_t offset, uint32_t elements) {
    const uint32_t last = elements - 1;
    bind(index,
         {4u << 29, offset, (last & 0x7f) << 6 | (last >> 7 & 0x1fff) << 19, (last >> 20) << 21 | 15u << 3, 0, 0});
  }
};

TEST_P(OldPort, BlockReadsReturnConsecutiveOwords) {
  bind_buffer(3, 0x1000, 8);
  for (uint32_t i = 0; i < 48; ++i) {
    word(0x1000 + i * 4) = i;
  }
  grf(kPayload, 2) = 32 / port().block_unit;
  EXPECT_EQ(send(port().read, 1u << 25 | 2u << 20 | kHeader | 3u << 8 | 3, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 8u);
  EXPECT_EQ(response(1, 7), 23u);
  grf(kPayload, 2) = 112 / port().block_unit;
  EXPECT_EQ(send(port().read, 1u << 25 | 2u << 20 | kHeader | 3u << 8 | 3, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 3), 31u);
  EXPECT_EQ(response(0, 4), 0u) << "outside the buffer";
}

TEST_P(OldPort, ScratchBlocksCountFromTheHeader) {
  grf(kPayload, 2) = 64 / port().block_unit;
  grf(kPayload, 5) = 0x8000 | 0x1ff;  // the low bits are other fields
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 1, i) = 70 + i;
  }
  const uint32_t write = 2u << 25 | kHeader | port().block_write << port().write_at | 2u << 8 | 255;
  EXPECT_EQ(send(port().write, write, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(word(0x8000 + 64), 70u);
  EXPECT_EQ(word(0x8000 + 92), 77u);
  EXPECT_EQ(send(port().read, 1u << 25 | 1u << 20 | kHeader | 2u << 8 | 255, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 7), 77u);
}

TEST_P(OldPort, DualBlocksServeTwoVertices) {
  bind_buffer(1, 0x2000, 64);
  for (uint32_t i = 0; i < 256; ++i) {
    word(0x2000 + i * 4) = i;
  }
  grf(kPayload + 1, 0) = 48 / port().block_unit;
  grf(kPayload + 1, 4) = 160 / port().block_unit;
  grf(kResponse, 5) = 0xdead;
  const uint32_t read = 2u << 25 | 1u << 20 | kHeader | port().dual_read << port().type_at | 1;
  EXPECT_EQ(send(port().read, read, 0xdf, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 12u);
  EXPECT_EQ(response(0, 3), 15u);
  EXPECT_EQ(response(0, 4), 40u);
  EXPECT_EQ(response(0, 5), 0xdeadu) << "its channel is disabled";
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 2, i) = 900 + i;
  }
  const uint32_t write = 3u << 25 | kHeader | port().dual_write << port().write_at | 1;
  EXPECT_EQ(send(port().write, write, 0xdf, 8), SendOutcome::done);
  EXPECT_EQ(word(0x2000 + 48), 900u);
  EXPECT_EQ(word(0x2000 + 160), 904u);
  EXPECT_EQ(word(0x2000 + 164), 41u);
  EXPECT_EQ(word(0x2000 + 172), 907u);
}

TEST_P(OldPort, ScatteredDwordsUseTheOffsetOfTheirLane) {
  bind_buffer(1, 0x3000, 16);
  for (uint32_t i = 0; i < 64; ++i) {
    word(0x3000 + i * 4) = 1000 + i;
  }
  for (uint32_t lane = 0; lane < 16; ++lane) {
    grf(kPayload + 1 + lane / 8, lane % 8) = lane * 5;
  }
  const uint32_t read = 3u << 25 | 2u << 20 | kHeader | port().dword_read << port().type_at | 3u << 8 | 1;
  EXPECT_EQ(send(port().read, read, 0xffff), SendOutcome::done);
  EXPECT_EQ(response(0, 7), 1035u);
  EXPECT_EQ(response(1, 4), 1060u);
  EXPECT_EQ(response(1, 5), 0u) << "outside the buffer";
  for (uint32_t lane = 0; lane < 8; ++lane) {
    grf(kPayload + 2, lane) = lane;
  }
  const uint32_t write = 3u << 25 | kHeader | port().dword_write << port().write_at | 2u << 8 | 1;
  EXPECT_EQ(send(port().write, write, 0x82, 8), SendOutcome::done);
  EXPECT_EQ(word(0x3000 + 20), 1u);
  EXPECT_EQ(word(0x3000 + 40), 1010u);
  EXPECT_EQ(word(0x3000 + 140), 7u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OldPort, testing::Values("i965", "g45", "snb"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
