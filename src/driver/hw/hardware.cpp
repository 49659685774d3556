#include "driver/hw/hardware.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hw/gtt.h"
#include "hw/pci_header.h"
#include "hw/tlb.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kFirstPage = 0x10'0000;  // firmware uses the memory below
constexpr uint64_t kLowBarSpace = 0xc000'0000;
constexpr uint64_t kHighBarSpace = uint64_t{1} << 36;

constexpr uint64_t kPorts = 0x1000;
constexpr uint64_t kTogether = 8192;  // entries of the global table that are written at once

}  // namespace

Result<std::unique_ptr<Hardware>> Hardware::find(const spec::DeviceModel& model, const HardwareOptions& options) {
  const uint64_t local = local_bytes(model, options.device);
  Result<std::unique_ptr<DriverHost>> host = DriverHost::create(options.memory_bytes, local, options.events);
  if (!host) return host.error();
  (*host)->tell(options.listener);
  Result<std::unique_ptr<device::Device>> device = device::Device::create(model, **host, options.device);
  if (!device) return device.error();
  (*host)->connect(**device);
  if (options.listener != nullptr) options.listener->on_device(**device, **host);
  return std::unique_ptr<Hardware>(
      new Hardware(std::move(host).value(), std::move(device).value(), options.memory_bytes, options.listener));
}

Hardware::Hardware(std::unique_ptr<DriverHost> host, std::unique_ptr<device::Device> device, uint64_t memory_bytes,
                   HardwareListener* listener)
    : host_(std::move(host)),
      device_(std::move(device)),
      listener_(listener),
      generation_(device_->model()),
      pages_(kFirstPage, memory_bytes),
      local_pages_(0, 0) {
  place_bars();
  wake();
  if (has(spec::Feature::local_memory)) {
    const uint32_t end = hw::GEN6_GSMBASE::kDesc.offset(model().id);  // end of local memory for software
    local_pages_ = PageAllocator(0, read(end) | uint64_t{read(end + 4)} << 32);
  }
  entry_bytes_ = generation_.ggtt_entry_bytes();
  entries_ = gtt_bytes(model(), device_->options()) / entry_bytes_;
  entry_block_.resize(kTogether * entry_bytes_);
}

std::vector<spec::PciWrite> firmware_writes(const spec::DeviceModel& model, const device::DeviceOptions& options) {
  std::vector<spec::PciWrite> writes;
  uint64_t next_low = kLowBarSpace;
  uint64_t next_high = kHighBarSpace;
  for (const spec::BarModel& bar : model.bars) {
    const uint64_t size = device::bar_bytes(bar, options);
    if (bar.kind == spec::BarKind::io) {
      writes.push_back(spec::pci_write(model, hw::PCI_BAR{.io_address = kPorts}, bar.index));
      continue;
    }
    uint64_t& next = bar.address_bits == 64 ? next_high : next_low;
    const uint64_t address = (next + size - 1) / size * size;
    next = address + size;
    const spec::PciWrite low =
        spec::pci_write(model, hw::PCI_BAR{.memory_address = PhysAddr(static_cast<uint32_t>(address))}, bar.index);
    if (bar.address_bits == 64) {
      writes.push_back({low.offset + low.bytes, low.bytes, static_cast<uint32_t>(address >> 32)});
    }
    writes.push_back(low);
  }
  writes.push_back(spec::pci_write(model, hw::PCI_COMMAND{.io_space = true, .memory_space = true, .bus_master = true}));
  return writes;
}

void Hardware::place_bars() {
  for (const spec::PciWrite& write : firmware_writes(model(), device_->options())) {
    device_->config_write(write.offset, write.bytes, write.value);
  }
  for (const spec::BarModel& bar : model().bars) {
    switch (bar.kind) {
      case spec::BarKind::gttmmadr:
        register_bar_ = table_bar_ = bar.index;
        table_offset_ = model().gtt_offset;
        break;
      case spec::BarKind::mmadr:
        register_bar_ = bar.index;
        break;
      case spec::BarKind::gttadr:
        table_bar_ = bar.index;
        table_offset_ = 0;
        break;
      case spec::BarKind::gmadr:
        aperture_bytes_ = device::bar_bytes(bar, device_->options());
        break;
      default:
        break;
    }
  }
}

