// Pipe A of the display: registers of its timing, its primary plane and its cursor, on all chips. The display state is
// double buffered and takes effect at the next vertical blank; nothing here waits.
//
// Not programmed: ports, links, panels, the clock trees of later chips, watermarks, gamma.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <libdrm/drm.h>
#include <libdrm/drm_mode.h>

#include "driver/gem/buffer.h"

namespace halogen::driver {

// The content of the primary plane: a framebuffer in the global table, and a position in it.
struct PlaneView {
  uint32_t address = 0;
  uint32_t stride_B = 0;
  Tiling tiling = Tiling::linear;
  uint32_t format = 0;  // DRM_FORMAT_*
  uint32_t x = 0;       // in the framebuffer
  uint32_t y = 0;
  bool async = false;  // takes effect at once, not at the vertical blank
};

struct CursorView {
  uint32_t address = 0;
  uint32_t size = 0;  // 64, 128 or 256, in both directions
  int32_t x = 0;      // on the screen
  int32_t y = 0;
};

class KmsPipe {
 public:
  explicit KmsPipe(Hardware& hardware) : hardware_(hardware) {}

  void start(const drm_mode_modeinfo& mode);
  void stop();
  bool running() const { return mode_.has_value(); }

  void show(const PlaneView& view);
  void hide();
  void show_cursor(const CursorView& view);
  void hide_cursor();

  // Formats and tilings that the primary plane supports.
  bool knows(uint32_t format) const;
  std::vector<uint32_t> formats() const;
  bool universal() const;  // universal planes: Gen9 and later
  bool knows_async() const;
  uint32_t pixel_bytes(uint32_t format) const;  // 0: not supported
  // Pixels that share colours: the picture starts at a multiple of them.
  static uint32_t pixel_step(uint32_t format);

  uint32_t frame();             // the device's counter of vertical blanks
  uint32_t frame_mask() const;  // bits of the counter
  uint64_t until_vblank_ns();   // slightly more than the remaining time
  uint64_t frame_ns() const;

 private:
  template <class R>
  bool has() const;
  template <class R>
  void put(const R& value);
  template <class R>
  R get();
  void set_clock(uint32_t kilohertz);
  uint8_t plane_kind() const;

  Hardware& hardware_;
  std::optional<drm_mode_modeinfo> mode_;
};

}  // namespace halogen::driver
