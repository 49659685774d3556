#include "surface/fence.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace halogen::surface {

std::string_view name_of(FenceFault fault) {
  switch (fault) {
    case FenceFault::none:
      return "none";
    case FenceFault::pitch_not_whole_tiles:
      return "pitch is not a whole number of tiles";
    case FenceFault::pitch_too_large:
      return "pitch is larger than the maximum of a fence";
    case FenceFault::end_before_start:
      return "the region ends before it starts";
  }
  return {};
}

SurfacePoint Fence::point_of(GgttOffset address) const {
  const uint64_t width = pattern().width_B;
  const uint64_t linear = address - start;
  const uint64_t in_tile_widths = linear / width;
  return {.x_B = in_tile_widths % pitch_tiles() * width + linear % width, .y = in_tile_widths / pitch_tiles()};
}

GgttOffset Fence::translate(GgttOffset address) const {
  const SurfacePoint point = point_of(address);
  return start + (walk == Tiling::y ? tile_y_offset(point.x_B, point.y, pitch_tiles())
                                    : tile_x_offset(point.x_B, point.y, pitch_tiles()));
}

// A region consists of whole pages, so no run crosses its end.
uint64_t Fence::run_at(GgttOffset address) const {
  const uint64_t run = pattern().run_B;
  return run - (address - start) % run;
}

FenceFault Fence::fault(spec::GenId gen) const {
  if (!valid) {
    return FenceFault::none;
  }
  if (last < start) {
    return FenceFault::end_before_start;
  }
  if (pitch_B % pattern().width_B != 0) {
    return FenceFault::pitch_not_whole_tiles;
  }
  if (pitch_B > fence_rule(gen).max_pitch_B) {
    return FenceFault::pitch_too_large;
  }
  return FenceFault::none;
}

template <class Register>
void FenceSet::use_if_present(const spec::DeviceModel& model) {
  const spec::RegisterDesc& desc = Register::kDesc;
  if (desc.offset(model.id) != spec::kNoOffset) {
    decode_ = [](spec::GenId gen, std::span<const uint32_t> dwords) {
      return decode_fence(Register::unpack(gen, dwords));
    };
    name_ = desc.name;
    count_ = std::min<unsigned>(desc.count, kMax);
  }
}

FenceSet::FenceSet(const spec::DeviceModel& model) : gen_(model.gen) {
  use_if_present<hw::FENCE>(model);
  use_if_present<hw::FENCE_GEN6>(model);
  use_if_present<hw::FENCE_GEN7>(model);
}

void FenceSet::write(unsigned index, uint64_t raw, EventSink* events, std::string_view path) {
  if (index >= count_) {
    return;
  }
  const std::array<uint32_t, 2> dwords{static_cast<uint32_t>(raw), static_cast<uint32_t>(raw >> 32)};
  Fence& fence = fences_[index];
  fence = decode_(gen_, dwords);
  const uint32_t bit = 1u << index;
  valid_ = fence.valid ? valid_ | bit : valid_ & ~bit;
  if (events != nullptr && fence.valid) {
    report(index, raw, *events, path);
  }
}

void FenceSet::report(unsigned index, uint64_t raw, EventSink& events, std::string_view path) const {
  const Fence& fence = fences_[index];
  const auto say = [&](std::string detail) {
    events.on_event(
        {EventKind::undefined_behaviour, name_, std::string(path), fence.start.value, raw, std::move(detail)});
  };
  if (const FenceFault fault = fence.fault(gen_); fault != FenceFault::none) {
    say(std::string(name_of(fault)));
  }
  for (unsigned other = 0; other < count_; ++other) {
    if (other != index && fence.overlaps(fences_[other])) {
      say(fmt::format("fence {} overlaps fence {}", index, other));
    }
  }
}

void FenceSet::reset() {
  fences_ = {};
  valid_ = 0;
}

const Fence* FenceSet::find(GgttOffset address) const {
  for (uint32_t left = valid_; left != 0; left &= left - 1) {
    const Fence& fence = fences_[static_cast<size_t>(std::countr_zero(left))];
    if (fence.contains(address)) {
      return &fence;
    }
  }
  return nullptr;
}

const Fence* FenceSet::meeting(GgttOffset first, GgttOffset last) const {
  for (uint32_t left = valid_; left != 0; left &= left - 1) {
    const Fence& fence = fences_[static_cast<size_t>(std::countr_zero(left))];
    if (fence.start <= last && first <= fence.last) {
      return &fence;
    }
  }
  return nullptr;
}

}  // namespace halogen::surface
