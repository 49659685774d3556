#include "engine/backend/surface_report.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/engine.h"

namespace halogen::engine {
namespace {

using surface::SurfaceFault;

// Returns the rule that a use of a surface breaks. The processor sees a tiled surface in a fenced region too, because
// both use the same pages unless the per-process address space is enabled.
SurfaceFault check(Engine& engine, const surface::SurfaceUse& use) {
  const SurfaceFault fault = surface::check_client(engine.gen(), use);
  if (fault != SurfaceFault::none || use.tiling == Tiling::linear || use.bytes == 0 || engine.per_process_space()) {
    return fault;
  }
  const GgttOffset base{use.base.value};
  const surface::Fence* const fence = engine.services().fence_meeting(base, base + (use.bytes - 1));
  return fence == nullptr ? SurfaceFault::none : surface::check_shared(engine.gen(), use, *fence, base, false);
}

}  // namespace

void SurfaceReport::add(Engine& engine, std::span<const surface::SurfaceUse> uses) {
  for (const surface::SurfaceUse& use : uses) {
    if (std::ranges::find(known_, use) != known_.end()) {
      continue;
    }
    known_.push_back(use);
    const SurfaceFault fault = check(engine, use);
    if (fault != SurfaceFault::none) {
      engine.raise(EventKind::undefined_behaviour, "SURFACE_STATE", use.base.value, use.pitch_B,
                   fmt::format("{}: {}", name_of(use.client), name_of(fault)));
    }
  }
}

}  // namespace halogen::engine
