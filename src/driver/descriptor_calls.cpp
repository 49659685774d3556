// Calls on descriptors that the driver hands out beside the device node: sync files and shared buffers.
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "driver/kernel.h"
#include "driver/user_memory.h"

namespace halogen::driver {
namespace {

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

}  // namespace

std::optional<int> Kernel::descriptor_ioctl(int descriptor, unsigned long request, uint64_t argument) {
  Lock lock = enter();
  if (const std::optional<SyncFile> file = sync_files_.find(descriptor)) {
    if (request == SYNC_IOC_MERGE) return merge(sync_files_, *file, argument);
    return request == SYNC_IOC_FILE_INFO ? tell(*file, argument) : -ENOTTY;
  }
  if (sync_object_files_.find(descriptor)) return -ENOTTY;
  return std::nullopt;
}

}  // namespace halogen::driver
