// Writes the events of requests and of the screen, with the names and arguments of i915's and DRM's tracepoints, to a
// file of trace events. Timestamps are the host's monotonic clock; the device's own time is an argument of each event.
//
// Not traced: signals of fences that do not belong to a request; scan lines of pipe updates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "driver/core/trace_file.h"
#include "driver/queue/request.h"
#include "spec/device_model.h"

namespace halogen::driver {

class Tracepoints {
 public:
  // Creates the file, or appends to it if another process has created it.
  static Result<std::unique_ptr<Tracepoints>> create(const std::string& file, const spec::DeviceModel& model);
  ~Tracepoints() { flush(); }
  Tracepoints(const Tracepoints&) = delete;
  Tracepoints& operator=(const Tracepoints&) = delete;

  void use_clock(std::function<uint64_t()> device_ns) { device_ns_ = std::move(device_ns); }

  // ---- events of a request, in the order in which they occur
  void queue(const Request& request);
  void add(const Request& request);
  void in(const Request& request);                   // the engine starts or resumes it
  void out(const Request& request, bool completed);  // it completed, or was preempted
  void signaled(const Request& request);
  void retire(const Request& request);

  // ---- the screen, pipe A
  void pipe_update_start(uint64_t frame);
  void update_plane(uint64_t frame, uint32_t width, uint32_t height, uint64_t address);
  void pipe_update_end(uint64_t frame);
  void vblank(uint64_t sequence, uint64_t when_ns);
  void event_delivered(uint64_t sequence);  // to a program

  // Writes pending events to the file. Any thread may call it.
  void flush();

 private:
  Tracepoints(std::string file, const spec::DeviceModel& model);
  static uint64_t now_ns();
  unsigned engine_track(const Request& request);
  unsigned context_track(const Request& request);
  void name_track(unsigned track, const std::string& name);
  void instant(std::string_view name, unsigned track, const std::string& arguments, uint64_t when);
  void request(std::string_view name, unsigned track, const Request& request, const std::string& more = {});
  void screen(std::string_view name, const std::string& arguments, uint64_t when);
  void write(const std::string& event);

  const spec::DeviceModel& model_;
  std::function<uint64_t()> device_ns_;
  std::mutex guard_;
  TraceFile file_;
  std::set<unsigned> named_;                         // tracks that have a name
  std::unordered_map<uint64_t, unsigned> contexts_;  // timeline -> track
  std::unordered_map<const Request*, uint64_t> began_;
};

}  // namespace halogen::driver
