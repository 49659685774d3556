#include "device_server.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include <fmt/format.h>

namespace halogen::vm {
namespace {

constexpr uint64_t kQuantum = 20'000;      // virtual nanoseconds for busy engines between checks for requests
constexpr uint64_t kSmallQuantum = 2'560;  // the same for long work while the guest waits for a reply
constexpr uint64_t kShortWork = 500'000;   // virtual nanoseconds
constexpr uint64_t kMaxAhead = 1'000'000;  // virtual nanoseconds that engines may be ahead of the host's clock
constexpr uint64_t kMaxBehind = 5'000'000;
constexpr int kIdlePoll_ms = 2;  // milliseconds

// The interrupt controller to which slot 2, pin A of the q35 machine is connected.
constexpr std::string_view kInterruptController = "/machine/q35/ioapic";
constexpr unsigned kInterruptPin = 22;

bool is_access_size(uint32_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace

Result<void> DeviceServer::create_device(const spec::DeviceModel& model, const device::DeviceOptions& options) {
  auto device = device::Device::create(model, *this, options);
  if (!device) return device.error();
  device_ = std::move(*device);
  if (recorder_ != nullptr) recorder_->watch(*device_);
  return {};
}

// A recorder must see every page.
std::span<std::byte> DeviceServer::map_memory(PhysAddr address, uint64_t bytes) {
  const std::span<std::byte> memory = memory_.at(address.value, bytes);
  if (recorder_ == nullptr || memory.empty()) return memory;
  if (bytes > memory::kFrameBytes) return {};
  recorder_->on_page(address.value, memory);
  return memory;
}

void DeviceServer::set_interrupt_line(bool asserted) {
  ++statistics_.lines;
  if (machine_ != nullptr) machine_->set_line(kInterruptController, kInterruptPin, asserted);
}

void DeviceServer::send_message_interrupt(PhysAddr address, uint32_t data) {
  ++statistics_.messages;
  if (machine_ != nullptr) machine_->write_memory(address.value, data);
}

// Ends long work of the device when `stop` becomes readable.
void DeviceServer::watch(int stop) {
  device_->stop_flag().set_watch([stop, &flag = device_->stop_flag()] {
    constexpr uint32_t kAsks = 64;  // per system call
    thread_local uint32_t asks = 0;
    pollfd watched{stop, POLLIN, 0};
    if (++asks % kAsks != 0 || poll(&watched, 1, 0) <= 0) return false;
    flag.raise();
    return true;
  });
}

Result<void> DeviceServer::serve(int stop) {
  if (stop >= 0) watch(stop);
  link_.stop_at(stop);
  try {
    return serve_guarded(stop);
  } catch (const std::exception& error) {  // the host's memory is exhausted
    return Error{fmt::format("the device ended: {}.", error.what())};
  }
}

Result<void> DeviceServer::serve_guarded(int stop) {
  for (;;) {
    const bool keeps = machine_ != nullptr && machine_->keeps();
    // Negative descriptors are not watched.
    std::array<pollfd, 3> watched{
        {{link_.descriptor(), POLLIN, 0}, {stop, POLLIN, 0}, {keeps ? machine_->descriptor() : -1, POLLOUT, 0}}};
    const int ready = poll(watched.data(), watched.size(), poll_time_ms());
    if (ready < 0 && errno != EINTR) {
      return Error{fmt::format("the connection to QEMU failed: {}.", std::strerror(errno))};
    }
    was_stopped_ = ready > 0 && watched[1].revents != 0;
    if (was_stopped_) return {};
    if (ready > 0 && watched[2].revents != 0) machine_->send_kept();
    const bool asked = ready > 0 && watched[0].revents != 0;
    if (asked) {
      const auto goes_on = handle_all();
      if (!goes_on) return goes_on.error();
      if (!*goes_on) {
        was_stopped_ = poll(&watched[1], 1, 0) > 0;
        return {};
      }
    }
    pass_time(asked);
  }
}

// Returns how long to wait for a request, in milliseconds.
int DeviceServer::poll_time_ms() const {
  if (!busy_) return kIdlePoll_ms;
  return device_->clock().nanoseconds > real_time() + kMaxAhead ? 1 : 0;
}

// Short work is done while the guest waits for its reply; long work must not slow the guest down.
void DeviceServer::pass_time(bool asked) {
  if (recorder_ != nullptr) recorder_->before_time();
  const uint64_t time = device_->clock().nanoseconds;
  uint64_t real = real_time();
  if (real > time + kMaxBehind) {  // engines are slower than real time: virtual time skips the rest
    start_ += std::chrono::nanoseconds(real - time - kMaxBehind);
    real = time + kMaxBehind;
  }
  if (!busy_) {
    work_start_ = time;
    if (real > time) device_->advance(real - time);
  }
  const bool is_long = device_->clock().nanoseconds - work_start_ > kShortWork;
  if (device_->clock().nanoseconds <= real + kMaxAhead) {
    busy_ = !device_->settle(asked && is_long ? kSmallQuantum : kQuantum);
  }
  if (recorder_ != nullptr) recorder_->after_time();
}

uint64_t DeviceServer::real_time() const {
  return static_cast<uint64_t>((Clock::now() - start_).count());
}

// False: the machine is gone.
Result<bool> DeviceServer::handle_all() {
  auto filled = link_.fill();
  if (!filled || !*filled) return filled;
  for (;;) {
    const auto message = link_.next();
    if (!message) return message.error();
    if (!*message) return true;
    auto goes_on = handle(**message);
    if (!goes_on || !*goes_on) return goes_on;
  }
}

Result<bool> DeviceServer::handle(const ProxyMessage& message) {
  MemoryMap map{};
  ConfigAccess config{};
  BarAccess bar{};
  switch (message.command) {
    case ProxyCommand::sync_memory:
      if (!message.as(map)) break;
      if (const auto set = set_map(map, message.files); !set) return set.error();
      return true;
    case ProxyCommand::config_write:
    case ProxyCommand::config_read:
      if (!message.as(config)) return dropped();
      return answer_config(config, message.command == ProxyCommand::config_write);
    case ProxyCommand::bar_write:
    case ProxyCommand::bar_read:
      if (!message.as(bar)) return dropped();
      return answer_bar(bar, message.command == ProxyCommand::bar_write);
    case ProxyCommand::reset:
      device_->reset(device::ResetKind::function_level);
      if (recorder_ != nullptr) recorder_->after_reset();
      was_reset_ = true;
      return link_.answer(0);
    case ProxyCommand::set_irqfd:  // needs hardware virtualization; interrupts go through machine_
    case ProxyCommand::answer:
      return true;
  }
  ++statistics_.dropped;
  return true;
}

Result<void> DeviceServer::set_map(const MemoryMap& map, std::span<const File> files) {
  return memory_.set_map(map, files, [&](std::span<const GuestMemory::Piece> gone) {
    for (const GuestMemory::Piece& each : gone) {
      if (recorder_ != nullptr) recorder_->forget(each.address, each.bytes);
    }
    device_->revoke_memory();
  });
}

// An invalid request still gets a reply.
Result<bool> DeviceServer::dropped() {
  ++statistics_.dropped;
  return link_.answer(~uint64_t{0});
}

// Before the first reset the proxy sizes BARs, each dword separately, so until then the upper half of a 64-bit BAR
// reads as no BAR. The proxy and the guest's BIOS expect an I/O BAR that decodes all 32 bits; the chip's has 16.
uint32_t DeviceServer::config_value(uint32_t offset, unsigned bytes) const {
  constexpr uint32_t kFirstBar = 0x10;
  const uint32_t value = device_->config_read(offset, bytes);
  if (bytes != 4) return value;
  for (const spec::BarModel& bar : device_->model().bars) {
    const uint32_t bar_offset = kFirstBar + 4u * bar.index;
    if (bar.address_bits == 64 && offset == bar_offset + 4 && !was_reset_) return 0;
    const bool sized = bar.kind == spec::BarKind::io && offset == bar_offset && (value >> 15) == 1;
    if (sized) return value | 0xffff'0000;
  }
  return value;
}

Result<bool> DeviceServer::answer_config(const ConfigAccess& access, bool is_write) {
  ++statistics_.config_accesses;
  const auto bytes = static_cast<uint32_t>(access.bytes);
  if (bytes > 4 || !is_access_size(bytes)) return dropped();
  if (is_write) {
    device_->config_write(access.offset, bytes, access.value);
    if (recorder_ != nullptr) recorder_->after_config_write(access.offset, bytes, access.value);
    return link_.answer(0);
  }
  return link_.answer(config_value(access.offset, bytes));
}

void DeviceServer::count(const device::BarHit& place, unsigned bytes, bool is_write) {
  ++statistics_.by_bar[std::min<size_t>(place.bar, statistics_.by_bar.size() - 1)];
  const bool registers = place.bar == 0 && place.offset + bytes <= device_->model().mmio_bytes;
  if (!registers) return;
  for (uint64_t offset = place.offset & ~uint64_t{3}; offset < place.offset + bytes; offset += 4) {
    RegisterTouches& touches = statistics_.registers[static_cast<uint32_t>(offset)];
    ++(is_write ? touches.writes : touches.reads);
  }
}

Result<bool> DeviceServer::answer_bar(const BarAccess& access, bool is_write) {
  ++statistics_.bar_accesses;
  if (!is_access_size(access.bytes)) return dropped();
  if (access.is_memory == 0) {
    const auto port = static_cast<uint16_t>(access.address);
    const uint32_t bytes = std::min(access.bytes, 4u);
    if (!is_write) return link_.answer(device_->io_read(port, bytes));
    device_->io_write(port, bytes, static_cast<uint32_t>(access.value));
    return link_.answer(0);
  }
  const auto decoded = device_->config().decode_memory(access.address);
  if (!decoded) return dropped();
  count(*decoded, access.bytes, is_write);
  if (!is_write) return link_.answer(device_->bar_read(decoded->bar, decoded->offset, access.bytes));
  if (recorder_ != nullptr) recorder_->before_write(decoded->bar, decoded->offset);
  device_->bar_write(decoded->bar, decoded->offset, access.bytes, access.value);
  if (recorder_ != nullptr) {
    static_cast<void>(device_->settle());
    recorder_->after_write(decoded->bar, decoded->offset, access.bytes, access.value);
  }
  return link_.answer(0);
}

}  // namespace halogen::vm
