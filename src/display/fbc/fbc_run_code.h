// Pixel runs of GM965's frame buffer compressor (G45 PRM vol. 1b 6.6.1 to 6.6.3, seed 003). A run is a dword: at 32
// bits per pixel the colour is in 23:0 and the length minus one in 31:24 (alpha is dropped); at 16 bits per pixel the
// pixel is in 15:0 and the length minus one in 26:16. Eight runs are a set of 32 bytes. Runs have the maximum length;
// the rest of the last set is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halogen::display::fbc {

inline constexpr unsigned kRunsPerSet = 8;
inline constexpr unsigned kSetBytes = 32;
inline constexpr unsigned kMaxPixels = 2048;  // pixels per line

// The pixel format of a run.
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

// Encodes the runs of a line to `into`. No value: they do not fit. `line` holds whole pixels, at least one.
std::optional<size_t> encode(std::span<const std::byte> line, PixelKind kind, std::span<uint32_t> into);

// Fills `line` from runs and ignores the rest of the runs. False: the runs ended before the line; its rest is zero.
bool decode(std::span<const uint32_t> runs, PixelKind kind, std::span<std::byte> line);

}  // namespace halogen::display::fbc
