#include "driver/perf/perf.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include <libdrm/i915_drm.h>

#include "base/exhaustion.h"
#include "driver/share/private_descriptor.h"
#include "hw/mi_flow.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMaxAtOnce = 10'000'000;  // maximum step of an idle device, in nanoseconds

}  // namespace

Perf::Perf(Driver& driver, const PerfPaths& paths)
    : driver_(driver),
      unit_(spec::interface_of(driver.model().id).perf ? OaUnit::create(driver.gpu().hardware(), driver.gpu().global())
                                                       : nullptr),
      configs_(ConfigFolder(paths.ids, paths.registers)),
      limits_(paths.limits) {}

Perf::~Perf() {
  stop();
  if (stream_) stream_->close();
}

EngineQueue& Perf::render() const {
  return *driver_.gpu().find(spec::EngineClass::render, 0);
}

std::shared_ptr<EngineContext> Perf::own_context() {
  if (!own_) {
    space_ = std::make_shared<Space>(driver_.gpu());
    if (space_->tables()) own_ = render().make_context(space_->tables());
  }
  return own_;
}

bool Perf::is_open() {
  if (stream_ && is_abandoned(*stream_)) close_stream();
  return stream_ != nullptr;
}

PerfStreamRef Perf::find(int descriptor) const {
  if (!stream_ || key_of(descriptor) != stream_->key()) return nullptr;
  return stream_;
}

// ---- opening

int Perf::open(Driver::Lock& lock, const PerfProperties& properties, const ContextRef& context, uint32_t flags) {
  PerfStream::Parts parts;
  if (const int result = prepare(parts, properties, context); result != 0) return result;
  if (const int result = start_watching(); result != 0) return result;
  Descriptor program_end;
  if (const int result = make_stream(std::move(parts), flags, program_end); result != 0) return result;
  const PerfStreamRef stream = stream_;
  unit_->configure(stream->setup());
  bool configured = false;
  if (!completes([&] { configured = configure(lock, *stream); }) || !configured) {
    if (stream_ == stream) close_stream();
    return -ENOMEM;
  }
  if (stream_ != stream) return -EIO;
  if ((flags & I915_PERF_FLAG_DISABLED) == 0) {
    driver_.catch_up();  // time before the stream makes no reports
    stream->enable();
  }
  render().set_device_register(unit_->control());
  wake();
  return program_end.release();
}

int Perf::prepare(PerfStream::Parts& parts, const PerfProperties& properties, const ContextRef& context) {
  if (is_open()) return -EBUSY;
  if (properties.report_bytes == 0) return -EINVAL;
  parts.setup = {.format = properties.format,
                 .samples = properties.samples,
                 .periodic = properties.periodic,
                 .exponent = properties.exponent};
  parts.report_bytes = properties.report_bytes;
  parts.poll_ns = properties.poll_ns;
  if (context) {
    const auto slot = std::find_if(context->engines.begin(), context->engines.end(), [&](const EngineSlot& each) {
      return each.queue == &render() && each.siblings.size() <= 1 && each.parallel.empty();
    });
    if (slot == context->engines.end()) return -ENODEV;
    parts.context = context;
    parts.on_render = context->on(*slot);
    if (!parts.on_render) return -ENOMEM;
  }
  parts.config = configs_.find(static_cast<uint64_t>(int64_t{properties.config}));
  return parts.config ? 0 : -EINVAL;
}

// Creates the stream with its buffer. The program's descriptor is one end of a socket pair.
int Perf::make_stream(PerfStream::Parts parts, uint32_t flags, Descriptor& program_end) {
  Hardware& hardware = driver_.gpu().hardware();
  std::optional<PinnedMemory> buffer =
      PinnedMemory::create(hardware, driver_.gpu().global(), OaUnit::kBufferBytes, OaUnit::kBufferBytes);
  if (!buffer || !own_context()) return -ENOMEM;
  const int type = SOCK_SEQPACKET | ((flags & I915_PERF_FLAG_FD_CLOEXEC) != 0 ? SOCK_CLOEXEC : 0) |
                   ((flags & I915_PERF_FLAG_FD_NONBLOCK) != 0 ? SOCK_NONBLOCK : 0);
  int ends[2];
  if (socketpair(AF_UNIX, type, 0, ends) != 0) return -errno;
  program_end = Descriptor(ends[0]);
  Descriptor peer(keep_private(ends[1]));
  const std::optional<FileKey> key = key_of(program_end.number());
  if (!peer || !key || fcntl(program_end.number(), F_SETSIG, kStreamMark) != 0) return -EMFILE;
  if (parts.on_render) {
    render().set_measured(*parts.on_render, true);
    parts.only = render().report_id(*parts.on_render);
  }
  stream_ = std::make_shared<PerfStream>(hardware, *unit_, std::move(parts), std::move(*buffer), *key, std::move(peer));
  return 0;
}

