// The timing of the display: pipes that scan, their blanks, scan line windows, and flips that wait for them. G45 PRM
// vol. 1b 1.6, 1.9, 1.10, 1.12, 5.3.7, 5.4 (seed 003); registers from Linux i915. All times are virtual, in
// nanoseconds, and exact.
//
// - A pipe runs while its transcoder is enabled with valid timings. It starts immediately, with the sync before the
// first line, and stops immediately. Changed timings restart it. Invalid timings raise an Event and the pipe does not
// run.
// - The pixel clock comes from the clock generator where one is described (Gen4); elsewhere a pipe shows sixty frames
// per second.
// - At the leading edge of the vertical blank flips are performed first, then status is latched, then on_vblank is
// called: "start of vertical blank", "vertical blank" and "frame start" are the same time. The frame start delay is not
// modelled.
// - The registers of a plane are double buffered: writing the surface address arms them, the vertical blank applies
// them. Cursors work likewise (cursor.h). The image size of the pipe is sampled at each vertical blank.
// - A surface is read when a frame is taken, so its faults are raised then. A pipe whose planes could not be read has a
// FIFO underrun. Underruns caused by bandwidth are not modelled.
// - Not modelled: the overlay's registers except its pipe selection, panel fitting, interlaced timing, and the items
// that scanout.h lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "display/display_state.h"
#include "display/fbc/compression.h"
#include "display/pipe_registers.h"
#include "display/plane_source.h"
#include "display/scanout.h"
#include "gen/display_rules.h"
#include "mmio/mmio_space.h"

namespace halogen::display {

enum class PipeEdge : uint8_t { vblank, vsync, line_compare, hblank };

// Calls come in order of time; now_ns() is the time of the event. A listener may call any function of the display
// except advance_to. Streams that an event releases should run after the call, because a stream of flips on a disabled
// pipe would otherwise never return.
class DisplayListener {
 public:
  virtual ~DisplayListener() = default;
  virtual void on_vblank(unsigned pipe) = 0;  // leading edge, after flips and status
  virtual void on_vsync(unsigned /*pipe*/) {}
  virtual void on_hblank(unsigned /*pipe*/) {}  // leading edge, while watched or enabled in PIPESTAT
  // Called when in_window() has changed. MI_WAIT_FOR_EVENT tests this signal.
  virtual void on_line_compare(unsigned /*pipe*/, bool /*in_window*/) {}
  virtual void on_flip_pending(unsigned plane, bool pending) = 0;  // false: the flip is done
  virtual void on_overlay_flip_pending(bool /*pending*/) {}
  // Reads registers, followed by coefficients if `into` has room for them. Called while the flip is still pending.
  virtual void on_overlay_fetch(const OverlayFlip& /*request*/, std::span<std::byte> /*into*/) {}
  virtual void on_pipe_event(unsigned /*pipe*/, bool /*asserted*/) {}  // PIPESTAT: an enabled status bit
  virtual void on_underrun(unsigned /*pipe*/) {}                       // a plane or cursor could not be read
};

class Display final : public mmio::RegisterHandler, private CompressionHost {
 public:
  Display(const spec::DeviceModel& model, mmio::MmioSpace& mmio, DisplayListener& listener, EventSink& events,
          std::string path);
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  // Advances time; earlier times are ignored. For each kind of edge of each pipe, a call reports the first and the four
  // latest edges, and the vertical blanks that flips wait for (at most kWaitedEdges), so that a step of any length is
  // cheap. Other edges are counted in skipped_edges(); frame counters count every frame. Step by next_event() to see
  // each edge.
  void advance_to(uint64_t nanoseconds);
  // Returns the next vertical blank or watched edge, always later than now. No value: no pipe runs. Edges that repeat
  // faster than `least_ns` are ignored.
  std::optional<uint64_t> next_event(uint64_t least_ns = 0) const;
  uint64_t now_ns() const { return state_.now_ns; }
  uint64_t skipped_edges() const { return state_.skipped_edges; }
  // Makes next_event stop at this edge too. Horizontal blanks are reported only while watched or enabled in
  // PIPESTAT.
  void watch(unsigned pipe, PipeEdge edge, bool on);

