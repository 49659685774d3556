// Random instructions that hardware accepts, and random threads with special values: NaN, infinities, denormals,
// limits.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

#include "unit/eu/exec_support.h"

namespace halogen::eu::test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t bits() { return engine_(); }
  unsigned below(unsigned limit) { return static_cast<unsigned>(engine_() % limit); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<unsigned>(from.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

inline bool real_type(Type type) {
  return type == Type::f || type == Type::hf || type == Type::df;
}
inline unsigned size_of(Type type) {
  switch (type) {
    case Type::ub:
    case Type::b:
      return 1;
    case Type::uw:
    case Type::w:
    case Type::hf:
      return 2;
    case Type::uq:
    case Type::q:
    case Type::df:
      return 8;
    default:
      return 4;
  }
}

inline uint32_t random_single(Random& random) {
  return random.pick<uint32_t>({0x0000'0000,
                                0x8000'0000,
                                0x3f80'0000,
                                0xbf80'0000,
                                0x7f80'0000,
                                0xff80'0000,
                                0x7fc0'1234,
                                0x7f80'0001,
                                0xffc0'0000,
                                0x0000'0001,
                                0x8040'0000,
                                0x007f'ffff,
                                0x0080'0000,
                                0x7f7f'ffff,
                                0x3eaa'aaab,
                                0x4b00'0001,
                                0x4f00'0000,
                                0xcf00'0001,
                                0x4f80'0000,
                                0x3f00'0000,
                                0x3fc0'0000,
                                0x4020'0000,
                                0xc020'0000,
                                0x0100'0000,
                                0x8100'0001,
                                static_cast<uint32_t>(random.bits()),
                                0x3f80'0000 | (static_cast<uint32_t>(random.bits()) & 0x807f'ffff)});
}

inline void randomise(Random& random, Thread& thread) {
  for (size_t i = 0; i < thread.grf.size(); i += 4) {
    uint32_t word = 0;
    switch (random.below(5)) {
      case 0:
        word = static_cast<uint32_t>(random.bits());
        break;
      case 1:
        word = random_single(random);
        break;
      case 2:
        word = random.pick<uint32_t>({0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x8000, 0x7fff, 0x80, 0x7f8000ff,
                                      0x0001'0001, 0x7c00'fc00, 0x3c00'0001, 0x7e01'83ff});
        break;
      case 3:
        word = random.below(64);
        break;
      default:
        word = random.pick<uint32_t>({0x3ff0'0000, 0xbff8'0000, 0x7ff0'0000, 0x4340'0000, 0x0000'0000, 0x0008'0000});
        break;
    }
    std::memcpy(thread.grf.data() + i, &word, 4);
  }
  thread.flag = {static_cast<uint32_t>(random.bits()), static_cast<uint32_t>(random.bits())};
  for (auto& word : thread.address) {
    word = static_cast<uint16_t>(random.below(3000) & ~7u);
  }
}

inline Region random_region(Random& random, unsigned exec_size) {
  if (exec_size == 1 || random.chance(20)) {
    return {0, 1, 0};
  }
  if (random.chance(50) && exec_size >= 4) {
    return exec_size >= 8 ? Region{8, 8, 1} : Region{4, 4, 1};
  }
  const auto width = static_cast<uint8_t>(1u << random.below(exec_size >= 8 ? 4 : exec_size >= 4 ? 3 : 2));
  Region region;
  region.width = width;
  region.horizontal = width == 1 ? uint8_t{0} : random.pick<uint8_t>({0, 1, 2, 4});
  region.vertical = random.pick<uint8_t>({0, 1, 2, 4, 8, 16});
  return region;
}

inline Operand random_source(Random& random, Type type, unsigned exec_size, bool may_be_immediate) {
  if (may_be_immediate && random.chance(25) && size_of(type) != 1 && size_of(type) != 8) {
    const uint64_t bits = type == Type::f ? random_single(random) : random.bits() & 0xffff'ffff;
    return imm(random.chance(50) && type != Type::f ? bits & 0x1f : bits, type);
  }
  Operand operand =
      grf(random.below(100), type, random.below(32 / size_of(type)) * size_of(type), random_region(random, exec_size));
  operand.negate = random.chance(20);
  operand.absolute = random.chance(20);
  if (random.chance(10)) {
    operand.indirect = true;
    operand.address_sub = static_cast<uint8_t>(random.below(8));
    operand.address_offset = static_cast<int16_t>(static_cast<int>(random.below(128)) * 8 - 512);
    operand.region.vertical_by_address = random.chance(50);
    operand.reg = operand.sub = 0;
  }
  return operand;
}

// Describes the first difference of two threads. Empty: they are equal.
inline std::string difference(const Thread& a, const Thread& b) {
  for (size_t i = 0; i < a.grf.size(); ++i) {
    if (a.grf[i] != b.grf[i]) {
      const size_t at = i & ~size_t{7};
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, a.grf.data() + at, 8);
      std::memcpy(&y, b.grf.data() + at, 8);
      return fmt::format("r{} byte {}: {:#018x} and {:#018x}", at / kGrfBytes, at % kGrfBytes, x, y);
    }
  }
  for (size_t i = 0; i < a.accumulator.size(); i += 4) {
    uint32_t x = 0;
    uint32_t y = 0;
    std::memcpy(&x, a.accumulator.data() + i, 4);
    std::memcpy(&y, b.accumulator.data() + i, 4);
    if (x != y) {
      return fmt::format("acc{} byte {}: {:#010x} and {:#010x}", i / kGrfBytes, i % kGrfBytes, x, y);
    }
  }
  if (a.flag != b.flag) {
    return fmt::format("flags: {:#x} {:#x} and {:#x} {:#x}", a.flag[0], a.flag[1], b.flag[0], b.flag[1]);
  }
  for (size_t i = 0; i < a.extension.size(); ++i) {
    const auto& x = a.extension[i];
    const auto& y = b.extension[i];
    if (!(x == y)) {
      return fmt::format("upper part of acc{}: lanes {:#x} of {} bytes and {:#x} of {}", i, x.valid, x.element, y.valid,
                         y.element);
    }
  }
  return a.mrf != b.mrf           ? "message registers"
         : a.control != b.control ? "cr0"
         : a.state != b.state     ? "sr0"
         : a.address != b.address ? "a0"
         : !(a.masks == b.masks)  ? "mask stacks"
         : a.ip != b.ip           ? "ip"
         : a.active != b.active   ? "active channels"
         : a.status != b.status   ? "status"
         : a == b                 ? ""
                                  : "something else";
}

