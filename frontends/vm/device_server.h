// A device beside a virtual machine: answers requests of QEMU's proxy device, shares the guest's memory and sends
// interrupts. Virtual time follows the host's clock. While engines work it may run slightly ahead, so that short work
// is done before the guest looks; longer work continues while the guest does other things.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/event.h"
#include "base/result.h"
#include "device/device.h"
#include "guest_memory.h"
#include "machine_link.h"
#include "proxy_link.h"
#include "recorder.h"

namespace halogen::vm {

struct RegisterTouches {
  uint64_t reads = 0;
  uint64_t writes = 0;
};

struct ServerStatistics {
  uint64_t config_accesses = 0;
  uint64_t bar_accesses = 0;
  std::array<uint64_t, 8> by_bar{};
  std::map<uint32_t, RegisterTouches> registers;  // by dword offset
  uint64_t messages = 0;                          // message interrupts
  uint64_t lines = 0;                             // changes of the interrupt line
  uint64_t dropped = 0;                           // invalid requests
};

class DeviceServer final : public device::Host {
 public:
  DeviceServer(ProxyLink link, EventSink* events) : link_(std::move(link)), events_(events) {}

  Result<void> create_device(const spec::DeviceModel& model, const device::DeviceOptions& options);
  device::Device& device() { return *device_; }
  // Sets the destination of interrupts, before which none are sent. It must outlive the server's last call.
  void set_machine(MachineLink& machine) { machine_ = &machine; }

  // Records everything from now on; work is then done before the guest continues. Call before the device is created.
  void record_to(Recorder& recorder) { recorder_ = &recorder; }

  // Serves until the machine is gone, or `stop` becomes readable (a descriptor; -1: none).
  Result<void> serve(int stop);
  bool was_stopped() const { return was_stopped_; }
  const ServerStatistics& statistics() const { return statistics_; }

  bool read_memory(PhysAddr address, std::span<std::byte> out) override { return memory_.read(address.value, out); }
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override {
    return memory_.write(address.value, data);
  }
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override;
  void set_interrupt_line(bool asserted) override;
  void send_message_interrupt(PhysAddr address, uint32_t data) override;
  void on_event(const Event& event) override {
    if (events_ != nullptr) events_->on_event(event);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void watch(int stop);
  Result<void> serve_guarded(int stop);
  // False: the machine is gone.
  Result<bool> handle_all();
  Result<bool> handle(const ProxyMessage& message);
  Result<void> set_map(const MemoryMap& map, std::span<const File> files);
  Result<bool> answer_config(const ConfigAccess& access, bool is_write);
  Result<bool> answer_bar(const BarAccess& access, bool is_write);
  void count(const device::BarHit& place, unsigned bytes, bool is_write);
  uint32_t config_value(uint32_t offset, unsigned bytes) const;
  Result<bool> dropped();
  void pass_time(bool asked);
  int poll_time_ms() const;
  uint64_t real_time() const;

  ProxyLink link_;
  EventSink* events_;
  Recorder* recorder_ = nullptr;
  GuestMemory memory_;
  MachineLink* machine_ = nullptr;
  std::unique_ptr<device::Device> device_;
  Clock::time_point start_ = Clock::now();
  bool busy_ = false;        // engines have work that advances with time
  uint64_t work_start_ = 0;  // virtual start time of that work
  bool was_reset_ = false;
  bool was_stopped_ = false;
  ServerStatistics statistics_;
};

}  // namespace halogen::vm
