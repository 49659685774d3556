#include "pipe3d/output/depth_stencil.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bits.h"
#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/output/clear_band.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kDepth24 = 0xff'ffff;

bool is_float(hw::DepthFormat format) {
  return format == hw::DepthFormat::D32_FLOAT || format == hw::DepthFormat::D32_FLOAT_S8X24_UINT;
}

uint32_t bytes_of(hw::DepthFormat format) {
  switch (format) {
    case hw::DepthFormat::D16_UNORM:
      return 2;
    case hw::DepthFormat::D32_FLOAT_S8X24_UINT:
      return 8;
    case hw::DepthFormat::D32_FLOAT:
    case hw::DepthFormat::D24_UNORM_S8_UINT:
    case hw::DepthFormat::D24_UNORM_X8_UINT:
      break;
  }
  return 4;
}

uint32_t largest(hw::DepthFormat format) {
  return format == hw::DepthFormat::D16_UNORM ? 0xffff : kDepth24;
}

uint8_t operate(hw::StencilOperation operation, uint8_t old, uint8_t reference) {
  switch (operation) {
    case hw::StencilOperation::KEEP:
      return old;
    case hw::StencilOperation::ZERO:
      return 0;
    case hw::StencilOperation::REPLACE:
      return reference;
    case hw::StencilOperation::INCRSAT:
      return old == 0xff ? old : static_cast<uint8_t>(old + 1);
    case hw::StencilOperation::DECRSAT:
      return old == 0 ? old : static_cast<uint8_t>(old - 1);
    case hw::StencilOperation::INCR:
      return static_cast<uint8_t>(old + 1);
    case hw::StencilOperation::DECR:
      return static_cast<uint8_t>(old - 1);
    case hw::StencilOperation::INVERT:
      return static_cast<uint8_t>(~old);
  }
  return old;
}

message::Surface surface_of(const PlaneBuffer& buffer, bool stencil, uint8_t samples_log2) {
  message::Surface surface;
  surface.kind = message::Surface::Kind::image;
  surface.type = hw::SurfaceType::SURFTYPE_2D;
  surface.base = buffer.address;
  surface.width = buffer.width;
  surface.height = buffer.height;
  surface.depth = buffer.depth;
  surface.first_layer = buffer.first_layer;
  const uint32_t usual = stencil ? 8 : 4;
  surface.align_x = buffer.align_x != 0 ? buffer.align_x : usual;
  surface.align_y = buffer.align_y != 0 ? buffer.align_y : usual;
  surface.samples = 1u << std::min<unsigned>(samples_log2, 4);
  surface.samples_beside = true;
  const bool w_tiles = stencil && buffer.stencil_in_w_tiles;
  surface.layout.pattern = w_tiles          ? &surface::kTileW
                           : !buffer.tiled  ? nullptr
                           : buffer.x_tiles ? &surface::kTileX
                                            : &surface::kTileY;
  surface.layout.pitch_B = buffer.pitch_B;
  surface.layout.layer_rows = buffer.layer_rows;
  if (buffer.layer_rows == 0) {
    // If software does not state the distance of layers, a layer has space for a whole chain of levels.
    const uint64_t first = align_up(surface.height, surface.align_y);
    const uint64_t second = align_up(surface.level_height(1), surface.align_y);
    surface.layout.layer_rows = first + second + 11ull * surface.align_y;
  }
  return surface;
}

// Sets the states of a depth buffer. Its elements are samples.
void set_states(const DepthStates& states, uint32_t element_B, message::Surface& surface) {
  if (states.form == surface::StateForm::none || surface.layout.pattern != &surface::kTileY) {
    return;
  }
  const uint32_t across = surface.samples > 4 ? 4 : surface.samples > 1 ? 2 : 1;
  const uint32_t down = surface.samples > 8 ? 4 : surface.samples > 2 ? 2 : 1;
  surface::StateMap& map = surface.states;
  map = {.form = states.form,
         .base = states.address,
         .width = surface.width * across,
         .height = surface.height * down,
         .compresses = states.compresses};
  if (states.form == surface::StateForm::four_bits) {
    map.block_width = 32 / element_B;
    map.block_height = 4;
    return;
  }
  map.pitch_tiles = std::max(states.pitch_B / 128, 1u);
  map.block_width = states.rules->hierarchical_by_sample ? 8 : 8 * across;
  map.block_height = states.rules->hierarchical_by_sample ? 4 : 4 * down;
  map.level_base = states.rules->hierarchical_level_base;
  map.layer_rows = map.level_base ? align_up(uint64_t{map.height}, 4u * states.rules->hierarchical_pad_rows) / 4
                                  : states.layer_rows / 4;
  map.pad_x = states.rules->hierarchical_pad_blocks;
  map.pad_y = states.rules->hierarchical_pad_rows;
}

}  // namespace

