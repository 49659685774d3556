#include "device/reset_unit.h"

#include <algorithm>

namespace halogen {

namespace {

// RESET_CTL.
constexpr uint32_t kRequestReset = 1u << 0;
constexpr uint32_t kReadyToReset = 1u << 1;
constexpr uint32_t kCatastrophicError = 1u << 2;

constexpr std::string_view kGdrst = "GDRST";
constexpr std::string_view kResetCtl = "RESET_CTL";

}  // namespace

ResetUnit::ResetUnit(MmioSpace& mmio) : mmio_(mmio) {
  mmio_.bank().attach(kGdrst, *this);
  mmio_.bank().attach(kResetCtl, *this);
}

uint32_t ResetUnit::on_write(const RegisterWrite& write) {
  return write.slot.desc->name == kGdrst ? write_gdrst(write) : write_reset_ctl(write);
}

uint32_t ResetUnit::write_gdrst(const RegisterWrite& write) {
  const spec::DeviceModel& model = mmio_.generation().model();
  for (const ResetDomain& domain : mmio_.generation().reset_domains()) {
    if (write.ones(1u << domain.bit) == 0) {
      continue;
    }
    if (domain.engine_class == ResetDomain::kWholeGt) {
      reset_gt();
      break;
    }
    for (const spec::EngineModel& engine : model.engines) {
      if (static_cast<int>(engine.engine_class) == domain.engine_class && engine.instance == domain.instance) {
        reset_engine(engine);
      }
    }
  }
  return 0;  // every bit reads zero again when its reset is over
}

uint32_t ResetUnit::write_reset_ctl(const RegisterWrite& write) {
  // An idle streamer is ready at once. Withdrawing the request withdraws the readiness. A one acknowledges an error.
  const bool requested = (write.next & kRequestReset) != 0;
  const uint32_t acknowledged = write.ones(kCatastrophicError);
  const uint32_t error = write.old_value & kCatastrophicError & ~acknowledged;
  return (write.next & ~(kReadyToReset | kCatastrophicError)) | (requested ? kReadyToReset : 0) | error;
}

void ResetUnit::reset_ranges(std::span<const spec::OffsetRange> ranges) {
  RegisterBank& bank = mmio_.bank();
  for (const RegisterSlot& slot : bank.map().slots()) {
    if (slot.engine != nullptr) {
      continue;
    }
    if (std::ranges::any_of(ranges, [&slot](const spec::OffsetRange& range) {
          return slot.offset >= range.start && slot.offset <= range.end;
        })) {
      bank.reset(slot);
    }
  }
}

void ResetUnit::reset_engine(const spec::EngineModel& engine) {
  RegisterBank& bank = mmio_.bank();
  for (const RegisterSlot& slot : bank.map().slots()) {
    if (slot.engine == &engine) {
      bank.reset(slot);
    }
  }
  if (engine.engine_class == spec::EngineClass::render) {
    reset_ranges(mmio_.generation().render_reset_ranges());
  }
  if (callback_) {
    callback_(engine);
  }
}

void ResetUnit::reset_gt() {
  reset_ranges(mmio_.generation().gt_reset_ranges());
  for (const spec::EngineModel& engine : mmio_.generation().model().engines) {
    reset_engine(engine);
  }
}

void ResetUnit::reset_gen4_domain(unsigned domain) {
  for (const spec::EngineModel& engine : mmio_.generation().model().engines) {
    const bool render = engine.engine_class == spec::EngineClass::render;
    if (domain == 0 || (domain == 1 && render) || (domain == 3 && !render)) {
      reset_engine(engine);
    }
  }
  if (domain == 0) {
    reset_ranges(mmio_.generation().gt_reset_ranges());
  }
}

}  // namespace halogen
