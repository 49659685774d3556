#include "support/blit_stream.h"

#include <algorithm>
#include <initializer_list>

namespace halogen::blit_reference {
namespace {

bool one_of(unsigned opcode, std::initializer_list<unsigned> list) {
  return std::ranges::count(list, opcode) != 0;
}
uint32_t yx(int64_t y, int64_t x) {
  return static_cast<uint32_t>(y & 0xffff) << 16 | static_cast<uint32_t>(x & 0xffff);
}
uint32_t pitch_field(const Plane& plane) {
  const int64_t units = plane.tile == Tile::linear ? plane.pitch_B : plane.pitch_B / 4;
  return static_cast<uint32_t>(units & 0xffff);
}
constexpr uint32_t kTiled = 1u << 11, kTiledSource = 1u << 15, kClip = 1u << 30;

// Returns the start of the last command of a piece.
size_t command_start(const std::vector<uint32_t>& piece) {
  size_t start = 0;
  for (size_t next = 0; next < piece.size();) {
    start = next;
    const unsigned opcode = piece[next] >> 22 & 0x7f;
    next += (piece[next] & (one_of(opcode, {0x40, 0x43}) ? 0x1f : 0xff)) + 2;
  }
  return start;
}

bool has_color_source(unsigned opcode) {
  return one_of(opcode, {0x43, 0x53, 0x73, 0x55, 0x74, 0x57});
}
bool has_mono_source(unsigned opcode) {
  return one_of(opcode, {0x26, 0x31, 0x54, 0x71, 0x56, 0x75, 0x58});
}
bool has_pattern(unsigned opcode) {
  return one_of(opcode,
                {0x40, 0x50, 0x24, 0x25, 0x51, 0x76, 0x72, 0x77, 0x52, 0x59, 0x55, 0x74, 0x56, 0x75, 0x57, 0x58});
}
bool by_setup(unsigned opcode) {
  return one_of(opcode, {0x24, 0x25, 0x26, 0x31});
}

}  // namespace

uint64_t RandomBlits::place(uint64_t alignment, uint64_t room) {
  return base_ + numbers_() % (bytes_ - room) / alignment * alignment;
}

// Returns any of the 256 codes that the operands allow.
uint8_t RandomBlits::rop(bool pattern, bool source) {
  unsigned code = below(256);
  if (!source) code = (code & 0x33) | (code & 0x33) << 2;
  if (!pattern) code = (code & 0x0f) | (code & 0x0f) << 4;
  return static_cast<uint8_t>(code);
}

// Space for about 100 lines: 200 KB of a tiled surface with the widest pitch.
Plane RandomBlits::plane(unsigned pixel_B, bool tiled, bool y, bool negative) {
  constexpr uint64_t kRoom = 256 * 1024;
  if (tiled) {
    const int64_t width = y ? 128 : 512;
    return {place(4096, kRoom), width * (y ? between(3, 12) : between(1, 4)), y ? Tile::y : Tile::x};
  }
  const int64_t step = chance(50) ? 64 : 4;
  int64_t pitch = (320 + between(0, 1500)) / step * step;
  uint64_t base = place(chance(50) ? 64 : pixel_B, kRoom);
  if (negative && chance(15)) {
    pitch = -pitch;
    base += 192 * 1024;
  }
  return {base, pitch, Tile::linear};
}

void RandomBlits::clip(Encoded& command) {
  const int64_t x = between(0, 60), y = between(0, 40);
  command.br[24] = yx(y, x);
  command.br[25] = yx(y + between(0, 50), x + between(0, 120));
}

// Adds rectangle, pitch, base and tiling; setup commands carry the last three for their users.
void RandomBlits::destination(Encoded& command, const Plane& plane, const Shape& shape) {
  if (plane.tile != Tile::linear) command.header |= kTiled;
  const int64_t limit = plane.tile == Tile::linear ? 300 : plane.pitch_B;
  const int64_t last = std::max<int64_t>(limit / shape.pixel_B - shape.width, 0);
  const int64_t x = chance(15) ? between(-20, 4) : between(0, std::min<int64_t>(last, 250));
  const int64_t y = chance(15) ? between(-10, 4) : between(0, 60);
  command.br[22] = yx(y, x);
  command.br[23] = yx(y + shape.height, x + shape.width);
  command.br[9] = plane.base;
}

void RandomBlits::color_source(Encoded& command, const Plane& destination, unsigned pixel_B) {
  Plane from = destination;
  int64_t x = 0, y = 0;
  if (chance(45)) {  // overlapping itself, nearby
    x = static_cast<int16_t>(command.br[22] & 0xffff) + between(-6, 6);
    y = static_cast<int16_t>(command.br[22] >> 16 & 0xffff) + between(-4, 4);
  } else {
    from = plane(pixel_B, chance(40), rules_.y_source, true);
    const int64_t limit = from.tile == Tile::linear ? 300 : from.pitch_B;
    x = chance(10) ? between(-12, 3) : between(0, std::max<int64_t>(limit / pixel_B - 24, 0));
    y = chance(10) ? between(-6, 3) : between(0, 60);
  }
  if (from.tile != Tile::linear) command.header |= kTiledSource;
  command.br[11] = pitch_field(from);
  command.br[12] = from.base;
  command.br[26] = yx(y, x);
}

void RandomBlits::mono_source(Encoded& command, const Shape& shape, bool text) {
  const unsigned start = text ? 0 : below(8);
  command.header |= start << 17;
  int64_t line = (start + shape.width + 15) / 16 * 16;
  bool bytes = false;
  if (text) {
    bytes = chance(50);
    if (bytes) command.header |= 1u << 16;
    line = bytes ? (shape.width + 7) / 8 * 8 : shape.width;
  }
  command.br[12] = place(text ? 1 : 2, 8192);
  if (!one_of(command.opcode, {0x31, 0x71})) return;
  const int64_t bits = std::max<int64_t>((shape.height - 1) * line + start + shape.width, 1);
  for (int64_t i = 0; i < (bits + 63) / 64 * 2; ++i) command.immediate.push_back(numbers_());
}

Encoded RandomBlits::linear(unsigned opcode) {
  Encoded command{.opcode = opcode, .header = below(4) << 20, .br = {}, .immediate = {}};
  const unsigned depth = below(4);
  const unsigned pixel_B = depth == 0 ? 1 : depth == 3 ? 4 : 2;
  const Plane to = plane(pixel_B, false, false, true);
  const auto width = static_cast<uint32_t>(between(0, 60)) * pixel_B;
  const auto height = static_cast<uint32_t>(between(0, 20));
  command.br[13] = depth << 24 | uint32_t{rop(opcode == 0x40, opcode == 0x43)} << 16 | pitch_field(to);
  command.br[14] = height << 16 | width;
  command.br[9] = to.base;
  command.br[16] = numbers_();
  if (opcode == 0x40) return command;
  Plane from = plane(pixel_B, false, false, true);
  bool left = chance(50);
  if (chance(50)) {  // overlapping itself: in the safe direction, with rising pitches if the destination is below
    from = to;
    const int64_t x = between(-5, 5) * pixel_B, y = between(-3, 3);
    left = x < 0;
    const int64_t pitch = std::abs(to.pitch_B);
    Plane up{to.base, y < 0 ? -pitch : pitch, Tile::linear};
    from = {to.base + static_cast<uint64_t>(y * pitch + x), up.pitch_B, Tile::linear};
    if (y == 0) from.pitch_B = up.pitch_B = x < 0 ? pitch : -pitch;
    command.br[13] = (command.br[13] & ~uint64_t{0xffff}) | pitch_field(up);
  }
  command.br[11] = pitch_field(from);
  command.br[12] = from.base;
  if (left && width != 0) {
    command.br[13] |= 1u << 30;
    command.br[9] += width - 1;
    command.br[12] += width - 1;
  }
  return command;
}

Encoded RandomBlits::setup(unsigned opcode, const Plane& plane, const Shape& shape) {
  Encoded command{.opcode = opcode, .header = below(4) << 20, .br = {}, .immediate = {}};
  if (plane.tile != Tile::linear) command.header |= kTiled;
  clip(command);
  command.br[9] = plane.base;
  for (const unsigned number : {5u, 6u, 20u, 21u}) command.br[number] = numbers_();
  command.br[7] = place(64 * shape.pixel_B, 8192);
  command.br[1] = shape.depth << 24 | pitch_field(plane) | (chance(60) ? kClip : 0);
  return command;
}

Encoded RandomBlits::drawing(unsigned opcode, const Plane& plane, const Shape& shape) {
  Encoded command{.opcode = opcode, .header = 0, .br = {}, .immediate = {}};
  if (!by_setup(opcode)) command.header |= (chance(70) ? 3u : below(4)) << 20;
  destination(command, plane, shape);
  const bool source = has_color_source(opcode) || has_mono_source(opcode);
  uint32_t control = shape.depth << 24 | uint32_t{rop(has_pattern(opcode), source)} << 16 | pitch_field(plane);
  if (chance(25)) control |= kClip;
  for (const unsigned number : {16u, 17u, 18u, 19u, 20u, 21u}) command.br[number] = numbers_();
  if (has_color_source(opcode)) color_source(command, plane, shape.pixel_B);
  if (has_mono_source(opcode)) {
    mono_source(command, shape, by_setup(opcode));
    if (chance(40)) control |= 1u << 29;
  }
  if (has_pattern(opcode) && !one_of(opcode, {0x50, 0x24})) {
    command.header |= below(8) << 12 | below(8) << 8;
    command.br[15] = place(64 * shape.pixel_B, 8192);
    if (one_of(opcode, {0x72, 0x77, 0x74, 0x75})) {
      for (unsigned i = 0; i < 16 * shape.pixel_B; ++i) command.immediate.push_back(numbers_());
    }
  }
  if (one_of(opcode, {0x52, 0x59, 0x57, 0x58}) && chance(40)) control |= 1u << 28;
  if (one_of(opcode, {0x57, 0x58}) && chance(25)) control |= 1u << 31;
  if (opcode == 0x59) {
    constexpr uint32_t kValid[] = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11};
    command.header |= kValid[below(10)] << 15;
  }
  if (one_of(opcode, {0x73, 0x76, 0x77})) {
    // Ranges wide enough to match.
    const uint32_t a = numbers_(), b = numbers_();
    command.br[18] = a & b, command.br[19] = a | b;
    command.header |= (opcode == 0x73 ? below(8) : below(4) + (chance(80) ? 4 : 0)) << 17;
  }
  command.br[13] = control;
  return command;
}

