#include "driver/core/tracepoints.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "base/json.h"
#include "driver/gem/context.h"
#include "driver/hw/gpu.h"

namespace halogen::driver {
namespace {

// Track numbers: engines, the screen, contexts.
constexpr unsigned kFirstEngine = 1, kScreen = 99, kFirstContext = 100;

std::string us(uint64_t nanoseconds) {
  return TraceFile::microseconds(nanoseconds);
}

}  // namespace

Result<std::unique_ptr<Tracepoints>> Tracepoints::create(const std::string& file, const spec::DeviceModel& model) {
  std::unique_ptr<Tracepoints> made(new Tracepoints(file, model));
  const std::lock_guard lock(made->guard_);
  made->file_.add_process_name(model.name);
  if (const Result<void> done = made->file_.flush(); !done) return done.error();
  return made;
}

Tracepoints::Tracepoints(std::string file, const spec::DeviceModel& model) : model_(model), file_(std::move(file)) {}

uint64_t Tracepoints::now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void Tracepoints::queue(const Request& it) {
  const std::lock_guard lock(guard_);
  request("i915_request_queue", context_track(it), it, fmt::format(R"(,"flags":{})", it.flags));
}

void Tracepoints::add(const Request& it) {
  const std::lock_guard lock(guard_);
  request("i915_request_add", context_track(it), it);
}

void Tracepoints::in(const Request& it) {
  const std::lock_guard lock(guard_);
  began_[&it] = now_ns();
  request("i915_request_in", engine_track(it), it, fmt::format(R"(,"prio":{},"port":0)", it.priority));
}

// Also writes a bar on the engine's track.
void Tracepoints::out(const Request& it, bool completed) {
  const std::lock_guard lock(guard_);
  const unsigned track = engine_track(it);
  request("i915_request_out", track, it, fmt::format(R"(,"completed":{})", completed ? 1 : 0));
  const auto began = began_.find(&it);
  if (began == began_.end()) return;
  const uint64_t now = now_ns();
  write(fmt::format(R"("name":"{}:{}","cat":"i915","ph":"X","ts":{},"dur":{},"tid":{},"args":{{"completed":{}}})",
                    it.timeline, it.number, us(began->second), us(now - began->second), track, completed ? 1 : 0));
  began_.erase(began);
}

void Tracepoints::signaled(const Request& it) {
  const std::lock_guard lock(guard_);
  instant("dma_fence_signaled", context_track(it),
          fmt::format(R"("driver":{},"timeline":{},"context":{},"seqno":{},"error":{})", json_quote(it.driver_name()),
                      json_quote(it.timeline_name()), it.timeline, it.number, it.error),
          now_ns());
}

void Tracepoints::retire(const Request& it) {
  const std::lock_guard lock(guard_);
  request("i915_request_retire", context_track(it), it);
}

void Tracepoints::pipe_update_start(uint64_t frame) {
  screen("i915_pipe_update_start", fmt::format(R"("pipe":"A","frame":{})", frame), now_ns());
}
void Tracepoints::update_plane(uint64_t frame, uint32_t width, uint32_t height, uint64_t address) {
  screen("intel_update_plane",
         fmt::format(R"("pipe":"A","frame":{},"dst":"{}x{}+0+0","address":{})", frame, width, height, address),
         now_ns());
}
void Tracepoints::pipe_update_end(uint64_t frame) {
  screen("i915_pipe_update_end", fmt::format(R"("pipe":"A","frame":{})", frame), now_ns());
}
void Tracepoints::vblank(uint64_t sequence, uint64_t when_ns) {
  screen("drm_vblank_event", fmt::format(R"("crtc":0,"seq":{},"time":{})", sequence, when_ns), when_ns);
}
void Tracepoints::event_delivered(uint64_t sequence) {
  screen("drm_vblank_event_delivered", fmt::format(R"("crtc":0,"seq":{})", sequence), now_ns());
}

// ---- tracks

unsigned Tracepoints::engine_track(const Request& it) {
  const spec::EngineModel& engine = it.context->queue().engine();
  const unsigned track = kFirstEngine + static_cast<unsigned>(&engine - model_.engines.data());
  name_track(track, std::string(engine.name));
  return track;
}

unsigned Tracepoints::context_track(const Request& it) {
  const auto [found, is_new] =
      contexts_.try_emplace(it.timeline, kFirstContext + static_cast<unsigned>(contexts_.size()));
  if (is_new) {
    const std::shared_ptr<Context> owner = it.owner.lock();
    name_track(found->second,
               fmt::format("context {} on {}", owner ? owner->number : 0, it.context->queue().engine().name));
  }
  return found->second;
}

void Tracepoints::name_track(unsigned track, const std::string& name) {
  if (!named_.insert(track).second) return;
  file_.add_track_name(track, name);
}

// ---- text

void Tracepoints::request(std::string_view name, unsigned track, const Request& it, const std::string& more) {
  const spec::EngineModel& engine = it.context->queue().engine();
  instant(name, track,
          fmt::format(R"("dev":0,"engine":"{}:{}","ctx":{},"seqno":{}{})", user_class(engine.engine_class),
                      engine.instance, it.timeline, it.number, more),
          now_ns());
}

void Tracepoints::screen(std::string_view name, const std::string& arguments, uint64_t when) {
  const std::lock_guard lock(guard_);
  name_track(kScreen, "pipe A");
  instant(name, kScreen, arguments, when);
}

void Tracepoints::instant(std::string_view name, unsigned track, const std::string& arguments, uint64_t when) {
  write(fmt::format(R"("name":"{}","cat":"i915","ph":"i","s":"t","ts":{},"tid":{},"args":{{{},"device_ns":{}}})", name,
                    us(when), track, arguments, device_ns_ ? device_ns_() : 0));
}

void Tracepoints::write(const std::string& event) {
  file_.add(event);
  if (file_.is_long()) static_cast<void>(file_.flush());
}

void Tracepoints::flush() {
  const std::lock_guard lock(guard_);
  static_cast<void>(file_.flush());
}

}  // namespace halogen::driver
