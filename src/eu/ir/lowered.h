// An EU instruction after lowering: what it reads, computes and writes, with every rule of its generation applied. All
// executors run this form and do not interpret operands, regions or EuRules again. lower.h creates it, verify.h checks
// it, print.h prints it.
//
// Two words are distinct in src/eu. A channel is one of the 32 SIMD channels of a thread: masks and flags have a bit
// for each. A lane is one of the `exec_size` elements that an instruction computes: lane i runs in channel
// `first_channel` + i.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "eu/isa/instruction.h"
#include "eu/thread.h"

namespace halogen::eu::ir {

inline constexpr unsigned kMaxLanes = 32;

// Register files as bytes. The files from `grf` to `debug` are members of Thread. Those after `debug` are computed when
// they are read: registers of flow control, ip and time.
enum class File : uint8_t {
  none,       // reads zero, ignores writes
  immediate,  // the value is in the instruction
  grf,
  mrf,
  accumulator,
  address,
  flag,
  state,
  control,
  notification,
  dependency,
  stack_pointer,
  message_control,
  debug,
  channel_enable,
  masks,  // mask stack model: active, if, loop and continue mask
  if_stack,
  loop_stack,
  stack_depth,
  ip,
  timestamp,
  flow_control
};
inline constexpr unsigned kFileCount = static_cast<unsigned>(File::flow_control) + 1;

constexpr bool is_in_thread(File file) {
  return file >= File::grf && file <= File::debug;
}
constexpr bool is_computed(File file) {
  return file >= File::channel_enable;
}
// Bytes of a computed file.
inline constexpr size_t kComputedBytes = 64;

struct FileBytes {
  size_t first;  // from the first byte of the Thread
  size_t bytes;
};
FileBytes file_bytes(File file);
std::string_view file_name(File file);

// Lanes of an operand for which Access has no formula: the byte of each lane (as Access::base), or kOutside.
inline constexpr int16_t kOutside = INT16_MIN;
struct LaneTable {
  std::array<int16_t, kMaxLanes> offset{};
  std::array<uint8_t, kMaxLanes> word{};       // indirect: word of a0 whose value is added
  std::array<uint64_t, kMaxLanes> constant{};  // vector immediates: bits of each element
};

// The location of each lane's element.
struct Access {
  enum class Kind : uint8_t {
    scalar,   // one element for all lanes
    even,     // base + lane * step
    rows,     // base + lane / width * row + lane % width * step; the formula also holds for scalar and even
    lanes,    // table.offset[lane]
    indirect  // a0[table.word[lane]] + table.offset[lane], in the file
  };
  static constexpr uint8_t kNoTable = 0xff;

  Kind kind = Kind::scalar;
  bool inside = true;        // every lane is inside the file; false if indirect: known only at run time
  uint8_t width = 8;         // lanes of a row
  uint8_t table = kNoTable;  // in Lowered::tables: lanes, indirect, vector immediates
  int16_t base = 0;          // lane 0: byte in the Thread, or in a computed file
  int16_t step = 0;          // bytes from lane to lane
  int16_t row = 0;           // bytes from row to row

  // Return whether a formula gives every lane and all lanes are inside the file.
  [[nodiscard]] bool is_regular() const { return kind <= Kind::rows && inside; }
  [[nodiscard]] bool is_even() const { return kind <= Kind::even && inside; }

  friend bool operator==(const Access&, const Access&) = default;
};

// Source modifiers. Floats: the sign bit is cleared (absolute), then flipped (negate). Integers: the magnitude is
// taken, then negated; signed elements wrap at their own width. Logic operands: all bits are flipped (invert).
struct Modifier {
  bool absolute : 1 = false;
  bool negate : 1 = false;
  bool invert : 1 = false;
  [[nodiscard]] bool any() const { return absolute || negate || invert; }
  friend bool operator==(const Modifier&, const Modifier&) = default;
};

struct Source {
  File file = File::none;
  Type type = Type::ud;  // of an element
  Modifier modifier;
  bool flush = false;                 // denormals become zeros if the float mode flushes this type
  uint8_t macro = Operand::kNoMacro;  // mme register that holds the bits below the mantissa
  Access access;
  uint64_t immediate = 0;  // bits of the element, if it is the same in all lanes

  friend bool operator==(const Source&, const Source&) = default;
};

struct Target {
  File file = File::none;
  Type type = Type::ud;
  Access access;
  bool saturate = false;
  uint8_t macro = Operand::kNoMacro;
  bool remainder = false;         // a second result, the remainder, is written too
  Access remainders;              // its elements: the same byte of the next register
  uint32_t lanes = ~uint32_t{0};  // lanes that may be written: write masks of align16