std::vector<uint32_t> RandomBlits::next(unsigned opcode) {
  if (one_of(opcode, {0x40, 0x43})) return encode(linear(opcode), rules_.wide);
  Shape shape{below(4), 1, between(0, 40), between(0, 14)};
  shape.pixel_B = shape.depth == 0 ? 1 : shape.depth == 3 ? 4 : 2;
  if (one_of(opcode, {0x31, 0x71})) shape.width = between(1, 33), shape.height = between(1, 14);
  const bool negative = !one_of(opcode, {0x24, 0x26, 0x31});
  const Plane to = plane(shape.pixel_B, chance(35), rules_.y_destination, negative);
  std::vector<uint32_t> stream;
  if (opcode == 0x03 || one_of(opcode, {0x01, 0x11})) {
    Encoded command = setup(opcode, to, shape);
    if (opcode == 0x03) command.header = 0;
    command.br[1] |= uint32_t{rop(true, false)} << 16;
    return encode(command, rules_.wide);
  }
  if (by_setup(opcode)) {
    const bool text = one_of(opcode, {0x26, 0x31});
    Encoded before = setup(!text && chance(60) ? 0x11 : 0x01, to, shape);
    before.br[1] |= uint32_t{rop(!text, text)} << 16;
    if (text && chance(40)) before.br[1] |= 1u << 29;
    if (before.opcode == 0x11) {
      before.br[1] |= (opcode == 0x25 && chance(40) ? 1u << 28 : 0) | (chance(20) ? 1u << 31 : 0);
    }
    stream = encode(before, rules_.wide);
  } else if (chance(30)) {
    Encoded before{.opcode = 0x03, .header = 0, .br = {}, .immediate = {}};
    clip(before);
    stream = encode(before, rules_.wide);
  }
  const std::vector<uint32_t> command = encode(drawing(opcode, to, shape), rules_.wide);
  stream.insert(stream.end(), command.begin(), command.end());
  return stream;
}

