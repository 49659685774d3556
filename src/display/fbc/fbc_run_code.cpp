#include "display/fbc/fbc_run_code.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halogen::display::fbc {

namespace {

template <class Pixel>
Pixel load(const std::byte* from) {
  Pixel pixel;
  std::memcpy(&pixel, from, sizeof pixel);
  return pixel;
}

// Returns the end of the run that starts at `first`. Compares eight bytes at once, because desktops have long runs.
template <class Pixel, Pixel Mask>
size_t end_of_run(const std::byte* line, size_t first, size_t pixels, Pixel value) {
  constexpr size_t kAtOnce = sizeof(uint64_t) / sizeof(Pixel);
  constexpr uint64_t kSpread = ~uint64_t{0} / static_cast<Pixel>(~Pixel{0});
  constexpr uint64_t kMask = kSpread * Mask;
  const uint64_t wanted = kSpread * value;
  size_t at = first + 1;
  for (; at + kAtOnce <= pixels; at += kAtOnce) {
    const uint64_t differs = (load<uint64_t>(line + at * sizeof(Pixel)) & kMask) ^ wanted;
    if (differs != 0) {
      return at + static_cast<size_t>(std::countr_zero(differs)) / (8 * sizeof(Pixel));
    }
  }
  while (at < pixels && (load<Pixel>(line + at * sizeof(Pixel)) & Mask) == value) {
    ++at;
  }
  return at;
}

template <class Pixel, Pixel Mask, unsigned LengthShift, unsigned Longest>
std::optional<size_t> encode_line(std::span<const std::byte> line, std::span<uint32_t> into) {
  static_assert(std::endian::native == std::endian::little);
  const size_t pixels = line.size() / sizeof(Pixel);
  size_t runs = 0;
  for (size_t first = 0; first < pixels;) {
    const auto value = static_cast<Pixel>(load<Pixel>(line.data() + first * sizeof(Pixel)) & Mask);
    const size_t end = end_of_run<Pixel, Mask>(line.data(), first, pixels, value);
    while (first < end) {
      const size_t length = std::min<size_t>(end - first, Longest);
      if (runs == into.size()) {
        return std::nullopt;
      }
      into[runs++] = value | static_cast<uint32_t>(length - 1) << LengthShift;
      first += length;
    }
  }
  return runs;
}

template <class Pixel, Pixel Mask, unsigned LengthShift, unsigned Longest>
bool decode_line(std::span<const uint32_t> runs, std::span<std::byte> line) {
  const size_t pixels = line.size() / sizeof(Pixel);
  size_t done = 0;
  for (const uint32_t run : runs) {
    const auto pixel = static_cast<Pixel>(run & Mask);
    const size_t length = std::min<size_t>((run >> LengthShift) % Longest + 1, pixels - done);
    for (const size_t end = done + length; done < end; ++done) {
      std::memcpy(line.data() + done * sizeof(Pixel), &pixel, sizeof pixel);
    }
    if (done == pixels) {
      return true;
    }
  }
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(done * sizeof(Pixel)), line.end(), std::byte{});
  return done == pixels;
}

constexpr uint32_t kColour = 0x00ff'ffff;

}  // namespace

std::optional<size_t> encode(std::span<const std::byte> line, PixelKind kind, std::span<uint32_t> into) {
  switch (kind) {
    case PixelKind::bits32:
      return encode_line<uint32_t, kColour, 24, 256>(line, into);
    case PixelKind::bits16:
      return encode_line<uint16_t, 0xffff, 16, 2048>(line, into);
    case PixelKind::bits15:
      return encode_line<uint16_t, 0x7fff, 16, 2048>(line, into);
  }
  return std::nullopt;
}

bool decode(std::span<const uint32_t> runs, PixelKind kind, std::span<std::byte> line) {
  switch (kind) {
    case PixelKind::bits32:
      return decode_line<uint32_t, kColour, 24, 256>(runs, line);
    case PixelKind::bits16:
      return decode_line<uint16_t, 0xffff, 16, 2048>(runs, line);
    case PixelKind::bits15:
      return decode_line<uint16_t, 0x7fff, 16, 2048>(runs, line);
  }
  return false;
}

}  // namespace halogen::display::fbc
