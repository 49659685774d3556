// Fences as descriptors. A sync file is the reading end of a pipe: when its fence is done, a report is written into the
// pipe. So poll() works in any process, and copies of the descriptor stay the same file. While the fence is open this
// driver knows it by the file's number; afterwards, and in other processes, the report in the pipe says all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "driver/gem/file_key.h"
#include "driver/share/shared_fences.h"
#include "driver/sync/fence.h"

namespace halogen::driver {

struct SyncFile {
  FenceRef fence;
  std::string name;
};

// A pipe of another process that is to become readable.
class ForeignFence final : public WatchedFence {
 public:
  explicit ForeignFence(int descriptor) : descriptor_(descriptor) {}  // its own from now on
  ~ForeignFence() override;
  int descriptor() const override { return descriptor_; }
  void look() override;  // it is readable, or nobody is left to write
  std::string driver_name() const override { return "i915"; }
  std::string timeline_name() const override { return "other process"; }

 private:
  int descriptor_;
};

class SyncFiles {
 public:
  explicit SyncFiles(Watch watch);

  // A descriptor for the program, or a negative errno. Without a name it is called after its fence.
  int create(const FenceRef& fence, std::string name = {});
  // Nothing: not a sync file.
  std::optional<SyncFile> find(int descriptor);

 private:
  struct Open {
    SyncFile file;
    int other_end = -1;
  };
  struct State {
    std::map<FileKey, Open> open;
    ~State();
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::map<FileKey, std::weak_ptr<ForeignFence>> remote_fences_;
  Watch watch_;
};

// How a program sees it: 0 while it is open, 1 when it is done, or the error.
int status_of(const Fence& fence);

}  // namespace halogen::driver
