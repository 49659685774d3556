#include "engine/backend/state_report.h"

#include <algorithm>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "message/state_watch.h"

namespace halogen::engine {
namespace {

using message::StateWatch;

void report(Engine& engine, std::string_view work, MemoryClient client,
            const std::optional<StateWatch::Finding>& finding) {
  if (finding) {
    engine.raise(EventKind::undefined_behaviour, work, finding->base, finding->states,
                 message::describe(client, *finding));
  }
}

// Returns the use of a rectangle of a BLT's surface: pixels from (x, y) on.
StateWatch::Use use_of(const blit::BlitJob& job, const blit::Surface& surface, int64_t x, int64_t y, bool writes) {
  const uint64_t width = static_cast<uint64_t>(int64_t{job.rect.x2} - job.rect.x1);
  const uint64_t height = static_cast<uint64_t>(int64_t{job.rect.y2} - job.rect.y1);
  const uint64_t first_x = static_cast<uint64_t>(std::max<int64_t>(x, 0));
  const uint64_t first_y = static_cast<uint64_t>(std::max<int64_t>(y, 0));
  const uint64_t pixel_B = job.linear_command ? 1 : job.pixel_B;
  const auto pitch_B = static_cast<uint64_t>(surface.pitch_B < 0 ? -surface.pitch_B : surface.pitch_B);
  return {.client = MemoryClient::blit,
          .base = surface.base,
          .pattern = surface.tile,
          .pitch_B = pitch_B,
          .bytes = pitch_B * (first_y + height),
          .boxes = {{.x_B = first_x * pixel_B,
                     .end_x_B = (first_x + width) * pixel_B,
                     .row = first_y,
                     .end_row = first_y + height}},
          .writes = writes};
}

}  // namespace

void report_states(Engine& engine, std::string_view work, std::span<const message::SurfaceBinding> bindings,
                   memory::AddressSpace& space) {
  StateWatch* const watch = engine.services().state_watch();
  if (watch == nullptr) {
    return;
  }
  // Surfaces that are used with states are noted before the others are checked.
  for (const bool with_states : {true, false}) {
    for (const message::SurfaceBinding& binding : bindings) {
      if ((binding.surface.states.form != surface::StateForm::none) == with_states) {
        report(engine, work, binding.client, watch->check(binding, space));
      }
    }
  }
}

void report_states(Engine& engine, std::string_view work, const blit::BlitJob& job, memory::AddressSpace& space) {
  StateWatch* const watch = engine.services().state_watch();
  if (watch == nullptr || job.rect.empty()) {
    return;
  }
  if (job.source == blit::SourceKind::color) {
    report(engine, work, MemoryClient::blit,
           watch->check(use_of(job, job.source_surface, job.source_x, job.source_y, false), space));
  }
  report(engine, work, MemoryClient::blit,
         watch->check(use_of(job, job.destination, job.rect.x1, job.rect.y1, true), space));
}

}  // namespace halogen::engine
