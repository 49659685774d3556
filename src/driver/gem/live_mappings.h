// Which parts of this process's memory show buffers. A mapping keeps its buffer, as the kernel's do: content stays when
// the last handle is closed, until the last page is unmapped.
//
// Left out: mappings of other processes, a child's after fork(2) among them: they show what becomes of the memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "driver/gem/buffer.h"

namespace halogen::driver {

// Has a lock of its own, which is held for a moment only. Buffers die under the driver's: so those that are taken out
// go back to it (Driver::release).
class LiveMappings {
 public:
  // Gives what earlier mappings kept that lay there: somebody has unmapped them in secret.
  std::vector<BufferRef> add(uint64_t address, uint64_t bytes, const BufferRef& buffer);
  // Nothing is mapped there any more, or soon. What those mappings kept.
  std::vector<BufferRef> take(uint64_t address, uint64_t bytes);

  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  bool touches(uint64_t address, uint64_t bytes) const;
  bool shows(const Buffer& buffer) const;

 private:
  struct Piece {
    uint64_t end;
    BufferRef buffer;
  };
  using Pieces = std::map<uint64_t, Piece>;
  Pieces::const_iterator first_at(uint64_t address) const;

  mutable std::mutex guard_;
  Pieces pieces_;
  std::atomic<size_t> count_{0};
};

}  // namespace halogen::driver
