#include "eu/exec/vector/routines.h"

#include <algorithm>
#include <array>

namespace halogen::eu {

namespace {

using ir::Access;

using ir::Operation;

template <class... Values>
constexpr uint16_t domains(Values... values) {
  return static_cast<uint16_t>((0u | ... | (1u << static_cast<unsigned>(values))));
}
constexpr uint64_t widths(std::initializer_list<unsigned> list) {
  uint64_t bits = 0;
  for (const unsigned width : list) {
    bits |= uint64_t{1} << width;
  }
  return bits;
}
constexpr uint64_t kPowers = widths({1, 2, 4, 8, 16, 32});
constexpr uint64_t kUpTo16 = (uint64_t{1} << 17) - 2;
constexpr uint64_t kUpTo32 = (uint64_t{1} << 33) - 2;
constexpr uint16_t kAnyDomain = 0xffff;

constexpr std::array kPassing{Operation::copy, Operation::convert};
constexpr std::array kSums{Operation::add, Operation::multiply, Operation::add_product, Operation::plane};
constexpr std::array kAdditions{Operation::add, Operation::multiply, Operation::add_product, Operation::product_add};
constexpr std::array kIntegers{
    Operation::bit_not,      Operation::bit_and,     Operation::bit_or,           Operation::bit_xor,
    Operation::shift_left,   Operation::shift_right, Operation::shift_arithmetic, Operation::rotate_left,
    Operation::rotate_right, Operation::add,         Operation::multiply,         Operation::add_product};
constexpr std::array kSelections{Operation::select, Operation::select_related};
constexpr std::array kComparisons{Operation::compare};
constexpr std::array kFunctions{Operation::function};
constexpr std::array kMultiply{Operation::multiply};
constexpr std::array kHighProducts{Operation::multiply_high_low};
constexpr std::array kArrays{Operation::copy,
                             Operation::convert,
                             Operation::select,
                             Operation::select_related,
                             Operation::select_signed,
                             Operation::bit_not,
                             Operation::bit_and,
                             Operation::bit_or,
                             Operation::bit_xor,
                             Operation::shift_left,
                             Operation::shift_right,
                             Operation::shift_arithmetic,
                             Operation::rotate_left,
                             Operation::rotate_right,
                             Operation::compare,
                             Operation::compare_or_nan,
                             Operation::add,
                             Operation::multiply,
                             Operation::add_product,
                             Operation::product_add,
                             Operation::add_carry,
                             Operation::subtract_borrow,
                             Operation::average,
                             Operation::interpolate,
                             Operation::fraction,
                             Operation::floor,
                             Operation::ceiling,
                             Operation::nearest_even,
                             Operation::truncate,
                             Operation::leading_zeros,
                             Operation::first_bit_high,
                             Operation::first_bit_low,
                             Operation::count_bits,
                             Operation::reverse_bits,
                             Operation::extract_bits,
                             Operation::insert_mask,
                             Operation::insert_bits,
                             Operation::dot_bytes,
                             Operation::function,
                             Operation::quotient,
                             Operation::integer_remainder,
                             Operation::dot2,
                             Operation::dot3,
                             Operation::dot4,
                             Operation::dot_homogeneous,
                             Operation::line,
                             Operation::plane};

constexpr uint16_t kAccumulators = Extras::reads_accumulator | Extras::writes_accumulator;
constexpr uint16_t kArrayExtras = Extras::saturation | Extras::tests_result | Extras::decides | Extras::accumulates |
                                  Extras::own_accumulator | Extras::partial | Extras::remainder | Extras::inverts |
                                  kAccumulators | Extras::message_target | Extras::other_files | Extras::nowhere;

// In order of preference.
constexpr std::array kRoutines{
    Routine{.name = "vector",
            .operations = kPassing,
            .domains = domains(Domain::bits32, Domain::f32),
            .reach = Reach::rows,
            .widths = widths({8, 16}),
            .extras = Extras::saturation | Extras::message_target,
            .bind = bind_avx2,
            .before_others = true},
    Routine{.name = "vector",
            .operations = kSums,
            .domains = domains(Domain::f32),
            .reach = Reach::rows,
            .widths = widths({8, 16}),
            .extras = Extras::saturation | Extras::message_target,
            .bind = bind_avx2,
            .before_others = true},
    Routine{.name = "loop",
            .operations = kPassing,
            .domains = domains(Domain::bits32, Domain::bits64, Domain::i32, Domain::i64, Domain::f32, Domain::f64,
                               Domain::from_integer, Domain::to_integer),
            .reach = Reach::strided,
            .widths = kPowers,
            .extras = Extras::tests_result | Extras::nowhere,
            .bind = bind_loops},
    Routine{.name = "loop",
            .operations = kIntegers,
            .domains = domains(Domain::i32, Domain::i64),
            .reach = Reach::strided,
            .widths = kPowers,
            .extras = Extras::tests_result | Extras::nowhere,
            .bind = bind_loops},
    Routine{.name = "loop",
            .operations = kAdditions,
            .domains = domains(Domain::f32, Domain::f64),
            .reach = Reach::strided,
            .widths = kPowers,
            .extras = Extras::tests_result | kAccumulators | Extras::nowhere,
            .bind = bind_loops},
    Routine{.name = "loop",
            .operations = kSelections,
            .domains = domains(Domain::i32, Domain::i64, Domain::f32, Domain::f64),
            .reach = Reach::strided,
            .widths = kPowers,
            .extras = Extras::nowhere,
            .bind = bind_loops},
    Routine{.name = "loop",
            .operations = kComparisons,
            .domains = domains(Domain::i32, Domain::i64, Domain::f32, Domain::f64),
            .reach = Reach::strided,
            .widths = kPowers,
            .extras = Extras::decides | Extras::nowhere,
            .bind = bind_loops},
    Routine{.name = "loop",
            .operations = kFunctions,
            .domains = domains(Domain::f32),
            .reach = Reach::strided,
            .widths = kUpTo16 & kPowers,
            .extras = Extras::nowhere,
            .bind = bind_loops},
    Routine{.name = "product",
            .operations = kMultiply,
            .domains = domains(Domain::i32),
            .reach = Reach::strided,
            .widths = kUpTo16,
            .extras = Extras::writes_accumulator,
            .bind = bind_product},
    Routine{.name = "high product",
            .operations = kHighProducts,
            .domains = domains(Domain::i32),
            .reach = Reach::strided,
            .widths = kUpTo16,
            .extras = Extras::reads_accumulator,
            .bind = bind_high_product},
    Routine{.name = "array",
            .operations = kArrays,
            .domains = kAnyDomain,
            .reach = Reach::rows | Reach::strided | Reach::any,
            .widths = kUpTo32,
            .extras = kArrayExtras,
            .bind = bind_arrays},
};

Domain domain_of(const ir::Lowered& lowered) {
  const Type to = lowered.target.type;
  const bool compares = lowered.compute.operation == Operation::compare;
  const bool passes = lowered.compute.operation == Operation::copy || lowered.compute.operation == Operation::convert;
  if (lowered.compute.operation == Operation::copy && lowered.flag.kind == ir::FlagEffect::Kind::none) {
    return traits(to).bytes == 8 ? Domain::bits64 : Domain::bits32;
  }
  // The type of a comparison's target does not affect the comparison.
  bool has_wide = traits(to).bytes == 8;
  bool all_integer = compares || !traits(to).is_float;
  bool all_single = compares ? traits(to).bytes == 4 : to == Type::f;
  bool all_double = !compares && to == Type::df;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const Type type = lowered.source[i].type;
    has_wide |= traits(type).bytes == 8;
    all_integer &= !traits(type).is_float;
    all_single &= type == Type::f;
    all_double &= type == Type::df;
  }
  if (all_integer) {
    return !has_wide ? Domain::i32 : compares ? Domain::mixed : Domain::i64;
  }
  if (all_single || all_double) {
    return all_single ? Domain::f32 : Domain::f64;
  }
  const Type from = lowered.source[0].type;
  if (passes && to == Type::f && !traits(from).is_float && traits(from).bytes <= 4) {
    return Domain::from_integer;
  }
  return passes && from == Type::f && !traits(to).is_float && traits(to).bytes <= 4 ? Domain::to_integer
                                                                                    : Domain::mixed;
}

uint8_t reach_of(const Access& access, Type type, unsigned lanes, bool is_target) {
  const bool one = access.kind == Access::Kind::scalar;
  if (!access.is_regular() || type == Type::nf || (one && is_target && lanes > 1)) {
    return Reach::any;
  }
  if (one) {
    return is_target ? Reach::strided : 0;
  }
  const bool in_row = access.step == traits(type).bytes;
  if (access.is_even()) {
    return in_row ? 0 : Reach::strided;
  }
  return in_row && access.width == 8 ? Reach::rows : Reach::any;
}

bool is_odd(ir::File file) {
  return file != ir::File::grf && file != ir::File::mrf && file != ir::File::accumulator;
}

}  // namespace

