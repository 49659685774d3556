#include "pipe3d/geometry/vertex_stage.h"

#include <algorithm>

#include "base/bits.h"
#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kLanes = 8;
constexpr uint32_t kMaxEntrySlots = 512;

uint32_t input_slots(const VertexState& state) {
  uint32_t dwords = 0;
  for (const VertexElement& element : state.elements) {
    dwords = std::max(dwords, element.slot + 4);
  }
  return (dwords + 3) / 4;
}

}  // namespace

void VertexStage::begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space) {
  state_ = &state;
  const Shader& shader = state.vertex_shader.shader;
  const uint32_t fetched = std::max(input_slots(state.vertices), 1u);
  const uint32_t read = (shader.read_offset + shader.read_length) * 2;
  const uint32_t made = std::clamp(state.vertex_shader.entry_slots, 2u, kMaxEntrySlots);
  input_.begin(std::max({fetched, read, runs() ? 0u : made}));
  output_.begin(made);
  slots_ = runs() ? output_.slots() : input_.slots();
  if (thread_ == nullptr) {
    thread_ = std::make_unique<eu::Thread>();
  }
  if (runs()) {
    unit_.begin(generation, state, shader, space);
    unit_.set_urb(&input_, &output_);
    unit_.use_kernel(shader.kernel);
  }
}

uint32_t VertexStage::add() {
  const uint32_t handle = input_.add();
  if (runs()) {
    output_.add();
  }
  return handle;
}

ThreadEnd VertexStage::shade(uint32_t first) {
  if (!runs()) {
    return ThreadEnd::done;
  }
  const bool wide = state_->vertex_shader.dispatch == VertexDispatch::simd8;
  const uint32_t step = wide ? kLanes : 2;
  for (uint32_t at = first; at < input_.count(); at += step) {
    const uint32_t count = std::min(step, input_.count() - at);
    const ThreadEnd end = wide ? shade_eight(at, count) : shade_pair(at, count);
    if (end != ThreadEnd::done) {
      return end;
    }
  }
  return ThreadEnd::done;
}

// Shades up to eight vertices. r1: handles; then constants; then a register per component of each element, with a lane
// per vertex.
ThreadEnd VertexStage::shade_eight(uint32_t first, uint32_t count) {
  const Shader& shader = state_->vertex_shader.shader;
  eu::Thread& thread = *thread_;
  size_t grf = unit_.prepare(thread, shader, shader.first_grf);
  hw::VERTEX_HANDLES handles;
  for (uint32_t lane = 0; lane < count; ++lane) {
    handles.vertices[lane].handle = static_cast<uint16_t>(first + lane);
  }
  unit_.put(thread, handles);
  const uint32_t begin = shader.read_offset * 2;
  const uint32_t end = begin + shader.read_length * 2;
  for (uint32_t slot = begin; slot < end; ++slot) {
    const uint8_t kept = slot < state_->vertices.elements.size() ? state_->vertices.elements[slot].kept : 0xf;
    for (size_t c = 0; c < 4; ++c) {
      if ((kept >> c & 1) == 0) {
        continue;
      }
      for (uint32_t lane = 0; lane < count; ++lane) {
        const std::span<const Slot> entry = std::as_const(input_).entry(first + lane);
        put_dword(thread, grf, lane, slot < entry.size() ? entry[slot][c] : 0);
      }
      ++grf;
    }
  }
  thread.start(static_cast<uint32_t>(shader.kernel), static_cast<uint32_t>(low_mask(count)));
  return unit_.run(thread);
}

// Shades two vertices. r0: two handles; then constants; then a register per element, with the second vertex in its
// upper half. The last vertex of an odd number is shaded twice.
ThreadEnd VertexStage::shade_pair(uint32_t first, uint32_t count) {
  const Shader& shader = state_->vertex_shader.shader;
  eu::Thread& thread = *thread_;
  size_t grf = unit_.prepare(thread, shader, shader.first_grf);
  const uint32_t second = count > 1 ? first + 1 : first;
  unit_.put(thread, hw::VERTEX_PAIR{.first_handle = static_cast<uint16_t>(first),
                                    .second_handle = static_cast<uint16_t>(second)});
  const uint32_t begin = shader.read_offset * 2;
  const uint32_t end = begin + shader.read_length * 2;
  for (uint32_t slot = begin; slot < end; ++slot, ++grf) {
    for (size_t half = 0; half < 2; ++half) {
      const std::span<const Slot> entry = std::as_const(input_).entry(half == 0 ? first : second);
      for (size_t c = 0; slot < entry.size() && c < 4; ++c) {
        put_dword(thread, grf, half * 4 + c, entry[slot][c]);
      }
    }
  }
  thread.start(static_cast<uint32_t>(shader.kernel), static_cast<uint32_t>(low_mask(kLanes)));
  return unit_.run(thread);
}

}  // namespace halogen::pipe3d
