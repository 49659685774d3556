#include "driver/core/tracepoints.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "base/json.h"
#include "driver/gem/context.h"
#include "driver/hw/gpu.h"

namespace halogen::driver {
namespace {

constexpr std::string_view kTail = "\n]}\n";
constexpr std::string_view kHead = kEmptyEvents.substr(0, kEmptyEvents.size() - kTail.size());
constexpr size_t kTogether = size_t{64} * 1024;  // bytes of text that are gathered before a write

// Track numbers: engines, the screen, contexts.
constexpr unsigned kFirstEngine = 1, kScreen = 99, kFirstContext = 100;

std::string us(uint64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

bool write_all(int descriptor, std::string_view text, uint64_t at) {
  while (!text.empty()) {
    const ssize_t part = pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(at));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    text.remove_prefix(static_cast<size_t>(part));
    at += static_cast<uint64_t>(part);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<Tracepoints>> Tracepoints::create(const std::string& file, const spec::DeviceModel& model) {
  std::unique_ptr<Tracepoints> made(new Tracepoints(file, model));
  const std::string name = fmt::format("{} ({})", program_invocation_short_name, model.name);
  const std::lock_guard lock(made->guard_);
  made->write(fmt::format(R"("name":"process_name","ph":"M","tid":0,"args":{{"name":{}}})", json_quote(name)));
  if (const Result<void> done = made->flush_locked(); !done) return done.error();
  return made;
}

Tracepoints::Tracepoints(std::string file, const spec::DeviceModel& model) : file_(std::move(file)), model_(model) {}

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
  write(fmt::format(R"("name":"thread_name","ph":"M","tid":{},"args":{{"name":{}}})", track, json_quote(name)));
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
  text_ += fmt::format("\n{{\"pid\":{},{}}},", getpid(), event);
  if (text_.size() > kTogether) static_cast<void>(flush_locked());
}

void Tracepoints::flush() {
  const std::lock_guard lock(guard_);
  static_cast<void>(flush_locked());
}

// Inserts events before the end of the list, which another process may have written.
Result<void> Tracepoints::flush_locked() {
  if (text_.empty()) return {};
  std::string text = std::exchange(text_, {});
  text.pop_back();  // the last comma
  const int descriptor = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return Error{fmt::format("{}: {}", file_, std::strerror(errno))};
  // The lock belongs to this process, so a child does not inherit it, and it ends with the process.
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  while (fcntl(descriptor, F_SETLKW, &whole_file) != 0 && errno == EINTR) {
  }
  struct stat info {};
  fstat(descriptor, &info);
  const auto size = static_cast<uint64_t>(info.st_size);
  const bool begun = size >= kHead.size() + kTail.size();
  const uint64_t at = begun ? size - kTail.size() : 0;
  const std::string whole = std::string(!begun ? kHead : at == kHead.size() ? "" : ",") + text + std::string(kTail);
  const bool done = write_all(descriptor, whole, at);
  const int error = errno;
  if (!done && ftruncate(descriptor, info.st_size) == 0 && begun) write_all(descriptor, kTail, at);
  close(descriptor);  // releases the lock
  if (!done) return Error{fmt::format("{}: {}", file_, std::strerror(error))};
  return {};
}

}  // namespace halogen::driver
