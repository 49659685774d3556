// Mode setting: one screen on pipe A. What is shown is one state, changed as a whole by a commit: it waits for the work
// on its buffers, then the registers are written, and the vertical blank that takes them completes it. Counts vertical
// blanks by the device's counter, and tells programs of both through events that they read from their node.
//
// The device's own time decides when a vertical blank comes; how that passes is KernelOptions::host_time. Events carry
// the host's time.
//
// Left out: overlay planes, scaling and planes smaller than the screen, gamma, hot plug, leases.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/gem/id_table.h"
#include "driver/hw/gpu.h"
#include "driver/kms/kms_pipe.h"

namespace halogen::driver {

struct File;

// Objects of mode setting have numbers of one sequence.
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

  // In the global table. 0, or a negative errno.
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
  FenceRef fence;                                       // that the program gave
};

struct KmsState {
  bool active = false;
  BlobRef mode;
  bool connected = false;  // the connector is on the CRTC
  PlaneState primary, cursor;

  drm_mode_modeinfo timing() const;
};

// A program that reads events.
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
  bool waits() const;  // for a vertical blank
  uint64_t until_vblank_ns() { return pipe_.until_vblank_ns(); }
  void look();  // at the device: what has come to pass
  bool busy() const { return commit_.has_value(); }
  uint64_t vblanks() const { return count_; }
  uint64_t vblank_time_ns() const { return time_ns_; }
  void block(int change) { blocked_ += change; }  // callers that wait for vertical blanks

  // ---- pictures: something new is on the screen at the next vertical blank
  void want_frames(bool on) { want_frames_ = on; }
  bool take_frame_due();

  // ---- state
  const KmsState& state() const { return state_; }
  KmsPipe& pipe() { return pipe_; }
  Gpu& gpu() { return gpu_; }
  bool atomic() const { return pipe_.knows_async(); }
  // 0 or a negative errno. `modeset`: the pipe may be stopped and started.
  int check(const KmsState& next, bool modeset) const;
  static bool needs_modeset(const KmsState& one, const KmsState& two);
  // Checked before, and nothing is under way. Fences: what must be done before.
  int commit(KmsState next, std::vector<KmsEvent> events, bool async, FenceRef done);
  int move_cursor(PlaneState cursor);  // without a commit of its own

  // ---- events
  bool reserve_event(const File& file);
  int wait_event(const File& file, uint64_t target, uint32_t type, uint64_t user_data);

  // ---- objects
  uint32_t add(FramebufferRef fb);
  FramebufferRef find_fb(uint32_t id) const;
  const std::map<uint32_t, FramebufferRef>& fbs() const { return fbs_; }
  uint32_t largest_edge() const;  // of pictures
  uint32_t largest_screen() const { return 4096; }
  bool knows_y() const { return pipe_.universal(); }
  int remove_fb(const File& file, uint32_t id);
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
  void flush(File& file);
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
