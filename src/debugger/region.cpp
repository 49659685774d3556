#include "debugger/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/bits.h"
#include "eu/isa/text.h"
#include "eu/number.h"

namespace halogen::debugger {
namespace {

// A cursor over the text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }
  bool number(unsigned most, uint8_t& out) {
    unsigned value = 0;
    const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (status != std::errc{} || value > most) {
      return false;
    }
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    out = static_cast<uint8_t>(value);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool is_one_of(uint8_t value, std::initializer_list<uint8_t> list) {
  return std::ranges::find(list, value) != list.end();
}

// Parses v;w,h> after the <.
bool take_strides(Scanner& scanner, eu::Region& region) {
  return scanner.number(32, region.vertical) && (scanner.take(";") || scanner.take(",")) &&
         scanner.number(16, region.width) && scanner.take(",") && scanner.number(4, region.horizontal) &&
         scanner.take(">") && is_one_of(region.vertical, {0, 1, 2, 4, 8, 16, 32}) &&
         is_one_of(region.width, {1, 2, 4, 8, 16}) && is_one_of(region.horizontal, {0, 1, 2, 4});
}

// Parses the type of register elements; immediates have more types.
bool take_type(std::string_view name, eu::Type& type) {
  const int value = eu::text::value_in(eu::text::kTypes, name);
  if (value < 0 || value > static_cast<int>(eu::Type::df)) {
    return false;
  }
  type = static_cast<eu::Type>(value);
  return true;
}

int64_t as_signed(eu::Type type, uint64_t bits) {
  return sign_extend(bits, eu::traits(type).bytes * 8u);
}

}  // namespace

Result<RegisterRegion> parse_region(std::string_view text) {
  RegisterRegion out;
  Scanner scanner(text);
  out.accumulator = scanner.take("acc");
  if (!out.accumulator && !scanner.take("r")) {
    return Error{fmt::format("\"{}\" is not a register; give r0 to r127, acc0 or acc1, for example.", text)};
  }
  if (const size_t most = (out.accumulator ? eu::kAccumulators : eu::kGrfs) - 1;
      !scanner.number(static_cast<unsigned>(most), out.reg)) {
    return Error{
        fmt::format("\"{}\" does not exist; the last register is {}{}.", text, out.accumulator ? "acc" : "r", most)};
  }
  if (scanner.take(".") && !scanner.number(eu::kGrfBytes - 1, out.sub)) {
    return Error{fmt::format("\"{}\" lacks a subregister number after the point.", text)};
  }
  if (scanner.take("<") && !take_strides(scanner, out.region)) {
    return Error{fmt::format(
        "\"{}\" has a bad region; give <vertical stride;width,horizontal stride>, for example <8;8,1>.", text)};
  }
  if (scanner.take(":")) {
    if (!take_type(scanner.rest(), out.type)) {
      return Error{fmt::format("\"{}\" has an unknown type; give ub, b, uw, w, ud, d, uq, q, hf, f or df.", text)};
    }
  } else if (!scanner.rest().empty()) {
    return Error{fmt::format("\"{}\" has extra characters at its end; a complete operand is r10.2<8;8,1>:f.", text)};
  }
  if ((out.sub + 1u) * eu::traits(out.type).bytes > eu::kGrfBytes) {
    return Error{fmt::format("\"{}\" starts beyond the end of its register.", text)};
  }
  return out;
}

std::string print_region(const RegisterRegion& region) {
  return fmt::format("{}{}.{}<{};{},{}>:{}", region.accumulator ? "acc" : "r", region.reg, region.sub,
                     region.region.vertical, region.region.width, region.region.horizontal,
                     eu::text::name_in(eu::text::kTypes, eu::text::number(region.type)));
}

Result<std::vector<uint64_t>> read_region(const eu::Thread& thread, const RegisterRegion& region, unsigned count) {
  const std::span<const std::byte> file =
      region.accumulator ? std::span<const std::byte>(thread.accumulator) : std::span<const std::byte>(thread.grf);
  const size_t bytes = eu::traits(region.type).bytes;
  const size_t base = region.reg * eu::kGrfBytes + region.sub * bytes;
  std::vector<uint64_t> values;
  for (size_t i = 0; i < count; ++i) {
    const size_t element =
        i / region.region.width * region.region.vertical + i % region.region.width * region.region.horizontal;
    const size_t at = base + element * bytes;
    if (at + bytes > file.size()) {
      return Error{fmt::format("element {} of {} lies beyond the last register.", i, print_region(region))};
    }
    uint64_t bits = 0;
    std::memcpy(&bits, file.data() + at, bytes);
    values.push_back(bits);
  }
  return values;
}

std::string value_text(eu::Type type, uint64_t bits) {
  const eu::TypeTraits traits = eu::traits(type);
  if (!traits.is_float) {
    return traits.is_signed ? fmt::format("{}", as_signed(type, bits)) : fmt::format("{:#x}", bits);
  }
  const double value = eu::float_from_bits(type, bits);
  // A float is printed with the digits of a float, not of a double.
  return type == eu::Type::df ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string value_json(eu::Type type, uint64_t bits) {
  const eu::TypeTraits traits = eu::traits(type);
  if (!traits.is_float) {
    return traits.is_signed ? fmt::format("{}", as_signed(type, bits)) : fmt::format("{}", bits);
  }
  const std::string text = value_text(type, bits);
  return std::isfinite(eu::float_from_bits(type, bits)) ? text : fmt::format("\"{}\"", text);
}

}  // namespace halogen::debugger
