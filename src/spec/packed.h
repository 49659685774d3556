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

// What packed() does with a non-zero field, or an item, that the generation does not have.
enum class Absent : uint8_t {
  left_out,  // it contributes zero: a model names the fields of all generations in one value
  refused,   // it is a defect of the caller: a driver knows its chip
};

// Returns the bits of `item`. A value that its field cannot hold is a defect of the caller and always refused.
template <class Item>
uint64_t packed(const Item& item, GenId gen, Absent absent = Absent::left_out) {
  std::array<uint32_t, 2> dwords{};
  size_t length = 0;
  if constexpr (requires { Item::kDesc.width_bits; }) {
    length = Item::kDesc.width_bits / 32;
  } else {
    length = Item::kDesc.dwords_of_gen[static_cast<size_t>(gen)];
  }
  const PackResult result = item.pack(gen, std::span(dwords).first(length));
  const bool is_absent = result.fault == PackFault::absent || result.fault == PackFault::no_such_item;
  check(result.ok() || (is_absent && absent == Absent::left_out), "a field does not hold its value");
  return dwords[0] | uint64_t{dwords[1]} << 32;
}

template <class Item>
uint32_t packed32(const Item& item, GenId gen, Absent absent = Absent::left_out) {
  return static_cast<uint32_t>(packed(item, gen, absent));
}

}  // namespace halogen::spec
