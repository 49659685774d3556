// The ISA as data: what tools/specgen makes of spec/eu. Decoder, encoder, printer, assembler and validator are one code
// for all generations and find here where the bits lie and what the codes mean.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "eu/isa/instruction.h"
#include "eu/isa_fields.h"  // generated: Field, Form, Kind, Traits
#include "spec/descriptors.h"

namespace halogen::eu {

inline constexpr uint8_t kNone = 0xff;      // a code that means nothing
inline constexpr uint16_t kNoRow = 0xffff;  // an opcode that means nothing

struct Piece {
  uint8_t low;
  uint8_t width;
};

// Where a field lies; several pieces when it is split, the most significant first. No pieces: there is no such field.
struct Place {
  uint8_t pieces = 0;
  std::array<Piece, 5> piece{};
};

struct FixedBits {
  Place place;
  uint32_t value;
};

struct Layout {
  std::array<Place, kFieldCount> places;
  std::span<const FixedBits> fixed;
  uint8_t unit;  // of branch targets, bytes

  [[nodiscard]] constexpr const Place& at(Field field) const { return places[static_cast<size_t>(field)]; }
  [[nodiscard]] constexpr bool has(Field field) const { return at(field).pieces != 0; }
};

// What an operation takes beside its operands.
struct Allow {
  enum Bits : uint16_t {
    predicate = 1,
    condition = 2,
    saturate = 4,
    modifiers = 8,
    branch_control = 16,
    uip = 32,
    dst = 64,      // a jump that writes a return address
    no_dst = 128,  // the destination means nothing
    absolute = 256,
    controls = 512
  };
};

// Bit n: Type n may be there.
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

using BitMap = std::span<const Piece>;  // as a Place, for any number of pieces

struct CompactCopy {
  BitMap compact, native;
  bool second;  // belongs to the second source, which an immediate displaces
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
  Place immediate;
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

// The row of an operation on a generation, or null.
const OpRow* find_op(spec::GenId gen, Op op);
const OpRow* find_op(spec::GenId gen, std::string_view name);

}  // namespace halogen::eu