struct Shape {
  Op op;
  unsigned sources;
  bool integers;
  bool floats;
  bool early;  // exists on every generation
};
inline constexpr Shape kShapes[]{
    {Op::mov, 1, true, true, true},    {Op::add, 2, true, true, true},     {Op::mul, 2, true, true, true},
    {Op::not_, 1, true, false, true},  {Op::and_, 2, true, false, true},   {Op::or_, 2, true, false, true},
    {Op::xor_, 2, true, false, true},  {Op::shl, 2, true, false, true},    {Op::shr, 2, true, false, true},
    {Op::asr, 2, true, false, true},   {Op::cmp, 2, true, true, true},     {Op::cmpn, 2, true, true, true},
    {Op::sel, 2, true, true, true},    {Op::avg, 2, true, false, true},    {Op::frc, 1, false, true, true},
    {Op::rndd, 1, false, true, true},  {Op::rndu, 1, false, true, true},   {Op::rnde, 1, false, true, true},
    {Op::rndz, 1, false, true, true},  {Op::lzd, 1, true, false, true},    {Op::mad, 3, false, true, false},
    {Op::csel, 3, false, true, false}, {Op::bfe, 3, true, false, false},   {Op::bfi1, 2, true, false, false},
    {Op::bfi2, 3, true, false, false}, {Op::fbh, 1, true, false, false},   {Op::fbl, 1, true, false, false},
    {Op::cbit, 1, true, false, false}, {Op::bfrev, 1, true, false, false}, {Op::addc, 2, true, false, false},
    {Op::subb, 2, true, false, false}, {Op::mach, 2, true, false, false},  {Op::dp4a, 3, true, false, false}};

