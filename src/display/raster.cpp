#include "display/raster.h"

#include <limits>

namespace halogen::display {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

constexpr bool inside(uint32_t value, uint32_t first, uint32_t end) {
  return value >= first && value < end;
}

}  // namespace

std::string_view settle(ModeTiming& timing) {
  // A register value of zero means one pixel or one line.
  if (timing.h_total <= 1 || timing.v_total <= 1) {
    return "horizontal or vertical total missing";
  }
  if (timing.h_active >= timing.h_total || timing.v_active >= timing.v_total) {
    return "active size leaves no space for blanking";
  }
  const auto part = [](uint32_t start, uint32_t active, uint32_t total) {
    return inside(start, active, total) ? start : active;
  };
  const auto end = [](uint32_t value, uint32_t start, uint32_t total) {
    return value > start && value <= total ? value : total;
  };
  timing.h_blank_start = part(timing.h_blank_start, timing.h_active, timing.h_total);
  timing.h_blank_end = end(timing.h_blank_end, timing.h_blank_start, timing.h_total);
  timing.h_sync_start = part(timing.h_sync_start, timing.h_active, timing.h_total);
  timing.v_blank_start = part(timing.v_blank_start, timing.v_active, timing.v_total);
  timing.v_blank_end = end(timing.v_blank_end, timing.v_blank_start, timing.v_total);
  timing.v_sync_start = part(timing.v_sync_start, timing.v_active, timing.v_total);
  return {};
}

Pixels Raster::pixels(uint64_t elapsed_ns) const {
  return Pixels{elapsed_ns} * clock.hertz / (Pixels{clock.divisor} * kSecond);
}

std::optional<uint64_t> Raster::when(Pixels pixel) const {
  const Pixels nanoseconds = (pixel * clock.divisor * kSecond + clock.hertz - 1) / clock.hertz;
  if (nanoseconds > std::numeric_limits<uint64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(nanoseconds);
}

uint32_t Raster::column(Pixels pixel) const {
  return static_cast<uint32_t>((pixel + timing.h_sync_start) % timing.h_total);
}

uint64_t Raster::active_offset(Pixels pixel) const {
  const uint64_t frame = frame_pixels();
  return static_cast<uint64_t>((pixel + frame - frames().first) % frame);
}

bool Raster::in_vblank(Pixels pixel) const {
  return inside(line(pixel), timing.v_blank_start, timing.v_blank_end);
}

bool Raster::in_hblank(Pixels pixel) const {
  return inside(column(pixel), timing.h_blank_start, timing.h_blank_end);
}

EdgeStream Raster::hblanks() const {
  return {(timing.h_blank_start + timing.h_total - timing.h_sync_start) % timing.h_total, timing.h_total};
}

EdgeStream Raster::frames() const {
  return {timing.h_total - timing.h_sync_start, frame_pixels()};
}

bool Raster::crosses(const LineSpan& span) const {
  const uint32_t total = timing.v_total;
  if (span.first <= span.last) {
    return span.first < total && !(span.first == 0 && span.last >= total - 1);
  }
  return span.first > span.last + 1 && span.last < total - 1;
}

std::optional<EdgeStream> Raster::enters(const LineSpan& span) const {
  if (!crosses(span)) {
    return std::nullopt;
  }
  return EdgeStream{line_start(span.first < timing.v_total ? span.first : 0), frame_pixels()};
}

std::optional<EdgeStream> Raster::leaves(const LineSpan& span) const {
  if (!crosses(span)) {
    return std::nullopt;
  }
  return EdgeStream{line_start(span.last < timing.v_total - 1 ? span.last + 1 : 0), frame_pixels()};
}

}  // namespace halogen::display
