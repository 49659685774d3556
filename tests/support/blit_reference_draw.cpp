// The drawing of one job: addresses, clipping, direction, operands, masks. G45 PRM vol. 1b 8.1, 8.2, 8.9 and 8.10 (seed
// 003).
#include <algorithm>
#include <cstdlib>

#include "support/blit_reference.h"

namespace halogen::blit_reference {

void Memory::begin() {
  ++command_;
  changes_.clear();
  overlap_ = pattern_overlap_ = read_after_write_ = false;
}

void Memory::take_back() {
  for (size_t i = changes_.size(); i-- != 0;) bytes_[changes_[i].index] = changes_[i].old;
  changes_.clear();
}

uint8_t Memory::read_source(uint64_t address) {
  const size_t index = address - base_;
  if (written_[index] == command_) read_after_write_ = true;
  read_[index] = command_;
  return bytes_[index];
}

uint8_t Memory::read_pattern(uint64_t address) {
  const size_t index = address - base_;
  if (written_[index] == command_) pattern_overlap_ = true;
  pattern_[index] = command_;
  return bytes_[index];
}

void Memory::write(uint64_t address, uint8_t value) {
  const size_t index = address - base_;
  if (read_[index] == command_) overlap_ = true;
  if (pattern_[index] == command_) pattern_overlap_ = true;
  written_[index] = command_;
  changes_.push_back({index, bytes_[index]});
  bytes_[index] = value;
}

// Tile X: 512 bytes by 8 lines, line after line. Tile Y: 128 bytes by 32 lines, columns of 16 bytes.
uint64_t Plane::address(int64_t x_B, int64_t y) const {
  if (tile == Tile::linear) return base + static_cast<uint64_t>(y * pitch_B + x_B);
  const auto x = static_cast<uint64_t>(x_B);
  const auto line = static_cast<uint64_t>(y);
  const auto pitch = static_cast<uint64_t>(pitch_B);
  if (tile == Tile::x) return base + (line / 8) * (pitch * 8) + (x / 512) * 4096 + (line % 8) * 512 + x % 512;
  return base + (line / 32) * (pitch * 32) + (x / 128) * 4096 + ((x % 128) / 16) * 512 + (line % 32) * 16 + x % 16;
}

const char* Plane::fault(unsigned pixel_B, int64_t last_x_B, int64_t lines) const {
  if (base % pixel_B != 0) return "pixels are not naturally aligned";
  if (tile == Tile::linear) {
    if (pitch_B % 4 != 0) return "the pitch is not a multiple of a dword";
    if (pitch_B % pixel_B != 0) return "lines are not aligned to pixels";
    if (lines > 1 && std::abs(pitch_B) < last_x_B) return "lines overlap each other";
    return nullptr;
  }
  if (base % 4096 != 0) return "a tiled surface is not aligned to 4 KB";
  if (pitch_B <= 0 || pitch_B % (tile == Tile::x ? 512 : 128) != 0) return "the pitch is not a multiple of the tile";
  if (last_x_B > pitch_B) return "tiled lines are longer than the pitch";
  return nullptr;
}

uint32_t raster_operation(uint8_t code, uint32_t pattern, uint32_t source, uint32_t destination) {
  uint32_t result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned index = (pattern >> bit & 1) * 4 + (source >> bit & 1) * 2 + (destination >> bit & 1);
    result |= (uint32_t{code} >> index & 1) << bit;
  }
  return result;
}

// An operand is used if two entries of the truth table that differ only in it have different values.
bool uses_pattern(uint8_t code) {
  return (code >> 4) != (code & 0x0f);
}
bool uses_source(uint8_t code) {
  return (code >> 2 & 0x33) != (code & 0x33);
}
bool uses_destination(uint8_t code) {
  return (code >> 1 & 0x55) != (code & 0x55);
}

