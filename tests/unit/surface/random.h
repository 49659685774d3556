// Random numbers. A failed test prints the seed; HALOGEN_SEED sets it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>

namespace halogen::surface {

class Random {
 public:
  Random() : seed_(given_or_new()), engine_(seed_) {}
  uint64_t seed() const { return seed_; }
  testing::Message message() const { return testing::Message() << "HALOGEN_SEED=" << seed_; }

  // Returns a number in [low, high].
  uint32_t in(uint32_t low, uint32_t high) { return std::uniform_int_distribution<uint32_t>(low, high)(engine_); }
  bool chance(uint32_t one_in) { return in(1, one_in) == 1; }
  uint64_t word() { return engine_(); }

 private:
  static uint64_t given_or_new() {
    const char* given = std::getenv("HALOGEN_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }
  uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace halogen::surface