uint32_t encode_depth(hw::DepthFormat format, float depth) {
  if (is_float(format)) {
    return std::bit_cast<uint32_t>(depth);
  }
  const double value = depth > 0.0f ? std::min<double>(depth, 1.0) : 0.0;
  return static_cast<uint32_t>(value * largest(format) + 0.5);
}

float decode_depth(hw::DepthFormat format, uint32_t raw) {
  if (is_float(format)) {
    return std::bit_cast<float>(raw);
  }
  return static_cast<float>(static_cast<double>(raw) / largest(format));
}

void DepthStencilUnit::begin_plane(const PlaneBuffer& buffer, bool stencil, memory::AddressSpace& space,
                                   uint8_t samples_log2, PixelPlane& plane) const {
  plane.begin();
  if (!buffer.present) {
    return;
  }
  message::Surface surface = surface_of(buffer, stencil, samples_log2);
  if (!stencil) {
    set_states(output_->buffers.states, element_B_, surface);
  }
  plane.begin(surface, buffer.level, buffer.layers, stencil ? 1 : element_B_, space);
  if (!stencil && surface.states.form != surface::StateForm::none) {
    plane.guard(std::as_bytes(std::span(&clear_word_, 1)), false);
  }
}

void DepthStencilUnit::begin(const Output& output, memory::AddressSpace& space, uint8_t samples_log2) {
  output_ = &output;
  const DepthBuffers& buffers = output.buffers;
  const DepthStencil& state = output.depth_stencil;
  format_ = buffers.format;
  element_B_ = bytes_of(format_);
  floating_ = is_float(format_);
  clear_word_ = !output.operation.raw_value ? encode_depth(format_, buffers.clear_value)
                : floating_                 ? buffers.clear_raw
                                            : buffers.clear_raw & largest(format_);
  packed_ = buffers.packed_stencil && buffers.depth.present &&
            (format_ == hw::DepthFormat::D24_UNORM_S8_UINT || format_ == hw::DepthFormat::D32_FLOAT_S8X24_UINT);
  begin_plane(buffers.depth, false, space, samples_log2, depth_);
  if (packed_) {
    stencil_.begin();
  } else {
    begin_plane(buffers.stencil, true, space, samples_log2, stencil_);
  }
  // A depth buffer that is neither tested nor written may have no memory; its state then only provides the size of the
  // stencil buffer.
  has_depth_ = buffers.depth.present &&
               (packed_ || state.depth_test || state.bounds_test || state.depth_write || output.operation.clear_depth);
  has_stencil_ = packed_ || buffers.stencil.present;
  writes_depth_ = has_depth_ && state.depth_write && buffers.depth.write;
  writes_stencil_ = has_stencil_ && state.stencil_test && state.stencil_write &&
                    (packed_ ? buffers.depth.write || buffers.stencil.write : buffers.stencil.write);
  const bool tests = (has_depth_ && (state.depth_test || state.bounds_test)) || (has_stencil_ && state.stencil_test);
  idle_ = !tests && !writes_depth_;
  plain_ = has_depth_ && !state.bounds_test && !(has_stencil_ && state.stencil_test) && samples_log2 == 0;
}

void DepthStencilUnit::note(uint8_t samples_log2, message::SurfaceUses& uses) const {
  const PlaneBuffer& depth = output_->buffers.depth;
  const DepthOperation& operation = output_->operation;
  const DepthStencil& state = output_->depth_stencil;
  const bool tests = has_depth_ && (state.depth_test || state.bounds_test);
  if (!depth.present || (!tests && !writes_depth_ && !operation.clear_depth && !operation.resolve)) {
    return;
  }
  message::SurfaceBinding binding{.client = MemoryClient::depth,
                                  .surface = surface_of(depth, false, samples_log2),
                                  .element_B = element_B_,
                                  .writes = writes_depth_ || operation.clear_depth};
  set_states(output_->buffers.states, element_B_, binding.surface);
  binding.surface.render_level = depth.level;
  binding.surface.render_layers = depth.layers;
  uses.note(binding);
}

