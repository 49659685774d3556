// Buffers as descriptors. A shared buffer lies in an anonymous file of its own, which is the descriptor that programs
// get: its mappings and its copies are those of a file. This driver finds the buffer by the file's number; another
// process makes a buffer of its own from the file, with the same bytes. Behind these lie the fences (shared_fences.h):
// the file is longer than the buffer by Buffer::kBehind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "driver/gem/buffer.h"
#include "driver/gem/file_key.h"

namespace halogen::driver {

class SharedBuffers {
 public:
  SharedBuffers(PeerProcesses& peers, Watch watch) : peers_(peers), watch_(std::move(watch)) {}
  // A descriptor of the buffer for the program, or a negative errno.
  int create(const BufferRef& buffer, bool close_on_exec, bool writable);
  // The buffer of a descriptor, when it is known here.
  BufferRef find(int descriptor) const;
  // The same, and one that another process shares becomes known. 0 or a negative errno.
  int import(Hardware& hardware, int descriptor, BufferRef& buffer);
  // What is in flight on the buffer of a descriptor, in all processes, also when it is no buffer here.
  std::vector<FenceRef> fences(int descriptor, bool also_reads);
  bool add_fence(int descriptor, const FenceRef& fence, bool write);
  // A number by which every open of this device finds the buffer as long as it lives, and the buffer of a number.
  uint32_t name(const BufferRef& buffer);
  BufferRef named(uint32_t name) const;
  // A descriptor that this driver has made, in whichever process.
  static bool is_one(int descriptor);

 private:
  bool share_fences(Buffer& buffer);
  std::shared_ptr<SharedFences> bare_fences(int descriptor);

  PeerProcesses& peers_;
  Watch watch_;
  std::map<FileKey, std::weak_ptr<Buffer>> known_;
  std::map<FileKey, std::shared_ptr<SharedFences>> bare_;  // of files that are no buffers here
  std::map<uint32_t, std::weak_ptr<Buffer>> names_;
};

// Mappings that this process has of a range of a file show another file from now on.
bool replace_mappings(int from, uint64_t offset, uint64_t bytes, int to);

}  // namespace halogen::driver
