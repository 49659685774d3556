// Requests with any bytes on every chip, with and without a thread that changes the shared page: nothing crashes or
// leaks (under sanitizers).
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <vector>

#include "fuzz/client_target.h"
#include "support/fuzz_corpus.h"

namespace halogen::shim {
namespace {

// Whole parts with small numbers and addresses of each other, so that most requests reach the driver.
std::vector<uint8_t> random_requests(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> data{static_cast<uint8_t>(seed % 22 / 2 | (seed % 2 != 0 ? 0x80 : 0))};
  for (int call = 0; call < 30; ++call) {
    std::vector<uint8_t> request{static_cast<uint8_t>(random())};
    const auto add = [&](uint64_t value) {
      for (int i = 0; i < 64; i += 8) request.push_back(static_cast<uint8_t>(value >> i));
    };
    for (uint64_t part = 1; part <= 1u + request[0] % 4; ++part) {
      const uint64_t words = random() % 12;
      add(part * 0x1000);
      add(8 * words);
      for (uint64_t i = 0; i < words; ++i) {
        const uint64_t values[] = {0, random() % 4, random() % 4 << 32, 0x1000 * (1 + random() % 4), random()};
        add(values[random() % std::size(values)]);
      }
    }
    data.push_back(static_cast<uint8_t>(request.size()));
    data.push_back(static_cast<uint8_t>(request.size() >> 8));
    data.insert(data.end(), request.begin(), request.end());
  }
  return data;
}

TEST(HostileClient, RandomRequestsDoNoHarm) {
  for (uint32_t seed = 0; seed < 44; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_GT(fuzz::client(random_requests(seed)), 10u) << "most requests reach the driver";
  }
}

TEST(HostileClient, ValidRequestsSucceed) {
  const int files =
      test::replay_corpus("fuzz_client", [](std::span<const uint8_t> data) { EXPECT_GE(fuzz::client(data), 3u); });
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace halogen::shim