// Tests and writes depth for draws without a stencil test, without a bounds test and with one sample.
bool DepthStencilUnit::plain_test(const PixelPlace& place, float depth, bool write) {
  const DepthStencil& state = output_->depth_stencil;
  const int32_t x = place.x + output_->buffers.depth.offset[0];
  const int32_t y = place.y + output_->buffers.depth.offset[1];
  if (!depth_.contains(x, y, place.layer)) {
    return true;
  }
  const uint64_t at = depth_.address(static_cast<uint32_t>(x), static_cast<uint32_t>(y), place.layer, 0);
  const uint32_t value = encode_depth(format_, depth);
  const uint32_t word = load_depth(at);
  const uint32_t held = element_B_ == 2 || floating_ ? word : word & kDepth24;
  if (state.depth_test && !compare_depth(state.depth_function, value, held)) {
    return false;
  }
  if (!write || !writes_depth_) {
    return true;
  }
  if (element_B_ == 2) {
    depth_.store(at, static_cast<uint16_t>(value));
  } else {
    depth_.store(at, floating_ ? value : (word & ~kDepth24) | value);
  }
  return true;
}

// Returns whether the upper left pixel of a square is in a clear block. All of the square is.
bool DepthStencilUnit::in_clear_block(const PixelPlace& place) {
  const int32_t x = place.x + output_->buffers.depth.offset[0];
  const int32_t y = place.y + output_->buffers.depth.offset[1];
  return depth_.guarded() && depth_.contains(x, y, place.layer) &&
         depth_.clear_at(depth_.address(static_cast<uint32_t>(x), static_cast<uint32_t>(y), place.layer, 0));
}

uint32_t DepthStencilUnit::test_square(const PixelPlace& place, uint32_t mask, const std::array<float, 4>& depth) {
  const DepthStencil& state = output_->depth_stencil;
  const std::array<int32_t, 2>& offset = output_->buffers.depth.offset;
  const memory::Direction direction = writes_depth_ ? memory::Direction::write : memory::Direction::read;
  std::array<uint32_t, 4> value;
  for (size_t i = 0; i < 4; ++i) {
    value[i] = encode_depth(format_, depth[i]);
  }
  uint32_t passed = mask;
  const auto compare_with = [&](const std::array<uint32_t, 4>& word) {
    for (uint32_t i = 0; i < 4 && state.depth_test; ++i) {
      const uint32_t held = floating_ ? word[i] : word[i] & kDepth24;
      passed &= compare_depth(state.depth_function, value[i], held) ? ~0u : ~(1u << i);
    }
  };
  std::array<uint32_t, 4> word;
  if (in_clear_block(place)) {
    word.fill(clear_word_);
    compare_with(word);
    if (passed == 0 || !writes_depth_) {
      return passed;
    }
  }
  // A write makes a clear block plain.
  const PixelPlane::Rows rows = depth_.square(place.x + offset[0], place.y + offset[1], place.layer, direction);
  if (rows.first == nullptr) {
    passed = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const PixelPlace each{place.x + static_cast<int32_t>(i & 1), place.y + static_cast<int32_t>(i >> 1), place.layer};
      passed |= (mask >> i & 1) != 0 && plain_test(each, depth[i], true) ? 1u << i : 0;
    }
    return passed;
  }
  std::memcpy(&word[0], rows.first, 8);
  std::memcpy(&word[2], rows.second, 8);
  compare_with(word);
  if (!writes_depth_) {
    return passed;
  }
  for (uint32_t i = 0; i < 4; ++i) {
    if ((passed >> i & 1) != 0) {
      const uint32_t next = floating_ ? value[i] : (word[i] & ~kDepth24) | value[i];
      std::memcpy((i < 2 ? rows.first : rows.second) + (i & 1) * 4, &next, 4);
    }
  }
  return passed;
}