std::vector<uint32_t> RandomBlits::next_fast_copy() {
  constexpr unsigned kBytes[] = {1, 2, 4, 8, 16};
  constexpr uint32_t kCodes[] = {0, 1, 3, 4, 5};
  const unsigned depth = below(5);
  const unsigned pixel_B = kBytes[depth];
  const auto side = [&] {
    const uint32_t tile = below(3);
    Plane one = plane(pixel_B, tile != 0, tile == 2, false);
    if (tile == 0) one.base = one.base / 64 * 64, one.pitch_B = std::max<int64_t>(one.pitch_B / 64 * 64, 64);
    return one;
  };
  const Plane to = side(), from = side();
  const int64_t width =
      between(1, std::max<int64_t>(std::min({int64_t{40}, to.pitch_B / pixel_B, from.pitch_B / pixel_B}), 1));
  const int64_t height = between(1, 14);
  const auto x = [&](const Plane& plane) {
    return between(0, std::max<int64_t>(std::min<int64_t>(plane.pitch_B, 600) / pixel_B - width, 0));
  };
  const int64_t x1 = x(to), y1 = between(0, 60);
  const uint64_t source = from.base;
  return {0x4000'0000 | 0x42u << 22 | static_cast<uint32_t>(from.tile) << 20 | static_cast<uint32_t>(to.tile) << 13 | 8,
          kCodes[depth] << 24 | pitch_field(to),
          yx(y1, x1),
          yx(y1 + height, x1 + width),
          static_cast<uint32_t>(to.base),
          static_cast<uint32_t>(to.base >> 32),
          yx(between(0, 60), x(from)),
          pitch_field(from),
          static_cast<uint32_t>(source),
          static_cast<uint32_t>(source >> 32)};
}