// ---- configuration

void Perf::load(CommandWriter& commands, const std::vector<RegisterValue>& values) {
  constexpr uint32_t kDword = ~3u;  // the command has no room for lower bits
  for (const RegisterValue& each : values) commands.load_register(each.offset & kDword, each.value);
}

void Perf::load(CommandWriter& commands, const PerfConfig& config) {
  load(commands, config.mux);
  load(commands, config.boolean);
  load(commands, config.flexible);
}

void Perf::set_for_all(const std::vector<RegisterValue>& values, CommandWriter& commands, Request& request) {
  render().set_context_registers(values);
  render().store_context_registers(values, commands, request.keeps);
  load(commands, values);
}

RequestRef Perf::submit(RequestRef request, std::shared_ptr<EngineContext> context, CommandWriter& commands) {
  commands.add(hw::MI_BATCH_BUFFER_END{});
  commands.pad();
  Hardware& hardware = driver_.gpu().hardware();
  const uint64_t bytes = (commands.dwords().size() * 4 + kPageBytes - 1) / kPageBytes * kPageBytes;
  std::optional<PinnedMemory> batch = PinnedMemory::create(hardware, driver_.gpu().global(), bytes);
  if (!batch) return nullptr;
  uint64_t at = 0;
  for (const uint32_t dword : commands.dwords()) batch->store(std::exchange(at, at + 4), dword);
  request->context = std::move(context);
  request->batch = batch->address();
  request->secure = true;
  request->keeps.push_back(std::make_shared<PinnedMemory>(std::move(*batch)));
  render().add(request);
  if (request->context == own_) quiet_number_ = request->number;
  render().update();
  return request;
}

// Programs the contexts and the metric set, and waits until that is done. Meanwhile no other context is on the engine,
// so the images in memory are complete. False: out of memory.
bool Perf::configure(Driver::Lock& lock, const PerfStream& stream) {
  auto first = std::make_shared<Request>();
  CommandWriter for_all = writer();
  const PerfStream::Parts& parts = stream.parts();
  const std::shared_ptr<EngineContext> measured = parts.on_render;
  set_for_all(unit_->context_values(parts.setup, parts.config.get()), for_all, *first);
  if (!measured) load(for_all, *parts.config);
  RequestRef last = submit(std::move(first), own_, for_all);
  if (last && measured) {
    CommandWriter for_one = writer();
    load(for_one, unit_->measured_values(parts.setup, true));
    load(for_one, *parts.config);
    last = submit(std::make_shared<Request>(), measured, for_one);
  }
  if (!last) return false;
  driver_.wait(
      lock, [&] { return last->done; }, std::nullopt);
  return true;
}

int Perf::change_config(PerfStream& stream, uint64_t id) {
  const PerfConfigRef config = configs_.find(static_cast<uint64_t>(int64_t{static_cast<int>(id)}));
  if (!config) return -EINVAL;
  const PerfConfigRef before = stream.parts().config;
  if (config == before) return static_cast<int>(before->id);
  CommandWriter commands = writer();
  load(commands, *config);
  const std::shared_ptr<EngineContext>& measured = stream.parts().on_render;
  if (!submit(std::make_shared<Request>(), measured ? measured : own_, commands)) return -ENOMEM;
  render().set_context_registers(unit_->context_values(stream.setup(), config.get()));
  stream.set_config(config);
  return static_cast<int>(before->id);
}

void Perf::close_stream() {
  const PerfStreamRef stream = std::exchange(stream_, nullptr);
  stream->disable();
  render().set_device_register(unit_->control());
  static_cast<void>(completes([&] {
    auto request = std::make_shared<Request>();
    CommandWriter for_all = writer();
    set_for_all(unit_->context_values(stream->setup(), nullptr), for_all, *request);
    submit(std::move(request), own_, for_all);
    if (const std::shared_ptr<EngineContext> measured = stream->parts().on_render) {
      CommandWriter for_one = writer();
      load(for_one, unit_->measured_values(stream->setup(), false));
      submit(std::make_shared<Request>(), measured, for_one);
    }
  }));
  render().set_context_registers({});
  if (stream->parts().on_render) render().set_measured(*stream->parts().on_render, false);
  unit_->finish();
  stream->close();
}

