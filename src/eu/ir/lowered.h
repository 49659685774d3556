// An EU instruction after lowering: what it reads, computes and writes, with every rule of its generation applied. All
// executors run this form; none of them looks at operands, regions or EuRules again. lower.h makes it, verify.h checks
// it, print.h shows it.
//
// Two words are kept apart in src/eu. A channel is one of the 32 SIMD channels of a thread: masks and flags have a bit
// for each. A lane is one of the `exec_size` elements that an instruction computes: lane i runs in channel
// `first_channel` + i.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "eu/exec/thread.h"
#include "eu/isa/instruction.h"

namespace halogen::eu::ir {

inline constexpr unsigned kMaxLanes = 32;

// Register files as bytes. The files from `grf` to `debug` lie in the Thread. Those behind are worked out when they are
// read: registers of flow control, ip and time.
enum class File : uint8_t {
  none,       // reads zero, keeps nothing
  immediate,  // the element is in the instruction
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

constexpr bool lies_in_thread(File file) {
  return file >= File::grf && file <= File::debug;
}
constexpr bool is_computed(File file) {
  return file >= File::channel_enable;
}
// Bytes of a file that is worked out.
inline constexpr size_t kComputedBytes = 64;

struct FileBytes {
  size_t first;  // from the first byte of the Thread
  size_t bytes;
};
FileBytes file_bytes(File file);
std::string_view file_name(File file);

// Lanes of an operand that follow no pattern: the byte of each lane (as Access::base), or kOutside.
inline constexpr int16_t kOutside = INT16_MIN;
struct LaneTable {
  std::array<int16_t, kMaxLanes> offset{};
  std::array<uint8_t, kMaxLanes> word{};       // indirect: word of a0 whose value is added
  std::array<uint64_t, kMaxLanes> constant{};  // vector immediates: bits of each element
};

// Where the elements of an operand lie, lane by lane.
struct Access {
  enum class Kind : uint8_t {
    scalar,   // one element for all lanes
    even,     // base + lane * step
    rows,     // base + lane / width * row + lane % width * step, which holds for the two above as well
    lanes,    // table.offset[lane]
    indirect  // a0[table.word[lane]] + table.offset[lane], in the file
  };
  static constexpr uint8_t kNoTable = 0xff;

  Kind kind = Kind::scalar;
  bool inside = true;        // no lane is outside of the file; indirect: not known before the instruction runs
  uint8_t width = 8;         // lanes of a row
  uint8_t table = kNoTable;  // in Lowered::tables: lanes, indirect, vector immediates
  int16_t base = 0;          // lane 0: byte in the Thread, or in a file that is worked out
  int16_t step = 0;          // bytes from lane to lane
  int16_t row = 0;           // bytes from row to row

  // Lanes that a formula finds, all of them in the file.
  [[nodiscard]] bool is_regular() const { return kind <= Kind::rows && inside; }
  [[nodiscard]] bool is_even() const { return kind <= Kind::even && inside; }

  friend bool operator==(const Access&, const Access&) = default;
};

// What happens to an element between its register and the operation. Floats: the sign bit is cleared, then flipped.
// Integers: the magnitude is taken, then its negative; signed elements wrap at their own width. Logic operands: all
// bits are flipped.
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
  bool flush = false;                 // a denormal is a zero of its sign, where the float mode flushes its type
  uint8_t macro = Operand::kNoMacro;  // mme register that holds what lies below the mantissa
  Access access;
  uint64_t immediate = 0;  // bits of the element, if all lanes have the same

  friend bool operator==(const Source&, const Source&) = default;
};

struct Target {
  File file = File::none;
  Type type = Type::ud;
  Access access;
  bool saturate = false;
  uint8_t macro = Operand::kNoMacro;
  bool remainder = false;         // there is a second result
  Access remainders;              // where it goes: the same byte of the next register
  uint32_t lanes = ~uint32_t{0};  // lanes that may be written: write masks of align16

  friend bool operator==(const Target&, const Target&) = default;
};

// What is computed. `a`, `b` and `c` are sources 0, 1 and 2.
enum class Operation : uint8_t {
  none,               // not an operation of lanes: flow control, messages, waits
  copy,               // bits pass as they are
  copy_indexed,       // bits of a byte that a0 names for each lane, in the register that a0 names for lane 0
  copy_scattered,     // copy in lanes whose bit of `b` is set
  convert,            // the value passes
  convert_scattered,  // convert in lanes whose bit of `b` is set
  pass,               // the value in the execution type, as a sum would give it
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
  product_low_a_add,  // the same with the low word of a
  product_low_b_add,
  multiply_high,      // c + a * (upper word of b) * 2^16, upper half
  multiply_high_a,    // the upper word of a is taken
  multiply_high_low,  // low half of the sum
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
  floor_for_ceiling,  // the floor, and where the other rounding is one more
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
  dot2,  // products of groups of four lanes, summed
  dot3,
  dot4,
  dot_homogeneous,
  line,             // a * b + c
  plane,            // source 0 * source 1 + source 2 * source 3 + source 4
  differences,      // absolute differences of pairs of lanes, summed
  differences_add,  // the same added to c
  macro_inverse,    // steps of division and square root
  macro_inverse_root,
  macro_add_product
};
std::string_view operation_name(Operation operation);

struct Compute {
  Operation operation = Operation::none;
  Type type = Type::ud;  // in which it computes: the execution type
  MathFunction function = MathFunction::none;
  Condition relation = Condition::none;  // of comparisons and selections
  bool fused = false;                    // one rounding; else products keep double precision

  friend bool operator==(const Compute&, const Compute&) = default;
};

inline constexpr uint8_t kNoFlag = 0xff;

// Which lanes run.
struct MaskRule {
  uint32_t lanes = 1;  // a bit for each lane
  uint8_t first_channel = 0;
  bool all_channels = false;       // flow control masks nothing
  bool predicate_selects = false;  // the predicate is an operand, it masks nothing
  Predicate predicate = Predicate::none;
  bool inverse = false;
  uint8_t flag = kNoFlag;        // flag register; kNoFlag reads zero
  uint8_t other_flag = kNoFlag;  // any_v and all_v: the register beside it; the same one: its other half
  uint8_t first_bit = 0;         // of lane 0

  friend bool operator==(const MaskRule&, const MaskRule&) = default;
};

// What a condition modifier writes.
struct FlagEffect {
  enum class Kind : uint8_t {
    none,
    result,    // `condition` of the result as the target gets it
    overflow,  // the result did not fit the target
    decided    // the operation says it: comparisons, selections, rounding, macros
  };
  Kind kind = Kind::none;
  Condition condition = Condition::none;
  uint8_t flag = kNoFlag;  // kNoFlag: nothing is kept
  uint8_t first_bit = 0;

  friend bool operator==(const FlagEffect&, const FlagEffect&) = default;
};

// What the accumulator gets without being the target.
struct AccumulatorEffect {
  enum class Kind : uint8_t {
    none,
    result,                  // the result, unrounded to the target
    result_unless_disabled,  // if cr0 does not disable it
    own                      // a second result: carries, borrows, low halves
  };
  Kind kind = Kind::none;
  Type type = Type::d;
  int16_t base = 0;  // byte of lane 0 in the accumulators; lanes follow each other

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
  std::shared_ptr<const std::vector<LaneTable>> tables;  // of accesses; null: no access needs a table

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
