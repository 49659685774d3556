#include "memory/in_place_speculation.h"

#include <algorithm>

#include "memory/copy_bytes.h"

namespace halogen::memory {
namespace {

uint64_t key_of(const std::byte* frame) {
  return reinterpret_cast<uintptr_t>(frame);
}

}  // namespace

void InPlaceSpeculation::begin(AddressSpace& real) {
  real_ = &real;
  refused_ = false;
  sides_.clear();
  saved_.clear();
}

std::byte* InPlaceSpeculation::find(uint64_t page, Access access, bool writer) {
  const std::lock_guard lock(finding_);
  std::byte* const frame =
      access.writes() && !writer ? nullptr : real_->look_up_frame(GpuVa{page << kFrameBits}, access);
  if (frame == nullptr || saved_.size() >= kMaxSaved) {
    refuse();
    return nullptr;
  }
  if (access.writes() && saved_.find(key_of(frame)) == nullptr) {
    Saved& saved = saved_.add(key_of(frame));
    saved.frame = frame;
    if (saved.bytes == nullptr) {
      saved.bytes = std::make_unique<std::array<std::byte, kFrameBytes>>();
    }
    copy_bytes(saved.bytes->data(), frame, kFrameBytes);
  }
  return frame;
}

bool InPlaceSpeculation::is_sound() {
  if (refused()) {
    return false;
  }
  touches_.clear();
  for (const Side* side : sides_) {
    if (side->kind_ == Side::Kind::reader && std::ranges::any_of(side->touches_, [&](const Touch& touch) {
          return saved_.find(key_of(touch.frame)) != nullptr;
        })) {
      return false;
    }
    touches_.insert(touches_.end(), side->touches_.begin(), side->touches_.end());
  }
  // Threads reach pages in an arbitrary order; sorting makes the replay deterministic.
  std::ranges::sort(touches_);
  touches_.erase(std::unique(touches_.begin(), touches_.end()), touches_.end());
  return std::ranges::all_of(touches_, [&](const Touch& touch) {
    const GpuVa address{touch.page << kFrameBits};
    const Access access{.direction = touch.direction};
    std::byte* const frame = real_->page_at(address, access);
    return (frame != nullptr ? frame : real_->view(address, access).bytes.data()) == touch.frame;
  });
}

void InPlaceSpeculation::roll_back() {
  for (size_t i = 0; i < saved_.size(); ++i) {
    copy_bytes(saved_[i].frame, saved_[i].bytes->data(), kFrameBytes);
  }
}

bool InPlaceSpeculation::finish() {
  const bool stands = is_sound();
  if (!stands) {
    roll_back();
  }
  return stands;
}

InPlaceSpeculation::Side::Side(InPlaceSpeculation& parent, const PhysicalMemory& memory, Kind kind)
    : parent_(parent), kind_(kind), space_(memory, tlb_, kGlobalSpace, *this) {
  space_.set_speculation(&accesses_);
}

void InPlaceSpeculation::Side::begin() {
  parent_.sides_.push_back(this);
  tlb_.invalidate_all();
  known_.fill({});
  touches_.clear();
}

// Returns the frame of a page and adds it to the TLB, so that later accesses hit. Null: refused. An entry
// becomes writable with the first write, because the page is saved then.
std::byte* InPlaceSpeculation::Side::page(uint64_t number, Access access) {
  Known& known = known_[number % kKnown];
  if (known.number == number && (known.writable || !access.writes())) {
    return known.frame;
  }
  std::byte* const frame = parent_.find(number, access, kind_ == Kind::writer);
  if (frame == nullptr) {
    return nullptr;
  }
  const bool writable = access.writes() || (known.number == number && known.writable);
  known = {number, frame, writable};
  TlbEntry entry;
  entry.page = number;
  entry.space = kGlobalSpace;
  entry.frame = frame;
  entry.writable = entry.dirty = writable;
  entry.executable = entry.user = true;
  tlb_.fill(entry);
  touches_.push_back({number, access.direction, frame});
  return frame;
}

}  // namespace halogen::memory
