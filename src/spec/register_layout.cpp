#include "spec/register_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/field_visitor.h"

namespace halogen::spec {
namespace {

// Fields of these items do not cross dwords.
class Lister final : public FieldVisitor {
 public:
  Lister(char letter, unsigned start) : letter_(letter), start_(start) {}

  void field(const FieldDesc& field, unsigned first_bit, uint64_t /*raw*/) override {
    const unsigned low = first_bit % 32;
    const std::string bits = field.width == 32  ? ""
                             : field.width == 1 ? fmt::format("[{}]", low)
                                                : fmt::format("[{}:{}]", low + field.width - 1, low);
    fields_.push_back(
        {register_name(letter_, start_ + first_bit / 32) + bits, fmt::format("{}{}", element_, field.name)});
  }
  void begin_element(const GroupDesc& group, unsigned index) override {
    element_ = fmt::format("{}[{}].", group.name, index);
  }
  void end_element() override { element_.clear(); }

  std::vector<RegisterField> take() { return std::move(fields_); }

 private:
  char letter_;
  unsigned start_;
  std::string element_;
  std::vector<RegisterField> fields_;
};

}  // namespace

std::vector<const PayloadDesc*> payload_parts(GenId gen, ThreadKind kind) {
  std::vector<const PayloadDesc*> parts;
  for (const PayloadDesc* part : payloads()) {
    if (part->belongs_to(kind) && part->layout(gen) != nullptr) {
      parts.push_back(part);
    }
  }
  std::ranges::sort(parts, {}, &PayloadDesc::start);
  return parts;
}

std::string register_name(char letter, unsigned dword) {
  return fmt::format("{}{}.{}", letter, dword / kRegisterDwords, dword % kRegisterDwords);
}

std::vector<RegisterField> register_fields(const ItemDesc& item, GenId gen, unsigned dwords, char letter,
                                           unsigned start) {
  Lister lister(letter, start);
  visit_fields(item, gen, std::vector<uint32_t>(dwords), lister);
  return lister.take();
}

}  // namespace halogen::spec
