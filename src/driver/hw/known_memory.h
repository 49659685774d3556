// Pieces of another process's memory that came along with its call: they need not be fetched again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halogen::driver {

struct KnownMemory {
  uint64_t address = 0;
  std::span<const std::byte> bytes{};
};

// For what this thread reads of a UserProcess, as long as this lives or until it writes there.
class KnownPieces {
 public:
  explicit KnownPieces(const std::array<KnownMemory, 2>& pieces);
  ~KnownPieces();
  KnownPieces(const KnownPieces&) = delete;
  KnownPieces& operator=(const KnownPieces&) = delete;
};

}  // namespace halogen::driver
