// Mode setting: one screen on pipe A. The screen has one state, which a commit replaces as a whole. A commit waits for
// the work on its buffers, then writes the registers; the next vertical blank completes it. Vertical blanks are counted
// by the device's counter. Programs learn of both from events that they read from their node.
//
// Device time decides when a vertical blank comes; DriverOptions::host_time controls how it passes. Events carry the
// host's time.
//
// Not modelled: overlay planes, scaling, planes smaller than the screen, gamma, hot plug, leases.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/gem/id_table.h"
#include "driver/hw/gpu.h"
#include "driver/kms/kms_pipe.h"

namespace halogen::driver {

struct File;

// All objects of mode setting share one sequence of ids.
enum KmsId : uint32_t {
  kPropertyType = 1,
  kPropertyFb,
  kPropertyInFence,
  kPropertyCrtc,
  kPropertyCrtcX,
  kPropertyCrtcY,
  kPropertyCrtcW,
  kPropertyCrtcH,
  kPropertySrcX,
  kPropertySrcY,
  kPropertySrcW,
  kPropertySrcH,
  kPropertyActive,
  kPropertyMode,
  kPropertyOutFence,
  kPropertyEdid,
  kPropertyDpms,
  kPropertyLinkStatus,
  kPropertyNonDesktop,
  kPrimaryId = 31,
  kCursorId = 32,
  kCrtcId = 41,
  kEncoderId = 42,
  kConnectorId = 43,
  kEdidId = 44,
  kFirstFreeId = 45,
};

struct Framebuffer {
  Framebuffer(GlobalTable& the_table, BufferRef the_buffer) : table(the_table), buffer(std::move(the_buffer)) {}
  ~Framebuffer() { unpin(); }
  Framebuffer(const Framebuffer&) = delete;
  Framebuffer& operator=(const Framebuffer&) = delete;

  // Maps the framebuffer in the global table. Returns 0 or a negative errno.
  int pin();
  void unpin();

  GlobalTable& table;
  BufferRef buffer;
  const File* owner = nullptr;
  uint32_t id = 0;
  uint32_t width = 0, height = 0, format = 0, pitch = 0, offset = 0;
  uint64_t modifier = 0;
  Tiling tiling = Tiling::linear;
  std::optional<uint64_t> address;
};
using FramebufferRef = std::shared_ptr<Framebuffer>;

struct Blob {
  uint32_t id = 0;
  const File* owner = nullptr;
  std::vector<std::byte> bytes;
};
using BlobRef = std::shared_ptr<Blob>;

struct PlaneState {
  FramebufferRef fb;
  bool on_crtc = false;
  int32_t x = 0, y = 0;
  uint32_t w = 0, h = 0;
  uint32_t src_x = 0, src_y = 0, src_w = 0, src_h = 0;  // 16.16
  FenceRef fence;                                       // in-fence of the program
};

struct KmsState {
  bool active = false;
  BlobRef mode;
  bool connected = false;  // the connector is attached to the CRTC
  PlaneState primary, cursor;

  drm_mode_modeinfo timing() const;
};

// A pending event of a program.
struct KmsEvent {
  const File* file = nullptr;
  uint32_t type = 0;  // DRM_EVENT_*
  uint64_t user_data = 0;
};

class Kms {
 public:
  using FrameTaker = std::function<void()>;
  explicit Kms(Gpu& gpu);
  void tell(Tracepoints* tracepoints) { tracepoints_ = tracepoints; }

  // ---- time
  bool waits() const;  // something waits for a vertical blank
  uint64_t until_vblank_ns() { return pipe_.until_vblank_ns(); }
  void follow_device();  // counts vertical blanks and continues a commit
  bool busy() const { return commit_.has_value(); }
  uint64_t vblanks() const { return count_; }
  uint64_t vblank_time_ns() const { return time_ns_; }
  void block(int change) { blocked_ += change; }  // number of calls that wait for vertical blanks

  // ---- frames: the next vertical blank shows something new
  void want_frames(bool on) { want_frames_ = on; }
  bool take_frame_due();

  // ---- state
  const KmsState& state() const { return state_; }
  KmsPipe& pipe() { return pipe_; }
  Gpu& gpu() { return gpu_; }
  bool atomic() const { return pipe_.knows_async(); }
  // Returns 0 or a negative errno. `modeset`: the pipe may be stopped and started.
  int check(const KmsState& next, bool modeset) const;
  static bool needs_modeset(const KmsState& one, const KmsState& two);
  // Starts a commit that was checked; no other may be in progress. `done` signals on completion.
  int commit(KmsState next, std::vector<KmsEvent> events, bool async, FenceRef done);
  int move_cursor(PlaneState cursor);  // without a commit

  // ---- events
  bool reserve_event(const File& file);
  int wait_event(const File& file, uint64_t target, uint32_t type, uint64_t user_data);

  // ---- objects
  uint32_t add(const FramebufferRef& fb);
  FramebufferRef find_fb(uint32_t id) const;
  const std::map<uint32_t, FramebufferRef>& fbs() const { return fbs_; }
  uint32_t largest_edge() const;  // of framebuffers
  uint32_t largest_screen() const { return 4096; }
  bool knows_y() const { return pipe_.universal(); }
  int remove_fb(const File& file, uint32_t id);
  // False: the file has so many blobs, or so large ones, that one more would be beyond its share.
  bool may_add_blob(const File& file, uint64_t bytes) const;
  BlobRef add_blob(const File* owner, std::vector<std::byte> bytes);
  BlobRef find_blob(uint32_t id) const;
  int remove_blob(const File& file, uint32_t id);
  void drop(const BlobRef& blob);

  // ---- masters
  void opened(File& file);
  void closed(File& file);
  File* master = nullptr;
  std::map<uint32_t, File*> magics;
  uint32_t next_magic = 1;

  static const std::vector<drm_mode_modeinfo>& modes();

 private:
  struct Commit {
    KmsState before;
    std::vector<FenceRef> waits;
    std::vector<KmsEvent> events;
    bool async = false;
    bool programmed = false;
    uint64_t target = 0;
    FenceRef done;
  };
  struct Waiter {
    KmsEvent event;
    uint64_t target = 0;
  };
  void program(const KmsState& before, bool async);
  void program_cursor();
  void count();
  void complete();
  void send(const KmsEvent& event, uint64_t sequence);
  static bool send_now(const File& file, std::span<const std::byte> event);
  static void flush(File& file);
  void forget(const File& file);
  void take_off(const Framebuffer& fb);

  Gpu& gpu_;
  KmsPipe pipe_;
  KmsState state_;
  std::optional<Commit> commit_;
  std::vector<Waiter> waiters_;
  int blocked_ = 0;
  uint32_t last_frame_ = 0;
  uint64_t count_ = 0;
  uint64_t time_ns_ = 0;
  bool want_frames_ = false;
  bool frame_due_ = false;
  IdTable<std::shared_ptr<void>> ids_{kFirstFreeId};
  std::map<uint32_t, FramebufferRef> fbs_;
  std::map<uint32_t, BlobRef> blobs_;
  std::vector<File*> files_;
  Tracepoints* tracepoints_ = nullptr;
};

}  // namespace halogen::driver
