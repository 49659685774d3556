// An address space: which buffer lies where. On chips where all contexts share one it is laid over the global table.
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

  // Where the buffer is, if it is.
  std::optional<uint64_t> find(const Buffer& buffer) const;
  // 0, or a negative errno: ENOSPC when there is no place, ENOMEM when there is no memory.
  // `room`: what it takes at least, for a buffer that wants nothing close behind it; so in the next two.
  int bind(const BufferRef& buffer, uint64_t alignment, uint64_t limit, uint64_t room = 0);
  // At this address and no other; idle buffers in the way leave. EINVAL: not an address; ENOSPC: one that works is
  // there.
  int bind_at(const BufferRef& buffer, uint64_t address, uint64_t room = 0);
  // A buffer that is nowhere yet gets this place, if it is free.
  bool bind_if_free(const BufferRef& buffer, uint64_t address, uint64_t room = 0);
  // What the buffer takes where it is; 0: it is nowhere.
  uint64_t room_of(const Buffer& buffer) const;
  void unbind(Buffer& buffer);
  // All that the device does not use and that the caller can do without leave. False: there were none.
  bool evict_idle(const std::function<bool(const Buffer&)>& may_go);
  // Does the device use a buffer that lies here?
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