Shape shape_of(const ir::Lowered& lowered) {
  Shape shape;
  shape.operation = lowered.compute.operation;
  shape.domain = domain_of(lowered);
  shape.lanes = lowered.exec_size;
  const auto needs = [&](bool condition, Extras::Bits extra) {
    shape.extras = static_cast<uint16_t>(shape.extras | (condition ? extra : 0));
  };
  const auto reaches = [&](uint8_t how) { shape.reach = static_cast<uint8_t>(shape.reach | how); };
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const ir::Source& source = lowered.source[i];
    needs(source.modifier.invert, Extras::inverts);
    if (source.file == ir::File::immediate) {
      reaches(source.access.table != Access::kNoTable ? uint8_t{Reach::any} : uint8_t{0});
      continue;
    }
    reaches(reach_of(source.access, source.type, shape.lanes, false));
    needs(source.file == ir::File::accumulator, Extras::reads_accumulator);
    needs(is_odd(source.file) || source.file == ir::File::mrf, Extras::other_files);
  }
  const ir::Target& target = lowered.target;
  needs(target.file == ir::File::none, Extras::nowhere);
  if (target.file != ir::File::none) {
    reaches(reach_of(target.access, target.type, shape.lanes, true));
    needs(target.file == ir::File::accumulator, Extras::writes_accumulator);
    needs(target.file == ir::File::mrf, Extras::message_target);
    needs(is_odd(target.file), Extras::other_files);
  }
  needs(target.saturate, Extras::saturation);
  needs((target.lanes & lowered.mask.lanes) != lowered.mask.lanes, Extras::partial);
  needs(target.remainder, Extras::remainder);
  using Flag = ir::FlagEffect::Kind;
  needs(lowered.flag.kind == Flag::result || lowered.flag.kind == Flag::overflow, Extras::tests_result);
  needs(lowered.flag.kind == Flag::decided, Extras::decides);
  using Accumulator = ir::AccumulatorEffect::Kind;
  const Accumulator kind = lowered.accumulator.kind;
  needs(kind == Accumulator::result || kind == Accumulator::result_unless_disabled, Extras::accumulates);
  needs(kind == Accumulator::own, Extras::own_accumulator);
  return shape;
}

std::span<const Routine> routines() {
  return kRoutines;
}

void bind_routine(Prepared& prepared) {
  const Shape shape = shape_of(prepared.lowered);
  Handler first = nullptr;
  for (const Routine& routine : kRoutines) {
    const bool fits = std::ranges::find(routine.operations, shape.operation) != routine.operations.end() &&
                      ((routine.domains >> static_cast<unsigned>(shape.domain)) & 1) != 0 &&
                      (shape.reach & ~routine.reach) == 0 && ((routine.widths >> shape.lanes) & 1) != 0 &&
                      (shape.extras & ~routine.extras) == 0;
    if (!fits || !routine.bind(prepared)) {
      continue;
    }
    if (!routine.before_others) {
      break;
    }
    first = prepared.fast;
    prepared.fast = nullptr;
  }
  if (first != nullptr) {
    prepared.rest = prepared.fast != nullptr ? prepared.fast : prepared.handler;
    prepared.fast = first;
  }
}

}  // namespace halogen::eu
