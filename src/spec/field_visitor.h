// Walks the fields of one command, structure or register in memory order, through groups and nested structures.
// Printing (text, JSON), reserved-bit checks and tests are visitors; the walk itself is done once, here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen::spec {

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  // A plain field. `first_bit` is relative to the start of the visited item. `raw` holds the bits right-aligned;
  // field_value() converts them. Match and length bits of a command are not fields, and fields beyond the end of the
  // dwords are skipped.
  virtual void field(const FieldDesc& field, unsigned first_bit, uint64_t raw) = 0;

  // A nested structure: its fields are visited between these two calls.
  virtual void begin_struct(const FieldDesc& /*field*/, unsigned /*first_bit*/) {}
  virtual void end_struct() {}

  // One element of a group: its fields are visited between these two calls, also for groups of a single field.
  virtual void begin_element(const GroupDesc& /*group*/, unsigned /*index*/) {}
  virtual void end_element() {}

  // Reserved bits that are set, or must-be-one bits that are clear (`must_be_one`). `value`: the present bits. Runs
  // longer than 64 bits are reported in parts.
  virtual void reserved_set(unsigned /*first_bit*/, unsigned /*width*/, uint64_t /*value*/, bool /*must_be_one*/) {}
};

// Passes the fields of an item to the visitor. Does nothing if the generation lacks the item.
void visit_fields(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords, FieldVisitor& visitor);

// Converts raw bits: in-place types are shifted to their position, signed types are sign-extended. Floats and
// fixed-point values stay raw; see fixed_value().
uint64_t field_value(const FieldDesc& field, uint64_t raw);

// Returns the number of a ufixed, sfixed or float32 field.
double fixed_value(const FieldDesc& field, uint64_t raw);

// Returns the value as text: "NAME (3)", "0x0000000012345000", "-4", "1.5", "true".
std::string format_value(const FieldDesc& field, GenId gen, uint64_t raw);

// Returns whether a reserved bit is set or a must-be-one bit is clear. Cheaper than a full visit.
bool has_reserved_set(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords);

// Returns the raw bits of one top-level field, right-aligned; zero beyond the end.
uint64_t read_field(const FieldDesc& field, std::span<const uint32_t> dwords);

// Returns the field of this name on this generation. Null: the field does not exist.
const FieldDesc* find_field(const ItemDesc& item, GenId gen, std::string_view name);

// Returns one line per field: "  address = 0x0000000000001000", "  pairs[1].register = 0x2358", "  reserved 0[9:8] =
// 0x1".
std::string format_fields(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords, std::string_view indent);

// Returns "1[47:2]", for example: a bit range in the notation of the manual and spec/.
std::string format_position(unsigned first_bit, unsigned width);

}  // namespace halogen::spec
