#include "driver/perf/perf_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <libdrm/i915_drm.h>

#include "driver/gem/user_memory.h"
#include "gen/perf_rules.h"
#include "hw/oa_report.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kNoContext = ~0u;  // replaces the id of a context that the program must not know
constexpr size_t kLargestReport = 256;
constexpr size_t kIdAt = 2;  // dword of the context id

bool is_of_context(const hw::OA_REPORT_ID& id) {
  return id.context_valid || id.context_valid_gen9;
}

}  // namespace

PerfStream::PerfStream(Hardware& hardware, OaUnit& unit, Parts parts, PinnedMemory buffer, FileKey key, Descriptor peer)
    : hardware_(hardware),
      unit_(unit),
      parts_(std::move(parts)),
      buffer_(std::move(buffer)),
      key_(key),
      peer_(std::move(peer)) {}

void PerfStream::clear() {
  if (!used_ || enabled_ || !buffer_) return;
  const std::span<std::byte> bytes = buffer();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  used_ = false;
}

void PerfStream::start() {
  clear();
  used_ = true;
  head_ = 0;
  last_id_ = kNoContext;
  unit_.enable(parts_.setup, buffer_->address());
}

void PerfStream::enable() {
  if (enabled_ || !buffer_) return;
  start();
  enabled_ = true;
}

void PerfStream::disable() {
  if (!enabled_) return;
  enabled_ = false;
  unit_.disable();
}

void PerfStream::close() {
  disable();
  buffer_.reset();
  parts_.config = nullptr;
  parts_.context = nullptr;
  parts_.on_render = nullptr;
}

// Returns the offset behind the last whole report.
uint64_t PerfStream::tail() const {
  const uint64_t tail = (unit_.tail() - buffer_->address()) % OaUnit::kBufferBytes;
  return tail - tail % parts_.report_bytes;
}

// Returns whether there are reports to read. In a full buffer tail and head are equal, so the overflow bit is tested
// too.
bool PerfStream::has_reports() const {
  return enabled_ && (tail() != head_ || unit_.losses().overflow);
}

int PerfStream::append(Target& target, uint16_t type, const void* report, uint32_t bytes) const {
  std::array<std::byte, sizeof(drm_i915_perf_record_header) + kLargestReport> record;
  const uint32_t all = sizeof(drm_i915_perf_record_header) + bytes;
  if (target.bytes - target.done < all) return -ENOSPC;
  const drm_i915_perf_record_header header{.type = type, .pad = 0, .size = static_cast<uint16_t>(all)};
  std::memcpy(record.data(), &header, sizeof header);
  if (bytes != 0) std::memcpy(record.data() + sizeof header, report, bytes);
  if (!write_user(target.address + target.done, record.data(), all)) return -EFAULT;
  target.done += all;
  return 0;
}

int PerfStream::read(uint64_t address, uint64_t bytes, uint64_t& done) {
  Target target{address, bytes, done};
  OaUnit::Losses losses = unit_.losses();
  if (losses.overflow) {
    if (const int result = append(target, DRM_I915_PERF_RECORD_OA_BUFFER_LOST, nullptr, 0); result != 0) return result;
    disable();
    enable();
    losses = unit_.losses();
  }
  if (losses.lost) {
    if (const int result = append(target, DRM_I915_PERF_RECORD_OA_REPORT_LOST, nullptr, 0); result != 0) return result;
    unit_.clear_lost();
  }
  return copy_reports(target);
}

// Returns whether the program gets a report, by the rules of i915. Replaces the context ids that it must not know.
bool PerfStream::is_shown(uint32_t* report) {
  const auto why = hw::OA_REPORT_ID::unpack(hardware_.model().gen, std::span(report, 1));
  uint32_t id = parts_.only ? report[kIdAt] & parts_.only->mask : report[kIdAt];
  if (!is_of_context(why) && perf_rules(hardware_.model().id).hides_idle) id = report[kIdAt] = kNoContext;
  if (!parts_.only) {
    last_id_ = id;
    return true;
  }
  const bool is_ours = id == parts_.only->id;
  if (!is_ours && last_id_ != parts_.only->id && !why.context_switch) return false;
  if (!is_ours) report[kIdAt] = kNoContext;
  last_id_ = id;
  return true;
}

int PerfStream::copy_reports(Target& target) {
  const std::span<std::byte> reports = buffer();
  const uint64_t end = tail();
  const uint64_t before = target.done;
  int result = 0;
  while (head_ != end) {
    std::array<uint32_t, kLargestReport / 4> report;
    std::byte* const stored = reports.data() + head_;
    std::memcpy(report.data(), stored, parts_.report_bytes);
    const uint32_t last_id = last_id_;
    if (is_shown(report.data())) {
      result = append(target, DRM_I915_PERF_RECORD_SAMPLE, report.data(), parts_.report_bytes);
      if (result != 0) {
        last_id_ = last_id;
        break;
      }
    }
    std::memset(stored, 0, 2 * sizeof(uint32_t));
    head_ = (head_ + parts_.report_bytes) % OaUnit::kBufferBytes;
  }
  // The unit's head moves only if the program got a record.
  if (target.done != before) unit_.set_head(static_cast<uint32_t>(buffer_->address() + head_));
  return result;
}

void PerfStream::set_readable() {
  if (readable_) return;
  const char any = 0;
  readable_ = send(peer_.number(), &any, sizeof any, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof any;
}

void PerfStream::clear_readable(int descriptor) {
  if (!readable_) return;
  char any = 0;
  while (recv(descriptor, &any, sizeof any, MSG_DONTWAIT) > 0) {
  }
  readable_ = false;
}

}  // namespace halogen::driver
