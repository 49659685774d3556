// Pictures of the display: planes with their formats and tilings, cursors, sprites, flips, and frame buffer
// compression, which must not change the picture.
#include <algorithm>
#include <cmath>

#include "gallery.h"

namespace halogen::gallery {

namespace {

constexpr uint32_t kWidth = 320;
constexpr uint32_t kHeight = 240;
constexpr uint32_t kEnable = 0x8000'0000;
constexpr uint32_t kTiledX = 1u << 10;
constexpr uint32_t kXrgb8888 = 6u << 26;  // format bits of DSPCNTR
constexpr uint32_t kSurface = 0x10'0000;
constexpr uint32_t kSecond = 0x80'0000;
constexpr uint32_t kPitch = 2048;

uint64_t linear(uint64_t x_B, uint64_t y) {
  return y * kPitch + x_B;
}
uint64_t tiled_x(uint64_t x_B, uint64_t y) {
  return y / 8 * 8 * kPitch + x_B / 512 * 4096 + y % 8 * 512 + x_B % 512;
}
uint64_t tiled_y(uint64_t x_B, uint64_t y) {
  return y / 32 * 32 * kPitch + x_B / 128 * 4096 + x_B % 128 / 16 * 512 + y % 32 * 16 + x_B % 16;
}
using Walk = uint64_t (*)(uint64_t, uint64_t);

void paint(Chip& chip, uint32_t base, Walk walk, const std::function<uint32_t(uint32_t, uint32_t)>& color,
           uint32_t width = kWidth, uint32_t height = kHeight) {
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      chip.put<uint32_t>(base + walk(uint64_t{x} * 4, y), color(x, y));
    }
  }
}
uint32_t small_card(uint32_t x, uint32_t y) {
  return card(x, y, kWidth, kHeight);
}

// Plane A of the first chips.
void show(Chip& chip, uint32_t control, uint32_t base = kSurface, uint32_t offset = 0) {
  chip.set("DSPSTRIDE", kPitch);
  chip.set("DSPTILEOFF", offset);
  chip.set("DSPCNTR", kEnable | control);
  chip.set("DSPSURF", base);
}

Image plane(uint32_t control, Walk walk, uint32_t offset = 0) {
  Chip chip("gm45");
  paint(chip, kSurface, walk, small_card);
  chip.start(kWidth, kHeight);
  show(chip, kXrgb8888 | control, kSurface, offset);
  chip.next_vblank();
  return chip.shown();
}

Image sixteen_bits(uint32_t code, unsigned green) {
  Chip chip("gm45");
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const uint32_t c = small_card(x, y);
      const uint32_t value = (c >> 19 & 31) << (5 + green) | ((c >> 8 & 255) >> (8 - green)) << 5 | (c >> 3 & 31);
      chip.put<uint16_t>(kSurface + linear(uint64_t{x} * 2, y), static_cast<uint16_t>(value));
    }
  }
  chip.start(kWidth, kHeight);
  show(chip, code << 26);
  chip.next_vblank();
  return chip.shown();
}

// Indices that increase along the diagonals, shown through a palette of hues.
Image indexed() {
  Chip chip("gm45");
  for (uint32_t n = 0; n < 256; ++n) {
    const auto wave = [n](double phase) {
      return static_cast<uint32_t>(127.5 + 127.5 * std::sin(n * 6.28318530718 / 256 + phase));
    };
    chip.set("PALETTE_A", wave(0) << 16 | wave(2.0943951) << 8 | wave(4.1887902), n);
  }
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      chip.put<uint8_t>(kSurface + linear(x, y), static_cast<uint8_t>(x + y));
    }
  }
  chip.start(kWidth, kHeight);
  show(chip, 2u << 26);
  chip.next_vblank();
  return chip.shown();
}

// An arrow of the usual shape: 0 outside, 1 edge, 2 inside.
unsigned arrow(uint32_t x, uint32_t y) {
  if (x > y || y >= 48 || x >= 32) return 0;
  const bool head = x + y < 48;
  const bool tail = y >= 24 && x + 10 >= y / 2 + 6 && x <= y / 2 + 2 && y < 46;
  if (!head && !tail) return 0;
  const bool edge =
      x < 2 || y - x < 2 || (head && !tail && x + y >= 46) || (tail && !head && (x + 4 < y / 2 - 2 || y >= 44));
  return edge ? 1 : 2;
}

Image cursor_alpha() {
  Chip chip("gm45");
  paint(chip, kSurface, linear, small_card);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      const unsigned part = arrow(x, y);
      // Half transparent red inside, premultiplied; a soft shadow below and right.
      const bool shadow = x >= 6 && y >= 6 && arrow(x - 6, y - 6) != 0;
      const uint32_t value = part == 1 ? 0xffffffffu : part == 2 ? 0xa0a00000u : shadow ? 0x60000000u : 0;
      chip.put<uint32_t>(kSecond + (y * 64 + x) * 4, value);
    }
  }
  chip.start(kWidth, kHeight);
  show(chip, kXrgb8888);
  chip.set("CURCNTR", 0x27);
  chip.set("CURPOS", 60u << 16 | 130);
  chip.set("CURBASE", kSecond);
  chip.next_vblank();
  return chip.shown();
}

