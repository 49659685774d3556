// The second level of translation of an advanced context with nesting: guest physical to host physical addresses
// through three or four levels, pages of 4 KB, 2 MB and 1 GB (VT-d 2.x; entries in spec/structs/vtd.toml). An entry
// that allows neither reads nor writes is not present. Rights are the AND of all levels. Not modelled: five levels,
// memory types and snoop control of the second level.
#pragma once

#include <array>
#include <cstdint>

#include "memory/walker.h"
#include "spec/descriptors.h"

namespace halogen::memory {

class SecondLevel final : public NestedTranslation {
 public:
  struct Setup {
    uint64_t table = 0;
    uint8_t levels = 4;
    uint8_t host_address_bits = 39;
    bool execute_enable = false;  // SLEE: execute bits apply; otherwise readable pages are executable
    bool operator==(const Setup&) const = default;
  };

  SecondLevel(spec::GenId gen, const Setup& setup);
  const Setup& setup() const { return setup_; }

  Result translate(const PhysicalMemory& memory, uint64_t guest_address) const override;

 private:
  // Masks of one kind of entry, from its description.
  struct Shape {
    uint64_t readable = 0;
    uint64_t writable = 0;
    uint64_t executable = 0;
    uint64_t page_size = 0;
    uint64_t address = 0;
    uint64_t reserved = 0;
  };
  static Shape shape_of(spec::StructId id, spec::GenId gen, unsigned host_address_bits);

  Setup setup_;
  Shape table_;
  std::array<Shape, 3> leaf_;  // 4 KB, 2 MB, 1 GB
};

}  // namespace halogen::memory