bool in_chroma_range(unsigned depth, bool with_alpha, uint32_t pixel, uint32_t low, uint32_t high) {
  struct Component {
    unsigned shift, bits;
  };
  static const std::vector<Component> kColors[] = {
      {{0, 8}}, {{0, 5}, {5, 6}, {11, 5}}, {{0, 5}, {5, 5}, {10, 5}}, {{0, 8}, {8, 8}, {16, 8}}};
  std::vector<Component> components = kColors[depth];
  if (with_alpha && depth == 2) components.push_back({15, 1});
  if (with_alpha && depth == 3) components.push_back({24, 8});
  return std::ranges::all_of(components, [&](const Component& each) {
    const auto part = [&](uint32_t value) { return value >> each.shift & ((1u << each.bits) - 1); };
    return part(pixel) >= part(low) && part(pixel) <= part(high);
  });
}

namespace {

constexpr int64_t kMaxPixels = 1 << 20;

class Drawing {
 public:
  Drawing(const Job& job, Memory& memory) : job_(job), memory_(memory) {}

  Outcome run(std::set<uint64_t>& pages) {
    if (!place()) return {.placed = true};
    Outcome outcome;
    const char* const bent = surface(job_.destination, x1_);
    outcome.placed = bent == nullptr;
    collect(pages);
    outcome.why = bent != nullptr ? bent : rules();
    if (outcome.why == nullptr && job_.source == SourceKind::color) {
      outcome.why = surface(job_.source_plane, source_x(x1_));
    }
    if (outcome.why == nullptr && (x2_ - x1_) * (y2_ - y1_) > kMaxPixels) {
      outcome.why = "too large for a slow reference";
    }
    if (outcome.why != nullptr) return outcome.verdict = Verdict::undefined, outcome;
    const bool y_backwards = backwards(job_.source_y1, job_.y1);
    const bool x_backwards = job_.linear_command ? job_.x_backwards : backwards(job_.source_x1, job_.x1);
    for (int64_t i = 0; i < y2_ - y1_; ++i) {
      for (int64_t j = 0; j < x2_ - x1_; ++j) {
        if (pixel(x_backwards ? x2_ - 1 - j : x1_ + j, y_backwards ? y2_ - 1 - i : y1_ + i)) continue;
        outcome.verdict = Verdict::fault, outcome.why = "outside the memory";
        return outcome;
      }
    }
    outcome.why = overlap();
    if (outcome.why != nullptr) {
      memory_.take_back();
      outcome.verdict = Verdict::undefined;
    }
    return outcome;
  }

 private:
  // 8.9: a negative source coordinate moves the destination first; then clipping. False: nothing to draw.
  bool place() {
    x1_ = job_.x1, y1_ = job_.y1, x2_ = job_.x2, y2_ = job_.y2;
    if (job_.source == SourceKind::color) {
      if (job_.source_x1 < 0) x1_ -= job_.source_x1;
      if (job_.source_y1 < 0) y1_ -= job_.source_y1;
    }
    x1_ = std::max<int64_t>(x1_, 0);
    y1_ = std::max<int64_t>(y1_, 0);
    if (job_.clip) {
      x1_ = std::max(x1_, job_.clip_x1), y1_ = std::max(y1_, job_.clip_y1);
      x2_ = std::min(x2_, job_.clip_x2), y2_ = std::min(y2_, job_.clip_y2);
    }
    if (x2_ <= x1_ || y2_ <= y1_) return false;
    if (job_.pixel_B == 4 && job_.byte_mask == 0) return false;
    // 8.9.23: no pixels drawn.
    return !(job_.pattern == PatternKind::solid && job_.pattern_transparent);
  }

  const char* rules() const {
    const bool has_pattern = job_.pattern != PatternKind::none;
    const bool has_source = job_.source != SourceKind::none;
    if (uses_pattern(job_.rop) && !has_pattern) return "the raster operation wants a pattern";
    if (uses_source(job_.rop) && !has_source) return "the raster operation wants a source";
    if (job_.source != SourceKind::none && job_.source != SourceKind::color && job_.x2 - job_.x1 > 32745) {
      return "a mono source is too wide";
    }
    if ((job_.x2 - job_.x1) * job_.pixel_B > 32768) return "a line is too long";
    if ((job_.chroma == 1 || job_.chroma == 3) && job_.source != SourceKind::color) return "no source to key by";
    if (job_.pattern == PatternKind::color && job_.pattern_base % (64 * job_.pixel_B) != 0) {
      return "the pattern is not aligned to its size";
    }
    if (job_.source == SourceKind::mono && job_.packing == Packing::word && job_.source_plane.base % 2 != 0) {
      return "a mono source is not aligned to words";
    }
    return immediate_size();
  }

