// The guest's memory, mapped in place. The machine sends its map again whenever it changes. A file is mapped once and
// stays mapped, so that addresses that the device keeps remain valid. Guests cannot reach anything else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "proxy_link.h"

namespace halogen::vm {

class GuestMemory {
 public:
  GuestMemory() = default;
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;
  ~GuestMemory();

  Result<void> set_map(const MemoryMap& map, std::span<const File> files);

  // Returns the bytes from an address on. Empty: a part of them is not contiguous memory.
  std::span<std::byte> at(uint64_t address, uint64_t bytes) const;
  bool read(uint64_t address, std::span<std::byte> into) const;
  bool write(uint64_t address, std::span<const std::byte> from) const;

 private:
  struct Mapping {  // of a whole file
    dev_t device;
    ino_t number;
    std::byte* memory;
    uint64_t bytes;
  };
  struct Piece {
    uint64_t address;
    uint64_t bytes;
    std::byte* memory;
  };

  Result<Mapping> mapping_of(const File& file);
  const Piece* piece_at(uint64_t address) const;

  std::vector<Mapping> mappings_;
  std::vector<Piece> pieces_;
};

}  // namespace halogen::vm
