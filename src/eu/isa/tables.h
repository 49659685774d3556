// The ISA as data, generated from spec/eu by tools/specgen. Decoder, encoder, printer, assembler and validator are the
// same code for all generations; these tables hold the positions of fields and the meaning of codes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "eu/isa/instruction.h"
#include "eu/isa_fields.h"  // generated: Field, Form, Kind, Traits
#include "spec/descriptors.h"

namespace halogen::eu {

inline constexpr uint8_t kNone = 0xff;      // a reserved code
inline constexpr uint16_t kNoRow = 0xffff;  // an unknown opcode

struct Piece {
  uint8_t low;
  uint8_t width;
};

// The bits of a field. A split field has several pieces, the most significant first. No pieces: the field does not
// exist.
struct FieldBits {
  uint8_t pieces = 0;
  std::array<Piece, 5> piece{};
};

struct FixedBits {
  FieldBits bits;
  uint32_t value;
};

struct Layout {
  std::array<FieldBits, kFieldCount> fields;
  std::span<const FixedBits> fixed;
  uint8_t unit;  // of branch targets, bytes

  [[nodiscard]] constexpr const FieldBits& at(Field field) const { return fields[static_cast<size_t>(field)]; }
  [[nodiscard]] constexpr bool has(Field field) const { return at(field).pieces != 0; }
};

// Controls that an operation may have besides its operands.
struct Allow {
  enum Bits : uint16_t {
    predicate = 1,
    condition = 2,
    saturate = 4,
    modifiers = 8,
    branch_control = 16,
    uip = 32,
    dst = 64,      // a jump that writes a return address
    no_dst = 128,  // the destination is not used
    absolute = 256,
    controls = 512
  };
};

// Allowed types. Bit n: Type n.
struct TypeRule {
  uint16_t dst;
  uint16_t src;
};

struct OpRow {
  Op op;
  Kind kind;
  uint8_t code;
  uint8_t sources;
  uint16_t allow;
  std::string_view name;
  const Layout* layout;
  std::span<const TypeRule> types;

  [[nodiscard]] constexpr bool allows(Allow::Bits bit) const { return (allow & bit) != 0; }
};

using BitMap = std::span<const Piece>;  // like FieldBits, with any number of pieces

struct CompactCopy {
  BitMap compact, native;
  bool second;  // part of the second source, whose bits an immediate uses
};

struct CompactTable {
  BitMap compact, native;
  std::span<const uint64_t> rows;
  bool second;
};

enum class ImmediateRule : uint8_t { none, signed13, by_type };

struct CompactForm {
  std::span<const CompactCopy> copies;
  std::span<const CompactTable> tables;
  FieldBits immediate;
  ImmediateRule rule;
};

struct IsaTables {
  std::array<uint16_t, 128> rows;  // by opcode, into op_rows()
  const Layout* basic = nullptr;
  const Layout* wide = nullptr;
  const Layout* macro = nullptr;
  const CompactForm* compact_basic = nullptr;
  const CompactForm* compact_ternary = nullptr;
  std::array<uint8_t, 16> register_type;
  std::array<uint8_t, 16> immediate_type;
  std::array<uint8_t, 8> ternary_type;
  std::array<uint8_t, 8> ternary_float_type;
  std::array<uint8_t, 2> ternary_file;
  std::array<uint8_t, 4> file;
  std::array<uint8_t, 16> predicate;
  std::array<uint8_t, 4> ternary_vertical;
  std::array<uint8_t, 16> predicate16;
  Traits traits;
};

const IsaTables& isa_tables(spec::GenId gen);
std::span<const OpRow> op_rows();

// Return the row of an operation. Null: the generation does not have the operation.
const OpRow* find_op(spec::GenId gen, Op op);
const OpRow* find_op(spec::GenId gen, std::string_view name);

}  // namespace halogen::eu
