// URB messages. Layouts are those that public drivers use.
#include <map>

#include "covers.h"
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

class Entries final : public Urb {
 public:
  std::span<uint32_t> entry(eu::Thread& /*thread*/, uint32_t handle) override {
    const auto found = entries.find(handle);
    return found == entries.end() ? std::span<uint32_t>() : std::span(found->second);
  }
  uint32_t allocate(eu::Thread& /*thread*/, uint32_t count) override {
    primitives = count;
    return next++;
  }
  void written(eu::Thread& /*thread*/, const UrbWrite& write) override { writes.push_back(write); }

  std::map<uint32_t, std::vector<uint32_t>> entries;
  std::vector<UrbWrite> writes;
  uint32_t next = 0x77;
  uint32_t primitives = 0;
};

class UrbMessages : public MessageBench {
 protected:
  UrbMessages() {
    environment_.urb = &urb_;
    begin();
    for (uint32_t i = 0; i < 8; ++i) {
      urb_.entries[100 + i].assign(16, 0xeeee'eeee);
    }
  }
  uint32_t& data(uint32_t lane, size_t dword) { return urb_.entries[100 + lane][dword]; }
  void set_handles() {
    for (uint32_t lane = 0; lane < 8; ++lane) {
      grf(kPayload, lane) = 100 + lane;
    }
  }
  Entries urb_;
};

class NewUrb : public UrbMessages {};

TEST_P(NewUrb, AWriteFillsSlotsOfEachLane) {
  set_handles();
  for (uint32_t reg = 0; reg < 6; ++reg) {
    for (uint32_t lane = 0; lane < 8; ++lane) {
      grf(kPayload + 1 + reg, lane) = reg * 16 + lane;
    }
  }
  // Slot 1 and half of slot 2. Lane 3 is disabled.
  EXPECT_EQ(send(kUrb, 7u << 25 | 0x0008'0017, 0xf7, 8), SendOutcome::done);
  for (uint32_t lane = 0; lane < 8; ++lane) {
    for (uint32_t dword = 0; dword < 16; ++dword) {
      const bool written = lane != 3 && dword >= 4 && dword < 10;
      EXPECT_EQ(data(lane, dword), written ? (dword - 4) * 16 + lane : 0xeeee'eeee) << lane << " " << dword;
    }
  }
}

TEST_P(NewUrb, LanesHaveTheirOwnOffsetsAndMasks) {
  set_handles();
  for (uint32_t lane = 0; lane < 8; ++lane) {
    grf(kPayload + 1, lane) = lane % 3;
    grf(kPayload + 2, lane) = 0x0005'ffff | (lane == 7 ? 0x0002'0000 : 0);
    for (uint32_t reg = 0; reg < 4; ++reg) {
      grf(kPayload + 3 + reg, lane) = reg + 1;
    }
  }
  EXPECT_EQ(send(kUrb, 7u << 25 | 0x000a'8007, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(data(4, 4), 1u);
  EXPECT_EQ(data(4, 5), 0xeeee'eeeeu) << "masked";
  EXPECT_EQ(data(4, 6), 3u);
  EXPECT_EQ(data(4, 7), 0xeeee'eeeeu);
  EXPECT_EQ(data(5, 8), 1u);
  EXPECT_EQ(data(7, 5), 2u);
  EXPECT_EQ(data(0, 0), 1u);
}

TEST_P(NewUrb, ReadsOutsideTheEntryReturnZero) {
  set_handles();
  grf(kPayload, 2) = 9999;  // not a handle
  data(1, 12) = 1;
  data(1, 15) = 4;
  grf(kResponse, 6) = 0xabcd;
  EXPECT_EQ(send(kUrb, 1u << 25 | 5u << 20 | 0x0008'0038, 0xbf, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 1), 1u);
  EXPECT_EQ(response(3, 1), 4u);
  EXPECT_EQ(response(4, 1), 0u) << "outside the entry";
  EXPECT_EQ(response(0, 2), 0u);
  EXPECT_EQ(response(0, 6), 0xabcdu) << "a disabled lane";
}

TEST_P(NewUrb, OffsetsPastTheEntryAreHarmless) {
  set_handles();
  grf(kPayload + 1, 0) = 0xffff'ffff;
  EXPECT_EQ(send(kUrb, 3u << 25 | 0x000a'7ff7, 0xff, 8), SendOutcome::done);
  environment_.urb = nullptr;
  begin();
  EXPECT_EQ(send(kUrb, 3u << 25 | 0x000a'7ff7, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(log_.count(EventKind::unsupported), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, NewUrb, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

class OldUrb : public UrbMessages {};

TEST_P(OldUrb, InterleavedWritesHaveAVertexInEachHalf) {
  grf(kPayload, 0) = 102;
  grf(kPayload, 1) = 105;
  for (uint32_t reg = 0; reg < 2; ++reg) {
    for (uint32_t i = 0; i < 8; ++i) {
      grf(kPayload + 1 + reg, i) = reg * 16 + i;
    }
  }
  // Interleaved, offset 1: starts at slot 2 of both vertices. Complete and used, as at the end of a vertex shader.
  EXPECT_EQ(send(kUrb, 3u << 25 | 0x0008'0000 | 0xc000 | 1u << 10 | 1u << 4, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(data(2, 7), 0xeeee'eeeeu);
  EXPECT_EQ(data(2, 8), 0u);
  EXPECT_EQ(data(2, 11), 3u);
  EXPECT_EQ(data(2, 12), 16u);
  EXPECT_EQ(data(5, 8), 4u);
  EXPECT_EQ(data(5, 15), 23u);
  ASSERT_EQ(urb_.writes.size(), 1u);
  EXPECT_TRUE(urb_.writes[0].complete);
  EXPECT_TRUE(urb_.writes[0].used);
  EXPECT_EQ(urb_.writes[0].header.second_handle, 105u);
}

// Each bit of the descriptor separately, and the location of each dword for each length, from the requirement notes.
TEST_P(OldUrb, DescriptorAndHeaderSelectTheWrittenDwords) {
  COVERS("NOTES-URB-05");
  COVERS("NOTES-URB-06");
  COVERS("NOTES-URB-09");
  COVERS("NOTES-URB-10");
  constexpr uint32_t kComplete = 1u << 15, kUsed = 1u << 14, kAllocate = 1u << 13, kInterleave = 1u << 10;
  constexpr uint32_t kBefore = 0xeeee'eeee;
  for (const uint32_t flags : {0u, kComplete, kUsed, kAllocate, kComplete | kUsed, kComplete | kUsed | kAllocate}) {
    for (const uint32_t swizzle : {0u, kInterleave}) {
      for (const uint32_t offset : {0u, 1u, 5u, 31u}) {
        for (const uint32_t registers : {1u, 2u, 5u}) {
          urb_.entries.clear();
          urb_.entries[0x31].assign(512, kBefore);
          urb_.entries[0x47].assign(512, kBefore);
          urb_.writes.clear();
          set_lanes(kPayload, {0x31, 0x47, 2, 3, 4, 5, 6, 7});
          for (uint32_t i = 0; i < registers * 8; ++i) {
            grf(kPayload + 1 + i / 8, i % 8) = 0x1000 + i;
          }
          const uint32_t answer = (flags & kAllocate) != 0 ? 1u << 20 : 0;
          const uint32_t next = urb_.next;
          EXPECT_EQ(send(kUrb, (1 + registers) << 25 | answer | 1u << 19 | flags | swizzle | offset << 4, 0xff, 8),
                    SendOutcome::done);
          // An offset counts rows of 256 bits: eight dwords.
          std::vector<uint32_t> first(512, kBefore);
          std::vector<uint32_t> second(512, kBefore);
          for (uint32_t x = 1; x <= registers; ++x) {
            for (uint32_t y = 0; y < 8; ++y) {
              const uint32_t value = 0x1000 + (x - 1) * 8 + y;
              if (swizzle == 0) {
                first[offset * 8 + 8 * (x - 1) + y] = value;
              } else if (y <= 3) {
                first[offset * 8 + 4 * (x - 1) + y] = value;
              } else {
                second[offset * 8 + 4 * (x - 1) + y - 4] = value;
              }
            }
          }
          EXPECT_EQ(urb_.entries[0x31], first) << flags << ' ' << swizzle << ' ' << offset << ' ' << registers;
          EXPECT_EQ(urb_.entries[0x47], second) << flags << ' ' << swizzle << ' ' << offset << ' ' << registers;
          ASSERT_EQ(urb_.writes.size(), 1u);
          EXPECT_EQ(urb_.writes[0].complete, (flags & kComplete) != 0);
          EXPECT_EQ(urb_.writes[0].used, (flags & kUsed) != 0);
          EXPECT_EQ(urb_.next, next + (answer != 0 ? 1 : 0));
          if (answer != 0) {
            EXPECT_EQ(response(0, 0), next) << "the handle of the new entry";
          }
        }
      }
    }
  }
}

TEST_P(OldUrb, PlainWritesMayAllocateEntries) {
  grf(kPayload, 0) = 101;
  grf(kPayload, 2) = 0x12;
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 1, i) = 40 + i;
  }
  EXPECT_EQ(send(kUrb, 2u << 25 | 1u << 20 | 0x0008'0000 | 0xa000 | 1u << 4, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(data(1, 8), 40u);
  EXPECT_EQ(data(1, 15), 47u);
  EXPECT_EQ(data(1, 7), 0xeeee'eeeeu);
  EXPECT_EQ(response(0, 0), 0x77u);
  // 0x12: start of a primitive with topology TRILIST.
  EXPECT_TRUE(urb_.writes[0].header.primitive_start);
  EXPECT_FALSE(urb_.writes[0].header.primitive_end);
  EXPECT_EQ(urb_.writes[0].header.topology, hw::PrimitiveTopology::TRILIST);
  grf(kPayload, 1) = 3;
  EXPECT_EQ(send(kUrb, 1u << 25 | 1u << 20 | 0x0008'0000 | 0x2001, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(response(0, 0), 0x78u);
  EXPECT_EQ(urb_.primitives, 3u);
}

TEST_P(OldUrb, TransposedWritesMakeVectorsOfFour) {
  // Set-up threads send the differences in x and y and the values at the origin, for eight components.
  urb_.entries[100].assign(32, 0);
  grf(kPayload, 0) = 100;
  for (uint32_t i = 0; i < 8; ++i) {
    grf(kPayload + 1, i) = 0x10 + i;
    grf(kPayload + 2, i) = 0x20 + i;
    grf(kPayload + 3, i) = 0x30 + i;
  }
  EXPECT_EQ(send(kUrb, 4u << 25 | 0x0008'0000 | 0x8000 | 2u << 10, 0xff, 8), SendOutcome::done);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(data(0, 4 * i), 0x10 + i);
    EXPECT_EQ(data(0, 4 * i + 1), 0x20 + i);
    EXPECT_EQ(data(0, 4 * i + 3), 0x30 + i);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, OldUrb, testing::Values("i965", "g45", "snb"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
