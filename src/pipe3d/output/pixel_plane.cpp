#include "pipe3d/output/pixel_plane.h"

#include <algorithm>
#include <vector>

namespace halogen::pipe3d {

void PixelPlane::begin() {
  width_ = 0;
  height_ = 0;
  layers_ = 0;
  stopped_ = false;
  guard_.begin();
  has_states_ = watches_ = false;
}

void PixelPlane::begin(const message::Surface& surface, uint32_t level, uint32_t layers, uint32_t element_B,
                       memory::AddressSpace& space) {
  space_ = &space;
  surface_ = surface;
  level_ = level;
  width_ = surface.level_width(level);
  height_ = surface.level_height(level);
  layers_ = layers;
  element_B_ = element_B;
  samples_ = std::clamp<uint32_t>(surface.samples, 1, kMaxSamples);
  surface_.samples = samples_;
  beside_ = surface.samples_beside;
  base_ = surface.base;
  layout_ = surface.layout;
  stopped_ = false;
  guard_.begin();
  has_states_ = watches_ = false;
  slice_ = ~uint64_t{0};
  pages_.fill({});
  pitch_tiles_ = layout_.tiles_per_row();
  if (surface.kind == message::Surface::Kind::buffer) {
    width_ = static_cast<uint32_t>(std::min<uint64_t>(surface.elements, 1u << 27));
    height_ = 1;
    layers_ = 1;
    samples_ = 1;
    surface_.x_offset = 0;
    surface_.y_offset = 0;
    layout_ = {};
    element_B_ = std::max<uint32_t>(surface.element_B, element_B);
  }
  gapless_ = element_B_ == element_B;
}

void PixelPlane::change_slice(uint64_t slice, uint32_t layer, uint32_t sample) {
  slice_ = slice;
  origin_ = surface_.kind == message::Surface::Kind::buffer ? message::ImagePlace{}
                                                            : message::image_place(surface_, layer, level_, sample);
  y_tiles_ = layout_.pattern != nullptr && layout_.pattern->tiling == Tiling::y &&
             layout_.swizzle == surface::SwizzleMode::none;
  if (y_tiles_) {
    origin_.y += origin_.z * layout_.layer_rows;
  }
  if (has_states_) {
    guard_.resume();
    guard_.set_origin(layer, origin_.x, y_tiles_ ? origin_.y : origin_.y + origin_.z * layout_.layer_rows);
    settle_unaligned();
    watches_ = guard_.on();
  }
}

// Returns the bytes of an access inside one page. Empty: unmapped. A missing page is looked up once, so that a guest
// cannot make the host walk tables for every pixel.
std::span<std::byte> PixelPlane::ask(uint64_t address, memory::Direction direction) {
  const uint64_t tag = tag_of(address, direction);
  Page& page = pages_[tag % kPages];
  if (page.tag == tag) {
    return {};
  }
  const memory::AddressSpace::View view = space_->view(wrapped_address(address), {.direction = direction});
  stopped_ = stopped_ || !ok(view.result);
  if (view.bytes.empty() && ok(view.result)) {
    page = {tag, nullptr};
  }
  return view.bytes;
}

void PixelPlane::load_slowly(uint64_t address, std::span<std::byte> into) {
  if (address % memory::kFrameBytes + into.size() > memory::kFrameBytes) {
    stopped_ = !ok(space_->read(wrapped_address(address), into)) || stopped_;
    return;
  }
  const std::span<std::byte> from = ask(address, memory::Direction::read);
  if (from.size() >= into.size()) {
    std::memcpy(into.data(), from.data(), into.size());
  }
}

void PixelPlane::store_slowly(uint64_t address, std::span<const std::byte> from) {
  if (address % memory::kFrameBytes + from.size() > memory::kFrameBytes) {
    stopped_ = !ok(space_->write(wrapped_address(address), from)) || stopped_;
    return;
  }
  const std::span<std::byte> to = ask(address, memory::Direction::write);
  if (to.size() >= from.size()) {
    std::memcpy(to.data(), from.data(), from.size());
  }
}

void PixelPlane::load(uint64_t address, std::span<std::byte> into) {
  if (const std::byte* at = find(address, into.size(), memory::Direction::read)) {
    std::memcpy(into.data(), at, into.size());
  } else {
    load_slowly(address, into);
  }
}

void PixelPlane::store(uint64_t address, std::span<const std::byte> from) {
  if (std::byte* at = find(address, from.size(), memory::Direction::write)) {
    std::memcpy(at, from.data(), from.size());
  } else {
    store_slowly(address, from);
  }
}

bool PixelPlane::reaches(const Rectangle& rectangle, uint32_t layer) {
  if (layer >= layers_ || width_ == 0 || height_ == 0 || samples_ != 1) {
    return false;
  }
  const auto x_min = static_cast<uint32_t>(std::max(rectangle.x_min, 0));
  const auto x_end = static_cast<uint32_t>(std::clamp<int64_t>(int64_t{rectangle.x_max} + 1, 0, width_));
  const auto y_end = static_cast<uint32_t>(std::clamp<int64_t>(int64_t{rectangle.y_max} + 1, 0, height_));
  uint64_t known = ~uint64_t{0};  // page that is known to be accessible
  for (auto y = static_cast<uint32_t>(std::max(rectangle.y_min, 0)); y < y_end; ++y) {
    for (uint32_t x = x_min; x < x_end; x += run_at(x, y, layer)) {
      const uint64_t at = address(x, y, layer, 0);
      const uint64_t last = at + uint64_t{std::min(run_at(x, y, layer), x_end - x)} * element_B_ - 1;
      for (const uint64_t page : {at / memory::kFrameBytes, last / memory::kFrameBytes}) {
        if (page != known && space_->look_up_frame(GpuVa{page * memory::kFrameBytes}, memory::kWrite) == nullptr) {
          return false;
        }
        known = page;
      }
    }
  }
  return true;
}

// Returns the number of pixels from here on that are contiguous in memory, at least one.
uint32_t PixelPlane::run_at(uint32_t x, uint32_t y, uint32_t layer) {
  const uint64_t first = address(x, y, layer, 0);
  const uint64_t x_B = (origin_.x + x) * element_B_;
  const uint64_t run_B = layout_.pattern != nullptr ? layout_.pattern->run_B - x_B % layout_.pattern->run_B
                                                    : memory::kFrameBytes - first % memory::kFrameBytes;
  return static_cast<uint32_t>(std::max<uint64_t>(run_B / element_B_, 1));
}

// Fills contiguous pixels at once. `pattern`: as many elements as a run may have.
void PixelPlane::fill_row(uint32_t x, uint32_t end, uint32_t y, uint32_t layer, std::span<const std::byte> pattern) {
  const size_t most = pattern.size() / element_B_;
  while (x < end && !stopped_) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>({run_at(x, y, layer), end - x, most}));
    store(address(x, y, layer, 0), pattern.subspan(0, size_t{count} * element_B_));
    x += count;
  }
}

