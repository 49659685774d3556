// A register, structure or table entry of one or two dwords as a number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "spec/descriptors.h"
#include "spec/pack_result.h"

namespace halogen::spec {

// How packed() treats a field that does not fit: the generation does not have it, or it cannot hold the value.
enum class Misfit : uint8_t {
  left_out,  // the field contributes zero. Models name the fields of all generations in one value, and values of guests
             // may be too wide
  refused,   // the program stops: a driver knows its chip, so this is a defect of the caller
};

// Returns the bits of `item`.
template <class Item>
uint64_t packed(const Item& item, GenId gen, Misfit misfit = Misfit::left_out) {
  std::array<uint32_t, 2> dwords{};
  size_t length = 0;
  if constexpr (requires { Item::kDesc.width_bits; }) {
    length = Item::kDesc.width_bits / 32;
  } else {
    length = Item::kDesc.dwords_of_gen[static_cast<size_t>(gen)];
  }
  const PackResult result = item.pack(gen, std::span(dwords).first(length));
  check(result.ok() || misfit == Misfit::left_out, "a field does not hold its value");
  return dwords[0] | uint64_t{dwords[1]} << 32;
}

template <class Item>
uint32_t packed32(const Item& item, GenId gen, Misfit misfit = Misfit::left_out) {
  return static_cast<uint32_t>(packed(item, gen, misfit));
}

}  // namespace halogen::spec
