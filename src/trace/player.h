// Plays an AUB trace on a device: registers, page tables and memory are written as the records say, submissions run to
// their end, polls and comparisons are checked.
//
// Left out so far: classic blocks (before Gen8), addresses through a context's tables, dumps, CRC comparisons; each is
// counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "memory/page_format.h"
#include "trace/aub_records.h"
#include "trace/ggtt_objects.h"
#include "trace/trace_host.h"

namespace halogen::trace {

struct PlayCounts {
  uint64_t records = 0;
  uint64_t register_writes = 0;
  uint64_t memory_writes = 0;
  uint64_t checks = 0;         // polls and comparisons
  uint64_t failed_checks = 0;  // that did not hold
  uint64_t skipped = 0;        // records of a kind that is left out
};

class Player final : public aub::Visitor {
 public:
  // Null: the device that the trace names.
  explicit Player(const spec::DeviceModel* model = nullptr, EventSink* events = nullptr);

  void on(const aub::Place& place, const aub::Record& record) override;

  // Why the trace cannot be played; empty: it can.
  const std::string& failure() const { return failure_; }
  const PlayCounts& counts() const { return counts_; }
  Device* device() { return device_.get(); }
  TraceHost& host() { return host_; }

  // A page of memory as the trace sees it.
  void read(aub::MemorySpace space, uint64_t address, std::span<std::byte> into);

 private:
  struct Handler;

  void choose(const spec::DeviceModel* model, std::string_view what);
  void store(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data);
  void store_global_entries(uint64_t offset, std::span<const std::byte> data);
  uint64_t read_register(aub::RegisterSpace space, uint32_t offset, uint8_t size_code);
  void check(bool held);

  const spec::DeviceModel* model_;
  TraceHost host_;
  std::unique_ptr<Device> device_;
  std::optional<PageFormats> formats_;
  std::optional<GgttObjects> objects_;
  uint64_t object_base_ = 0;  // where in local memory the pages behind the global table go
  std::string failure_;
  PlayCounts counts_;
};

}  // namespace halogen::trace
