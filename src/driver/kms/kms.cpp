#include "driver/kms/kms.h"

#include <libdrm/drm_fourcc.h>
#include <libdrm/i915_drm.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/exhaustion.h"
#include "driver/core/tracepoints.h"
#include "driver/gem/file.h"
#include "hw/display_pipe.h"
#include "spec/packing.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSurfaceAlignment = 256 * 1024;  // the strictest of all chips
constexpr size_t kMaxEvents = 128;                  // pending events per file: one page

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

bool is_off(Hardware& hardware) {
  const uint32_t value = hardware.read(hw::PIPECONF::kDesc.offset(hardware.model().id));
  return !spec::unpack_register<hw::PIPECONF>(hardware.model().gen, value).pipe_enable;
}

bool is_cursor_size(uint32_t size) {
  return size == 64 || size == 128 || size == 256;
}

}  // namespace

int Framebuffer::pin() {
  if (address) return 0;
  if (buffer->purged) return -EFAULT;
  if (!buffer->need_pages()) return -ENOMEM;
  address = table.map(buffer->run(), kSurfaceAlignment);
  if (!address) return -ENOSPC;
  buffer->caching = I915_CACHING_NONE;  // the display reads past the caches of processors
  ++buffer->pins;
  return 0;
}

void Framebuffer::unpin() {
  if (!address) return;
  if (!completes_soon([&] { table.unmap(*address, buffer->size()); })) buffer->keep_pages();
  --buffer->pins;
  address.reset();
}

drm_mode_modeinfo KmsState::timing() const {
  drm_mode_modeinfo value{};
  if (mode) std::memcpy(&value, mode->bytes.data(), sizeof value);
  return value;
}

Kms::Kms(Gpu& gpu) : gpu_(gpu), pipe_(gpu.hardware()) {}

// ---- time

bool Kms::waits() const {
  const bool blank_needed = blocked_ != 0 || !waiters_.empty() || (want_frames_ && frame_due_);
  return pipe_.running() && (blank_needed || (commit_ && commit_->programmed));
}

bool Kms::take_frame_due() {
  return std::exchange(frame_due_, false);
}

void Kms::count() {
  if (!pipe_.running()) return;
  if (is_off(gpu_.hardware())) {  // a device reset also reset the display
    program({}, false);
    return;
  }
  const uint32_t frame = pipe_.frame();
  const uint32_t passed = (frame - last_frame_) & pipe_.frame_mask();
  if (passed == 0) return;
  last_frame_ = frame;
  count_ += passed;
  time_ns_ = now_ns();
  if (tracepoints_ != nullptr) tracepoints_->vblank(count_, time_ns_);
}

void Kms::follow_device() {
  count();
  if (commit_ && !commit_->programmed) {
    const auto is_done = [](const FenceRef& fence) { return fence->done; };
    if (std::all_of(commit_->waits.begin(), commit_->waits.end(), is_done)) {
      if (tracepoints_ != nullptr) tracepoints_->pipe_update_start(count_);
      program(commit_->before, commit_->async);
      commit_->programmed = true;
      if (tracepoints_ != nullptr) tracepoints_->pipe_update_end(count_);
      count();
      commit_->target = count_ + (commit_->async || !pipe_.running() ? 0 : 1);
    }
  }
  if (commit_ && commit_->programmed && (count_ >= commit_->target || !pipe_.running())) complete();
  for (auto each = waiters_.begin(); each != waiters_.end();) {
    if (each->target > count_ && pipe_.running()) {
      ++each;
      continue;
    }
    const KmsEvent event = each->event;
    each = waiters_.erase(each);
    send(event, count_);
  }
}

void Kms::complete() {
  const Commit commit = std::move(*commit_);
  commit_.reset();
  for (const KmsEvent& event : commit.events) send(event, count_);
  if (commit.done) commit.done->signal();
}

// ---- state

bool Kms::needs_modeset(const KmsState& one, const KmsState& two) {
  return one.active != two.active || one.connected != two.connected || (one.mode == nullptr) != (two.mode == nullptr) ||
         (one.mode && one.mode->bytes != two.mode->bytes);
}

