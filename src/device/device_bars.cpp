// The BARs and I/O ports of a device: the unit that each access reaches, and the answers to all other accesses.
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "device/device.h"

namespace halogen::device {

namespace {

constexpr uint64_t kAllOnes = ~uint64_t{0};

uint64_t ones(unsigned bytes) {
  return bytes >= 8 ? kAllOnes : (uint64_t{1} << (8 * bytes)) - 1;
}

bool legal_size(unsigned bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

uint64_t load(std::span<const std::byte> from) {
  uint64_t value = 0;
  std::memcpy(&value, from.data(), from.size());
  return value;
}

}  // namespace

const spec::BarModel* Device::usable_bar(unsigned index, uint64_t offset, unsigned bytes, uint64_t value,
                                         memory::Direction direction) {
  const auto bar = std::ranges::find(model_.bars, index, &spec::BarModel::index);
  const uint64_t size = bar != model_.bars.end() ? bar_bytes(*bar, options_) : 0;
  std::string_view reason;
  if (bar == model_.bars.end()) {
    reason = "BAR not present";
  } else if (!legal_size(bytes)) {
    reason = "size";
  } else if (offset >= size || bytes > size - offset) {
    reason = "beyond the end of the BAR";
  } else if (bar->kind == spec::BarKind::io ? !config_.io_enabled() : !config_.memory_enabled()) {
    reason = "decoding disabled";
  } else {
    return &*bar;
  }
  raise(EventKind::bad_access, fmt::format("bar{}", index), offset, value,
        fmt::format("{} of {} bytes: {}", direction == memory::Direction::write ? "write" : "read", bytes, reason));
  return nullptr;
}

uint64_t Device::bar_read(unsigned index, uint64_t offset, unsigned bytes) {
  const spec::BarModel* bar = usable_bar(index, offset, bytes, 0, memory::Direction::read);
  if (bar == nullptr) {
    return ones(bytes);
  }
  switch (bar->kind) {
    case spec::BarKind::gttmmadr:
    case spec::BarKind::mmadr:
      return mmio_bar_read(offset, bytes);
    case spec::BarKind::gttadr:
      return memory_.gtt_port().read(offset, bytes);
    case spec::BarKind::lmem: {
      std::array<std::byte, 8> data{};
      memory_.map().own().read(offset, std::span(data).first(bytes));
      return load(std::span(data).first(bytes));
    }
    case spec::BarKind::gmadr: {
      std::array<std::byte, 8> data{};
      memory_.aperture().read(GgttOffset(offset), std::span(data).first(bytes));
      return load(std::span(data).first(bytes));
    }
    case spec::BarKind::io:
      return io_bar_read(offset, bytes);
  }
  return ones(bytes);
}

void Device::bar_write(unsigned index, uint64_t offset, unsigned bytes, uint64_t value) {
  const spec::BarModel* bar = usable_bar(index, offset, bytes, value, memory::Direction::write);
  if (bar == nullptr) {
    return;
  }
  switch (bar->kind) {
    case spec::BarKind::gttmmadr:
    case spec::BarKind::mmadr:
      mmio_bar_write(offset, bytes, value);
      break;
    case spec::BarKind::gttadr:
      memory_.gtt_port().write(offset, bytes, value);
      break;
    case spec::BarKind::lmem:
      local_write(offset, std::as_bytes(std::span(&value, 1)).first(bytes));
      break;
    case spec::BarKind::gmadr:
      memory_.aperture_write(GgttOffset(offset), std::as_bytes(std::span(&value, 1)).first(bytes));
      break;
    case spec::BarKind::io:
      io_bar_write(offset, bytes, static_cast<uint32_t>(value));
      break;
  }
}

uint64_t Device::mmio_bar_read(uint64_t offset, unsigned bytes) {
  if (offset < model_.mmio_bytes) [[likely]] {
    return mmio_.read(offset, bytes);
  }
  if (offset >= model_.gtt_offset) {
    return memory_.gtt_port().read(offset - model_.gtt_offset, bytes);
  }
  raise(EventKind::unclaimed_register, "mmio", offset, 0, "read between registers and GTT");
  return 0;
}

void Device::mmio_bar_write(uint64_t offset, unsigned bytes, uint64_t value) {
  if (offset < model_.mmio_bytes) [[likely]] {
    mmio_.write(offset, bytes, value);
  } else if (offset >= model_.gtt_offset) {
    memory_.gtt_port().write(offset - model_.gtt_offset, bytes, value);
  } else {
    raise(EventKind::unclaimed_register, "mmio", offset, value, "write between registers and GTT");
  }
}

// Writes local memory. The part that holds the global table is closed, because it has its alias.
void Device::local_write(uint64_t offset, std::span<const std::byte> from) {
  const MemoryMap& map = memory_.map();
  if (map.holds_table(memory::MemorySpace::local, offset) ||
      map.holds_table(memory::MemorySpace::local, offset + from.size() - 1)) {
    raise(EventKind::bad_access, "lmem", offset, 0,
          "write dropped: the global table in local memory is writable only through the register BAR");
    return;
  }
  memory_.map().own().write(offset, from);
}

const spec::BarModel* Device::block_bar(unsigned index, uint64_t offset, uint64_t bytes) {
  const spec::BarModel* bar = usable_bar(index, offset, 1, 0, memory::Direction::read);
  if (bar == nullptr) {
    return nullptr;
  }
  const bool memory = bar->kind == spec::BarKind::gmadr || bar->kind == spec::BarKind::lmem;
  if (!memory || bytes > bar_bytes(*bar, options_) - offset) {
    raise(EventKind::bad_access, fmt::format("bar{}", index), offset, bytes, "block outside memory, or too long");
    return nullptr;
  }
  return bar;
}

bool Device::bar_read_block(unsigned index, uint64_t offset, std::span<std::byte> into) {
  const spec::BarModel* bar = into.empty() ? nullptr : block_bar(index, offset, into.size());
  if (bar == nullptr) {
    return into.empty();
  }
  if (bar->kind == spec::BarKind::lmem) {
    memory_.map().own().read(offset, into);
  } else {
    memory_.aperture().read(GgttOffset(offset), into);
  }
  return true;
}

bool Device::bar_write_block(unsigned index, uint64_t offset, std::span<const std::byte> from) {
  const spec::BarModel* const table = usable_bar(index, offset, 1, 0, memory::Direction::read);
  if (table != nullptr && table->kind == spec::BarKind::gttadr) {
    return memory_.gtt_port().write_block(offset, from);
  }
  if (table != nullptr && table->kind == spec::BarKind::gttmmadr && offset >= model_.gtt_offset) {
    return memory_.gtt_port().write_block(offset - model_.gtt_offset, from);
  }
  const spec::BarModel* bar = from.empty() ? nullptr : block_bar(index, offset, from.size());
  if (bar == nullptr) {
    return from.empty();
  }
  if (bar->kind == spec::BarKind::lmem) {
    for (size_t done = 0; done < from.size();) {
      const size_t part =
          std::min<uint64_t>(from.size() - done, memory::kFrameBytes - (offset + done) % memory::kFrameBytes);
      local_write(offset + done, from.subspan(done, part));
      done += part;
    }
  } else {
    memory_.aperture_write(GgttOffset(offset), from);
  }
  return true;
}

uint64_t Device::closed_read(PhysAddr address, unsigned bytes) const {
  raise(EventKind::bad_access, "stolen", address.value, 0, fmt::format("CPU read of {} bytes", bytes));
  return ones(bytes);
}

void Device::closed_write(PhysAddr address, unsigned bytes, uint64_t value) const {
  raise(EventKind::bad_access, "stolen", address.value, value, fmt::format("CPU write of {} bytes dropped", bytes));
}

// MMIO_INDEX at 0 selects a dword, MMIO_DATA at 4 accesses it. Index bits 1:0: 0 registers, 1 GTT.
uint32_t Device::io_bar_read(uint64_t offset, unsigned bytes) {
  if (offset >= 8 || offset % 4 + bytes > 4) {
    raise(EventKind::bad_access, "iobar", offset, 0, fmt::format("read of {} bytes", bytes));
    return static_cast<uint32_t>(ones(std::min(bytes, 4u)));
  }
  const auto shift = static_cast<unsigned>(8 * (offset % 4));
  if (offset < 4) {
    return static_cast<uint32_t>((io_index_ >> shift) & ones(bytes));
  }
  const uint64_t target = (io_index_ & ~3u) + offset % 4;
  switch (io_index_ & 3) {
    case 0:
      return static_cast<uint32_t>(target < model_.mmio_bytes ? mmio_.read(target, bytes) : 0);
    case 1:
      return static_cast<uint32_t>(memory_.gtt_port().read(target, bytes));
    default:
      raise(EventKind::bad_access, "iobar", offset, io_index_, "reserved target in MMIO_INDEX");
      return 0;
  }
}

void Device::io_bar_write(uint64_t offset, unsigned bytes, uint32_t value) {
  if (offset >= 8 || offset % 4 + bytes > 4) {
    raise(EventKind::bad_access, "iobar", offset, value, fmt::format("write of {} bytes", bytes));
    return;
  }
  if (offset < 4) {
    const uint32_t lanes = mmio::byte_lanes(static_cast<unsigned>(offset), bytes);
    io_index_ = (io_index_ & ~lanes) | ((value << (8 * offset)) & lanes);
    return;
  }
  const uint64_t target = (io_index_ & ~3u) + offset % 4;
  switch (io_index_ & 3) {
    case 0:
      if (target < model_.mmio_bytes) {
        mmio_.write(target, bytes, value);
      }
      break;
    case 1:
      memory_.gtt_port().write(target, bytes, value);
      break;
    default:
      raise(EventKind::bad_access, "iobar", offset, io_index_, "reserved target in MMIO_INDEX");
      break;
  }
}

uint64_t Device::iommu_read(uint32_t offset, unsigned bytes) {
  if (memory::Iommu* const unit = memory_.iommu()) {
    return unit->read(offset, bytes);
  }
  raise(EventKind::bad_access, "iommu", offset, 0, "read of a unit that the device does not have");
  return ones(std::min(bytes, 8u));
}

void Device::iommu_write(uint32_t offset, unsigned bytes, uint64_t value) {
  if (memory::Iommu* const unit = memory_.iommu()) {
    return unit->write(offset, bytes, value);
  }
  raise(EventKind::bad_access, "iommu", offset, value, "write to an IOMMU that the device does not have");
}

uint32_t Device::io_read(uint16_t port, unsigned bytes) {
  if (bytes == 1 || bytes == 2 || bytes == 4) {
    if (const std::optional<BarHit> hit = config_.decode_io(port)) {
      return static_cast<uint32_t>(bar_read(hit->bar, hit->offset, bytes));
    }
    if (config_.io_enabled() && mmio::Vga::contains(port)) {
      return mmio_.vga().read(port, bytes, mmio_.vga_inputs());
    }
  }
  raise(EventKind::bad_access, "io", port, 0, fmt::format("read of {} bytes at a port that is not decoded", bytes));
  return static_cast<uint32_t>(ones(std::min(bytes, 4u)));
}

void Device::io_write(uint16_t port, unsigned bytes, uint32_t value) {
  if (bytes == 1 || bytes == 2 || bytes == 4) {
    if (const std::optional<BarHit> hit = config_.decode_io(port)) {
      bar_write(hit->bar, hit->offset, bytes, value);
      return;
    }
    if (config_.io_enabled() && mmio::Vga::contains(port)) {
      mmio_.vga().write(port, bytes, value);
      return;
    }
  }
  raise(EventKind::bad_access, "io", port, value,
        fmt::format("write of {} bytes at a port that is not decoded", bytes));
}

}  // namespace halogen::device
