#include "driver/sync/sync_object.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "driver/share/private_descriptor.h"
#include "driver/share/sealed_file.h"

namespace halogen::driver {
namespace {

constexpr std::string_view kName = "/memfd:halogen sync object";

std::string path_of(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

}  // namespace

void SyncObject::apply(SharedObject::Change change, FenceRef fence, uint64_t point) {
  fence_ =
      change == SharedObject::Change::point ? TimelinePoint::add(fence_, std::move(fence), point) : std::move(fence);
}

void SyncObject::take() {
  shared_->take(
      [this](SharedObject::Change change, FenceRef fence, uint64_t point) { apply(change, std::move(fence), point); });
}

void SyncObject::change(SharedObject::Change change, FenceRef fence, uint64_t point) {
  if (!shared_) {
    apply(change, std::move(fence), point);
    return;
  }
  shared_->add(change, fence, point, [this](SharedObject::Change each, FenceRef its_fence, uint64_t its_point) {
    apply(each, std::move(its_fence), its_point);
  });
}

void SyncObject::set(FenceRef fence) {
  change(SharedObject::Change::fence, std::move(fence), 0);
}

void SyncObject::add_point(FenceRef fence, uint64_t point) {
  change(SharedObject::Change::point, std::move(fence), point);
}

bool SyncObject::share(PeerProcesses& peers, Watch watch, Descriptor file, bool fills) {
  DescriptorCharge charge = DescriptorCharge::for_this_call();
  shared_ = SharedObject::open(peers, std::move(watch), file.number());
  if (!shared_) return false;
  file_ = std::move(file);
  charge_ = std::move(charge);
  if (!fills) return true;
  const auto ignore = [](SharedObject::Change, const FenceRef&, uint64_t) {};
  for (const auto& [fence, point] : TimelinePoint::parts(fence_)) {
    shared_->add(point != 0 ? SharedObject::Change::point : SharedObject::Change::fence, fence, point, ignore);
  }
  return true;
}

bool SyncObjectFiles::is_one(int descriptor) {
  if (!is_sealed_file(descriptor)) return false;  // first: only such a file answers at once
  char name[64];
  const ssize_t length = readlink(path_of(descriptor).c_str(), name, sizeof name);
  if (length < 0 || !std::string_view(name, static_cast<size_t>(length)).starts_with(kName)) return false;
  struct stat status {};
  return syscall(SYS_fstat, descriptor, &status) == 0 && status.st_size == static_cast<off_t>(SharedObject::kBytes);
}

int SyncObjectFiles::create(const SyncObjectRef& object) {
  if (!object->is_shared()) {
    Descriptor file(open_private([] { return create_sealed_file("halogen sync object", SharedObject::kBytes); }));
    const std::optional<FileKey> key = file ? key_of(file.number()) : std::nullopt;
    if (!key || !object->share(peers_, watch_, std::move(file), true)) return -ENOMEM;
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
    known_[*key] = object;
  }
  const int descriptor = ::open(path_of(object->file()).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return -errno;
  fcntl(descriptor, F_SETSIG, kSyncObjectMark);
  return descriptor;
}

SyncObjectRef SyncObjectFiles::find(int descriptor) {
  const std::optional<FileKey> key = key_of(descriptor);
  if (!key) return nullptr;
  if (const auto found = known_.find(*key); found != known_.end()) {
    if (SyncObjectRef object = found->second.lock()) return object;
  }
  if (!is_one(descriptor)) return nullptr;
  // Without O_NONBLOCK a lease of another process on the file would block the call.
  Descriptor file(open_private([&] { return ::open(path_of(descriptor).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); }));
  if (!file) return nullptr;
  auto object = std::make_shared<SyncObject>();
  if (!object->share(peers_, watch_, std::move(file), false)) return nullptr;
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  known_[*key] = object;
  return object;
}

}  // namespace halogen::driver
