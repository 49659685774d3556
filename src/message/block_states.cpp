#include "message/block_states.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "gen/compression_rules.h"
#include "message/environment.h"
#include "message/sample_map.h"

namespace halogen::message {
namespace {

using surface::BlockState;
using surface::StateForm;

constexpr uint64_t kPage_B = 4096;
// A guest chooses the size of a surface. Larger ones are not scanned, and not filled at once.
constexpr uint64_t kMaxScan_B = uint64_t{4} << 20;      // of states
constexpr uint64_t kMaxMapped_B = uint64_t{256} << 20;  // of a surface with mapped states
constexpr uint64_t kMaxFilled = 1 << 19;                // blocks

bool has_control_surface(const Surface& surface, hw::AuxiliarySurfaceMode mode) {
  using Mode = hw::AuxiliarySurfaceMode;
  // AUX_MCS (Gen8) and AUX_CCS_D (Gen9 on) are names for the same encoding.
  return surface.samples == 1 && (mode == Mode::AUX_MCS || mode == Mode::AUX_CCS_D || mode == Mode::AUX_CCS_E);
}

// Returns the size of a block in elements. Zero: blocks of this tiling and element size do not exist.
void set_blocks(const Surface& surface, surface::StateMap& map) {
  const bool x_tiles = surface.layout.pattern->tiling == Tiling::x;
  const uint32_t element_B = std::max(surface.element_bytes(), 1u);
  map.block_width = std::max((x_tiles ? 64u : 32u) / element_B, 1u);
  map.block_height = x_tiles ? 2 : 4;
}

bool scan(uint64_t first, uint64_t bytes, StateForm form, memory::AddressSpace& space) {
  std::array<uint64_t, kPage_B / sizeof(uint64_t)> words{};
  for (uint64_t at = 0; at < bytes; at += kPage_B) {
    const uint64_t size = std::min(kPage_B, bytes - at);
    if (!ok(space.read(wrapped_address(first + at), std::as_writable_bytes(std::span(words)).first(size)))) {
      return true;
    }
    const std::span there = std::span(words).first((size + 7) / 8);
    if (form == StateForm::hierarchical) {
      for (size_t i = 0; i < there.size(); i += 2) {
        if ((there[i] & 0xff) == 0) {
          return true;
        }
      }
      continue;
    }
    // A clear block has its highest bit set, and others have not.
    const uint64_t clear = form == StateForm::one_bit    ? ~uint64_t{0}
                           : form == StateForm::two_bits ? 0xaaaa'aaaa'aaaa'aaaa
                                                         : 0x8888'8888'8888'8888;
    uint64_t any = 0;
    for (const uint64_t word : there) {
      any |= word;
    }
    if ((any & clear) != 0) {
      return true;
    }
  }
  return false;
}

// Returns the rows of a surface's memory, of all layers and levels: an upper bound.
uint64_t rows_of(const Surface& surface) {
  const uint64_t layers = uint64_t{surface.first_layer} + std::max({surface.depth, surface.render_layers, 1u});
  return surface.layout.layer_rows * (layers - 1) + uint64_t{surface.height} * 2 + 64;
}

constexpr uint64_t kConvertedAt = 16;  // CLEAR_COLOR
constexpr size_t kConverted_B = 8;

// Returns whether samplers read the first components of the clear colour as the bytes of an element, not the converted
// colour (Mesa isl, isl_get_sampler_clear_field_offset).
bool samples_raw(const Surface& surface) {
  return surface.element_bytes() > kConverted_B || surface.format_id == hw::SurfaceFormat::R24_UNORM_X8_TYPELESS ||
         (surface.element_bytes() == 4 && surface.format->channel[0].bits == 32);
}

std::array<std::byte, 16> packed_clear(const Surface& surface) {
  std::array<std::byte, 16> bytes{};
  if (surface.block == nullptr && surface.format->known() && surface.format->bytes() <= bytes.size()) {
    surface::pack_texel(*surface.format, surface.clear, bytes.data());
  }
  return bytes;
}

}  // namespace

bool attach_clear(const Generation& generation, const hw::RENDER_SURFACE_STATE& state, memory::AddressSpace& space,
                  Surface& surface) {
  if (!clear_colour(state, surface.integer(), space, surface.clear)) {
    return false;
  }
  surface.sampled_clear = packed_clear(surface);
  if (!state.clear_value_address_enable) {
    return true;
  }
  const ClearConversion conversion = compression_rules(generation.id()).conversion;
  const uint64_t address = state.clear_value_address.value;
  if (conversion == ClearConversion::always ||
      (conversion == ClearConversion::if_enabled && state.clear_color_conversion_enable)) {
    surface.converted_at = address + kConvertedAt;
  }
  if (samples_raw(surface)) {
    std::memcpy(surface.sampled_clear.data(), surface.clear.data(), surface.sampled_clear.size());
    return true;
  }
  surface.sampled_clear = {};
  return ok(space.read(wrapped_address(address + kConvertedAt), std::span(surface.sampled_clear).first(kConverted_B)));
}

bool store_converted_clear(const Surface& surface, memory::AddressSpace& space) {
  const std::array<std::byte, 16> bytes = packed_clear(surface);
  return surface.converted_at == 0 ||
         ok(space.write(wrapped_address(surface.converted_at), std::span(bytes).first(kConverted_B)));
}

BlockStates::BlockStates(const surface::StateMap& map, memory::AddressSpace& space)
    : map_(map), space_(&space), table_(space, map.base) {}

std::optional<surface::StatePlace> BlockStates::find(const surface::BlockIndex& block, uint64_t main) {
  if (map_.form == StateForm::four_bits) {
    const std::optional<uint64_t> states = table_.find(main);
    if (!states) {
      return std::nullopt;
    }
    surface::StatePlace at = surface::mapped_state_place(main);
    at.offset += *states;
    return at;
  }
  surface::StatePlace at = surface::state_place(map_, block);
  at.offset += map_.base;
  return at;
}

BlockState BlockStates::read(const surface::BlockIndex& block, uint64_t main) {
  const std::optional<surface::StatePlace> at = find(block, main);
  uint8_t byte = 0;
  if (!at) {
    return BlockState::resolved;
  }
  if (!ok(space_->read(wrapped_address(at->offset), std::as_writable_bytes(std::span(&byte, 1))))) {
    failed_ = true;
    return BlockState::resolved;
  }
  return surface::decode_state(map_.form, static_cast<uint8_t>(byte >> at->shift & surface::state_mask(map_.form)));
}

void change_states(std::byte* at, uint8_t mask, uint8_t bits) {
  std::atomic_ref byte(*reinterpret_cast<uint8_t*>(at));
  if (mask == 0xff) {
    byte.store(bits, std::memory_order_relaxed);
    return;
  }
  uint8_t old = byte.load(std::memory_order_relaxed);
  while (!byte.compare_exchange_weak(old, static_cast<uint8_t>((old & ~mask) | bits), std::memory_order_relaxed)) {
  }
}

bool BlockStates::write(const surface::BlockIndex& block, uint64_t main, BlockState state) {
  const std::optional<surface::StatePlace> at = find(block, main);
  if (!at) {
    return false;
  }
  const memory::AddressSpace::View view = space_->view(wrapped_address(at->offset), memory::kWrite);
  failed_ = failed_ || !ok(view.result);
  if (!ok(view.result) || view.bytes.empty()) {
    return false;
  }
  change_states(view.bytes.data(), static_cast<uint8_t>(surface::state_mask(map_.form) << at->shift),
                static_cast<uint8_t>(surface::encode_state(map_.form, state) << at->shift));
  return true;
}

bool BlockStates::read_four(const surface::BlockIndex& first, uint64_t main, std::array<BlockState, 4>& out) {
  out.fill(BlockState::resolved);
  const bool mapped = map_.form == StateForm::four_bits;
  if (map_.form == StateForm::hierarchical || (mapped ? surface::column_in_tile(main) : first.x) % 4 != 0) {
    return false;
  }
  const std::optional<surface::StatePlace> at = find(first, main);
  if (!at) {
    return true;
  }
  uint16_t word = 0;
  const size_t bytes = mapped ? 2 : 1;
  if (at->shift + 4 * surface::state_bits(map_.form) > 8 * bytes) {
    return false;
  }
  if (!ok(space_->read(wrapped_address(at->offset), std::as_writable_bytes(std::span(&word, 1)).first(bytes)))) {
    failed_ = true;
    return true;
  }
  for (unsigned i = 0; i < 4; ++i) {
    out[i] =
        surface::decode_state(map_.form, static_cast<uint8_t>(word >> (at->shift + i * surface::state_bits(map_.form)) &
                                                              surface::state_mask(map_.form)));
  }
  return true;
}

std::optional<BlockStates::Rows> BlockStates::rows(const surface::BlockIndex& first, uint64_t main, unsigned columns,
                                                   unsigned rows) {
  const std::optional<surface::StatePlace> at = find(first, main);
  const auto grid = at ? surface::state_grid(map_.form, *at, columns, rows) : std::nullopt;
  if (!grid) {
    return std::nullopt;
  }
  // A page holds the grid if the states of a surface are aligned to pages, as they should be.
  const GpuVa address = wrapped_address(at->offset);
  const surface::StatePlace last = grid->place(columns - 1, rows - 1);
  const memory::AddressSpace::View view = space_->view(address, {});
  if (!ok(view.result) || view.bytes.size() <= last.offset) {
    return std::nullopt;
  }
  return Rows{.grid = *grid, .address = address, .bytes = last.offset + 1, .first = view.bytes.data()};
}

std::byte* BlockStates::writable(const Rows& rows) {
  const memory::AddressSpace::View view = space_->view(rows.address, memory::kWrite);
  return ok(view.result) && view.bytes.size() >= rows.bytes ? view.bytes.data() : nullptr;
}

bool attach_states(const Generation& generation, const hw::RENDER_SURFACE_STATE& state, uint64_t aux_table,
                   memory::AddressSpace& space, Surface& surface) {
  const CompressionRules& rules = compression_rules(generation.id());
  const bool hierarchical =
      state.auxiliary_surface_mode == hw::AuxiliarySurfaceMode::AUX_HIZ && rules.hierarchical_depth;
  const bool control = has_control_surface(surface, state.auxiliary_surface_mode) && rules.control != ControlForm::none;
  if (surface.kind != Surface::Kind::image || surface.layout.pattern == nullptr || !surface.readable() ||
      (surface.layout.pattern->tiling != Tiling::y && surface.layout.pattern->tiling != Tiling::x) ||
      (!hierarchical && !control)) {
    return true;
  }
  surface::StateMap& map = surface.states;
  map = {.base = state.auxiliary_surface_base_address.value,
         .pitch_tiles = state.auxiliary_surface_pitch + uint64_t{1},
         .width = surface.width,
         .height = surface.height};
  const uint64_t layer_rows = uint64_t{state.auxiliary_surface_qpitch} * 4;
  if (hierarchical) {
    map.form = StateForm::hierarchical;
    map.block_width = 8;
    map.block_height = 4;
    map.pad_x = rules.hierarchical_pad_blocks;
    map.pad_y = rules.hierarchical_pad_rows;
  } else {
    set_blocks(surface, map);
    map.compresses = state.auxiliary_surface_mode == hw::AuxiliarySurfaceMode::AUX_CCS_E;
    map.pad_x = std::max(rules.control_pad_x / map.block_width, 1u);
    map.pad_y = std::max(rules.control_pad_y / map.block_height, 1u);
    switch (rules.control) {
      case ControlForm::one_bit:
        map.form = StateForm::one_bit;
        break;
      case ControlForm::two_bits:
        map.form = StateForm::two_bits;
        break;
      case ControlForm::mapped:
      case ControlForm::none:
        map.form = StateForm::four_bits;
        map.base = aux_table;
        break;
    }
  }
  map.layer_rows = layer_rows / map.block_height;
  return attach_clear(generation, state, space, surface);
}

bool may_be_clear(const Surface& surface, memory::AddressSpace& space) {
  const surface::StateMap& map = surface.states;
  if (map.form == StateForm::none) {
    return false;
  }
  if (map.form == StateForm::four_bits) {
    const uint64_t bytes = surface.layout.row_B() * rows_of(surface);
    if (bytes > kMaxMapped_B) {
      return true;
    }
    memory::AuxTable table(space, map.base);
    const uint64_t first = surface.base / surface::kMappedPage_B * surface::kMappedPage_B;
    for (uint64_t at = first; at < surface.base + bytes; at += surface::kMappedPage_B) {
      const std::optional<uint64_t> states = table.find(at);
      if (states && scan(*states, surface::kMappedPage_B / 256, map.form, space)) {
        return true;
      }
    }
    return false;
  }
  const uint64_t layers = uint64_t{surface.first_layer} + std::max({surface.depth, surface.render_layers, 1u});
  const uint64_t tiles = surface::state_tiles(map, static_cast<uint32_t>(layers), surface.first_level + surface.levels);
  return tiles * kPage_B > kMaxScan_B || scan(map.base, tiles * kPage_B, map.form, space);
}

Fill fill_clear_blocks(const Surface& surface, memory::AddressSpace& space) {
  BlockStates states(surface.states, space);
  const std::array<std::byte, 16>& packed = surface.sampled_clear;
  const uint32_t element_B = surface.element_bytes();
  if (surface.block != nullptr || element_B > packed.size()) {
    return Fill::done;
  }
  const uint32_t wide = surface.states.block_width;
  const uint32_t high = surface.states.block_height;
  if (block_count(surface) > kMaxFilled) {
    return Fill::too_large;
  }
  const auto fill = [&](uint32_t x, uint32_t y, uint32_t layer, uint32_t level) {
    for (uint32_t row = y; row < std::min(y + high, surface.level_height(level)); ++row) {
      for (uint32_t column = x; column < std::min(x + wide, surface.level_width(level)); ++column) {
        const uint64_t at = texel_address(surface, column, row, layer, level);
        if (!ok(space.write(wrapped_address(at), std::span(packed).first(element_B)))) {
          return false;
        }
      }
    }
    return true;
  };
  for (uint32_t level = surface.first_level; level < surface.first_level + surface.levels; ++level) {
    for (uint32_t layer = 0; layer < surface.level_depth(level); ++layer) {
      for (uint32_t y = 0; y < surface.level_height(level); y += high) {
        for (uint32_t x = 0; x < surface.level_width(level); x += wide) {
          const surface::BlockIndex block = block_of(surface, x, y, layer, level);
          const uint64_t main = texel_address(surface, x, y, layer, level);
          const BlockState state = states.read(block, main);
          if (states.failed() || (state == BlockState::clear && !fill(x, y, layer, level))) {
            return Fill::fault;
          }
          if (state != BlockState::clear) {
            continue;
          }
          states.write(block, main, surface.states.compresses ? BlockState::compressed : BlockState::resolved);
        }
      }
    }
  }
  return states.failed() ? Fill::fault : Fill::done;
}

uint64_t block_count(const Surface& surface) {
  uint64_t blocks = 0;
  for (uint32_t level = surface.first_level; level < surface.first_level + surface.levels; ++level) {
    blocks += (surface.level_width(level) / surface.states.block_width + uint64_t{1}) *
              (surface.level_height(level) / surface.states.block_height + uint64_t{1}) * surface.level_depth(level);
  }
  return blocks;
}

surface::BlockIndex block_of(const Surface& surface, uint32_t x, uint32_t y, uint32_t layer, uint32_t level) {
  return {.x = x / surface.states.block_width,
          .y = y / surface.states.block_height,
          .layer = surface.first_layer + layer,
          .level = level};
}

}  // namespace halogen::message
