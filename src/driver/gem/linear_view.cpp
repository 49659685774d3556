#include "driver/gem/linear_view.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "surface/tiling.h"

namespace halogen::driver {

std::unique_ptr<LinearView> LinearView::create(uint64_t bytes) {
  auto view = std::make_unique<LinearView>();
  Result<SharedMemory> file = SharedMemory::create("halogen view", bytes);
  if (!file) return nullptr;
  view->file_ = std::move(file).value();
  view->seen_.resize(bytes);
  return view;
}

void LinearView::sync(std::span<std::byte> buffer, Tiling tiling, uint32_t stride) {
  constexpr uint64_t kPiece = 16;  // contiguous in every tiling
  std::byte* const view = file_.at(0, seen_.size()).data();
  const uint64_t tile_width = tiling == Tiling::x ? 512 : 128;
  const uint64_t tiles = std::max<uint64_t>(stride / tile_width, 1);
  for (uint64_t at = 0; at + kPiece <= seen_.size(); at += kPiece) {
    uint64_t tiled_offset = at;
    if (tiling == Tiling::x) tiled_offset = surface::tile_x_offset(at % stride, at / stride, tiles);
    if (tiling == Tiling::y) tiled_offset = surface::tile_y_offset(at % stride, at / stride, tiles);
    if (tiled_offset + kPiece > buffer.size()) continue;  // rows beyond the end of the buffer
    if (std::memcmp(view + at, seen_.data() + at, kPiece) != 0) {
      std::memcpy(seen_.data() + at, view + at, kPiece);
      std::memcpy(buffer.data() + tiled_offset, view + at, kPiece);
    } else if (std::memcmp(buffer.data() + tiled_offset, seen_.data() + at, kPiece) != 0) {
      std::memcpy(seen_.data() + at, buffer.data() + tiled_offset, kPiece);
      std::memcpy(view + at, buffer.data() + tiled_offset, kPiece);
    }
  }
}

}  // namespace halogen::driver
