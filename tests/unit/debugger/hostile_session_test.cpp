// Random debugger commands over random dispatches, as in the fuzzer. A session must not change the dispatch.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/debugger_target.h"
#include "support/fuzz_corpus.h"

namespace halogen {
namespace {

TEST(HostileSession, RandomCommandsDoNotChangeTheDispatch) {
  std::mt19937 random(71);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < 15; ++round) {
      std::vector<uint8_t> data(16 + random() % 600);
      for (uint8_t& byte : data) {
        byte = static_cast<uint8_t>(random());
      }
      data[0] = static_cast<uint8_t>(chip);
      fuzz::debugger(data);
    }
  }
  test::replay_corpus("fuzz_debugger", fuzz::debugger);
}

}  // namespace
}  // namespace halogen
