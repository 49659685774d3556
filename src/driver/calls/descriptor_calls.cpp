// Calls on descriptors other than the device node: sync files and shared buffers.
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/exhaustion.h"
#include "driver/core/driver.h"
#include "driver/gem/user_memory.h"
#include "driver/perf/perf.h"

namespace halogen::driver {
namespace {

constexpr unsigned kStreamIoctls = 'i';

template <size_t Size>
void copy_text(const std::string& text, char (&into)[Size]) {
  std::memset(into, 0, Size);
  std::memcpy(into, text.data(), std::min(text.size(), Size - 1));
}

int merge(SyncFiles& files, const SyncFile& one, uint64_t argument) {
  auto data = read_user<sync_merge_data>(argument);
  if (!data) return -EFAULT;
  if (data->flags != 0 || data->pad != 0) return -EINVAL;
  const std::optional<SyncFile> two = files.find(data->fd2);
  if (!two) return -ENOENT;
  data->name[sizeof data->name - 1] = '\0';
  const int descriptor = files.create(all_of({one.fence, two->fence}), data->name);
  if (descriptor < 0) return descriptor;
  data->fence = descriptor;
  if (!write_user(argument, &*data, sizeof *data)) {
    close(descriptor);
    return -EFAULT;
  }
  return 0;
}

int tell(const SyncFile& file, uint64_t argument) {
  auto info = read_user<sync_file_info>(argument);
  if (!info) return -EFAULT;
  if (info->flags != 0 || info->pad != 0) return -EINVAL;
  std::vector<FenceRef> fences;
  file.fence->list(fences);
  info->status = status_of(*file.fence);
  if (info->num_fences != 0) {
    if (info->num_fences < fences.size()) return -EINVAL;
    info->status = 1;
    std::vector<sync_fence_info> list;
    for (const FenceRef& fence : fences) {
      sync_fence_info& each = list.emplace_back();
      copy_text(fence->timeline_name(), each.obj_name);
      copy_text(fence->driver_name(), each.driver_name);
      each.status = status_of(*fence);
      each.timestamp_ns = fence->done ? fence->when : 0;
      if (info->status > 0) info->status = each.status;
    }
    if (!write_user(info->sync_fence_info, list.data(), list.size() * sizeof list[0])) return -EFAULT;
  }
  copy_text(file.name, info->name);
  info->num_fences = static_cast<uint32_t>(fences.size());
  return write_user(argument, &*info, sizeof *info) ? 0 : -EFAULT;
}

// Checks a name of at most 31 characters. It is not stored, because no call reads it back.
int set_name(uint64_t address) {
  for (uint64_t i = 0; i < DMA_BUF_NAME_LEN; ++i) {
    const auto character = read_user<char>(address + i);
    if (!character) return -EFAULT;
    if (*character == '\0') return 0;
  }
  return -EINVAL;
}

bool is_access(uint32_t flags) {
  return (flags & ~uint32_t{DMA_BUF_SYNC_RW}) == 0 && (flags & DMA_BUF_SYNC_RW) != 0;
}

int export_fences(SyncFiles& files, SharedBuffers& buffers, int buffer, uint64_t argument) {
  auto data = read_user<dma_buf_export_sync_file>(argument);
  if (!data) return -EFAULT;
  if (!is_access(data->flags)) return -EINVAL;
  const bool writes = (data->flags & DMA_BUF_SYNC_WRITE) != 0;
  const int descriptor = files.create(all_of(buffers.fences(buffer, writes)));
  if (descriptor < 0) return descriptor;
  data->fd = descriptor;
  if (!write_user(argument, &*data, sizeof *data)) {
    close(descriptor);
    return -EFAULT;
  }
  return 0;
}

int import_fences(SyncFiles& files, SharedBuffers& buffers, int buffer, uint64_t argument) {
  const auto data = read_user<dma_buf_import_sync_file>(argument);
  if (!data) return -EFAULT;
  if (!is_access(data->flags)) return -EINVAL;
  const std::optional<SyncFile> file = files.find(data->fd);
  if (!file) return -EINVAL;
  std::vector<FenceRef> fences;
  file->fence->list(fences);
  for (const FenceRef& fence : fences) {
    if (fence->done) continue;
    if (!buffers.add_fence(buffer, fence, (data->flags & DMA_BUF_SYNC_WRITE) != 0)) return -ENOMEM;
  }
  return 0;
}

}  // namespace

int Driver::shared_buffer_ioctl(Lock& lock, int buffer, unsigned long request, uint64_t argument) {
  switch (request) {
    case DMA_BUF_IOCTL_SYNC: {
      const auto sync = read_user<dma_buf_sync>(argument);
      if (!sync) return -EFAULT;
      if ((sync->flags & ~uint64_t{DMA_BUF_SYNC_VALID_FLAGS_MASK}) != 0) return -EINVAL;
      if ((sync->flags & DMA_BUF_SYNC_RW) == 0) return -EINVAL;
      const bool writes = (sync->flags & DMA_BUF_SYNC_WRITE) != 0;
      if ((sync->flags & DMA_BUF_SYNC_END) != 0) return 0;
      std::vector<FenceRef> open;  // kept, so that this process is woken when they signal
      return wait_call(lock, [&] {
        open = shared_buffers_.fences(buffer, writes);
        return open.empty();
      });
    }
    case DMA_BUF_SET_NAME_A:
    case DMA_BUF_SET_NAME_B:
      return set_name(argument);
    case DMA_BUF_IOCTL_EXPORT_SYNC_FILE:
      return export_fences(sync_files_, shared_buffers_, buffer, argument);
    case DMA_BUF_IOCTL_IMPORT_SYNC_FILE:
      return import_fences(sync_files_, shared_buffers_, buffer, argument);
    default:
      return -ENOTTY;
  }
}

int Driver::fence_file(int descriptor, bool also_reads) {
  const Lock lock = enter();
  return contain([&] { return sync_files_.create(all_of(shared_buffers_.fences(descriptor, also_reads))); });
}

std::optional<int> Driver::stream_ioctl(int descriptor, unsigned long request, uint64_t argument) {
  const Lock lock = enter();
  const PerfStreamRef stream = perf_->find(descriptor);
  if (!stream) return std::nullopt;
  const int result = contain([&] { return perf_->control(*stream, descriptor, request, argument); });
  if (working() && waiters_ == 0) work_.notify_all();
  notify_waiters();
  return result;
}

int Driver::read_stream(int descriptor, uint64_t address, uint64_t bytes) {
  Lock lock = enter();
  const PerfStreamRef stream = perf_->find(descriptor);
  if (!stream) return -EIO;  // of another process, whose device this process cannot reach
  return contain([&] { return perf_->read(lock, *stream, descriptor, address, bytes); });
}

void Driver::pass_stream_time(int descriptor, uint64_t ns) {
  const Lock lock = enter();
  const PerfStreamRef stream = perf_->find(descriptor);
  if (!stream) return;
  static_cast<void>(completes([&] {
    perf_->pass_time(*stream, ns);
    if (stream->has_reports()) stream->set_readable();
  }));
}

std::optional<int> Driver::descriptor_ioctl(int descriptor, unsigned long request, uint64_t argument) {
  const unsigned type = _IOC_TYPE(request);
  if (type == kStreamIoctls) return stream_ioctl(descriptor, request, argument);
  if (type != SYNC_IOC_MAGIC && type != DMA_BUF_BASE) return std::nullopt;  // not an ioctl of our descriptors
  Lock lock = enter();
  bool known = true;
  const int result = contain([&] {
    if (const std::optional<SyncFile> file = sync_files_.find(descriptor)) {
      if (request == SYNC_IOC_MERGE) return merge(sync_files_, *file, argument);
      return request == SYNC_IOC_FILE_INFO ? tell(*file, argument) : -ENOTTY;
    }
    if (SyncObjectFiles::is_one(descriptor)) return -ENOTTY;
    known = shared_buffers_.find(descriptor) || SharedBuffers::is_one(descriptor);
    return known ? shared_buffer_ioctl(lock, descriptor, request, argument) : -ENOTTY;
  });
  notify_waiters();
  return known ? std::optional(result) : std::nullopt;
}

}  // namespace halogen::driver
