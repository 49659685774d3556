#include "device/config_space.h"

#include <algorithm>

namespace halogen::device {

namespace {

constexpr uint16_t kIntelVendor = 0x8086;
constexpr uint32_t kMaxConfig = 4096;

constexpr unsigned kPowerState = 4;      // PMCSR, from the power management capability
constexpr unsigned kFeatureControl = 4;  // from the advanced features capability
constexpr unsigned kDeviceControl = 8;   // from the PCI Express capability
constexpr uint16_t kInitiateReset = 0x8000;

}  // namespace

ConfigSpace::ConfigSpace(const spec::DeviceModel& model, const DeviceOptions& options)
    : model_(&model), layout_(&config_layout(model)), options_(options) {
  build();
  reset();
}

void ConfigSpace::put(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable) {
  for (unsigned i = 0; i < bytes; ++i) {
    reset_value_[offset + i] = static_cast<uint8_t>(value >> (8 * i));
    writable_[offset + i] = static_cast<uint8_t>(writable >> (8 * i));
  }
}

uint32_t ConfigSpace::get(unsigned offset, unsigned bytes) const {
  uint32_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    value |= uint32_t{state_.bytes[offset + i]} << (8 * i);
  }
  return value;
}

void ConfigSpace::build() {
  put(0x00, 2, kIntelVendor, 0);
  put(0x02, 2, options_.pci_id != 0 ? options_.pci_id : model_->pci_id, 0);
  put(kCommand, 2, 0, layout_->command_writable);
  put(kStatus, 2, layout_->status, 0);
  put(0x08, 1, model_->pci_revision, 0);
  put(0x09, 3, model_->pci_class, 0);
  put(0x2c, 4, model_->pci_subsystem, 0);
  put(0x3c, 1, 0, 0xff);  // interrupt line: for software only
  put(0x3d, 1, 1, 0);     // INTA
  build_bars();
  build_capabilities();
  const uint64_t stolen = options_.stolen_base;
  for (const ConfigRegister& reg : layout_->registers) {
    uint32_t value = 0;
    switch (reg.source) {
      case ConfigSource::zero:
        break;
      case ConfigSource::ggc:
        value = ggc();
        break;
      case ConfigSource::stolen_base:
        value = static_cast<uint32_t>(stolen);
        break;
      case ConfigSource::stolen_base_high:
        value = static_cast<uint32_t>(stolen >> 32);
        break;
    }
    put(reg.offset, reg.bytes, value, reg.writable);
  }
}

void ConfigSpace::build_bars() {
  for (const spec::BarModel& bar : model_->bars) {
    const unsigned offset = kFirstBar + 4u * bar.index;
    const uint64_t mask = ~(bar_bytes(bar, options_) - 1);
    if (bar.kind == spec::BarKind::io) {
      put(offset, 4, 1, static_cast<uint32_t>(mask) & 0xfffc);
      continue;
    }
    const uint32_t flags = (bar.address_bits == 64 ? 4u : 0u) | (bar.prefetchable ? 8u : 0u);
    put(offset, 4, flags, static_cast<uint32_t>(mask) & ~0xfu);
    if (bar.address_bits == 64) {
      put(offset + 4, 4, 0, static_cast<uint32_t>(mask >> 32));
    }
  }
}