int Kms::check(const KmsState& next, bool modeset) const {
  if (next.active && !next.mode) return -EINVAL;
  if ((next.mode != nullptr) != next.connected) return -EINVAL;
  if (needs_modeset(state_, next) && !modeset) return -EINVAL;
  for (const PlaneState* plane : {&next.primary, &next.cursor}) {
    if ((plane->fb != nullptr) != plane->on_crtc) return -EINVAL;
    if (!plane->fb) continue;
    const bool cursor = plane == &next.cursor;
    const Framebuffer& fb = *plane->fb;
    if (plane->w > INT32_MAX || plane->h > INT32_MAX) return -ERANGE;
    if (uint64_t{plane->src_x} + plane->src_w > uint64_t{fb.width} << 16 ||
        uint64_t{plane->src_y} + plane->src_h > uint64_t{fb.height} << 16) {
      return -ENOSPC;
    }
    if (plane->src_w >> 16 != plane->w || plane->src_h >> 16 != plane->h) return -ERANGE;  // scaling is not supported
    if (cursor) {
      if (fb.format != DRM_FORMAT_ARGB8888 || fb.tiling != Tiling::linear || fb.offset != 0) return -EINVAL;
      if (!is_cursor_size(plane->w) || plane->w != plane->h || fb.pitch != plane->w * 4) return -EINVAL;
      if (plane->src_x != 0 || plane->src_y != 0) return -EINVAL;
      continue;
    }
    if (!pipe_.knows(fb.format) || (fb.tiling == Tiling::y && !pipe_.universal())) return -EINVAL;
    if ((plane->src_x >> 16) % KmsPipe::pixel_step(fb.format) != 0) return -EINVAL;
    if (!next.mode) continue;
    const drm_mode_modeinfo mode = next.timing();
    if (plane->x != 0 || plane->y != 0 || plane->w != mode.hdisplay || plane->h != mode.vdisplay) return -EINVAL;
  }
  return 0;
}

int Kms::commit(KmsState next, std::vector<KmsEvent> events, bool async, FenceRef done) {
  Commit commit;
  for (PlaneState* plane : {&next.primary, &next.cursor}) {
    if (!plane->fb) continue;
    int result = plane->fb->pin();
    if (result == -ENOSPC) {
      for (const auto& [id, fb] : fbs_) {
        const auto shown = [&, &each = fb](const KmsState& in) {
          return in.primary.fb == each || in.cursor.fb == each;
        };
        if (!shown(state_) && !shown(next)) fb->unpin();
      }
      result = plane->fb->pin();
    }
    if (result != 0) return result;
    for (FenceRef& fence : plane->fb->buffer->fences(false)) commit.waits.push_back(std::move(fence));
    if (plane->fence) commit.waits.push_back(std::exchange(plane->fence, nullptr));
  }
  commit.before = std::exchange(state_, std::move(next));
  const BlobRef old = commit.before.mode;
  if (old && old != state_.mode && old->owner == nullptr) drop(old);
  commit.events = std::move(events);
  commit.async = async;
  commit.done = std::move(done);
  commit_ = std::move(commit);
  static_cast<void>(completes([this] { follow_device(); }));  // otherwise the next call continues
  return 0;
}

int Kms::move_cursor(PlaneState cursor) {
  if (cursor.fb) {
    if (const int result = cursor.fb->pin(); result != 0) return result;
  }
  state_.cursor = std::move(cursor);
  if (!pipe_.running()) return 0;
  program_cursor();
  frame_due_ = true;
  return 0;
}

