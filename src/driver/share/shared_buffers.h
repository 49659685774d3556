// Buffers as descriptors. A shared buffer lies in an anonymous file of its own, and programs get a descriptor of this
// file: mapping and duplication work as for any file. This driver finds the buffer by the file's inode; another process
// creates its own buffer from the file, with the same bytes. The fences follow the bytes (shared_fences.h): the
// file is longer than the buffer by Buffer::kBehind.
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
  // Returns a descriptor of the buffer for the program, or a negative errno.
  int create(const BufferRef& buffer, bool close_on_exec, bool writable);
  // Returns the buffer of a descriptor. Null: not known here.
  BufferRef find(int descriptor) const;
  // Finds the buffer of a descriptor, or imports it from another process. 0 or a negative errno.
  int import(Hardware& hardware, int descriptor, BufferRef& buffer);
  // Returns the open fences of all processes on the file of a descriptor, even if it is not imported here.
  std::vector<FenceRef> fences(int descriptor, bool also_reads);
  bool add_fence(int descriptor, const FenceRef& fence, bool write);
  // Return the global name of a buffer, valid for every file of this device as long as the buffer lives, and the buffer
  // of a name.
  uint32_t name(const BufferRef& buffer);
  BufferRef named(uint32_t name) const;
  // Returns whether a driver of this kind created the file, in this process or another.
  static bool is_one(int descriptor);

 private:
  bool share_fences(Buffer& buffer);
  std::shared_ptr<SharedFences> bare_fences(int descriptor);

  PeerProcesses& peers_;
  Watch watch_;
  std::map<FileKey, std::weak_ptr<Buffer>> known_;
  std::map<FileKey, std::shared_ptr<SharedFences>> bare_;  // of files that are not imported here
  std::map<uint32_t, std::weak_ptr<Buffer>> names_;
};

// Makes the mappings that this process has of a range of a file show another file.
bool replace_mappings(const FileKey& from, uint64_t offset, uint64_t bytes, int to);

}  // namespace halogen::driver