void ConfigSpace::build_capabilities() {
  unsigned link = 0x34;
  for (const CapabilityPlace& place : layout_->capabilities) {
    put(link, 1, place.offset, 0);
    link = place.offset + 1u;
    switch (place.kind) {
      case CapabilityKind::vendor:
        put(place.offset, 4, 0x010c'0009, 0);  // length 12, version 1
        break;
      case CapabilityKind::power:
        put(place.offset, 4, 0x0022'0001, 0);  // version 2, device specific initialization, no PME
        put(place.offset + kPowerState, 2, 0, 3);
        power_ = place.offset;
        break;
      case CapabilityKind::msi:
        put(place.offset, 4, 0x0000'0005, 0x0071'0000);
        put(place.offset + 4u, 4, 0, 0xffff'fffc);
        put(place.offset + 8u, 2, 0, 0xffff);
        msi_ = place.offset;
        break;
      case CapabilityKind::msi_64_maskable:
        put(place.offset, 4, 0x0180'0005, 0x0071'0000);
        put(place.offset + 4u, 4, 0, 0xffff'fffc);
        put(place.offset + 8u, 4, 0, 0xffff'ffff);
        put(place.offset + 12u, 2, 0, 0xffff);
        put(place.offset + 16u, 4, 0, 1);
        msi_ = place.offset;
        msi_wide_ = true;
        break;
      case CapabilityKind::advanced_features:
        put(place.offset, 4, 0x0306'0013, 0);  // length 6, transactions pending and function level reset
        put(place.offset + kFeatureControl, 2, 0, 1);
        features_ = place.offset;
        break;
      case CapabilityKind::express_integrated:
      case CapabilityKind::express_endpoint: {
        const uint32_t type = place.kind == CapabilityKind::express_endpoint ? 0x0002'0010 : 0x0092'0010;
        put(place.offset, 4, type, 0);
        put(place.offset + 4u, 4, 0x1000'8000, 0);  // role-based errors, function level reset
        put(place.offset + kDeviceControl, 2, 0, 0xf8ff);
        express_ = place.offset;
        break;
      }
    }
  }
  put(link, 1, 0, 0);
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
  const bool was_in_d0 = in_d0();
  for (unsigned i = 0; i < std::min(bytes, 4u) && offset + i < kConfigBytes; ++i) {
    uint8_t& byte = state_.bytes[offset + i];
    auto next = static_cast<uint8_t>(value >> (8 * i));
    if (power_ != 0 && offset + i == power_ + kPowerState && (next & 3) != 0 && (next & 3) != 3) {
      next = byte;  // D1 and D2 are not supported: the write completes and changes nothing
    }
    const uint8_t mask = writable_[offset + i];
    byte = static_cast<uint8_t>((byte & ~mask) | (next & mask));
  }
  ConfigEffects effects;
  effects.function_level_reset = !was_in_d0 && in_d0();
  if (features_ != 0 && (state_.bytes[features_ + kFeatureControl] & 1) != 0) {
    effects.function_level_reset = true;
  }
  if (express_ != 0 && (get(express_ + kDeviceControl, 2) & kInitiateReset) != 0) {
    effects.function_level_reset = true;
  }
  if (layout_->reset != ConfigReset::none) {
    ask_for_graphics_reset(effects);
  }
  return effects;
}

void ConfigSpace::ask_for_graphics_reset(ConfigEffects& effects) {
  constexpr uint8_t kAsked = 1, kInReset = 2;
  uint8_t& gdrst = state_.bytes[kConfigGdrst];
  const bool asked = (gdrst & kAsked) != 0;
  effects.reset_domain = static_cast<uint8_t>((gdrst >> 2) & 3);
  if (layout_->reset == ConfigReset::held) {
    effects.graphics_reset = asked && (gdrst & kInReset) == 0;
    gdrst = static_cast<uint8_t>(asked ? gdrst | kInReset : gdrst & ~kInReset);
    return;
  }
  effects.graphics_reset = asked;
  gdrst = static_cast<uint8_t>(gdrst & ~kAsked);  // done at once
}

bool ConfigSpace::in_d0() const {
  return power_ == 0 || (state_.bytes[power_ + kPowerState] & 3) == 0;
}

uint64_t ConfigSpace::bar_address(uint8_t index) const {
  const auto bar = std::ranges::find(model_->bars, index, &spec::BarModel::index);
  if (bar == model_->bars.end()) {
    return 0;
  }
  const unsigned offset = kFirstBar + 4u * index;
  if (bar->kind == spec::BarKind::io) {
    return get(offset, 4) & ~3u;
  }
  const uint64_t high = bar->address_bits == 64 ? get(offset + 4, 4) : 0;
  return (high << 32) | (get(offset, 4) & ~0xfu);
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

std::optional<MsiTarget> ConfigSpace::take_msi() {
  if (!msi_enabled()) {
    return std::nullopt;
  }
  if (msi_masked()) {
    state_.bytes[msi_ + 20] |= 1;
    return std::nullopt;
  }
  const uint64_t high = msi_wide_ ? get(msi_ + 8u, 4) : 0;
  const unsigned data = msi_ + (msi_wide_ ? 12u : 8u);
  return MsiTarget{PhysAddr(high << 32 | get(msi_ + 4u, 4)), static_cast<uint16_t>(get(data, 2))};
}

std::optional<MsiTarget> ConfigSpace::take_pending_msi() {
  if (!msi_wide_ || msi_masked() || !msi_enabled() || (state_.bytes[msi_ + 20] & 1) == 0) {
    return std::nullopt;
  }
  state_.bytes[msi_ + 20] &= 0xfe;
  return take_msi();
}

void ConfigSpace::set_interrupt_status(bool pending) {
  state_.bytes[kStatus] = static_cast<uint8_t>((state_.bytes[kStatus] & ~8u) | (pending ? 8u : 0u));
}

void ConfigSpace::reset() {
  state_.bytes = reset_value_;
}

}  // namespace halogen::device
