#include "pipe3d/geometry/clip_stage.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

constexpr uint32_t kChannels = 8;
constexpr size_t kPlaceSlot = 1;  // x, y, z divided by w, then 1/w
constexpr uint32_t kXyPlanes = 0b111100;
constexpr uint32_t kZPlanes = 0b000011;
constexpr unsigned kPlanesShift = 26;  // of flags that threads are told
constexpr unsigned kUserShift = 14;
constexpr uint32_t kFirstEdge = 1 << 8;  // of a polygon's triangle: they are edges of the polygon
constexpr uint32_t kLastEdge = 1 << 9;

// Flags of a vertex that a thread has written.
constexpr uint32_t kPrimitiveEnd = 1;
constexpr uint32_t kPrimitiveStart = 2;
constexpr unsigned kTopologyShift = 2;
constexpr uint32_t kTopologyMask = 0x1f;

struct Limits {
  float x_min = -1;
  float x_max = 1;
  float y_min = -1;
  float y_max = 1;
};

// Planes that a place is outside of, in the order in which threads know them: far, near, top, bottom, right, left.
// Behind the eye, where 1/w is negative, sides are the other way round. What is no number is outside.
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
      return {Verdict::drop, 0};
    case hw::ClipMode::ACCEPT_ALL:
      return {Verdict::pass, 0};
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
      return {Verdict::drop, 0};
    }
    const uint32_t planes = planes_of(vertex[kPlaceSlot], {}, z_min, unit.z_test) & tested;
    const uint32_t flags = vertex[0][3] & unit.user_flags;
    outside_all &= planes;
    user_all &= flags;
    outside |= unit.guard_band ? planes_of(vertex[kPlaceSlot], guard, z_min, unit.z_test) & tested : planes;
    user |= flags;
    behind = behind || std::bit_cast<float>(vertex[kPlaceSlot][3]) < 0.0f;
  }
  const uint32_t told = outside << kPlanesShift | user << kUserShift;
  if (unit.mode == hw::ClipMode::ALL) {
    return {Verdict::thread, told};
  }
  if (outside_all != 0 || user_all != 0) {
    return {Verdict::drop, 0};
  }
  const bool must = outside != 0 || (unit.user_must_clip && user != 0) || (unit.negative_w && behind);
  return {must || unit.mode == hw::ClipMode::CLIP_NON_REJECTED ? Verdict::thread : Verdict::pass, told};
}

// r0: the first entry to write, the flags, edges and topology; behind the constants the vertices as they came, two
// slots a register.
ThreadEnd ClipStage::run(const Assembled& object, uint32_t flags, const EntryStore& entries, const Emit& emit) {
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
  put_dword(thread, 0, 0, output_.add());
  put_dword(thread, 0, 2,
            flags | (made.edge[0] ? kFirstEdge : 0) | (made.edge[2] ? kLastEdge : 0) | static_cast<uint32_t>(topology));
  for (size_t v = 0; v < made.count; ++v) {
    const std::span<const Slot> entry = entries.entry(made.vertex[v]);
    for (size_t row = 0; row < shader.read_length; ++row, ++grf) {
      for (size_t half = 0; half < 2; ++half) {
        const size_t slot = (shader.read_offset + row) * 2 + half;
        for (size_t c = 0; slot < entry.size() && c < 4; ++c) {
          put_dword(thread, grf, half * 4 + c, entry[slot][c]);
        }
      }
    }
  }
  thread.start(static_cast<uint32_t>(shader.kernel), static_cast<uint32_t>(low_mask(kChannels)));
  const ThreadEnd end = unit_.run(thread);
  if (end != ThreadEnd::done) {
    return end;
  }
  Assembler assembler;
  const auto forward = [&](const Assembled& primitive) { emit(primitive, output_); };
  for (const Written& vertex : written_) {
    if ((vertex.flags & kPrimitiveStart) != 0) {
      assembler.cut(forward);
      assembler =
          Assembler(static_cast<Topology>(vertex.flags >> kTopologyShift & kTopologyMask), state_->raster.provoking);
    }
    assembler.add(vertex.handle, forward);
    if ((vertex.flags & kPrimitiveEnd) != 0) {
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
    written_.push_back({write.header[0] & (ShaderUnit::kInputHandles - 1), write.header[2]});
  }
}

}  // namespace halogen::pipe3d
