// The fields of one item in memory as a flat list with paths, for printing and for finding pointers by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/descriptors.h"

namespace halogen::decode {

struct FieldValue {
  const spec::FieldDesc* desc;
  const spec::ItemDesc* owner;  // the item, or the nested structure that the field belongs to
  std::string path;             // "vertex_buffers[2].state.address"
  unsigned instance;            // equal for fields of the same element or nested structure
  unsigned first_bit;           // from the start of the item
  uint64_t raw;
};

struct ReservedValue {
  unsigned first_bit;
  unsigned width;
  uint64_t value;
  bool must_be_one;
};

struct FieldList {
  std::vector<FieldValue> fields;
  std::vector<ReservedValue> reserved;  // reserved bits that are set, must-be-one bits that are clear

  // Returns the field of this name in the same element as `near`. Null: the field does not exist.
  const FieldValue* beside(const FieldValue& near, std::string_view name) const;
};

FieldList list_fields(const spec::ItemDesc& item, spec::GenId gen, std::span<const uint32_t> dwords);

// Returns the value of a field by name. 0: the generation lacks the field, or the item is too short.
uint64_t value_of(const spec::ItemDesc& item, spec::GenId gen, std::span<const uint32_t> dwords, std::string_view name);

}  // namespace halogen::decode
