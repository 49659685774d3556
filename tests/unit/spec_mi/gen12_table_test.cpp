// The MI commands of DG1 and the engines that have them: the opcode table of DG1 PRM vol. 13, lines 974 to 1045 (seed
// 000).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "covers.h"
#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

constexpr std::array kEngines = {EngineClass::render, EngineClass::blit,    EngineClass::video,
                                 EngineClass::vebox,  EngineClass::compute, EngineClass::posh};

Frame anywhere(uint32_t header) {
  for (const EngineClass engine : kEngines) {
    if (const Frame found = frame(DeviceId::dg1, engine, header); !found.name.empty()) return found;
  }
  return {};
}

TEST(Dg1Mi, ClientsAreZeroTwoAndThree) {
  COVERS("DG1-CS-07");
  for (const spec::CommandDesc* desc : spec::commands()) {
    if ((desc->devices & spec::mask_of(DeviceId::dg1)) == 0) continue;
    const spec::MatchRule& match = desc->match_of_gen[static_cast<size_t>(GenId::gen12)];
    EXPECT_EQ(match.mask >> 29, 7u) << desc->name;
    const uint32_t client = match.value >> 29;
    EXPECT_EQ(client == 0, desc->name.substr(0, 3) == "MI_") << desc->name;
    EXPECT_TRUE(client == 0 || client == 2 || client == 3) << desc->name;
  }
  for (const EngineClass engine : kEngines) {
    const spec::CommandTable& table = spec::CommandTable::get(DeviceId::dg1, engine);
    for (const uint32_t client : {1u, 4u, 5u, 6u, 7u}) {
      for (uint32_t upper = 0; upper < 0x2000; ++upper) {
        ASSERT_EQ(table.find(client << 29 | upper << 16), nullptr) << client << " " << upper;
      }
    }
  }
}

TEST(Dg1Mi, OpcodeTableMatchesTheManual) {
  COVERS("DG1-CS-08");
  struct Row {
    uint32_t opcode;
    const char* name;
  };
  constexpr std::array kOneDword = {
      Row{0x00, "MI_NOOP"},           Row{0x01, "MI_SET_PREDICATE"},    Row{0x02, "MI_USER_INTERRUPT"},
      Row{0x03, "MI_WAIT_FOR_EVENT"}, Row{0x04, "MI_WAIT_FOR_EVENT_2"}, Row{0x05, "MI_ARB_CHECK"},
      Row{0x07, "MI_REPORT_HEAD"},    Row{0x08, "MI_ARB_ON_OFF"},       Row{0x0a, "MI_BATCH_BUFFER_END"},
      Row{0x0b, "MI_SUSPEND_FLUSH"},  Row{0x0c, "MI_PREDICATE"},
  };
  constexpr std::array kLong = {
      Row{0x12, "MI_LOAD_SCAN_LINES_INCL"},
      Row{0x13, "MI_LOAD_SCAN_LINES_EXCL"},
      Row{0x14, "MI_DISPLAY_FLIP"},
      Row{0x18, "MI_SET_CONTEXT"},
      Row{0x1a, "MI_MATH"},
      Row{0x1b, "MI_SEMAPHORE_SIGNAL"},
      Row{0x1c, "MI_SEMAPHORE_WAIT"},
      Row{0x1d, "MI_FORCE_WAKEUP"},
      Row{0x20, "MI_STORE_DATA_IMM"},
      Row{0x21, "MI_STORE_DATA_INDEX"},
      Row{0x22, "MI_LOAD_REGISTER_IMM"},
      Row{0x23, "MI_UPDATE_GTT"},
      Row{0x24, "MI_STORE_REGISTER_MEM"},
      Row{0x26, "MI_FLUSH_DW"},
      Row{0x27, "MI_CLFLUSH"},
      Row{0x29, "MI_LOAD_REGISTER_MEM"},
      Row{0x2a, "MI_LOAD_REGISTER_REG"},
      Row{0x2e, "MI_COPY_MEM_MEM"},
      Row{0x2f, "MI_ATOMIC"},
      Row{0x31, "MI_BATCH_BUFFER_START"},
      Row{0x36, "MI_CONDITIONAL_BATCH_BUFFER_END"},
  };
  for (const Row& row : kOneDword) EXPECT_EQ(anywhere(mi(row.opcode, 3)), (Frame{row.name, 1}));
  for (const Row& row : kLong) EXPECT_EQ(anywhere(mi(row.opcode, 3)), (Frame{row.name, 5}));
  for (const uint32_t opcode : {0x10u, 0x15u, 0x17u, 0x1fu, 0x30u, 0x32u, 0x33u, 0x34u, 0x35u, 0x37u, 0x38u, 0x39u,
                                0x3au, 0x3bu, 0x3cu, 0x3du, 0x3eu, 0x3fu}) {
    EXPECT_EQ(anywhere(mi(opcode, 3)), Frame{}) << opcode;
  }
}

// Doubtful cells are resolved as the ledger row says: batches and MI_ARB_ON_OFF run on every engine, and opcode 28h,
// which is missing in the table, exists on the engine that has the counters.
TEST(Dg1Mi, EachCommandExistsOnItsEnginesOnly) {
  COVERS("DG1-CS-09");
  using enum EngineClass;
  const auto expect_on = [](uint32_t opcode, std::initializer_list<EngineClass> allowed) {
    for (const EngineClass engine : kEngines) {
      const bool wanted = std::find(allowed.begin(), allowed.end(), engine) != allowed.end();
      EXPECT_EQ(!frame(DeviceId::dg1, engine, mi(opcode, 3)).name.empty(), wanted)
          << "opcode " << opcode << " on " << static_cast<int>(engine);
    }
  };
  for (const uint32_t opcode : {0x03u, 0x04u, 0x12u, 0x13u, 0x14u}) expect_on(opcode, {render, blit});
  for (const uint32_t opcode : {0x0cu, 0x18u, 0x27u, 0x28u}) expect_on(opcode, {render});
  for (const uint32_t opcode : {0x1du, 0x26u}) expect_on(opcode, {blit, video, vebox, compute, posh});
  for (const uint32_t opcode : {0x00u, 0x01u, 0x02u, 0x05u, 0x07u, 0x08u, 0x0au, 0x0bu, 0x1au, 0x1bu, 0x1cu,
                                0x20u, 0x21u, 0x22u, 0x23u, 0x24u, 0x29u, 0x2au, 0x2eu, 0x2fu, 0x31u, 0x36u}) {
    expect_on(opcode, {render, blit, video, vebox, compute, posh});
  }
}

}  // namespace
}  // namespace halogen::spec_mi
