#include "eu/exec/general/groups.h"

#include <cmath>
#include <cstring>

namespace halogen::eu {

namespace {

constexpr auto kRegister = static_cast<int32_t>(kGrfBytes);

double element(const Frame& frame, const SourceReader& source, unsigned lane) {
  const double value = source.value(lane).real;
  return flushes(source.type(), frame.mode) ? flush(source.type(), value) : value;
}

// A sum of products in double precision; finish_float() rounds it once.
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

Terms dot(const Frame& frame, ir::Operation operation, const SourceSet& sources, unsigned lane) {
  const unsigned first = lane & ~3u;
  const unsigned products = operation == ir::Operation::dot2 ? 2 : operation == ir::Operation::dot4 ? 4 : 3;
  Terms terms;
  for (unsigned i = 0; i < products; ++i) {
    terms.add(element(frame, sources[0], first + i), element(frame, sources[1], first + i));
  }
  if (operation == ir::Operation::dot_homogeneous) {
    terms.add(1.0, element(frame, sources[1], first + 3));
  }
  return terms;
}

// Returns the products of pairs of sources, and the last source as a term without a second factor.
Terms plane(const Frame& frame, const SourceSet& sources, unsigned count, unsigned lane) {
  Terms terms;
  for (unsigned i = 0; i + 1 < count; i += 2) {
    terms.add(element(frame, sources[i], lane), element(frame, sources[i + 1], lane));
  }
  terms.add(element(frame, sources[count - 1], lane), 1.0);
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
  const ir::Operation operation = prepared.lowered.compute.operation;
  if (operation == ir::Operation::differences || operation == ir::Operation::differences_add) {
    result.type = Type::w;
    result.value.integer = differences(sources, lane);
    if (operation == ir::Operation::differences_add) {
      result.value.integer += sources[2].value(lane).integer;
    }
    return result;
  }
  result.type = Type::f;
  const bool planes = operation == ir::Operation::line || operation == ir::Operation::plane;
  const Terms terms =
      planes ? plane(frame, sources, prepared.lowered.sources, lane) : dot(frame, operation, sources, lane);
  result.value.real = finish_float(Type::f, terms.sum(frame.mode.alternate), frame.mode);
  return result;
}

Result indexed_copy_lane(const Frame& frame, const Prepared& prepared, unsigned lane) {
  // The address of lane 0 gives the register; the address of each lane gives the byte in it.
  const ir::Source& source = prepared.lowered.source[0];
  const ir::LaneTable& table = prepared.lowered.table(source.access);
  const auto address = [&](unsigned which) { return frame.thread.address[table.word[which]] + table.offset[which]; };
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
