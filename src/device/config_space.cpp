#include "device/config_space.h"

#include <algorithm>

#include "base/bits.h"
#include "hw/pci_capabilities.h"
#include "hw/pci_header.h"

namespace halogen::device {

namespace {

constexpr uint32_t kMaxConfig = 4096;
constexpr unsigned kPortBits = 16;  // of an I/O address

}  // namespace

ConfigSpace::ConfigSpace(const spec::DeviceModel& model, const DeviceOptions& options)
    : model_(&model), options_(options) {
  build();
  reset();
}

uint32_t ConfigSpace::word_at(const spec::PciRegisterDesc& desc, unsigned index) const {
  const uint32_t offset = desc.offset(model_->id) + index * desc.bytes;
  uint32_t word = 0;
  for (unsigned i = 0; i < desc.bytes; ++i) {
    word |= uint32_t{state_.bytes[offset + i]} << (8 * i);
  }
  return word;
}

void ConfigSpace::put_bytes(Bytes& bytes, const spec::PciWrite& write) {
  for (unsigned i = 0; i < write.bytes; ++i) {
    bytes[write.offset + i] = static_cast<uint8_t>(write.value >> (8 * i));
  }
}

void ConfigSpace::build() {
  for (const spec::PciRegisterDesc* const desc : spec::pci_registers()) {
    if (desc->offset(model_->id) == spec::kNoOffset) {
      continue;
    }
    for (unsigned index = 0; index < desc->count; ++index) {
      const uint32_t offset = desc->offset(model_->id) + index * desc->bytes;
      put_bytes(reset_value_, {offset, desc->bytes, desc->reset_value(model_->id)});
      put_bytes(writable_, {offset, desc->bytes, desc->writable(model_->id)});
    }
  }
  put_bytes(reset_value_, control());
  auto id = hw::PCI_ID::read(model_->gen, &hw::PCI_ID::kDesc.reset_of_device[static_cast<size_t>(model_->id)]);
  id.device_id = options_.pci_id != 0 ? options_.pci_id : model_->pci_id;
  put(reset_value_, id);
  put(reset_value_, hw::PCI_CLASS{.revision = model_->pci_revision, .class_code = model_->pci_class});
  put(reset_value_, hw::PCI_SUBSYSTEM{.vendor_id = static_cast<uint16_t>(model_->pci_subsystem),
                                      .subsystem_id = static_cast<uint16_t>(model_->pci_subsystem >> 16)});
  put(reset_value_, hw::PCI_BDSM{.base = PhysAddr(options_.stolen_base)});
  put(reset_value_, hw::PCI_BDSM_UPPER{.base = static_cast<uint32_t>(options_.stolen_base >> 32)});
  build_bars();
}

void ConfigSpace::build_bars() {
  using Bar = hw::PCI_BAR;
  for (const spec::BarModel& bar : model_->bars) {
    const uint64_t mask = ~(bar_bytes(bar, options_) - 1);
    if (bar.kind == spec::BarKind::io) {
      put(reset_value_, Bar{.io_space = true}, bar.index);
      put(writable_, Bar{.io_address = mask & low_mask(kPortBits)}, bar.index);
      continue;
    }
    const bool wide = bar.address_bits == 64;
    put(reset_value_,
        Bar{.memory_type = wide ? Bar::MemoryType::address_64 : Bar::MemoryType::address_32,
            .prefetchable = bar.prefetchable},
        bar.index);
    const auto low = spec::pci_write(*model_, Bar{.memory_address = PhysAddr(static_cast<uint32_t>(mask))}, bar.index);
    put_bytes(writable_, low);
    if (wide) {
      put_bytes(writable_, {low.offset + low.bytes, low.bytes, static_cast<uint32_t>(mask >> 32)});
    }
  }
}

uint32_t ConfigSpace::read(uint32_t offset, unsigned bytes) const {
  uint32_t value = 0;
  for (unsigned i = 0; i < std::min(bytes, 4u); ++i) {
    // The extended space of a PCI Express function without extended capabilities reads zero. Nothing answers beyond it.
    const uint8_t byte = offset + i < kConfigBytes ? state_.bytes[offset + i] : offset + i < kMaxConfig ? 0x00 : 0xff;
    value |= uint32_t{byte} << (8 * i);
  }
  return value;
}

ConfigEffects ConfigSpace::write(uint32_t offset, unsigned bytes, uint32_t value) {
  using State = hw::PCI_POWER_CONTROL::PowerState;
  const auto power_before = get<hw::PCI_POWER_CONTROL>();
  for (unsigned i = 0; i < std::min(bytes, 4u) && offset + i < kConfigBytes; ++i) {
    uint8_t& byte = state_.bytes[offset + i];
    const auto next = static_cast<uint8_t>(value >> (8 * i));
    const uint8_t mask = writable_[offset + i];
    byte = static_cast<uint8_t>((byte & ~mask) | (next & mask));
  }
  const State power = get<hw::PCI_POWER_CONTROL>().power_state;
  if (power == State::d1 || power == State::d2) {
    put(state_.bytes, power_before);  // not supported; the write completes and changes nothing
  }
  ConfigEffects effects;
  effects.function_level_reset = (power_before.power_state != State::d0 && in_d0()) ||
                                 get<hw::PCI_FEATURES_CONTROL>().initiate_reset ||
                                 get<hw::PCI_EXPRESS_CONTROL>().initiate_reset;
  ask_for_graphics_reset(effects);
  update_enables();
  return effects;
}

void ConfigSpace::ask_for_graphics_reset(ConfigEffects& effects) {
  auto gdrst = get<hw::PCI_GDRST>();
  effects.reset_domain = gdrst.domain;
  switch (config_reset(*model_)) {
    case ConfigReset::none:
      return;
    case ConfigReset::held:
      effects.graphics_reset = gdrst.initiate && !gdrst.in_reset;
      gdrst.in_reset = gdrst.initiate;
      break;
    case ConfigReset::clears_itself:
      effects.graphics_reset = gdrst.initiate;
      gdrst.initiate = false;  // complete when the write returns
      break;
  }
  put(state_.bytes, gdrst);
}

bool ConfigSpace::in_d0() const {
  return get<hw::PCI_POWER_CONTROL>().power_state == hw::PCI_POWER_CONTROL::PowerState::d0;
}

bool ConfigSpace::line_interrupt_enabled() const {
  return !get<hw::PCI_COMMAND>().interrupt_disable;
}

void ConfigSpace::update_enables() {
  const auto command = get<hw::PCI_COMMAND>();
  const bool awake = in_d0();
  enables_ = {.memory = command.memory_space && awake,
              .io = command.io_space && awake,
              .bus_master = command.bus_master && awake};
}

uint64_t ConfigSpace::bar_address(uint8_t index) const {
  const auto bar = std::ranges::find(model_->bars, index, &spec::BarModel::index);
  if (bar == model_->bars.end()) {
    return 0;
  }
  const auto low = get<hw::PCI_BAR>(index);
  if (bar->kind == spec::BarKind::io) {
    return low.io_address;
  }
  const uint64_t high = bar->address_bits == 64 ? word_at(hw::PCI_BAR::kDesc, index + 1u) : 0;
  return high << 32 | low.memory_address.value;
}

std::optional<BarHit> ConfigSpace::decode_memory(uint64_t address) const {
  if (!memory_enabled()) {
    return std::nullopt;
  }
  for (const spec::BarModel& bar : model_->bars) {
    const uint64_t base = bar_address(bar.index);
    if (bar.kind != spec::BarKind::io && address >= base && address - base < bar_bytes(bar, options_)) {
      return BarHit{bar.index, address - base};
    }
  }
  return std::nullopt;
}

std::optional<BarHit> ConfigSpace::decode_io(uint16_t port) const {
  if (!io_enabled()) {
    return std::nullopt;
  }
  for (const spec::BarModel& bar : model_->bars) {
    const uint64_t base = bar_address(bar.index);
    if (bar.kind == spec::BarKind::io && base != 0 && port >= base && port - base < bar.bytes) {
      return BarHit{bar.index, port - base};
    }
  }
  return std::nullopt;
}

bool ConfigSpace::msi_enabled() const {
  return get<hw::PCI_MSI_CAPABILITY>().enable;
}

bool ConfigSpace::msi_masked() const {
  return get<hw::PCI_MSI_MASK>().vector_0;
}

std::optional<MsiTarget> ConfigSpace::take_msi() {
  if (!msi_enabled()) {
    return std::nullopt;
  }
  if (msi_masked()) {
    put(state_.bytes, hw::PCI_MSI_PENDING{.vector_0 = true});
    return std::nullopt;
  }
  const uint64_t high = get<hw::PCI_MSI_ADDRESS_UPPER>().address;
  return MsiTarget{PhysAddr(high << 32 | get<hw::PCI_MSI_ADDRESS>().address.value), get<hw::PCI_MSI_DATA>().data};
}

std::optional<MsiTarget> ConfigSpace::take_pending_msi() {
  if (msi_masked() || !msi_enabled() || !get<hw::PCI_MSI_PENDING>().vector_0) {
    return std::nullopt;
  }
  put(state_.bytes, hw::PCI_MSI_PENDING{});
  return take_msi();
}

void ConfigSpace::set_interrupt_status(bool pending) {
  auto status = get<hw::PCI_STATUS>();
  status.interrupt_status = pending;
  put(state_.bytes, status);
}

void ConfigSpace::reset() {
  restore({reset_value_});
}

void ConfigSpace::restore(const ConfigState& state) {
  state_ = state;
  update_enables();
}

}  // namespace halogen::device
