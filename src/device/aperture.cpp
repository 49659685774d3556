#include "device/aperture.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/walker.h"

namespace halogen::device {

namespace {

constexpr std::string_view kFenceRegisters[] = {"FENCE", "FENCE_GEN6", "FENCE_GEN7"};

}  // namespace

Aperture::Aperture(const spec::DeviceModel& model, mmio::RegisterBank& bank, const MemoryMap& map,
                   memory::AddressSpace& space, EventSink& events, std::string path)
    : bank_(bank), map_(map), space_(space), events_(events), path_(std::move(path)), fences_(model) {
  for (const std::string_view name : kFenceRegisters) {
    if (bank_.attach(name, *this) != 0) {
      fence_register_ = name;
    }
  }
}

uint32_t Aperture::on_write(const mmio::RegisterWrite& write) {
  load_fence(write.slot, &events_);
  return write.next;
}

void Aperture::load_fence(const mmio::RegisterSlot& slot, EventSink* events) {
  const mmio::RegisterSlot* low = bank_.find(slot.offset - 4u * slot.dword);
  const mmio::RegisterSlot* high = bank_.find(slot.offset - 4u * slot.dword + 4);
  const uint64_t raw = bank_.peek(*low) | uint64_t{bank_.peek(*high)} << 32;
  fences_.write(slot.index, raw, events, path_);
}

void Aperture::refresh() {
  fences_.reset();
  for (const mmio::RegisterSlot& slot : bank_.map().slots_of(fence_register_)) {
    if (slot.dword == 0) {
      load_fence(slot, nullptr);
    }
  }
}

Aperture::Part Aperture::part_at(GgttOffset address, uint64_t bytes) const {
  const uint64_t in_page = memory::kFrameBytes - address.value % memory::kFrameBytes;
  if (const surface::Fence* fence = fences_.find(address)) {
    return {GpuVa(fence->translate(address).value), std::min({bytes, fence->run_at(address), in_page})};
  }
  return {GpuVa(address.value), std::min(bytes, in_page)};
}

// Returns whether the rules for the CPU close the page.
bool Aperture::closed(GpuVa address, memory::Direction direction) {
  const uint64_t page = address.value >> memory::kFrameBits;
  if (page == known_page_) {
    return known_closed_;
  }
  known_page_ = page;
  known_closed_ = false;
  if (space_.context().format == nullptr) {
    return false;
  }
  const memory::WalkResult found = walk(map_.physical(), space_.context(), address.value, {}, nullptr, false);
  if (found.fault) {
    known_page_ = kNoPage;  // each access is a separate error
    return false;
  }
  known_closed_ = map_.holds_table(found.mapping.space, found.mapping.address);
  if (known_closed_) {
    known_page_ = kNoPage;
    events_.on_event(
        {EventKind::bad_access,
         {},
         path_,
         address.value,
         found.mapping.address,
         direction == memory::Direction::write
             ? "write dropped: the global table in local memory is writable only through the register BAR"
             : "read of the global table in local memory, which is readable only through the register BAR"});
  } else if (map_.is_hardware_page(found.mapping.space, found.mapping.address)) {
    events_.on_event({EventKind::undefined_behaviour,
                      {},
                      path_,
                      address.value,
                      found.mapping.address,
                      "access to the first page of data stolen memory, which hardware owns"});
  }
  return known_closed_;
}

void Aperture::read(GgttOffset address, std::span<std::byte> into) {
  while (!into.empty()) {
    const Part part = part_at(address, into.size());
    const std::span<std::byte> piece = into.first(part.bytes);
    if (closed(part.address, memory::Direction::read)) {
      std::memset(piece.data(), 0, piece.size());
    } else {
      static_cast<void>(space_.read(part.address, piece));  // faults of the CPU are skipped
    }
    into = into.subspan(part.bytes);
    address += part.bytes;
  }
}

void Aperture::tell_watcher(GgttOffset address, uint64_t bytes) const {
  while (bytes != 0) {
    uint64_t part = std::min(bytes, memory::kFrameBytes - address.value % memory::kFrameBytes);
    if (const surface::Fence* fence = fences_.find(address)) {
      part = std::min(bytes, fence->last - address + 1);
      watcher_->on_fence_write(static_cast<unsigned>(fence - &fences_.fence(0)), fence->point_of(address).y,
                               fence->point_of(address + (part - 1)).y);
    }
    address += part;
    bytes -= part;
  }
}

bool Aperture::write(GgttOffset address, std::span<const std::byte> from) {
  if (!writable_) {
    return false;
  }
  if (watcher_ != nullptr) {
    tell_watcher(address, from.size());
  }
  while (!from.empty()) {
    const Part part = part_at(address, from.size());
    if (!closed(part.address, memory::Direction::write)) {
      static_cast<void>(space_.write(part.address, from.first(part.bytes)));
    }
    from = from.subspan(part.bytes);
    address += part.bytes;
  }
  return true;
}

}  // namespace halogen::device
