// Registers that belong to a render context: counters of the pipelines, stream offsets, sizes of indirect work, modes.
// The list is that of igt-gpu-tools (gem_ctx_isolation.c), which passes on hardware, and the two pixel counters that
// drivers read for queries. They are saved when the context leaves and restored when it comes back.
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kLoadRegister = 0x1100'0001, kStoreRegister = 0x1240'0002;

struct Register {
  uint32_t offset;
  bool masked = false;
  uint32_t first = 8, last = 12;  // generations
};

std::vector<Register> registers_of(uint32_t generation) {
  std::vector<Register> all = {{0x2290},
                               {0x2294},
                               {0x2364},
                               {0x2420},
                               {0x2430},
                               {0x2434},
                               {0x2438},
                               {0x243c},
                               {0x2440},
                               {0x2500},
                               {0x2504},
                               {0x2508},
                               {0x5280},
                               {0x5284},
                               {0x5288},
                               {0x528c},
                               {0x7000, true},
                               {0x7004, true},
                               {0x7008, true},
                               {0x7034, false, 8, 11},
                               {0x2580, true, 9, 11},
                               {0x7014, true, 9, 9},
                               {0x7304, true, 9, 9},
                               {0x731c, true, 11, 11},
                               {0xe18c, true, 11, 11},
                               {0xe194, true, 11, 11}};
  for (uint32_t offset = 0x2300; offset < 0x2358; offset += 4) all.push_back({offset});  // statistics, pixels included
  for (uint32_t offset = 0; offset < 0x20; offset += 4) {
    all.push_back({0x5200 + offset});
    all.push_back({0x5240 + offset});
  }
  for (const uint32_t offset : {0x22c8u, 0x22d8u, 0x22f0u, 0x22f8u}) {
    all.push_back({offset, false, 9});
    all.push_back({offset + 4, false, 9});
  }
  std::erase_if(all, [&](const Register& each) { return generation < each.first || generation > each.last; });
  return all;
}

uint32_t number_of(spec::GenId gen) {
  switch (gen) {
    case spec::GenId::gen8:
      return 8;
    case spec::GenId::gen9:
      return 9;
    case spec::GenId::gen11:
      return 11;
    default:
      return 12;
  }
}

class ContextKeeps : public ::testing::TestWithParam<const char*> {};

TEST_P(ContextKeeps, CountersOffsetsAndModesAcrossASwitch) {
  ContextBench bench(GetParam());
  const std::vector<Register> registers = registers_of(number_of(bench.model.gen));
  const uint64_t results = bench.allocate(4);
  const auto store = [&](ContextBench::Context& context, uint32_t page) {
    for (uint32_t i = 0; i < registers.size(); ++i) {
      const uint64_t to = results + page * ContextBench::kPage + 4 * i;
      bench.emit(context, {kStoreRegister, registers[i].offset, static_cast<uint32_t>(to), 0});
    }
  };
  const auto load = [&](ContextBench::Context& context, uint32_t seed) {
    for (const Register& each : registers) {
      const uint32_t value = seed * 0x0101'0101u;
      bench.emit(context, {kLoadRegister, each.offset, each.masked ? 0xffff'0000 | (value & 0xffff) : value});
    }
  };
  ContextBench::Context first =
      bench.create("rcs0", 1, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  ContextBench::Context second =
      bench.create("rcs0", 2, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  load(first, 0x54);
  store(first, 0);
  bench.run(first);
  load(second, 0x2a);
  store(second, 1);
  bench.run(second);
  // Both images are complete now.
  for (const ContextBench::Context* const context : {&first, &second}) {
    bench.set_image(*context, ContextBench::kImageControl, 0xffff'0000 | ContextBench::kNoSwitchOnWait);
  }
  store(first, 2);
  bench.run(first);
  store(second, 3);
  bench.run(second);
  const auto value = [&](uint32_t page, uint32_t i) {
    return bench.peek(results + page * ContextBench::kPage + 4 * i);
  };
  for (uint32_t i = 0; i < registers.size(); ++i) {
    SCOPED_TRACE(registers[i].offset);
    EXPECT_NE(value(0, i), value(1, i)) << "the register takes values";
    EXPECT_EQ(value(2, i), value(0, i));
    EXPECT_EQ(value(3, i), value(1, i));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ContextKeeps, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace halogen
