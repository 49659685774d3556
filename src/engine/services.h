// The services of the device that a command streamer uses: memory, interrupts, time, other engines, the display. The
// device implements them once per engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/event.h"
#include "base/strong.h"
#include "base/worker_pool.h"
#include "gen/interrupt_cause.h"
#include "memory/address_space.h"
#include "memory/memory_clients.h"

namespace halogen::display {
class Display;
}
namespace halogen::eu {
class KernelLibrary;
}

namespace halogen::engine {

// A step of a context switch. Only contexts that are submitted with a descriptor take these steps.
struct ContextStep {
  enum class Kind : uint8_t {
    begin,   // the page tables of the old context are dropped; PDP registers are restored next
    launch,  // the new context uses its tables
    idle,    // the old context has left and no other one follows
  };
  Kind kind = Kind::begin;
  uint64_t descriptor = 0;  // of the new context; zero when idle
  uint64_t time_ns = 0;     // of the engine
};

// MI_SEMAPHORE_SIGNAL, on its way to another engine.
struct SemaphoreSignal {
  spec::EngineClass engine_class{};
  uint8_t instance = 0;
  uint32_t context_id = 0;
};

// Events go to the host.
class Services : public EventSink {
 public:
  // Returns graphics memory as a stream of this engine sees it. Valid for one batch: modes change it.
  virtual memory::AddressSpace& space(memory::Stream stream, memory::TableKind table) = 0;
  // Access addresses that no table maps. False: no memory is there.
  virtual bool read_physical(PhysAddr address, std::span<std::byte> into) = 0;
  virtual bool write_physical(PhysAddr address, std::span<const std::byte> from) = 0;
  // Returns the rest of a page of physical memory from `address` on. Empty: no memory is there.
  virtual std::span<const std::byte> physical_page(PhysAddr address) = 0;

  // Returns whether a page of this memory type (View::type_index) takes atomic operations. If not, software is told of
  // a catastrophic error.
  virtual bool takes_atomics(uint8_t type_index) = 0;

  // Writes page table entries as MI_UPDATE_GTT does, from `address` on (its page number is the index).
  virtual bool write_entries(memory::TableKind table, GpuVa address, std::span<const uint32_t> dwords) = 0;
  virtual void flush_translations() = 0;
  // Tells every unit that follows the contexts of an engine.
  virtual void on_context_switch(const ContextStep& step) = 0;

  virtual void interrupt(EngineCause cause) = 0;
  virtual void set_interrupt_level(EngineCause cause, bool asserted) = 0;

  // A BLT wrote scan lines of the surface at `base`; lines count from there.
  virtual void on_target_write(GpuVa /*base*/, uint32_t /*first_line*/, uint32_t /*lines*/) {}

  // Host threads for work that can be divided. Null: only the caller's.
  virtual WorkerPool* pool() { return nullptr; }
  // The programs of the device, for every unit that runs EU code.
  virtual eu::KernelLibrary& kernels() = 0;

  virtual void signal_semaphore(const SemaphoreSignal& signal) = 0;
  virtual display::Display& display() = 0;

  // Returns the time of the device, or that of the engine whose command runs.
  virtual uint64_t time() const = 0;
  // Sets the device's time to the engine's own before an access that can show the time.
  virtual void set_time(uint64_t nanoseconds) = 0;
};

}  // namespace halogen::engine