// Returns an arithmetic instruction in align1 with direct or indirect operands. Later generations have more types and
// operations.
inline Instruction random_instruction(Random& random, GenId gen) {
  const bool late = gen >= GenId::gen8;
  const bool has_wide = gen == GenId::gen8 || gen == GenId::gen9;
  Shape shape = kShapes[random.below(std::size(kShapes))];
  while (!shape.early && !late) {
    shape = kShapes[random.below(std::size(kShapes))];
  }
  const bool dwords_only = shape.op >= Op::bfrev && shape.op <= Op::bfi2;
  const bool fixed = dwords_only || shape.op == Op::addc || shape.op == Op::subb || shape.op == Op::mach ||
                     shape.op == Op::dp4a || shape.op == Op::lzd || shape.op == Op::fbh || shape.op == Op::fbl ||
                     shape.op == Op::cbit;
  const bool is_float = shape.floats && (!shape.integers || random.chance(50));
  unsigned exec_size = 1u << random.below(late ? 6 : 5);
  const auto random_type = [&]() -> Type {
    if (fixed) {
      return random.pick({Type::d, Type::ud});
    }
    if (is_float) {
      return has_wide && random.chance(20) ? Type::df : late && random.chance(25) ? Type::hf : Type::f;
    }
    if (has_wide && random.chance(15)) {
      return random.pick({Type::q, Type::uq});
    }
    return random.pick({Type::d, Type::ud, Type::w, Type::uw, Type::b, Type::ub});
  };
  Instruction in;
  in.op = shape.op;
  in.sources = static_cast<uint8_t>(shape.sources);
  const Type common = random_type();
  for (unsigned i = 0; i < shape.sources; ++i) {
    const bool same = is_float || random.chance(60);
    in.src[i] = random_source(random, same ? common : random_type(), exec_size, i + 1 == shape.sources);
  }
  Type to = random.chance(60) ? common : random_type();
  if (shape.op == Op::mov && random.chance(40)) {
    to =
        late ? random.pick({Type::f, Type::d, Type::ud, Type::w, Type::hf, Type::ub}) : random.pick({Type::f, Type::d});
  }
  if (is_float && (shape.op == Op::cmp || shape.op == Op::cmpn)) {
    to = random.pick({Type::f, Type::d});
  } else if (is_float && random.chance(10)) {
    to = Type::d;
  }
  unsigned stride = 1u << random.below(3);
  while (exec_size * stride * size_of(to) > 64) {
    if (stride > 1) {
      stride /= 2;
    } else {
      exec_size /= 2;
    }
  }
  for (unsigned i = 0; i < shape.sources; ++i) {
    if (in.src[i].region.width > exec_size) {
      in.src[i].region = exec_size == 1 ? Region{0, 1, 0}
                                        : Region{static_cast<uint8_t>(exec_size), static_cast<uint8_t>(exec_size), 1};
    }
  }
  in.exec_size = static_cast<uint8_t>(exec_size);
  in.dst = dst(random.below(126), to, 0, stride);
  if (random.chance(10)) {
    in.dst = null(to);
  }
  in.first_channel = static_cast<uint8_t>(exec_size >= 32 || !late ? 0 : random.below(32 / exec_size) * exec_size);
  in.no_mask = random.chance(20);
  const bool three = shape.sources == 3;
  if (random.chance(25) && shape.op != Op::csel) {
    in.predicate = static_cast<Predicate>(random.below(late ? 14 : 12));
    in.predicate_inverse = random.chance(30);
  }
  in.flag = static_cast<uint8_t>(random.below(late ? 4 : 2));
  if (in.flag % 2 == 1 && exec_size + in.first_channel > 16) {
    in.flag = static_cast<uint8_t>(in.flag & 2);
  }
  const bool tests = shape.op == Op::cmp || shape.op == Op::cmpn || shape.op == Op::csel;
  if (tests || (random.chance(20) && !dwords_only && shape.op != Op::mach && shape.op != Op::dp4a)) {
    in.condition = static_cast<Condition>(1 + random.below(6));
  }
  const bool logic = shape.op >= Op::not_ && shape.op <= Op::xor_;
  in.saturate = !tests && !logic && !three && !dwords_only && shape.op != Op::addc && shape.op != Op::subb &&
                shape.op != Op::mach && random.chance(20);
  if (shape.op == Op::mach) {
    in.accumulator_write = random.chance(50);
  }
  return in;
}