bool DepthStencilUnit::compare_depth(hw::CompareFunction function, uint32_t value, uint32_t with) const {
  return floating_ ? compare(function, std::bit_cast<float>(value), std::bit_cast<float>(with))
                   : compare(function, value, with);
}

bool DepthStencilUnit::test_sample(const Stored& stored, float depth, const StencilSide& side, uint8_t reference,
                                   uint32_t& new_depth, uint8_t& new_stencil) const {
  const DepthStencil& state = output_->depth_stencil;
  new_depth = stored.depth;
  new_stencil = stored.stencil;
  if (has_depth_ && state.bounds_test) {
    const float held = decode_depth(format_, stored.depth);
    if (!(held >= state.bounds_min && held <= state.bounds_max)) {
      return false;
    }
  }
  const bool stencils = has_stencil_ && state.stencil_test;
  const auto change = [&](hw::StencilOperation operation) {
    const uint8_t result = operate(operation, stored.stencil, reference);
    new_stencil = static_cast<uint8_t>((stored.stencil & ~side.write_mask) | (result & side.write_mask));
  };
  if (stencils &&
      !compare(side.function, uint32_t{reference} & side.test_mask, uint32_t{stored.stencil} & side.test_mask)) {
    change(side.fail);
    return false;
  }
  const uint32_t value = encode_depth(format_, depth);
  if (has_depth_ && state.depth_test && !compare_depth(state.depth_function, value, stored.depth)) {
    if (stencils) {
      change(side.depth_fail);
    }
    return false;
  }
  if (stencils) {
    change(side.pass);
  }
  new_depth = value;
  return true;
}

uint32_t DepthStencilUnit::test(const PixelPlace& place, uint32_t mask, const std::array<float, kMaxSamples>& depth,
                                bool front, const uint8_t* computed_stencil, bool write) {
  if (idle_ || mask == 0) {
    return mask;
  }
  if (plain_) {
    return (mask & 1) != 0 && plain_test(place, depth[0], write) ? mask & 1 : 0;
  }
  const DepthBuffers& buffers = output_->buffers;
  const int32_t x = place.x + buffers.depth.offset[0];
  const int32_t y = place.y + buffers.depth.offset[1];
  const bool in_depth = has_depth_ && depth_.contains(x, y, place.layer);
  const bool in_stencil = packed_ ? in_depth : has_stencil_ && stencil_.contains(x, y, place.layer);
  if ((has_depth_ && !in_depth) || (has_stencil_ && !in_stencil)) {
    return mask;  // outside the buffers every sample passes
  }
  const StencilSide& side =
      output_->depth_stencil.two_sided && !front ? output_->depth_stencil.back : output_->depth_stencil.front;
  const uint8_t reference = computed_stencil != nullptr ? *computed_stencil : side.reference;
  const auto column = static_cast<uint32_t>(x);
  const auto row = static_cast<uint32_t>(y);
  uint32_t passed = 0;
  for (uint32_t left = mask & 0xffff; left != 0; left &= left - 1) {
    const auto sample = static_cast<unsigned>(std::countr_zero(left));
    Stored stored;
    uint32_t word = 0;
    uint32_t upper = 0;
    if (has_depth_) {
      stored.depth_at = depth_.address(column, row, place.layer, sample);
      word = load_depth(stored.depth_at);
      stored.depth = element_B_ == 2 || floating_ ? word : word & kDepth24;
    }
    if (packed_ && element_B_ == 8) {
      upper = depth_.load<uint32_t>(stored.depth_at + 4);
      stored.stencil = static_cast<uint8_t>(upper);
    } else if (packed_) {
      stored.stencil = static_cast<uint8_t>(word >> 24);
    } else if (has_stencil_) {
      stored.stencil_at = stencil_.address(column, row, place.layer, sample);
      stored.stencil = stencil_.load<uint8_t>(stored.stencil_at);
    }
    uint32_t new_depth = 0;
    uint8_t new_stencil = 0;
    const bool passes = test_sample(stored, depth[sample], side, reference, new_depth, new_stencil);
    passed |= passes ? 1u << sample : 0;
    if (!write) {
      continue;
    }
    const bool put_depth = passes && writes_depth_;
    const bool put_stencil = writes_stencil_ && new_stencil != stored.stencil;
    if (put_stencil && !packed_) {
      stencil_.store(stored.stencil_at, new_stencil);
    }
    if (put_stencil && packed_ && element_B_ == 8) {
      depth_.store(stored.depth_at + 4, (upper & ~0xffu) | new_stencil);
    }
    if (element_B_ == 2) {
      if (put_depth) {
        depth_.store(stored.depth_at, static_cast<uint16_t>(new_depth));
      }
      continue;
    }
    uint32_t next = put_depth ? floating_ ? new_depth : (word & ~kDepth24) | new_depth : word;
    if (put_stencil && packed_ && element_B_ == 4) {
      next = (next & kDepth24) | uint32_t{new_stencil} << 24;
    }
    if (put_depth || (put_stencil && packed_ && element_B_ == 4)) {
      depth_.store(stored.depth_at, next);
    }
  }
  return passed;
}

