// What the i915 driver of Linux 6.1 tells programs of a chip, as data from spec/devices.toml: its choices, which the
// hardware alone does not give.
#pragma once

#include <cstdint>
#include <span>

#include "spec/generation_ids.h"

namespace halogen::spec {

struct InterfaceModel {
  // The frame of topology reports: as many of each as the largest chip of the family has. No slices: no report.
  uint8_t slices;
  uint8_t subslices;
  uint8_t eus;
  uint8_t fences;                   // for tiled views through the aperture
  uint8_t command_parser;           // version; 0: none
  uint8_t huc_error;                // why there is no HuC firmware: an errno
  uint8_t address_bits;             // of a context's addresses
  uint8_t secure_error;             // what a program without rights is told that wants a secure batch: an errno
  uint16_t fence_stride_kib;        // the longest that a tiled view can have
  uint8_t physical_swizzle;         // how memory is said to be swizzled, by I915_BIT_6_SWIZZLE_*
  uint8_t relocation_bits;          // width of the addresses that relocations write
  uint16_t max_framebuffer;         // largest width and height of a frame buffer
  bool llc;                         // the processor's last cache is shared
  bool snoop;                       // the chip can look into the processor's caches
  bool coherent_aperture;           // writes through the aperture need no flush
  bool engine_reset;                // single engines can be reset
  bool read_only_pages;             // of programs
  bool sseu_control;                // programs may power a part of the slices
  bool bonds;                       // engines may be bonded
  bool preemption;                  // on every engine
  bool secure_batches;              // of those who may
  bool processor_copies;            // PREAD, PWRITE, MMAP and relocations are still there
  bool perf;                        // streams of performance counters can be asked for
  bool async_flips;                 // page flips may be asynchronous
  std::span<const int8_t> engines;  // capabilities of each engine of the device model; negative: not offered
};

const InterfaceModel& interface_of(DeviceId id);

}  // namespace halogen::spec
