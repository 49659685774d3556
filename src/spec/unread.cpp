#include "spec/unread.h"

#include <algorithm>

#include "base/bits.h"

namespace halogen::spec {

const UnreadDesc* UnreadFields::note(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords) {
  const Layout* const layout = item.layout(gen);
  if (layout == nullptr) {
    return nullptr;
  }
  const UnreadDesc* first = note(layout->unread, dwords, 0);
  for (const GroupDesc& group : layout->groups) {
    if (group.unread.empty()) {
      continue;
    }
    const size_t end = dwords.size() * 32;
    const size_t fit = end > group.first_bit ? (end - group.first_bit) / group.element_bits : 0;
    const size_t count = group.count == 0 ? fit : std::min<size_t>(group.count, fit);
    for (size_t i = 0; i < count; ++i) {
      const auto base = static_cast<unsigned>(group.first_bit + i * group.element_bits);
      const UnreadDesc* const found = note(group.unread, dwords, base);
      first = first == nullptr ? found : first;
    }
  }
  return first;
}

const UnreadDesc* UnreadFields::note(std::span<const UnreadDesc> fields, std::span<const uint32_t> dwords,
                                     unsigned base) {
  const UnreadDesc* first = nullptr;
  for (const UnreadDesc& field : fields) {
    if (base + field.first_bit + field.width > dwords.size() * 32 ||
        std::ranges::find(field.rest, get_bits(dwords, base + field.first_bit, field.width)) != field.rest.end()) {
      continue;
    }
    if (field.when_width == 0 ||
        (get_bits(dwords, base + field.when_bit, field.when_width) == field.when_value) == field.when_equal) {
      keep(field);
      first = first == nullptr ? &field : first;
    }
  }
  return first;
}

void UnreadFields::keep(const UnreadDesc& field) {
  if (std::ranges::find(seen_, &field) == seen_.end()) {
    seen_.push_back(&field);
  }
}

void UnreadFields::merge(const UnreadFields& other) {
  for (const UnreadDesc* const field : other.seen_) {
    keep(*field);
  }
}

void UnreadFields::report(FidelityReport& report) const {
  for (const UnreadDesc* const field : seen_) {
    report.touch(FidelityKind::field, field->name, FidelityClass::approximate, field->reason);
  }
}

}  // namespace halogen::spec
