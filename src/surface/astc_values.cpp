#include "surface/astc_values.h"

#include <algorithm>

namespace halogen::surface::astc {
namespace {

unsigned bit(unsigned value, unsigned at) {
  return value >> at & 1u;
}
unsigned field(unsigned value, unsigned high, unsigned low) {
  return value >> low & ((1u << (high - low + 1)) - 1);
}

// Unpacks five trits from eight bits.
std::array<unsigned, 5> trits_of(unsigned packed) {
  std::array<unsigned, 5> t{};
  unsigned c = field(packed, 4, 0);
  if (field(packed, 4, 2) == 7) {
    c = field(packed, 7, 5) << 2 | field(packed, 1, 0);
    t[4] = t[3] = 2;
  } else if (field(packed, 6, 5) == 3) {
    t[4] = 2;
    t[3] = bit(packed, 7);
  } else {
    t[4] = bit(packed, 7);
    t[3] = field(packed, 6, 5);
  }
  if (field(c, 1, 0) == 3) {
    t[2] = 2;
    t[1] = bit(c, 4);
    t[0] = bit(c, 3) << 1 | (bit(c, 2) & ~bit(c, 3) & 1u);
  } else if (field(c, 3, 2) == 3) {
    t[2] = t[1] = 2;
    t[0] = field(c, 1, 0);
  } else {
    t[2] = bit(c, 4);
    t[1] = field(c, 3, 2);
    t[0] = bit(c, 1) << 1 | (bit(c, 0) & ~bit(c, 1) & 1u);
  }
  return t;
}

// Unpacks three quints from seven bits.
std::array<unsigned, 3> quints_of(unsigned packed) {
  std::array<unsigned, 3> q{};
  if (field(packed, 2, 1) == 3 && field(packed, 6, 5) == 0) {
    const unsigned odd = bit(packed, 0);
    q[2] = odd << 2 | (bit(packed, 4) & ~odd & 1u) << 1 | (bit(packed, 3) & ~odd & 1u);
    q[1] = q[0] = 4;
    return q;
  }
  unsigned c = field(packed, 4, 0);
  if (field(packed, 2, 1) == 3) {
    q[2] = 4;
    c = field(packed, 4, 3) << 3 | (~field(packed, 6, 5) & 3u) << 1 | bit(packed, 0);
  } else {
    q[2] = field(packed, 6, 5);
  }
  if (field(c, 2, 0) == 5) {
    q[1] = 4;
    q[0] = field(c, 4, 3);
  } else {
    q[1] = field(c, 4, 3);
    q[0] = field(c, 2, 0);
  }
  return q;
}

// How the low bits of a number enter its widened form: for each bit position, from the highest down, a letter names a
// bit of the number (b is the second lowest) or zero. The lowest bit, a, inverts all of them.
struct Widening {
  const char* places;
  unsigned factor;  // of the trit or quint
};
constexpr std::array<Widening, 6> kColorTrits{
    {{"000000000", 204}, {"b000b0bb0", 93}, {"cb000cbcb", 44}, {"dcb000dcb", 22}, {"edcb000ed", 11}, {"fedcb000f", 5}}};
constexpr std::array<Widening, 5> kColorQuints{
    {{"000000000", 113}, {"b0000bb00", 54}, {"cb0000cbc", 26}, {"dcb0000dc", 13}, {"edcb0000e", 6}}};
constexpr std::array<Widening, 3> kWeightTrits{{{"0000000", 50}, {"b000b0b", 23}, {"cb000cb", 11}}};
constexpr std::array<Widening, 2> kWeightQuints{{{"0000000", 28}, {"b0000b0", 13}}};

unsigned widen(unsigned value, const Range& range, const Widening& how, unsigned kept) {
  const unsigned low = value & ((1u << range.bits) - 1);
  const unsigned digit = value >> range.bits;
  unsigned places = 0;
  unsigned count = 0;
  for (const char* at = how.places; *at != '\0'; ++at, ++count) {
    places = places << 1 | (*at == '0' ? 0 : bit(low, static_cast<unsigned>(*at - 'a')));
  }
  const unsigned all = bit(low, 0) != 0 ? (1u << count) - 1 : 0;
  const unsigned sum = (digit * how.factor + places) ^ all;
  return (all & kept) | sum >> 2;
}

// Repeats the bits from the highest position down.
unsigned repeat(unsigned value, unsigned bits, unsigned wanted) {
  unsigned made = 0;
  for (unsigned i = 0; i < wanted; ++i) {
    made = made << 1 | bit(value, bits - 1 - i % bits);
  }
  return made;
}

}  // namespace

unsigned Block::get(unsigned first, unsigned count) const {
  unsigned value = 0;
  for (unsigned i = 0; i < count && first + i < 128; ++i) {
    const unsigned at = first + i;
    value |= static_cast<unsigned>((at < 64 ? low : high) >> (at % 64) & 1) << i;
  }
  return value;
}

Block Block::reversed() const {
  Block made;
  for (unsigned i = 0; i < 64; ++i) {
    made.low |= (high >> (63 - i) & 1) << i;
    made.high |= (low >> (63 - i) & 1) << i;
  }
  return made;
}

unsigned sequence_bits(const Range& range, unsigned count) {
  return count * range.bits + (range.trit ? (8 * count + 4) / 5 : 0) + (range.quint ? (7 * count + 2) / 3 : 0);
}

Values read_sequence(const Block& block, unsigned first, const Range& range, unsigned count) {
  constexpr std::array<unsigned, 5> kTritBits{2, 2, 1, 2, 1};
  constexpr std::array<unsigned, 3> kQuintBits{3, 2, 2};
  const unsigned end = first + sequence_bits(range, count);
  const auto take = [&](unsigned bits) {
    const unsigned value = first < end ? block.get(first, std::min(bits, end - first)) : 0;
    first += bits;
    return value;
  };
  const std::span<const unsigned> shares = range.trit    ? std::span<const unsigned>(kTritBits)
                                           : range.quint ? std::span<const unsigned>(kQuintBits)
                                                         : std::span<const unsigned>();
  Values values{};
  for (unsigned done = 0; done < count;) {
    if (shares.empty()) {
      values[done++] = static_cast<uint8_t>(take(range.bits));
      continue;
    }
    std::array<unsigned, 5> low{};
    unsigned packed = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < shares.size(); ++i) {
      low[i] = take(range.bits);
      packed |= take(shares[i]) << at;
      at += shares[i];
    }
    std::array<unsigned, 5> digits{};
    if (range.trit) {
      digits = trits_of(packed);
    } else {
      std::ranges::copy(quints_of(packed), digits.begin());
    }
    for (unsigned i = 0; i < shares.size() && done < count; ++i) {
      values[done++] = static_cast<uint8_t>(digits[i] << range.bits | low[i]);
    }
  }
  return values;
}

