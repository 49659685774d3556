// The observation unit with a hostile guest: any value in any of its registers, spans of work of any length, contexts,
// commands, resets and time, with buffers anywhere. Nothing may crash, and a restored snapshot continues the same way.
// Samples for the owner of the device follow each other without gaps.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_target.h"
#include "oa/sampler.h"

namespace halogen::fuzz {

// A device with a list of the registers of its unit, reset for every input.
struct ObservationUnderTest {
  explicit ObservationUnderTest(const spec::DeviceModel& model) : device(model) {
    device::Device& chip = *device.chip;
    chip.config_write(4, 2, 7);
    for (uint64_t page = 0; page < 64; ++page) {  // part of the global table is valid
      chip.bar_write(0, model.gtt_offset + page * 8, 8, page % 60 << 12 | 1);
    }
    device.fresh = chip.snapshot();
    for (const mmio::RegisterSlot& slot : chip.mmio().bank().map().slots()) {
      const std::string_view name = slot.desc->name;
      const bool wanted = name.starts_with("OA") || name.starts_with("CEC_") || name.starts_with("EU_PERF") ||
                          name.starts_with("NOA") || name == "GDT_CHICKEN_BITS" || name == "RPM_CONFIG1" ||
                          name == "CTXT_SR_CTL";
      if (wanted) slots.push_back(&slot);
    }
  }

  // Enables the unit with a small buffer and a timer that is not faster than hostile guests need.
  void start(uint32_t value) {
    mmio::RegisterBank& bank = device.chip->mmio().bank();
    const auto set = [&bank](std::string_view name, uint32_t to) {
      if (const mmio::RegisterSlot* slot = bank.map().find(name)) bank.write(*slot, to);
    };
    for (const char* name : {"OABUFFER", "OAG_OABUFFER"}) set(name, value >> 8 & 0x39);
    const mmio::RegisterSlot* const timer = bank.map().find("OACTXCONTROL", "rcs0");
    if (timer != nullptr) bank.write(*timer, (value >> 2 & 0xfc) | 3);
    set("OAG_OAGLBCTXCTRL", (value >> 2 & 0xfc) | 3);
    set("OAR_OACONTROL", (value & 7) << 1 | 1);
    set("OACONTROL", (value & 7) << 2 | 1);
    set("OAG_OACONTROL", (value & 7) << 2 | 1);
  }

  UsedDevice device;
  std::vector<const mmio::RegisterSlot*> slots;
};

// A sampler that the end of an input takes away. A restored device starts it again, at any time.
class SamplerUnderTest {
 public:
  explicit SamplerUnderTest(oa::Unit& unit) : unit_(unit) {}
  ~SamplerUnderTest() { unit_.set_sampler(nullptr); }
  SamplerUnderTest(const SamplerUnderTest&) = delete;
  SamplerUnderTest& operator=(const SamplerUnderTest&) = delete;

  void start(uint64_t period_ns, uint32_t events) {
    unit_.set_sampler(nullptr);
    oa::FlexibleEvents flexible;
    flexible[0] = {.increment = static_cast<uint8_t>(events & 15), .coarse = static_cast<uint8_t>(events >> 4 & 15)};
    sampler_.emplace(flexible, period_ns, [](const oa::Sample& sample) {
      if (sample.end_ns < sample.begin_ns) std::abort();
    });
    unit_.set_sampler(&*sampler_);
  }

