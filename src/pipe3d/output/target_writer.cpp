#include "pipe3d/output/target_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bits.h"
#include "pipe3d/geometry/screen_setup.h"
#include "surface/texel_format.h"

namespace halogen::pipe3d {
namespace {

std::array<std::byte, 16> as_bytes(const std::array<uint32_t, 4>& words) {
  return std::bit_cast<std::array<std::byte, 16>>(words);
}

Channels as_floats(const Colour& colour) {
  return std::bit_cast<Channels>(colour);
}

// The value of each byte, rounded to a float once.
constexpr std::array<float, 256> kByteValues = [] {
  std::array<float, 256> table{};
  for (size_t i = 0; i < 256; ++i) {
    table[i] = static_cast<float>(static_cast<double>(i) / 255.0);
  }
  return table;
}();

bool is_bytes4(const surface::TexelFormat& format) {
  return format.bits == 32 && !format.shared_exponent && std::ranges::all_of(format.channel, [](const auto& channel) {
           return channel.bits == 0 ||
                  (channel.bits == 8 && channel.first_bit % 8 == 0 && channel.kind == surface::ChannelKind::unorm);
         });
}

bool takes_logic(const surface::TexelFormat& format) {
  return std::ranges::none_of(format.channel, [](const surface::TexelChannel& channel) {
    return channel.kind == surface::ChannelKind::floating;
  });
}

}  // namespace

void TargetWriter::begin(const message::Surface& surface, const BlendTarget& given, const Blend& all,
                         memory::AddressSpace& space) {
  BlendTarget blend = given;
  blend.write_mask &= surface.written;
  blend.blend = blend.blend && surface.blends;
  way_ = Way::nothing;
  format_ = surface.format;
  plane_.begin();
  if (surface.kind == message::Surface::Kind::none || format_ == nullptr || !format_->known() ||
      format_->bytes() > 16) {
    return;
  }
  bytes_ = format_->bytes();
  const bool image = surface.kind == message::Surface::Kind::image;
  plane_.begin(surface, image ? surface.render_level : 0, image ? surface.render_layers : 1, bytes_, space);
  if (image && surface.states.form != surface::StateForm::none) {
    Bytes clear{};
    surface::pack_texel(*format_, surface.clear, clear.data());
    plane_.guard(std::span(clear).first(bytes_), true);
  }
  blender_.begin(blend, all, *format_);
  alpha_to_one_ = all.alpha_to_one && !format_->integer;
  logic_ = blend.logic && takes_logic(*format_);
  logic_op_ = static_cast<uint8_t>(blend.logic_op);

  std::array<uint32_t, 4> may_change{};
  has_ = 0;
  bool all_written = true;
  for (unsigned i = 0; i < 4; ++i) {
    const surface::TexelChannel& channel = format_->channel[i];
    if (channel.bits == 0) {
      continue;
    }
    has_ = static_cast<uint8_t>(has_ | 1u << i);
    if ((blend.write_mask >> i & 1) != 0) {
      put_bits(may_change, channel.first_bit, channel.bits, low_mask(channel.bits));
    } else {
      all_written = false;
    }
  }
  if (blend.write_mask == 0) {
    return;
  }
  if (format_->shared_exponent || all_written) {
    may_change.fill(~0u);
  }
  bit_mask_ = as_bytes(may_change);
  mask4_ = may_change[0];
  const bool whole = format_->shared_exponent || all_written;
  reads_ = !whole || logic_ || blender_.blends();
  way_ = reads_ ? Way::general : Way::plain;
  if (!logic_ && is_bytes4(*format_)) {
    way_ = Way::bytes4;
    for (size_t i = 0; i < 4; ++i) {
      shift_[i] = (has_ >> i & 1) != 0 ? format_->channel[i].first_bit : uint8_t{32};
    }
  }
}

void TargetWriter::write(const PixelPlace& place, uint32_t mask, const Colour& colour, const Colour& second) {
  mask &= static_cast<uint32_t>(low_mask(plane_.samples()));
  if (way_ == Way::nothing || mask == 0 || !plane_.contains(place.x, place.y, place.layer)) {
    return;
  }
  if (way_ == Way::bytes4 && !blender_.blends()) {
    write_plain4(place, mask, as_floats(colour));
    return;
  }
  Colour source = colour;
  Channels other = as_floats(second);
  if (!format_->integer) {
    source[3] = alpha_to_one_ ? surface::kFloatOne : source[3];
    source = std::bit_cast<Colour>(blender_.before(as_floats(source)));
    if (blender_.uses_second()) {
      other[3] = alpha_to_one_ ? 1.0f : other[3];
      other = blender_.before(other);
    }
  }
  if (way_ == Way::bytes4) {
    blend_bytes4(place, mask, as_floats(source), other);
    return;
  }
  Bytes packed{};
  if (!blender_.blends()) {
    packed = pack_plain(colour);
  }
  const std::span<const std::byte> out(packed.data(), bytes_);
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t at = plane_.address(static_cast<uint32_t>(place.x), static_cast<uint32_t>(place.y), place.layer,
                                       static_cast<uint32_t>(std::countr_zero(mask)));
    if (!reads_) {
      plane_.store(at, out);
      continue;
    }
    Bytes old{};
    plane_.load(at, std::span(old).subspan(0, bytes_));
    if (blender_.blends()) {
      const Channels target = as_floats(surface::unpack_texel(*format_, old.data()));
      const Channels result = blender_.after(blender_.blend(as_floats(source), other, blender_.held(target)));
      surface::pack_texel(*format_, std::bit_cast<Colour>(result), packed.data());
    }
    plane_.store(at, std::span<const std::byte>(merged(old, packed)).subspan(0, bytes_));
  }
}

