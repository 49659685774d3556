#include "eu/exec/vector/lanes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "eu/exec/control/masks.h"
#include "eu/exec/general/alu.h"
#include "eu/exec/general/operands.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/vector/lane_load.h"
#include "eu/exec/vector/lane_plan.h"

namespace halogen::eu {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);

std::byte* bytes_of(Thread& thread, LaneFile file) {
  switch (file) {
    case LaneFile::mrf:
      return thread.mrf.data();
    case LaneFile::accumulator:
      return thread.accumulator.data();
    case LaneFile::address:
      return std::as_writable_bytes(std::span(thread.address)).data();
    case LaneFile::flag:
      return std::as_writable_bytes(std::span(thread.flag)).data();
    case LaneFile::grf:
    case LaneFile::immediate:
      break;
  }
  return thread.grf.data();
}

// Where the lanes of an operand lie now. Null: one of them is outside the registers.
const int16_t* places(const Thread& thread, const LaneOperand& operand, unsigned count, uint32_t mask,
                      std::array<int16_t, kMostLanes>& space) {
  if (!operand.indirect) {
    return operand.offset.data();
  }
  const int32_t last = static_cast<int32_t>(kGrfs) * kRegister - traits(operand.type).bytes;
  for (unsigned i = 0; i < count; ++i) {
    int32_t at = thread.address[operand.word[i]] + operand.offset[i];
    if (at < 0 || at > last) {
      if (((mask >> i) & 1) != 0) {
        return nullptr;
      }
      at = 0;
    }
    space[i] = static_cast<int16_t>(at);
  }
  return space.data();
}

template <class T>
void store_lanes(std::byte* to, const int16_t* offset, const uint64_t* bits, uint32_t mask, bool even, unsigned count) {
  if (even && std::popcount(mask) == static_cast<int>(count)) {
    for (unsigned i = 0; i < count; ++i) {
      const auto value = static_cast<T>(bits[i]);
      std::memcpy(to + offset[0] + i * sizeof(T), &value, sizeof(T));
    }
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(mask));
    const auto value = static_cast<T>(bits[i]);
    std::memcpy(to + offset[i], &value, sizeof(T));
  }
}

void store_any(std::byte* to, const int16_t* offset, const uint64_t* bits, uint32_t mask, bool even, unsigned count,
               unsigned bytes) {
  switch (bytes) {
    case 1:
      return store_lanes<uint8_t>(to, offset, bits, mask, even, count);
    case 2:
      return store_lanes<uint16_t>(to, offset, bits, mask, even, count);
    case 4:
      return store_lanes<uint32_t>(to, offset, bits, mask, even, count);
    default:
      return store_lanes<uint64_t>(to, offset, bits, mask, even, count);
  }
}

uint32_t nans(const LaneValues& values, unsigned count) {
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

// Numbers that fill their elements: what stood above them is gone.
void bits_to_accumulator(Thread& thread, const int16_t* offset, const uint64_t* bits, uint32_t mask, unsigned bytes) {
  const bool plain = thread.extension[0].valid == 0 && thread.extension[1].valid == 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(mask));
    if (plain) {
      std::memcpy(thread.accumulator.data() + offset[i], &bits[i], bytes);
    } else {
      set_accumulator_bits(thread, offset[i], bytes, bits[i]);
    }
  }
}

// An integer with all its bits. Dwords where dwords lie already need no look at anything else.
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

