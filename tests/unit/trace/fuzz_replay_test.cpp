// Replays the inputs of tests/fuzz/corpus for traces and TBX, and inputs that are generated here.
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "aub_builder.h"
#include "fuzz/aub_copy_target.h"
#include "fuzz/aub_play_target.h"
#include "fuzz/tbx_target.h"
#include "support/fuzz_corpus.h"

namespace halogen {
namespace {

TEST(TraceFuzzReplay, CorpusTracesAreCopied) {
  EXPECT_GT(test::replay_corpus("fuzz_aub", fuzz::aub_copy), 0);
  test::replay_corpus("fuzz_aub_copy", fuzz::aub_copy);
  test::replay_corpus("fuzz_aub_play", fuzz::aub_play);
}

// Random records are played on every device. Sizes, spaces and flags are small numbers, so that many of them are valid.
TEST(TraceFuzzReplay, RandomRecordsArePlayed) {
  std::mt19937 engine(21);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  uint64_t played = 0;
  constexpr uint32_t kKinds[]{0x00, 0x07, 0x09, 0x0c, 0x0d, 0x0f, 0x11};
  constexpr uint32_t kRegisters[]{0x2030, 0x2038, 0x203c, 0x2230, 0x2510, 0x2550, 0x229c, 0x2600, 0x2020, 0xcf58};
  for (uint8_t round = 0; round < 66; ++round) {
    trace::AubBuilder aub;
    aub.version(11);
    for (int i = 0; i < 30; ++i) {
      const uint32_t flags = random() % 12 << 28 | random() % 4 << 16 | (random() % 4 == 0 ? random() & 0x3ff : 0);
      const uint32_t address = random() % 32 * 0x1000 + random() % 8 * 4;
      switch (random() % 6) {
        case 0:
          aub.trace(1 + random() % 3, {kRegisters[random() % std::size(kRegisters)], (flags & 0xf'ffff) | 2,
                                       0xffff'ffff, 0, random() % 2 == 0 ? random() % 16 * 0x1000 | 1 : random()});
          break;
        case 1:
          aub.trace(4, {address, 0, flags, 8, random() % 2, 0});
          break;
        case 2:
          aub.trace(5, {address, 0, flags | 1 << 8, 0xff, 0, random() % 2});
          break;
        case 3:
          aub.trace(kKinds[random() % std::size(kKinds)], {random() % 64, random() % 64, random() % 64, random() % 64});
          break;
        default:
          aub.trace(6, {address, random() % 8 == 0 ? random() : 0, flags, 8, random() % 64 * 0x1000 | 3, 0});
      }
    }
    std::vector<uint8_t> bytes(1, round);
    for (const std::byte byte : aub.bytes()) bytes.push_back(static_cast<uint8_t>(byte));
    played += fuzz::aub_play(bytes);
  }
  EXPECT_GT(played, 66u * 10);
}

TEST(TraceFuzzReplay, CorpusSessionsDoNotCrash) {
  EXPECT_GT(test::replay_corpus("fuzz_tbx", fuzz::tbx_session), 0);
}

// Random records of every kind with random content.
TEST(TraceFuzzReplay, RandomRecordsAreCopied) {
  std::mt19937 engine(20);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  for (int round = 0; round < 200; ++round) {
    trace::AubBuilder aub;
    aub.version(11);
    for (int i = 0; i < 20; ++i) {
      std::vector<uint32_t> body(random() % 30);
      for (uint32_t& word : body) word = random() % 4 == 0 ? random() : random() % 64;
      if (random() % 4 == 0 && !body.empty()) {
        aub.classic(random() % 128, body);
      } else {
        aub.trace(random() % 18, body);
      }
    }
    const auto bytes = aub.bytes();
    fuzz::aub_copy(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  }
}

}  // namespace
}  // namespace halogen