// Applies the logic operation, then the write mask.
TargetWriter::Bytes TargetWriter::merged(const Bytes& old, const Bytes& packed) const {
  Bytes out{};
  for (size_t i = 0; i < bytes_; ++i) {
    const auto target = static_cast<unsigned>(old[i]);
    const auto source = static_cast<unsigned>(packed[i]);
    unsigned result = source;
    if (logic_) {
      // The code is a truth table: bit 2 * source + target.
      result = ((logic_op_ & 1) != 0 ? ~source & ~target : 0u) | ((logic_op_ & 2) != 0 ? ~source & target : 0u) |
               ((logic_op_ & 4) != 0 ? source & ~target : 0u) | ((logic_op_ & 8) != 0 ? source & target : 0u);
    }
    const auto changes = static_cast<unsigned>(bit_mask_[i]);
    out[i] = static_cast<std::byte>((target & ~changes) | (result & changes));
  }
  return out;
}

uint32_t TargetWriter::pack_bytes4(const Channels& colour) const {
  std::array<int32_t, 4> steps;
  for (size_t i = 0; i < 4; ++i) {
    // The product is exact in double precision, so there is only one rounding.
    const float low = colour[i] > 0.0f ? colour[i] : 0.0f;
    const float value = low < 1.0f ? low : 1.0f;
    steps[i] = static_cast<int32_t>(static_cast<double>(value) * 255.0 + 0.5);
  }
  uint64_t packed = 0;  // missing channels are shifted to its upper half
  for (size_t i = 0; i < 4; ++i) {
    packed |= static_cast<uint64_t>(steps[i]) << shift_[i];
  }
  return static_cast<uint32_t>(packed);
}

// Packing includes the clamps.
uint32_t TargetWriter::pack_plain4(const Channels& colour) const {
  const uint32_t packed = pack_bytes4(colour);
  return alpha_to_one_ ? static_cast<uint32_t>(packed | uint64_t{0xff} << shift_[3]) : packed;
}

// Returns the bytes for memory, without blending.
TargetWriter::Bytes TargetWriter::pack_plain(const Colour& colour) const {
  Bytes packed{};
  Colour source = colour;
  if (!format_->integer) {
    source[3] = alpha_to_one_ ? surface::kFloatOne : source[3];
    source = std::bit_cast<Colour>(blender_.after(blender_.before(as_floats(source))));
  }
  surface::pack_texel(*format_, source, packed.data());
  return packed;
}

