// Replays tests/fuzz/corpus/fuzz_page_walk: interesting shapes, and inputs that once failed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/page_walk_target.h"
#include "support/paths.h"

namespace halogen::memory {
namespace {

TEST(FuzzReplay, PageWalkCorpusDoesNoHarm) {
  const auto folder = test::source_folder() / "tests" / "fuzz" / "corpus" / "fuzz_page_walk";
  unsigned count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().string());
    fuzz::page_walk({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    ++count;
  }
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace halogen::memory
