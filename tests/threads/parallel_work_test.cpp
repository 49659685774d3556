// Draws and dispatches on several host threads, from the fuzzer's inputs: with ThreadSanitizer, threads that share
// memory without order are reported. Results are compared with those of one thread.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/compute_target.h"
#include "fuzz/draw_target.h"

namespace halogen {
namespace {

constexpr int kRounds = 12;  // per chip

// Calls a target with inputs whose first byte is the number of threads and whose second one is the chip. The first
// input is the unchanged scene.
template <class Target>
void on_every_chip(uint32_t seed, const Target& target) {
  std::mt19937 random(seed);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<uint8_t> data(round == 0 ? 2 : 8 + random() % 400);
      for (uint8_t& byte : data) {
        byte = static_cast<uint8_t>(random());
      }
      data[0] = static_cast<uint8_t>(1 + round % 3);
      data[1] = static_cast<uint8_t>(chip);
      target(data);
    }
  }
}

TEST(ParallelWork, DrawsLeaveTheResultsOfOneThread) {
  on_every_chip(1, [](std::span<const uint8_t> data) { fuzz::draw_threads(data); });
}

TEST(ParallelWork, DispatchesLeaveTheResultsOfOneThread) {
  on_every_chip(2, [](std::span<const uint8_t> data) { fuzz::dispatch(data); });
}

}  // namespace
}  // namespace halogen