void TargetWriter::write_plain4(const PixelPlace& place, uint32_t mask, const Channels& colour) {
  const uint32_t packed = pack_plain4(colour);
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t at = plane_.address(static_cast<uint32_t>(place.x), static_cast<uint32_t>(place.y), place.layer,
                                       static_cast<uint32_t>(std::countr_zero(mask)));
    plane_.store(at, reads_ ? (plane_.load<uint32_t>(at) & ~mask4_) | (packed & mask4_) : packed);
  }
}

void TargetWriter::blend_bytes4(const PixelPlace& place, uint32_t mask, const Channels& source,
                                const Channels& second) {
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t at = plane_.address(static_cast<uint32_t>(place.x), static_cast<uint32_t>(place.y), place.layer,
                                       static_cast<uint32_t>(std::countr_zero(mask)));
    const auto old = plane_.load<uint32_t>(at);
    Channels target{0, 0, 0, 1};
    for (size_t i = 0; i < 4; ++i) {
      if ((has_ >> i & 1) != 0) {
        target[i] = kByteValues[old >> shift_[i] & 0xff];
      }
    }
    const uint32_t packed = pack_bytes4(blender_.after(blender_.blend(source, second, target)));
    plane_.store(at, (old & ~mask4_) | (packed & mask4_));
  }
}

void TargetWriter::fill_plain(const Rectangle& rectangle, uint32_t layer, const Colour& colour) {
  Bytes packed{};
  if (way_ == Way::bytes4) {
    const uint32_t word = pack_plain4(as_floats(colour));
    std::memcpy(packed.data(), &word, sizeof(word));
  } else {
    packed = pack_plain(colour);
  }
  put(rectangle, layer, packed);
}

void TargetWriter::put(const Rectangle& rectangle, uint32_t layer, const Bytes& packed) {
  Bytes all;
  all.fill(std::byte{0xff});
  plane_.fill(rectangle, layer, std::span(packed).subspan(0, bytes_), std::span(all).subspan(0, bytes_));
}

uint64_t TargetWriter::blocks_in(const PixelGroupPlace& place) const {
  constexpr uint32_t kBlock = 0xf;
  uint64_t blocks = 0;
  for (unsigned i = 0; i < std::min(place.lanes, kGroupLanes) / 4; ++i) {
    const uint32_t live = place.live >> (4 * i) & kBlock;
    const Square& at = place.squares[i];
    if (live == 0 || plane_.contains(at.x + 1, at.y + 1, place.layer)) [[likely]] {
      blocks += live != 0 ? 1 : 0;
      continue;
    }
    bool inside = false;
    for (uint32_t rest = live; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      inside |= changes({at.x + (lane & 1), at.y + (lane >> 1), place.layer}, 1) != 0;
    }
    blocks += inside ? 1 : 0;
  }
  return blocks;
}

uint64_t TargetWriter::blocks_in(const Rectangle& rectangle, uint32_t layer) const {
  const Rectangle target{.x_min = 0,
                         .y_min = 0,
                         .x_max = static_cast<int32_t>(plane_.width()) - 1,
                         .y_max = static_cast<int32_t>(plane_.height()) - 1};
  const Rectangle inside = intersect(rectangle, target);
  if (way_ == Way::nothing || layer >= plane_.layers() || inside.x_min > inside.x_max || inside.y_min > inside.y_max) {
    return 0;
  }
  return pixels_of({inside.x_min >> 1, inside.y_min >> 1, inside.x_max >> 1, inside.y_max >> 1});
}

Colour TargetWriter::read(const PixelPlace& place, uint32_t sample) {
  if (!plane_.contains(place.x, place.y, place.layer) || sample >= plane_.samples()) {
    return {};
  }
  Bytes old{};
  plane_.load(plane_.address(static_cast<uint32_t>(place.x), static_cast<uint32_t>(place.y), place.layer, sample),
              std::span(old).subspan(0, bytes_));
  return surface::unpack_texel(*format_, old.data());
}

}  // namespace halogen::pipe3d
