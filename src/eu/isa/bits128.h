// The 128 bits of an instruction, read and written by fields.
#pragma once

#include <cstdint>

#include "eu/isa/tables.h"

namespace halogen::eu {

struct Bits128 {
  uint64_t word[2] = {0, 0};

  [[nodiscard]] uint64_t get(Piece piece) const {
    const uint64_t value = word[piece.low >> 6] >> (piece.low & 63);
    return piece.width == 64 ? value : value & ((uint64_t{1} << piece.width) - 1);
  }

  void set(Piece piece, uint64_t value) {
    const uint64_t mask = piece.width == 64 ? ~uint64_t{0} : (uint64_t{1} << piece.width) - 1;
    uint64_t& w = word[piece.low >> 6];
    w = (w & ~(mask << (piece.low & 63))) | ((value & mask) << (piece.low & 63));
  }

  [[nodiscard]] uint64_t get(const FieldBits& field) const {
    if (field.pieces == 1) {
      return get(field.piece[0]);
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < field.pieces; ++i) {
      value = value << field.piece[i].width | get(field.piece[i]);
    }
    return value;
  }

  void set(const FieldBits& field, uint64_t value) {
    for (unsigned i = field.pieces; i-- > 0;) {
      set(field.piece[i], value);
      value = field.piece[i].width == 64 ? 0 : value >> field.piece[i].width;
    }
  }

  friend bool operator==(const Bits128&, const Bits128&) = default;
};

inline unsigned width_of(const FieldBits& field) {
  unsigned width = 0;
  for (unsigned i = 0; i < field.pieces; ++i) {
    width += field.piece[i].width;
  }
  return width;
}

inline int64_t sign_extend(uint64_t value, unsigned width) {
  const unsigned up = 64 - width;
  return static_cast<int64_t>(value << up) >> up;
}

}  // namespace halogen::eu
