// Replays the inputs of tests/fuzz/corpus: findings that were fixed, and shapes worth keeping.
#include <gtest/gtest.h>

#include "fuzz/targets.h"
#include "support/fuzz_corpus.h"

namespace halogen {
namespace {

TEST(FuzzReplay, AubCorpusInputsDoNotCrash) {
  EXPECT_GT(test::replay_corpus("fuzz_aub", fuzz::aub), 0);
}
TEST(FuzzReplay, WalkerCorpusInputsDoNotCrash) {
  EXPECT_GT(test::replay_corpus("fuzz_walker", fuzz::walker), 0);
}
TEST(FuzzReplay, ManifestCorpusInputsDoNotCrash) {
  EXPECT_GT(test::replay_corpus("fuzz_manifest", fuzz::manifest), 0);
}

}  // namespace
}  // namespace halogen
