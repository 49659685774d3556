// Reads graphics memory for the display, page by page, through the global table. One reader serves one pass over a
// surface (a frame): a page that cannot be read gives zeros and is reported once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "memory/address_space.h"
#include "memory/memory_clients.h"

namespace halogen::display {

// Provides the address spaces of the display's streams.
class DisplayMemory {
 public:
  virtual ~DisplayMemory() = default;
  virtual memory::AddressSpace& display_space(
      memory::Stream stream) = 0;  // stream: display A, display B, overlay or cursor
};

class DisplayReader {
 public:
  explicit DisplayReader(memory::AddressSpace& space) : space_(space) {}

  // Addresses have 32 bits and wrap.
  void read(uint64_t address, std::span<std::byte> into);
  uint64_t missing_pages() const { return missing_; }

 private:
  const std::byte* page(uint64_t number);

  memory::AddressSpace& space_;
  std::unordered_map<uint64_t, const std::byte*> pages_;  // null: unmapped
  uint64_t last_ = ~uint64_t{0};
  const std::byte* last_page_ = nullptr;
  uint64_t missing_ = 0;
};

}  // namespace halogen::display