  const char* immediate_size() const {
    if (job_.pattern == PatternKind::color_immediate) {
      return job_.immediate.size() == 64 * job_.pixel_B ? nullptr : "the immediate pattern has the wrong size";
    }
    if (job_.source != SourceKind::mono_immediate) return nullptr;
    const int64_t bits = source_bit(job_.x2 - 1, job_.y2 - 1) + 1;
    if (job_.immediate.size() > 128) return "more than 128 bytes of immediate source";
    return static_cast<int64_t>(job_.immediate.size()) == (bits + 63) / 64 * 8
               ? nullptr
               : "the immediate source has the wrong size";
  }

  const char* surface(const Plane& plane, int64_t first_x) const {
    const int64_t width_B = (x2_ - x1_) * job_.pixel_B;
    return plane.fault(job_.pixel_B, plane.tile == Tile::linear ? width_B : first_x * job_.pixel_B + width_B,
                       y2_ - y1_);
  }

  // Collects pages tile by tile or page by page; only pages that a test can inspect.
  void collect(std::set<uint64_t>& pages) const {
    const Plane& to = job_.destination;
    const int64_t step = to.tile == Tile::linear ? 4096 : to.tile == Tile::x ? 512 : 128;
    const int64_t end = x2_ * job_.pixel_B;
    const auto add = [&](uint64_t address) {
      if (address / 4096 < kWatchedPages) pages.insert(address / 4096);
    };
    for (int64_t y = y1_; y < y2_; ++y) {
      for (int64_t x = x1_ * job_.pixel_B; x < end; x += step) add(to.address(x, y));
      add(to.address(end - 1, y));
    }
  }

  // 8.9: decided by bases and coordinates alone.
  bool backwards(int64_t source, int64_t destination) const {
    return job_.source == SourceKind::color && !job_.linear_command &&
           job_.source_plane.base == job_.destination.base && source < destination;
  }

  // 8.7.1: one base, pitches of whole 64 bytes; here also the same pitch and tiling. Anything else is undefined.
  const char* overlap() const {
    if (memory_.pattern_overlap()) return "pattern or mono source lie in the destination";
    if (memory_.read_after_write()) return "the source was overwritten before it was read";
    if (!memory_.overlap()) return nullptr;
    const Plane& from = job_.source_plane;
    const Plane& to = job_.destination;
    if (!job_.linear_command && from.base != to.base) return "overlap with two bases";
    if (from.tile != to.tile || from.pitch_B != to.pitch_B || to.pitch_B % 64 != 0) return "overlap with odd pitches";
    return nullptr;
  }

  int64_t source_x(int64_t x) const { return job_.source_x1 + (x - job_.x1); }
  int64_t source_y(int64_t y) const { return job_.source_y1 + (y - job_.y1); }

  // Returns the index of a pixel's bit in a mono source, counted from bit 7 of the first byte.
  int64_t source_bit(int64_t x, int64_t y) const {
    const int64_t width = job_.x2 - job_.x1;
    int64_t line = width;
    if (job_.packing == Packing::byte) line = (width + 7) / 8 * 8;
    if (job_.packing == Packing::word) line = (job_.mono_start + width + 15) / 16 * 16;
    return (y - job_.y1) * line + job_.mono_start + (x - job_.x1);
  }

  bool read(uint64_t address, uint32_t& value, uint8_t (Memory::*how)(uint64_t)) {
    if (!memory_.holds(address, job_.pixel_B)) return false;
    value = 0;
    for (unsigned i = 0; i < job_.pixel_B; ++i) {
      const uint8_t byte = (memory_.*how)(address + i);
      value |= uint32_t{byte} << (8 * i);
    }
    return true;
  }

  bool mono_source_bit(int64_t x, int64_t y, bool& bit) {
    const auto number = static_cast<uint64_t>(source_bit(x, y));
    uint8_t byte = 0;
    if (job_.source == SourceKind::mono_immediate) {
      byte = job_.immediate[number / 8];
    } else {
      const uint64_t address = job_.source_plane.base + number / 8;
      if (!memory_.holds(address, 1)) return false;
      byte = memory_.read_pattern(address);
    }
    bit = (byte >> (7 - number % 8) & 1) != 0;
    return true;
  }

