// Pictures of the BLT engine for docs/gallery.md: commands in the ring of a GM45, encoded as in G45 PRM vol. 1b chapter
// 8 (seed 003). The engine draws every pixel except those of the source images.
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "device/surface_picture.h"
#include "gallery.h"

namespace halogen::gallery {
namespace {

using Dwords = std::vector<uint32_t>;

constexpr uint64_t kSheet = 0x40'0000, kSource = 0x80'0000, kTiles = 0xc0'0000, kBits = 0x100'0000, kPattern = 0x3000;
constexpr uint32_t kAll = 3u << 20, kDestinationTiled = 1u << 11, kSourceTiled = 1u << 15;  // first dword
constexpr uint32_t kClip = 1u << 30, kSourceTransparent = 1u << 29;                         // second
constexpr uint32_t kPaper = 0xf4'f1e8, kInk = 0x20'2a44, kRed = 0xc8'3c32, kBlue = 0x2f'6fb0, kGreen = 0x3d'9a5f,
                   kGold = 0xe0'a92e;

struct Box {
  int x1, y1, x2, y2;
};

uint32_t yx(int y, int x) {
  return static_cast<uint32_t>(y) << 16 | (static_cast<uint32_t>(x) & 0xffff);
}

// A sheet of 32-bit pixels and the ring that draws on it.
class Painter {
 public:
  Painter(uint32_t width, uint32_t height) : width_(width), height_(height) {
    chip_.write(kRing + 0x38, kRingAt);
    chip_.write(kRing + 0x3c, (kRingPages - 1) << 12 | 1);
    fill({0, 0, static_cast<int>(width), static_cast<int>(height)}, kPaper);
  }

  uint32_t pitch() const { return width_ * 4; }
  Chip& chip() { return chip_; }

  // Emits a command: opcode, flags of the first dword, and the other dwords.
  void draw(uint32_t opcode, uint32_t flags, const Dwords& rest) {
    put(2u << 29 | opcode << 22 | flags | static_cast<uint32_t>(rest.size() - 1));
    for (const uint32_t dword : rest) put(dword);
    if (tail_ % 8 != 0) put(0);
    chip_.write(kRing + 0x30, tail_);
    if (!chip_.device().settle(uint64_t{1} << 40)) give_up("the engine does not end");
    if (!chip_.events().empty()) give_up(chip_.events().front());
  }
  uint32_t control(uint32_t rop, uint32_t flags = 0) const { return flags | 3u << 24 | rop << 16 | pitch(); }

  void fill(Box box, uint32_t color) {
    draw(0x50, kAll, {control(0xf0), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, color});
  }
  void copy(Box box, int x, int y, uint64_t source = kSheet, uint32_t source_pitch = 0, uint32_t flags = 0) {
    draw(0x53, kAll | flags,
         {control(0xcc), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, yx(y, x),
          source_pitch != 0 ? source_pitch : pitch(), static_cast<uint32_t>(source)});
  }
  void fixed_pattern(Box box, uint32_t number, uint32_t background, uint32_t foreground, uint32_t flags = 0) {
    draw(0x59, kAll | number << 15,
         {control(0xf0, flags), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, background, foreground});
  }
  void mono(Box box, uint64_t bits, uint32_t background, uint32_t foreground, uint32_t flags = 0, uint32_t rop = 0xcc) {
    draw(0x54, kAll,
         {control(rop, flags), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, static_cast<uint32_t>(bits), background,
          foreground});
  }
  void setup(Box clip, uint32_t background, uint32_t foreground, uint32_t flags) {
    draw(0x01, kAll,
         {control(0xcc, flags), yx(clip.y1, clip.x1), yx(clip.y2, clip.x2), kSheet, background, foreground, kPattern});
  }
  // Draws one character with data from the ring, eight lines of one byte.
  void glyph(int x, int y, const std::array<uint8_t, 8>& lines) {
    uint32_t low = 0;
    uint32_t high = 0;
    for (unsigned i = 0; i < 4; ++i) {
      low |= uint32_t{lines[i]} << (8 * i);
      high |= uint32_t{lines[i + 4]} << (8 * i);
    }
    draw(0x31, 1u << 16, {yx(y, x), yx(y + 8, x + 8), low, high});
  }

  Image seen(uint64_t address, uint32_t width, uint32_t height, uint64_t pitch_B, Tiling tiling = Tiling::linear) {
    const device::SurfaceView view{address, width, height, pitch_B, picture::PixelFormat::xrgb8888, tiling};
    const auto made =
        device::picture_of(chip_.device().space(0, memory::Stream::blit, memory::TableKind::global), view);
    if (!made) give_up(std::string(made.message()));
    return made->image;
  }
  Image sheet() { return seen(kSheet, width_, height_, pitch()); }