// AND and XOR masks: two colours, transparent, and inverted.
Image cursor_two_bits() {
  Chip chip("gm45");
  paint(chip, kSurface, linear, small_card);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t byte = 0; byte < 8; ++byte) {
      uint32_t and_bits = 0;
      uint32_t xor_bits = 0;
      for (uint32_t bit = 0; bit < 8; ++bit) {
        const uint32_t x = byte * 8 + bit;
        const unsigned part = arrow(x, y);
        const bool box = x >= 36 && y >= 4 && x < 60 && y < 28;  // inverted
        const uint32_t code = part == 1 ? 1 : part == 2 ? 0 : box ? 3 : 2;
        and_bits |= (code >> 1) << (7 - bit);
        xor_bits |= (code & 1) << (7 - bit);
      }
      chip.put<uint8_t>(kSecond + y * 16 + byte, static_cast<uint8_t>(and_bits));
      chip.put<uint8_t>(kSecond + y * 16 + 8 + byte, static_cast<uint8_t>(xor_bits));
    }
  }
  chip.set("CURPALET_A", 0x000000, 0);
  chip.set("CURPALET_A", 0xffffff, 1);
  chip.start(kWidth, kHeight);
  show(chip, kXrgb8888);
  chip.set("CURCNTR", 0x05);
  chip.set("CURPOS", 20u << 16 | 70);
  chip.set("CURBASE", kSecond);
  chip.next_vblank();
  return chip.shown();
}

// Video in a sprite: luma increases downwards, the two chroma channels change across.
Image sprite() {
  constexpr uint32_t kW = 160;
  constexpr uint32_t kH = 120;
  Chip chip("gm45");
  paint(chip, kSurface, tiled_x, small_card);
  for (uint32_t y = 0; y < kH; ++y) {
    for (uint32_t x = 0; x < kW; x += 2) {
      const uint32_t luma = 60 + y * 150 / kH;
      const uint32_t u = 40 + x * 176 / kW;
      const uint32_t v = 216 - x * 176 / kW;
      chip.put<uint32_t>(kSecond + linear(uint64_t{x} * 2, y), luma | u << 8 | luma << 16 | v << 24);
    }
  }
  chip.start(kWidth, kHeight);
  show(chip, kXrgb8888 | kTiledX);
  chip.set("DVSPOS", 60u << 16 | 80);
  chip.set("DVSSIZE", (kH - 1) << 16 | (kW - 1));
  chip.set("DVSSTRIDE", kPitch);
  chip.set("DVSCNTR", kEnable);
  chip.set("DVSSURF", kSecond);
  chip.next_vblank();
  return chip.shown();
}

// Universal planes: a Y-tiled picture below, a disc with alpha above.
Image universal(bool with_disc) {
  Chip chip("skl");
  paint(chip, kSurface, tiled_y, small_card);
  constexpr uint32_t kDisc = 128;
  paint(
      chip, kSecond, linear,
      [](uint32_t x, uint32_t y) {
        const double far = std::hypot(x - kDisc / 2.0, y - kDisc / 2.0) / (kDisc / 2.0);
        const auto alpha = static_cast<uint32_t>(255 * std::clamp(1.15 - far * far, 0.0, 1.0));
        return alpha << 24 | 0x2080ff;
      },
      kDisc, kDisc);
  chip.start(kWidth, kHeight);
  chip.set("PLANE_STRIDE_1", kPitch / 128);
  chip.set("PLANE_SIZE_1", (kHeight - 1) << 16 | (kWidth - 1));
  chip.set("PLANE_CTL_1", kEnable | 4u << 24 | 4u << 10);
  chip.set("PLANE_SURF_1", kSurface);
  if (with_disc) {
    chip.set("PLANE_STRIDE_2", kPitch / 64);
    chip.set("PLANE_POS_2", 56u << 16 | 96);
    chip.set("PLANE_SIZE_2", (kDisc - 1) << 16 | (kDisc - 1));
    chip.set("PLANE_CTL_2", kEnable | 4u << 24 | 3u << 4);
    chip.set("PLANE_SURF_2", kSecond);
  }
  chip.next_vblank();
  return chip.shown();
}

