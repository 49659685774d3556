#include "trace/player.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "trace/device_ids.h"

namespace halogen::trace {
namespace {

constexpr uint32_t kCommandRegister = 4;
constexpr uint32_t kMemoryAndMaster = 6;
constexpr unsigned kRegisterBar = 0;
constexpr unsigned kMaxSizeCode = 3;

}  // namespace

struct Player::Handler {
  Player& player;

  void operator()(const aub::Version& version) const {
    player.choose(device_of_aub_code(version.device), fmt::format("code {}", version.device));
  }
  void operator()(const aub::RegisterWrite& write) const {
    Device& device = *player.device_;
    const unsigned bytes = 1u << std::min<unsigned>(write.size_code, kMaxSizeCode);
    const auto value = write.value & write.mask;
    ++player.counts_.register_writes;
    if (write.space == aub::RegisterSpace::pci_config && bytes <= 4) {
      device.config_write(write.offset, bytes, static_cast<uint32_t>(value));
    } else if (write.space == aub::RegisterSpace::mmio) {
      device.bar_write(kRegisterBar, write.offset, bytes, value);
      device.settle();
    } else {
      ++player.counts_.skipped;
    }
  }
  void operator()(const aub::RegisterCompare& compare) const {
    const uint64_t value = player.read_register(compare.space, compare.offset, compare.size_code);
    if (!compare.no_expect) player.check((value & compare.mask) == (compare.expected & compare.mask));
  }
  void operator()(const aub::RegisterPoll& poll) const {
    player.device_->settle();
    const uint64_t value = player.read_register(poll.space, poll.offset, poll.size_code);
    player.check(((value & poll.mask) == (poll.value & poll.mask)) != poll.not_equal || poll.ignore_timeout);
  }
  void operator()(const aub::MemoryWrite& write) const { player.store(write.space, write.address, write.data); }
  void operator()(const aub::DiscontiguousWrite& write) const { player.store(write.space, write.address, write.data); }
  void operator()(const aub::MemoryCompare& compare) const {
    if (compare.no_expect) return;
    if (compare.crc || compare.data.size() < compare.bytes) {
      ++player.counts_.skipped;
      return;
    }
    std::vector<std::byte> found(compare.bytes);
    player.read(compare.space, compare.address, found);
    const bool equal = std::ranges::equal(found, compare.data.first(compare.bytes));
    player.check(equal != compare.not_equal);
  }
  void operator()(const aub::MemoryPoll& poll) const {
    player.device_->settle();
    uint64_t value = 0;
    const size_t bytes = size_t{1} << std::min<unsigned>(poll.size_code, kMaxSizeCode);
    player.read(poll.space, poll.address, std::as_writable_bytes(std::span(&value, 1)).first(bytes));
    player.check(((value & poll.mask) == (poll.value & poll.mask)) != poll.not_equal || poll.ignore_timeout);
  }
  void operator()(const aub::Comment& /*comment*/) const {}
  void operator()(const aub::FrameBegin& /*frame*/) const {}
  void operator()(const aub::PpgttContextCreate& /*context*/) const {}  // the image says the same
  void operator()(const aub::Delay& delay) const { player.device_->advance(delay.time); }
  template <class Other>
  void operator()(const Other& /*record*/) const {
    ++player.counts_.skipped;
  }
};

Player::Player(const spec::DeviceModel* model, EventSink* events) : model_(model), host_(events) {
  if (model != nullptr) choose(model, {});
}

void Player::choose(const spec::DeviceModel* model, std::string_view what) {
  if (device_ != nullptr) return;
  if (model == nullptr) {
    failure_ = fmt::format("the trace does not say which of our devices it is for ({}): give one with --device", what);
    return;
  }
  // A trace places everything itself and never heard of sleeping registers. The reserved areas of an integrated part
  // lie above what traces use.
  DeviceOptions options;
  options.power_gating = false;
  options.local_tables = false;
  options.wide_local = true;
  Result<std::unique_ptr<Device>> created = Device::create(*model, host_, options);
  if (!created.ok()) {
    failure_ = created.message();
    return;
  }
  model_ = model;
  device_ = std::move(created).value();
  device_->config_write(kCommandRegister, 2, kMemoryAndMaster);
  formats_.emplace(*model, model->physical_bits);
  objects_.emplace(*formats_);
  object_base_ = local_bytes(*model, options) / 4 * 3;  // beyond what the tables of traces reach
}

void Player::on(const aub::Place& /*place*/, const aub::Record& record) {
  if (!failure_.empty()) return;
  ++counts_.records;
  if (device_ == nullptr && !std::holds_alternative<aub::Version>(record)) {
    failure_ = "the trace has no version record before its data: give a device with --device";
    return;
  }
  std::visit(Handler{*this}, record);
}

void Player::check(bool held) {
  ++counts_.checks;
  counts_.failed_checks += held ? 0 : 1;
}

uint64_t Player::read_register(aub::RegisterSpace space, uint32_t offset, uint8_t size_code) {
  const unsigned bytes = 1u << std::min<unsigned>(size_code, kMaxSizeCode);
  if (space == aub::RegisterSpace::pci_config) return device_->config_read(offset, std::min(bytes, 4u));
  return space == aub::RegisterSpace::mmio ? device_->bar_read(kRegisterBar, offset, bytes) : 0;
}

void Player::store(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data) {
  ++counts_.memory_writes;
  switch (space) {
    case aub::MemorySpace::ggtt:
    case aub::MemorySpace::ggtt_non_aperture:
      device_->memory().external_space(Stream::host).write(GpuVa{address}, data);
      return;
    case aub::MemorySpace::local:
      device_->local_memory().write(address + (objects_->take_local_write(address, data) ? object_base_ : 0), data);
      return;
    case aub::MemorySpace::system:
    case aub::MemorySpace::ppgtt_pt_entry:
    case aub::MemorySpace::ppgtt_pdp_entry:
    case aub::MemorySpace::ppgtt_pd_entry:
    case aub::MemorySpace::ppgtt_pml4_entry:
      host_.write_memory(PhysAddr{address}, data);
      return;
    case aub::MemorySpace::ggtt_entry:
      return store_global_entries(address, data);
    case aub::MemorySpace::ppgtt:
    case aub::MemorySpace::gtt_pd_entry:
    case aub::MemorySpace::power_context:
      ++counts_.skipped;
      return;
  }
}

void Player::store_global_entries(uint64_t offset, std::span<const std::byte> data) {
  objects_->note_global_entries(data);
  const EntryFormat& format = formats_->find(WalkMode::ggtt)->levels.back().table;
  for (; data.size() >= format.bytes; data = data.subspan(format.bytes), offset += format.bytes) {
    uint64_t entry = 0;
    std::memcpy(&entry, data.data(), format.bytes);
    if ((entry & format.local_memory) != 0) entry += object_base_;
    device_->bar_write(kRegisterBar, model_->gtt_offset + offset, format.bytes, entry);
  }
}

void Player::read(aub::MemorySpace space, uint64_t address, std::span<std::byte> into) {
  switch (space) {
    case aub::MemorySpace::ggtt:
    case aub::MemorySpace::ggtt_non_aperture:
      device_->memory().external_space(Stream::host).read(GpuVa{address}, into);
      return;
    case aub::MemorySpace::local:
      device_->local_memory().read(address, into);
      return;
    default:
      host_.read_memory(PhysAddr{address}, into);
  }
}

}  // namespace halogen::trace
