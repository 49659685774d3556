// A driver with the calls of performance counters. Numbers and layouts are those of Linux (i915_drm.h, i915_perf.c).
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "driver/perf/perf.h"
#include "unit/driver/door.h"

namespace halogen::driver {

constexpr char kUuid[] = "01234567-89ab-cdef-0123-456789abcdef";
constexpr char kOtherUuid[] = "fedcba98-7654-3210-fedc-ba9876543210";
constexpr uint64_t kFormat = I915_OA_FORMAT_A32u40_A4u32_B8_C8;
constexpr size_t kReportBytes = 256;
constexpr size_t kRecordBytes = 8 + kReportBytes;

using Properties = std::vector<std::pair<uint64_t, uint64_t>>;
using Pairs = std::vector<std::array<uint32_t, 2>>;

class PerfDoor : public Door {
 protected:
  void SetUp() override { boot_privileged(); }
  void boot_privileged() {
    DriverOptions options;
    options.privileged = true;
    boot(options);
  }
  bool counts_apart() const { return is("tgl") || is("dg1"); }
  bool has_perf() const { return counts_apart() || is("bdw") || is("chv") || is("skl") || is("icl"); }

  // A register that a metric set may write as a mux, a boolean or a flexible one.
  uint32_t mux() const { return 0x9888; }
  uint32_t boolean() const { return counts_apart() ? 0xd900 : 0x2710; }

  int add(const std::string& uuid, const Pairs& mux, const Pairs& boolean = {}, const Pairs& flexible = {}) {
    drm_i915_perf_oa_config config{};
    std::memcpy(config.uuid, uuid.data(), std::min(uuid.size(), sizeof config.uuid));
    config.n_mux_regs = static_cast<uint32_t>(mux.size());
    config.mux_regs_ptr = reinterpret_cast<uintptr_t>(mux.data());
    config.n_boolean_regs = static_cast<uint32_t>(boolean.size());
    config.boolean_regs_ptr = reinterpret_cast<uintptr_t>(boolean.data());
    config.n_flex_regs = static_cast<uint32_t>(flexible.size());
    config.flex_regs_ptr = reinterpret_cast<uintptr_t>(flexible.data());
    return call(DRM_IOCTL_I915_PERF_ADD_CONFIG, config);
  }
  int add_any() { return add(kUuid, {{mux(), 1}}); }
  int remove(uint64_t id) { return call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, id); }

  int open_with(Properties properties, uint32_t flags = I915_PERF_FLAG_FD_NONBLOCK) {
    drm_i915_perf_open_param open{};
    open.flags = flags;
    open.num_properties = static_cast<uint32_t>(properties.size());
    open.properties_ptr = reinterpret_cast<uintptr_t>(properties.data());
    return call(DRM_IOCTL_I915_PERF_OPEN, open);
  }
  // The properties of a stream that samples everything. A timer that is rare does not disturb tests.
  static Properties usual(int config) {
    return {{DRM_I915_PERF_PROP_SAMPLE_OA, 1},
            {DRM_I915_PERF_PROP_OA_METRICS_SET, static_cast<uint64_t>(config)},
            {DRM_I915_PERF_PROP_OA_FORMAT, kFormat},
            {DRM_I915_PERF_PROP_OA_EXPONENT, 31}};
  }
  static Properties with(Properties properties, uint64_t name, uint64_t value) {
    std::erase_if(properties, [&](const auto& each) { return each.first == name; });
    properties.emplace_back(name, value);
    return properties;
  }
  int control(int stream, unsigned long request, uint64_t argument = 0) {
    return driver->descriptor_ioctl(stream, request, argument).value_or(-ENOTTY);
  }
  template <class Bytes>
  int read(int stream, Bytes& bytes) {
    return driver->read_stream(stream, reinterpret_cast<uintptr_t>(bytes.data()), bytes.size());
  }
  static bool polls(int stream, int milliseconds) {
    pollfd list{.fd = stream, .events = POLLIN, .revents = 0};
    return poll(&list, 1, milliseconds) == 1 && (list.revents & POLLIN) != 0;
  }
  uint32_t make_context() {
    drm_i915_gem_context_create create{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, create), 0);
    return create.ctx_id;
  }

  // Adds reports to the buffer as the unit does. Each has these two words: reason with flags, and context.
  void write_reports(int stream, const std::vector<std::pair<uint32_t, uint32_t>>& reports) {
    driver->with_lock([&] {
      const PerfStreamRef found = driver->perf().find(stream);
      ASSERT_TRUE(found);
      Hardware& hardware = driver->gpu().hardware();
      const uint32_t tail_at = counts_apart() ? 0xdb04 : 0x2b10, base_at = counts_apart() ? 0xdb08 : 0x2b14;
      const uint32_t base = hardware.read(base_at) & 0xff00'0000;
      uint32_t tail = hardware.read(tail_at) & ~63u;
      for (const auto& [reason, context] : reports) {
        std::array<uint32_t, kReportBytes / 4> report{};
        report[0] = reason;
        report[1] = ++timestamp_;
        report[2] = context;
        std::memcpy(found->buffer().data() + (tail - base), report.data(), sizeof report);
        tail = base + (tail - base + kReportBytes) % (16u << 20);
      }
      hardware.write(tail_at, tail);
    });
  }
  void write_status(uint32_t bits) {
    driver->with_lock([&] { driver->gpu().hardware().write(counts_apart() ? 0xdafc : 0x2b08, bits); });
  }
  uint32_t register_at(uint32_t offset) {
    uint32_t value = 0;
    driver->with_lock([&] { value = driver->gpu().hardware().read(offset); });
    return value;
  }
  uint32_t timer() const { return 1u << 19; }
  uint32_t context_switch() const { return 1u << 22; }
  uint32_t valid() const { return is("bdw") || is("chv") ? 1u << 25 : 1u << 16; }
  // The number of the measured context in Linux.
  uint32_t measured_id() const { return is("bdw") || is("chv") || is("skl") ? 0x1f'ffff : 0xffc0; }

  struct Record {
    uint32_t type;
    uint32_t context;
    uint32_t timestamp;
    bool operator==(const Record&) const = default;
  };
  // Reads everything.
  std::vector<Record> records(int stream, size_t room = 64 * kRecordBytes) {
    std::vector<std::byte> bytes(room);
    const int got = read(stream, bytes);
    std::vector<Record> all;
    for (int at = 0; at < got;) {
      drm_i915_perf_record_header header;
      std::memcpy(&header, bytes.data() + at, sizeof header);
      uint32_t words[3]{};
      if (header.size > sizeof header) std::memcpy(words, bytes.data() + at + sizeof header, sizeof words);
      all.push_back({header.type, words[2], words[1]});
      at += header.size;
    }
    return all;
  }

 private:
  uint32_t timestamp_ = 0;
};

inline std::vector<std::string> chips_with_perf() {
  return {"bdw", "chv", "skl", "icl", "tgl", "dg1"};
}

}  // namespace halogen::driver
