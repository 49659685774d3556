#include "message/state_watch.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "base/bits.h"
#include "base/graphics_address.h"
#include "memory/aux_table.h"
#include "memory/walker.h"
#include "surface/state_layout.h"

namespace halogen::message {
namespace {

using surface::BlockState;
using surface::StateForm;

// A guest chooses the number and the size of surfaces.
constexpr size_t kMaxKnown = 256;
constexpr uint64_t kMaxPages = 4096;     // of states
constexpr size_t kMaxBoxes = 4096;       // of a use
constexpr uint64_t kMaxSteps = 1 << 22;  // of a check
constexpr uint64_t kStatePage_B = 4096;

std::optional<StateWatch::PhysicalByte> find_memory(memory::AddressSpace& space, uint64_t address) {
  if (space.context().format == nullptr) {
    return std::nullopt;
  }
  const GpuVa at = wrapped_address(address);
  const memory::WalkResult found = memory::walk(space.memory(), space.context(), at.value, {}, nullptr, false);
  if (found.fault || found.mapping.null) {
    return std::nullopt;
  }
  const uint64_t inside = at.value & low_mask(found.mapping.page_bits);
  return StateWatch::PhysicalByte{.space = found.mapping.space, .address = found.mapping.address + inside};
}

uint32_t layers_of(const Surface& surface) {
  return surface.first_layer + std::max({surface.volume() ? 1 : surface.depth, surface.render_layers, 1u});
}

uint32_t levels_of(const Surface& surface) {
  return std::min(std::max(surface.first_level + surface.levels, surface.render_level + 1), 15u);
}

// Returns the size in memory, of all layers and levels: an upper bound.
uint64_t bytes_of(const Surface& surface, uint32_t layers) {
  return surface.layout.row_B() *
         (surface.layout.layer_rows * (layers - uint64_t{1}) + uint64_t{surface.height} * 2 + 64);
}

StateWatch::Known known_of(const Surface& surface, uint32_t element_B) {
  StateWatch::Known known{.surface = surface, .element_B = std::max(element_B, 1u), .layers = layers_of(surface)};
  known.surface.levels = levels_of(surface);
  known.surface.first_level = 0;
  known.surface.first_layer = 0;
  known.surface.clear_blocks = nullptr;
  known.bytes = bytes_of(surface, known.layers);
  return known;
}

void find_pages(StateWatch::Known& known, memory::AddressSpace& space) {
  const surface::StateMap& map = known.surface.states;
  known.pages.clear();
  if (map.form != StateForm::four_bits) {
    const uint64_t tiles = surface::state_tiles(map, known.layers, known.surface.levels);
    for (uint64_t page = 0; page < std::min(tiles, kMaxPages); ++page) {
      known.pages.push_back(find_memory(space, map.base + page * kStatePage_B));
    }
    return;
  }
  memory::AuxTable table(space, map.base);
  const uint64_t first = known.surface.base / surface::kMappedPage_B;
  const uint64_t last = (known.surface.base + known.bytes) / surface::kMappedPage_B;
  for (uint64_t page = first; page <= last && page - first < kMaxPages; ++page) {
    const std::optional<uint64_t> states = table.find(page * surface::kMappedPage_B);
    known.pages.push_back(states ? find_memory(space, *states) : std::nullopt);
  }
}

// Returns whether the address of the states still leads to the memory that was found there.
bool has_states(const StateWatch::Known& known, memory::AddressSpace& space) {
  const surface::StateMap& map = known.surface.states;
  if (known.pages.empty() || !known.pages.front()) {
    return true;
  }
  const std::optional<uint64_t> mapped =
      map.form == StateForm::four_bits
          ? memory::AuxTable(space, map.base).find(known.surface.base / surface::kMappedPage_B * surface::kMappedPage_B)
          : map.base;
  return mapped && find_memory(space, *mapped) == known.pages.front();
}

bool same_layout(const StateWatch::Known& a, const StateWatch::Known& b) {
  const surface::StateMap& left = a.surface.states;
  const surface::StateMap& right = b.surface.states;
  return a.first == b.first && a.surface.base == b.surface.base && left.form == right.form && left.base == right.base &&
         left.width == right.width && left.height == right.height && left.block_width == right.block_width &&
         a.surface.layout.pattern == b.surface.layout.pattern && a.surface.layout.pitch_B == b.surface.layout.pitch_B;
}

bool is_target(MemoryClient client) {
  return client == MemoryClient::color || client == MemoryClient::depth;
}

uint64_t divide_up(uint64_t value, uint64_t by) {
  return (value + by - 1) / by;
}

// Returns the rectangle of a level of a layer in the surface.
StateWatch::Box box_of(const ImagePlace& place, uint64_t columns, uint64_t rows, const Surface& surface,
                       uint32_t element_B) {
  const uint64_t row = place.y + place.z * surface.layout.layer_rows;
  return {.x_B = place.x * element_B, .end_x_B = (place.x + columns) * element_B, .row = row, .end_row = row + rows};
}

StateWatch::Use use_of(const SurfaceBinding& binding) {
  const Surface& surface = binding.surface;
  StateWatch::Use use{.client = binding.client,
                      .base = surface.base,
                      .pattern = surface.layout.pattern,
                      .pitch_B = surface.layout.pitch_B,
                      .bytes = bytes_of(surface, layers_of(surface)),
                      .writes = binding.writes,
                      .decodes_clear = surface.states.form != StateForm::none};
  const bool target = is_target(binding.client);
  const uint32_t first_level = target ? surface.render_level : surface.first_level;
  const uint32_t levels = target ? 1 : surface.levels;
  const uint32_t across = surface.samples_beside && surface.samples > 1 ? (surface.samples > 4 ? 4 : 2) : 1;
  const uint32_t down = !surface.samples_beside || surface.samples < 4 ? 1 : surface.samples > 8 ? 4 : 2;
  for (uint32_t level = first_level; level < first_level + levels; ++level) {
    const uint32_t layers = target ? surface.render_layers : surface.level_depth(level);
    for (uint32_t layer = 0; layer < layers && use.boxes.size() < kMaxBoxes; ++layer) {
      const uint64_t columns = divide_up(surface.level_width(level), surface.element_width) * across;
      const uint64_t rows = divide_up(surface.level_height(level), surface.element_height) * down;
      use.boxes.push_back(box_of(image_place(surface, layer, level), columns, rows, surface, binding.element_B));
    }
  }
  return use;
}

// A rectangle of blocks of a level; the ends are exclusive.
struct Blocks {
  uint32_t x = 0;
  uint32_t end_x = 0;
  uint32_t y = 0;
  uint32_t end_y = 0;
};

// Returns the blocks of a slice that a box meets.
Blocks blocks_in(const StateWatch::Box& slice, const StateWatch::Box& box, uint64_t block_B, uint32_t block_rows) {
  const uint64_t x = std::max(slice.x_B, box.x_B);
  const uint64_t end_x = std::min(slice.end_x_B, box.end_x_B);
  const uint64_t y = std::max(slice.row, box.row);
  const uint64_t end_y = std::min(slice.end_row, box.end_row);
  if (x >= end_x || y >= end_y) {
    return {};
  }
  return {.x = static_cast<uint32_t>((x - slice.x_B) / block_B),
          .end_x = static_cast<uint32_t>((end_x - 1 - slice.x_B) / block_B + 1),
          .y = static_cast<uint32_t>((y - slice.row) / block_rows),
          .end_y = static_cast<uint32_t>((end_y - 1 - slice.row) / block_rows + 1)};
}

bool decodes(const StateWatch::Use& use, BlockState state) {
  return state == BlockState::resolved || (use.decodes_clear && state == BlockState::clear);
}

// Returns the first block of a level of a layer that the use cannot decode.
std::optional<std::pair<surface::BlockIndex, BlockState>> find_in(const StateWatch::Use& use, const Blocks& blocks,
                                                                  surface::BlockIndex at, const ImagePlace& place,
                                                                  StateReader& reader, uint64_t& steps) {
  for (at.y = blocks.y; at.y < blocks.end_y; ++at.y) {
    for (at.x = blocks.x; at.x < blocks.end_x; ++at.x) {
      const BlockState state = reader.read(at, place);
      if (!decodes(use, state)) {
        return std::pair{at, state};
      }
      if (++steps > kMaxSteps) {
        return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

StateWatch::Cause cause_of(const StateWatch::Use& use, BlockState state) {
  return use.writes                   ? StateWatch::Cause::hides_write
         : state == BlockState::clear ? StateWatch::Cause::reads_clear
                                      : StateWatch::Cause::reads_compressed;
}

// Returns whether the finding was not reported yet, and marks it.
bool report_once(StateWatch::Known& known, MemoryClient client, StateWatch::Cause cause) {
  constexpr unsigned kCauses = 4;
  const uint32_t bit = uint32_t{1} << (static_cast<unsigned>(client) * kCauses + static_cast<unsigned>(cause));
  const bool fresh = (known.reported & bit) == 0;
  known.reported |= bit;
  return fresh;
}

}  // namespace

uint32_t level_columns(const StateWatch::Known& known, uint32_t level) {
  return known.surface.level_width(level) *
         std::max(known.surface.states.width / std::max(known.surface.width, 1u), 1u);
}

uint32_t level_rows(const StateWatch::Known& known, uint32_t level) {
  return known.surface.level_height(level) *
         std::max(known.surface.states.height / std::max(known.surface.height, 1u), 1u);
}

bool has_states_of(const StateWatch::Known& known, uint32_t level) {
  return !known.surface.states.level_base || level == known.surface.render_level;
}

BlockState StateReader::read(const surface::BlockIndex& block, const ImagePlace& place) {
  const Surface& surface = known_->surface;
  const surface::StateMap& map = surface.states;
  surface::StatePlace at;
  uint64_t page = 0;
  if (map.form == StateForm::four_bits) {
    const uint64_t x_B = (place.x + uint64_t{block.x} * map.block_width) * known_->element_B;
    const uint64_t main =
        surface.base +
        surface::offset_of(surface.layout,
                           {.x_B = x_B, .y = place.y + uint64_t{block.y} * map.block_height, .z = place.z});
    page = main / surface::kMappedPage_B - surface.base / surface::kMappedPage_B;
    at = surface::mapped_state_place(main);
  } else {
    at = surface::state_place(map, block);
    page = at.offset / kStatePage_B;
    at.offset %= kStatePage_B;
  }
  if (page >= known_->pages.size() || !known_->pages[page]) {
    return BlockState::resolved;
  }
  const StateWatch::PhysicalByte& first = *known_->pages[page];
  const uint64_t address = first.address + at.offset;
  const StateWatch::PhysicalByte frame{.space = first.space, .address = address / kStatePage_B * kStatePage_B};
  if (frame_ == nullptr || frame_at_ != frame) {
    frame_at_ = frame;
    frame_ = memory_->frame(frame.space, PhysAddr(frame.address));
  }
  if (frame_ == nullptr) {
    return BlockState::resolved;
  }
  const auto bits = static_cast<uint8_t>(std::to_integer<unsigned>(frame_[address % kStatePage_B]) >> at.shift);
  return surface::decode_state(map.form, static_cast<uint8_t>(bits & surface::state_mask(map.form)));
}

StateWatch::Known* StateWatch::find_same(const Known& wanted) {
  const auto found = std::ranges::find_if(known_, [&](const Known& known) { return same_layout(known, wanted); });
  return found != known_.end() ? &*found : nullptr;
}

const StateWatch::Known* StateWatch::find(uint64_t base, memory::AddressSpace& space) const {
  const std::optional<PhysicalByte> first = find_memory(space, base);
  const auto found = std::ranges::find_if(known_, [&](const Known& known) { return known.first == first; });
  return first && found != known_.end() ? &*found : nullptr;
}

// Forgets the surfaces whose place another one takes, and the oldest one if there are too many.
void StateWatch::make_place(const Known& wanted, memory::AddressSpace& space) {
  std::erase_if(known_, [&](const Known& known) {
    const bool meets = known.surface.base < wanted.surface.base + wanted.bytes &&
                       wanted.surface.base < known.surface.base + known.bytes;
    return known.first == wanted.first || (meets && find_memory(space, known.surface.base) == known.first);
  });
  if (known_.size() >= kMaxKnown) {
    known_.pop_front();
  }
}

void StateWatch::bind(const Surface& surface, uint32_t element_B, memory::AddressSpace& space) {
  Known wanted = known_of(surface, element_B);
  const std::optional<PhysicalByte> first = find_memory(space, surface.base);
  if (!first || surface.layout.pattern == nullptr) {
    return;
  }
  wanted.first = *first;
  Known* known = find_same(wanted);
  if (known == nullptr) {
    make_place(wanted, space);
    known = &known_.emplace_back(wanted);
  } else if (has_states(*known, space) && known->layers >= wanted.layers &&
             known->surface.levels >= wanted.surface.levels) {
    return;
  }
  known->layers = std::max(known->layers, wanted.layers);
  known->surface.levels = std::max(known->surface.levels, wanted.surface.levels);
  known->bytes = std::max(known->bytes, wanted.bytes);
  find_pages(*known, space);
}

std::optional<StateWatch::Finding> StateWatch::check(const Use& use, uint64_t shift_B, Known& known,
                                                     const memory::PhysicalMemory& memory) {
  const Surface& surface = known.surface;
  const surface::TilePattern& tile = *surface.layout.pattern;
  const uint64_t tiles = shift_B / tile.bytes;
  const uint64_t shift_x_B = tiles % surface.layout.tiles_per_row() * tile.width_B;
  const uint64_t shift_rows = tiles / surface.layout.tiles_per_row() * tile.height;
  const uint64_t block_B = uint64_t{surface.states.block_width} * known.element_B;
  StateReader reader(known, memory);
  uint64_t steps = 0;
  for (uint32_t level = 0; level < surface.levels; ++level) {
    const uint32_t layers = !has_states_of(known, level) ? 0
                            : surface.volume()           ? surface.level_depth(level)
                                                         : known.layers;
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const ImagePlace place = image_place(surface, layer, level);
      const Box slice = box_of(place, level_columns(known, level), level_rows(known, level), surface, known.element_B);
      for (const Box& box : use.boxes) {
        const Box moved{.x_B = box.x_B + shift_x_B,
                        .end_x_B = box.end_x_B + shift_x_B,
                        .row = box.row + shift_rows,
                        .end_row = box.end_row + shift_rows};
        const Blocks blocks = blocks_in(slice, moved, block_B, surface.states.block_height);
        const auto found = find_in(use, blocks, {.layer = layer, .level = level}, place, reader, steps);
        if (++steps > kMaxSteps) {
          return std::nullopt;
        }
        if (!found) {
          continue;
        }
        const Cause cause = cause_of(use, found->second);
        if (!report_once(known, use.client, cause)) {
          return std::nullopt;
        }
        surface::BlockIndex at = found->first;
        at.x *= surface.states.block_width;
        at.y *= surface.states.block_height;
        return Finding{.cause = cause,
                       .state = found->second,
                       .form = surface.states.form,
                       .base = surface.base,
                       .states = surface.states.base,
                       .width = surface.width,
                       .height = surface.height,
                       .block = at};
      }
    }
  }
  return std::nullopt;
}

std::optional<StateWatch::Finding> StateWatch::check(const Use& use, memory::AddressSpace& space) {
  if (known_.empty()) {
    return std::nullopt;
  }
  const std::optional<PhysicalByte> first = find_memory(space, use.base);
  for (size_t i = 0; i < known_.size(); ++i) {
    Known& known = known_[i];
    const uint64_t base = known.surface.base;
    const bool starts = known.first == first;
    const bool stale = starts && use.base == base && !has_states(known, space);
    const bool inside = use.base - base < known.bytes;
    const bool covers = base - use.base < use.bytes;
    if (!starts && ((!inside && !covers) || find_memory(space, base) != known.first)) {
      continue;
    }
    if (stale || use.pattern != known.surface.layout.pattern || use.pitch_B != known.surface.layout.pitch_B) {
      if (stale || (use.writes && (starts || covers))) {
        known_.erase(known_.begin() + static_cast<ptrdiff_t>(i--));  // other data take the place of the surface
      }
    } else if (starts || inside) {
      if (const auto finding = check(use, starts ? 0 : use.base - base, known, space.memory())) {
        return finding;
      }
    }
  }
  return std::nullopt;
}

std::string describe(MemoryClient client, const StateWatch::Finding& finding) {
  const bool depth = finding.form == StateForm::hierarchical;
  const std::string_view resolve =
      depth ? "a depth resolve (3DSTATE_WM_HZ_OP)" : "a resolve (3DSTATE_PS or 3DSTATE_WM_HZ_OP)";
  const std::string_view ambiguate = depth ? "a hierarchical depth resolve (3DSTATE_WM_HZ_OP)" : "an ambiguate";
  const std::string_view who = client == MemoryClient::sampler ? "sampler or data port" : name_of(client);
  if (finding.cause == StateWatch::Cause::typed_message) {
    return fmt::format(
        "typed messages do not decode the clear blocks of the {}x{} surface; {} before this work is missing",
        finding.width, finding.height, resolve);
  }
  const std::string block =
      fmt::format("the block at ({}, {}) of level {}, layer {} of the {}x{} surface is {}", finding.block.x,
                  finding.block.y, finding.block.level, finding.block.layer, finding.width, finding.height,
                  finding.state == BlockState::clear ? "clear" : "compressed");
  if (finding.cause == StateWatch::Cause::hides_write) {
    return fmt::format(
        "{} writes without looking at states, but {}, which hides the write; {} before this work, or {} after it, is "
        "missing",
        who, block, resolve, ambiguate);
  }
  return fmt::format("{} reads without decoding states, but {}; {} before this work is missing", who, block, resolve);
}

std::optional<StateWatch::Finding> StateWatch::check_typed(const Surface& surface, memory::AddressSpace& space) {
  const std::optional<PhysicalByte> first = find_memory(space, surface.base);
  const auto known = std::ranges::find_if(known_, [&](const Known& each) { return each.first == first; });
  if (!first || known == known_.end() || !report_once(*known, MemoryClient::sampler, Cause::typed_message)) {
    return std::nullopt;
  }
  return Finding{.cause = Cause::typed_message,
                 .state = BlockState::clear,
                 .form = surface.states.form,
                 .base = surface.base,
                 .states = surface.states.base,
                 .width = surface.width,
                 .height = surface.height,
                 .block = {}};
}

std::optional<StateWatch::Finding> StateWatch::check(const SurfaceBinding& binding, memory::AddressSpace& space) {
  const Surface& surface = binding.surface;
  const bool has_states = surface.states.form != StateForm::none;
  if (has_states) {
    bind(surface, binding.element_B, space);
  }
  if (binding.typed) {
    return check_typed(surface, space);
  }
  if (has_states && (surface.states.compresses || surface.states.form == StateForm::one_bit ||
                     surface.states.form == StateForm::hierarchical)) {
    return std::nullopt;
  }
  return check(use_of(binding), space);
}

}  // namespace halogen::message
