#include "message/surface_uses.h"

#include <algorithm>
#include <utility>

namespace halogen::message {
namespace {

constexpr size_t kMaxUses = 64;  // of one part of work; a guest may name any number of surfaces

}  // namespace

void SurfaceUses::keep(const surface::SurfaceUse& use) {
  if (uses_.size() < kMaxUses && std::ranges::find(uses_, use) == uses_.end()) {
    uses_.push_back(use);
  }
}

void SurfaceUses::note(spec::GenId gen, const surface::SurfaceUse& use) {
  const ClientRule* const rule = client_rule(gen, use.client);
  if (rule != nullptr && rule->reports_states) {
    keep(use);
  }
}

void SurfaceUses::note(spec::GenId gen, MemoryClient client, const Surface& surface, Tiling tiling) {
  const bool has_lines = surface.kind == Surface::Kind::image && surface.type != hw::SurfaceType::SURFTYPE_1D;
  if (!has_lines || !surface.readable()) {
    return;
  }
  const uint64_t elements = (surface.width + surface.element_width - 1) / surface.element_width;
  note(gen, {.client = client,
             .tiling = tiling,
             .element_bits = surface.element_bytes() * 8,
             .base = GpuVa(surface.base),
             .pitch_B = surface.layout.pitch_B,
             .width_B = elements * surface.element_bytes(),
             .bytes = surface.bytes});
}

void SurfaceUses::merge(SurfaceUses& other) {
  for (const surface::SurfaceUse& use : other.take()) {
    keep(use);
  }
}

std::vector<surface::SurfaceUse> SurfaceUses::take() {
  return std::exchange(uses_, {});
}

}  // namespace halogen::message
