#include "eu/exec/vector/arrays.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "eu/exec/control/masks.h"
#include "eu/exec/general/alu.h"
#include "eu/exec/general/operands.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/vector/array_load.h"
#include "eu/exec/vector/routines.h"

namespace halogen::eu {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);
constexpr auto kAccumulator = static_cast<int32_t>(offsetof(Thread, accumulator));

// Returns the byte offset in the thread of each lane. Null: an enabled lane is outside the registers.
const int16_t* offsets_of(const Thread& thread, const ir::Lowered& lowered, const ir::Access& access, ir::File file,
                          unsigned size, uint32_t mask, std::array<int16_t, ir::kMaxLanes>& space) {
  const unsigned count = lowered.exec_size;
  if (access.kind == ir::Access::Kind::lanes) {
    return lowered.table(access).offset.data();
  }
  if (access.kind != ir::Access::Kind::indirect) {
    int at = access.base;
    for (unsigned first = 0; first < count; first += access.width, at += access.row) {
      for (unsigned i = 0; i < access.width && first + i < ir::kMaxLanes; ++i) {
        space[first + i] = static_cast<int16_t>(at + static_cast<int>(i) * access.step);
      }
    }
    return space.data();
  }
  const ir::LaneTable& table = lowered.table(access);
  const ir::FileBytes bytes = ir::file_bytes(file);
  const auto last = static_cast<int32_t>(bytes.bytes - size);
  for (unsigned i = 0; i < count; ++i) {
    int32_t at = thread.address[table.word[i]] + table.offset[i];
    if (at < 0 || at > last) {
      if (((mask >> i) & 1) != 0) {
        return nullptr;
      }
      at = 0;
    }
    space[i] = static_cast<int16_t>(static_cast<int32_t>(bytes.first) + at);
  }
  return space.data();
}

template <class T>
void store_row(std::byte* to, const uint64_t* bits, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const auto value = static_cast<T>(bits[i]);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

// Stores all lanes to contiguous elements.
void store_row(std::byte* to, const uint64_t* bits, unsigned count, unsigned bytes) {
  switch (bytes) {
    case 1:
      return store_row<uint8_t>(to, bits, count);
    case 2:
      return store_row<uint16_t>(to, bits, count);
    case 4:
      return store_row<uint32_t>(to, bits, count);
    default:
      return store_row<uint64_t>(to, bits, count);
  }
}

// The elements of some lanes: at a constant stride, or each at its own offset.
struct Lanes {
  std::byte* first;
  int step;
  const int16_t* offset;  // from `first`; null: lane * step
};

template <class T>
void store_lanes(const Lanes& to, const uint64_t* bits, uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const int i = std::countr_zero(mask);
    const auto value = static_cast<T>(bits[i]);
    std::memcpy(to.first + (to.offset == nullptr ? i * to.step : to.offset[i]), &value, sizeof(T));
  }
}

void store_lanes(const Lanes& to, const uint64_t* bits, uint32_t mask, unsigned bytes) {
  switch (bytes) {
    case 1:
      return store_lanes<uint8_t>(to, bits, mask);
    case 2:
      return store_lanes<uint16_t>(to, bits, mask);
    case 4:
      return store_lanes<uint32_t>(to, bits, mask);
    default:
      return store_lanes<uint64_t>(to, bits, mask);
  }
}

uint32_t nans(const ArrayValues& values, unsigned count) {
  constexpr int64_t kInfinity = 0x7ff0'0000'0000'0000;
  int64_t odd = 0;
  for (unsigned i = 0; i < count; ++i) {
    odd |= kInfinity - (values.integer[i] & INT64_MAX);  // below zero for a NaN
  }
  if (odd >= 0) {
    return 0;
  }
  uint32_t bits = 0;
  for (unsigned i = 0; i < count; ++i) {
    bits |= static_cast<uint32_t>(std::isnan(values.real[i])) << i;
  }
  return bits;
}