Range weight_range(bool high, unsigned code) {
  constexpr std::array<Range, 12> kRanges{{{1, false, false},
                                           {0, true, false},
                                           {2, false, false},
                                           {0, false, true},
                                           {1, true, false},
                                           {3, false, false},
                                           {1, false, true},
                                           {2, true, false},
                                           {4, false, false},
                                           {2, false, true},
                                           {3, true, false},
                                           {5, false, false}}};
  return kRanges[(high ? 6 : 0) + (code & 7) - 2];
}

bool color_range(unsigned bits, unsigned count, Range& range) {
  // From 256 numbers down to six.
  constexpr std::array<Range, 17> kRanges{{{8, false, false},
                                           {6, true, false},
                                           {5, false, true},
                                           {7, false, false},
                                           {5, true, false},
                                           {4, false, true},
                                           {6, false, false},
                                           {4, true, false},
                                           {3, false, true},
                                           {5, false, false},
                                           {3, true, false},
                                           {2, false, true},
                                           {4, false, false},
                                           {2, true, false},
                                           {1, false, true},
                                           {3, false, false},
                                           {1, true, false}}};
  for (const Range& each : kRanges) {
    if (sequence_bits(each, count) <= bits) {
      range = each;
      return true;
    }
  }
  return false;
}

unsigned widen_color(unsigned value, const Range& range) {
  if (range.trit) {
    return widen(value, range, kColorTrits[range.bits - 1u], 0x80);
  }
  return range.quint ? widen(value, range, kColorQuints[range.bits - 1u], 0x80) : repeat(value, range.bits, 8);
}

unsigned widen_weight(unsigned value, const Range& range) {
  constexpr std::array<unsigned, 3> kThree{0, 32, 63};
  constexpr std::array<unsigned, 5> kFive{0, 16, 32, 47, 63};
  unsigned weight = 0;
  if (range.trit) {
    weight = range.bits == 0 ? kThree[value] : widen(value, range, kWeightTrits[range.bits - 1u], 0x20);
  } else if (range.quint) {
    weight = range.bits == 0 ? kFive[value] : widen(value, range, kWeightQuints[range.bits - 1u], 0x20);
  } else {
    weight = repeat(value, range.bits, 6);
  }
  return weight + (weight > 32 ? 1 : 0);
}

}  // namespace halogen::surface::astc