  // Pipes are numbered from 0 (A). A pipe that the device lacks does not run.
  unsigned pipes() const { return registers_.pipes(); }
  bool pipe_running(unsigned pipe) const { return pipe < pipes() && state_.pipes[pipe].running; }
  unsigned line(unsigned pipe) const;  // 0 is the first active line
  bool in_vblank(unsigned pipe) const;
  bool in_hblank(unsigned pipe) const;
  uint64_t vblank_count(unsigned pipe) const;
  // Return the time of the next edge. A streamer that is ahead of the display passes its own time as `at`.
  std::optional<uint64_t> next_vblank(unsigned pipe, uint64_t at = 0) const;
  std::optional<uint64_t> next_hblank(unsigned pipe, uint64_t at = 0) const;
  // Returns whether software may wait for the pipe's vertical blank: its enable bit, if the pipe has one, must be set
  // (G45 PRM vol. 1b 1.21, seed 003).
  bool vblank_wait_enabled(unsigned pipe) const;
  // Returns the pipe that a scan line command's select field names. No value: the code is reserved.
  static std::optional<unsigned> pipe_of_select(unsigned select);

  // Scan line windows. Both lines are inclusive; a new window replaces the old one.
  void load_scan_lines(unsigned pipe, unsigned first, unsigned last, bool inclusive);
  bool in_window(unsigned pipe,
                 uint64_t at = 0) const;  // true: the wait continues. False without a window or while the pipe is off
  // Returns the time at which in_window changes. No value: it does not change.
  std::optional<uint64_t> window_changes_at(unsigned pipe, uint64_t at = 0) const;

  // Flips. A request that the manual calls UNDEFINED raises an Event and still completes; the newest request wins.
  void flip(const FlipRequest& request);
  bool flip_pending(unsigned plane) const;
  void overlay_flip(const OverlayFlip& request);
  bool overlay_flip_pending() const { return state_.overlay.waiting.has_value(); }
  // Returns the overlay's pipe, which its registers select. Before they are loaded, it is the first running pipe.
  unsigned overlay_pipe() const;
  static constexpr size_t kOverlayRegisters_B = 0x200;  // registers in a page; coefficients follow
  static constexpr size_t kOverlayPage_B = 4096;

  const std::vector<PlaneModel>& planes() const { return planes_; }
  const PlaneModel* find_plane(unsigned number) const;
  const PlaneModel* find_plane(unsigned pipe, unsigned place) const;
  // Return the visible state, for scan-out.
  const PlaneImage* active_image(unsigned plane) const;
  std::optional<PlaneLines> plane_lines(unsigned plane) const;
  Extent source_size(unsigned pipe) const;  // size of the image that the pipe shows
  const std::vector<CursorModel>& cursors() const { return cursor_models_; }
  const CursorImage* active_cursor(unsigned index) const;
  // Returns the frame that the pipe shows now. No value: the pipe is off.
  std::optional<picture::Image> take_frame(unsigned pipe, DisplayMemory& memory);
  // The provider is asked first for each scanned-out line. Null: all lines are read from their surface.
  void set_line_provider(LineProvider* provider) { provider_ = provider; }
  const PanelFitter* panel_fitter(unsigned pipe) const { return pipe < pipes() ? &state_.pipes[pipe].fitter : nullptr; }
  const OverlayState& overlay() const { return state_.overlay; }

  // Frame buffer compression. Null: the device has none. The owner of both connects the memory.
  FrameCompressor* compressor() { return compressor_.get(); }
  const FrameCompressor* compressor() const { return compressor_.get(); }
  // Called when an engine has written lines of the surface at this graphics address; line 0 is its first line.
  void on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) {
    if (compressor_ != nullptr) {
      compressor_->on_target_write(base, first_line, lines);
    }
  }

  DisplayState snapshot() const { return state_; }
  void restore(const DisplayState& state);  // call after restoring the registers
  void reset();                             // call after the register reset; no listener is called, time continues
  void refresh();                           // the registers were changed by another unit
  void report(FidelityReport& report) const;

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

  static constexpr unsigned kLatestEdges = 4;
  static constexpr unsigned kWaitedEdges = 16;
  static constexpr unsigned kFlipQueueDepth = 8;  // our choice; the manual gives no depth

