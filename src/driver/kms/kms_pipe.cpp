#include "driver/kms/kms_pipe.h"

#include <libdrm/drm_fourcc.h>

#include <algorithm>
#include <cstdlib>

#include "hw/display_color.h"
#include "hw/display_cursor.h"
#include "hw/display_pipe.h"
#include "hw/display_plane.h"
#include "hw/display_plane_gen9.h"
#include "hw/display_sprite.h"
#include "hw/display_surface_gen9.h"
#include "hw/display_timing.h"
#include "spec/interface_model.h"
#include "spec/packing.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// Kinds of primary planes, as a mask.
enum Kind : uint8_t { kPlain = 1, kWithAlpha = 2, kUniversal = 4, kUniversalHdr = 8 };
constexpr uint8_t kEvery = kPlain | kWithAlpha | kUniversal | kUniversalHdr;

using D = hw::DisplayPlaneFormat;
using U = hw::UniversalPlaneFormat;
using Order = hw::PLANE_CTL_1::YuvOrder;

// The formats that Linux i915 6.1 lists for primary planes (i9xx_plane.c, skl_universal_plane.c), except formats in
// several planes and packed YUV formats of more than eight bits. Universal planes ignore alpha here: nothing is below
// the primary plane.
struct Format {
  uint32_t fourcc;
  uint32_t pixel_B;
  uint8_t kinds;      // of planes that support it
  D display;          // meaningless for formats of universal planes alone
  U universal;        // meaningless for formats of other planes alone
  bool xbgr = false;  // universal planes: RGB order, set with the format
  Order yuv_order = Order::yuyv;
};
constexpr Format kFormats[] = {
    {DRM_FORMAT_C8, 1, kEvery, D::indexed_8bpp, U::indexed_8bpp},
    {DRM_FORMAT_RGB565, 2, kEvery, D::BGRX565, U::RGB565},
    {DRM_FORMAT_XRGB8888, 4, kEvery, D::BGRX888, U::XRGB8888},
    {DRM_FORMAT_XBGR8888, 4, kEvery, D::RGBX888, U::XRGB8888, true},
    {DRM_FORMAT_ARGB8888, 4, kEvery & ~kPlain, D::BGRA888, U::XRGB8888},
    {DRM_FORMAT_ABGR8888, 4, kEvery & ~kPlain, D::RGBA888, U::XRGB8888, true},
    {DRM_FORMAT_XRGB2101010, 4, kEvery, D::BGRX101010, U::XRGB2101010},
    {DRM_FORMAT_XBGR2101010, 4, kEvery, D::RGBX101010, U::XRGB2101010, true},
    {DRM_FORMAT_ARGB2101010, 4, kWithAlpha | kUniversalHdr, D::BGRA101010, U::XRGB2101010},
    {DRM_FORMAT_ABGR2101010, 4, kWithAlpha | kUniversalHdr, D::RGBA101010, U::XRGB2101010, true},
    {DRM_FORMAT_XRGB16161616F, 8, kUniversal | kUniversalHdr, {}, U::XRGB16161616F},
    {DRM_FORMAT_XBGR16161616F, 8, kEvery, D::RGBX161616, U::XRGB16161616F, true},
    {DRM_FORMAT_ARGB16161616F, 8, kUniversalHdr, {}, U::XRGB16161616F},
    {DRM_FORMAT_ABGR16161616F, 8, kUniversalHdr, {}, U::XRGB16161616F, true},
    {DRM_FORMAT_YUYV, 2, kUniversal | kUniversalHdr, {}, U::YUV422},
    {DRM_FORMAT_YVYU, 2, kUniversal | kUniversalHdr, {}, U::YUV422, false, Order::yvyu},
    {DRM_FORMAT_UYVY, 2, kUniversal | kUniversalHdr, {}, U::YUV422, false, Order::uyvy},
    {DRM_FORMAT_VYUY, 2, kUniversal | kUniversalHdr, {}, U::YUV422, false, Order::vyuy},
    {DRM_FORMAT_XYUV8888, 4, kUniversal | kUniversalHdr, {}, U::XYUV8888},
};

const Format* find_format(uint32_t fourcc) {
  const auto* const found =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& each) { return each.fourcc == fourcc; });
  return found == std::end(kFormats) ? nullptr : found;
}

bool is_yuv(const Format& format) {
  return format.universal == U::YUV422 || format.universal == U::XYUV8888;
}

constexpr uint16_t short_of(uint32_t value) {
  return static_cast<uint16_t>(value);
}
constexpr uint16_t less_one(uint32_t value) {
  return static_cast<uint16_t>(value - 1);
}

}  // namespace

template <class R>
bool KmsPipe::has() const {
  return (R::kDesc.devices & spec::mask_of(hardware_.model().id)) != 0;
}

template <class R>
void KmsPipe::put(const R& value) {
  uint64_t bits = 0;
  static_cast<void>(spec::pack_register(value, hardware_.model().gen, bits));
  hardware_.write(R::kDesc.offset(hardware_.model().id), static_cast<uint32_t>(bits));
}