// Writes values that fill their elements. Bits that an earlier integer kept above its element become invalid.
void bits_to_accumulator(Thread& thread, const int16_t* offset, const uint64_t* bits, uint32_t mask, unsigned bytes) {
  const bool plain = thread.extension[0].valid == 0 && thread.extension[1].valid == 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(mask));
    if (plain) {
      std::memcpy(reinterpret_cast<std::byte*>(&thread) + offset[i], &bits[i], bytes);
    } else {
      set_accumulator_bits(thread, offset[i] - kAccumulator, bytes, bits[i]);
    }
  }
}

// Writes an integer with all its bits. A dword that replaces a dword needs no other check.
void integer_to_accumulator(Thread& thread, int32_t offset, Type type, int64_t value) {
  const auto which = static_cast<size_t>(offset) / kGrfBytes;
  if (which >= thread.extension.size() || thread.extension[which].element != 4 || traits(type).bytes != 4 ||
      offset % 4 != 0) {
    set_accumulator_integer(thread, offset, type, value);
    return;
  }
  Thread::Extension& extension = thread.extension[which];
  const size_t lane = static_cast<size_t>(offset) % kGrfBytes / 4;
  const auto low = static_cast<uint32_t>(value);
  std::memcpy(thread.accumulator.data() + offset, &low, sizeof(low));
  extension.upper[lane] = value >> 32;
  extension.valid = static_cast<uint16_t>(extension.valid | (1u << lane));
}

template <class T>
uint32_t truths_of(Condition condition, const T* values, unsigned count) {
  uint32_t bits = 0;
  for (unsigned i = 0; i < count; ++i) {
    bits |= static_cast<uint32_t>(relation(condition, values[i], T{0})) << i;
  }
  return bits;
}

// Converts results to the integers that the destination keeps, in place.
void to_integers(Type result, Type type, bool saturate, ArrayValues& values, unsigned count) {
  const unsigned bytes = traits(type).bytes;
  if (traits(result).is_float) {
    if (bytes == 8) {
      for (unsigned i = 0; i < count; ++i) {
        values.integer[i] = static_cast<int64_t>(float_to_int(type, values.real[i]));
      }
      return;
    }
    const auto low = static_cast<double>(lowest(type));
    const auto high = static_cast<double>(highest(type));
    for (unsigned i = 0; i < count; ++i) {
      const double value = values.real[i];
      const double inside = value > low ? (value < high ? value : high) : low;
      values.integer[i] = static_cast<int64_t>(inside);
    }
    return;
  }
  if (bytes == 8) {
    return;
  }
  if (saturate) {
    const auto low = static_cast<int64_t>(lowest(type));
    const auto high = static_cast<int64_t>(highest(type));
    for (unsigned i = 0; i < count; ++i) {
      const int64_t value = values.integer[i];
      values.integer[i] = value < low ? low : value > high ? high : value;
    }
    return;
  }
  const unsigned shift = 64 - 8 * bytes;
  if (traits(type).is_signed) {
    for (unsigned i = 0; i < count; ++i) {
      values.integer[i] = static_cast<int64_t>(static_cast<uint64_t>(values.integer[i]) << shift) >> shift;
    }
  } else {
    const uint64_t mask = ~uint64_t{0} >> shift;
    for (unsigned i = 0; i < count; ++i) {
      values.integer[i] = static_cast<int64_t>(static_cast<uint64_t>(values.integer[i]) & mask);
    }
  }
}

void to_floats(Type result, Type type, bool saturate, const FloatMode& mode, ArrayValues& values, unsigned count) {
  if (!traits(result).is_float) {
    for (unsigned i = 0; i < count; ++i) {
      const int64_t value = values.integer[i];
      values.real[i] = type == Type::f ? static_cast<double>(static_cast<float>(value)) : static_cast<double>(value);
    }
    if (type == Type::hf) {
      round_array(type, false, values, count);
    }
  } else if (traits(type).bytes != traits(result).bytes) {
    round_array(type, flushes(type, mode), values, count);
  }
  if (saturate) {
    for (unsigned i = 0; i < count; ++i) {
      const double value = values.real[i];
      values.real[i] = value > 0.0 ? (value > 1.0 ? 1.0 : value) : 0.0;
    }
  }
}

