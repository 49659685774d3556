#include "message/surface_table.h"

#include <algorithm>
#include <span>

#include "hw/struct_sizes.h"
#include "message/block_states.h"
#include "message/sample_map.h"
#include "surface/state_layout.h"

namespace halogen::message {
namespace {

constexpr uint64_t kBindlessUnit_B = 64;
// Tells the memory where an X-tiled image lies, because tiled resources may not leave holes in it. The extent is an
// upper bound: levels take at most half as many rows again, below the first.
void note_tiling(const Surface& surface, memory::AddressSpace& space) {
  if (surface.kind != Surface::Kind::image || surface.layout.pattern == nullptr ||
      surface.layout.pattern->tiling != Tiling::x) {
    return;
  }
  const uint64_t layers = uint64_t{surface.first_layer} + std::max(surface.depth, 1u) * std::max(surface.samples, 1u);
  const uint64_t rows = surface.layout.layer_rows * (layers - 1) + surface.y_offset + 2 * uint64_t{surface.height};
  space.note_x_tiled_surface(surface.base, surface.layout.row_B() * rows);
}

constexpr size_t kMaxStates = 4096;  // limits the cache, because a guest may name any number of bindless states

}  // namespace

const Surface* SurfaceTable::find(const Generation& generation, const Environment& environment, uint8_t index,
                                  uint32_t extended) {
  if (by_address_.size() >= kMaxStates) {
    forget();
  }
  watches_states_ = environment.bases.watches_states;
  if (binding_of(message_rules(generation.id()), index) == Binding::bindless) {
    const uint64_t state = uint64_t{eu::ExtendedBits::kBindless.of(extended)} * kBindlessUnit_B;
    return at(generation, *environment.space, environment.bases.bindless_surface + state, environment.bases.aux_table);
  }
  if (const Surface* const known = by_index_[index]) {
    return known;
  }
  uint32_t entry = 0;
  const uint64_t table = environment.binding_table;
  if (!ok(environment.space->read(wrapped_address(table + uint64_t{index} * sizeof(entry)),
                                  std::as_writable_bytes(std::span(&entry, 1))))) {
    return nullptr;
  }
  const auto pointer = hw::BINDING_TABLE_STATE::unpack(generation.id(), std::span(&entry, 1)).surface_state_pointer;
  by_index_[index] =
      at(generation, *environment.space, environment.bases.surface + pointer, environment.bases.aux_table);
  return by_index_[index];
}

bool SurfaceTable::make_plain(const Surface* surface, memory::AddressSpace& space) {
  if (surface->states.form == surface::StateForm::none) {
    return true;
  }
  const auto found = std::ranges::find_if(by_address_, [&](const auto& entry) { return &entry.second == surface; });
  const Fill filled = found == by_address_.end() ? Fill::fault : fill_clear_blocks(*surface, space);
  if (watches_states_) {
    uses_.note({.client = client_, .surface = *surface, .element_B = surface->element_bytes(), .typed = true});
  }
  if (filled == Fill::done) {
    found->second.states = {};
    found->second.clear_blocks = nullptr;
  }
  return filled != Fill::fault;
}

// Drops the states of a surface without clear blocks, and notes where clear blocks are.
void SurfaceTable::find_clear_blocks(Surface& surface, memory::AddressSpace& space) {
  if (!may_be_clear(surface, space)) {
    surface.states = {};
    return;
  }
  ClearBlocks& blocks = clear_blocks_.emplace_back();
  if (blocks.read(surface, space)) {
    surface.clear_blocks = &blocks;
  } else {
    clear_blocks_.pop_back();
  }
}

// Notes an image for the rules of compression state.
void SurfaceTable::watch(const Surface& surface) {
  if (watches_states_ && surface.kind == Surface::Kind::image && surface.readable() && surface.samples == 1) {
    const bool target = client_ == MemoryClient::color;
    uses_.note({.client = client_, .surface = surface, .element_B = surface.element_bytes(), .writes = target});
  }
}

const Surface* SurfaceTable::at(const Generation& generation, memory::AddressSpace& space, uint64_t address,
                                uint64_t aux_table) {
  const auto known = by_address_.find(address);
  if (known != by_address_.end()) {
    return &known->second;
  }
  std::array<uint32_t, hw::kMaxDwords<hw::RENDER_SURFACE_STATE>> state{};
  if (!ok(space.read(wrapped_address(address), std::as_writable_bytes(std::span(state))))) {
    return nullptr;
  }
  const auto fields = hw::RENDER_SURFACE_STATE::unpack(generation.id(), state);
  unread_.note(hw::RENDER_SURFACE_STATE::kDesc, generation.id(), state);
  Surface surface = decode_surface(generation, fields);
  uses_.note(generation.id(), client_, surface, surface::tiling_of(fields));
  if (!attach_map(generation, fields, space, surface) ||
      !attach_states(generation, fields, aux_table, space, surface)) {
    return nullptr;
  }
  watch(surface);
  if (client_ == MemoryClient::sampler) {
    find_clear_blocks(surface, space);
  }
  if (settles_ && !settle_samples(surface, client_ == MemoryClient::sampler, space)) {
    return nullptr;
  }
  note_tiling(surface, space);
  return &by_address_.emplace(address, surface).first->second;
}

}  // namespace halogen::message
