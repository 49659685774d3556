// Fences as descriptors. A sync file is the read end of a pipe. When the fence signals, a report is written to the
// pipe, so that poll() works in any process and for copies of the descriptor. While the fence is open this driver finds
// it by the pipe's inode; afterwards, and in other processes, the report holds the status and the fences.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "driver/gem/file_key.h"
#include "driver/share/descriptor_charge.h"
#include "driver/share/shared_fences.h"
#include "driver/sync/fence.h"

namespace halogen::driver {

struct SyncFile {
  FenceRef fence;
  std::string name;
};

// The sync file of another process: signals when the pipe becomes readable.
class RemoteFence final : public WatchedFence {
 public:
  RemoteFence(Descriptor descriptor, DescriptorCharge charge)
      : descriptor_(std::move(descriptor)), charge_(std::move(charge)) {}
  int descriptor() const override { return descriptor_.number(); }
  void look() override;  // the pipe is readable, or has no writer
  std::string driver_name() const override { return "i915"; }
  std::string timeline_name() const override { return "other process"; }

 private:
  Descriptor descriptor_;
  DescriptorCharge charge_;
};

class SyncFiles {
 public:
  explicit SyncFiles(Watch watch);

  // Returns a descriptor for the program, or a negative errno. Without a name it is named after its fence.
  int create(const FenceRef& fence, std::string name = {});
  // No value: not a sync file.
  std::optional<SyncFile> find(int descriptor);

 private:
  struct Open {
    SyncFile file;
    Descriptor other_end;
    DescriptorCharge charge;  // of the other end
  };
  struct State {
    std::map<FileKey, Open> open;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::map<FileKey, std::weak_ptr<RemoteFence>> remote_fences_;
  Watch watch_;
};

// Returns the status that programs see: 0 while open, 1 when done, or the error.
int status_of(const Fence& fence);

}  // namespace halogen::driver