// Fills whole tiles of one row of tiles at once. False: the rows do not start at a row of tiles, or do not cover it.
bool PixelPlane::fill_tiles(uint32_t x, uint32_t end, uint32_t y, uint32_t y_end, uint32_t layer,
                            std::span<const std::byte> pattern) {
  const surface::TilePattern* const tile = layout_.pattern;
  // If an element is wider than a run of the tiling, elements overlap, and their order matters.
  if (tile == nullptr || tile->bytes != pattern.size() || tile->depth != 1 || tile->run_B % element_B_ != 0 ||
      y_end - y < tile->height) {
    return false;
  }
  address(x, y, layer, 0);  // sets origin_ to this layer
  const auto wide = static_cast<uint32_t>(tile->width_B / element_B_);
  const auto over = static_cast<uint32_t>(origin_.x % wide);
  const uint64_t first = (over + uint64_t{x} + wide - 1) / wide * wide - over;
  if (first + wide > end || (address(static_cast<uint32_t>(first), y, layer, 0) - base_) % tile->bytes != 0) {
    return false;
  }
  auto at = static_cast<uint32_t>(first);
  for (; at + wide <= end && !stopped_; at += wide) {
    store(address(at, y, layer, 0), pattern);
  }
  for (uint32_t row = y; row < y + tile->height; ++row) {
    fill_row(x, static_cast<uint32_t>(first), row, layer, pattern);
    fill_row(at, end, row, layer, pattern);
  }
  return true;
}

void PixelPlane::fill(const Rectangle& rectangle, uint32_t layer, std::span<const std::byte> element,
                      std::span<const std::byte> mask) {
  if (layer >= layers_ || width_ == 0 || height_ == 0) {
    return;
  }
  const int64_t x_min = std::max(rectangle.x_min, 0);
  const int64_t y_min = std::max(rectangle.y_min, 0);
  const int64_t x_end = std::min<int64_t>(int64_t{rectangle.x_max} + 1, width_);
  const int64_t y_end = std::min<int64_t>(int64_t{rectangle.y_max} + 1, height_);
  const bool in_runs = gapless_ && element.size() == element_B_ && samples_ == 1 &&
                       std::ranges::all_of(mask, [](std::byte b) { return b == std::byte{0xff}; });
  std::vector<std::byte> pattern(in_runs ? memory::kFrameBytes / element_B_ * element_B_ : 0);
  for (size_t at = 0; at < pattern.size(); at += element_B_) {
    std::ranges::copy(element, pattern.begin() + static_cast<ptrdiff_t>(at));
  }
  std::array<std::byte, 16> old{};
  const size_t bytes = std::min<size_t>(element.size(), old.size());
  for (int64_t y = y_min; y < y_end && !stopped_; ++y) {
    if (in_runs) {
      const auto x = static_cast<uint32_t>(x_min);
      const auto end = static_cast<uint32_t>(std::max(x_min, x_end));
      const auto row = static_cast<uint32_t>(y);
      if (fill_tiles(x, end, row, static_cast<uint32_t>(y_end), layer, pattern)) {
        y += layout_.pattern->height - 1;
      } else {
        fill_row(x, end, row, layer, pattern);
      }
      continue;
    }
    for (int64_t x = x_min; x < x_end && !stopped_; ++x) {
      for (uint32_t sample = 0; sample < samples(); ++sample) {
        const uint64_t at = address(static_cast<uint32_t>(x), static_cast<uint32_t>(y), layer, sample);
        load(at, std::span(old).subspan(0, bytes));
        for (size_t i = 0; i < bytes; ++i) {
          old[i] = (old[i] & ~mask[i]) | (element[i] & mask[i]);
        }
        store(at, std::span<const std::byte>(old).subspan(0, bytes));
      }
    }
  }
}

}  // namespace halogen::pipe3d
