// Replays the inputs of tests/fuzz/corpus: findings that were fixed, and shapes worth keeping.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/targets.h"
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

TEST(FuzzReplay, Aub) {
  EXPECT_GT(replay("fuzz_aub", fuzz::aub), 0);
}
TEST(FuzzReplay, Walker) {
  EXPECT_GT(replay("fuzz_walker", fuzz::walker), 0);
}
TEST(FuzzReplay, Manifest) {
  EXPECT_GT(replay("fuzz_manifest", fuzz::manifest), 0);
}

}  // namespace
}  // namespace halogen
