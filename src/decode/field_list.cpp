#include "decode/field_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/field_visitor.h"

namespace halogen::decode {
namespace {

class Collector final : public spec::FieldVisitor {
 public:
  Collector(FieldList& list, const spec::ItemDesc& item) : list_(list), here_{&item, 0, 0} {}

  void field(const spec::FieldDesc& field, unsigned first_bit, uint64_t raw) override {
    std::string path = path_;
    append(path, field.name);
    list_.fields.push_back({&field, here_.owner, std::move(path), here_.instance, first_bit, raw});
  }

  void begin_struct(const spec::FieldDesc& field, unsigned) override {
    enter(field.structure);
    append(path_, field.name);
  }
  void end_struct() override { leave(); }

  void begin_element(const spec::GroupDesc& group, unsigned index) override {
    enter(here_.owner);
    append(path_, fmt::format("{}[{}]", group.name, index));
  }
  void end_element() override { leave(); }

  void reserved_set(unsigned first_bit, unsigned width, uint64_t value, bool must_be_one) override {
    list_.reserved.push_back({first_bit, width, value, must_be_one});
  }

 private:
  struct Scope {
    const spec::ItemDesc* owner;
    unsigned instance;
    size_t path_size;  // of the scope around it
  };

  static void append(std::string& path, std::string_view name) {
    if (!path.empty()) path += '.';
    path += name;
  }
  void enter(const spec::ItemDesc* owner) {
    saved_.push_back(here_);
    here_ = {owner, ++instances_, path_.size()};
  }
  void leave() {
    path_.resize(here_.path_size);
    here_ = saved_.back();
    saved_.pop_back();
  }

  FieldList& list_;
  Scope here_;
  std::vector<Scope> saved_;
  std::string path_;
  unsigned instances_ = 0;
};

}  // namespace

const FieldValue* FieldList::beside(const FieldValue& near, std::string_view name) const {
  const auto it = std::find_if(fields.begin(), fields.end(), [&](const FieldValue& field) {
    return field.instance == near.instance && field.desc->name == name;
  });
  return it == fields.end() ? nullptr : &*it;
}

FieldList list_fields(const spec::ItemDesc& item, spec::GenId gen, std::span<const uint32_t> dwords) {
  FieldList list;
  Collector collector(list, item);
  spec::visit_fields(item, gen, dwords, collector);
  return list;
}

uint64_t value_of(const spec::ItemDesc& item, spec::GenId gen, std::span<const uint32_t> dwords,
                  std::string_view name) {
  const spec::FieldDesc* field = spec::find_field(item, gen, name);
  return field == nullptr ? 0 : spec::field_value(*field, spec::read_field(*field, dwords));
}

}  // namespace halogen::decode
