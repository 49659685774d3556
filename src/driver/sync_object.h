// Sync objects: places that hold a fence, or the points of a timeline, and that programs fill, empty and wait for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "driver/fence.h"
#include "driver/file_key.h"

namespace halogen::driver {

struct SyncObject {
  FenceRef fence;  // null: nothing was promised yet

  void add_point(FenceRef its_fence, uint64_t point) { fence = TimelinePoint::add(fence, std::move(its_fence), point); }
  // What to wait for; null: nothing yet. Point 0 means all.
  FenceRef find(uint64_t point) const { return TimelinePoint::find(fence, point); }
};
using SyncObjectRef = std::shared_ptr<SyncObject>;

// Sync objects as descriptors. A descriptor keeps its object, and is one end of a pipe: the other end tells when the
// last copy of it is closed. Other processes cannot do anything with it.
class SyncObjectFiles {
 public:
  SyncObjectFiles() = default;
  ~SyncObjectFiles();
  SyncObjectFiles(const SyncObjectFiles&) = delete;
  SyncObjectFiles& operator=(const SyncObjectFiles&) = delete;

  int create(SyncObjectRef object);  // a descriptor, or a negative errno
  SyncObjectRef find(int descriptor) const;

 private:
  void forget_closed();

  struct Entry {
    SyncObjectRef object;
    int other_end = -1;
  };
  std::map<FileKey, Entry> entries_;
  size_t look_at_ = 16;  // so many entries
};

}  // namespace halogen::driver
