// A stream of reports: the buffer that the unit writes, and how reports become records that a program reads. A stream
// for one context skips reports about other contexts, or replaces their context ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/descriptor.h"
#include "driver/gem/context.h"
#include "driver/gem/file_key.h"
#include "driver/hw/global_table.h"
#include "driver/perf/oa_unit.h"
#include "driver/queue/engine_queue.h"

namespace halogen::driver {

class PerfStream {
 public:
  struct Parts {
    OaSetup setup;
    uint32_t report_bytes = 0;
    uint64_t poll_ns = 0;
    PerfConfigRef config;
    ContextRef context;                         // null: all contexts
    std::shared_ptr<EngineContext> on_render;   // the context's state
    std::optional<EngineQueue::ReportId> only;  // the ids of its reports
  };
  // `peer`: the other end of the program's descriptor, whose file is `key`.
  PerfStream(Hardware& hardware, OaUnit& unit, Parts parts, PinnedMemory buffer, FileKey key, Descriptor peer);

  const Parts& parts() const { return parts_; }
  const OaSetup& setup() const { return parts_.setup; }
  FileKey key() const { return key_; }
  int peer() const { return peer_.number(); }
  bool is_enabled() const { return enabled_; }
  bool is_closed() const { return !buffer_; }
  void set_config(PerfConfigRef config) { parts_.config = std::move(config); }

  // Removes the reports of an earlier time from the buffer, which takes milliseconds. enable() does it if it is left.
  void clear();
  void enable();
  void disable();
  // Frees what needs the driver's lock.
  void close();

  // Returns the memory that the unit writes.
  std::span<std::byte> buffer() const { return hardware_.bytes(buffer_->run()); }
  bool has_reports() const;
  // Writes records to the program's memory. Returns why it stopped: 0 (no more reports), -ENOSPC or -EFAULT.
  // `done`: bytes written.
  int read(uint64_t address, uint64_t bytes, uint64_t& done);

  // Make the program's descriptor readable, or no longer readable, for poll(2).
  void set_readable();
  void clear_readable(int descriptor);

 private:
  struct Target {
    uint64_t address;
    uint64_t bytes;
    uint64_t& done;
  };
  int append(Target& target, uint16_t type, const void* report, uint32_t bytes) const;
  int copy_reports(Target& target);
  bool is_shown(uint32_t* report);
  uint64_t tail() const;
  void start();

  Hardware& hardware_;
  OaUnit& unit_;
  Parts parts_;
  std::optional<PinnedMemory> buffer_;
  FileKey key_;
  Descriptor peer_;
  bool enabled_ = false;
  bool used_ = false;      // the buffer may hold reports
  bool readable_ = false;  // as poll(2) sees it
  uint64_t head_ = 0;      // offset of the next report
  uint32_t last_id_ = 0;   // of the report that was copied last
};
using PerfStreamRef = std::shared_ptr<PerfStream>;

}  // namespace halogen::driver