Rectangle DepthStencilUnit::area_of(const DepthOperation& operation, const Rectangle& limit) const {
  const Rectangle whole{.x_min = 0,
                        .y_min = 0,
                        .x_max = static_cast<int32_t>(std::max(depth_.width(), stencil_.width())) - 1,
                        .y_max = static_cast<int32_t>(std::max(depth_.height(), stencil_.height())) - 1};
  return intersect(operation.full_surface ? whole : intersect(operation.rectangle, whole), limit);
}

// Returns the pixels of the depth buffer that pixels of the drawing stand for.
Rectangle DepthStencilUnit::in_buffer(const Rectangle& area) const {
  const std::array<int32_t, 2>& offset = output_->buffers.depth.offset;
  return {area.x_min + offset[0], area.y_min + offset[1], area.x_max + offset[0], area.y_max + offset[1]};
}

bool DepthStencilUnit::change_states(const DepthOperation& operation, const Rectangle& limit, uint32_t layer,
                                     uint32_t band) {
  const ClearBand part(area_of(operation, limit), depth_.samples(), band);
  depth_.change_blocks(in_buffer(part.area), layer,
                       operation.resolve ? PixelPlane::BlockChange::full_resolve : PixelPlane::BlockChange::ambiguate);
  return part.last || !depth_.guarded();
}

bool DepthStencilUnit::clear(const DepthOperation& operation, const Rectangle& limit, uint32_t layer, uint32_t band) {
  const ClearBand part(area_of(operation, limit), std::max(depth_.samples(), stencil_.samples()), band);
  const Rectangle area = in_buffer(part.area);
  const DepthBuffers& buffers = output_->buffers;
  const bool stencil_in_depth = operation.clear_stencil && packed_;
  if (operation.clear_depth && depth_.guarded()) {
    depth_.clear_guarded(area, layer);
  } else if (buffers.depth.present && (operation.clear_depth || stencil_in_depth)) {
    std::array<uint32_t, 2> value{};
    std::array<uint32_t, 2> mask{};
    if (operation.clear_depth) {
      value[0] = operation.raw_value ? buffers.clear_raw : encode_depth(format_, buffers.clear_value);
      mask[0] = floating_ ? ~0u : largest(format_);
      value[0] &= mask[0];
      // Padding bits are written as well, so that rows can be written at once.
      mask[0] |= format_ == hw::DepthFormat::D24_UNORM_X8_UINT ? ~kDepth24 : 0;
    }
    if (stencil_in_depth && element_B_ == 8) {
      value[1] = operation.stencil_value;
      mask[1] = 0xff;
    } else if (stencil_in_depth) {
      value[0] |= uint32_t{operation.stencil_value} << 24;
      mask[0] |= ~kDepth24;
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(value)).subspan(0, element_B_);
    const std::span<const std::byte> kept = std::as_bytes(std::span(mask)).subspan(0, element_B_);
    if (layer < depth_.layers()) {
      depth_.fill(area, layer, bytes, kept);
    }
  }
  if (operation.clear_stencil && has_stencil_ && !packed_) {
    const std::byte value{operation.stencil_value};
    constexpr std::byte kAllBits{0xff};
    if (layer < stencil_.layers()) {
      stencil_.fill(area, layer, std::span(&value, 1), std::span(&kAllBits, 1));
    }
  }
  depth_.store_states();
  return part.last;
}

}  // namespace halogen::pipe3d
