// The parts of this process's memory that map buffers. A mapping keeps its buffer alive, as in Linux, so the content
// stays after the last handle is closed, until the last page is unmapped.
//
// Not tracked: mappings in other processes, including children after fork(2). Those show files of one buffer each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "driver/gem/buffer.h"

namespace halogen::driver {

// Has its own lock, which is held only briefly. Buffers must be destroyed under the driver's lock: pass the returned
// references to Driver::release.
class LiveMappings {
 public:
  // Returns the buffers of earlier mappings in that range, which were unmapped without notice.
  std::vector<BufferRef> add(uint64_t address, uint64_t bytes, const BufferRef& buffer);
  // Removes the mappings in a range and returns their buffers.
  std::vector<BufferRef> take(uint64_t address, uint64_t bytes);

  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  bool touches(uint64_t address, uint64_t bytes) const;
  bool shows(const Buffer& buffer) const;
  std::vector<BufferRef> buffers() const;  // each once

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