// Results to integers of the destination's type: `values` become what is kept.
void to_integers(const LanePlan& plan, Type type, bool saturate, LaneValues& values, unsigned count) {
  const unsigned bytes = traits(type).bytes;
  if (traits(plan.result).is_float) {
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

void to_floats(const LanePlan& plan, Type type, bool saturate, const FloatMode& mode, LaneValues& values,
               unsigned count) {
  if (!traits(plan.result).is_float) {
    for (unsigned i = 0; i < count; ++i) {
      const int64_t value = values.integer[i];
      values.real[i] = type == Type::f ? static_cast<double>(static_cast<float>(value)) : static_cast<double>(value);
    }
    if (type == Type::hf) {
      round_lanes(type, false, values, count);
    }
  } else if (traits(type).bytes != traits(plan.result).bytes) {
    round_lanes(type, flushes(type, mode), values, count);
  }
  if (saturate) {
    for (unsigned i = 0; i < count; ++i) {
      const double value = values.real[i];
      values.real[i] = value > 0.0 ? (value > 1.0 ? 1.0 : value) : 0.0;
    }
  }
}

void float_bits(Type type, const LaneValues& values, uint64_t* bits, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    bits[i] = type == Type::f    ? std::bit_cast<uint32_t>(static_cast<float>(values.real[i]))
              : type == Type::hf ? half_bits(values.real[i])
                                 : std::bit_cast<uint64_t>(values.real[i]);
  }
}

class LaneRun {
 public:
  LaneRun(Frame& frame, const Prepared& prepared)
      : frame_(frame), prepared_(prepared), in_(prepared.in), plan_(*prepared.lane_plan) {}

  Step run() {
    if (plan_.modal && (frame_.mode.rounding != Rounding::nearest || frame_.mode.alternate)) {
      return general();
    }
    const uint32_t enabled = enabled_lanes(frame_, prepared_);
    const uint32_t chosen = in_.predicate == Predicate::none ? prepared_.lanes : predicate_lanes(frame_, prepared_);
    mask_ = plan_.chooses ? enabled : enabled & chosen;
    count_ = in_.exec_size;
    padded_ = (count_ + 7u) & ~7u;
    for (unsigned i = 0; i < plan_.loads; ++i) {
      if (!load(i)) {
        return general();
      }
    }
    LaneValues* const sources[LanePlan::kSources]{&source_[0], &source_[1], &source_[2], &source_[3], &source_[4]};
    LaneContext context{in_, frame_.mode, chosen, 0, &second_};
    plan_.compute(context, sources, out_, padded_);
    if (plan_.floats && !plan_.raw) {
      if (plan_.rounds) {
        round_lanes(plan_.result, flushes(plan_.result, frame_.mode), out_, padded_);
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
    const LaneOperand& operand = plan_.source[which];
    LaneValues& values = source_[which];
    for (unsigned i = count_; i < padded_; ++i) {
      values.integer[i] = 0;
    }
    std::array<int16_t, kMostLanes> space;
    const int16_t* const offset = places(frame_.thread, operand, count_, mask_, space);
    if (offset == nullptr) {
      return false;
    }
    const std::byte* const from = bytes_of(frame_.thread, operand.file);
    if (!plan_.floats) {
      load_integers(operand, from, offset, count_, values);
      return true;
    }
    load_floats(operand, from, offset, count_, values);
    if ((nans(values, count_) & mask_) != 0) {
      return false;
    }
    if (plan_.flushes && !operand.keeps_denormals && flushes(operand.type, frame_.mode)) {
      flush_lanes(operand.type, values, padded_);
    }
    return true;
  }

  Step write(uint32_t truths) {
    Thread& thread = frame_.thread;
    const Type type = in_.dst.type;
    const uint32_t mask = mask_ & plan_.write_mask;
    const bool to_float = traits(type).is_float;
    const LaneOperand& to = plan_.destination;
    const bool to_accumulator = plan_.keeps && to.file == LaneFile::accumulator;
    std::array<int16_t, kMostLanes> space;
    const int16_t* const offset = plan_.keeps ? places(thread, to, count_, mask, space) : nullptr;
    if (plan_.keeps && offset == nullptr) {
      return general();
    }
    LaneValues kept;
    std::memcpy(&kept, &out_, padded_ * sizeof(double));
    alignas(64) uint64_t bits[kMostLanes];
    if (plan_.raw) {
      std::memcpy(bits, out_.integer, padded_ * sizeof(uint64_t));
    } else if (to_float) {
      to_floats(plan_, type, in_.saturate, frame_.mode, kept, padded_);
      float_bits(type, kept, bits, padded_);
    } else {
      to_integers(plan_, type, in_.saturate, kept, padded_);
      std::memcpy(bits, kept.integer, padded_ * sizeof(uint64_t));
    }
    if (plan_.accumulates || plan_.carries) {
      accumulate(mask);
    }
    if (to_accumulator) {
      // A word that is written by name is a word; only implied results are wider.
      if (to_float || plan_.raw || in_.saturate || traits(plan_.result).is_float || traits(type).bytes != 4) {
        bits_to_accumulator(thread, offset, bits, mask, traits(type).bytes);
      } else {
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
          const auto i = static_cast<unsigned>(std::countr_zero(rest));
          integer_to_accumulator(thread, offset[i], type, out_.integer[i]);
        }
      }
    } else if (plan_.keeps) {
      std::byte* const bytes = bytes_of(thread, to.file);
      const unsigned size = traits(type).bytes;
      store_any(bytes, offset, bits, mask, to.even && !to.indirect, count_, size);
      if (plan_.divides) {
        store_any(bytes + kRegister, offset, reinterpret_cast<const uint64_t*>(second_.integer), mask, false, count_,
                  size);
      }
    }
    if (plan_.writes_flag) {
      if (!plan_.decides) {
        truths = to_float                                           ? truths_of(in_.condition, kept.real, count_)
                 : traits(type).is_signed || traits(type).bytes < 8 ? truths_of(in_.condition, kept.integer, count_)
                                                                    : truths_of(in_.condition, bits, count_);
      }
      write_flag(frame_, prepared_, mask, truths);
    }
    return Step::next;
  }

  void accumulate(uint32_t mask) {
    if (plan_.unless_disabled && (frame_.thread.control[0] & ControlBits::kAccumulatorDisable) != 0) {
      return;
    }
    const Type type = plan_.accumulator;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      const int32_t offset = implied_accumulator_offset(frame_, prepared_, type, i);
      if (plan_.carries) {
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
  const Instruction& in_;
  const LanePlan& plan_;
  uint32_t mask_ = 0;
  unsigned count_ = 0;
  unsigned padded_ = 0;
  LaneValues source_[LanePlan::kSources];
  LaneValues out_;
  LaneValues second_;
};

}  // namespace

Step run_lanes(Frame& frame, const Prepared& prepared) {
  return LaneRun(frame, prepared).run();
}

}  // namespace halogen::eu
