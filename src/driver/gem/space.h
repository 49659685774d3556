// An address space: the address of each bound buffer. On chips where all contexts share one it uses the global table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "driver/gem/buffer.h"
#include "driver/hw/gpu.h"

namespace halogen::driver {

class Space {
 public:
  explicit Space(Gpu& gpu);
  ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  uint64_t size() const { return size_; }
  const std::shared_ptr<PageTables>& tables() const { return tables_; }

  // Returns the address of a bound buffer.
  std::optional<uint64_t> find(const Buffer& buffer) const;
  // Binds a buffer. Returns 0, -ENOSPC (no free range) or -ENOMEM. `room`: the minimum range to reserve, for a buffer
  // with padding; likewise in the next two functions.
  int bind(const BufferRef& buffer, uint64_t alignment, uint64_t limit, uint64_t room = 0);
  // Binds a buffer at a fixed address; idle buffers there are evicted. Returns 0, -EINVAL (invalid address), -ENOSPC (a
  // busy buffer is there) or -ENOMEM.
  int bind_at(const BufferRef& buffer, uint64_t address, uint64_t room = 0);
  // Binds an unbound buffer at this address if the range is free.
  bool bind_if_free(const BufferRef& buffer, uint64_t address, uint64_t room = 0);
  // Returns the range that the buffer occupies. 0: not bound.
  uint64_t room_of(const Buffer& buffer) const;
  void unbind(Buffer& buffer);
  // Evicts idle buffers that `may_go` accepts, from an address on, and looks at no more than `count`. Returns where to
  // continue. No value: at the end.
  std::optional<uint64_t> evict_idle(const std::function<bool(const Buffer&)>& may_go, uint64_t from, size_t count);
  // True: the device uses a buffer in this range.
  bool is_busy(uint64_t address, uint64_t bytes) const;

 private:
  int place(const BufferRef& buffer, uint64_t address, uint64_t room);
  bool evict(uint64_t address, uint64_t bytes);
  PageAllocator& places() { return own_places_ ? *own_places_ : gpu_.global().places(); }

  Gpu& gpu_;
  uint64_t size_;
  std::shared_ptr<PageTables> tables_;
  std::optional<PageAllocator> own_places_;
  std::map<uint64_t, Buffer*> bound_;
  struct Place {
    Buffer* buffer;
    uint64_t address;
    uint64_t bytes;
  };
  std::unordered_map<const Buffer*, Place> where_;
};

}  // namespace halogen::driver
