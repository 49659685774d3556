#include "driver/share/shared_buffers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "driver/share/private_descriptor.h"
#include "driver/share/sealed_file.h"

namespace halogen::driver {
namespace {

constexpr std::string_view kName = "/memfd:halogen buffer";

std::string path_of(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

// Returns the status from the host: programs see the buffer's bytes only.
bool look_up(int descriptor, struct stat& status) {
  return syscall(SYS_fstat, descriptor, &status) == 0;
}

}  // namespace

bool SharedBuffers::is_one(int descriptor) {
  if (!is_sealed_file(descriptor)) return false;  // first: only such a file answers at once
  char name[64];
  const ssize_t length = readlink(path_of(descriptor).c_str(), name, sizeof name);
  return length >= 0 && std::string_view(name, static_cast<size_t>(length)).starts_with(kName);
}

int SharedBuffers::create(const BufferRef& buffer, bool close_on_exec, bool writable) {
  if (const int result = buffer->share(); result != 0) return result;
  if (!share_fences(*buffer)) return -ENOMEM;
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  const std::optional<FileKey> key = key_of(buffer->descriptor());
  if (!key) return -ENOMEM;
  known_[*key] = buffer;
  // While a program holds the file all descriptors are copies of it, so the first export decides the access rights.
  if (!std::exchange(buffer->exported, true)) buffer->writable_file = writable;
  const int flags = (close_on_exec ? O_CLOEXEC : 0) | (buffer->writable_file ? O_RDWR : O_RDONLY);
  const int descriptor = ::open(path_of(buffer->descriptor()).c_str(), flags);
  if (descriptor < 0) return -errno;
  fcntl(descriptor, F_SETSIG, kSharedBufferMark);
  return descriptor;
}

std::shared_ptr<SharedFences> SharedBuffers::bare_fences(int descriptor) {
  const std::optional<FileKey> key = key_of(descriptor);
  struct stat status {};
  // A file that is sealed keeps the size that is read after the seals.
  if (!key || !is_one(descriptor) || !look_up(descriptor, status)) return nullptr;
  std::erase_if(bare_, [&](const auto& each) {
    return each.first != *key && each.second.use_count() == 1 && each.second->is_idle();
  });
  const auto all = static_cast<uint64_t>(status.st_size);
  if (all <= Buffer::kBehind || all % kPageBytes != 0) return nullptr;
  std::shared_ptr<SharedFences>& fences = bare_[*key];
  if (!fences) fences = SharedFences::open(peers_, watch_, descriptor, all - Buffer::kBehind);
  if (!fences) bare_.erase(*key);
  return fences;
}

std::vector<FenceRef> SharedBuffers::fences(int descriptor, bool also_reads) {
  if (const BufferRef buffer = find(descriptor)) return buffer->fences(also_reads);
  std::vector<FenceRef> all;
  if (const std::shared_ptr<SharedFences> fences = bare_fences(descriptor)) {
    fences->list_own(also_reads, all);
    fences->list(also_reads, all);
  }
  return all;
}

bool SharedBuffers::add_fence(int descriptor, const FenceRef& fence, bool write) {
  if (const BufferRef buffer = find(descriptor)) {
    buffer->add_fence(fence, write);
    return true;
  }
  const std::shared_ptr<SharedFences> fences = bare_fences(descriptor);
  if (fences) fences->add(fence, write);
  return fences != nullptr;
}

bool SharedBuffers::share_fences(Buffer& buffer) {
  if (buffer.shared_fences()) return true;
  if (const auto bare = bare_.find(key_of(buffer.descriptor()).value_or(FileKey{})); bare != bare_.end()) {
    buffer.share_fences(bare->second);
    bare_.erase(bare);
    return true;
  }
  auto fences = SharedFences::open(peers_, watch_, buffer.descriptor(), buffer.size());
  if (!fences) return false;
  buffer.share_fences(std::move(fences));
  return true;
}

BufferRef SharedBuffers::find(int descriptor) const {
  const std::optional<FileKey> key = key_of(descriptor);
  const auto found = key ? known_.find(*key) : known_.end();
  return found == known_.end() ? nullptr : found->second.lock();
}

uint32_t SharedBuffers::name(const BufferRef& buffer) {
  std::erase_if(names_, [](const auto& each) { return each.second.expired(); });
  uint32_t next = 1;  // the lowest free name
  for (const auto& [name, other] : names_) {
    if (other.lock() == buffer) return name;
    if (name == next) ++next;
  }
  names_[next] = buffer;
  return next;
}

BufferRef SharedBuffers::named(uint32_t name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second.lock();
}

int SharedBuffers::import(Hardware& hardware, int descriptor, BufferRef& buffer) {
  struct stat status {};
  if (!key_of(descriptor)) return -EBADF;
  buffer = find(descriptor);
  if (buffer) return 0;
  if (!is_one(descriptor)) return -EINVAL;
  // A file that is sealed keeps the size that is read after the seals.
  if (!look_up(descriptor, status)) return -EBADF;
  const auto all = static_cast<uint64_t>(status.st_size);
  if (all <= Buffer::kBehind || all % kPageBytes != 0) return -EINVAL;
  const uint64_t bytes = all - Buffer::kBehind;
  // The device needs write access, even if the given descriptor is read-only.
  const std::string path = path_of(descriptor);
  const Descriptor own(open_private([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); }));
  if (!own) return -EINVAL;
  buffer = Buffer::import(hardware, own.number(), bytes);
  if (!buffer || !share_fences(*buffer)) return -ENOMEM;
  known_[FileKey(status.st_dev, status.st_ino)] = buffer;
  return 0;
}

bool replace_mappings(const FileKey& from, uint64_t offset, uint64_t bytes, int to) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (maps == nullptr) return false;
  struct Piece {
    uint64_t address, bytes, offset;
    int protection;
  };
  std::vector<Piece> pieces;
  char line[512];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    uint64_t start = 0, end = 0, at = 0, number = 0;
    unsigned major_number = 0, minor_number = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start, &end, rights, &at,
                    &major_number, &minor_number, &number) != 7) {
      continue;
    }
    if (FileKey(makedev(major_number, minor_number), number) != from || rights[3] != 's') continue;
    const uint64_t first = std::max(at, offset);
    const uint64_t last = std::min(at + (end - start), offset + bytes);
    if (first >= last) continue;
    const int protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0);
    pieces.push_back({start + (first - at), last - first, first - offset, protection});
  }
  bool all = true;
  for (const Piece& piece : pieces) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address is text in /proc/self/maps
    void* const place = reinterpret_cast<void*>(static_cast<uintptr_t>(piece.address));
    all = mmap(place, piece.bytes, piece.protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, to,
               static_cast<off_t>(piece.offset)) != MAP_FAILED &&
          all;
  }
  return all;
}

}  // namespace halogen::driver