  [[noreturn]] static void give_up(const std::string& why) {
    fmt::print(stderr, "gallery: {}\n", why);
    std::exit(1);
  }

 private:
  static constexpr uint32_t kRing = 0x2000, kRingAt = 0x1'0000, kRingPages = 16;

  void put(uint32_t dword) {
    chip_.put(kRingAt + tail_, dword);
    tail_ = (tail_ + 4) % (kRingPages * 4096);
  }

  Chip chip_{"gm45"};
  uint32_t width_;
  uint32_t height_;
  uint32_t tail_ = 0;
};

// A font of five by seven pixels, drawn for this program.
std::array<uint8_t, 8> letter(char c) {
  switch (c) {
    case 'A':
      return {0x70, 0x88, 0x88, 0xf8, 0x88, 0x88, 0x88, 0};
    case 'B':
      return {0xf0, 0x88, 0x88, 0xf0, 0x88, 0x88, 0xf0, 0};
    case 'C':
      return {0x70, 0x88, 0x80, 0x80, 0x80, 0x88, 0x70, 0};
    case 'D':
      return {0xf0, 0x88, 0x88, 0x88, 0x88, 0x88, 0xf0, 0};
    case 'E':
      return {0xf8, 0x80, 0x80, 0xf0, 0x80, 0x80, 0xf8, 0};
    case 'G':
      return {0x70, 0x88, 0x80, 0xb8, 0x88, 0x88, 0x70, 0};
    case 'H':
      return {0x88, 0x88, 0x88, 0xf8, 0x88, 0x88, 0x88, 0};
    case 'I':
      return {0x70, 0x20, 0x20, 0x20, 0x20, 0x20, 0x70, 0};
    case 'L':
      return {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xf8, 0};
    case 'N':
      return {0x88, 0xc8, 0xa8, 0xa8, 0x98, 0x88, 0x88, 0};
    case 'O':
      return {0x70, 0x88, 0x88, 0x88, 0x88, 0x88, 0x70, 0};
    case 'P':
      return {0xf0, 0x88, 0x88, 0xf0, 0x80, 0x80, 0x80, 0};
    case 'Q':
      return {0x70, 0x88, 0x88, 0x88, 0xa8, 0x90, 0x68, 0};
    case 'R':
      return {0xf0, 0x88, 0x88, 0xf0, 0xa0, 0x90, 0x88, 0};
    case 'S':
      return {0x78, 0x80, 0x80, 0x70, 0x08, 0x08, 0xf0, 0};
    case 'T':
      return {0xf8, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0};
    case 'U':
      return {0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x70, 0};
    case 'X':
      return {0x88, 0x88, 0x50, 0x20, 0x50, 0x88, 0x88, 0};
    default:
      return {};
  }
}

void write_text(Painter& painter, int x, int y, std::string_view text) {
  for (const char c : text) {
    if (c != ' ') painter.glyph(x, y, letter(c));
    x += 6;
  }
}

// All 256 raster operations, 0 in the upper left corner, 16 in a row. In every cell the destination is white at the
// right, the source below, and the pattern is white in every second stripe of four pixels, from the lower left up.
Image raster_operations() {
  constexpr int kCell = 16, kStep = 18, kSide = 16 * kStep + 2;
  Painter painter(kSide, kSide);
  painter.fill({0, 0, kSide, kSide}, 0x80'8080);
  for (uint32_t y = 0; y < kCell; ++y) {
    for (uint32_t x = 0; x < kCell; ++x) painter.chip().put(kSource + (y * kCell + x) * 4, y < 8 ? 0u : 0xff'ffffu);
  }
  for (uint32_t y = 0; y < 8; ++y) {
    for (uint32_t x = 0; x < 8; ++x) painter.chip().put(kPattern + (y * 8 + x) * 4, (x + y) % 8 < 4 ? 0u : 0xff'ffffu);
  }
  for (uint32_t rop = 0; rop < 256; ++rop) {
    const int x = 2 + static_cast<int>(rop % 16) * kStep;
    const int y = 2 + static_cast<int>(rop / 16) * kStep;
    const Box box{x, y, x + kCell, y + kCell};
    painter.fill({x, y, x + kCell / 2, y + kCell}, 0);
    painter.fill({x + kCell / 2, y, x + kCell, y + kCell}, 0xff'ffff);
    // The pattern seeds are chosen so that the pattern starts at the cell.
    const uint32_t seed_x = static_cast<uint32_t>(-x) & 7;
    const uint32_t seed_y = static_cast<uint32_t>(-y) & 7;
    const bool uses_source = (rop >> 2 & 0x33) != (rop & 0x33);
    const bool uses_pattern = rop >> 4 != (rop & 15);
    if (rop == 0xf0) {  // a command with a source cannot use the pattern alone
      painter.draw(0x51, kAll | seed_x << 12 | seed_y << 8,
                   {painter.control(rop), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, kPattern});
    } else if (uses_source || uses_pattern) {
      painter.draw(
          0x55, kAll | seed_x << 12 | seed_y << 8,
          {painter.control(rop), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, kCell * 4, 0, kSource, kPattern});
    } else {
      painter.draw(0x50, kAll, {painter.control(rop), yx(box.y1, box.x1), yx(box.y2, box.x2), kSheet, 0});
    }
  }
  return painter.sheet();
}

Image fixed_patterns() {
  constexpr std::array<uint32_t, 10> kNumbers = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11};
  constexpr int kSide = 48, kStep = 56;
  Painter painter(5 * kStep + 8, 2 * kStep + 8);
  for (unsigned i = 0; i < kNumbers.size(); ++i) {
    const int x = 8 + static_cast<int>(i % 5) * kStep;
    const int y = 8 + static_cast<int>(i / 5) * kStep;
    painter.fixed_pattern({x, y, x + kSide, y + kSide}, kNumbers[i], 0xff'ffff, i < 6 ? kBlue : kRed);
  }
  return painter.sheet();
}

Image text() {
  Painter painter(200, 72);
  painter.fixed_pattern({0, 36, 200, 72}, 9, 0xd8'e4ee, 0xc4'd6e6);
  painter.setup({0, 0, 200, 72}, kPaper, kInk, 0);
  write_text(painter, 8, 8, "HALOGEN PAINTS TEXT");
  painter.setup({0, 0, 200, 72}, kInk, kGold, 0);
  write_text(painter, 8, 22, "OPAQUE HAS A PAPER");
  painter.setup({0, 0, 200, 72}, 0, kRed, kSourceTransparent);
  write_text(painter, 8, 42, "TRANSPARENT HAS NONE");
  painter.setup({20, 56, 80, 61}, 0, kBlue, kSourceTransparent | kClip);
  write_text(painter, 8, 56, "CLIPPED TO A STRIP");
  return painter.sheet();
}

// A disc and a ring of one bit per pixel, 64 by 64; lines start at words.
void put_discs(Painter& painter) {
  for (uint32_t y = 0; y < 64; ++y) {
    std::array<std::array<uint8_t, 8>, 2> bits{};
    for (uint32_t x = 0; x < 64; ++x) {
      const auto dx = 2 * static_cast<int>(x) - 63;
      const auto dy = 2 * static_cast<int>(y) - 63;
      const int square = dx * dx + dy * dy;
      const auto bit = static_cast<uint8_t>(0x80u >> x % 8);
      if (square < 60 * 60) bits[0][x / 8] |= bit;
      if (square < 60 * 60 && square > 40 * 40) bits[1][x / 8] |= bit;
    }
    painter.chip().put(kBits + y * 8, bits[0]);
    painter.chip().put(kBits + 0x1000 + y * 8, bits[1]);
  }
}

Image mono_sources() {
  Painter painter(312, 88);
  put_discs(painter);
  painter.fixed_pattern({0, 0, 312, 88}, 8, 0xe8'eef4, 0xd0'dce8);
  painter.mono({12, 12, 76, 76}, kBits, kGold, kInk);
  painter.mono({86, 12, 150, 76}, kBits, 0, kRed, kSourceTransparent);
  painter.mono({160, 12, 224, 76}, kBits + 0x1000, 0, kGreen, kSourceTransparent);
  painter.mono({234, 12, 298, 76}, kBits, 0, 0xff'ffff, 0, 0x66);  // exclusive or
  painter.mono({204, 20, 268, 84}, kBits + 0x1000, 0, 0xff'ffff, 0, 0x66);
  return painter.sheet();
}

constexpr uint32_t kCard = 128;

void put_card(Painter& painter, uint64_t at) {
  for (uint32_t y = 0; y < kCard; ++y) {
    for (uint32_t x = 0; x < kCard; ++x) painter.chip().put(at + (y * kCard + x) * 4, card(x, y, kCard, kCard));
  }
}

// The card; the card copied into X tiles, as memory holds it; and copied back. It covers two tiles of 512 bytes.
Image tiled_copies() {
  Painter painter(3 * kCard + 32, kCard + 16);
  put_card(painter, kSource);
  constexpr uint32_t kTilePitch = 1024;
  constexpr int kInside = 64;
  const auto side = static_cast<int>(kCard);
  painter.draw(0x53, kAll | kDestinationTiled,
               {3u << 24 | 0xccu << 16 | kTilePitch / 4, yx(0, kInside), yx(side, kInside + side), kTiles, 0, kCard * 4,
                kSource});
  painter.copy({8, 8, 8 + side, 8 + side}, 0, 0, kSource, kCard * 4);
  painter.copy({16 + side, 8, 16 + 2 * side, 8 + side}, kInside, 0, kTiles, kTilePitch);
  painter.copy({24 + 2 * side, 8, 24 + 3 * side, 8 + side}, kInside, 0, kTiles, kTilePitch / 4, kSourceTiled);
  return painter.sheet();
}

// Discs on green, copied without the green; then only where the sheet is between two greys.
Image chroma_keys() {
  Painter painter(296, 104);
  constexpr int kSide = 80;
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      const auto dx = 2 * static_cast<int>(x) - 79;
      const auto dy = 2 * static_cast<int>(y) - 79;
      const int square = dx * dx + dy * dy;
      const uint32_t shade = 255 - static_cast<uint32_t>(square) / 40;
      const uint32_t green = 0x00'c000 + ((x + y) % 16 << 8);
      painter.chip().put(kSource + (y * kSide + x) * 4, square < 70 * 70 ? shade << 16 | 0x30 << 8 | 0x40 : green);
    }
  }
  painter.fixed_pattern({0, 0, 296, 104}, 3, 0xe8'eef4, 0xb8'cce0);
  for (int i = 0; i < 10; ++i) {
    const auto grey = static_cast<uint32_t>(40 + i * 20);
    painter.fill({204 + i * 8, 12, 212 + i * 8, 92}, grey << 16 | grey << 8 | grey);
  }
  const auto key = [&](int x, uint32_t mode, uint32_t low, uint32_t high) {
    painter.draw(
        0x73, kAll | mode << 17,
        {painter.control(0xcc), yx(12, x), yx(12 + kSide, x + kSide), kSheet, 0, kSide * 4, kSource, low, high});
  };
  painter.copy({12, 12, 12 + kSide, 12 + kSide}, 0, 0, kSource, kSide * 4);
  key(108, 1, 0x00'c000, 0x00'cf00);  // source pixels in the range are not copied
  key(204, 7, 0x60'6060, 0xb0'b0b0);  // destination pixels in the range are written
  return painter.sheet();
}

Image clipping() {
  Painter painter(264, 136);
  put_card(painter, kSource);
  const auto clip = [&](Box box) { painter.draw(0x03, 0, {yx(box.y1, box.x1), yx(box.y2, box.x2)}); };
  const auto copy = [&](int x, int y, uint32_t flags) {
    const auto side = static_cast<int>(kCard);
    painter.draw(0x53, kAll,
                 {painter.control(0xcc, flags), yx(y, x), yx(y + side, x + side), kSheet, 0, kCard * 4, kSource});
  };
  copy(-32, -32, 0);  // pixels left of and above the surface are not drawn
  for (int i = 0; i < 4; ++i) {
    clip({128 + i * 32, 8 + i * 16, 152 + i * 32, 80 + i * 16});
    copy(128, 4, kClip);
  }
  clip({8, 104, 120, 128});
  painter.fixed_pattern({0, 90, 264, 136}, 5, 0xff'ffff, kGreen, kClip);
  return painter.sheet();
}

// One disc, moved step by step over its own image: the engine reads before it overwrites, in every direction.
Image overlapping_copies() {
  Painter painter(272, 200);
  put_discs(painter);
  const struct {
    int x, y, dx, dy;
    uint32_t color;
  } kMoves[] = {{4, 4, 9, 5, kRed}, {204, 4, -9, 5, kBlue}, {4, 132, 9, -5, kGreen}, {204, 132, -9, -5, kGold}};
  for (const auto& move : kMoves) {
    painter.mono({move.x, move.y, move.x + 64, move.y + 64}, kBits, kPaper, move.color);
    for (int i = 0; i < 6; ++i) {
      const int x = move.x + i * move.dx;
      const int y = move.y + i * move.dy;
      painter.copy({x + move.dx, y + move.dy, x + move.dx + 64, y + move.dy + 64}, x, y);
    }
  }
  return painter.sheet();
}

}  // namespace

std::vector<Picture> blit_pictures() {
  return {{"blt-raster-operations", raster_operations},
          {"blt-fixed-patterns", fixed_patterns},
          {"blt-text", text},
          {"blt-mono-sources", mono_sources},
          {"blt-tiled-copies", tiled_copies},
          {"blt-chroma-keys", chroma_keys},
          {"blt-clipping", clipping},
          {"blt-overlapping-copies", overlapping_copies}};
}

}  // namespace halogen::gallery
