// The memory behind physical addresses: the host's and the device's own. Integrated parts have a stolen range in system
// memory: the global table's memory (GSM) and data stolen memory (DSM) above it. If firmware placed no range, GSM lies
// at the end of the address range. Discrete parts have the same areas in local memory. Stolen memory hides the host's
// memory at its addresses: the CPU reaches DSM only through the aperture and GSM only through its alias (Ice Lake
// PRM vol. 6, graphics memory address spaces, seed 001). Not modelled: protection of WOPCM.
#pragma once

#include <cstdint>
#include <deque>

#include "device/firmware.h"
#include "device/host.h"
#include "device/own_frames.h"
#include "memory/physical_memory.h"
#include "spec/device_model.h"

namespace halogen::device {

// The host's memory as a source of frames, without copies.
class HostFrames final : public memory::FrameSource {
 public:
  explicit HostFrames(Host& host) : host_(host) {}
  std::byte* frame(uint64_t number) override {
    const std::span<std::byte> bytes = host_.map_memory(PhysAddr(number << memory::kFrameBits), memory::kFrameBytes);
    return bytes.size() >= memory::kFrameBytes ? bytes.data() : nullptr;
  }
  // Returns the largest aligned block around the frame that is one piece of host memory.
  Piece piece(uint64_t number) override {
    for (const unsigned bits : {32u, 30u, 27u, 24u, 21u, memory::kFrameBits}) {
      const uint64_t first = number >> (bits - memory::kFrameBits) << (bits - memory::kFrameBits);
      const std::span<std::byte> bytes = host_.map_memory(PhysAddr(first << memory::kFrameBits), uint64_t{1} << bits);
      if (bytes.size() == uint64_t{1} << bits) {
        return {first, bytes};
      }
    }
    return {};
  }

 private:
  Host& host_;
};

class MemoryMap {
 public:
  MemoryMap(const spec::DeviceModel& model, const MemoryLayout& layout, uint64_t local_bytes, Host& host);
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  const memory::PhysicalMemory& physical() const { return physical_; }
  void revoke() { physical_.revoke(); }  // drops host addresses (Device::revoke_memory)
  OwnFrames& own() { return own_; }      // local memory, or the stolen range from GSM up
  const OwnFrames& own() const { return own_; }

  // Return the areas of `layout`.
  memory::MemorySpace stolen_space() const { return space_; }
  bool holds_table(memory::MemorySpace space, uint64_t address) const;       // GSM
  bool is_hardware_page(memory::MemorySpace space, uint64_t address) const;  // first page of DSM, from Gen8 on
  bool is_stolen(memory::MemorySpace space, uint64_t address) const;         // GSM or DSM

 private:
  void add_own(memory::MemoryKind kind, uint64_t first, uint64_t bytes, uint64_t own_first);

  MemoryLayout layout_;
  memory::MemorySpace space_;
  bool has_hardware_page_;
  HostFrames host_frames_;
  OwnFrames own_;
  std::deque<FrameSlice> slices_;  // a deque keeps addresses
  memory::PhysicalMemory physical_;
};

}  // namespace halogen::device