// ---- the program's calls

int Perf::read(Driver::Lock& lock, PerfStream& stream, int descriptor, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kMaxBytes = 0x7fff'f000;  // of one read(2)
  if (!stream.is_enabled() || !stream.setup().samples) return -EIO;
  const int flags = fcntl(descriptor, F_GETFL);
  const bool waits = flags >= 0 && (flags & O_NONBLOCK) == 0;
  if (waits && !stream.setup().periodic) return -EIO;
  uint64_t done = 0;
  int result = 0;
  do {
    if (waits) {
      if (const int ended = wait(lock, stream); ended != 0) return ended;
    } else {
      driver_.catch_up();
    }
    result = stream.read(address, std::min(bytes, kMaxBytes), done);
  } while (waits && done == 0 && result == 0);
  if (result != -ENOSPC) stream.clear_readable(descriptor);
  if (done != 0) return static_cast<int>(done);
  return result != 0 ? result : -EAGAIN;
}

// Waits for a report. Returns 0, -EINTR, or -EIO if the stream was disabled.
int Perf::wait(Driver::Lock& lock, PerfStream& stream) {
  const auto is_over = [&] { return !stream.is_enabled() || stream.has_reports(); };
  while (true) {
    driver_.catch_up();  // reports until now, not only those that the thread has seen
    if (is_over()) break;
    if (!driver_.options().host_time && !driver_.gpu().working()) {
      pass_time(stream, kMaxAtOnce);
      if (const int result = driver_.let_others_pass(lock); result != 0) return result;
      continue;
    }
    const auto look_again = Driver::Clock::now() + std::chrono::nanoseconds(std::min(stream.parts().poll_ns, kSecond));
    if (driver_.wait_call(lock, is_over, look_again) == -EINTR) return -EINTR;
  }
  return stream.is_enabled() ? 0 : -EIO;
}

uint64_t Perf::longest_step() const {
  constexpr uint64_t kParts = 4;
  if (!stream_ || !stream_->is_enabled() || !stream_->setup().periodic) return std::numeric_limits<uint64_t>::max();
  return period_of(*stream_) * (OaUnit::kBufferBytes / stream_->parts().report_bytes / kParts);
}

// Returns the time between two reports of the timer in nanoseconds.
uint64_t Perf::period_of(const PerfStream& stream) const {
  const uint64_t ticks = uint64_t{2} << stream.setup().exponent;
  return ticks * kSecond / driver_.model().timestamp_hz + 1;
}

void Perf::pass_time(PerfStream& stream, uint64_t ns) {
  if (driver_.options().host_time) return driver_.catch_up();
  const uint64_t period = period_of(stream);
  while (ns != 0 && stream.is_enabled() && !stream.has_reports() && !driver_.gpu().working()) {
    const uint64_t step = std::min({ns, period, kMaxAtOnce});
    driver_.gpu().work(step);
    ns -= step;
  }
}

int Perf::control(PerfStream& stream, int descriptor, unsigned long request, uint64_t argument) {
  switch (request) {
    case I915_PERF_IOCTL_ENABLE:
      if (stream.is_enabled()) return 0;
      stream.clear();
      driver_.catch_up();
      stream.clear_readable(descriptor);
      stream.enable();
      render().set_device_register(unit_->control());
      wake();
      return 0;
    case I915_PERF_IOCTL_DISABLE:
      driver_.catch_up();
      stream.disable();
      render().set_device_register(unit_->control());
      return 0;
    case I915_PERF_IOCTL_CONFIG:
      return change_config(stream, argument);
    default:
      return -EINVAL;
  }
}

void Perf::after_step() {
  if (!stream_ || !stream_->is_enabled() || !stream_->setup().samples) return;
  EngineQueue& engine = render();
  if (!engine.idle() || engine.last_number() == quiet_number_) return;
  auto request = std::make_shared<Request>();
  request->context = own_;
  request->priority = std::numeric_limits<int>::min();
  engine.add(request);
  quiet_number_ = request->number;
  engine.update();
}

}  // namespace halogen::driver
