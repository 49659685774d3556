// The pixels of one level of a surface in memory: addresses of samples, reads and writes. Pages are looked up once and
// remembered until the next begin(). Used for render targets, depth buffers and stencil buffers. In a plane with
// compression state, blocks become plain before their bytes are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/graphics_address.h"
#include "memory/address_space.h"
#include "message/surface.h"
#include "pipe3d/output/block_guard.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

class PixelPlane {
 public:
  // Makes an empty plane.
  void begin();
  // Starts with a level of a surface. `element_B`: 1 to 16. Layers are relative to the surface's first layer.
  void begin(const message::Surface& surface, uint32_t level, uint32_t layers, uint32_t element_B,
             memory::AddressSpace& space);

  // Guards the blocks of a surface with states. `clear`: the bytes of a clear element. `reads`: reads make blocks plain
  // too; otherwise the caller asks clear_at() before it reads.
  void guard(std::span<const std::byte> clear, bool reads);
  bool guarded() const { return has_states_; }
  // Stores the states of blocks that became plain. Called before another plane may use them.
  void store_states() { guard_.store(); }
  // Forgets states, because another plane may have changed them.
  void forget_states() {
    guard_.forget();
    watches_ = guard_.on();
  }
  bool clear_at(uint64_t address) { return watches_ && guard_.clear(address - base_); }
  // Tells that the next accesses are inside a window of a layer. If all of its blocks are plain, they are not looked at
  // again.
  void enter(const Rectangle& window, uint32_t layer) {
    if (has_states_ && layer < layers_) [[unlikely]] {
      watches_ = begin_change(layer) && !is_plain(window);
    }
  }

  // Change the states of the blocks that a rectangle of pixels touches.
  enum class BlockChange : uint8_t {
    clear,            // fast clear: no element is written
    partial_resolve,  // clear blocks are filled, and compressed if the surface is
    full_resolve,     // clear blocks are filled, and all blocks are resolved
    ambiguate         // blocks are resolved, whatever they were; no element is written
  };
  void change_blocks(const Rectangle& pixels, uint32_t layer, BlockChange change);
  // Clears a rectangle: blocks that it covers get the clear state, elements of others the clear value.
  void clear_guarded(const Rectangle& pixels, uint32_t layer);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  uint32_t layers() const { return layers_; }
  unsigned samples() const { return samples_; }
  bool gapless() const { return gapless_; }  // no unused bytes between elements
  bool contains(int32_t x, int32_t y, uint32_t layer) const {
    return static_cast<uint32_t>(x) < width_ && static_cast<uint32_t>(y) < height_ && layer < layers_;
  }
  // Returns the address of a sample, which must be inside.
  uint64_t address(uint32_t x, uint32_t y, uint32_t layer, uint32_t sample) {
    if (samples_ != 1 && beside_) {
      const message::ImagePlace at = message::sample_place(samples_, x, y, sample);
      x = static_cast<uint32_t>(at.x);
      y = static_cast<uint32_t>(at.y);
    }
    const uint64_t slice = samples_ == 1 || beside_ ? layer : uint64_t{layer} * samples_ + sample;
    if (slice != slice_) {
      change_slice(slice, layer, sample);
    }
    return base_ + element_offset(x, y);
  }

  template <class T>
  T load(uint64_t address) {
    T value{};
    if (const std::byte* at = find(address, sizeof(T), memory::Direction::read)) [[likely]] {
      std::memcpy(&value, at, sizeof(T));
    } else {
      load_slowly(address, std::as_writable_bytes(std::span(&value, 1)));
    }
    return value;
  }
  template <class T>
  void store(uint64_t address, const T& value) {
    if (std::byte* at = find(address, sizeof(T), memory::Direction::write)) [[likely]] {
      std::memcpy(at, &value, sizeof(T));
    } else {
      store_slowly(address, std::as_bytes(std::span(&value, 1)));
    }
  }
  void load(uint64_t address, std::span<std::byte> into);
  void store(uint64_t address, std::span<const std::byte> from);

  // Host bytes of four pixels of four bytes each, for reading and writing: two of the upper row, two of the lower row.
  // Null: some are outside or not contiguous, or a page is not directly accessible.
  struct Rows {
    std::byte* first = nullptr;
    std::byte* second = nullptr;
  };
  Rows square(int32_t x, int32_t y, uint32_t layer, memory::Direction direction) {
    constexpr size_t kPair = 8;
    if (!contains(x, y, layer) || !contains(x + 1, y + 1, layer)) [[unlikely]] {
      return {};
    }
    const auto column = static_cast<uint32_t>(x);
    const uint64_t upper = address(column, static_cast<uint32_t>(y), layer, 0);
    // In a Y tile the next row is 16 bytes after this one.
    const bool below = y_tiles_ && (origin_.y + static_cast<uint32_t>(y)) % surface::kTileY.height != kLastTileRow;
    const uint64_t lower =
        below ? upper + surface::kTileY.run_B : address(column, static_cast<uint32_t>(y) + 1, layer, 0);
    if (upper % kPair != 0 || lower % kPair != 0) [[unlikely]] {
      return {};
    }
    std::byte* const first = find(upper, kPair, direction);
    std::byte* const second = upper / memory::kFrameBytes == lower / memory::kFrameBytes && first != nullptr
                                  ? first + static_cast<ptrdiff_t>(lower - upper)
                                  : find(lower, kPair, direction);
    return first != nullptr && second != nullptr ? Rows{first, second} : Rows{};
  }

