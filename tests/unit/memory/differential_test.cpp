// src/memory against the slow walker of the tests: random tables, random accesses, every device and every mode. A
// failure prints the random seed of its world; HALOGEN_SEED=<n> repeats from there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "table_world.h"

namespace halogen::memory::worlds {
namespace {

constexpr unsigned kWorlds = 4;  // per kind of world
constexpr unsigned kAccesses = 300;

uint64_t first_seed() {
  const char* text = std::getenv("HALOGEN_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

Access random_access(Random& random) {
  const bool write = random.percent(40);
  return {.direction = write ? Direction::write : Direction::read, .instruction = !write && random.percent(20)};
}

class Differential : public testing::TestWithParam<WorldKind> {};

TEST_P(Differential, WalkerAgreesWithTheManual) {
  for (uint64_t seed = first_seed(); seed < first_seed() + kWorlds; ++seed) {
    World world(GetParam(), seed);
    Random random(~seed);
    for (unsigned i = 0; i < kAccesses; ++i) {
      const uint64_t address = world.random_address(random);
      const std::string difference = compare_walk(world, address, random_access(random));
      ASSERT_EQ(difference, "") << "HALOGEN_SEED=" << seed << " access " << i;
    }
    ASSERT_EQ(world.compare_memory(), "") << "HALOGEN_SEED=" << seed;
  }
}

// The random worlds reach every page size and every fault that their mode can produce.
TEST(DifferentialWorlds, ReachEveryPageSizeAndFault) {
  std::map<WalkMode, std::map<FaultReason, unsigned>> reasons;
  std::map<WalkMode, std::map<unsigned, unsigned>> sizes;
  std::map<WalkMode, unsigned> nulls;
  for (const WorldKind& kind : all_kinds()) {
    for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
      World world(kind, seed);
      Random random(~seed);
      for (unsigned i = 0; i < kAccesses / 4; ++i) {
        const uint64_t address = world.random_address(random);
        const slow::Outcome outcome = world.expect(address, random_access(random));
        ++reasons[kind.mode][outcome.reason];
        if (outcome.reason == FaultReason::none) {
          ++sizes[kind.mode][outcome.mapping.page_bits];
          nulls[kind.mode] += outcome.mapping.null ? 1 : 0;
        }
      }
    }
  }
  using enum FaultReason;
  for (auto& [mode, found] : reasons) {
    SCOPED_TRACE(memory::name_of(mode));
    const bool wide = mode == WalkMode::legacy48 || mode == WalkMode::advanced48;
    const bool legacy = mode == WalkMode::legacy32 || mode == WalkMode::legacy48;
    std::vector<FaultReason> wanted = {none, not_present, table_hole, wide ? not_canonical : out_of_range};
    if (legacy || mode == WalkMode::advanced48) {
      wanted.push_back(write_denied);
    }
    if (mode == WalkMode::advanced48) {
      wanted.insert(wanted.end(), {reserved_bit, privilege_denied, execute_denied});
    }
    for (const FaultReason reason : wanted) {
      EXPECT_GT(found[reason], 0u) << memory::name_of(reason);
    }
    EXPECT_EQ(found.size(), wanted.size()) << "a fault that the mode does not have";
    EXPECT_EQ(sizes[mode].size(), wide ? 4u : (legacy ? 2u : 1u));
    EXPECT_EQ(nulls[mode] > 10, legacy);
  }
}

TEST_P(Differential, ObserverDoesNotChangeTheTables) {
  World world(GetParam(), first_seed());
  Random random(7);
  for (unsigned i = 0; i < kAccesses; ++i) {
    const uint64_t address = world.random_address(random);
    const Access access = random_access(random);
    const slow::Outcome expected = world.expect(address, access, false);
    const WalkResult result = walk(world.memory(), world.context(), address, access, nullptr, false);
    ASSERT_EQ(name_of(result.fault.reason), name_of(expected.reason)) << fmt::format("0x{:x}", address);
  }
  EXPECT_EQ(world.compare_memory(), "");
}

TEST_P(Differential, AddressSpaceAgreesWithTheManual) {
  constexpr unsigned kTlbEntries[] = {1, 7, 64, 256, 640, 768};
  uint64_t hits = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + kWorlds; ++seed) {
    World world(GetParam(), seed);
    SpaceTwin twin(world, kTlbEntries[seed % 6], static_cast<SpaceTag>(seed));
    twin.set_action(seed % 3 == 0 ? FaultAction::stop : FaultAction::skip);
    Random random(seed * 77);
    for (unsigned i = 0; i < kAccesses; ++i) {
      const uint64_t address = world.random_address(random);
      const size_t bytes = random.percent(90) ? 1 + random.below(64) : 1 + random.below(9000);
      std::string difference;
      const auto random_bytes = [&](size_t count) {
        std::vector<std::byte> data(count);
        for (std::byte& byte : data) {
          byte = static_cast<std::byte>(random.next());
        }
        return data;
      };
      const auto random_addresses = [&] {
        std::vector<GpuVa> addresses = {GpuVa(address)};
        while (random.percent(95)) {
          addresses.push_back(GpuVa(world.random_address(random)));
        }
        return addresses;
      };
      switch (random.below(12)) {
        case 0:
          difference = twin.write(address, random_bytes(bytes));
          break;
        case 1:
          difference = twin.view(address, random_access(random));
          break;
        case 2:
          if (random.percent(20)) {
            twin.space().invalidate();
          } else {
            twin.space().invalidate_page(GpuVa(address));
          }
          break;
        case 3:
          difference = twin.read_each(random_addresses(), 1 + random.below(64));
          break;
        case 4: {
          const std::vector<GpuVa> addresses = random_addresses();
          difference = twin.write_each(addresses, 16, random_bytes(16 * addresses.size()));
          break;
        }
        default:
          difference = twin.read(address, bytes, random.percent(20));
          break;
      }
      ASSERT_EQ(difference, "") << "HALOGEN_SEED=" << seed << " access " << i;
    }
    ASSERT_EQ(world.compare_memory(), "") << "HALOGEN_SEED=" << seed;
    hits += twin.tlb().statistics().hits;
  }
  EXPECT_GT(hits, kAccesses / 10) << "the fast path was hardly used";
}

INSTANTIATE_TEST_SUITE_P(Kinds, Differential, testing::ValuesIn(all_kinds()),
                         [](const testing::TestParamInfo<WorldKind>& kind) {
                           std::string name = name_of(kind.param);
                           std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

}  // namespace
}  // namespace halogen::memory::worlds
