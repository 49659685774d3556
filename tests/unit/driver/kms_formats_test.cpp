// Formats of the primary plane: those that Linux i915 6.1 lists on each chip (i9xx_plane.c, skl_universal_plane.c), and
// the colours that they show. Alpha has no effect, because nothing is below the primary plane.
#include <libdrm/drm_fourcc.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <set>

#include "picture/image.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

enum class Layout : uint8_t { indexed, rgb565, eight, ten, half, yuv, yuv444 };
struct Row {
  uint32_t fourcc;
  Layout layout;
  bool xbgr = false;
  unsigned first_y = 0;  // byte of the first luma value of a packed pair
};
const std::map<std::string_view, Row> kRows = {
    {"C8", {DRM_FORMAT_C8, Layout::indexed}},
    {"RGB565", {DRM_FORMAT_RGB565, Layout::rgb565}},
    {"XRGB8888", {DRM_FORMAT_XRGB8888, Layout::eight}},
    {"XBGR8888", {DRM_FORMAT_XBGR8888, Layout::eight, true}},
    {"ARGB8888", {DRM_FORMAT_ARGB8888, Layout::eight}},
    {"ABGR8888", {DRM_FORMAT_ABGR8888, Layout::eight, true}},
    {"XRGB2101010", {DRM_FORMAT_XRGB2101010, Layout::ten}},
    {"XBGR2101010", {DRM_FORMAT_XBGR2101010, Layout::ten, true}},
    {"ARGB2101010", {DRM_FORMAT_ARGB2101010, Layout::ten}},
    {"ABGR2101010", {DRM_FORMAT_ABGR2101010, Layout::ten, true}},
    {"XRGB16161616F", {DRM_FORMAT_XRGB16161616F, Layout::half}},
    {"XBGR16161616F", {DRM_FORMAT_XBGR16161616F, Layout::half, true}},
    {"ARGB16161616F", {DRM_FORMAT_ARGB16161616F, Layout::half}},
    {"ABGR16161616F", {DRM_FORMAT_ABGR16161616F, Layout::half, true}},
    {"YUYV", {DRM_FORMAT_YUYV, Layout::yuv}},
    {"YVYU", {DRM_FORMAT_YVYU, Layout::yuv}},
    {"UYVY", {DRM_FORMAT_UYVY, Layout::yuv, false, 1}},
    {"VYUY", {DRM_FORMAT_VYUY, Layout::yuv, false, 1}},
    {"XYUV8888", {DRM_FORMAT_XYUV8888, Layout::yuv444}},
};

std::set<std::string_view> formats_of(std::string_view chip) {
  std::set<std::string_view> all{"C8", "RGB565", "XRGB8888", "XBGR8888", "XRGB2101010", "XBGR2101010", "XBGR16161616F"};
  const bool universal = chip == "skl" || chip == "icl" || chip == "tgl" || chip == "dg1";
  if (universal || chip == "chv") all.insert({"ARGB8888", "ABGR8888"});
  if ((universal && chip != "skl") || chip == "chv") all.insert({"ARGB2101010", "ABGR2101010"});
  if (universal) all.insert({"XRGB16161616F", "YUYV", "YVYU", "UYVY", "VYUY", "XYUV8888"});
  if (universal && chip != "skl") all.insert({"ARGB16161616F", "ABGR16161616F"});
  return all;
}

