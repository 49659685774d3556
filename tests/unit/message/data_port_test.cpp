// Data port messages with numbers from kernels of both compilers, expectations by hand.
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

class DataPort : public MessageBench {};

constexpr uint32_t kAll16 = 0xffff, kAll8 = 0xff;

TEST_P(DataPort, UntypedReadReturnsOneChannelOfSixteenLanes) {
  bind_raw(3, 0x1000, 4096);
  for (uint32_t i = 0; i < 16; ++i) {
    word(0x1000 + i * 8) = 0x100 + i;
    grf(kPayload + i / 8, i % 8) = i * 8;
  }
  response(0, 5);
  grf(kResponse, 5) = 0xdead;
  EXPECT_EQ(send(kPort1, 0x0420'5e03, kAll16 & ~(1u << 5)), SendOutcome::done);
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(response(i / 8, i % 8), i == 5 ? 0xdeadu : 0x100 + i) << "a disabled lane keeps its register";
  }
}

TEST_P(DataPort, UntypedReadReturnsFourChannelsOfEightLanes) {
  bind_raw(0, 0x2000, 256);
  for (uint32_t i = 0; i < 64; ++i) {
    word(0x2000 + i * 4) = i;
  }
  set_lanes(kPayload, {0, 16, 33, 48, 64, 80, 240, 248});  // 33: the low two bits are ignored
  EXPECT_EQ(send(kPort1, 2u << 25 | 4u << 20 | 1u << 14 | 0x2000, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 1), 4u);
  EXPECT_EQ(response(3, 1), 7u);
  EXPECT_EQ(response(0, 2), 8u);
  EXPECT_EQ(response(0, 6), 60u);
  EXPECT_EQ(response(3, 6), 63u);
  EXPECT_EQ(response(1, 7), 63u);
  EXPECT_EQ(response(2, 7), 0u) << "outside the surface; each channel is checked";
  EXPECT_EQ(response(3, 7), 0u);
}

TEST_P(DataPort, UntypedWriteStopsAtTheEndOfTheSurface) {
  bind_raw(1, 0x3000, 64);
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload, i) = i * 12;
    grf(30, i) = 0xa0 + i;
  }
  // xy, SIMD8, split: one register of addresses, then two of data.
  for (uint32_t i = 0; i < 8; ++i) {
    grf(31, i) = 0xb0 + i;
  }
  EXPECT_EQ(send(kPort1, 2u << 25 | 9u << 14 | 0x2c00 | 1, kAll8, 8, 1), SendOutcome::done);
  EXPECT_EQ(word(0x3000), 0xa0u);
  EXPECT_EQ(word(0x3004), 0xb0u);
  EXPECT_EQ(word(0x3008), 0u);
  EXPECT_EQ(word(0x3000 + 60), 0xa5u);
  EXPECT_EQ(word(0x3000 + 64), 0u) << "the second channel of lane 5";
  EXPECT_EQ(word(0x3000 + 72), 0u) << "lane 6";
}

TEST_P(DataPort, SharedLocalMemoryHasItsOwnSurfaceIndex) {
  set_lanes(kPayload, {0, 4, 8, 12, 1020, 1024, 0xffff'fffc, 16});
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 1, i) = i + 1;
  }
  EXPECT_EQ(send(kPort1, 2u << 25 | 9u << 14 | 0x2e00 | 254, kAll8, 8), SendOutcome::done);
  const auto* local = reinterpret_cast<const uint32_t*>(group_.local.data());
  EXPECT_EQ(local[1], 2u);
  EXPECT_EQ(local[255], 5u);
  EXPECT_EQ(local[4], 8u);
  EXPECT_EQ(send(kPort1, 1u << 25 | 1u << 20 | 1u << 14 | 0x2e00 | 254, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 4), 5u);
  EXPECT_EQ(response(0, 5), 0u) << "outside shared local memory";
  EXPECT_EQ(response(0, 6), 0u);
  grf(kPayload, 4) = 0x1000'0000 + 1020;
  EXPECT_EQ(send(kPort1, 1u << 25 | 1u << 20 | 1u << 14 | 0x2e00 | 254, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 4), 5u) << "the upper bits, in which compilers mark local pointers, are ignored";
}

