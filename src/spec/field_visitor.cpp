#include "spec/field_visitor.h"

#include <algorithm>

#include "base/bits.h"

namespace halogen::spec {

namespace {

// Walks one item at a bit offset inside a span of dwords.
class Walk {
 public:
  Walk(GenId gen, std::span<const uint32_t> dwords, FieldVisitor& visitor)
      : gen_(gen),
        dwords_(dwords),
        end_(static_cast<unsigned>(std::min<size_t>(dwords.size(), 0x10000) * 32)),
        visitor_(visitor) {}

  void item(const ItemDesc& desc, unsigned base) {
    const Layout* layout = desc.layout(gen_);
    if (layout == nullptr) return;
    size_t next_group = 0;
    for (const FieldDesc& f : layout->fields) {
      while (next_group < layout->groups.size() && layout->groups[next_group].first_bit < f.first_bit) {
        group(layout->groups[next_group++], base);
      }
      field(f, base);
    }
    for (; next_group < layout->groups.size(); ++next_group) group(layout->groups[next_group], base);
    reserved(layout->reserved, base);
  }

 private:
  void field(const FieldDesc& f, unsigned base) {
    const unsigned first = base + f.first_bit;
    if (first >= end_) return;
    if (f.type == FieldType::structure) {
      visitor_.begin_struct(f, first);
      item(*f.structure, first);
      visitor_.end_struct();
      return;
    }
    visitor_.field(f, first, get_bits(dwords_, first, f.width));
  }

  void group(const GroupDesc& g, unsigned base) {
    const unsigned start = base + g.first_bit;
    if (start >= end_) return;
    const unsigned fit = (end_ - start) / g.element_bits;
    const unsigned count = g.count == 0 ? fit : std::min<unsigned>(g.count, fit);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned first = start + i * g.element_bits;
      visitor_.begin_element(g, i);
      for (const FieldDesc& f : g.fields) field(f, first);
      reserved(g.reserved, first);
      visitor_.end_element();
    }
  }

  void reserved(std::span<const ReservedDesc> rows, unsigned base) {
    for (const ReservedDesc& r : rows) {
      if (r.ignored) continue;
      const unsigned last = std::min(base + r.first_bit + r.width, end_);
      for (unsigned first = base + r.first_bit; first < last; first += 64) {
        const unsigned width = std::min(last - first, 64u);
        const uint64_t value = get_bits(dwords_, first, width);
        const uint64_t wanted = r.must_be_one ? low_mask(width) : 0;
        if (value != wanted) visitor_.reserved_set(first, width, value, r.must_be_one);
      }
    }
  }

  GenId gen_;
  std::span<const uint32_t> dwords_;
  unsigned end_;
  FieldVisitor& visitor_;
};

class ReservedSeen final : public FieldVisitor {
 public:
  bool seen() const { return seen_; }
  void field(const FieldDesc&, unsigned, uint64_t) override {}
  void reserved_set(unsigned, unsigned, uint64_t, bool) override { seen_ = true; }

 private:
  bool seen_ = false;
};

}  // namespace

void visit_fields(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords, FieldVisitor& visitor) {
  Walk(gen, dwords, visitor).item(item, 0);
}

bool has_reserved_set(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords) {
  ReservedSeen visitor;
  visit_fields(item, gen, dwords, visitor);
  return visitor.seen();
}

uint64_t read_field(const FieldDesc& field, std::span<const uint32_t> dwords) {
  return get_bits(dwords, field.first_bit, std::min<unsigned>(field.width, 64));
}

const FieldDesc* find_field(const ItemDesc& item, GenId gen, std::string_view name) {
  const Layout* layout = item.layout(gen);
  if (layout == nullptr) return nullptr;
  for (const FieldDesc& f : layout->fields) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

}  // namespace halogen::spec