  bool source_pixel(int64_t x, int64_t y, uint32_t& value, bool& visible) {
    const bool wanted = uses_source(job_.rop);
    if (job_.source == SourceKind::color) {
      if (!wanted && (job_.chroma & 5) != 1) return true;
      return read(job_.source_plane.address(source_x(x) * job_.pixel_B, source_y(y)), value, &Memory::read_source);
    }
    if (job_.source == SourceKind::none || (!wanted && !job_.source_transparent)) return true;
    bool bit = false;
    if (!mono_source_bit(x, y, bit)) return false;
    value = bit ? job_.source_foreground : job_.source_background;
    if (!bit && job_.source_transparent) visible = false;
    return true;
  }

  bool pattern_pixel(int64_t x, int64_t y, uint32_t& value, bool& visible) {
    const auto column = static_cast<unsigned>((x + job_.seed_x) % 8);
    const auto line = static_cast<unsigned>((y + job_.seed_y) % 8);
    const unsigned at = (line * 8 + column) * job_.pixel_B;
    switch (job_.pattern) {
      case PatternKind::none:
        return true;
      case PatternKind::solid:
        value = job_.pattern_background;
        return true;
      case PatternKind::mono: {
        const bool bit = (job_.mono_pattern[line] >> (7 - column) & 1) != 0;
        value = bit ? job_.pattern_foreground : job_.pattern_background;
        if (!bit && job_.pattern_transparent) visible = false;
        return true;
      }
      case PatternKind::color:
        return !uses_pattern(job_.rop) || read(job_.pattern_base + at, value, &Memory::read_pattern);
      case PatternKind::color_immediate:
        for (unsigned i = 0; i < job_.pixel_B; ++i) value |= uint32_t{job_.immediate[at + i]} << (8 * i);
        return true;
    }
    return true;
  }

  bool pixel(int64_t x, int64_t y) {
    const uint64_t address = job_.destination.address(x * job_.pixel_B, y);
    if (job_.pixel_B > 4) return copy_wide(x, y, address);
    uint32_t source = 0, pattern = 0, destination = 0;
    bool visible = true;
    if (!source_pixel(x, y, source, visible) || !pattern_pixel(x, y, pattern, visible)) return false;
    if (!memory_.holds(address, job_.pixel_B)) return false;
    read(address, destination, &Memory::peek);
    if (!visible || keyed_out(source, destination)) return true;
    const uint32_t result = raster_operation(job_.rop, pattern, source, destination);
    for (unsigned i = 0; i < job_.pixel_B; ++i) {
      const bool enabled = job_.pixel_B != 4 || (job_.byte_mask & (i == 3 ? 2u : 1u)) != 0;
      if (enabled) memory_.write(address + i, static_cast<uint8_t>(result >> (8 * i)));
    }
    return true;
  }

  // 8.10.1: source modes write what is outside the range, destination modes what is inside.
  bool keyed_out(uint32_t source, uint32_t destination) const {
    const auto inside = [&](bool alpha, uint32_t pixel) {
      return in_chroma_range(job_.depth, alpha, pixel, job_.chroma_low, job_.chroma_high);
    };
    switch (job_.chroma) {
      case 1:
        return inside(false, source);
      case 3:
        return inside(true, source);
      case 5:
        return !inside(true, destination);
      case 7:
        return !inside(false, destination);
      default:
        return false;
    }
  }

  bool copy_wide(int64_t x, int64_t y, uint64_t to) {
    const uint64_t from = job_.source_plane.address(source_x(x) * job_.pixel_B, source_y(y));
    if (!memory_.holds(from, job_.pixel_B) || !memory_.holds(to, job_.pixel_B)) return false;
    for (unsigned i = 0; i < job_.pixel_B; ++i) memory_.write(to + i, memory_.read_source(from + i));
    return true;
  }

  const Job& job_;
  Memory& memory_;
  int64_t x1_ = 0, y1_ = 0, x2_ = 0, y2_ = 0;
};

}  // namespace

Outcome draw(const Job& job, Memory& memory, std::set<uint64_t>& pages) {
  memory.begin();
  return Drawing(job, memory).run(pages);
}

}  // namespace halogen::blit_reference