void float_bits(Type type, const ArrayValues& values, uint64_t* bits, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    bits[i] = type == Type::f    ? std::bit_cast<uint32_t>(static_cast<float>(values.real[i]))
              : type == Type::hf ? half_bits(values.real[i])
                                 : std::bit_cast<uint64_t>(values.real[i]);
  }
}

class ArrayRun {
 public:
  ArrayRun(Frame& frame, const Prepared& prepared)
      : frame_(frame), prepared_(prepared), lowered_(prepared.lowered), arrays_(prepared.arrays) {}

  Step run() {
    if (arrays_.has_modes && (frame_.mode.rounding != Rounding::nearest || frame_.mode.alternate)) {
      return general();
    }
    const uint32_t enabled = enabled_lanes(frame_, lowered_.mask);
    const uint32_t chosen = predicate_lanes(frame_.thread, lowered_.mask);
    mask_ = lowered_.mask.predicate_selects ? enabled : enabled & chosen;
    count_ = lowered_.exec_size;
    padded_ = (count_ + 7u) & ~7u;
    for (unsigned i = 0; i < lowered_.sources; ++i) {
      if (!load(i)) {
        return general();
      }
    }
    ArrayValues* const sources[ir::Lowered::kMaxSources]{&source_[0], &source_[1], &source_[2], &source_[3],
                                                         &source_[4]};
    ArrayContext context{lowered_, frame_.mode, chosen, 0, &second_};
    arrays_.compute(context, sources, out_, padded_);
    if (arrays_.floats && !arrays_.raw) {
      if (arrays_.rounds) {
        round_array(arrays_.result, flushes(arrays_.result, frame_.mode), out_, padded_);
      }
      if ((nans(out_, count_) & mask_) != 0) {
        return general();
      }
    }
    return write(context.truths);
  }

 private:
  Step general() { return prepared_.handler(frame_, prepared_); }

  bool load(unsigned which) {
    const ir::Source& source = lowered_.source[which];
    ArrayValues& values = source_[which];
    for (unsigned i = count_; i < padded_; ++i) {
      values.integer[i] = 0;
    }
    std::array<int16_t, ir::kMaxLanes> space;
    Gathering from{lowered_, source, reinterpret_cast<const std::byte*>(&frame_.thread), nullptr};
    if (source.file != ir::File::immediate && source.access.kind >= ir::Access::Kind::lanes) {
      from.offset =
          offsets_of(frame_.thread, lowered_, source.access, source.file, traits(source.type).bytes, mask_, space);
      if (from.offset == nullptr) {
        return false;
      }
    }
    if (!arrays_.floats) {
      load_integers(from, arrays_.raw_type(source.type), count_, values);
      return true;
    }
    load_floats(from, count_, values);
    if ((nans(values, count_) & mask_) != 0) {
      return false;
    }
    if (source.flush && flushes(source.type, frame_.mode)) {
      flush_array(source.type, values, padded_);
    }
    return true;
  }

