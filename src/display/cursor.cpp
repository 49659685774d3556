#include "display/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "hw/display_cursor.h"
#include "picture/pixel_format.h"
#include "spec/field_visitor.h"
#include "spec/packing.h"

namespace halogen::display {

namespace {

using picture::Rgba;
using spec::unpack_register;

constexpr uint32_t kLargestCursor = 256;
constexpr uint32_t kPlaneBytes = 8;  // one line of a 1-bit plane
constexpr unsigned kPipes = 4;

struct Names {
  std::string_view control;
  std::string_view base;
  std::string_view position;
  std::string_view palette;
  unsigned together;  // number of cursors that share a register item; each other cursor has its own, with its letter as
                      // suffix
};
constexpr Names kLegacy = {"CURCNTR", "CURBASE", "CURPOS", "CURPALET", 2};
constexpr Names kUniversal = {"CUR_CTL", "CUR_BASE", "CUR_POS", "CUR_PAL", 3};

CursorModel find_cursor(mmio::RegisterBank& bank, const Names& names, unsigned pipe) {
  const char letter = static_cast<char>('A' + pipe);
  const auto find = [&](std::string_view name) {
    return pipe < names.together ? bank.use(name, {}, pipe) : bank.use(fmt::format("{}_{}", name, letter));
  };
  CursorModel cursor{
      .pipe = pipe, .control = find(names.control), .base = find(names.base), .position = find(names.position)};
  for (unsigned n = 0; n < cursor.palette.size(); ++n) {
    cursor.palette[n] = bank.use(fmt::format("{}_{}", names.palette, letter), {}, n);
  }
  return cursor;
}

template <class Control>
CursorKind kind_of(const Control& control, uint32_t& size) {
  using Mode = typename Control::Mode;
  const auto with_alpha = [&](uint32_t edge) {
    size = edge;
    return control.mode_argb ? CursorKind::argb : CursorKind::unknown;
  };
  const auto two_bits = [&](CursorKind kind) {
    size = 64;
    return control.mode_argb ? CursorKind::unknown : kind;
  };
  switch (control.mode) {
    case Mode::disable:
      return control.mode_argb ? CursorKind::unknown : CursorKind::off;
    case Mode::size_128_32bpp:
      return with_alpha(128);
    case Mode::size_256_32bpp:
      return with_alpha(256);
    case Mode::size_64_32bpp:
      return with_alpha(64);
    case Mode::size_64_2bpp_3_color:
      return two_bits(CursorKind::three_colors);
    case Mode::size_64_2bpp_and_xor:
      return two_bits(CursorKind::and_xor);
    case Mode::size_64_2bpp_4_color:
      return two_bits(CursorKind::four_colors);
  }
  return CursorKind::unknown;
}

template <class Control>
void take_control(CursorShape& shape, const Control& control) {
  shape.kind = kind_of(control, shape.size);
  shape.rotated = control.rotate_180;
  shape.gamma = control.pipe_gamma_enable;
}

int32_t signed_value(bool sign, uint32_t magnitude) {
  return sign ? -static_cast<int32_t>(magnitude) : static_cast<int32_t>(magnitude);
}

// `bits`: the AND plane's bit, then the XOR plane's bit.
CursorPixel pixel_of(const CursorShape& cursor, unsigned bits) {
  constexpr unsigned kTransparent = 2;
  constexpr unsigned kInvert = 3;
  constexpr CursorPixel kNothing{{0, 0, 0, 0}, false};
  if (bits == kTransparent && cursor.kind != CursorKind::four_colors) {
    return kNothing;
  }
  if (bits == kInvert && cursor.kind == CursorKind::and_xor) {
    return {kNothing.color, true};
  }
  return {cursor.palette[bits & 3], false};
}

}  // namespace

std::vector<CursorModel> find_cursors(mmio::RegisterBank& bank) {
  std::vector<CursorModel> cursors;
  for (const Names* names : {&kLegacy, &kUniversal}) {
    for (unsigned pipe = 0; pipe < kPipes; ++pipe) {
      CursorModel cursor = find_cursor(bank, *names, pipe);
      if (cursor.control == nullptr || cursor.base == nullptr || cursor.position == nullptr) {
        continue;
      }
      cursor.universal = names == &kUniversal;
      cursor.selects_pipe =
          !cursor.universal && spec::find_field(hw::CURCNTR::kDesc, bank.map().model().gen, "pipe_select") != nullptr;
      cursor.walks_back = bank.map().find("PIPESTAT") != nullptr;  // displays of this family (Linux i915: HAS_GMCH)
      cursors.push_back(cursor);
    }
  }
  return cursors;
}

unsigned cursor_pipe(const CursorModel& cursor, spec::GenId gen, uint32_t control) {
  return cursor.selects_pipe ? unpack_register<hw::CURCNTR>(gen, control).pipe_select : cursor.pipe;
}

CursorShape cursor_shape(const CursorModel& cursor, spec::GenId gen, const CursorImage& image,
                         const mmio::RegisterBank& bank) {
  CursorShape shape;
  if (cursor.universal) {
    take_control(shape, unpack_register<hw::CUR_CTL>(gen, image.control));
  } else {
    take_control(shape, unpack_register<hw::CURCNTR>(gen, image.control));
  }
  shape.pipe = cursor_pipe(cursor, gen, image.control);
  shape.walks_back = cursor.walks_back;
  shape.base = image.base;
  // Both kinds of position registers are laid out alike.
  const auto take_position = [&shape](const auto& position) {
    shape.x = signed_value(position.x_sign, position.x_position);
    shape.y = signed_value(position.y_sign, position.y_position);
  };
  if (cursor.universal) {
    take_position(unpack_register<hw::CUR_POS>(gen, image.position));
  } else {
    take_position(unpack_register<hw::CURPOS>(gen, image.position));
  }
  for (size_t n = 0; n < shape.palette.size(); ++n) {
    const uint32_t value = cursor.palette[n] == nullptr ? 0 : bank.peek(*cursor.palette[n]);
    const std::array<std::byte, 4> bytes = std::bit_cast<std::array<std::byte, 4>>(value);
    picture::convert_row({.format = picture::PixelFormat::xrgb8888}, bytes, std::span(&shape.palette[n], 1));
  }
  return shape;
}

void read_cursor_line(DisplayReader& memory, const CursorShape& cursor, uint32_t line, std::span<CursorPixel> out) {
  const uint32_t size = std::min(cursor.size, kLargestCursor);
  out = out.first(std::min<size_t>(out.size(), size));
  const uint32_t row = cursor.rotated ? size - 1 - line : line;
  const bool argb = cursor.kind == CursorKind::argb;
  const uint64_t line_B = argb ? uint64_t{size} * 4 : uint64_t{kPlaneBytes} * 2;
  uint64_t base = cursor.base;
  if (argb && cursor.rotated && cursor.walks_back) {
    base -= line_B * size - 4;  // the base is the address of the last pixel
  }
  std::array<std::byte, size_t{kLargestCursor} * 4> bytes{};
  const auto used = std::span(bytes).first(static_cast<size_t>(line_B));
  memory.read(base + row * line_B, used);
  if (argb) {
    std::array<Rgba, kLargestCursor> colors{};
    picture::convert_row({.format = picture::PixelFormat::argb8888}, used, colors);
    for (size_t x = 0; x < out.size(); ++x) {
      out[x] = {colors[x], false};
    }
  } else {
    for (size_t x = 0; x < out.size(); ++x) {
      const auto bit = [&](size_t plane) {
        return static_cast<unsigned>(bytes[plane * kPlaneBytes + x / 8] >> (7 - x % 8)) & 1;
      };
      out[x] = pixel_of(cursor, bit(0) << 1 | bit(1));
    }
  }
  if (cursor.rotated) {
    std::ranges::reverse(out);
  }
}

}  // namespace halogen::display
