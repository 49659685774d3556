// What points to what: the fields of commands and structures that hold the address of something else in memory, as a
// table. Following a pointer means reading a row of it; there is no code per command.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen::decode {

// What an offset counts from; fields that are whole addresses take no base, whatever the row says. A base that nothing
// has set is another one: see StateBases.
enum class Base : uint8_t { none, general, surface, dynamic, instruction, indirect_object, binding_table_pool };
constexpr size_t kBaseCount = 7;

// Commands that set a base.
struct BaseRow {
  std::string_view command;
  Base base;
  std::string_view address;
  std::string_view modify;  // the field that must be set for the address to count; the base is kept otherwise
  std::string_view enable;  // where given and clear, the base is unset
};
std::span<const BaseRow> base_rows();

enum class Target : uint8_t { structure, binding_table, kernel, data };

// What the count field counts.
enum class Unit : uint8_t {
  elements,
  bytes,
  bytes_less_one,  // in units of `scale`: the field holds one less
  last_byte,       // it is the address of the last byte
};

struct PointerRow {
  std::string_view owner;  // command or structure
  std::string_view field;
  Base base = Base::none;
  Target target = Target::data;
  std::string_view structure{};  // for Target::structure
  std::string_view count{};      // a field beside the pointer, or COMMAND.field of the last such command
  Unit unit = Unit::elements;
  uint16_t scale = 1;          // times the count field's value; 0: the size cannot be told from it
  uint16_t otherwise = 1;      // elements when no count is known, or it is zero
  std::string_view only_if{};  // fields beside the pointer, '|' between them: one must not be zero
  bool zero_counts = false;    // an offset of zero is a place; else it means: no pointer
  uint16_t skip_bytes = 0;     // the structure stands so far behind the address
};

std::span<const PointerRow> pointer_rows();

// The rows whose owner is this item; rows of one owner stand together.
std::span<const PointerRow> pointer_rows_of(std::string_view owner);

// Base addresses and modes set so far: what hardware keeps in a context.
class StateBases {
 public:
  void update(const spec::ItemDesc& command, spec::GenId gen, std::span<const uint32_t> dwords);

  // The general state base stands in for the instruction and dynamic state bases where nothing has set them (the oldest
  // generations have only the one), the surface state base for the binding table pool.
  uint64_t get(Base base) const;

  // GT_MODE can move the bits of binding table pointers.
  unsigned binding_table_shift() const { return binding_table_shift_; }

 private:
  void load_registers(spec::GenId gen, std::span<const uint32_t> dwords);

  std::array<std::optional<uint64_t>, kBaseCount> bases_{};
  unsigned binding_table_shift_ = 0;
};

}  // namespace halogen::decode
