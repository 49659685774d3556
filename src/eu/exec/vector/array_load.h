// Loads and rounds arrays of lanes.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "eu/exec/vector/arrays.h"

namespace halogen::eu {

// Returns the exact value of a half float. NaN stays NaN and infinity stays infinity.
inline double half_value(uint16_t bits) {
  // The exponent is shifted to that of a float and the bias corrected by a multiplication, which is right for denormals
  // too.
  const uint32_t magnitude = bits & 0x7fffu;
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t special = magnitude >= 0x7c00 ? 0x7f80'0000u : 0u;
  const uint32_t value = std::bit_cast<uint32_t>(scaled) | special | (static_cast<uint32_t>(bits & 0x8000u) << 16);
  return static_cast<double>(std::bit_cast<float>(value));
}

// Returns the nearest half float, ties to even, as a double.
inline double nearest_half(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t rounded = (bits + ((uint64_t{1} << 41) - 1) + ((bits >> 42) & 1)) & ~((uint64_t{1} << 42) - 1);
  const double magnitude = std::fabs(value);
  const double small = std::copysign((magnitude + 0x1p28) - 0x1p28, value);  // steps of 2^-24
  const double normal = std::bit_cast<double>(rounded);
  const double finite = magnitude < 0x1p-14 ? small : normal;
  return magnitude >= 65520.0 ? std::copysign(HUGE_VAL, value) : finite;
}

// Returns the bits of a half float. Requires a value that a half represents exactly, not NaN.
inline uint64_t half_bits(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const double magnitude = std::fabs(value);
  const uint32_t normal = ((bits & 0x7fff'ffffu) >> 13) - (112u << 10);
  const auto small = static_cast<uint32_t>(static_cast<int32_t>((magnitude < 0x1p-14 ? magnitude : 0.0) * 0x1p24));
  const uint32_t finite = magnitude < 0x1p-14 ? small : normal;
  return sign | (magnitude > 65504.0 ? 0x7c00u : finite);
}

inline void flush_array(Type type, ArrayValues& values, unsigned count) {
  const double smallest = type == Type::hf ? 0x1p-14 : type == Type::df ? DBL_MIN : static_cast<double>(FLT_MIN);
  for (unsigned i = 0; i < count; ++i) {
    const double value = values.real[i];
    values.real[i] = std::fabs(value) < smallest ? std::copysign(0.0, value) : value;
  }
}

inline void round_array(Type type, bool flush_too, ArrayValues& values, unsigned count) {
  if (type == Type::f) {
    for (unsigned i = 0; i < count; ++i) {
      values.real[i] = static_cast<double>(static_cast<float>(values.real[i]));
    }
  } else if (type == Type::hf) {
    for (unsigned i = 0; i < count; ++i) {
      values.real[i] = values.real[i] != values.real[i] ? values.real[i] : nearest_half(values.real[i]);
    }
  }
  if (flush_too) {
    flush_array(type, values, count);
  }
}

// The location of an operand's elements while an instruction runs.
struct Gathering {
  const ir::Lowered& lowered;
  const ir::Source& source;
  const std::byte* thread;
  const int16_t* offset;  // of each lane in the thread; null: Access has a formula
};

template <class T, class Out>
void gather(const Gathering& from, unsigned count, Out* out) {
  const ir::Source& source = from.source;
  const ir::Access& access = source.access;
  if (source.file == ir::File::immediate) {
    const uint64_t* const constants =
        access.table == ir::Access::kNoTable ? nullptr : from.lowered.table(access).constant.data();
    for (unsigned i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, constants == nullptr ? &source.immediate : constants + i, sizeof(T));
      out[i] = static_cast<Out>(value);
    }
    return;
  }
  if (from.offset != nullptr) {
    for (unsigned i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, from.thread + from.offset[i], sizeof(T));
      out[i] = static_cast<Out>(value);
    }
    return;
  }
  const std::byte* const first = from.thread + access.base;
  if (access.kind == ir::Access::Kind::even && access.step == static_cast<int16_t>(sizeof(T))) {
    T block[ir::kMaxLanes];
    std::memcpy(block, first, count * sizeof(T));
    for (unsigned i = 0; i < count; ++i) {
      out[i] = static_cast<Out>(block[i]);
    }
    return;
  }
  if (access.kind == ir::Access::Kind::scalar) {
    T value;
    std::memcpy(&value, first, sizeof(T));
    for (unsigned i = 0; i < count; ++i) {
      out[i] = static_cast<Out>(value);
    }
    return;
  }
  const std::byte* row = first;
  for (unsigned base = 0; base < count; base += access.width, row += access.row) {
    const unsigned end = base + access.width < count ? base + access.width : count;
    for (unsigned i = base; i < end; ++i) {
      T value;
      std::memcpy(&value, row + static_cast<int>(i - base) * access.step, sizeof(T));
      out[i] = static_cast<Out>(value);
    }
  }
}

inline void load_floats(const Gathering& from, unsigned count, ArrayValues& values) {
  switch (from.source.type) {
    case Type::hf: {
      uint16_t halves[ir::kMaxLanes];
      gather<uint16_t>(from, count, halves);
      for (unsigned i = 0; i < count; ++i) {
        values.real[i] = half_value(halves[i]);
      }
      break;
    }
    case Type::df:
      gather<double>(from, count, values.real);
      break;
    default:
      gather<float>(from, count, values.real);
      break;
  }
  if (from.source.modifier.absolute) {
    for (unsigned i = 0; i < count; ++i) {
      values.real[i] = std::fabs(values.real[i]);
    }
  }
  if (from.source.modifier.negate) {
    for (unsigned i = 0; i < count; ++i) {
      values.real[i] = -values.real[i];
    }
  }
}

template <class T>
void load_integers_of(const Gathering& from, unsigned count, int64_t* out) {
  const ir::Modifier modifier = from.source.modifier;
  gather<T>(from, count, out);
  const auto wrapped = [](uint64_t value) {
    return std::is_signed_v<T> ? static_cast<int64_t>(static_cast<T>(value)) : static_cast<int64_t>(value);
  };
  if (modifier.invert) {
    for (unsigned i = 0; i < count; ++i) {
      out[i] = static_cast<int64_t>(static_cast<T>(~static_cast<uint64_t>(out[i])));
    }
    return;
  }
  if (modifier.absolute && std::is_signed_v<T>) {
    for (unsigned i = 0; i < count; ++i) {
      out[i] = out[i] < 0 ? wrapped(uint64_t{0} - static_cast<uint64_t>(out[i])) : out[i];
    }
  }
  if (modifier.negate) {
    for (unsigned i = 0; i < count; ++i) {
      out[i] = wrapped(uint64_t{0} - static_cast<uint64_t>(out[i]));
    }
  }
}

inline void load_integers(const Gathering& from, Type type, unsigned count, ArrayValues& values) {
  switch (type) {
    case Type::ub:
      return load_integers_of<uint8_t>(from, count, values.integer);
    case Type::b:
      return load_integers_of<int8_t>(from, count, values.integer);
    case Type::uw:
      return load_integers_of<uint16_t>(from, count, values.integer);
    case Type::w:
      return load_integers_of<int16_t>(from, count, values.integer);
    case Type::ud:
      return load_integers_of<uint32_t>(from, count, values.integer);
    case Type::d:
      return load_integers_of<int32_t>(from, count, values.integer);
    case Type::uq:
      return load_integers_of<uint64_t>(from, count, values.integer);
    default:
      return load_integers_of<int64_t>(from, count, values.integer);
  }
}

}  // namespace halogen::eu
