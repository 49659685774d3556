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

void SurfaceUses::note(const SurfaceBinding& binding) {
  const auto same = [&](const SurfaceBinding& other) {
    const Surface& a = binding.surface;
    const Surface& b = other.surface;
    return binding.client == other.client && binding.typed == other.typed && a.base == b.base && a.width == b.width &&
           a.height == b.height && a.states.form == b.states.form && a.levels == b.levels &&
           a.first_level == b.first_level && a.render_level == b.render_level && a.first_layer == b.first_layer &&
           a.depth == b.depth && a.render_layers == b.render_layers;
  };
  if (bindings_.size() < kMaxUses && std::ranges::none_of(bindings_, same)) {
    bindings_.push_back(binding);
    bindings_.back().surface.clear_blocks = nullptr;
  }
}

void SurfaceUses::merge(SurfaceUses& other) {
  for (const surface::SurfaceUse& use : other.take()) {
    keep(use);
  }
  for (const SurfaceBinding& binding : other.take_bindings()) {
    note(binding);
  }
}

std::vector<surface::SurfaceUse> SurfaceUses::take() {
  return std::exchange(uses_, {});
}

std::vector<SurfaceBinding> SurfaceUses::take_bindings() {
  return std::exchange(bindings_, {});
}

}  // namespace halogen::message
