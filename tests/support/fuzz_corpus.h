// Replays the inputs of a folder of tests/fuzz/corpus: findings that were fixed, and shapes worth keeping.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "support/paths.h"

namespace halogen::test {

// Calls `target` with the bytes of each file. Returns the number of files; 0: the folder does not exist.
template <class Target>
int replay_corpus(const char* name, const Target& target) {
  const std::filesystem::path folder = source_folder() / "tests" / "fuzz" / "corpus" / name;
  int count = 0;
  if (!std::filesystem::exists(folder)) return count;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().string());
    target(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    ++count;
  }
  return count;
}

}  // namespace halogen::test
