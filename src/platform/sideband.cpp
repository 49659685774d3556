#include "platform/sideband.h"

#include <array>
#include <span>

#include "spec/packed.h"
#include "spec/packing.h"

namespace halogen::platform {
namespace {

using Port = hw::SidebandPort;
using Opcode = hw::SidebandOpcode;
using Punit = hw::PunitRegister;
using Cck = hw::CckRegister;

// Graphics frequencies are in units of 5 MHz: the 20 MHz reference of the clock generator divided by four.
constexpr uint8_t kHighest = 140;
constexpr uint8_t kGuaranteed = 80;
constexpr uint8_t kEfficient = 64;
constexpr uint8_t kLowest = 40;
// Dividers of twice the host PLL's 1600 MHz, and of twice the CZ clock.
constexpr uint8_t kCzDivider = 9;         // 320 MHz
constexpr uint8_t kDisplayDivider = 9;    // 320 MHz
constexpr uint8_t kGraphicsDivider = 31;  // 20 MHz
constexpr uint8_t kPowerGated = 3;

// Returns the mask of the bytes that a request enables.
constexpr uint32_t lanes(unsigned enables) {
  uint32_t mask = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    if ((enables >> byte & 1) != 0) mask |= 0xffu << 8 * byte;
  }
  return mask;
}
static_assert(lanes(0xf) == 0xffff'ffff && lanes(0x4) == 0x00ff'0000);

}  // namespace

Sideband::Sideband(const spec::DeviceModel& model, mmio::MmioSpace& mmio, EventSink& events, std::string path)
    : gen_(model.gen), mmio_(mmio), events_(events), path_(std::move(path)), data_(mmio.bank()), address_(mmio.bank()) {
  if (data_.exists() && address_.exists()) {
    mmio_.bank().attach("IOSF_DOORBELL_REQ", *this);
  }
}

template <class T>
T Sideband::unpack(uint32_t value) const {
  return T::unpack(gen_, std::span(&value, 1));
}

template <class T>
uint32_t Sideband::pack(const T& value) const {
  return spec::packed32(value, gen_);
}

bool Sideband::is_known(Port port) const {
  const spec::Layout* layout = hw::IOSF_DOORBELL_REQ::kDesc.layout(gen_);
  for (const spec::FieldDesc& field : layout->fields) {
    if (field.name == "port") return !field.enumeration->name_of(static_cast<uint64_t>(port), gen_).empty();
  }
  return false;
}

uint32_t Sideband::on_write(const mmio::RegisterWrite& write) {
  auto request = spec::unpack_register<hw::IOSF_DOORBELL_REQ>(gen_, write.next);
  if (!request.busy) {
    return write.next;
  }
  run(request);
  request.busy = false;
  return spec::packed32(request, gen_);
}

void Sideband::run(const hw::IOSF_DOORBELL_REQ& request) {
  const uint32_t address = address_.raw32();
  const bool is_write = request.opcode == Opcode::MEMORY_WRITE || request.opcode == Opcode::PRIVATE_WRITE;
  const bool is_read = request.opcode == Opcode::MEMORY_READ || request.opcode == Opcode::PRIVATE_READ;
  if (!is_known(request.port) || (!is_read && !is_write)) {
    refuse(request, is_read || is_write ? "no unit at this port" : "transaction type invalid");
    if (!is_write) data_.set_raw(0);
    return;
  }
  if (is_read) {
    data_.set_raw(read(request.port, address));
    return;
  }
  const uint32_t mask = lanes(request.byte_enables);
  write(request.port, address, (read(request.port, address) & ~mask) | (data_.raw32() & mask));
}