struct Color {
  bool red, green, blue;
};
// Stripes of 16 pixels; alpha differs from line to line.
Color color_at(uint32_t x, bool gray) {
  const uint32_t bits = x / 16 % 8;
  return gray ? Color{bits % 2 != 0, bits % 2 != 0, bits % 2 != 0}
              : Color{(bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
}
bool is_gray(Layout layout) {
  return layout == Layout::yuv || layout == Layout::yuv444;
}

uint32_t bytes_of(Layout layout) {
  switch (layout) {
    case Layout::indexed:
      return 1;
    case Layout::rgb565:
    case Layout::yuv:
      return 2;
    case Layout::half:
      return 8;
    default:
      return 4;
  }
}

uint64_t pixel_of(const Row& row, uint32_t x, uint32_t y) {
  const Color color = color_at(x, is_gray(row.layout));
  const bool high = row.xbgr ? color.blue : color.red, low = row.xbgr ? color.red : color.blue;
  const uint64_t a = y;
  switch (row.layout) {
    case Layout::indexed:
      return 0;
    case Layout::rgb565:
      return (color.red ? 0x1fu << 11 : 0) | (color.green ? 0x3fu << 5 : 0) | (color.blue ? 0x1fu : 0);
    case Layout::eight:
      return (a & 0xff) << 24 | (high ? 0xffu << 16 : 0) | (color.green ? 0xffu << 8 : 0) | (low ? 0xffu : 0);
    case Layout::ten:
      return (a & 3) << 30 | (high ? 0x3ffu << 20 : 0) | (color.green ? 0x3ffu << 10 : 0) | (low ? 0x3ffu : 0);
    case Layout::half: {
      constexpr uint64_t kOne = 0x3c00;
      return (a % 2 != 0 ? kOne : 0) << 48 | (high ? kOne << 32 : 0) | (color.green ? kOne << 16 : 0) |
             (low ? kOne : 0);
    }
    case Layout::yuv: {
      // Limited range: black is 16, white is 235; without colour both differences are 128.
      const uint64_t luma = color.green ? 235 : 16;
      return row.first_y == 0 ? luma | 128u << 8 : luma << 8 | 128u;
    }
    case Layout::yuv444:
      return (a & 0xff) << 24 | (color.green ? 235u : 16u) << 16 | 128u << 8 | 128u;
  }
  return 0;
}

class PlaneFormats : public EventDoor {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.frames = [this](const picture::Image& image) {
      const std::lock_guard lock(frames_lock);
      frames.push_back(image);
    };
    start(options);
  }
  uint32_t add(const Row& row, int wanted) {
    const uint32_t pitch = kWidth * bytes_of(row.layout);
    drm_mode_create_dumb dumb{};
    dumb.width = pitch / 4;
    dumb.height = kHeight;
    dumb.bpp = 32;
    EXPECT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), 0);
    const std::span<std::byte> bytes = content(dumb.handle);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        const uint64_t pixel = pixel_of(row, x, y);
        std::memcpy(bytes.data() + y * pitch + x * bytes_of(row.layout), &pixel, bytes_of(row.layout));
      }
    }
    drm_mode_fb_cmd2 fb{};
    fb.width = kWidth;
    fb.height = kHeight;
    fb.pixel_format = row.fourcc;
    fb.handles[0] = dumb.handle;
    fb.pitches[0] = pitch;
    EXPECT_EQ(call(DRM_IOCTL_MODE_ADDFB2, fb), wanted);
    return fb.fb_id;
  }

  std::mutex frames_lock;
  std::vector<picture::Image> frames;
};
INSTANTIATE_TEST_SUITE_P(All, PlaneFormats, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(PlaneFormats, PrimaryPlaneListsTheFormatsOfLinux) {
  std::set<uint32_t> wanted;
  for (const std::string_view name : formats_of(GetParam())) wanted.insert(kRows.at(name).fourcc);
  drm_set_client_cap cap{.capability = DRM_CLIENT_CAP_UNIVERSAL_PLANES, .value = 1};
  ASSERT_EQ(call(DRM_IOCTL_SET_CLIENT_CAP, cap), 0);
  std::vector<uint32_t> formats(64);
  drm_mode_get_plane plane{};
  plane.plane_id = kPrimaryId;
  plane.format_type_ptr = reinterpret_cast<uintptr_t>(formats.data());
  plane.count_format_types = static_cast<uint32_t>(formats.size());
  ASSERT_EQ(call(DRM_IOCTL_MODE_GETPLANE, plane), 0);
  formats.resize(plane.count_format_types);
  EXPECT_EQ(std::set<uint32_t>(formats.begin(), formats.end()), wanted);
  EXPECT_EQ(formats.size(), wanted.size());
}

TEST_P(PlaneFormats, EachFormatShowsItsColoursAndIgnoresAlpha) {
  const std::set<std::string_view> known = formats_of(GetParam());
  for (const auto& [name, row] : kRows) {
    SCOPED_TRACE(name);
    if (row.layout == Layout::indexed) continue;  // shows what the palette holds
    // The cursor takes ARGB8888 on every chip: the framebuffer can be made, not shown.
    const bool made = known.contains(name) || name == "ARGB8888";
    const uint32_t fb = add(row, made ? 0 : -EINVAL);
    if (!made) continue;
    ASSERT_EQ(set(fb), known.contains(name) ? 0 : -EINVAL);
    if (!known.contains(name)) continue;
    driver->finish_display();
    const std::lock_guard lock(frames_lock);
    const picture::Image& image = frames.back();
    for (uint32_t y = 0; y < kHeight; y += 7) {
      for (uint32_t x = 4; x < kWidth; x += 8) {  // not beside an edge, where colours of pairs are mixed
        const Color color = color_at(x, is_gray(row.layout));
        const auto level = [](bool on) { return static_cast<uint8_t>(on ? 255 : 0); };
        ASSERT_EQ(image.at(x, y), (picture::Rgba{level(color.red), level(color.green), level(color.blue), 255}))
            << x << ", " << y;
      }
    }
  }
}

}  // namespace
}  // namespace halogen::driver