std::vector<uint32_t> RandomBlits::next() {
  if (rules_.fast_copy && chance(10)) return next_fast_copy();
  const std::vector<unsigned> all = opcodes();
  return next(all[below(static_cast<uint32_t>(all.size()))]);
}

// Client, opcode and length stay unchanged, so that the rest of the stream stays valid.
std::vector<uint32_t> RandomBlits::next_wild() {
  std::vector<uint32_t> command = next();
  const size_t start = command_start(command);
  if (one_of(command[start] >> 22 & 0x7f, {0x31, 0x71, 0x72, 0x74, 0x75, 0x77}) && chance(20)) {
    command.push_back(numbers_());
    if ((++command[start] & 0xff) == 0) --command[start], command.pop_back();
  }
  for (uint32_t left = below(4); left-- != 0;) {
    const uint32_t at = below(static_cast<uint32_t>(command.size() - start));
    uint32_t& dword = command[start + at];
    const uint32_t allowed = at == 0 ? 0x003f'ff00 : ~0u;
    switch (below(4)) {
      case 0:
        dword = (dword & ~allowed) | (numbers_() & allowed);
        break;
      case 1:
        dword ^= (0xffffu << below(17)) & allowed;
        break;
      default:
        dword ^= (1u << below(32)) & allowed;
    }
  }
  return command;
}

}  // namespace halogen::blit_reference