  friend bool operator==(const Target&, const Target&) = default;
};

// The operation of a lane. `a`, `b` and `c` are sources 0, 1 and 2.
enum class Operation : uint8_t {
  none,               // not computed by lanes: flow control, messages, waits
  copy,               // the bits of a
  copy_indexed,       // MOVI: lane 0 of a0 gives the register, each lane of a0 the byte in it
  copy_scattered,     // copy in lanes whose bit of `b` is set
  convert,            // the value of a
  convert_scattered,  // convert in lanes whose bit of `b` is set
  pass,               // the value of a, converted to the execution type
  single_to_half,     // bits of a half in an integer
  half_to_single,
  select,          // a where the predicate holds, else b
  select_related,  // a where `relation` of a and b holds, else b: minimum and maximum
  select_signed,   // a where `relation` of c and zero holds, else b
  bit_not,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  shift_arithmetic,
  rotate_left,
  rotate_right,
  compare,
  compare_or_nan,     // true where b is NaN
  compare_converted,  // of both sources as integers of the target's type
  add,
  multiply,
  multiply_low_a,     // the low word of a times b
  multiply_low_b,     // a times the low word of b
  add_product,        // a + b * c
  product_add,        // a * b + c
  product_low_a_add,  // (low word of a) * b + c
  product_low_b_add,
  multiply_high,      // upper half of c + a * (upper word of b) * 2^16
  multiply_high_a,    // upper half of c + (upper word of a) * b * 2^16
  multiply_high_low,  // low half of the sum of multiply_high
  multiply_high_a_low,
  add_carry,
  subtract_borrow,
  average,
  interpolate,  // a * b + (1 - a) * c
  fraction,
  floor,
  ceiling,
  nearest_even,
  truncate,
  floor_for_ceiling,  // the floor; the flag bit says that the ceiling is one more
  floor_for_nearest,
  floor_for_truncate,
  leading_zeros,
  first_bit_high,
  first_bit_low,
  count_bits,
  reverse_bits,
  extract_bits,
  insert_mask,
  insert_bits,
  dot_bytes,
  function,  // a math function of floats
  quotient,
  integer_remainder,
  dot2,  // the first two products of each group of four lanes, summed
  dot3,
  dot4,
  dot_homogeneous,
  line,             // a * b + c
  plane,            // source 0 * source 1 + source 2 * source 3 + source 4
  differences,      // absolute differences of pairs of lanes, summed
  differences_add,  // the sum of differences plus c
  macro_inverse,    // steps of division and square root
  macro_inverse_root,
  macro_add_product
};
std::string_view operation_name(Operation operation);

struct Compute {
  Operation operation = Operation::none;
  Type type = Type::ud;  // the execution type
  MathFunction function = MathFunction::none;
  Condition relation = Condition::none;  // of comparisons and selections
  bool fused = false;                    // one rounding for product and sum; false: products keep double precision

  friend bool operator==(const Compute&, const Compute&) = default;
};

inline constexpr uint8_t kNoFlag = 0xff;

// Which lanes run.
struct MaskRule {
  uint32_t lanes = 1;  // a bit for each lane
  uint8_t first_channel = 0;
  bool all_channels = false;       // NoMask: flow control disables no lane
  bool predicate_selects = false;  // SEL: the predicate is an operand and disables no lane
  Predicate predicate = Predicate::none;
  bool inverse = false;
  uint8_t flag = kNoFlag;        // flag register; kNoFlag reads zero
  uint8_t other_flag = kNoFlag;  // any_v and all_v: the second flag register; equal to `flag`: its other half
  uint8_t first_bit = 0;         // of lane 0

  friend bool operator==(const MaskRule&, const MaskRule&) = default;
};

// The flag bits that an instruction writes.
struct FlagEffect {
  enum class Kind : uint8_t {
    none,
    result,    // whether `condition` holds for the result in the target's type
    overflow,  // whether the result does not fit the target's type
    decided    // yielded by the operation: comparisons, selections, rounding, macros
  };
  Kind kind = Kind::none;
  Condition condition = Condition::none;
  uint8_t flag = kNoFlag;  // kNoFlag: the bits are dropped
  uint8_t first_bit = 0;

  friend bool operator==(const FlagEffect&, const FlagEffect&) = default;
};

// The write to the accumulator of an instruction whose target is another register.
struct AccumulatorEffect {
  enum class Kind : uint8_t {
    none,
    result,                  // the result before its conversion to the target's type
    result_unless_disabled,  // the same, unless cr0 disables implicit accumulator writes
    own                      // a second result: carries, borrows, low halves
  };
  Kind kind = Kind::none;
  Type type = Type::d;
  int16_t base = 0;  // byte of lane 0 in the accumulators; lanes are contiguous

  friend bool operator==(const AccumulatorEffect&, const AccumulatorEffect&) = default;
};

struct Lowered {
  static constexpr unsigned kMaxSources = 5;  // a plane has three coefficients and two coordinates

  Compute compute;
  uint8_t sources = 0;    // of `source`
  uint8_t exec_size = 1;  // lanes
  MaskRule mask;
  std::array<Source, kMaxSources> source;
  Target target;
  FlagEffect flag;
  AccumulatorEffect accumulator;
  std::shared_ptr<const std::vector<LaneTable>> tables;  // by Access::table; null: no access needs a table

  [[nodiscard]] const LaneTable& table(const Access& access) const { return (*tables)[access.table]; }
};

// Returns the byte of a direct access's lane, or kOutside.
inline int16_t lane_offset(const Lowered& lowered, const Access& access, unsigned lane) {
  if (access.kind >= Access::Kind::lanes) {
    return lowered.table(access).offset[lane];
  }
  const auto number = static_cast<int>(lane);
  return static_cast<int16_t>(access.base + number / access.width * access.row + number % access.width * access.step);
}

}  // namespace halogen::eu::ir