  Step write(uint32_t truths) {
    Thread& thread = frame_.thread;
    const ir::Target& to = lowered_.target;
    const Type type = to.type;
    const uint32_t mask = mask_ & to.lanes;
    const bool to_float = traits(type).is_float;
    const bool keeps = to.file != ir::File::none;
    const bool to_accumulator = to.file == ir::File::accumulator;
    const unsigned size = traits(type).bytes;
    const bool whole_row = to.access.kind == ir::Access::Kind::even && to.access.step == static_cast<int16_t>(size) &&
                           std::popcount(mask) == static_cast<int>(count_) && !to_accumulator;
    std::array<int16_t, ir::kMaxLanes> space;
    const int16_t* offset = nullptr;
    const bool even = to.access.kind <= ir::Access::Kind::even && !to_accumulator;
    if (keeps && !even) {
      offset = offsets_of(thread, lowered_, to.access, to.file, size, mask, space);
      if (offset == nullptr) {
        return general();
      }
    }
    ArrayValues kept;
    std::memcpy(&kept, &out_, padded_ * sizeof(double));
    alignas(64) uint64_t bits[ir::kMaxLanes];
    if (arrays_.raw) {
      std::memcpy(bits, out_.integer, padded_ * sizeof(uint64_t));
    } else if (to_float) {
      to_floats(arrays_.result, type, to.saturate, frame_.mode, kept, padded_);
      float_bits(type, kept, bits, padded_);
    } else {
      to_integers(arrays_.result, type, to.saturate, kept, padded_);
      std::memcpy(bits, kept.integer, padded_ * sizeof(uint64_t));
    }
    if (lowered_.accumulator.kind != ir::AccumulatorEffect::Kind::none) {
      accumulate(mask);
    }
    if (to_accumulator) {
      // A word in an explicit accumulator target keeps 16 bits; only implied results keep more.
      if (to_float || arrays_.raw || to.saturate || traits(arrays_.result).is_float || size != 4) {
        bits_to_accumulator(thread, offset, bits, mask, size);
      } else {
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
          const auto i = static_cast<unsigned>(std::countr_zero(rest));
          integer_to_accumulator(thread, offset[i] - kAccumulator, type, out_.integer[i]);
        }
      }
    } else if (keeps) {
      auto* const bytes = reinterpret_cast<std::byte*>(&thread);
      const auto store = [&](std::byte* from_base, const uint64_t* what) {
        if (whole_row) {
          store_row(from_base + to.access.base, what, count_, size);
        } else {
          store_lanes(Lanes{even ? from_base + to.access.base : from_base, to.access.step, offset}, what, mask, size);
        }
      };
      store(bytes, bits);
      if (to.remainder) {
        store(bytes + kRegister, reinterpret_cast<const uint64_t*>(second_.integer));
      }
    }
    if (lowered_.flag.kind != ir::FlagEffect::Kind::none) {
      if (lowered_.flag.kind != ir::FlagEffect::Kind::decided) {
        const Condition condition = lowered_.flag.condition;
        truths = to_float                             ? truths_of(condition, kept.real, count_)
                 : traits(type).is_signed || size < 8 ? truths_of(condition, kept.integer, count_)
                                                      : truths_of(condition, bits, count_);
      }
      write_flag(thread, lowered_, mask, truths);
    }
    return Step::next;
  }

  void accumulate(uint32_t mask) {
    const ir::AccumulatorEffect& effect = lowered_.accumulator;
    if (effect.kind == ir::AccumulatorEffect::Kind::result_unless_disabled &&
        (frame_.thread.control[0] & ControlBits::kAccumulatorDisable) != 0) {
      return;
    }
    const Type type = effect.type;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      const int32_t offset = effect.base + static_cast<int32_t>(i) * traits(type).bytes;
      if (effect.kind == ir::AccumulatorEffect::Kind::own) {
        integer_to_accumulator(frame_.thread, offset, type, second_.integer[i]);
      } else if (traits(type).is_float) {
        set_accumulator_bits(frame_.thread, offset, traits(type).bytes,
                             float_to_bits(type, out_.real[i], Rounding::nearest));
      } else {
        integer_to_accumulator(frame_.thread, offset, type, out_.integer[i]);
      }
    }
  }

  Frame& frame_;
  const Prepared& prepared_;
  const ir::Lowered& lowered_;
  const Arrays& arrays_;
  uint32_t mask_ = 0;
  unsigned count_ = 0;
  unsigned padded_ = 0;
  ArrayValues source_[ir::Lowered::kMaxSources];
  ArrayValues out_;
  ArrayValues second_;
};

