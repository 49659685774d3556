// The CPU's view of graphics memory (GMADR): an offset into the BAR is a graphics address, a fence may tile it,
// and the global table maps it. G45 PRM vol. 1b 4.3 to 4.6 (seed 003); Ice Lake PRM vol. 6, graphics memory address
// spaces (seed 001). The CPU can neither read nor write the table's own memory this way, and the first page of
// data stolen memory is not for software. Not modelled: address swizzling by bit 6, which needs memory channels.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/event.h"
#include "base/strong.h"
#include "device/memory_map.h"
#include "memory/address_space.h"
#include "mmio/register_bank.h"
#include "spec/device_model.h"
#include "surface/fence.h"

namespace halogen::device {

// Gets writes through a fence. Lines are relative to the start of its region.
class ApertureWatcher {
 public:
  virtual ~ApertureWatcher() = default;
  virtual void on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) = 0;
};

class Aperture final : public mmio::RegisterHandler {
 public:
  // `space` translates through the global table, enabled or not.
  Aperture(const spec::DeviceModel& model, mmio::RegisterBank& bank, const MemoryMap& map, memory::AddressSpace& space,
           EventSink& events, std::string path);

  // Access ranges of any length. Unmapped pages read zero. False: the disabled table refuses the write.
  void read(GgttOffset address, std::span<std::byte> into);
  bool write(GgttOffset address, std::span<const std::byte> from);

  void set_watcher(ApertureWatcher* watcher) { watcher_ = watcher; }
  void set_writable(bool enabled) { writable_ = enabled; }
  // Drops all cached information about pages, because the table has changed.
  void forget() { known_page_ = kNoPage; }
  void refresh();  // loads the fences from the register bank

  const surface::FenceSet& fences() const { return fences_; }
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  static constexpr uint64_t kNoPage = ~uint64_t{0};

  void load_fence(const mmio::RegisterSlot& slot, EventSink* events);
  // The address behind the fence, and the number of contiguous bytes from there on.
  struct Part {
    GpuVa address;
    uint64_t bytes;
  };
  Part part_at(GgttOffset address, uint64_t bytes) const;
  bool closed(GpuVa address, memory::Direction direction);
  void tell_watcher(GgttOffset address, uint64_t bytes) const;

  mmio::RegisterBank& bank_;
  const MemoryMap& map_;
  memory::AddressSpace& space_;
  EventSink& events_;
  std::string path_;
  surface::FenceSet fences_;
  std::string_view fence_register_;
  ApertureWatcher* watcher_ = nullptr;
  bool writable_ = true;
  uint64_t known_page_ = kNoPage;  // the page that closed() checked last
  bool known_closed_ = false;
};

}  // namespace halogen::device