template <class R>
R KmsPipe::get() {
  return spec::unpack_register<R>(hardware_.model().gen, hardware_.read(R::kDesc.offset(hardware_.model().id)));
}

bool KmsPipe::universal() const {
  return has<hw::PLANE_CTL_1>();
}

bool KmsPipe::knows_async() const {
  return spec::interface_of(hardware_.model().id).async_flips;
}

uint8_t KmsPipe::plane_kind() const {
  if (universal()) return has<hw::PLANE_COLOR_CTL_1>() ? kUniversalHdr : kUniversal;
  return has<hw::SPCNTR>() ? kWithAlpha : kPlain;
}

bool KmsPipe::knows(uint32_t format) const {
  const Format* const found = find_format(format);
  return found != nullptr && (found->kinds & plane_kind()) != 0;
}

std::vector<uint32_t> KmsPipe::formats() const {
  std::vector<uint32_t> all;
  for (const Format& each : kFormats) {
    if ((each.kinds & plane_kind()) != 0) all.push_back(each.fourcc);
  }
  return all;
}

uint32_t KmsPipe::pixel_bytes(uint32_t format) const {
  return knows(format) ? find_format(format)->pixel_B : 0;
}

uint32_t KmsPipe::pixel_step(uint32_t format) {
  const Format* const found = find_format(format);
  return found != nullptr && found->universal == U::YUV422 ? 2 : 1;
}

// Finds the divisors whose clock is nearest, within the limits of the oscillator (Linux i915, intel_dpll.c).
void KmsPipe::set_clock(uint32_t kilohertz) {
  constexpr uint32_t kReference = 96'000, kSlowest = 1'400'000, kFastest = 2'800'000;
  hw::FP best{};
  uint8_t best_p1 = 1;
  bool fast = kilohertz > 200'000;
  uint64_t error = ~uint64_t{0};
  for (uint32_t n = 1; n <= 6; ++n) {
    for (uint32_t m1 = 10; m1 <= 22; ++m1) {
      for (uint32_t m2 = 5; m2 <= 9; ++m2) {
        for (uint32_t p1 = 1; p1 <= 8; ++p1) {
          const uint64_t oscillator = uint64_t{kReference} * (5 * (m1 + 2) + m2 + 2) / (n + 2);
          if (oscillator < kSlowest || oscillator > kFastest) continue;
          const uint64_t clock = oscillator / (uint64_t{p1} * (fast ? 5 : 10));
          const uint64_t off = clock > kilohertz ? clock - kilohertz : kilohertz - clock;
          if (off >= error) continue;
          error = off;
          best.n = static_cast<uint8_t>(n);
          best.m1 = static_cast<uint8_t>(m1);
          best.m2 = static_cast<uint8_t>(m2);
          best_p1 = static_cast<uint8_t>(p1);
        }
      }
    }
  }
  put(best);
  put(hw::DPLL_MD{});
  hw::DPLL generator{};
  generator.vga_mode_disable = true;
  generator.mode = hw::DPLL::Mode::dac_serial;
  generator.p2_divider = fast ? hw::DPLL::P2Divider::fast : hw::DPLL::P2Divider::slow;
  generator.p1_divider = static_cast<uint8_t>(1u << (best_p1 - 1));
  generator.vco_enable = true;
  put(generator);
}

void KmsPipe::start(const drm_mode_modeinfo& mode) {
  if (mode_) stop();
  if (has<hw::DPLL>()) set_clock(mode.clock);
  put(hw::HTOTAL{.total = less_one(mode.htotal), .active = less_one(mode.hdisplay)});
  put(hw::HBLANK{.blank_end = less_one(mode.htotal), .blank_start = less_one(mode.hdisplay)});
  put(hw::HSYNC{.sync_end = less_one(mode.hsync_end), .sync_start = less_one(mode.hsync_start)});
  put(hw::VTOTAL{.total = less_one(mode.vtotal), .active = less_one(mode.vdisplay)});
  put(hw::VBLANK{.blank_end = less_one(mode.vtotal), .blank_start = less_one(mode.vdisplay)});
  put(hw::VSYNC{.sync_end = less_one(mode.vsync_end), .sync_start = less_one(mode.vsync_start)});
  put(hw::PIPESRC{.horizontal_size = less_one(mode.hdisplay), .vertical_size = less_one(mode.vdisplay)});
  hw::PIPECONF configuration{};
  configuration.pipe_enable = true;
  put(configuration);
  mode_ = mode;
}

void KmsPipe::stop() {
  if (!mode_) return;
  hide();
  hide_cursor();
  put(hw::PIPECONF{});
  if (has<hw::DPLL>()) put(hw::DPLL{.vga_mode_disable = true, .mode = hw::DPLL::Mode::dac_serial});
  mode_.reset();
}

