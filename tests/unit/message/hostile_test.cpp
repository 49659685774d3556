// Random messages with random state. Nothing may crash, and the sanitizers report accesses out of bounds. Parts of the
// state are chosen so that surfaces of every type and format are likely.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/message_target.h"

namespace halogen {
namespace {

TEST(HostileMessages, RandomMessagesStayInBounds) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 engine(seed);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    std::vector<uint8_t> data(20000);
    std::generate(data.begin(), data.end(), [&] { return static_cast<uint8_t>(random()); });
    // The binding table and the surface states that it refers to: offsets below a page, and small sizes for half of
    // them.
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t at = 0x400 + (random() % 48) * 64;
      std::memcpy(data.data() + 1 + i * 4, &at, 4);
    }
    for (size_t at = 0x400; at < 0x1000; at += 128) {
      const uint32_t size = random() & 0x003f'007f;
      const uint32_t base = random() & 0xffff;
      const uint32_t zero = 0;
      std::memcpy(data.data() + 1 + at + 8, &size, 4);
      std::memcpy(data.data() + 1 + at + 32, &base, 4);
      std::memcpy(data.data() + 1 + at + 36, &zero, 4);
    }
    fuzz::message(data);
  }
}

}  // namespace
}  // namespace halogen
