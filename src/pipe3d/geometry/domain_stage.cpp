#include "pipe3d/geometry/domain_stage.h"

#include <algorithm>

#include "base/bits.h"
#include "hw/thread_payloads.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kLanes = 8;
constexpr uint32_t kMaxEntrySlots = 512;
constexpr uint32_t kOne = 1 << 16;
constexpr size_t kCoordinatesGrf = 1;  // u, v and w have a register each

float coordinate(uint32_t fixed) {
  return static_cast<float>(fixed) / kOne;
}

}  // namespace

uint32_t DomainStage::vertex_slots(const Tessellation& tessellation) {
  return std::clamp(tessellation.domain_slots, 2u, kMaxEntrySlots);
}

void DomainStage::begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space) {
  state_ = &state;
  if (thread_ == nullptr) {
    thread_ = std::make_unique<eu::Thread>();
  }
  unit_.begin(generation, state, state.tessellation.domain_shader, space);
  unit_.use_kernel(state.tessellation.domain_shader.kernel);
}

// Runs threads. r0: handle and number of the patch; r1 to r3: coordinates; r4: handles. A part of the patch follows the
// constants, two slots per register.
ThreadEnd DomainStage::run(EntryStore& patches, uint32_t patch, uint32_t id, std::span<const DomainPoint> points) {
  const Tessellation& tessellation = state_->tessellation;
  const Shader& shader = tessellation.domain_shader;
  eu::Thread& thread = *thread_;
  unit_.set_urb(&patches, &vertices_);
  vertices_.begin(vertex_slots(tessellation));
  const std::span<const Slot> entry = std::as_const(patches).entry(patch);
  for (size_t first = 0; first < points.size(); first += kLanes) {
    const std::span<const DomainPoint> some = points.subspan(first, std::min<size_t>(kLanes, points.size() - first));
    const size_t grf = unit_.prepare(thread, shader, shader.first_grf);
    unit_.put(thread,
              hw::DOMAIN_PATCH{.handle = static_cast<uint16_t>(patch | ShaderUnit::kInputHandles), .primitive_id = id});
    hw::DOMAIN_HANDLES handles;
    for (size_t lane = 0; lane < some.size(); ++lane) {
      const DomainPoint& point = some[lane];
      put_float(thread, kCoordinatesGrf, lane, coordinate(point.u));
      put_float(thread, kCoordinatesGrf + 1, lane, coordinate(point.v));
      if (tessellation.domain_w) {
        put_float(thread, kCoordinatesGrf + 2, lane, coordinate(kOne - std::min(kOne, point.u + point.v)));
      }
      handles.points[lane].handle = static_cast<uint16_t>(vertices_.add());
    }
    unit_.put(thread, handles);
    put_entry_rows(thread, grf, shader, entry);
    thread.start(static_cast<uint32_t>(shader.kernel),
                 static_cast<uint32_t>(low_mask(static_cast<unsigned>(some.size()))));
    const ThreadEnd end = unit_.run(thread);
    if (end != ThreadEnd::done) {
      return end;
    }
  }
  return ThreadEnd::done;
}

}  // namespace halogen::pipe3d
