// Field values and positions as text.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/bits.h"
#include "spec/field_visitor.h"
#include "spec/pack_result.h"

namespace halogen::spec {

uint64_t field_value(const FieldDesc& field, uint64_t raw) {
  if (is_in_place(field.type)) return raw << (field.first_bit % 32);
  if (field.type == FieldType::sint) return static_cast<uint64_t>(sign_extend(raw, field.width));
  return raw;
}

double fixed_value(const FieldDesc& field, uint64_t raw) {
  if (field.type == FieldType::float32) return std::bit_cast<float>(static_cast<uint32_t>(raw));
  const double whole =
      field.type == FieldType::sfixed ? static_cast<double>(sign_extend(raw, field.width)) : static_cast<double>(raw);
  return std::ldexp(whole, -static_cast<int>(field.fraction_bits));
}

std::string format_value(const FieldDesc& field, GenId gen, uint64_t raw) {
  constexpr unsigned kDecimalWidth = 16;  // narrower numbers are counts, wider ones are mostly bit patterns
  switch (field.type) {
    case FieldType::uint:
    case FieldType::structure:
    case FieldType::mbo:
      return field.width < kDecimalWidth ? fmt::format("{}", raw) : fmt::format("{:#x}", raw);
    case FieldType::sint:
      return fmt::format("{}", sign_extend(raw, field.width));
    case FieldType::boolean:
      return raw != 0 ? "true" : "false";
    case FieldType::float32:
    case FieldType::ufixed:
    case FieldType::sfixed:
      return fmt::format("{}", fixed_value(field, raw));
    case FieldType::gpu_va:
    case FieldType::ggtt:
    case FieldType::phys:
      return fmt::format("{:#018x}", field_value(field, raw));
    case FieldType::offset:
    case FieldType::reg:
      return fmt::format("{:#x}", field_value(field, raw));
    case FieldType::enumeration: {
      const std::string_view name = field.enumeration->name_of(raw, gen);
      return name.empty() ? fmt::format("{}", raw) : fmt::format("{} ({})", name, raw);
    }
  }
  return {};
}

std::string format_position(unsigned first_bit, unsigned width) {
  const unsigned dword = first_bit / 32;
  const unsigned low = first_bit % 32;
  return width == 1 ? fmt::format("{}[{}]", dword, low) : fmt::format("{}[{}:{}]", dword, low + width - 1, low);
}

namespace {

class LinePrinter final : public FieldVisitor {
 public:
  LinePrinter(GenId gen, std::string_view indent) : gen_(gen), indent_(indent) {}

  void field(const FieldDesc& field, unsigned, uint64_t raw) override {
    fmt::format_to(std::back_inserter(text_), "{}{}{} = {}\n", indent_, prefix_, field.name,
                   format_value(field, gen_, raw));
  }
  void begin_struct(const FieldDesc& field, unsigned) override { push(fmt::format("{}.", field.name)); }
  void end_struct() override { pop(); }
  void begin_element(const GroupDesc& group, unsigned index) override {
    push(fmt::format("{}[{}].", group.name, index));
  }
  void end_element() override { pop(); }
  void reserved_set(unsigned first_bit, unsigned width, uint64_t value, bool must_be_one) override {
    fmt::format_to(std::back_inserter(text_), "{}{} {} = {:#x}\n", indent_, must_be_one ? "must be one:" : "reserved",
                   format_position(first_bit, width), value);
  }
  std::string take() { return std::move(text_); }

 private:
  void push(const std::string& part) {
    lengths_.push_back(prefix_.size());
    prefix_ += part;
  }
  void pop() {
    prefix_.resize(lengths_.back());
    lengths_.pop_back();
  }

  GenId gen_;
  std::string_view indent_;
  std::string prefix_;
  std::vector<size_t> lengths_;
  std::string text_;
};

}  // namespace

std::string format_fields(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords, std::string_view indent) {
  LinePrinter printer(gen, indent);
  visit_fields(item, gen, dwords, printer);
  return printer.take();
}

std::string describe(const PackResult& result) {
  switch (result.fault) {
    case PackFault::none:
      return "packed";
    case PackFault::no_such_item:
      return "this generation does not have the item";
    case PackFault::wrong_length:
      return "the buffer's size is not a length of the item";
    case PackFault::too_wide:
      return fmt::format("field {}: the value does not fit", result.field);
    case PackFault::absent:
      return fmt::format("field {}: this generation does not have it", result.field);
    case PackFault::beyond_end:
      return fmt::format("field {}: beyond the end of the item", result.field);
  }
  return {};
}

}  // namespace halogen::spec
