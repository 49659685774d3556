// One EU instruction, independent of its generation's encoding: the output of the decoder and the input of printer,
// encoder, validator and interpreter. spec/eu describes the encodings. Two encodings have the same meaning if their
// instructions compare equal.
#pragma once

#include <array>
#include <cstdint>

#include "eu/isa/op.h"

namespace halogen::eu {

enum class Type : uint8_t { ub, b, uw, w, ud, d, uq, q, hf, f, df, nf, v, uv, vf };
enum class File : uint8_t { arf, grf, mrf, immediate };

// Condition modifiers. The values are their encoding on every generation.
enum class Condition : uint8_t {
  none = 0,
  zero = 1,
  not_zero = 2,
  greater = 3,
  greater_equal = 4,
  less = 5,
  less_equal = 6,
  round = 7,  // Gen4 and Gen5: the rounded value is one more than the result
  overflow = 8,
  unordered = 9
};

// How the predicate of a channel follows from the bits of the flag register.
enum class Predicate : uint8_t {
  none,
  normal,
  any_v,
  all_v,
  any2h,
  all2h,
  any4h,
  all4h,
  any8h,
  all8h,
  any16h,
  all16h,
  any32h,
  all32h,
  replicate_x,  // align16 only
  replicate_y,
  replicate_z,
  replicate_w
};

enum class MathFunction : uint8_t {
  none = 0,
  inverse = 1,
  log2 = 2,
  exp2 = 3,
  sqrt = 4,
  rsqrt = 5,
  sin = 6,
  cos = 7,
  sincos = 8,
  divide = 9,
  power = 10,
  int_divide_both = 11,
  int_quotient = 12,
  int_remainder = 13,
  inverse_macro = 14,
  rsqrt_macro = 15
};

enum class SyncFunction : uint8_t { nop = 0, allrd = 2, allwr = 3, bar = 14, host = 15 };

// Architecture registers: the upper four bits of the register number.
enum class Arf : uint8_t {
  null = 0x0,
  address = 0x1,
  accumulator = 0x2,
  flag = 0x3,
  mask = 0x4,         // Gen4 and Gen5: mask register; Gen7.5 and later: channel enable
  mask_stack = 0x5,   // Gen4 and Gen5; later generations: message control
  stack_depth = 0x6,  // Gen4 and Gen5; later generations: stack pointer
  state = 0x7,
  control = 0x8,
  notification = 0x9,
  ip = 0xa,
  thread_dependency = 0xb,
  timestamp = 0xc,
  flow_control = 0xd,
  debug = 0xf
};

// Strides and width in elements, not as encoded. Align16 operands have width 4 and horizontal stride 1, and a vertical
// stride of 0, 2 or 4; width 1 there is a replicated scalar of a three-source instruction.
struct Region {
  uint8_t vertical = 0;
  uint8_t width = 1;
  uint8_t horizontal = 0;
  bool vertical_by_address = false;  // VxH (width > 1) and Vx1 (width 1): each row has its own address register

  friend bool operator==(const Region&, const Region&) = default;
};

struct Operand {
  static constexpr uint8_t kNoMacro = 8;

  File file = File::arf;
  Type type = Type::ud;
  uint8_t reg = 0;  // architecture registers: Arf in bits 7:4, its number in bits 3:0
  uint8_t sub = 0;  // byte in the register
  Region region;    // destinations use the horizontal stride only
  bool negate = false;
  bool absolute = false;
  bool indirect = false;
  uint8_t address_sub = 0;                        // word of a0 (first of several)
  int16_t address_offset = 0;                     // bytes
  std::array<uint8_t, 4> swizzle = {0, 1, 2, 3};  // align16 sources
  uint8_t write_mask = 0xf;                       // align16 destinations, bit 0 is x
  uint8_t macro = kNoMacro;                       // mme register of invm, rsqtm and madm
  uint64_t immediate = 0;                         // as encoded; words are repeated in both halves

  [[nodiscard]] bool is_arf(Arf which) const { return file == File::arf && (reg >> 4) == static_cast<uint8_t>(which); }
  [[nodiscard]] bool is_null() const { return is_arf(Arf::null) && !indirect; }
  friend bool operator==(const Operand&, const Operand&) = default;
};

// The message of send, sendc, sends and sendsc. A descriptor in the address register is not known here.
struct SendInfo {
  uint8_t function = 0;  // shared function id
  bool end_of_thread = false;
  bool descriptor_in_register = false;  // a0.0:ud
  bool extended_in_register = false;    // a0.n:ud
  uint8_t extended_address_sub = 0;     // dword n of a0
  uint32_t descriptor = 0;              // layout of Gen5 and later: lengths in 28:20, header in 19
  uint32_t extended = 0;                // Gen9 and later, without function and end of thread
  uint8_t message_register = 0;         // Gen4 and Gen5: first message register, to which src0 is moved

  friend bool operator==(const SendInfo&, const SendInfo&) = default;
};

struct Instruction {
  Op op = Op::illegal;
  uint8_t size = 16;          // bytes in memory; 8 when compacted
  uint8_t exec_size = 1;      // channels
  uint8_t first_channel = 0;  // quarter and nibble control: the first of its channels in the masks
  bool align16 = false;
  bool no_mask = false;     // all channels are enabled
  bool compressed = false;  // Gen4 and Gen5: operands of two registers, executed in two halves
  bool saturate = false;
  bool accumulator_write = false;
  bool branch_control = false;
  bool breakpoint = false;
  bool no_dd_clear = false;
  bool no_dd_check = false;
  bool mask_control_extra = false;  // Gen4.5 and Gen5
  uint8_t thread_control = 0;       // 0 normal, 1 atomic, 2 switch
  uint8_t scoreboard = 0;           // Gen12: the SWSB byte

  Predicate predicate = Predicate::none;
  bool predicate_inverse = false;
  Condition condition = Condition::none;
  uint8_t flag = 0;  // word of the flag registers: f0.0 is 0, f0.1 is 1, f1.0 is 2, f1.1 is 3
  MathFunction math = MathFunction::none;
  SyncFunction sync = SyncFunction::nop;

  uint8_t sources = 0;
  Operand dst;
  std::array<Operand, 3> src;

  // Branches: bytes from the address of this instruction, whatever the unit of the encoding. If a target is in a
  // register (src[0], or src[1] before Gen12), has_jip is false.
  bool has_jip = false;
  bool has_uip = false;
  int32_t jip = 0;
  int32_t uip = 0;
  uint8_t pop_count = 0;  // Gen4 and Gen5

  SendInfo send;

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

}  // namespace halogen::eu