TEST_P(DataPort, StatelessAddressesCountFromTheGeneralBase) {
  word(0x4440) = 77;
  grf(kPayload) = 0x4440;
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 1u << 14 | 0x2e00 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 77u);
  grf(kPayload) = 0x4000'0000;
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 1u << 14 | 0x2e00 | 253, 1, 1), SendOutcome::fault);
  ASSERT_EQ(memory_.faults(), 1u);
  EXPECT_EQ(memory_.first_faults().at(0), kVa + 0x4000'0000);
}

struct AtomicRow {
  unsigned operation;
  uint32_t memory, first, second, after, returned;
};

TEST_P(DataPort, AtomicsWorkInEightLanes) {
  constexpr AtomicRow kRows[] = {
      {1, 0xff00, 0x0ff0, 0, 0x0f00, 0xff00},
      {2, 0xff00, 0x0ff0, 0, 0xfff0, 0xff00},
      {3, 0xff00, 0x0ff0, 0, 0xf0f0, 0xff00},
      {4, 5, 9, 0, 9, 5},
      {5, 0xffff'ffff, 0, 0, 0, 0xffff'ffff},
      {6, 0, 0, 0, 0xffff'ffff, 0},
      {7, 5, 9, 0, 14, 5},
      {8, 5, 9, 0, 0xffff'fffc, 5},
      {9, 5, 9, 0, 4, 5},
      {10, 0xffff'ffff, 1, 0, 1, 0xffff'ffff},
      {11, 0xffff'ffff, 1, 0, 0xffff'ffff, 0xffff'ffff},
      {12, 0xffff'ffff, 1, 0, 0xffff'ffff, 0xffff'ffff},
      {13, 0xffff'ffff, 1, 0, 1, 0xffff'ffff},
      {14, 5, 5, 8, 8, 5},
      {14, 5, 6, 8, 5, 5},
      {15, 5, 0, 0, 4, 4},
  };
  bind_raw(2, 0x5000, 4096);
  for (const AtomicRow& row : kRows) {
    SCOPED_TRACE(row.operation);
    word(0x5010) = row.memory;
    group_.local[0] = group_.local[1] = group_.local[2] = group_.local[3] = std::byte{0};
    std::memcpy(group_.local.data() + 16, &row.memory, 4);
    grf(kPayload, 3) = 16;
    grf(kPayload + 1, 3) = row.first;
    grf(kPayload + 2, 3) = row.second;
    const uint32_t control = (row.operation | 0x30) << 8 | 2u << 14;
    EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | control | 2, 8, 8), SendOutcome::done);
    EXPECT_EQ(word(0x5010), row.after);
    EXPECT_EQ(response(0, 3), row.returned);
    EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | control | 254, 8, 8), SendOutcome::done);
    uint32_t local = 0;
    std::memcpy(&local, group_.local.data() + 16, 4);
    EXPECT_EQ(local, row.after);
    EXPECT_EQ(response(0, 3), row.returned);
  }
}

TEST_P(DataPort, LanesOfAnAtomicActOneAfterTheOther) {
  bind_raw(2, 0x5000, 64);
  word(0x5000) = 100;
  for (uint32_t i = 0; i < 16; ++i) {
    grf(kPayload + i / 8, i % 8) = i == 3 ? 64 : 0;  // lane 3 is outside the surface
    grf(kPayload + 2 + i / 8, i % 8) = 1;
  }
  EXPECT_EQ(send(kPort1, 4u << 25 | 2u << 20 | 2u << 14 | 0x2700 | 2, kAll16), SendOutcome::done);
  EXPECT_EQ(word(0x5000), 115u);
  EXPECT_EQ(response(0, 0), 100u);
  EXPECT_EQ(response(0, 2), 102u);
  EXPECT_EQ(response(0, 3), 0u);
  EXPECT_EQ(response(1, 7), 114u);
}