// Two buffers, one flip per frame, a moving ball: nine frames at nine vertical blanks, in three rows.
Image flips() {
  constexpr uint32_t kW = 160;
  constexpr uint32_t kH = 120;
  constexpr uint32_t kGap = 4;
  Chip chip("gm45");
  chip.start(kW, kH);
  Image sheet(3 * kW + 2 * kGap, 3 * kH + 2 * kGap, {64, 64, 64, 255});
  for (uint32_t frame = 0; frame < 9; ++frame) {
    const uint32_t base = frame % 2 == 0 ? kSurface : kSecond;
    const int32_t bx = 16 + static_cast<int32_t>(frame) * 16;
    const int32_t by = 90 - static_cast<int32_t>(frame) * static_cast<int32_t>(8 - frame) * 4;
    paint(
        chip, base, tiled_x,
        [&](uint32_t x, uint32_t y) -> uint32_t {
          const int32_t dx = static_cast<int32_t>(x) - bx;
          const int32_t dy = static_cast<int32_t>(y) - by;
          if (dx * dx + dy * dy < 144) return 0xffa020;
          if (y >= 103) return 0x407040;
          return 0x103060 + y / 2;
        },
        kW, kH);
    show(chip, kXrgb8888 | kTiledX, base);
    chip.next_vblank();
    const Image shown = chip.shown();
    for (uint32_t y = 0; y < kH; ++y) {
      std::ranges::copy(shown.row(y), sheet.row(frame / 3 * (kH + kGap) + y).subspan(frame % 3 * (kW + kGap)).begin());
    }
  }
  return sheet;
}

Image gamma() {
  Chip chip("gm45");
  for (uint32_t n = 0; n < 256; ++n) {
    chip.set("PALETTE_A", static_cast<uint32_t>(255 * std::pow(n / 255.0, 0.45) + 0.5) * 0x010101, n);
  }
  paint(chip, kSurface, linear, small_card);
  chip.start(kWidth, kHeight);
  show(chip, kXrgb8888 | 1u << 30);
  chip.next_vblank();
  return chip.shown();
}

// The smallest screen that both compressors accept.
Image compressed(std::string_view device, bool on) {
  constexpr uint32_t kW = 640;
  constexpr uint32_t kH = 480;
  Chip chip(device);
  constexpr uint32_t kLong = 4096;
  for (uint32_t y = 0; y < kH; ++y) {
    for (uint32_t x = 0; x < kW; ++x) {
      const uint64_t x_B = uint64_t{x} * 4;
      chip.put<uint32_t>(kSurface + y / 8 * 8 * kLong + x_B / 512 * 4096 + y % 8 * 512 + x_B % 512, card(x, y, kW, kH));
    }
  }
  chip.start(kW, kH);
  chip.set("DSPSTRIDE", kLong);
  chip.set("DSPCNTR", kEnable | kXrgb8888 | kTiledX);
  chip.set("DSPSURF", kSurface);
  chip.next_vblank();
  if (on && device == "gm965") {
    chip.write(0x3200, static_cast<uint32_t>(Chip::kStolen) + 0x1'0000);
    chip.write(0x3204, static_cast<uint32_t>(Chip::kStolen) + 0x8000);
    chip.write(0x3208, kEnable | (1536 / 64 - 1) << 5);
    chip.write(0x320c, 1);
  } else if (on) {
    chip.write(0x3208, kEnable | 1u << 6);
  }
  for (int frame = 0; frame < 3; ++frame) chip.next_vblank();
  // Overwrites the surface, so that the picture can only come from the compressed lines.
  if (on) {
    display::FrameCompressor& compressor = *chip.device().display().compressor();
    std::vector<std::byte> line(size_t{kW} * 4);
    for (uint32_t y = 0; y < kH; ++y) {
      if (!compressor.read_line(0, y, line)) continue;
      for (uint32_t x = 0; x < kW; ++x) {
        const uint64_t x_B = uint64_t{x} * 4;
        chip.put<uint32_t>(kSurface + y / 8 * 8 * kLong + x_B / 512 * 4096 + y % 8 * 512 + x_B % 512, 0xff00ff);
      }
    }
  }
  return chip.shown();
}

}  // namespace

std::vector<Picture> display_pictures() {
  return {
      {"display-plane", [] { return plane(0, linear); }},
      {"display-plane-tiled-x", [] { return plane(kTiledX, tiled_x); }},
      {"display-plane-tiled-y", [] { return universal(false); }},
      {"display-plane-rotated", [] { return plane(kTiledX | 1u << 15, tiled_x, (kHeight - 1) << 16 | (kWidth - 1)); }},
      {"display-plane-565", [] { return sixteen_bits(5, 6); }},
      {"display-plane-555", [] { return sixteen_bits(4, 5); }},
      {"display-plane-indexed", indexed},
      {"display-plane-gamma", gamma},
      {"display-planes-alpha", [] { return universal(true); }},
      {"display-cursor-alpha", cursor_alpha},
      {"display-cursor-two-bits", cursor_two_bits},
      {"display-sprite", sprite},
      {"display-flips", flips},
      {"display-compression-off", [] { return compressed("gm965", false); }},
      {"display-compression-gm965", [] { return compressed("gm965", true); }},
      {"display-compression-gm45", [] { return compressed("gm45", true); }},
  };
}

}  // namespace halogen::gallery
