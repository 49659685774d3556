// A table of all pointers: the fields of commands and structures that hold an address. The follower reads a row of it;
// there is no code per command.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen::decode {

// The base of an offset. Fields that are complete addresses ignore it. A base that was never set is replaced by
// another: see StateBases.
enum class Base : uint8_t { none, general, surface, dynamic, instruction, indirect_object, binding_table_pool };
constexpr size_t kBaseCount = 7;

// Commands that set a base address.
struct BaseRow {
  std::string_view command;
  Base base;
  std::string_view address;
  std::string_view modify;  // the base changes only if this field is set
  std::string_view enable;  // if given and clear, the base becomes unset
};
std::span<const BaseRow> base_rows();

enum class Target : uint8_t { structure, binding_table, kernel, data };

// The unit of the count field.
enum class Unit : uint8_t {
  elements,
  bytes,
  bytes_less_one,  // in units of `scale`: the field holds one less
  last_byte,       // the field holds the address of the last byte
};

struct PointerRow {
  std::string_view owner;  // command or structure
  std::string_view field;
  Base base = Base::none;
  Target target = Target::data;
  std::string_view structure{};  // for Target::structure
  std::string_view count{};      // a field of the same element, or COMMAND.field of the last such command
  Unit unit = Unit::elements;
  uint16_t scale = 1;          // factor for the count; 0: the field does not give the size
  uint16_t otherwise = 1;      // number of elements if the count is unknown or zero
  std::string_view only_if{};  // fields of the same element, separated by '|': one must be non-zero
  bool zero_counts = false;    // an offset of zero is valid; false: zero means no pointer
  uint16_t skip_bytes = 0;     // offset of the structure from the address
};

std::span<const PointerRow> pointer_rows();

// Returns the rows of an owner, which are adjacent.
std::span<const PointerRow> pointer_rows_of(std::string_view owner);

// Base addresses and modes set so far, which hardware keeps in a context.
class StateBases {
 public:
  void update(const spec::ItemDesc& command, spec::GenId gen, std::span<const uint32_t> dwords);

  // The general state base replaces an unset instruction or dynamic state base (the oldest generations have only this
  // one), the surface state base replaces an unset binding table pool.
  uint64_t get(Base base) const;

  // Returns the shift of binding table pointers, which GT_MODE can set.
  unsigned binding_table_shift() const { return binding_table_shift_; }

 private:
  void load_registers(spec::GenId gen, std::span<const uint32_t> dwords);

  std::array<std::optional<uint64_t>, kBaseCount> bases_{};
  unsigned binding_table_shift_ = 0;
};

}  // namespace halogen::decode
