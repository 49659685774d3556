#include "spec/command_table.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <thread>

#include "spec/device_model.h"

namespace halogen::spec {
namespace {

// A linear search through all commands; the most specific match wins.
const CommandDesc* slow_find(const DeviceModel& device, EngineClass engine, uint32_t header) {
  const auto g = static_cast<size_t>(device.gen);
  const CommandDesc* best = nullptr;
  for (const CommandDesc* c : commands()) {
    if ((c->devices & mask_of(device.id)) == 0 || (c->engines_of_gen[g] & mask_of(engine)) == 0) continue;
    if (!c->match_of_gen[g].matches(header)) continue;
    if (best == nullptr || std::popcount(c->match_of_gen[g].mask) > std::popcount(best->match_of_gen[g].mask)) best = c;
  }
  return best;
}

TEST(CommandTable, AgreesWithALinearSearch) {
  std::mt19937 random(1);
  for (const DeviceModel& device : device_models()) {
    for (size_t e = 0; e < kEngineClassCount; ++e) {
      const auto engine = static_cast<EngineClass>(e);
      const CommandTable& table = CommandTable::get(device.id, engine);
      for (int i = 0; i < 500; ++i) {
        const uint32_t header = static_cast<uint32_t>(random());
        ASSERT_EQ(table.find(header), slow_find(device, engine, header)) << device.name << " " << std::hex << header;
      }
      for (const CommandDesc* c : commands()) {
        const MatchRule& match = c->match_of_gen[static_cast<size_t>(device.gen)];
        const uint32_t header = match.value | (static_cast<uint32_t>(random()) & ~match.mask);
        ASSERT_EQ(table.find(header), slow_find(device, engine, header)) << c->name << " " << device.name;
      }
    }
  }
}

TEST(CommandTable, KnownHeadersAreFound) {
  struct Known {
    GenId gen;
    EngineClass engine;
    uint32_t header;
    const char* name;
    uint32_t dwords;
  };
  // Headers that public drivers write.
  const Known known[] = {
      {GenId::gen4, EngineClass::render, 0x00000000, "MI_NOOP", 1},
      {GenId::gen12, EngineClass::blit, 0x05000000, "MI_BATCH_BUFFER_END", 1},
      {GenId::gen6, EngineClass::blit, 0x01000000, "MI_USER_INTERRUPT", 1},
      {GenId::gen8, EngineClass::render, 0x18800101, "MI_BATCH_BUFFER_START", 3},
      {GenId::gen9, EngineClass::render, 0x11000001, "MI_LOAD_REGISTER_IMM", 3},
      {GenId::gen9, EngineClass::render, 0x7a000004, "PIPE_CONTROL", 6},
      {GenId::gen9, EngineClass::render, 0x61010011, "STATE_BASE_ADDRESS", 19},
      {GenId::gen9, EngineClass::render, 0x7b000005, "3DPRIMITIVE", 7},
      {GenId::gen8, EngineClass::blit, 0x54c00008, "XY_SRC_COPY_BLT", 10},
      {GenId::gen6, EngineClass::blit, 0x54c00006, "XY_SRC_COPY_BLT", 8},
      {GenId::gen4, EngineClass::render, 0x02000000, "MI_FLUSH", 1},
  };
  for (const DeviceModel& device : device_models()) {
    for (const Known& k : known) {
      if (device.gen != k.gen) continue;
      const CommandTable& table = CommandTable::get(device.id, k.engine);
      const CommandDesc* desc = table.find(k.header);
      ASSERT_NE(desc, nullptr) << k.name << " on " << device.name;
      EXPECT_EQ(desc->name, k.name);
      EXPECT_EQ(table.length(*desc, k.header), k.dwords) << k.name << " on " << device.name;
    }
  }
}

TEST(CommandTable, LengthIsNeverZero) {
  for (const DeviceModel& device : device_models()) {
    for (size_t e = 0; e < kEngineClassCount; ++e) {
      const CommandTable& table = CommandTable::get(device.id, static_cast<EngineClass>(e));
      for (const CommandDesc* c : commands()) {
        EXPECT_GE(table.length(*c, c->match_of_gen[static_cast<size_t>(device.gen)].value), 1u) << c->name;
      }
    }
  }
}

TEST(CommandTable, ConcurrentLookupsShareOneTable) {
  std::vector<const CommandTable*> seen(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&seen, i] { seen[i] = &CommandTable::get(DeviceId::dg1, EngineClass::render); });
  }
  for (std::thread& t : threads) t.join();
  for (const CommandTable* table : seen) EXPECT_EQ(table, seen[0]);
}

}  // namespace
}  // namespace halogen::spec
