#include "driver/hw/driver_host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "device/device.h"
#include "driver/share/private_descriptor.h"
#include "driver/share/sealed_file.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kListenedBytes = 4096;

}  // namespace

Result<SharedMemory> SharedMemory::create(const char* name, uint64_t bytes) {
  SharedMemory made;
  if (bytes == 0) return made;
  made.descriptor_ = keep_private(create_sealed_file(name, bytes));
  if (made.descriptor_ < 0) {
    return Error{fmt::format("cannot allocate {} bytes of memory: {}", bytes, std::strerror(errno))};
  }
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, made.descriptor_, 0);
  if (base == MAP_FAILED) return Error{fmt::format("cannot map {} bytes of memory: {}", bytes, std::strerror(errno))};
  madvise(base, bytes, MADV_DONTFORK);  // a child of the program must not see it
  made.base_ = static_cast<std::byte*>(base);
  made.bytes_ = bytes;
  return made;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept {
  *this = std::move(other);
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::span<std::byte> SharedMemory::at(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) return {};
  return {base_ + offset, bytes};
}

bool SharedMemory::replace(uint64_t offset, uint64_t bytes, int descriptor) {
  const std::span<std::byte> place = at(offset, bytes);
  if (place.empty() || mmap(place.data(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                            descriptor, 0) == MAP_FAILED) {
    return false;
  }
  madvise(place.data(), bytes, MADV_DONTFORK);
  return true;
}

bool SharedMemory::restore(uint64_t offset, uint64_t bytes) {
  const std::span<std::byte> place = at(offset, bytes);
  if (place.empty()) return true;
  if (mmap(place.data(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor_,
           static_cast<off_t>(offset)) == MAP_FAILED) {
    return false;
  }
  return madvise(place.data(), bytes, MADV_DONTFORK) == 0;
}

bool SharedMemory::drop(uint64_t offset, uint64_t bytes) {
  if (!restore(offset, bytes)) return false;
  const std::span<std::byte> place = at(offset, bytes);
  if (place.empty()) return true;
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes)) != 0) {
    std::memset(place.data(), 0, place.size());
  }
  return true;
}

void SharedMemory::visit(const std::function<void(uint64_t, std::span<const std::byte>)>& see) const {
  for (off_t end = 0; descriptor_ >= 0;) {
    const off_t first = lseek(descriptor_, end, SEEK_DATA);
    if (first < 0) return;
    end = lseek(descriptor_, first, SEEK_HOLE);
    if (end <= first) return;
    see(static_cast<uint64_t>(first), at(static_cast<uint64_t>(first), static_cast<uint64_t>(end - first)));
  }
}

Result<std::unique_ptr<DriverHost>> DriverHost::create(uint64_t memory_bytes, uint64_t local_bytes, EventSink* events) {
  Result<SharedMemory> memory = SharedMemory::create("halogen system memory", memory_bytes);
  if (!memory) return memory.error();
  Result<SharedMemory> local = SharedMemory::create("halogen local memory", local_bytes);
  if (!local) return local.error();
  return std::unique_ptr<DriverHost>(new DriverHost(std::move(memory).value(), std::move(local).value(), events));
}

// A listener must see every page.
std::span<std::byte> DriverHost::map_memory(PhysAddr address, uint64_t bytes) {
  const std::span<std::byte> memory = at(address.value, bytes);
  if (listener_ == nullptr || memory.empty()) return memory;
  if (bytes > kListenedBytes) return {};
  listener_->on_page(address.value, memory);
  return memory;
}

std::optional<uint64_t> DriverHost::add_window(std::span<std::byte> memory, unsigned physical_bits) {
  const uint64_t end = uint64_t{1} << physical_bits;
  const uint64_t first = std::max(next_window_, end / 2);
  if (memory.size() > end - first) return std::nullopt;
  windows_[first] = memory;
  next_window_ = first + memory.size();
  return first;
}

void DriverHost::remove_window(uint64_t address) {
  const auto found = windows_.find(address);
  if (found == windows_.end()) return;
  if (listener_ != nullptr) listener_->on_forget(address, found->second.size());
  windows_.erase(found);
  revoke();
}

void DriverHost::revoke() {
  if (device_ != nullptr) device_->revoke_memory();
}

bool DriverHost::replace(bool local, uint64_t offset, uint64_t bytes, int descriptor) {
  revoke();
  return (local ? local_ : memory_).replace(offset, bytes, descriptor);
}

bool DriverHost::restore(bool local, uint64_t offset, uint64_t bytes) {
  revoke();
  return (local ? local_ : memory_).restore(offset, bytes);
}

bool DriverHost::drop(bool local, uint64_t offset, uint64_t bytes) {
  revoke();
  return (local ? local_ : memory_).drop(offset, bytes);
}

std::span<std::byte> DriverHost::at(uint64_t address, uint64_t bytes) const {
  if (windows_.empty() || address < memory_.size()) return memory_.at(address, bytes);
  const auto after = windows_.upper_bound(address);
  if (after == windows_.begin()) return {};
  const auto& [first, memory] = *std::prev(after);
  if (address - first > memory.size() || bytes > memory.size() - (address - first)) return {};
  return memory.subspan(address - first, bytes);
}

bool DriverHost::read_memory(PhysAddr address, std::span<std::byte> out) {
  const std::span<std::byte> from = map_memory(address, out.size());
  if (from.empty()) return out.empty();
  std::memcpy(out.data(), from.data(), out.size());
  return true;
}

bool DriverHost::write_memory(PhysAddr address, std::span<const std::byte> data) {
  const std::span<std::byte> into = map_memory(address, data.size());
  if (into.empty()) return data.empty();
  std::memcpy(into.data(), data.data(), data.size());
  return true;
}

}  // namespace halogen::driver
