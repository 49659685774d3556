// The guest's memory, mapped in place. The machine sends its map again whenever it changes. A file is mapped once, and
// unmapped when no piece of the map lies in it any more. Guests cannot reach anything else. Only memory files (memfd)
// whose size is sealed are mapped, because the machine could take pages of other files away while the device reads
// them, which would end this process by SIGBUS.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
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

  struct Piece {
    uint64_t address;
    uint64_t bytes;
    std::byte* memory;
    bool operator==(const Piece&) const = default;
  };
  // Replaces the map. `revoke` is called if the map has changed. The new map holds by then, and the memory of pieces
  // that are gone is unmapped afterwards.
  using Revoke = std::function<void(std::span<const Piece> gone)>;
  Result<void> set_map(const MemoryMap& map, std::span<const File> files, const Revoke& revoke);

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

  Result<Mapping> mapping_of(const File& file);
  const Piece* piece_at(uint64_t address) const;
  void unmap_unused();

  std::vector<Mapping> mappings_;
  std::vector<Piece> pieces_;
};

}  // namespace halogen::vm
