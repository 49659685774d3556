// Helpers for tests that hold for every described item on every generation.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/bits.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/payload.h"
#include "spec/pci.h"

namespace halogen::spec::test {

struct Sized {
  const ItemDesc* item;
  GenId gen;
  size_t dwords;
  const CommandDesc* command;  // or null
  std::string label() const { return std::string(item->name) + " " + std::string(name_of(gen)); }
};

// Returns every item on every generation, in a few of its lengths.
inline std::vector<Sized> every_item() {
  std::vector<Sized> out;
  for (size_t g = 0; g < kGenCount; ++g) {
    const auto gen = static_cast<GenId>(g);
    for (const CommandDesc* c : commands()) {
      if (c->layout(gen) == nullptr) continue;
      const LengthRule& length = c->length_of_gen[g];
      const size_t longest = std::min<size_t>(length.max, length.min + 67u);
      for (const size_t n : {size_t{length.min}, (length.min + longest) / 2, longest}) {
        if (out.empty() || out.back().command != c || out.back().dwords != n) out.push_back({c, gen, n, c});
      }
    }
    for (const StructDesc* s : structs()) {
      if (s->layout(gen) != nullptr) out.push_back({s, gen, s->dwords_of_gen[g], nullptr});
    }
    for (const PayloadDesc* p : payloads()) {
      if (p->layout(gen) != nullptr) out.push_back({p, gen, p->dwords_of_gen[g], nullptr});
    }
    for (const MessageHeaderDesc* h : message_headers()) {
      if (h->layout(gen) != nullptr) out.push_back({h, gen, h->dwords_of_gen[g], nullptr});
    }
    for (const PciRegisterDesc* r : pci_registers()) {
      if (r->layout(gen) != nullptr) out.push_back({r, gen, 1, nullptr});
    }
    for (const RegisterDesc* r : registers()) {
      if (r->layout(gen) != nullptr) out.push_back({r, gen, r->width_bits / size_t{32}, nullptr});
    }
  }
  return out;
}

// Sets the bits of every field, including groups and nested structures, up to the end of the item.
inline void mark(std::vector<uint32_t>& mask, unsigned first, unsigned width) {
  for (unsigned i = first; i < first + width && i / 32 < mask.size(); ++i) mask[i / 32] |= 1u << i % 32;
}

struct Masks {
  std::vector<uint32_t> fields, ones, ignored;
};

inline void collect(const ItemDesc& item, GenId gen, unsigned base, Masks& masks);

inline void collect(std::span<const FieldDesc> fields, std::span<const ReservedDesc> reserved, GenId gen, unsigned base,
                    Masks& masks) {
  for (const FieldDesc& f : fields) {
    if (f.structure != nullptr) {
      collect(*f.structure, gen, base + f.first_bit, masks);
    } else {
      mark(masks.fields, base + f.first_bit, f.width);
    }
  }
  for (const ReservedDesc& r : reserved) {
    if (r.must_be_one) mark(masks.ones, base + r.first_bit, r.width);
    if (r.ignored) mark(masks.ignored, base + r.first_bit, r.width);
  }
}

inline void collect(const ItemDesc& item, GenId gen, unsigned base, Masks& masks) {
  const Layout& layout = *item.layout(gen);
  collect(layout.fields, layout.reserved, gen, base, masks);
  for (const GroupDesc& g : layout.groups) {
    const size_t end = masks.fields.size() * 32;
    const size_t fit = end > base + g.first_bit ? (end - base - g.first_bit) / g.element_bits : 0;
    const size_t count = g.count == 0 ? fit : std::min<size_t>(g.count, fit);
    for (size_t i = 0; i < count; ++i) {
      collect(g.fields, g.reserved, gen, static_cast<unsigned>(base + g.first_bit + i * g.element_bits), masks);
    }
  }
}

inline Masks masks_of(const Sized& s) {
  Masks masks{std::vector<uint32_t>(s.dwords), std::vector<uint32_t>(s.dwords), std::vector<uint32_t>(s.dwords)};
  collect(*s.item, s.gen, 0, masks);
  return masks;
}

// Returns the header bits that pack() writes itself.
inline uint32_t header_of(const Sized& s) {
  if (s.command == nullptr) return 0;
  const auto g = static_cast<size_t>(s.gen);
  const LengthRule& length = s.command->length_of_gen[g];
  uint32_t header = s.command->match_of_gen[g].value;
  if (length.fixed == 0) header |= static_cast<uint32_t>(s.dwords - length.bias) << length.first_bit;
  return header;
}

// Creates a valid item with field bits from `bits`.
template <class Source>
std::vector<uint32_t> make(const Sized& s, const Masks& masks, Source&& bits) {
  std::vector<uint32_t> out(s.dwords);
  for (size_t i = 0; i < out.size(); ++i) out[i] = (static_cast<uint32_t>(bits()) & masks.fields[i]) | masks.ones[i];
  if (!out.empty()) out[0] |= header_of(s);
  return out;
}

}  // namespace halogen::spec::test