// Returns an instruction of a wider choice, for tests of specialised routines: functions, sums over groups, align16
// with swizzles and write masks, accumulators, every condition.
inline Instruction random_wide_instruction(Random& random, GenId gen) {
  Instruction in = random_instruction(random, gen);
  const bool late = gen >= GenId::gen8;
  if (random.chance(25) && gen >= GenId::gen6) {
    in.op = Op::math;
    in.condition = Condition::none;
    const bool integers = random.chance(20);
    in.math =
        integers ? random.pick({MathFunction::int_divide_both, MathFunction::int_quotient, MathFunction::int_remainder})
                 : random.pick({MathFunction::inverse, MathFunction::log2, MathFunction::exp2, MathFunction::sqrt,
                                MathFunction::rsqrt, MathFunction::sin, MathFunction::cos, MathFunction::divide,
                                MathFunction::power});
    in.sources = integers || in.math == MathFunction::divide || in.math == MathFunction::power ? 2 : 1;
    const Type type = integers                                  ? random.pick({Type::d, Type::ud})
                      : gen >= GenId::gen9 && random.chance(30) ? Type::hf
                                                                : Type::f;
    in.exec_size = static_cast<uint8_t>(1u << random.below(5));
    in.dst = dst(random.below(120), type);
    in.accumulator_write = false;
    for (unsigned i = 0; i < in.sources; ++i) {
      in.src[i] = random_source(random, type, in.exec_size, false);
    }
  } else if (random.chance(25)) {
    in.op = gen >= GenId::gen6 && gen <= GenId::gen9 && random.chance(40)
                ? Op::lrp
                : random.pick({Op::dp2, Op::dp3, Op::dp4, Op::dph, Op::line, Op::mac, Op::pln});
    in.sources = in.op == Op::lrp ? 3 : 2;
    in.condition = random.chance(30) ? static_cast<Condition>(1 + random.below(6)) : Condition::none;
    in.exec_size = static_cast<uint8_t>(4u << random.below(3));
    in.dst = dst(random.below(120), Type::f);
    in.math = MathFunction::none;
    for (unsigned i = 0; i < in.sources; ++i) {
      in.src[i] = random_source(random, Type::f, in.exec_size, false);
    }
  }
  if (random.chance(15) && gen <= GenId::gen9 && in.op != Op::math && in.exec_size >= 4 && in.exec_size <= 16) {
    in.align16 = true;
    in.dst.write_mask = static_cast<uint8_t>(random.below(16));
    in.dst.region.horizontal = 1;
    for (unsigned i = 0; i < in.sources; ++i) {
      in.src[i].region = random.chance(10) ? Region{0, 1, 0} : Region{random.pick<uint8_t>({0, 4}), 4, 1};
      for (auto& component : in.src[i].swizzle) {
        component = static_cast<uint8_t>(random.below(4));
      }
    }
    if (in.predicate != Predicate::none) {
      in.predicate = random.pick({Predicate::normal, Predicate::replicate_x, Predicate::replicate_y,
                                  Predicate::replicate_z, Predicate::replicate_w, Predicate::any4h, Predicate::all4h});
    }
  }
  const bool four_bytes = size_of(in.dst.type) == 4;
  if (random.chance(15) && four_bytes && in.dst.file == File::grf && in.exec_size <= 16 && !in.align16) {
    in.dst = arf(Arf::accumulator, in.dst.type, random.below(late ? 3 : 2), 0, {0, 1, 1});
  }
  if (random.chance(10) && in.src[0].file == File::grf && size_of(in.src[0].type) == 4 && in.exec_size <= 16 &&
      !in.align16) {
    const Operand before = in.src[0];
    in.src[0] = arf(Arf::accumulator, before.type, random.below(2));
    in.src[0].negate = before.negate;
    in.src[0].absolute = before.absolute;
  }
  if (random.chance(10) && !in.dst.indirect && in.dst.file == File::grf && size_of(in.dst.type) >= 2) {
    in.dst.indirect = true;
    in.dst.address_sub = static_cast<uint8_t>(random.below(8));
    in.dst.address_offset = static_cast<int16_t>(static_cast<int>(random.below(64)) * 8 - 256);
  }
  if (random.chance(10) && in.op != Op::math) {
    in.accumulator_write = true;
  }
  if (in.condition != Condition::none && random.chance(10)) {
    in.condition = random.pick({Condition::overflow, Condition::unordered, Condition::round});
  }
  if (random.chance(10) && in.sources >= 1 && in.src[in.sources - 1u].file == File::immediate &&
      size_of(in.src[in.sources - 1u].type) == 2 && !real_type(in.src[in.sources - 1u].type)) {
    in.src[in.sources - 1u].type = random.pick({Type::v, Type::uv});
  }
  return in;
}

}  // namespace halogen::eu::test
