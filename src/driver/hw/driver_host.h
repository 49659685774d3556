// The host of the device under our own driver: contiguous system memory that user programs can map, the device's local
// memory, and the interrupt line. Memory comes from anonymous files, so that the device, the driver and every program
// that maps a page see the same content. Untouched pages cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "device/host.h"

namespace halogen::device {
class Device;
}

namespace halogen::driver {

// Memory behind a file descriptor.
class SharedMemory {
 public:
  static Result<SharedMemory> create(const char* name, uint64_t bytes);
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  int descriptor() const { return descriptor_; }
  uint64_t size() const { return bytes_; }
  // Empty: the range is not inside.
  std::span<std::byte> at(uint64_t offset, uint64_t bytes) const;
  // Replaces a range, content included, by another file.
  bool replace(uint64_t offset, uint64_t bytes, int descriptor);
  // Undoes replace(); the former content is there again. False: the range still shows the other file.
  [[nodiscard]] bool restore(uint64_t offset, uint64_t bytes);
  // Zeroes a range and frees its pages. Undoes replace(). False: the range still shows its content.
  [[nodiscard]] bool drop(uint64_t offset, uint64_t bytes);
  // Visits everything that was ever written, except ranges in files of their own (`replace`).
  void visit(const std::function<void(uint64_t offset, std::span<const std::byte>)>& see) const;

 private:
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
};

// Observes everything that the driver does to the device, and the pages that the device accesses, to record a run. With
// a listener the device finishes its work before the driver continues.
class DriverHost;
class HardwareListener {
 public:
  virtual ~HardwareListener() = default;
  virtual void on_device(device::Device& device, DriverHost& host) = 0;  // before the first access
  virtual void on_page(uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void on_forget(uint64_t address, uint64_t bytes) = 0;  // the pages are removed
  virtual void before_write(unsigned bar, uint64_t offset) = 0;
  virtual void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) = 0;
  // Called after a write of several entries of the global table; `offset` is in bytes.
  virtual void after_entries(uint64_t offset, std::span<const std::byte> entries) = 0;
  virtual void after_config_write(uint32_t offset, unsigned bytes, uint32_t value) = 0;
  virtual void before_time() = 0;
  virtual void after_time() = 0;
};

class DriverHost final : public device::Host {
 public:
  static Result<std::unique_ptr<DriverHost>> create(uint64_t memory_bytes, uint64_t local_bytes, EventSink* events);

  const SharedMemory& memory() const { return memory_; }
  const SharedMemory& local() const { return local_; }
  const SharedMemory& of(bool local) const { return local ? local_ : memory_; }

  void tell(HardwareListener* listener) { listener_ = listener; }
  // Sets the device, which keeps addresses of this memory. Each function below that takes memory away revokes them.
  void connect(device::Device& device) { device_ = &device; }

  // Maps memory of this process at a physical address that is never reused. No value: no address is left.
  std::optional<uint64_t> add_window(std::span<std::byte> memory, unsigned physical_bits);
  void remove_window(uint64_t address);
  // SharedMemory::replace, restore and drop for system or local memory.
  bool replace(bool local, uint64_t offset, uint64_t bytes, int descriptor);
  [[nodiscard]] bool restore(bool local, uint64_t offset, uint64_t bytes);
  [[nodiscard]] bool drop(bool local, uint64_t offset, uint64_t bytes);
  // Call before pages get another owner, because a translation that an engine still caches must not reach them.
  void revoke();
  // Returns system memory or a window. Empty: the range is in neither.
  std::span<std::byte> at(uint64_t address, uint64_t bytes) const;

  bool interrupt_line() const { return line_; }
  // Returns whether a message interrupt came since the last call.
  bool take_message() { return std::exchange(message_, false); }

  bool read_memory(PhysAddr address, std::span<std::byte> out) override;
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override;
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override;
  std::span<std::byte> local_memory(uint64_t bytes) override { return local_.at(0, bytes); }
  void set_interrupt_line(bool asserted) override { line_ = asserted; }
  void send_message_interrupt(PhysAddr, uint32_t) override { message_ = true; }
  void on_event(const Event& event) override {
    if (events_ != nullptr) events_->on_event(event);
  }

 private:
  DriverHost(SharedMemory memory, SharedMemory local, EventSink* events)
      : memory_(std::move(memory)), local_(std::move(local)), events_(events) {}

  SharedMemory memory_;
  SharedMemory local_;
  std::map<uint64_t, std::span<std::byte>> windows_;
  uint64_t next_window_ = 0;
  EventSink* events_;
  HardwareListener* listener_ = nullptr;
  device::Device* device_ = nullptr;
  bool line_ = false;
  bool message_ = false;
};

}  // namespace halogen::driver