uint32_t Sideband::read(Port port, uint32_t address) const {
  if (port == Port::PUNIT && static_cast<Punit>(address) == Punit::PWRGT_STATUS) {
    address = static_cast<uint32_t>(Punit::PWRGT_CTRL);  // wells switch immediately
  }
  const auto written = state_.registers.find({static_cast<uint8_t>(port), address});
  if (written != state_.registers.end()) return written->second;
  if (port == Port::PUNIT) {
    switch (static_cast<Punit>(address)) {
      case Punit::DSPSSPM:
        return pack(hw::PUNIT_DSPSSPM{.frequency = kDisplayDivider, .frequency_state = kDisplayDivider});
      case Punit::VEDSSPM0:
      case Punit::ISPSSPM0:  // the device does not have these units
        return pack(hw::PUNIT_SSPM0{.request = hw::PUNIT_SSPM0::Request::power_gated, .state = kPowerGated});
      case Punit::GPU_FREQ_REQ:
        return kGuaranteed;
      case Punit::GPU_FREQ_STS:
        return pack(hw::PUNIT_GPU_FREQ_STS{.gpll_enabled = true, .frequency = kGuaranteed});
      case Punit::GPU_DUTYCYCLE:
        return pack(hw::PUNIT_GPU_DUTYCYCLE{.efficient = kEfficient});
      case Punit::GFX_FMAX_FUSE:
        return pack(hw::PUNIT_GFX_FMAX_FUSE{
            .guaranteed = kGuaranteed, .with_16_eus = kHighest, .with_12_eus = kHighest, .with_8_eus = kHighest});
      case Punit::GFX_FMIN_FUSE:
        return pack(hw::PUNIT_GFX_FMIN_FUSE{.lowest = kLowest});
      case Punit::PWRGT_CTRL:
      case Punit::PWRGT_STATUS:
      case Punit::DDR_SETUP2:
        break;
    }
  }
  if (port == Port::CCK) {
    const auto clock = [&](uint8_t divider) {
      return pack(hw::CCK_CLOCK_CONTROL{.divider = divider, .divider_state = divider});
    };
    switch (static_cast<Cck>(address)) {
      case Cck::FUSE:
        return pack(hw::CCK_FUSE{.host_pll = hw::CCK_FUSE::HostPll::mhz_1600});
      case Cck::CZ_CLOCK:
        return clock(kCzDivider);
      case Cck::GPLL_CLOCK:
        return clock(kGraphicsDivider);
      case Cck::DISPLAY_CLOCK:
      case Cck::DISPLAY_REF_CLOCK:
        return clock(kDisplayDivider);
    }
  }
  return 0;
}

void Sideband::keep(Port port, uint32_t address, uint32_t value) {
  const std::pair key{static_cast<uint8_t>(port), address};
  if (state_.registers.size() >= kMaxRegisters && !state_.registers.contains(key)) {
    events_.on_event({EventKind::bad_access, "IOSF_DATA", path_, address, value,
                      "write dropped; the limit of stored registers is reached"});
    return;
  }
  state_.registers[key] = value;
}

void Sideband::write(Port port, uint32_t address, uint32_t value) {
  if (port == Port::PUNIT) {
    write_power_unit(static_cast<Punit>(address), value);
  } else if (port == Port::CCK && static_cast<Cck>(address) == Cck::FUSE) {
    return;
  } else if (port == Port::CCK) {
    auto clock = unpack<hw::CCK_CLOCK_CONTROL>(value);
    switch (static_cast<Cck>(address)) {
      case Cck::CZ_CLOCK:
      case Cck::GPLL_CLOCK:
      case Cck::DISPLAY_CLOCK:
      case Cck::DISPLAY_REF_CLOCK:
        clock.divider_state = clock.divider;
        value = pack(clock);
        break;
      case Cck::FUSE:
        break;
    }
    keep(port, address, value);
  } else {
    keep(port, address, value);
  }
}

// Requests take effect immediately.
void Sideband::write_power_unit(Punit number, uint32_t value) {
  switch (number) {
    case Punit::DSPSSPM: {
      auto display = unpack<hw::PUNIT_DSPSSPM>(value);
      display.pipe_a_state = display.pipe_a;
      display.pipe_b_state = display.pipe_b;
      display.pipe_c_state = display.pipe_c;
      display.max_fifo_status = display.max_fifo_enable;
      display.frequency_state = display.frequency;
      value = pack(display);
      break;
    }
    case Punit::VEDSSPM0:
    case Punit::ISPSSPM0: {
      auto unit = unpack<hw::PUNIT_SSPM0>(value);
      unit.state = static_cast<uint8_t>(unit.request);
      value = pack(unit);
      break;
    }
    case Punit::GPU_FREQ_REQ:
      keep(Port::PUNIT, static_cast<uint32_t>(Punit::GPU_FREQ_STS),
           pack(hw::PUNIT_GPU_FREQ_STS{.gpll_enabled = true, .frequency = static_cast<uint8_t>(value)}));
      break;
    case Punit::DDR_SETUP2: {
      auto memory = unpack<hw::PUNIT_DDR_SETUP2>(value);
      memory.request = false;
      value = pack(memory);
      break;
    }
    case Punit::PWRGT_STATUS:
    case Punit::GPU_FREQ_STS:
    case Punit::GPU_DUTYCYCLE:
    case Punit::GFX_FMAX_FUSE:
    case Punit::GFX_FMIN_FUSE:
      return;  // read-only
    case Punit::PWRGT_CTRL:
      break;
  }
  keep(Port::PUNIT, static_cast<uint32_t>(number), value);
}

hw::PUNIT_PWRGT Sideband::power_wells() const {
  return unpack<hw::PUNIT_PWRGT>(read(Port::PUNIT, static_cast<uint32_t>(Punit::PWRGT_STATUS)));
}

void Sideband::refuse(const hw::IOSF_DOORBELL_REQ& request, std::string_view why) {
  events_.on_event({EventKind::unsupported, "IOSF_DOORBELL_REQ", path_, static_cast<uint64_t>(request.port),
                    static_cast<uint64_t>(request.opcode), std::string(why)});
}

}  // namespace halogen::platform