  // Fills all samples of a rectangle of a layer with the element. Only bits that are set in `mask` change.
  void fill(const Rectangle& rectangle, uint32_t layer, std::span<const std::byte> element,
            std::span<const std::byte> mask);

  // Returns whether every pixel of the rectangle inside the layer can be written without a fault.
  bool reaches(const Rectangle& rectangle, uint32_t layer);

  // Returns whether a fault stopped an access since begin().
  bool stopped() const { return stopped_ || guard_.failed(); }

 private:
  struct Page {
    uint64_t tag = ~uint64_t{0};  // page, and whether it may be written
    std::byte* frame = nullptr;   // null: unmapped
  };
  static constexpr size_t kPages = 64;
  static constexpr uint64_t kLine_B = 64;  // no line belongs to two blocks if the base is aligned to lines
  static constexpr uint64_t kLastTileRow = surface::kTileY.height - 1;

  // Returns the offset of an element of the current slice. Interleaved samples are elements.
  uint64_t element_offset(uint32_t x, uint32_t y) const {
    const uint64_t x_B = (origin_.x + x) * element_B_;
    const uint64_t row = origin_.y + y;
    return y_tiles_ ? surface::tile_y_offset(x_B, row, pitch_tiles_)
                    : surface::offset_of(layout_, {.x_B = x_B, .y = row, .z = origin_.z});
  }
  std::byte* find(uint64_t address, size_t bytes, memory::Direction direction) {
    if (watches_ && (direction == memory::Direction::write || guards_reads_) &&
        (guard_.pending(address - base_) || (address - base_) % kLine_B + bytes > kLine_B)) [[unlikely]] {
      make_plain(address - base_, bytes);
    }
    return find_unguarded(address, bytes, direction);
  }
  std::byte* find_unguarded(uint64_t address, size_t bytes, memory::Direction direction) {
    const uint64_t offset = address % memory::kFrameBytes;
    if (offset + bytes > memory::kFrameBytes) [[unlikely]] {
      return nullptr;
    }
    const uint64_t tag = tag_of(address, direction);
    Page& page = pages_[tag % kPages];
    if (page.tag == tag) [[likely]] {
      return page.frame != nullptr ? page.frame + offset : nullptr;
    }
    std::byte* frame = space_->page_at(wrapped_address(address), {.direction = direction});
    if (frame == nullptr) {
      return nullptr;
    }
    page = {tag, frame};
    return frame + offset;
  }
  static uint64_t tag_of(uint64_t address, memory::Direction direction) {
    return address / memory::kFrameBytes << 1 | static_cast<uint64_t>(direction);
  }
  std::span<std::byte> ask(uint64_t address, memory::Direction direction);
  // pixel_blocks.cpp
  void settle_unaligned();
  void make_plain(uint64_t offset, size_t bytes);
  void settle(const BlockGuard::Block& block);
  bool begin_change(uint32_t layer);
  bool is_plain(const Rectangle& pixels);
  void fill_with_clear(const Rectangle& pixels, uint32_t layer);
  bool settle_whole(uint64_t offset);
  std::byte* writable_line(uint64_t address);
  bool fill_whole(uint64_t granule);
  void fill_block(const BlockGuard::Block& block);
  bool change_tile(uint64_t offset, BlockChange change);
  void clear_each(const Rectangle& inside);
  void change_each(const Rectangle& elements, BlockChange change);
  Rectangle elements_of(const Rectangle& pixels) const;
  uint64_t offset_of(const Rectangle& elements) const {
    return element_offset(static_cast<uint32_t>(elements.x_min), static_cast<uint32_t>(elements.y_min));
  }
  template <class Visit>
  void each_tile(const Rectangle& elements, Visit visit);
  template <class Visit>
  void each_block(const Rectangle& elements, Visit visit);
  void change_slice(uint64_t slice, uint32_t layer, uint32_t sample);
  void load_slowly(uint64_t address, std::span<std::byte> into);
  void store_slowly(uint64_t address, std::span<const std::byte> from);
  uint32_t run_at(uint32_t x, uint32_t y, uint32_t layer);
  void fill_row(uint32_t x, uint32_t end, uint32_t y, uint32_t layer, std::span<const std::byte> pattern);
  bool fill_tiles(uint32_t x, uint32_t end, uint32_t y, uint32_t y_end, uint32_t layer,
                  std::span<const std::byte> pattern);

  memory::AddressSpace* space_ = nullptr;
  message::Surface surface_;
  uint32_t level_ = 0;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  uint32_t layers_ = 0;
  uint32_t element_B_ = 1;
  bool gapless_ = true;
  uint32_t samples_ = 1;
  bool beside_ = false;  // samples are interleaved
  bool y_tiles_ = false;
  bool stopped_ = false;
  uint64_t base_ = 0;
  uint64_t pitch_tiles_ = 1;
  surface::SurfaceLayout layout_;
  uint64_t slice_ = ~uint64_t{0};  // layer or sample slice that origin_ belongs to
  message::ImagePlace origin_;
  std::array<Page, kPages> pages_{};
  BlockGuard guard_;
  bool guards_reads_ = true;
  bool watches_ = false;     // the guard is on, and blocks of the window may be pending
  bool has_states_ = false;  // guard() succeeded, also if a layer has turned it off
  std::array<std::byte, 16> clear_{};
  std::array<std::byte, kLine_B> clear_line_{};
  bool fills_lines_ = false;  // clear_line_ holds whole elements
};

}  // namespace halogen::pipe3d
