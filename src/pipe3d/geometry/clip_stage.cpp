#include "pipe3d/geometry/clip_stage.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

constexpr uint32_t kChannels = 8;
constexpr size_t kPlaceSlot = 1;  // x, y, z divided by w, then 1/w
constexpr uint32_t kXyPlanes = 0b111100;
constexpr uint32_t kZPlanes = 0b000011;

struct Limits {
  float x_min = -1;
  float x_max = 1;
  float y_min = -1;
  float y_max = 1;
};

// Returns the planes that a position is outside of, in the order of the payload: far, near, top, bottom, right, left.
// Behind the eye, where 1/w is negative, sides are swapped. NaN is outside.
uint32_t planes_of(const Slot& place, const Limits& limits, float z_min, bool z_tested) {
  const auto value = [&](size_t i) { return std::bit_cast<float>(place[i]); };
  const bool behind = value(3) < 0.0f;
  const auto above = [&](float v, float limit) { return behind ? !(v >= limit) : !(v <= limit); };
  const auto below = [&](float v, float limit) { return behind ? !(v <= limit) : !(v >= limit); };
  uint32_t planes = 0;
  if (z_tested) {
    planes |= above(value(2), 1.0f) ? 1u : 0;
    planes |= below(value(2), z_min) ? 2u : 0;
  }
  planes |= above(value(1), limits.y_max) ? 4u : 0;
  planes |= below(value(1), limits.y_min) ? 8u : 0;
  planes |= above(value(0), limits.x_max) ? 16u : 0;
  planes |= below(value(0), limits.x_min) ? 32u : 0;
  return planes;
}

}  // namespace

void ClipStage::begin(const Generation& generation, const PipelineState& state, uint32_t slots,
                      memory::AddressSpace& space) {
  state_ = &state;
  slots_ = slots;
  if (!runs()) {
    return;
  }
  if (thread_ == nullptr) {
    thread_ = std::make_unique<eu::Thread>();
  }
  unit_.set_urb_allocator(this);
  unit_.set_urb(nullptr, &output_);
  unit_.begin(generation, state, state.clip_unit.shader, space);
  unit_.use_kernel(state.clip_unit.shader.kernel);
}

ClipStage::Judgement ClipStage::judge(const PipelineState& state, const Assembled& object, const EntryStore& entries) {
  const ClipUnit& unit = state.clip_unit;
  switch (unit.mode) {
    case hw::ClipMode::REJECT_ALL:
      return {Verdict::drop, {}};
    case hw::ClipMode::ACCEPT_ALL:
      return {Verdict::pass, {}};
    case hw::ClipMode::NORMAL:
    case hw::ClipMode::ALL:
    case hw::ClipMode::CLIP_NON_REJECTED:
      break;
  }
  const Viewport& viewport = state.viewports[0];
  const Limits guard{viewport.guard_x_min, viewport.guard_x_max, viewport.guard_y_min, viewport.guard_y_max};
  const float z_min = unit.zero_to_one ? 0.0f : -1.0f;
  const uint32_t tested = unit.xy_test ? kXyPlanes | kZPlanes : kZPlanes;
  uint32_t outside_all = ~0u;
  uint32_t user_all = ~0u;
  uint32_t outside = 0;
  uint32_t user = 0;
  bool behind = false;
  for (size_t i = 0; i < object.count; ++i) {
    const std::span<const Slot> vertex = entries.entry(object.vertex[i]);
    if (vertex.size() <= kPlaceSlot) {
      return {Verdict::drop, {}};
    }
    const uint32_t planes = planes_of(vertex[kPlaceSlot], {}, z_min, unit.z_test) & tested;
    const uint32_t flags = vertex[0][3] & unit.user_flags;
    outside_all &= planes;
    user_all &= flags;
    outside |= unit.guard_band ? planes_of(vertex[kPlaceSlot], guard, z_min, unit.z_test) & tested : planes;
    user |= flags;
    behind = behind || std::bit_cast<float>(vertex[kPlaceSlot][3]) < 0.0f;
  }
  const Outside told{.planes = static_cast<uint8_t>(outside), .user_planes = static_cast<uint8_t>(user)};
  if (unit.mode == hw::ClipMode::ALL) {
    return {Verdict::thread, told};
  }
  if (outside_all != 0 || user_all != 0) {
    return {Verdict::drop, {}};
  }
  const bool must = outside != 0 || (unit.user_must_clip && user != 0) || (unit.negative_w && behind);
  return {must || unit.mode == hw::ClipMode::CLIP_NON_REJECTED ? Verdict::thread : Verdict::pass, told};
}

// Runs a thread. r0 holds the first entry to write, the flags, edges and topology. The unchanged vertices follow the
// constants, two slots per register.
ThreadEnd ClipStage::run(const Assembled& object, const Outside& outside, const EntryStore& entries, const Emit& emit) {
  const Shader& shader = state_->clip_unit.shader;
  eu::Thread& thread = *thread_;
  output_.begin(slots_);
  written_.clear();
  size_t grf = unit_.prepare(thread, shader, shader.first_grf);
  Assembled made = object;
  Topology topology = made.topology;
  if (made.swapped && made.count == 3) {
    std::swap(made.vertex[0], made.vertex[1]);
    topology = Topology::TRISTRIP_REVERSE;
  }
  unit_.put(thread, hw::CLIP_OBJECT{.handle = static_cast<uint16_t>(output_.add()),
                                    .topology = topology,
                                    .first_edge = made.edge[0],
                                    .last_edge = made.edge[2],
                                    .user_planes = outside.user_planes,
                                    .planes = outside.planes});
  for (size_t v = 0; v < made.count; ++v) {
    grf = put_entry_rows(thread, grf, shader, entries.entry(made.vertex[v]));
  }
  thread.start(static_cast<uint32_t>(shader.kernel), static_cast<uint32_t>(low_mask(kChannels)));
  const ThreadEnd end = unit_.run(thread);
  if (end != ThreadEnd::done) {
    return end;
  }
  Assembler assembler;
  const auto forward = [&](const Assembled& primitive) { emit(primitive, output_); };
  for (const hw::URB_WRITE_HEADER& vertex : written_) {
    if (vertex.primitive_start) {
      assembler.cut(forward);
      assembler = Assembler(vertex.topology, state_->raster.provoking);
    }
    assembler.add(vertex.first_handle & ShaderUnit::kHandleNumber, forward);
    if (vertex.primitive_end) {
      assembler.cut(forward);
    }
  }
  assembler.cut(forward);
  return ThreadEnd::done;
}

uint32_t ClipStage::allocate(eu::Thread& /*thread*/, uint32_t /*primitives*/) {
  return output_.count() + 1 < ShaderUnit::kInputHandles ? output_.add() : output_.count() - 1;
}

void ClipStage::written(eu::Thread& /*thread*/, const message::UrbWrite& write) {
  if (write.used && write.complete && written_.size() < ShaderUnit::kInputHandles) {
    written_.push_back(write.header);
  }
}

}  // namespace halogen::pipe3d
