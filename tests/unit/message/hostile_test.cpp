// Random messages with random state on every chip, as in the fuzzer. Nothing may crash, and the sanitizers report
// accesses out of bounds.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/message_target.h"
#include "support/fuzz_corpus.h"

namespace halogen {
namespace {

TEST(HostileMessages, RandomMessagesStayInBounds) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> data(64 + random() % 1000);
    std::generate(data.begin(), data.end(), [&] { return static_cast<uint8_t>(random()); });
    data[0] = static_cast<uint8_t>(seed);
    fuzz::message(data);
  }
}

TEST(FuzzReplay, CorpusInputsStayInBounds) {
  test::replay_corpus("fuzz_message", fuzz::message);
}

}  // namespace
}  // namespace halogen
