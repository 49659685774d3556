// The services of the device that a command streamer uses: memory, interrupts, time, other engines, the display. The
// device implements them once per engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/event.h"
#include "base/stop_flag.h"
#include "base/strong.h"
#include "base/worker_pool.h"
#include "gen/interrupt_cause.h"
#include "memory/address_space.h"
#include "memory/memory_clients.h"
#include "oa/report.h"
#include "oa/work_counts.h"

namespace halogen::display {
class Display;
}
namespace halogen::eu {
class KernelLibrary;
}
namespace halogen::message {
class StateWatch;
}
namespace halogen::surface {
struct Fence;
}

namespace halogen::engine {

// A step of a context switch. Only contexts that are submitted with a descriptor take these steps.
struct ContextStep {
  enum class Kind : uint8_t {
    begin,   // the page tables of the old context are dropped; PDP registers are restored next
    launch,  // the new context uses its tables
    rename,  // the same context continues with a new descriptor
    idle,    // the old context has left and no other one follows
  };
  Kind kind = Kind::begin;
  uint64_t descriptor = 0;  // of the new context; 0 for `idle`
  uint64_t time_ns = 0;     // time of the engine
};

// A signal of MI_SEMAPHORE_SIGNAL to another engine.
struct SemaphoreSignal {
  spec::EngineClass engine_class{};
  uint8_t instance = 0;
  uint32_t context_id = 0;
};

// Events are forwarded to the host.
class Services : public EventSink {
 public:
  // Returns graphics memory as a stream of this engine sees it. Callers must not keep the reference, because a write to
  // a mode register may select another table.
  virtual memory::AddressSpace& space(memory::Stream stream, memory::TableKind table) = 0;
  // Read and write physical addresses directly. False: no memory at the address.
  virtual bool read_physical(PhysAddr address, std::span<std::byte> into) = 0;
  virtual bool write_physical(PhysAddr address, std::span<const std::byte> from) = 0;
  // Returns the rest of a page of physical memory from `address` on. Empty: no memory at the address.
  virtual std::span<const std::byte> physical_page(PhysAddr address) = 0;

  // Returns whether a page of this memory type (View::type_index) supports atomic operations. If it does not, a
  // catastrophic error is reported to software.
  virtual bool takes_atomics(uint8_t type_index) = 0;

  // Writes page table entries as MI_UPDATE_GTT does, from `address` on (its page number is the index).
  virtual bool write_entries(memory::TableKind table, GpuVa address, std::span<const uint32_t> dwords) = 0;
  virtual void flush_translations() = 0;
  // Notifies every unit that tracks the contexts of an engine.
  virtual void on_context_switch(const ContextStep& step) = 0;

  virtual void interrupt(EngineCause cause) = 0;
  virtual void set_interrupt_level(EngineCause cause, bool asserted) = 0;

  // Reports that a BLT wrote scan lines of the surface at `base`. Lines are counted from there.
  virtual void on_target_write(GpuVa /*base*/, uint32_t /*first_line*/, uint32_t /*lines*/) {}

  // Returns which counts the performance counters need. Back ends call it before each part of a draw or dispatch.
  virtual oa::CountsWanted counts_wanted() const { return {}; }
  // Delivers the counts of a part, after the engine's time has moved to its end.
  virtual void report_work(const oa::WorkSpan& /*span*/) {}
  // Reports how the engine used its time until now.
  virtual void report_time(const oa::TimeSpan& /*span*/) {}
  // Writes the report of MI_REPORT_PERF_COUNT and returns its dwords. 0: the device has no observation unit.
  virtual size_t counter_report(const oa::CommandReport& /*command*/,
                                std::span<uint32_t, oa::kMaxReportDwords> /*into*/) {
    return 0;
  }

  // Returns what checks the uses of surfaces with compression state. Null: they are not checked.
  virtual message::StateWatch* state_watch() { return nullptr; }
  // Returns host threads for work that can be divided. Null: use only the caller's thread.
  virtual WorkerPool* pool() { return nullptr; }
  // Returns the flag that long work polls.
  virtual const StopFlag& stop() const = 0;
  // Returns the kernel library of the device, which all units that run EU code share.
  virtual eu::KernelLibrary& kernels() = 0;

  virtual void signal_semaphore(const SemaphoreSignal& signal) = 0;
  virtual display::Display& display() = 0;
  // Returns the fence of the aperture that overlaps a range of the global table, or null.
  virtual const surface::Fence* fence_meeting(GgttOffset /*first*/, GgttOffset /*last*/) { return nullptr; }

  // Returns the device's time, or the engine's time while a command of that engine runs.
  virtual uint64_t time() const = 0;
  // Sets the device's time to the engine's own. Called before an access that can show the time.
  virtual void set_time(uint64_t nanoseconds) = 0;
};

}  // namespace halogen::engine