void Kms::program(const KmsState& before, bool async) {
  const bool on = state_.active && state_.mode;
  if (!on) {
    pipe_.stop();
    return;
  }
  if (needs_modeset(before, state_) || !pipe_.running()) {
    pipe_.start(state_.timing());
    last_frame_ = pipe_.frame();
  }
  if (const Framebuffer* const fb = state_.primary.fb.get()) {
    const uint32_t pixel = pipe_.pixel_bytes(fb->format);
    PlaneView view{.address = static_cast<uint32_t>(*fb->address),
                   .stride_B = fb->pitch,
                   .tiling = fb->tiling,
                   .format = fb->format,
                   .x = state_.primary.src_x >> 16,
                   .y = state_.primary.src_y >> 16,
                   .async = async};
    if (fb->tiling == Tiling::linear) {
      view.y += fb->offset / fb->pitch;
      view.x += fb->offset % fb->pitch / pixel;
    } else {
      view.address += fb->offset;
    }
    pipe_.show(view);
    if (tracepoints_ != nullptr) tracepoints_->update_plane(count_, state_.primary.w, state_.primary.h, *fb->address);
  } else {
    pipe_.hide();
  }
  program_cursor();
  frame_due_ = true;
}

void Kms::program_cursor() {
  const PlaneState& cursor = state_.cursor;
  if (!cursor.fb) {
    pipe_.hide_cursor();
    return;
  }
  // Positions beyond the range of the registers are off the screen too.
  const auto bounded = [](int32_t value) { return std::clamp(value, -2048, 8191); };
  pipe_.show_cursor({.address = static_cast<uint32_t>(*cursor.fb->address),
                     .size = cursor.w,
                     .x = bounded(cursor.x),
                     .y = bounded(cursor.y)});
}

// ---- events

bool Kms::reserve_event(const File& file) {
  size_t reserved = file.unsent.size();
  for (const Waiter& each : waiters_) reserved += each.event.file == &file ? 1 : 0;
  if (commit_) {
    for (const KmsEvent& each : commit_->events) reserved += each.file == &file ? 1 : 0;
  }
  return reserved < kMaxEvents;
}

int Kms::wait_event(const File& file, uint64_t target, uint32_t type, uint64_t user_data) {
  if (!reserve_event(file)) return -ENOMEM;
  const KmsEvent event{&file, type, user_data};
  if (target <= count_) {
    send(event, count_);
  } else {
    waiters_.push_back({event, target});
  }
  return 0;
}