 private:
  oa::Unit& unit_;
  std::optional<oa::Sampler> sampler_;
};

// Input: one byte for the device, then operations of 8 bytes: kind, a byte, index of a register or a length (16 bits),
// value.
inline void oa(std::span<const uint8_t> data) {
  constexpr size_t kOperation = 8;
  constexpr uint64_t kLongest = 3'000'000;  // of one step, in nanoseconds
  static const std::vector<const spec::DeviceModel*> models = [] {
    std::vector<const spec::DeviceModel*> with_unit;
    for (const spec::DeviceModel& model : spec::device_models()) {
      if (observation_rules(model.gen).exists) with_unit.push_back(&model);
    }
    return with_unit;
  }();
  if (data.size() < 1 + kOperation) return;
  static std::map<size_t, std::unique_ptr<ObservationUnderTest>> used;
  const size_t which = data[0] % models.size();
  std::unique_ptr<ObservationUnderTest>& mine = used[which];
  if (!mine || mine->device.runs == 0) {
    mine = std::make_unique<ObservationUnderTest>(*models[which]);
  }
  device::Device& chip = mine->device.renew();
  mmio::RegisterBank& bank = chip.mmio().bank();
  device::Observation& unit = chip.observation();
  SamplerUnderTest sampler(unit.unit());
  for (data = data.subspan(1); data.size() >= kOperation; data = data.subspan(kOperation)) {
    uint16_t place = 0;
    uint32_t value = 0;
    std::memcpy(&place, data.data() + 2, sizeof place);
    std::memcpy(&value, data.data() + 4, sizeof value);
    const uint64_t now = chip.clock().nanoseconds;
    const unsigned engine = data[1] % static_cast<unsigned>(chip.model().engines.size());
    switch (data[0] & 15) {
      case 0:
        mine->start(value);
        break;
      case 1:
      case 2:
      case 3:
        bank.write(*mine->slots[place % mine->slots.size()], value);
        break;
      case 4:
        static_cast<void>(bank.read(*mine->slots[place % mine->slots.size()]));
        break;
      case 5:
      case 6:
        chip.advance(value % kLongest);
        break;
      case 7: {  // work before, at or after the present
        oa::WorkSpan span{.begin_ns = now + place, .end_ns = now + place + (value & 0xf'ffff)};
        if ((data[1] & 0x80) != 0) span.begin_ns = now > value ? now - value : 0;
        if ((data[1] & 0x40) != 0) span.end_ns = value;
        span.counts.threads.fill(value);
        span.counts.blocks_written = uint64_t{value} << (data[1] & 31);
        for (oa::StageActivity& stage : span.counts.activity) {
          stage.issue_clocks[data[1] % oa::kPipes].fill(uint64_t{value} << (place & 31));
          stage.sends = value;
          stage.active_ns = place;
          stage.thread_ns = uint64_t{value} << (place & 15);
        }
        unit.on_engine_work(engine, span);
        break;
      }
      case 8:
        unit.on_engine_time(engine, {now + place, now + value, static_cast<oa::EngineTime>(data[1] % 3)});
        break;
      case 9:
        unit.on_context_switch(engine, {static_cast<engine::ContextStep::Kind>(data[1] % 4),
                                        uint64_t{value} << 32 | uint64_t{place} << 12 | 1, now + (value & 0xfff)});
        break;
      case 10: {
        std::array<uint32_t, oa::kMaxReportDwords> report{};
        if (unit.counter_report(engine, {value, place}, report) > report.size()) std::abort();
        break;
      }
      case 11:
        if ((data[1] & 7) == 0) {
          chip.reset((value & 1) != 0 ? device::ResetKind::power_on : device::ResetKind::function_level);
          chip.config_write(4, 2, 7);
        } else {
          chip.bar_write(0, 0x941c, 4, value & 3);
        }
        break;
      case 12: {  // the same from here on, twice
        const device::DeviceState kept = chip.snapshot();
        chip.advance(value % kLongest);
        const oa::UnitState expected = chip.snapshot().observation;
        chip.restore(kept);
        if (!(chip.snapshot() == kept)) std::abort();
        chip.advance(value % kLongest);
        if (!(chip.snapshot().observation == expected)) std::abort();
        break;
      }
      case 13:  // signals: one of the words that known lists have, or any
        bank.write(*bank.map().find("NOA_WRITE"), value);
        break;
      case 14:
        sampler.start(100 + uint64_t{place} * 16, value);
        break;
      default:
        static_cast<void>(unit.counts_wanted());
        break;
    }
  }
  static_cast<void>(chip.fidelity());
}

}  // namespace halogen::fuzz
