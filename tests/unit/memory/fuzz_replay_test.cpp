// Replays tests/fuzz/corpus/fuzz_page_walk: inputs that once failed, and shapes worth keeping.
#include <gtest/gtest.h>

#include "fuzz/page_walk_target.h"
#include "support/fuzz_corpus.h"

namespace halogen::memory {
namespace {

TEST(FuzzReplay, PageWalkCorpusInputsDoNotCrash) {
  EXPECT_GT(test::replay_corpus("fuzz_page_walk", fuzz::page_walk), 0);
}

}  // namespace
}  // namespace halogen::memory