// The event is lost only if the program's socket is full and the host has no memory to keep it.
void Kms::send(const KmsEvent& event, uint64_t sequence) {
  const auto found = std::find(files_.begin(), files_.end(), event.file);
  if (found == files_.end()) return;
  const uint64_t when = time_ns_ != 0 ? time_ns_ : now_ns();
  const auto deliver = [&](auto& record) {
    record.base.type = event.type;
    record.base.length = sizeof record;
    record.user_data = event.user_data;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(&record, 1));
    flush(**found);
    if ((*found)->unsent.empty() && send_now(**found, bytes)) return;
    static_cast<void>(completes([&] { (*found)->unsent.emplace_back(bytes.begin(), bytes.end()); }));
  };
  if (event.type == DRM_EVENT_CRTC_SEQUENCE) {
    drm_event_crtc_sequence record{};
    record.time_ns = static_cast<int64_t>(when);
    record.sequence = sequence;
    deliver(record);
  } else {
    drm_event_vblank record{};
    record.tv_sec = static_cast<uint32_t>(when / 1'000'000'000);
    record.tv_usec = static_cast<uint32_t>(when % 1'000'000'000 / 1000);
    record.sequence = static_cast<uint32_t>(sequence);
    record.crtc_id = kCrtcId;
    deliver(record);
  }
  if (tracepoints_ != nullptr) static_cast<void>(completes([&] { tracepoints_->event_delivered(sequence); }));
}

// False: the event does not fit the program's socket now.
bool Kms::send_now(const File& file, std::span<const std::byte> event) {
  return file.events < 0 || ::send(file.events, event.data(), event.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
         errno != EAGAIN;
}

// Sends whole events in order. Events that do not fit the program's socket wait.
void Kms::flush(File& file) {
  while (!file.unsent.empty() && send_now(file, file.unsent.front())) file.unsent.pop_front();
}

// ---- objects

uint32_t Kms::add(const FramebufferRef& fb) {
  fb->id = ids_.add(fb);
  const AtEnd undo([&] {
    if (!fbs_.contains(fb->id)) ids_.remove(fb->id);
  });
  fbs_[fb->id] = fb;
  return fb->id;
}

FramebufferRef Kms::find_fb(uint32_t id) const {
  const auto found = fbs_.find(id);
  return found == fbs_.end() ? nullptr : found->second;
}

int Kms::remove_fb(const File& file, uint32_t id) {
  const FramebufferRef fb = find_fb(id);
  if (!fb || fb->owner != &file) return -ENOENT;
  fbs_.erase(id);
  ids_.remove(id);
  take_off(*fb);
  return 0;
}

// Disables the planes that show a removed framebuffer, at the next vertical blank. The pipe keeps running.
void Kms::take_off(const Framebuffer& fb) {
  KmsState next = state_;
  for (PlaneState* plane : {&next.primary, &next.cursor}) {
    if (plane->fb.get() == &fb) *plane = {};
  }
  if (next.primary.fb == state_.primary.fb && next.cursor.fb == state_.cursor.fb) return;
  if (commit_ && !commit_->programmed) {  // its work on the framebuffer is not waited for
    commit_->waits.clear();
    static_cast<void>(completes([this] { follow_device(); }));
  }
  state_ = std::move(next);
  if (!pipe_.running()) return;
  static_cast<void>(completes([this] {
    if (!state_.primary.fb) pipe_.hide();
    program_cursor();
  }));
}

bool Kms::may_add_blob(const File& file, uint64_t bytes) const {
  constexpr uint64_t kMaxBytes = uint64_t{64} << 20, kMaxCount = 4096;
  uint64_t count = 0;
  for (const auto& [id, blob] : blobs_) {
    if (blob->owner != &file) continue;
    bytes += blob->bytes.size();
    ++count;
  }
  return bytes <= kMaxBytes && count < kMaxCount;
}

BlobRef Kms::add_blob(const File* owner, std::vector<std::byte> bytes) {
  auto blob = std::make_shared<Blob>();
  blob->id = ids_.add(blob);
  const AtEnd undo([&] {
    if (!blobs_.contains(blob->id)) ids_.remove(blob->id);
  });
  blob->owner = owner;
  blob->bytes = std::move(bytes);
  blobs_[blob->id] = blob;
  return blob;
}

BlobRef Kms::find_blob(uint32_t id) const {
  const auto found = blobs_.find(id);
  return found == blobs_.end() ? nullptr : found->second;
}

int Kms::remove_blob(const File& file, uint32_t id) {
  const BlobRef blob = find_blob(id);
  if (!blob) return -ENOENT;
  if (blob->owner != &file) return -EPERM;
  drop(blob);
  return 0;
}

// A blob that is the current mode stays alive.
void Kms::drop(const BlobRef& blob) {
  blob->owner = nullptr;
  if (blob == state_.mode) return;
  blobs_.erase(blob->id);
  ids_.remove(blob->id);
}

// ---- files

void Kms::opened(File& file) {
  files_.push_back(&file);
  if (file.render) return;
  if (master == nullptr) {
    master = &file;
    file.was_master = file.authenticated = true;
  }
}

void Kms::forget(const File& file) {
  std::erase_if(waiters_, [&](const Waiter& each) { return each.event.file == &file; });
  if (commit_) std::erase_if(commit_->events, [&](const KmsEvent& each) { return each.file == &file; });
  std::erase(files_, &file);
  std::erase_if(magics, [&](const auto& each) { return each.second == &file; });
  if (master == &file) master = nullptr;
}

void Kms::closed(File& file) {
  forget(file);
  for (auto each = fbs_.begin(); each != fbs_.end();) {
    const FramebufferRef fb = each->second;
    ++each;
    if (fb->owner == &file) remove_fb(file, fb->id);
  }
  for (auto each = blobs_.begin(); each != blobs_.end();) {
    const BlobRef blob = each->second;
    ++each;
    if (blob->owner == &file) drop(blob);
  }
}

}  // namespace halogen::driver
