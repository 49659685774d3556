// The properties of a chip that the i915 driver of Linux 6.1 reports, as data from spec/devices.toml. They are choices
// that do not follow from the hardware alone.
#pragma once

#include <cstdint>
#include <span>

#include "spec/generation_ids.h"

namespace halogen::spec {

struct InterfaceModel {
  // Dimensions of topology reports: those of the largest chip of the family. 0 slices: no report.
  uint8_t slices;
  uint8_t subslices;
  uint8_t eus;
  uint8_t fences;             // for tiled views through the aperture
  uint8_t command_parser;     // version; 0: none
  uint8_t huc_error;          // errno for the missing HuC firmware
  uint8_t address_bits;       // of a context's address space
  uint8_t secure_error;       // errno for a secure batch of an unprivileged program
  uint16_t fence_stride_kib;  // largest stride of a tiled view
  uint8_t physical_swizzle;   // reported swizzle of memory (I915_BIT_6_SWIZZLE_*)
  uint8_t relocation_bits;    // width of the addresses that relocations write
  uint16_t max_framebuffer;   // largest width and height of a frame buffer
  uint8_t process_tables;     // I915_GEM_PPGTT_*; 0: none, 1: one beside the global table, 2: each context has its own
  bool llc;                   // CPU and GPU share the last-level cache
  bool snoop;                 // the GPU can snoop the CPU caches
  bool coherent_aperture;     // writes through the aperture need no flush
  bool engine_reset;          // single engines can be reset
  bool read_only_pages;       // for USERPTR
  bool sseu_control;          // programs may power a part of the slices
  bool bonds;                 // engines may be bonded
  bool preemption;            // on every engine
  bool secure_batches;        // for privileged programs
  bool processor_copies;      // PREAD, PWRITE, MMAP and relocations exist
  bool perf;                  // streams of performance counters can be opened
  bool async_flips;           // page flips may be asynchronous
  // Events that the PMU offers beside busy and waiting engines, interrupts and the time awake.
  bool semaphore_events;      // engines wait for semaphores
  bool frequency_events;      // the requested frequency
  bool actual_frequency;      // and the actual one
  bool rc6_events;            // the time in power state RC6
  bool client_times;          // fdinfo shows the times of a client on the engines
  bool discrete;              // the chip is a card behind a bridge, so names of files and of the PMU hold its slot
  bool cache_calls;           // programs may set domains and caching of buffers (SET_DOMAIN, SET_CACHING, GET_CACHING)
  bool caching_by_placement;  // the memory of a buffer decides the caching of mappings (I915_MMAP_OFFSET_FIXED)
  bool captures_in_recoverable;     // EXEC_OBJECT_CAPTURE works in contexts that are recovered after a hang
  bool managed_buffers;             // a memory manager owns pages: each buffer has address space to be mapped at, and
                                    // mapping alone does not attach pages
  bool local_framebuffers;          // frame buffers lie in the device's own memory
  std::span<const int8_t> engines;  // capabilities of each engine of the device model; negative: not offered

  // Returns whether each context has an address space of its own. Else all contexts share one.
  constexpr bool has_own_spaces() const { return process_tables == 2; }
};

const InterfaceModel& interface_of(DeviceId id);

}  // namespace halogen::spec
