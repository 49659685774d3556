#include "driver/gem/space.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/exhaustion.h"
#include "spec/interface_model.h"

namespace halogen::driver {
Space::Space(Gpu& gpu) : gpu_(gpu) {
  if (gpu.shares_space()) {
    size_ = gpu.global().bytes();
    tables_ = gpu.shared_tables();
    return;
  }
  size_ = uint64_t{1} << spec::interface_of(gpu.hardware().model().id).address_bits;
  tables_ = make_own_tables(gpu.hardware());
  own_places_.emplace(0, size_);
}

Space::~Space() {
  while (!where_.empty()) unbind(*where_.begin()->second.buffer);
}

std::optional<uint64_t> Space::find(const Buffer& buffer) const {
  const auto found = where_.find(&buffer);
  if (found == where_.end()) return std::nullopt;
  return found->second.address;
}

uint64_t Space::room_of(const Buffer& buffer) const {
  const auto found = where_.find(&buffer);
  return found == where_.end() ? 0 : found->second.bytes;
}

int Space::place(const BufferRef& buffer, uint64_t address, uint64_t room) {
  bool mapped = false;
  const bool done = completes([&] {
    // The lists first: unbind() removes what it finds.
    buffer->spaces.reserve(buffer->spaces.size() + 1);
    bound_[address] = buffer.get();
    where_[buffer.get()] = {buffer.get(), address, room};
    mapped = buffer->need_pages() && tables_->map(address, buffer->run());
  });
  if (!done || !mapped) {
    if (buffer->has_pages() && !completes_soon([&] { tables_->unmap(address, buffer->size()); })) buffer->keep_pages();
    bound_.erase(address);
    where_.erase(buffer.get());
    places().give(address, room);
    return -ENOMEM;
  }
  buffer->attached = true;
  buffer->spaces.push_back(this);
  return 0;
}

int Space::bind(const BufferRef& buffer, uint64_t alignment, uint64_t limit, uint64_t room) {
  room = std::max(room, buffer->size());
  if (!buffer->need_pages()) return -ENOMEM;
  std::optional<uint64_t> address = places().take(room, alignment, limit);
  if (address == 0u) {  // address 0 is used only on request or as a last resort: otherwise it is a sign of a mistake
    address = places().take(room, alignment, limit);
    if (address) {
      places().give(0, room);
    } else {
      address = 0;
    }
  }
  return address ? place(buffer, *address, room) : -ENOSPC;
}

int Space::bind_at(const BufferRef& buffer, uint64_t address, uint64_t room) {
  room = std::max(room, buffer->size());
  if (address % kPageBytes != 0 || address > size_ || room > size_ - address) return -EINVAL;
  if (find(*buffer) == address && room_of(*buffer) >= room) return 0;
  if (!buffer->need_pages()) return -ENOMEM;
  unbind(*buffer);
  if (!places().take_at(address, room)) {
    if (!evict(address, room) || !places().take_at(address, room)) return -ENOSPC;
  }
  return place(buffer, address, room);
}

bool Space::bind_if_free(const BufferRef& buffer, uint64_t address, uint64_t room) {
  room = std::max(room, buffer->size());
  if (address % kPageBytes != 0 || address > size_ || room > size_ - address) return false;
  return buffer->need_pages() && places().take_at(address, room) && place(buffer, address, room) == 0;
}

bool Space::is_busy(uint64_t address, uint64_t bytes) const {
  auto each = bound_.upper_bound(address);
  if (each != bound_.begin()) --each;
  for (; each != bound_.end() && each->first < address + bytes; ++each) {
    if (each->first + room_of(*each->second) > address && each->second->is_used_here()) return true;
  }
  return false;
}

std::optional<uint64_t> Space::evict_idle(const std::function<bool(const Buffer&)>& may_go, uint64_t from,
                                          size_t count) {
  for (auto each = bound_.lower_bound(from); each != bound_.end(); --count) {
    if (count == 0) return each->first;
    Buffer& buffer = *each->second;
    ++each;
    if (may_go(buffer) && !buffer.is_used_here()) unbind(buffer);
  }
  return std::nullopt;
}

bool Space::evict(uint64_t address, uint64_t bytes) {
  auto each = bound_.upper_bound(address);
  if (each != bound_.begin()) --each;
  while (each != bound_.end() && each->first < address + bytes) {
    Buffer* const buffer = each->second;
    ++each;
    const Place place = where_.at(buffer);
    if (place.address + place.bytes <= address) continue;
    if (buffer->is_used_here()) return false;
    unbind(*buffer);
  }
  return true;
}

void Space::unbind(Buffer& buffer) {
  const auto found = where_.find(&buffer);
  if (found == where_.end()) return;
  Buffer* const which = found->second.buffer;
  const uint64_t address = found->second.address, bytes = found->second.bytes;
  std::erase(which->spaces, this);
  // Nothing is mapped in the padding.
  if (!completes_soon([&] { tables_->unmap(address, which->size()); })) which->keep_pages();
  places().give(address, bytes);
  bound_.erase(address);
  where_.erase(found);
}

}  // namespace halogen::driver