TEST_P(DataPort, FloatAtomicsStoreTheResultOfTheirOperation) {
  bind_raw(2, 0x5000, 64);
  const auto run = [&](unsigned operation, float memory, float first, float second) {
    real(0x5000) = memory;
    grf(kPayload) = 0;
    grf(kPayload + 1) = std::bit_cast<uint32_t>(first);
    grf(kPayload + 2) = std::bit_cast<uint32_t>(second);
    EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | 27u << 14 | (0x30 | operation) << 8 | 2, 1, 1), SendOutcome::done);
    EXPECT_EQ(std::bit_cast<float>(response(0, 0)), memory);
    return real(0x5000);
  };
  EXPECT_EQ(run(1, 1.5f, 2.5f, 0), 2.5f);
  EXPECT_EQ(run(1, 1.5f, -2.5f, 0), 1.5f);
  EXPECT_EQ(run(2, 1.5f, -2.5f, 0), -2.5f);
  EXPECT_EQ(run(3, 1.5f, 1.5f, 7.0f), 7.0f);
  EXPECT_EQ(run(3, 1.5f, 1.0f, 7.0f), 1.5f);
  EXPECT_EQ(run(4, 1.5f, 1.0f, 0), 2.5f);
}

TEST_P(DataPort, A64ScatteredElementsUseTheAddressOfTheirLane) {
  for (uint32_t i = 0; i < 256; ++i) {
    byte(0x6000 + i) = static_cast<uint8_t>(i);
  }
  for (uint32_t i = 0; i < 8; ++i) {
    grf64(kPayload + i / 4, i % 4) = kVa + 0x6000 + i * 24;
  }
  // Two dwords per lane: plane 0, then plane 1.
  EXPECT_EQ(send(kPort1, 2u << 25 | 2u << 20 | 16u << 14 | 0x0500 | 255, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 1), 0x1b1a'1918u);
  EXPECT_EQ(response(1, 1), 0x1f1e'1d1cu);
  // One qword per lane: two registers, packed.
  EXPECT_EQ(send(kPort1, 2u << 25 | 2u << 20 | 16u << 14 | 0x0200 | 255, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(grf64(kResponse + 1, 1), 0x7f7e'7d7c'7b7a'7978u) << "lane 5";
  // Bytes at odd addresses: 8, 16 and 32 bits in the low bits of a dword.
  grf64(kPayload, 0) = kVa + 0x6001;
  EXPECT_EQ(send(kPort1, 0x0414'00ff, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0) & 0xff, 0x01u);
  EXPECT_EQ(send(kPort1, 0x0414'04ff, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0) & 0xffff, 0x0201u);
  EXPECT_EQ(send(kPort1, 0x0414'08ff, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 0x0403'0201u);
  // Writes: a long as two dword planes.
  for (uint32_t i = 0; i < 8; ++i) {
    grf64(kPayload + i / 4, i % 4) = kVa + 0x7000 + i * 8;
    grf(kPayload + 2, i) = i;
    grf(kPayload + 3, i) = 0x1000 + i;
  }
  EXPECT_EQ(send(kPort1, 4u << 25 | 26u << 14 | 0x0500 | 255, 0x7f, 8), SendOutcome::done);
  EXPECT_EQ(word64(0x7000 + 48), 0x0000'1006'0000'0006u);
  EXPECT_EQ(word64(0x7000 + 56), 0u) << "a disabled lane";
}

TEST_P(DataPort, A64AtomicsWorkOnDwordsAndQwords) {
  word64(0x8000) = 0xffff'ffff;
  grf64(kPayload, 0) = kVa + 0x8000;
  grf64(kPayload + 2, 0) = 1;
  EXPECT_EQ(send(kPort1, 4u << 25 | 2u << 20 | 18u << 14 | 0x3700 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(word64(0x8000), 0x1'0000'0000u);
  EXPECT_EQ(grf64(kResponse), 0xffff'ffffu);
  // 64-bit compare and exchange: two registers per operand.
  grf64(kPayload + 2, 0) = 0x1'0000'0000;
  grf64(kPayload + 4, 0) = 42;
  EXPECT_EQ(send(kPort1, 6u << 25 | 2u << 20 | 18u << 14 | 0x3e00 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(word64(0x8000), 42u);
  grf(kPayload + 2) = 8;
  EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | 18u << 14 | 0x2700 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(word(0x8000), 50u);
  EXPECT_EQ(response(0, 0), 42u);
}

TEST_P(DataPort, AddressesMayBeSignExtendedOrNot) {
  word(0x9000) = 5;
  grf64(kPayload, 0) = 0xffff'0000'0000'0000 | (kVa + 0x9000);
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 16u << 14 | 0x0100 | 255, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 5u) << "only the low 48 bits are used";
}

TEST_P(DataPort, OwordBlocksMoveConsecutiveBytes) {
  bind_raw(4, 0xa000, 0x60);
  for (uint32_t i = 0; i < 64; ++i) {
    word(0xa000 + i * 4) = 0x40 + i;
  }
  grf(kPayload, 2) = 2;  // 32 bytes
  grf(kPayload, 5) = 0xffff'ffff;
  EXPECT_EQ(send(kConstantCache, 0x0228'0304, kAll16), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 0x48u);
  EXPECT_EQ(response(1, 7), 0x57u);
  grf(kPayload, 2) = 4;
  EXPECT_EQ(send(kConstantCache, 0x0228'0304, kAll16), SendOutcome::done);
  EXPECT_EQ(response(0, 7), 0x57u);
  EXPECT_EQ(response(1, 0), 0u) << "outside the surface";
  grf(kPayload, 2) = 20;  // bytes
  EXPECT_EQ(send(kPort0, 0x0218'4204, 0, 1), SendOutcome::done) << "a block read ignores the channel mask";
  EXPECT_EQ(response(0, 0), 0x45u);
  EXPECT_EQ(send(kPort0, 0x0218'4104, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 4), 0x45u) << "one OWord, in the high half";
}

TEST_P(DataPort, BlockWritesFollowTheChannels) {
  bind_raw(1, 0xb000, 0x1000);
  grf(kPayload, 2) = 1;
  for (uint32_t i = 0; i < 16; ++i) {
    grf(kPayload + 1 + i / 8, i % 8) = 0x70 + i;
  }
  EXPECT_EQ(send(kPort0, 3u << 25 | 1u << 19 | 8u << 14 | 0x0301, 0xfff5), SendOutcome::done);
  EXPECT_EQ(word(0xb010), 0x70u);
  EXPECT_EQ(word(0xb014), 0u);
  EXPECT_EQ(word(0xb018), 0x72u);
  EXPECT_EQ(word(0xb010 + 60), 0x7fu);
}

TEST_P(DataPort, ScratchCountsFromTheGeneralBaseAndTheHeader) {
  grf(kPayload, 5) = 0xc000 | 0x205;  // the low ten bits are not part of the address
  for (uint32_t i = 0; i < 16; ++i) {
    grf(kPayload + 1 + i / 8, i % 8) = 0x90 + i;
  }
  // Two registers at register 3, written without the mask of all channels.
  EXPECT_EQ(send(kPort0, 0x060f'1003, 0x7fff), SendOutcome::done);
  EXPECT_EQ(word(0xc000 + 96), 0x90u);
  EXPECT_EQ(word(0xc000 + 96 + 56), 0x9eu);
  EXPECT_EQ(word(0xc000 + 96 + 60), 0u);
  EXPECT_EQ(send(kPort0, 0x022c'1003, kAll16), SendOutcome::done);
  EXPECT_EQ(response(1, 6), 0x9eu);
}

TEST_P(DataPort, ScatteredDwordsCountDwords) {
  grf(kPayload, 5) = 0xd000;
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 1, i) = i * 2;
    grf(kPayload + 2, i) = 0x60 + i;
  }
  EXPECT_EQ(send(kPort0, 3u << 25 | 1u << 19 | 11u << 14 | 0x0200 | 253, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(word(0xd000 + 8), 0x61u);
  EXPECT_EQ(word(0xd000 + 56), 0x67u);
  EXPECT_EQ(send(kPort0, 2u << 25 | 1u << 20 | 1u << 19 | 3u << 14 | 0x0200 | 253, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 7), 0x67u);
}

TEST_P(DataPort, ScatteredBytesCountBytes) {
  bind_raw(1, 0xe000, 8);
  word64(0xe000) = 0x8877'6655'4433'2211;
  set_lanes(kPayload, {1, 3, 7, 8});
  EXPECT_EQ(send(kPort0, 1u << 25 | 1u << 20 | 4u << 14 | 0x0001, 0xf, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 0x22u);
  EXPECT_EQ(response(0, 2), 0x88u);
  EXPECT_EQ(response(0, 3), 0u);
  EXPECT_EQ(send(kPort0, 1u << 25 | 1u << 20 | 4u << 14 | 0x0401, 0xf, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 1), 0x5544u);
  EXPECT_EQ(response(0, 2), 0u) << "half of it is outside the surface";
  grf(kPayload) = 3;
  grf(30) = 0xaabb'ccdd;
  EXPECT_EQ(send(kPort0, 1u << 25 | 12u << 14 | 0x0801, 1, 1, 1), SendOutcome::done);
  EXPECT_EQ(word64(0xe000), 0x88aa'bbcc'dd33'2211u);
}

TEST_P(DataPort, A64BlocksMoveConsecutiveBytes) {
  for (uint32_t i = 0; i < 32; ++i) {
    word(0xf004 + i * 4) = i;
  }
  grf64(kPayload) = kVa + 0xf004;
  EXPECT_EQ(send(kPort1, 2u << 25 | 4u << 20 | 1u << 19 | 20u << 14 | 0x0c00 | 255, kAll16), SendOutcome::done);
  EXPECT_EQ(response(0, 1), 1u);
  EXPECT_EQ(response(3, 7), 31u);
  grf64(kPayload) = kVa + 0xf100;
  set_lanes(kPayload + 1, {9, 8, 7, 6, 5, 4, 3, 2});
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 19 | 21u << 14 | 0x0a00 | 255, kAll8, 8), SendOutcome::done);
  EXPECT_EQ(word(0xf100), 9u);
  EXPECT_EQ(word(0xf11c), 2u);
}

TEST_P(DataPort, FencesWriteTheirResponse) {
  EXPECT_EQ(send(kPort0, 0x0219'e000, 1, 1), SendOutcome::done);
  EXPECT_EQ(send(kPort0, 0x0219'e0fe, 1, 1), SendOutcome::done);
  EXPECT_EQ(log_.events().size(), 0u);
}

TEST_P(DataPort, BarrierMessageReachesTheGroup) {
  EXPECT_EQ(send(kGateway, 0x0200'0004, 1, 1), SendOutcome::done);
  EXPECT_EQ(group_.arrived, 1u);
}

TEST_P(DataPort, UnsupportedMessagesRaiseOneEventAndAreCounted) {
  grf(kResponse) = 7;
  EXPECT_EQ(send(kPixel, 0x0210'0000, kAll16), SendOutcome::done);
  EXPECT_EQ(send(kPixel, 0x0210'0000, kAll16), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 0u);
  EXPECT_EQ(log_.count(EventKind::unsupported), 1u);
  FidelityReport report;
  functions_.report(report);
  const auto& entry = report.entries().at({FidelityKind::message, "pixi at_offset"});
  EXPECT_EQ(entry.count, 2u);
  EXPECT_EQ(entry.fidelity, FidelityClass::unsupported);
}

TEST_P(DataPort, SurfaceStateIsReadAgainWhenWorkBegins) {
  bind_raw(1, 0x1000, 64);
  word(0x1000) = 1;
  word(0x2000) = 2;
  grf(kPayload) = 0;
  constexpr uint32_t kRead = 1u << 25 | 1u << 20 | 1u << 14 | 0x2e00 | 1;
  EXPECT_EQ(send(kPort1, kRead, 1, 1), SendOutcome::done);
  word(kStates + 0x4000 + 64 + 32) += 0x1000;
  EXPECT_EQ(send(kPort1, kRead, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 1u);
  begin();
  EXPECT_EQ(send(kPort1, kRead, 1, 1), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 2u);
}

TEST_P(DataPort, AFaultingAtomicChangesNothing) {
  // Lane 0 accesses mapped memory, lane 1 the first unmapped dword.
  word(0x1f'fffc) = 5;
  word(0x1000) = 7;
  grf64(kPayload, 0) = kVa + 0x1000;
  grf64(kPayload, 1) = kVa + 0x20'0000;
  for (unsigned times = 0; times < 2; ++times) {
    EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 0x12u << 14 | 0x2500 | 255, 3, 8), SendOutcome::fault);
    EXPECT_EQ(word(0x1000), 7u) << "lane 0 must not be applied, because the message is sent again";
  }
  grf64(kPayload, 1) = kVa + 0x1f'fffc;
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 0x12u << 14 | 0x2500 | 255, 3, 8), SendOutcome::done);
  EXPECT_EQ(word(0x1000), 8u);
  EXPECT_EQ(word(0x1f'fffc), 6u);
}

TEST_P(DataPort, AtomicsOutOfBoundsReturnZero) {
  bind_raw(2, 0x5000, 64);
  grf(kPayload) = 64;
  response(0, 0);
  for (uint32_t operation = 1; operation < 16; ++operation) {
    grf(kResponse) = 99;
    EXPECT_EQ(send(kPort1, 3u << 25 | 1u << 20 | (operation | 0x30) << 8 | 2u << 14 | 2, 1, 8), SendOutcome::done);
    EXPECT_EQ(response(0, 0), 0u) << operation;
  }
}

TEST_P(DataPort, AtomicsDoNotTouchBytesBeforeASurfaceThatIsNotAligned) {
  bind_raw(2, 0x5002, 64);
  word(0x5000) = 0x1111'1111;
  word(0x5004) = 0x2222'2222;
  grf(kPayload) = 0;
  grf(kPayload + 1) = ~0u;
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 0x3400 | 2u << 14 | 2, 1, 8), SendOutcome::done);
  EXPECT_EQ(word(0x5000), 0x1111'1111u);
  EXPECT_EQ(word(0x5004), 0x2222'2222u);
}

TEST_P(DataPort, BindlessSurfacesAreFoundByTheirOffset) {
  if (GetParam() == "bdw") {
    GTEST_SKIP() << "this generation has no bindless surfaces: the index selects a binding table entry";
  }
  bind_raw(1, 0x1000, 64);
  word(0x1000) = 99;
  grf(kPayload) = 0;
  const uint32_t handle = (0x4000u + 64) / 64 << 12;
  EXPECT_EQ(send(kPort1, 1u << 25 | 1u << 20 | 1u << 14 | 0x2e00 | 252, 1, 1, std::nullopt, handle), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 99u);
}

INSTANTIATE_TEST_SUITE_P(Chips, DataPort, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
