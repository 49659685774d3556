// What a command streamer needs of the device around it: memory, interrupts, time, other engines, the display. The
// device implements it, once for each engine.
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
    begin,   // page tables of the old context go; PDP registers are restored next
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
  // Graphics memory as a stream of this engine sees it. Ask again for each batch: modes change it.
  virtual memory::AddressSpace& space(memory::Stream stream, memory::TableKind table) = 0;
  // Addresses that no table maps. False where there is nothing.
  virtual bool read_physical(PhysAddr address, std::span<std::byte> into) = 0;
  virtual bool write_physical(PhysAddr address, std::span<const std::byte> from) = 0;
  // The rest of a page of physical memory from `address` on; empty where there is nothing.
  virtual std::span<const std::byte> physical_page(PhysAddr address) = 0;

  // Whether a page of this memory type (View::type_index) takes atomic operations. If not, the attempt is reported to
  // software as a catastrophic error.
  virtual bool takes_atomics(uint8_t type_index) = 0;

  // Page tables: entries as MI_UPDATE_GTT writes them, from `address` on (its page number is the index).
  virtual bool write_entries(memory::TableKind table, GpuVa address, std::span<const uint32_t> dwords) = 0;
  virtual void flush_translations() = 0;
  // Tells every unit that follows the contexts of an engine.
  virtual void on_context_switch(const ContextStep& step) = 0;
  // A translation fault stopped the engine: for good (until reset), or until a page response comes.
  virtual bool hung_by_fault() const = 0;
  virtual bool waits_for_page() const = 0;

  virtual void interrupt(EngineCause cause) = 0;
  virtual void set_interrupt_level(EngineCause cause, bool asserted) = 0;

  // A BLT wrote scan lines of the surface at `base`; lines count from there.
  virtual void on_target_write(GpuVa /*base*/, uint32_t /*first_line*/, uint32_t /*lines*/) {}

  // Threads of the host for work that can be cut up; null: there is only the caller's.
  virtual WorkerPool* pool() { return nullptr; }
  // The programs of the device, for all that runs EU code.
  virtual eu::KernelLibrary& kernels() = 0;

  virtual void signal_semaphore(const SemaphoreSignal& signal) = 0;
  virtual display::Display& display() = 0;

  // Of the device, or of the engine whose command is at work.
  virtual uint64_t time() const = 0;
  // The engine is about to touch something that shows the time: this is its own.
  virtual void set_time(uint64_t nanoseconds) = 0;
};

}  // namespace halogen::engine
