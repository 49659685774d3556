// Pixel runs of the frame buffer compressor of GM965 (seed 003 6.6.1 to 6.6.3). A run is a dword: at 32 bits a pixel
// the colour in 23:0 and the length minus one in 31:24 (the alpha byte is dropped); at 16 bits a pixel the pixel in
// 15:0 and the length minus one in 26:16. Eight runs are a set of 32 bytes. Runs are as long as can be; what the last
// set has left over is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halogen::display::fbc {

inline constexpr unsigned kRunsPerSet = 8;
inline constexpr unsigned kSetBytes = 32;
inline constexpr unsigned kMostPixels = 2048;  // of a line

// How one pixel is kept in a run.
enum class PixelKind : uint8_t {
  bits32,  // xRGB 8:8:8:8
  bits16,  // 5:6:5
  bits15,  // x:5:5:5, the top bit is dropped
};

constexpr unsigned bytes_of(PixelKind kind) {
  return kind == PixelKind::bits32 ? 4 : 2;
}
constexpr unsigned longest_run(PixelKind kind) {
  return kind == PixelKind::bits32 ? 256 : 2048;
}
constexpr unsigned sets_of(size_t runs) {
  return static_cast<unsigned>((runs + kRunsPerSet - 1) / kRunsPerSet);
}

// The runs of a line, in `into`; nothing when they do not fit. `line` holds whole pixels, at least one.
std::optional<size_t> encode(std::span<const std::byte> line, PixelKind kind, std::span<uint32_t> into);

// Fills `line` from runs, and stops there: what is left of the runs is dropped. False: the runs ended before
// the line, the rest of which is zero.
bool decode(std::span<const uint32_t> runs, PixelKind kind, std::span<std::byte> line);

}  // namespace halogen::display::fbc