void Hardware::listened_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value) {
  listener_->before_write(bar, offset);
  device_->bar_write(bar, offset, bytes, value);
  static_cast<void>(device_->settle());
  listener_->after_write(bar, offset, bytes, value);
}

void Hardware::config_write(const spec::PciWrite& write) {
  device_->config_write(write.offset, write.bytes, write.value);
  if (listener_ != nullptr) listener_->after_config_write(write.offset, write.bytes, write.value);
}

void Hardware::advance(uint64_t nanoseconds) {
  if (listener_ != nullptr) listener_->before_time();
  device_->advance(nanoseconds);
  if (listener_ != nullptr) listener_->after_time();
}

void Hardware::wake() {
  if (const spec::WakeTable* const table = spec::find_wake_table(model().id)) {
    for (const spec::WakePort& port : table->ports) {
      write(port.request, port.access == spec::Access::masked ? masked(1, true) : 1);
    }
  }
}

void Hardware::write_entry(uint64_t index, uint64_t entry) {
  bar_write(table_bar_, table_offset_ + index * entry_bytes_, entry_bytes_, entry);
}

void Hardware::write_entries(uint64_t first, uint64_t count, uint64_t entry) {
  const std::span<std::byte> block = std::span(entry_block_).first(std::min(count, kTogether) * entry_bytes_);
  for (size_t at = 0; at < block.size(); at += entry_bytes_) std::memcpy(block.data() + at, &entry, entry_bytes_);
  for (uint64_t done = 0; done < count; done += kTogether) {
    const std::span<const std::byte> part = block.first(std::min(kTogether, count - done) * entry_bytes_);
    const uint64_t offset = (first + done) * entry_bytes_;
    device_->bar_write_block(table_bar_, table_offset_ + offset, part);
    if (listener_ != nullptr) listener_->after_entries(offset, part);
  }
}

std::optional<PageRun> Hardware::allocate(uint64_t bytes, bool local) {
  const std::optional<uint64_t> address = pages(local).take(bytes);
  if (!address) return std::nullopt;
  const PageRun run{*address, bytes, local, false};
  return run;
}

// Linux does the same since 5.17, for chips with execlists (intel_gt.c, gen8 and gen12 registers).
void Hardware::drop_translations() {
  if (shares_space() || (working_ && !working_())) return;
  const auto invalidate = [this](const spec::RegisterDesc& desc, uint32_t engines) {
    if ((desc.devices & spec::mask_of(model().id)) != 0) write(desc.offset(model().id), engines);
  };
  uint32_t instances = 0;  // a bit for each
  for (const spec::EngineModel& engine : model().engines) instances |= 1u << engine.instance;
  for (const spec::RegisterDesc* const one :
       {&hw::RTCR::kDesc, &hw::M1TCR::kDesc, &hw::M2TCR::kDesc, &hw::BTCR::kDesc, &hw::VTCR::kDesc}) {
    invalidate(*one, 1);
  }
  for (const spec::RegisterDesc* const all :
       {&hw::GFX_TLB_INV_CR::kDesc, &hw::VD_TLB_INV_CR::kDesc, &hw::VE_TLB_INV_CR::kDesc, &hw::BLT_TLB_INV_CR::kDesc,
        &hw::COMPCTX_TLB_INV_CR::kDesc}) {
    invalidate(*all, instances);
  }
}

// Pages that cannot be emptied are lost, because no other buffer may show their content.
void Hardware::release(const PageRun& run, bool replaced) noexcept {
  if (run.bytes == 0) return;
  constexpr uint64_t kLarge = 256 * 1024;
  if (replaced || run.bytes >= kLarge) {
    if (!host_->drop(run.local, run.address, run.bytes)) return;
  } else {
    host_->revoke();
    const std::span<std::byte> content = bytes(run);
    std::memset(content.data(), 0, content.size());
  }
  pages(run.local).give(run.address, run.bytes);
}

}  // namespace halogen::driver