Step run_arrays(Frame& frame, const Prepared& prepared) {
  return ArrayRun(frame, prepared).run();
}

using ir::Operation;

bool is_comparison(Operation operation) {
  return operation == Operation::compare || operation == Operation::compare_or_nan;
}

bool is_readable(const ir::Source& source) {
  switch (source.file) {
    case ir::File::immediate:
    case ir::File::grf:
    case ir::File::address:
    case ir::File::flag:
      return true;
    case ir::File::accumulator:
      return traits(source.type).is_float;  // integers have bits above their element
    default:
      return false;
  }
}

bool is_reachable(const ir::Access& access) {
  return access.inside || access.kind == ir::Access::Kind::indirect;
}

bool sources_fit(const ir::Lowered& lowered) {
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const ir::Source& source = lowered.source[i];
    if (!is_readable(source) || source.type == Type::nf ||
        (source.file != ir::File::immediate && !is_reachable(source.access))) {
      return false;
    }
  }
  return true;
}

bool target_fits(const ir::Target& target) {
  switch (target.file) {
    case ir::File::none:
      return true;
    case ir::File::mrf:
      if (target.access.kind == ir::Access::Kind::indirect) {
        return false;
      }
      break;
    case ir::File::grf:
    case ir::File::accumulator:
    case ir::File::address:
    case ir::File::flag:
      break;
    default:
      return false;
  }
  return target.type != Type::nf && is_reachable(target.access);
}

// Returns whether operations over groups and planes have routines for these operands: F only. Groups also read disabled
// lanes, so indirect sources are excluded.
bool group_fits(const ir::Lowered& lowered) {
  bool all_single = lowered.target.type == Type::f;
  bool direct = true;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    all_single = all_single && lowered.source[i].type == Type::f;
    direct = direct && lowered.source[i].access.kind != ir::Access::Kind::indirect;
  }
  switch (lowered.compute.operation) {
    case Operation::dot2:
    case Operation::dot3:
    case Operation::dot4:
    case Operation::dot_homogeneous:
      return all_single && direct && lowered.exec_size % 4 == 0;
    case Operation::line:
    case Operation::plane:
      return all_single && direct;
    case Operation::product_add:
      return lowered.compute.type == Type::f;
    default:
      return true;
  }
}

bool is_product(Operation operation) {
  return operation == Operation::multiply || operation == Operation::add_product;
}

bool accumulates(const ir::Lowered& lowered) {
  const auto kind = lowered.accumulator.kind;
  return kind == ir::AccumulatorEffect::Kind::result || kind == ir::AccumulatorEffect::Kind::result_unless_disabled;
}

// Returns whether 64-bit integers modulo 2^64 are enough, because no part of the instruction depends on higher bits.
bool wide_fits(const ir::Lowered& lowered) {
  const Operation operation = lowered.compute.operation;
  const ir::Target& target = lowered.target;
  const bool compares =
      is_comparison(operation) || operation == Operation::select || operation == Operation::select_related;
  const bool divides = operation == Operation::quotient || operation == Operation::integer_remainder;
  if (target.saturate || lowered.accumulator.kind != ir::AccumulatorEffect::Kind::none || target.remainder || divides ||
      operation == Operation::average || operation == Operation::select_signed ||
      (lowered.flag.kind != ir::FlagEffect::Kind::none && !compares) || target.file == ir::File::accumulator) {
    return false;
  }
  unsigned unsigned_wide = 0;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    if (lowered.source[i].type == Type::uq) {
      ++unsigned_wide;
      if (lowered.source[i].modifier.negate) {
        return false;
      }
    }
  }
  if (traits(target.type).is_float &&
      (unsigned_wide != 0 || target.type == Type::hf || operation != Operation::convert)) {
    return false;
  }
  return !compares || unsigned_wide == 0 || unsigned_wide == 2;
}

