// The interrupts of an engine as software reads them, from Gen6 on. Bits are numbered as engines of Gen6 and later
// number them. Register offsets are from Linux i915.
#pragma once

#include <string_view>

#include "support/engine_bench.h"

namespace halogen {

inline constexpr uint32_t kUserEvent = 1u << 0, kErrorEvent = 1u << 3, kNotifyEvent = 1u << 4, kSwitchEvent = 1u << 8;

class EngineEvents {
 public:
  explicit EngineEvents(EngineBench& bench) : bench_(bench) {
    if (bench.is_gen4()) {
      ADD_FAILURE() << "one interrupt bank serves all engines";
    } else if (collapsed()) {
      for (const uint32_t enable : {0x190030u, 0x190034u}) bench.write(enable, ~0u);
      for (uint32_t mask = 0x190090; mask <= 0x1900d4; mask += 4) bench.write(mask, 0);
    } else {
      for (const spec::EngineModel& each : bench.model.engines) bench.set_reg(each.name, 0xa8, 0);
      for (const uint32_t bank : banks()) {
        bench.write(bank + 4, 0);
        bench.write(bank + 12, ~0u);
      }
    }
  }
  // Returns the events since the last call.
  uint32_t take(std::string_view engine) {
    const Place place = place_of(engine);
    if (!collapsed()) {
      const uint32_t found = bench_.read(place.bank + 8) & low_bits(place.width) << place.shift;
      bench_.write(place.bank + 8, found);
      return found >> place.shift;
    }
    const uint32_t dword = place.bank;
    if ((bench_.read(0x190018 + 4 * dword) & 1u << place.shift) == 0) {
      return 0;
    }
    bench_.write(0x190070 + 4 * dword, 1u << place.shift);
    const uint32_t identity = bench_.read(0x190060 + 4 * dword);
    EXPECT_EQ(identity >> 31, 1u);
    bench_.write(0x190060 + 4 * dword, 1u << 31);
    bench_.write(0x190018 + 4 * dword, 1u << place.shift);
    return identity & 0xffff;
  }

 private:
  struct Place {
    uint32_t bank = 0;  // offset of the status register, or index of a dword
    unsigned shift = 0;
    unsigned width = 16;
  };
  static uint32_t low_bits(unsigned width) { return (1u << width) - 1; }
  bool collapsed() const { return bench_.model.gen == spec::GenId::gen11 || bench_.model.gen == spec::GenId::gen12; }
  std::vector<uint32_t> banks() const {
    return bench_.model.gen == spec::GenId::gen6 ? std::vector<uint32_t>{0x44010}
                                                 : std::vector<uint32_t>{0x44300, 0x44310, 0x44330};
  }
  Place place_of(std::string_view engine) const {
    const bool render = engine.starts_with("rcs"), copy = engine.starts_with("bcs"), video = engine.starts_with("vcs");
    const auto number = static_cast<unsigned>(engine.back() - '0');
    if (bench_.model.gen == spec::GenId::gen6) {
      return {0x44010, render ? 0u : video ? 12u : 22u, 10};
    }
    if (collapsed()) {
      return render ? Place{0, 0} : copy ? Place{0, 15} : video ? Place{1, number} : Place{1, 31 - number};
    }
    return render || copy ? Place{0x44300, copy ? 16u : 0u} : Place{video ? 0x44310u : 0x44330u, 16 * number};
  }

  EngineBench& bench_;
};

}  // namespace halogen
