// Counts how many inputs reach a place that matters, for tuning a target: HALOGEN_FUZZ_REACH=1 prints the counts when
// the program ends.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace halogen::fuzz {

class Reach {
 public:
  explicit Reach(std::initializer_list<const char*> places) {
    for (const char* place : places) names_[count_++] = place;
  }
  ~Reach() {
    if (std::getenv("HALOGEN_FUZZ_REACH") == nullptr || inputs_ == 0) return;
    std::fprintf(stderr, "reach: %llu inputs", static_cast<unsigned long long>(inputs_));
    for (size_t i = 0; i < count_; ++i) {
      std::fprintf(stderr, "; %s %llu (%.1f %%)", names_[i], static_cast<unsigned long long>(reached_[i]),
                   100.0 * static_cast<double>(reached_[i]) / static_cast<double>(inputs_));
    }
    std::fputc('\n', stderr);
  }
  void input() { ++inputs_; }
  void place(size_t index, bool reached) { reached_[index] += reached ? 1 : 0; }

 private:
  static constexpr size_t kMax = 8;
  std::array<const char*, kMax> names_{};
  std::array<uint64_t, kMax> reached_{};
  size_t count_ = 0;
  uint64_t inputs_ = 0;
};

}  // namespace halogen::fuzz
