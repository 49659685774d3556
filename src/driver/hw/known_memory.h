// Parts of another process's memory that were sent with its call and need not be fetched again.
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

// Provides them to reads of this thread's UserProcess, during its lifetime or until a write there.
class KnownPieces {
 public:
  explicit KnownPieces(const std::array<KnownMemory, 2>& pieces);
  ~KnownPieces();
  KnownPieces(const KnownPieces&) = delete;
  KnownPieces& operator=(const KnownPieces&) = delete;
};

}  // namespace halogen::driver
