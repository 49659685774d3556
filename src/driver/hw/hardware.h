// The device on its bus: found through configuration space, woken, and accessed through its BARs and memory. The lowest
// layer of the driver; all layers above use only this interface.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "driver/hw/driver_host.h"
#include "driver/hw/page_allocator.h"
#include "gen/generation.h"
#include "spec/interface_model.h"
#include "spec/pci.h"

namespace halogen::driver {

// Contiguous pages.
struct PageRun {
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool local = false;
  bool read_only = false;
};

struct HardwareOptions {
  uint64_t memory_bytes = uint64_t{4} << 30;
  EventSink* events = nullptr;
  HardwareListener* listener = nullptr;  // called from the first access on
  device::DeviceOptions device{};
};

// Returns the firmware's set-up of configuration space: assigns addresses and enables decoding.
std::vector<spec::PciWrite> firmware_writes(const spec::DeviceModel& model, const device::DeviceOptions& options);

class Hardware {
 public:
  static Result<std::unique_ptr<Hardware>> find(const spec::DeviceModel& model, const HardwareOptions& options);

  const spec::DeviceModel& model() const { return device_->model(); }
  const Generation& generation() const { return generation_; }
  bool has(spec::Feature feature) const { return model().has(feature); }
  // Returns whether all contexts share one address space.
  bool shares_space() const { return !spec::interface_of(model().id).has_own_spaces(); }
  device::Device& device() { return *device_; }
  DriverHost& host() { return *host_; }

  uint32_t read(uint32_t offset) { return static_cast<uint32_t>(device_->bar_read(register_bar_, offset, 4)); }
  void write(uint32_t offset, uint32_t value) { bar_write(register_bar_, offset, 4, value); }
  uint32_t read(const spec::EngineModel& engine, uint32_t offset) { return read(engine.mmio_base + offset); }
  void write(const spec::EngineModel& engine, uint32_t offset, uint32_t value) {
    write(engine.mmio_base + offset, value);
  }
  // Returns the value of a masked register: the upper half selects the bits that are written.
  static constexpr uint32_t masked(uint32_t bits, bool on) { return bits << 16 | (on ? bits : 0); }
  void config_write(const spec::PciWrite& write);
  void advance(uint64_t nanoseconds);  // runs the device
  // Returns the counters of the engine's long work.
  const engine::WorkDone& work_done(const spec::EngineModel& engine) const { return device_->work_done(engine); }
  const engine::TimeSpent& time_spent(const spec::EngineModel& engine) const { return device_->time_spent(engine); }
  // Returns whether the engine has begun long work that is not finished.
  bool in_long_work(const spec::EngineModel& engine) const {
    const auto number = static_cast<unsigned>(&engine - model().engines.data());
    return device_->engines().engine(number).state().long_command.work != engine::LongWork::none;
  }
  void wake();  // keeps every register domain awake

  // Writes entries of the global table through its BAR alias.
  void write_entry(uint64_t index, uint64_t entry);
  void write_entries(uint64_t first, uint64_t count, uint64_t entry);  // the same value in all
  unsigned entry_bytes() const { return entry_bytes_; }
  uint64_t entry_count() const { return entries_; }
  uint64_t aperture_bytes() const { return aperture_bytes_; }

  // Allocates zeroed memory.
  std::optional<PageRun> allocate(uint64_t bytes, bool local = false);
  // Drops the translations that engines cache. Needed before pages that were bound get another owner while engines are
  // at work; a new batch drops them itself.
  void drop_translations();
  void ask_working(std::function<bool()> working) { working_ = std::move(working); }  // whether engines are at work
  // Empties the pages and frees them. `replaced`: they lie in a file of their own (SharedMemory::replace).
  void release(const PageRun& run, bool replaced = false) noexcept;
  std::span<std::byte> bytes(const PageRun& run) const {
    return run.local ? host_->local().at(run.address, run.bytes) : host_->at(run.address, run.bytes);
  }
  PageAllocator& pages(bool local) { return local ? local_pages_ : pages_; }

  template <class T>
  void store(const PageRun& run, uint64_t offset, T value) const {
    std::memcpy(bytes(run).data() + offset, &value, sizeof value);
  }
  template <class T>
  T load(const PageRun& run, uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes(run).data() + offset, sizeof value);
    return value;
  }

 private:
  Hardware(std::unique_ptr<DriverHost> host, std::unique_ptr<device::Device> device, uint64_t memory_bytes,
           HardwareListener* listener);
  void place_bars();
  void bar_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) {
    if (listener_ != nullptr) return listened_write(bar, offset, bytes, value);
    device_->bar_write(bar, offset, bytes, value);
  }
  void listened_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);

  std::unique_ptr<DriverHost> host_;
  std::unique_ptr<device::Device> device_;
  HardwareListener* listener_ = nullptr;
  Generation generation_;
  PageAllocator pages_;
  PageAllocator local_pages_;
  unsigned register_bar_ = 0;
  unsigned table_bar_ = 0;
  uint64_t table_offset_ = 0;
  unsigned entry_bytes_ = 4;
  uint64_t entries_ = 0;
  uint64_t aperture_bytes_ = 0;
  std::vector<std::byte> entry_block_;  // for write_entries()
  std::function<bool()> working_;
};

}  // namespace halogen::driver