 private:
  enum class Role : uint8_t {
    timing,  // transcoder or clock of a pipe
    panel,   // transcoder of the panel
    status,
    load_window,
    line,
    frame_high,
    frame_pixel,
    frame_count,
    frame_time,
    surface,
    live,
    cursor_control,
    cursor_base,
    cursor_position,
  };
  struct Part {
    Role role;
    unsigned index;  // pipe, or index into planes_ or cursor_models_
  };
  // Edges of one pipe that a call of advance_to visits.
  enum class Edge : uint8_t { vblank, vsync, window, window_end, hblank };
  static constexpr unsigned kEdges = 5;
  struct Cursor {
    std::array<Pixels, kEdges> done{};
    std::array<unsigned, kEdges> told{};
  };
  // Bits of PIPESTAT on this device.
  struct StatusBits {
    uint32_t vblank = 0;
    uint32_t vsync = 0;
    uint32_t line_compare = 0;
    uint32_t hblank = 0;
    uint32_t even_field = 0;
    uint32_t odd_field = 0;
    uint32_t overlay_updated = 0;
    uint32_t underrun = 0;
    std::array<uint32_t, 3> flip_done{};  // by index of the plane on the pipe
    uint32_t vblank_enable = 0;
    uint32_t hblank_enable = 0;
  };

  void attach();
  void attach(const mmio::RegisterSlot* slot, Role role, unsigned index);
  void find_status_bits();
  void start_cursors();
  void clear_state();

  // Pipes.
  Pixels position(const PipeState& pipe, uint64_t at = 0) const {
    return pipe.raster.pixels(std::max(at, state_.now_ns) - pipe.start_ns);
  }
  std::optional<uint64_t> time_of(const PipeState& pipe, Pixels pixel) const;
  std::optional<EdgeStream> stream(unsigned pipe, Edge edge) const;
  std::optional<uint64_t> next_of(unsigned pipe, Edge edge, uint64_t at = 0) const;
  bool comes_more_often(unsigned pipe, Edge edge, uint64_t least_ns) const;
  void reconsider(unsigned pipe);
  void reconsider_all();
  void start(unsigned pipe, const Raster& raster);
  void stop(unsigned pipe);
  void bank_counts(PipeState& pipe);
  void show_states();
  bool step(uint64_t until);
  void tell(unsigned pipe, Edge edge);
  void update_window(unsigned pipe);
  void vblank(unsigned pipe);
  bool something_waits(unsigned pipe) const;
  void set_window(unsigned pipe, const ScanLineWindow& window);
  void load_window(uint32_t value);
  void latch(unsigned pipe, uint32_t bits);
  void update_event(unsigned pipe, uint32_t status);
  uint64_t last_vblank_ns(const PipeState& pipe) const;
  uint64_t frame_number(const PipeState& pipe) const;

  // Planes.
  unsigned index_of(const PlaneModel& plane) const { return static_cast<unsigned>(&plane - planes_.data()); }
  void surface_write(unsigned plane, uint32_t surface);
  PlaneImage command_image(const PlaneModel& plane, const FlipRequest& request, bool async) const;
  bool async_allowed(const PlaneModel& plane, const FlipRequest& request);
  void program(const PlaneModel& plane, const FlipRequest& request, const PlaneImage& image);
  void submit(unsigned plane, PendingFlip flip, bool at_once);
  void perform(unsigned plane);
  void take_offsets(unsigned pipe);
  void take_source(unsigned pipe);
  FrameParts frame_parts(unsigned pipe);
  Palette palette(unsigned pipe) const;
  bool gamma_table_on(unsigned pipe) const;
  picture::Rgba color_below(unsigned pipe, bool& forced) const;

  // Cursors.
  void cursor_write(unsigned cursor, Role role, uint32_t value);
  void take_cursors(unsigned pipe);
  void perform_overlay();
  void flip_problem(const FlipRequest& request, std::string_view detail);

  // CompressionHost.
  CompressionSource source(unsigned plane) const override;
  uint64_t time_ns() const override { return state_.now_ns; }
  unsigned scanned_lines(unsigned pipe, uint64_t nanoseconds) const override;
  uint64_t vblanks(unsigned pipe) const override { return vblank_count(pipe); }
  void run_compressor(uint64_t until);

  void raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string_view detail);

  const spec::DeviceModel& model_;
  mmio::MmioSpace& mmio_;
  DisplayListener& listener_;
  EventSink& events_;
  std::string path_;
  DisplayRules rules_;
  PipeRegisters registers_;
  std::vector<PlaneModel> planes_;
  std::vector<CursorModel> cursor_models_;
  StatusBits bits_;
  std::unordered_map<const mmio::RegisterSlot*, Part> parts_;
  DisplayState state_;
  LineProvider* provider_ = nullptr;
  std::unique_ptr<FrameCompressor> compressor_;
  std::vector<Cursor> cursors_;  // while advancing
  bool advancing_ = false;
};

}  // namespace halogen::display
