// Support for the generated pack and unpack functions. Kept small, because every generated file includes it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bits.h"
#include "spec/descriptors.h"
#include "spec/pack_result.h"

namespace halogen::spec {

// ORs fields into a cleared buffer, so that members of a union may share bits. Keeps the first refusal.
class Packer {
 public:
  explicit Packer(std::span<uint32_t> out) : out_(out) {}

  void clear() {
    if (!out_.empty()) std::memset(out_.data(), 0, out_.size_bytes());
  }
  void clear(unsigned first, unsigned width) {
    for (unsigned done = 0; done < width; done += 32) {
      put_bits(out_, first + done, width - done < 32 ? width - done : 32, 0);
    }
  }

  // Sets the origin of bit positions: the start of a group element; 0: the item itself.
  void start(unsigned base) { base_ = base; }

  void bits(unsigned first, unsigned width, uint64_t value, const char* name) {
    if ((value & ~low_mask(width)) != 0) return fail(PackFault::too_wide, name);
    first += base_;
    // A short length may cut off a field; the remaining bits must hold the value.
    const size_t end = out_.size() * 32;
    const auto room = static_cast<unsigned>(end <= first ? 0 : end - first);
    if (room < width) {
      if ((room == 0 ? value : value >> room) != 0) return fail(PackFault::beyond_end, name);
      width = room;
    }
    put_bits(out_, first, width, value | get_bits(out_, first, width));
  }
  void in_place(unsigned first, unsigned width, uint64_t value, const char* name) {
    const unsigned shift = first % 32;
    if ((value & low_mask(shift)) != 0) return fail(PackFault::too_wide, name);
    bits(first, width, value >> shift, name);
  }
  void sbits(unsigned first, unsigned width, int64_t value, const char* name) {
    if (sign_extend(static_cast<uint64_t>(value), width) != value) return fail(PackFault::too_wide, name);
    bits(first, width, static_cast<uint64_t>(value) & low_mask(width), name);
  }
  void fixed(unsigned first, unsigned width, unsigned fraction, bool is_signed, double value, const char* name) {
    const double scaled = std::nearbyint(std::ldexp(value, static_cast<int>(fraction)));
    const double limit = std::ldexp(1.0, static_cast<int>(is_signed ? width - 1 : width));
    if (!(scaled < limit && scaled >= (is_signed ? -limit : 0.0))) return fail(PackFault::too_wide, name);
    bits(first, width, static_cast<uint64_t>(static_cast<int64_t>(scaled)) & low_mask(width), name);
  }
  void words(unsigned first, std::span<const uint32_t> values, PackResult result, const char* name) {
    if (!result) return fail(result.fault, name);
    for (const uint32_t value : values) {
      bits(first, 32, value, name);
      first += 32;
    }
  }
  void ones(unsigned first, unsigned width) {
    for (unsigned i = first + base_; i < first + base_ + width && i / 32 < out_.size(); ++i) {
      out_[i / 32] |= 1u << i % 32;
    }
  }
  void absent(bool nonzero, const char* name) {
    if (nonzero) fail(PackFault::absent, name);
  }

  // Checks the length and writes match and length bits.
  void header(const CommandDesc& desc, GenId gen) {
    const MatchRule& match = desc.match_of_gen[static_cast<size_t>(gen)];
    const LengthRule& length = desc.length_of_gen[static_cast<size_t>(gen)];
    if (out_.size() < length.min || out_.size() > length.max) return fail(PackFault::wrong_length, "length");
    out_[0] |= match.value;
    if (length.fixed == 0) out_[0] |= static_cast<uint32_t>(out_.size() - length.bias) << length.first_bit;
  }
  void size(size_t dwords) {
    if (out_.size() != dwords) fail(PackFault::wrong_length, "length");
  }

  PackResult result() const { return result_; }

 private:
  void fail(PackFault fault, const char* name) {
    if (result_) result_ = {fault, name};
  }

  std::span<uint32_t> out_;
  unsigned base_ = 0;
  PackResult result_;
};

// Returns the first `need` dwords: `in` itself, or a zero-padded copy in `pad` if `in` is shorter.
inline const uint32_t* padded(std::span<const uint32_t> in, uint32_t* pad, size_t need) {
  if (in.size() >= need) return in.data();
  std::memset(pad, 0, need * sizeof(uint32_t));
  if (!in.empty()) std::memcpy(pad, in.data(), in.size_bytes());
  return pad;
}

// Moves a run of bits down to bit 0 of `out`: an element of a group that does not start at a dword.
inline const uint32_t* cut(std::span<const uint32_t> in, unsigned first, unsigned width, uint32_t* out) {
  for (unsigned done = 0; done < width; done += 32) {
    out[done / 32] = static_cast<uint32_t>(get_bits(in, first + done, width - done < 32 ? width - done : 32));
  }
  return out;
}

inline uint64_t qword(const uint32_t* d) {
  return d[0] | uint64_t{d[1]} << 32;
}
inline double from_ufixed(uint64_t raw, unsigned fraction) {
  return std::ldexp(static_cast<double>(raw), -static_cast<int>(fraction));
}
inline double from_sfixed(uint64_t raw, unsigned width, unsigned fraction) {
  return std::ldexp(static_cast<double>(sign_extend(raw, width)), -static_cast<int>(fraction));
}

template <class T>
bool repack(GenId gen, std::span<const uint32_t> in, std::span<uint32_t> out) {
  return T::unpack(gen, in).pack(gen, out).ok();
}

// Registers as values.
template <class R>
R unpack_register(GenId gen, uint64_t value) {
  const uint32_t dwords[2] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  return R::unpack(gen, std::span(dwords).first(R::kDesc.width_bits / 32));
}
template <class R>
PackResult pack_register(const R& reg, GenId gen, uint64_t& value) {
  uint32_t dwords[2] = {};
  const PackResult result = reg.pack(gen, std::span(dwords).first(R::kDesc.width_bits / 32));
  value = qword(dwords);
  return result;
}

}  // namespace halogen::spec
