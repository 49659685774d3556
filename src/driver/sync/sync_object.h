// Sync objects: containers for a fence or a timeline, which programs fill, reset and wait for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/descriptor.h"
#include "driver/gem/file_key.h"
#include "driver/share/descriptor_charge.h"
#include "driver/share/shared_object.h"
#include "driver/sync/fence.h"

namespace halogen::driver {

class SyncObject {
 public:
  // Null: nothing was promised yet.
  const FenceRef& fence() {
    look();
    return fence_;
  }
  void set(FenceRef fence);  // null: resets the object
  void add_point(FenceRef fence, uint64_t point);
  // Returns the fence to wait for. Null: nothing yet. Point 0 means the whole object.
  FenceRef find(uint64_t point) { return TimelinePoint::find(fence(), point); }

  bool is_shared() const { return static_cast<bool>(file_); }
  int file() const { return file_.number(); }
  // Moves the content to a shared file. `fills`: the file is new and gets the present content.
  bool share(PeerProcesses& peers, Watch watch, Descriptor file, bool fills);

  SyncObject() = default;
  SyncObject(const SyncObject&) = delete;
  SyncObject& operator=(const SyncObject&) = delete;

 private:
  void look() {
    if (shared_ && shared_->is_old()) take();
  }
  void take();
  void apply(SharedObject::Change change, FenceRef fence, uint64_t point);
  void change(SharedObject::Change change, FenceRef fence, uint64_t point);

  FenceRef fence_;
  std::shared_ptr<SharedObject> shared_;  // null: not shared
  Descriptor file_;
  DescriptorCharge charge_;  // of file_
};
using SyncObjectRef = std::shared_ptr<SyncObject>;

// The timelines that one call names, perhaps many times. Each counts as it was when the call named it first.
class NamedTimelines {
 public:
  TimelineIndex& of(const SyncObjectRef& object) {
    const auto known = all_.find(object);
    return (known != all_.end() ? known : all_.try_emplace(object, object->fence()).first)->second;
  }

 private:
  std::unordered_map<SyncObjectRef, TimelineIndex> all_;
};

// Sync objects as descriptors of an anonymous file, through which processes share one (shared_object.h).
class SyncObjectFiles {
 public:
  SyncObjectFiles(PeerProcesses& peers, Watch watch) : peers_(peers), watch_(std::move(watch)) {}

  int create(const SyncObjectRef& object);  // a descriptor, or a negative errno
  // Null: not a sync object, or out of memory.
  SyncObjectRef find(int descriptor);
  static bool is_one(int descriptor);

 private:
  PeerProcesses& peers_;
  Watch watch_;
  std::map<FileKey, std::weak_ptr<SyncObject>> known_;
};

}  // namespace halogen::driver
