// A product divided by a number, for values whose product does not fit into 64 bits.
#pragma once

#include <cstdint>

namespace halogen {

// Returns value * numerator / denominator, rounded down. The result must fit into 64 bits.
constexpr uint64_t mul_div(uint64_t value, uint64_t numerator, uint64_t denominator) {
  __extension__ using Product = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Product>(value) * numerator / denominator);
}

}  // namespace halogen
