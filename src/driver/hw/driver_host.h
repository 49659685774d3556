// The machine around a device that our own driver runs on: system memory in one piece that user programs can map, the
// device's local memory likewise, the interrupt line. Memory comes from anonymous files, so that a page has the same
// content for the device, the driver and every program that maps it. Costs only what was touched.
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
  // Empty when the range is not inside.
  std::span<std::byte> at(uint64_t offset, uint64_t bytes) const;
  // Another file takes the place of a range from now on, content included.
  bool replace(uint64_t offset, uint64_t bytes, int descriptor);
  // The range is zero again and costs nothing. Undoes replace().
  void drop(uint64_t offset, uint64_t bytes);
  // What was ever written. Not what lies in files of its own (`replace`).
  void visit(const std::function<void(uint64_t offset, std::span<const std::byte>)>& see) const;

 private:
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
};

// Hears of everything that the driver does to the device, and of the pages that the device looks at: whoever records a
// run. Work is then done before the driver goes on.
class DriverHost;
class HardwareListener {
 public:
  virtual ~HardwareListener() = default;
  virtual void on_device(device::Device& device, DriverHost& host) = 0;  // before the first access
  virtual void on_page(uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual void on_forget(uint64_t address, uint64_t bytes) = 0;  // these pages go
  virtual void before_write(unsigned bar, uint64_t offset) = 0;
  virtual void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) = 0;
  // Entries of the global table, many at once; `offset` in its bytes.
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
  SharedMemory& of(bool local) { return local ? local_ : memory_; }

  void tell(HardwareListener* listener) { listener_ = listener; }
  // Memory of this process at a physical address of its own, which is never used again. Nothing: no address is left.
  std::optional<uint64_t> add_window(std::span<std::byte> memory, unsigned physical_bits);
  void remove_window(uint64_t address);
  // System memory or a window. Empty when the range is in neither.
  std::span<std::byte> at(uint64_t address, uint64_t bytes) const;

  bool interrupt_line() const { return line_; }
  // A message came since the last look.
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
  bool line_ = false;
  bool message_ = false;
};

}  // namespace halogen::driver
