#include "eu/isa/compaction.h"

#include "eu/isa/operand_fields.h"

namespace halogen::eu {

namespace {

constexpr uint64_t kCompactBit = uint64_t{1} << 29;

uint64_t read(const Bits128& bits, BitMap map) {
  uint64_t value = 0;
  for (const Piece piece : map) {
    value = value << piece.width | bits.get(piece);
  }
  return value;
}

void write(Bits128& bits, BitMap map, uint64_t value) {
  for (size_t i = map.size(); i-- > 0;) {
    bits.set(map[i], value);
    value >>= map[i].width;
  }
}

const CompactForm* form_of(const IsaTables& tables, const OpRow& row) {
  if (row.kind == Kind::ternary || row.kind == Kind::ternary_macro) {
    return tables.compact_ternary;
  }
  return row.kind == Kind::split_send || row.kind == Kind::wide ? nullptr : tables.compact_basic;
}

const OpRow* row_of(const IsaTables& tables, uint64_t low) {
  const uint16_t index = tables.rows[low & 0x7f];
  return index == kNoRow ? nullptr : &op_rows()[index];
}

// Returns the type of the immediate of a native instruction. No value: it has no immediate. The layout may be the basic
// one for every operation: compact forms of other operations have the same bits.
std::optional<Type> immediate_type(const IsaTables& tables, const Bits128& bits, const Layout& layout) {
  for (const SourceFields& fields : kSources) {
    const bool flag = layout.has(fields.immediate) ? bits.get(layout.at(fields.immediate)) != 0
                                                   : tables.file[bits.get(layout.at(fields.common.file)) & 3] ==
                                                         static_cast<uint8_t>(File::immediate);
    if (flag) {
      const uint8_t type = tables.immediate_type[bits.get(layout.at(fields.common.type)) & 15];
      return type == kNone ? Type::ud : static_cast<Type>(type);
    }
  }
  return std::nullopt;
}

uint32_t low_signed(uint64_t value, unsigned width) {
  return static_cast<uint32_t>(sign_extend(value, width));
}

uint32_t twice(uint32_t word) {
  return (word & 0xffff) | word << 16;
}

uint32_t expand_immediate(ImmediateRule rule, Type type, uint64_t value) {
  const auto bits = static_cast<uint32_t>(value);
  if (rule == ImmediateRule::signed13) {
    return low_signed(value, 13);
  }
  switch (type) {
    case Type::f:
      return bits << 20;
    case Type::hf:
      return twice(bits << 4);
    case Type::uw:
      return twice(bits);
    case Type::d:
      return low_signed(value, 12);
    case Type::w:
      return twice(low_signed(value, 12));
    default:
      return bits;
  }
}

}  // namespace

std::optional<Bits128> expand(spec::GenId gen, uint64_t compact) {
  const IsaTables& tables = isa_tables(gen);
  const OpRow* row = row_of(tables, compact);
  const CompactForm* form = row != nullptr ? form_of(tables, *row) : nullptr;
  if (form == nullptr) {
    return std::nullopt;
  }
  const Bits128 in = {{compact, 0}};
  Bits128 out;
  for (const bool second : {false, true}) {
    if (second && form->rule != ImmediateRule::none) {
      if (const auto type = immediate_type(tables, out, *tables.basic)) {
        out.word[1] =
            (out.word[1] & 0xffffffff) | uint64_t{expand_immediate(form->rule, *type, in.get(form->immediate))} << 32;
        break;
      }
    }
    for (const CompactTable& table : form->tables) {
      if (table.second == second) {
        write(out, table.native, table.rows[read(in, table.compact)]);
      }
    }
    for (const CompactCopy& copy : form->copies) {
      if (copy.second == second) {
        write(out, copy.native, read(in, copy.compact));
      }
    }
  }
  return out;
}

std::optional<uint64_t> compact(spec::GenId gen, const Bits128& native) {
  const IsaTables& tables = isa_tables(gen);
  const OpRow* row = row_of(tables, native.word[0]);
  const CompactForm* form = row != nullptr ? form_of(tables, *row) : nullptr;
  if (form == nullptr) {
    return std::nullopt;
  }
  std::optional<Type> type;
  if (form == tables.compact_basic) {
    type = immediate_type(tables, native, *tables.basic);
  }
  if (type && form->rule == ImmediateRule::none) {
    return std::nullopt;
  }
  Bits128 wanted = native;
  Bits128 out;
  if (type) {
    wanted.word[1] &= 0xffffffff;  // the second source of a table entry does not matter
    const uint64_t value = native.word[1] >> 32;
    uint64_t best = 0;
    bool found = false;
    const unsigned width = width_of(form->immediate);
    for (const unsigned shift : {0u, 4u, 20u}) {
      const uint64_t candidate = value >> shift & ((uint64_t{1} << width) - 1);
      if (!found && expand_immediate(form->rule, *type, candidate) == value) {
        best = candidate;
        found = true;
      }
    }
    if (!found) {
      return std::nullopt;
    }
    out.set(form->immediate, best);
  }
  for (const CompactCopy& copy : form->copies) {
    if (!(type && copy.second)) {
      write(out, copy.compact, read(wanted, copy.native));
    }
  }
  for (const CompactTable& table : form->tables) {
    if (type && table.second) {
      continue;
    }
    // Compare only the bits of an entry that the immediate does not cover.
    Bits128 mask = {{~uint64_t{0}, type ? 0xffffffff : ~uint64_t{0}}};
    const uint64_t care = read(mask, table.native);
    const uint64_t value = read(wanted, table.native);
    size_t index = 0;
    while (index < table.rows.size() && (table.rows[index] & care) != (value & care)) {
      ++index;
    }
    if (index == table.rows.size()) {
      return std::nullopt;
    }
    write(out, table.compact, index);
  }
  out.word[0] |= kCompactBit;
  // Bits that no map holds must have the values that expand() gives them.
  const std::optional<Bits128> back = expand(gen, out.word[0]);
  return back && *back == native ? std::optional(out.word[0]) : std::nullopt;
}

}  // namespace halogen::eu
