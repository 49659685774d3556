#include "display/scanout.h"

#include <algorithm>

namespace halogen::display {

namespace {

using picture::Image;
using picture::Rgba;

uint8_t share(uint32_t above, uint32_t below, uint32_t alpha, bool premultiplied) {
  const uint32_t rest = below * (255 - alpha);
  return static_cast<uint8_t>(premultiplied ? std::min(255u, above + (rest + 127) / 255)
                                            : (above * alpha + rest + 127) / 255);
}

Rgba over(Rgba above, Rgba below, bool premultiplied) {
  return {share(above.red, below.red, above.alpha, premultiplied),
          share(above.green, below.green, above.alpha, premultiplied),
          share(above.blue, below.blue, above.alpha, premultiplied), 255};
}

Rgba looked_up(Rgba color, const Palette& palette) {
  return {palette[color.red].red, palette[color.green].green, palette[color.blue].blue, color.alpha};
}

// A plane during the composition of a frame.
class PlanePainter {
 public:
  PlanePainter(const PlaneLines& plane, const FrameParts& parts, DisplayMemory& memory, LineProvider* provider)
      : plane_(plane), parts_(parts), provider_(provider), reader_(memory.display_space(plane_stream(plane))) {
    if (plane.x >= parts.size.width) {
      return;
    }
    shown_ = std::min(plane.width, parts.size.width - plane.x);
    // A mirrored line shows the end of its row first.
    read_ = plane.mirrored ? plane.width : shown_;
    bytes_.resize(size_t{read_} * plane.pixel_B);
    colors_.resize(read_);
  }

  void paint(uint32_t y, std::span<Rgba> row) {
    if (shown_ == 0 || y < plane_.y || y - plane_.y >= plane_.height) {
      return;
    }
    const uint32_t line = y - plane_.y;
    if (provider_ == nullptr || !provider_->provide(plane_, line, bytes_)) {
      read_line(reader_, plane_, line, bytes_);
    }
    const PlanePixels& pixels = plane_.pixels;
    picture::convert_row({.format = pixels.format, .matrix = pixels.matrix, .palette = parts_.palette}, bytes_,
                         colors_);
    if (plane_.mirrored) {
      std::ranges::reverse(colors_);
    }
    const bool gamma = pixels.gamma && parts_.gamma_on && pixels.format != picture::PixelFormat::c8;
    const std::span<Rgba> under = row.subspan(plane_.x, shown_);
    for (size_t x = 0; x < under.size(); ++x) {
      const Rgba color = gamma ? looked_up(colors_[x], parts_.palette) : colors_[x];
      under[x] = pixels.alpha == AlphaMode::opaque ? Rgba{color.red, color.green, color.blue, 255}
                                                   : over(color, under[x], pixels.alpha == AlphaMode::premultiplied);
    }
  }
  bool starved() const { return reader_.missing_pages() != 0; }

 private:
  const PlaneLines& plane_;
  const FrameParts& parts_;
  LineProvider* provider_;
  DisplayReader reader_;
  uint32_t shown_ = 0;
  uint32_t read_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<Rgba> colors_;
};

// Paints a cursor. False: a page of it could not be read.
bool paint_cursor(const CursorShape& cursor, const FrameParts& parts, DisplayMemory& memory, Image& image) {
  DisplayReader reader(memory.display_space(memory::Stream::cursor));
  std::vector<CursorPixel> line(cursor.size);
  for (uint32_t n = 0; n < cursor.size; ++n) {
    const int64_t y = int64_t{cursor.y} + n;
    if (y < 0 || y >= image.height) {
      continue;
    }
    read_cursor_line(reader, cursor, n, line);
    for (uint32_t m = 0; m < cursor.size; ++m) {
      const int64_t x = int64_t{cursor.x} + m;
      if (x < 0 || x >= image.width) {
        continue;
      }
      Rgba& pixel = image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
      const Rgba color = cursor.gamma && parts.gamma_on && line[m].color.alpha != 0
                             ? looked_up(line[m].color, parts.palette)
                             : line[m].color;
      if (line[m].invert) {
        pixel = {static_cast<uint8_t>(~pixel.red), static_cast<uint8_t>(~pixel.green),
                 static_cast<uint8_t>(~pixel.blue), 255};
      } else if (line[m].color.alpha != 0 || cursor.kind == CursorKind::argb) {
        pixel = over(color, pixel, /*premultiplied=*/true);
      }
    }
  }
  return reader.missing_pages() == 0;
}

}  // namespace

Frame compose_frame(const FrameParts& parts, DisplayMemory& memory, LineProvider* provider) {
  Frame frame{.image = Image(parts.size.width, parts.size.height, parts.below)};
  Image& image = frame.image;
  std::vector<PlanePainter> painters;
  painters.reserve(parts.planes.size());
  for (const PlaneLines& plane : parts.planes) {
    painters.emplace_back(plane, parts, memory, provider);
  }
  for (uint32_t y = 0; y < image.height; ++y) {
    for (PlanePainter& painter : painters) {
      painter.paint(y, image.row(y));
    }
  }
  frame.starved = std::ranges::any_of(painters, &PlanePainter::starved);
  for (const CursorShape& cursor : parts.cursors) {
    frame.starved |= !paint_cursor(cursor, parts, memory, image);
  }
  return frame;
}

}  // namespace halogen::display