// Returns whether products fit an int64_t. A product with an unsigned dword may not fit, which matters only if more
// than its low bits are used.
bool products_fit(const ir::Lowered& lowered) {
  const ir::Target& target = lowered.target;
  const bool exact =
      target.saturate || accumulates(lowered) || traits(target.type).is_float || target.file == ir::File::accumulator;
  if (!exact || !is_product(lowered.compute.operation)) {
    return true;
  }
  const unsigned a = lowered.compute.operation == Operation::add_product ? 1 : 0;
  const Type first = lowered.source[a].type;
  const Type second = lowered.source[a + 1].type;
  const bool first_full = first == Type::ud && traits(second).bytes > 2;
  const bool second_full = second == Type::ud && traits(first).bytes > 2;
  return !first_full && !second_full;
}

// Returns whether the quotients stay within one register, so that they do not overlap the remainders in the next one.
bool remainders_fit(const ir::Lowered& lowered) {
  const ir::Access& access = lowered.target.access;
  if (lowered.target.file != ir::File::grf || !access.is_regular()) {
    return false;
  }
  const int32_t first = access.base;
  const int32_t last = ir::lane_offset(lowered, access, lowered.exec_size - 1u);
  return last - first < kRegister && lowered.target.remainders.inside;
}

}  // namespace

bool bind_arrays(Prepared& prepared) {
  const ir::Lowered& lowered = prepared.lowered;
  const Operation operation = lowered.compute.operation;
  const ir::Target& target = lowered.target;
  if (lowered.flag.kind == ir::FlagEffect::Kind::overflow || lowered.flag.condition > Condition::less_equal ||
      lowered.compute.relation > Condition::less_equal || !sources_fit(lowered) || !target_fits(target) ||
      !group_fits(lowered)) {
    return false;
  }
  unsigned floats = 0;
  bool wide = traits(target.type).bytes == 8 && !traits(target.type).is_float;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const TypeTraits of = traits(lowered.source[i].type);
    floats += of.is_float ? 1 : 0;
    wide |= of.bytes == 8 && !of.is_float;
  }
  if (floats != 0 && floats != lowered.sources && operation != Operation::copy) {
    return false;
  }
  const bool own = lowered.accumulator.kind == ir::AccumulatorEffect::Kind::own;
  if (own && target.file == ir::File::accumulator) {
    return false;  // sum and carry go to the same register
  }
  Arrays arrays;
  arrays.raw = operation == Operation::copy || is_comparison(operation);
  if (arrays.raw && accumulates(lowered)) {
    return false;
  }
  if (operation == Operation::copy) {
    if (lowered.flag.kind != ir::FlagEffect::Kind::none) {
      return false;
    }
    arrays.compute = integer_arrays(lowered);
    arrays.copies = true;
  } else {
    const bool passes = operation == Operation::convert || operation == Operation::select ||
                        operation == Operation::select_related || operation == Operation::select_signed;
    arrays.floats = floats != 0;
    arrays.result = operation == Operation::convert ? lowered.source[0].type : lowered.compute.type;
    arrays.has_modes = arrays.floats || traits(target.type).is_float;
    arrays.rounds = arrays.floats && !passes && !is_comparison(operation);
    if ((target.remainder && !remainders_fit(lowered)) ||
        (!arrays.floats && ((wide && !wide_fits(lowered)) || !products_fit(lowered))) ||
        (wide && target.file == ir::File::accumulator)) {
      return false;
    }
    arrays.compute = arrays.floats ? float_arrays(lowered.compute) : integer_arrays(lowered);
  }
  if (arrays.compute == nullptr) {
    return false;
  }
  prepared.arrays = arrays;
  prepared.fast = run_arrays;
  return true;
}

}  // namespace halogen::eu
