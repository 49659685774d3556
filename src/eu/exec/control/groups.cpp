#include "eu/exec/control/groups.h"

#include <cmath>
#include <cstring>

namespace halogen::eu {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);

double flushed(const Frame& frame, const Source& source, double value) {
  return flushes(source.type(), frame.mode) ? flush(source.type(), value) : value;
}

double element(const Frame& frame, const Source& source, unsigned lane) {
  return flushed(frame, source, source.value(lane).real);
}

double at(const Frame& frame, const Source& source, int32_t offset) {
  return flushed(frame, source, source.value_at(offset).real);
}

// A sum of products, kept in double precision until its end.
struct Terms {
  std::array<double, 8> factors{};  // pairs
  unsigned count = 0;

  void add(double a, double b) {
    factors[count] = a;
    factors[count + 1] = b;
    count += 2;
  }
  [[nodiscard]] double sum(bool alternate) const {
    for (unsigned i = 0; i < count; ++i) {
      if (std::isnan(factors[i])) {
        return quiet(factors[i]);
      }
    }
    double total = 0.0;
    for (unsigned i = 0; i < count; i += 2) {
      const bool nothing = alternate && (factors[i] == 0.0 || factors[i + 1] == 0.0);
      const double product = nothing ? 0.0 : factors[i] * factors[i + 1];
      total = i == 0 ? product : total + product;
    }
    return std::isnan(total) ? default_nan() : total;
  }
};

Terms dot(const Frame& frame, Op op, const SourceSet& sources, unsigned lane) {
  const unsigned first = lane & ~3u;
  const unsigned products = op == Op::dp2 ? 2 : op == Op::dp3 || op == Op::dph ? 3 : 4;
  Terms terms;
  for (unsigned i = 0; i < products; ++i) {
    terms.add(element(frame, sources[0], first + i), element(frame, sources[1], first + i));
  }
  if (op == Op::dph) {
    terms.add(1.0, element(frame, sources[1], first + 3));
  }
  return terms;
}

// The coefficients are four floats in a row at src0, whatever its region.
Terms plane(const Frame& frame, Op op, const SourceSet& sources, unsigned lane) {
  const int32_t coefficients = sources[0].offset(0);
  Terms terms;
  if (op == Op::line) {
    terms.add(at(frame, sources[0], coefficients), element(frame, sources[1], lane));
  } else {
    // Registers of src1: u and v of channels 0 to 7, then of 8 to 15.
    const int32_t u =
        sources[1].offset(0) + static_cast<int32_t>(lane / 8) * 2 * kRegister + static_cast<int32_t>(lane % 8) * 4;
    terms.add(at(frame, sources[0], coefficients), at(frame, sources[1], u));
    terms.add(at(frame, sources[0], coefficients + 4), at(frame, sources[1], u + kRegister));
  }
  terms.add(at(frame, sources[0], coefficients + 12), 1.0);
  return terms;
}

Wide differences(const SourceSet& sources, unsigned lane) {
  const unsigned first = lane & ~1u;
  Wide sum = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const Wide difference = sources[0].value(first + i).integer - sources[1].value(first + i).integer;
    sum += difference < 0 ? -difference : difference;
  }
  return sum;
}

}  // namespace

Result group_lane(const Frame& frame, const Prepared& prepared, const SourceSet& sources, unsigned lane) {
  Result result;
  const Op op = prepared.in.op;
  if (op == Op::sad2 || op == Op::sada2) {
    result.type = Type::w;
    result.value.integer = differences(sources, lane);
    if (op == Op::sada2) {
      result.value.integer +=
          accumulator_integer(frame.thread, implied_accumulator_offset(frame, prepared, Type::w, lane), Type::w);
    }
    return result;
  }
  result.type = Type::f;
  const Terms terms = op == Op::line || op == Op::pln ? plane(frame, op, sources, lane) : dot(frame, op, sources, lane);
  result.value.real = finish_float(Type::f, terms.sum(frame.mode.alternate), frame.mode);
  return result;
}

Result indexed_move_lane(const Frame& frame, const Prepared& prepared, unsigned lane) {
  // The first address names the register, each lane's own the byte in it.
  const Operand& source = prepared.in.src[0];
  const auto address = [&](unsigned word) {
    return frame.thread.address[(source.address_sub + word) & 15] + source.address_offset;
  };
  const int32_t base = address(0) & ~(kRegister - 1);
  const int32_t offset = base + (address(lane) & (kRegister - 1));
  Result result;
  result.raw = true;
  const unsigned bytes = traits(source.type).bytes;
  if (offset >= 0 && offset + static_cast<int32_t>(bytes) <= static_cast<int32_t>(frame.thread.grf.size())) {
    std::memcpy(&result.bits, frame.thread.grf.data() + offset, bytes);
  }
  return result;
}

}  // namespace halogen::eu
