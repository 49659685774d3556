// Walks of the auxiliary table. Layout of the entries (Mesa, intel_aux_map.c): three levels by address bits 47:36,
// 35:24 and 23:16; addresses in entries from bit 15, 13 and 8 on; bit 0 is the valid bit.
#include "memory/aux_table.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/mapped_memory.h"

namespace halogen::memory {
namespace {

class AuxTables : public testing::Test {
 protected:
  static constexpr uint64_t kVa = 0x0000'1234'0000'0000;
  static constexpr uint64_t kMain = 0x0000'7abc'de12'3456;

  AuxTables() {
    entry(0, kMain >> 36 & 0xfff) = (kVa + 0x8000) | 1;
    entry(0x8000, kMain >> 24 & 0xfff) = (kVa + 0x1'0000) | 1;
    entry(0x1'0000, kMain >> 16 & 0xff) = 0xabc0'1122'3344'5500 | 1;
  }
  uint64_t& entry(uint64_t table, uint64_t index) { return memory_.at<uint64_t>(table + index * 8); }

  test::MappedMemory memory_{0x2'0000, kVa};
};

TEST_F(AuxTables, AWalkFollowsThreeLevels) {
  AuxTable table(memory_.space(), kVa);
  EXPECT_EQ(table.find(kMain), 0x1122'3344'5500u);
  EXPECT_EQ(table.find(kMain ^ 0xffff), 0x1122'3344'5500u);  // the same 64 KB
  EXPECT_EQ(table.find(kMain + 0x1'0000), std::nullopt);
}

TEST_F(AuxTables, AnInvalidEntryOfAnyLevelEndsTheWalk) {
  uint64_t* const entries[] = {&entry(0, kMain >> 36 & 0xfff), &entry(0x8000, kMain >> 24 & 0xfff),
                               &entry(0x1'0000, kMain >> 16 & 0xff)};
  for (uint64_t* const each : entries) {
    *each ^= 1;
    EXPECT_EQ(AuxTable(memory_.space(), kVa).find(kMain), std::nullopt);
    *each ^= 1;
  }
  EXPECT_EQ(AuxTable(memory_.space(), 0).find(kMain), std::nullopt);  // software has set no table
}

TEST_F(AuxTables, LowBitsOfAnEntryAreNoAddress) {
  entry(0, kMain >> 36 & 0xfff) |= 0x7ffe;
  entry(0x8000, kMain >> 24 & 0xfff) |= 0x1ffe;
  entry(0x1'0000, kMain >> 16 & 0xff) |= 0xfe;
  EXPECT_EQ(AuxTable(memory_.space(), kVa).find(kMain), 0x1122'3344'5500u);
}

TEST_F(AuxTables, ATableOutsideMemoryGivesNoStates) {
  memory_.set_action(FaultAction::stop);
  EXPECT_EQ(AuxTable(memory_.space(), 0x5000'0000).find(kMain), std::nullopt);
}

}  // namespace
}  // namespace halogen::memory