void KmsPipe::show(const PlaneView& view) {
  const Format& format = *find_format(view.format);
  const bool tiled = view.tiling != Tiling::linear;
  if (universal()) {
    hw::PLANE_CTL_1 control{};
    control.plane_enable = true;
    control.source_pixel_format = format.universal;
    control.rgb_order_xbgr = format.xbgr;
    control.yuv_order = format.yuv_order;
    control.yuv_bt709 = is_yuv(format);
    control.async_flip = view.async;
    using Tiled = hw::PLANE_CTL_1::Tiled;
    control.tiled = view.tiling == Tiling::x ? Tiled::x : view.tiling == Tiling::y ? Tiled::y : Tiled::linear;
    const uint32_t unit = view.tiling == Tiling::x ? 512 : view.tiling == Tiling::y ? 128 : 64;
    put(hw::PLANE_STRIDE_1{.stride = short_of(view.stride_B / unit)});
    put(hw::PLANE_POS_1{});
    put(hw::PLANE_SIZE_1{.height = less_one(mode_->vdisplay), .width = less_one(mode_->hdisplay)});
    put(hw::PLANE_OFFSET_1{.y_position = short_of(view.y), .x_position = short_of(view.x)});
    put(control);
    put(hw::PLANE_SURF_1{.surface_base_address = GgttOffset{view.address}});
    return;
  }
  hw::DSPCNTR control{};
  control.plane_enable = true;
  control.source_pixel_format = format.display;
  control.tiled = tiled;
  control.async_flip = view.async;
  put(control);
  put(hw::DSPSTRIDE{.stride = view.stride_B});
  if (tiled || !has<hw::DSPLINOFF>()) {
    put(hw::DSPTILEOFF{.y_position = short_of(view.y), .x_position = short_of(view.x)});
  } else {
    put(hw::DSPLINOFF{.linear_offset = view.y * view.stride_B + view.x * format.pixel_B});
  }
  put(hw::DSPSURF{.surface_base_address = GgttOffset{view.address}});
}

void KmsPipe::hide() {
  if (universal()) {
    put(hw::PLANE_CTL_1{});
    put(hw::PLANE_SURF_1{});
    return;
  }
  put(hw::DSPCNTR{});
  put(hw::DSPSURF{});
}

void KmsPipe::show_cursor(const CursorView& view) {
  const auto fill = [&](auto control, auto position, auto base) {
    using Mode = typename decltype(control)::Mode;
    control.mode_argb = true;
    control.mode = view.size == 256   ? Mode::size_256_32bpp
                   : view.size == 128 ? Mode::size_128_32bpp
                                      : Mode::size_64_32bpp;
    position.x_sign = view.x < 0;
    position.y_sign = view.y < 0;
    position.x_position = short_of(static_cast<uint32_t>(std::abs(view.x)));
    position.y_position = short_of(static_cast<uint32_t>(std::abs(view.y)));
    base.base_address = GgttOffset{view.address};
    put(control);
    put(position);
    put(base);  // arms all three
  };
  if (has<hw::CUR_CTL>()) {
    fill(hw::CUR_CTL{}, hw::CUR_POS{}, hw::CUR_BASE{});
  } else {
    fill(hw::CURCNTR{}, hw::CURPOS{}, hw::CURBASE{});
  }
}

void KmsPipe::hide_cursor() {
  if (has<hw::CUR_CTL>()) {
    put(hw::CUR_CTL{});
    put(hw::CUR_BASE{});
  } else {
    put(hw::CURCNTR{});
    put(hw::CURBASE{});
  }
}

uint32_t KmsPipe::frame_mask() const {
  return has<hw::PIPE_FRMCOUNT>() ? 0xffff'ffff : 0x00ff'ffff;
}

uint32_t KmsPipe::frame() {
  if (has<hw::PIPE_FRMCOUNT>()) return get<hw::PIPE_FRMCOUNT>().frame_counter;
  for (;;) {  // the counter is read in two halves; the upper one may step between the reads
    const uint32_t high = get<hw::PIPEFRAMEHIGH>().frame_counter_high;
    const uint32_t low = get<hw::PIPEFRAMEPIXEL>().frame_counter_low;
    if (get<hw::PIPEFRAMEHIGH>().frame_counter_high == high) return high << 8 | low;
  }
}

uint64_t KmsPipe::frame_ns() const {
  if (!mode_ || !has<hw::DPLL>()) return kSecond / 60;
  return uint64_t{mode_->htotal} * mode_->vtotal * 1'000'000 / mode_->clock;
}

// Returns slightly more than the time until the next vertical blank, because the line counter lags by one and steps
// within a line.
uint64_t KmsPipe::until_vblank_ns() {
  if (!mode_) return kSecond / 60;
  const uint32_t line = get<hw::PIPEDSL>().line_counter;
  const uint32_t left = (line < mode_->vdisplay ? 0u : mode_->vtotal) + mode_->vdisplay - line;
  return std::max<uint64_t>(frame_ns() * (left + 1) / mode_->vtotal, 1000);
}

}  // namespace halogen::driver
