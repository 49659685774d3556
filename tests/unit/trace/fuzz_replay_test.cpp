// Replays the inputs of tests/fuzz/corpus that belong to traces and TBX, and shapes that are made here.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "aub_builder.h"
#include "fuzz/aub_copy_target.h"
#include "fuzz/tbx_target.h"
#include "support/paths.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;

template <class Target>
int replay(const char* name, const Target& target) {
  const fs::path folder = test::source_folder() / "tests" / "fuzz" / "corpus" / name;
  int count = 0;
  if (!fs::exists(folder)) return count;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().string());
    target(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    ++count;
  }
  return count;
}

TEST(TraceFuzzReplay, CopiesOfTraces) {
  EXPECT_GT(replay("fuzz_aub", fuzz::aub_copy), 0);
  replay("fuzz_aub_copy", fuzz::aub_copy);
}

TEST(TraceFuzzReplay, TbxSessions) {
  EXPECT_GT(replay("fuzz_tbx", fuzz::tbx_session), 0);
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
