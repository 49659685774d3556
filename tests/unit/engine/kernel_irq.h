// A kernel's interrupt handler for each kind of interrupt logic. It accesses the registers in the order of Linux i915:
// disable the master, read the identity, acknowledge it, wake the waiters, enable the master. It uses message-signalled
// interrupts where the driver does, else the interrupt line.
#pragma once

#include <map>
#include <string>

#include "support/engine_bench.h"

namespace halogen {

// The causes that the handler found, per engine. Bits are numbered as engines of Gen8 and later number them.
using Causes = std::map<std::string, uint32_t>;
inline constexpr uint32_t kUserCause = 1, kSwitchCause = 0x100;

class InterruptHandler {
 public:
  explicit InterruptHandler(EngineBench& bench) : bench_(bench) {}

  // Returns whether the registers have interrupt bits for the engine. POSH has none.
  static bool reaches(const spec::EngineModel& engine) { return engine.engine_class != spec::EngineClass::posh; }

  void install() {
    if (bench_.model.gen != spec::GenId::gen4) {  // drivers do not use MSI on Gen4
      enable_messages();
    }
    unmask();
    set_master(true);
  }
  // Enables everything below the master. Resets clear some of it.
  void unmask() {
    switch (bench_.model.gen) {
      case spec::GenId::gen4:
      case spec::GenId::gen4_5:
        bench_.write(0x20a8, ~kGen4User);
        return;
      case spec::GenId::gen6:
        for (const spec::EngineModel& each : bench_.model.engines) bench_.set_reg(each.name, 0xa8, ~kGen6User);
        bench_.write(0x44014, ~kGen6User);
        bench_.write(0x4401c, kGen6User);
        return;
      case spec::GenId::gen8:
      case spec::GenId::gen9:
        for (const spec::EngineModel& each : bench_.model.engines) bench_.set_reg(each.name, 0xa8, ~kBothHalves);
        for (const uint32_t bank : {0u, 1u, 3u}) {
          bench_.write(0x44304 + 0x10 * bank, ~kBothHalves);
          bench_.write(0x4430c + 0x10 * bank, kBothHalves);
        }
        return;
      default:
        for (const uint32_t enable : {0x190030u, 0x190034u, 0x190048u}) bench_.write(enable, kBothHalves);
        for (uint32_t mask = 0x190090; mask <= 0x190104; mask += 4) bench_.write(mask, ~kBothHalves);
        if (bench_.model.name == "dg1") bench_.write(0x190010, 0x8000'0000);
    }
  }
  // The master enable. Gen4 has only the interrupt enable register.
  void set_master(bool open) {
    const uint32_t on = open ? 0x8000'0000 : 0;
    if (bench_.is_gen4()) {
      bench_.write(0x20a0, open ? kGen4User : 0);
    } else if (bench_.model.gen == spec::GenId::gen6) {
      bench_.write(0x4400c, on);
    } else if (!is_collapsed()) {
      bench_.write(0x44200, on);
    } else {
      bench_.write(bench_.model.name == "dg1" ? 0x190008 : 0x190010, on);
    }
  }

  // Returns whether the CPU has received an interrupt that the handler has not served.
  bool pending() const {
    const auto& host = bench_.host;
    return messages_ ? host.messages.size() != taken_ : !host.line.empty() && host.line.back();
  }
  // Serves interrupts until none is pending. Every cause is acknowledged, so that it can be raised again.
  Causes serve() {
    Causes all;
    for (unsigned round = 0; pending() && round < kMaxRounds; ++round) {
      for (; taken_ < bench_.host.messages.size(); ++taken_) {
        EXPECT_EQ(bench_.host.messages[taken_], (std::pair<uint64_t, uint32_t>{kAddress, kData}));
      }
      set_master(false);
      for (const auto& [engine, bits] : look()) all[engine] |= bits;
      set_master(true);
    }
    EXPECT_FALSE(pending()) << "every cause is acknowledged";
    return all;
  }

 private:
  static constexpr unsigned kMaxRounds = 8;
  static constexpr uint32_t kGen4User = 1u << 1 | 1u << 25, kGen6User = 1u | 1u << 12 | 1u << 22;
  static constexpr uint32_t kBothHalves = 0x0101'0101;
  static constexpr uint64_t kAddress = 0xfee0'1000;
  static constexpr uint32_t kData = 0x4041;

  bool is_collapsed() const { return bench_.model.gen == spec::GenId::gen11 || bench_.model.gen == spec::GenId::gen12; }

  // Enables MSI as bus code does, and disables the interrupt line.
  void enable_messages() {
    device::Device& device = *bench_.device;
    uint32_t at = device.config_read(0x34, 1);
    while (at != 0 && device.config_read(at, 1) != 5) at = device.config_read(at + 1, 1);
    ASSERT_NE(at, 0u) << "no MSI capability";
    const uint32_t control = device.config_read(at + 2, 2);
    const bool wide = (control & 0x80) != 0;
    device.config_write(at + 4, 4, static_cast<uint32_t>(kAddress));
    if (wide) device.config_write(at + 8, 4, 0);
    device.config_write(at + (wide ? 12u : 8u), 2, kData);
    device.config_write(at + 2, 2, control | 1);
    device.config_write(4, 2, 0x407);
    messages_ = true;
  }

  static void note(Causes& causes, uint32_t identity, uint32_t bit, const char* engine) {
    if ((identity & bit) != 0) causes[engine] |= kUserCause;
  }
  Causes look() {
    Causes causes;
    if (bench_.is_gen4()) {
      const uint32_t identity = bench_.read(0x20a4);
      bench_.write(0x20a4, identity);
      EXPECT_EQ(bench_.read(0x20a4) & identity & kGen4User, 0u) << "acknowledged";
      note(causes, identity, 1u << 1, "rcs0");
      note(causes, identity, 1u << 25, "vcs0");
    } else if (bench_.model.gen == spec::GenId::gen6) {
      const uint32_t identity = bench_.read(0x44018);
      bench_.write(0x44018, identity);
      note(causes, identity, 1u, "rcs0");
      note(causes, identity, 1u << 12, "vcs0");
      note(causes, identity, 1u << 22, "bcs0");
    } else if (!is_collapsed()) {
      look_at_banks(causes);
    } else {
      look_at_collapsed(causes);
    }
    return causes;
  }
  void look_at_banks(Causes& causes) {
    struct Half {
      uint32_t master, bank, shift;
      const char* engine;
    };
    static constexpr Half kHalves[] = {
        {1u, 0, 0, "rcs0"}, {2u, 0, 16, "bcs0"}, {4u, 1, 0, "vcs0"}, {8u, 1, 16, "vcs1"}, {0x40u, 3, 0, "vecs0"}};
    const uint32_t master = bench_.read(0x44200);
    for (const Half& half : kHalves) {
      const uint32_t at = 0x44308 + 0x10 * half.bank;
      const uint32_t identity = (master & half.master) != 0 ? bench_.read(at) & 0xffffu << half.shift : 0;
      if (identity != 0) {
        causes[half.engine] |= identity >> half.shift;
        bench_.write(at, identity);
      }
    }
  }
  void look_at_collapsed(Causes& causes) {
    if (bench_.model.name == "dg1") bench_.write(0x190008, bench_.read(0x190008));
    const uint32_t master = bench_.read(0x190010);
    if (bench_.model.name == "dg1") bench_.write(0x190010, master);
    for (uint32_t bank = 0; bank < 2; ++bank) {
      const uint32_t sources = (master & 1u << bank) != 0 ? bench_.read(0x190018 + 4 * bank) : 0;
      for (unsigned bit = 0; bit < 32; ++bit) {
        if ((sources & 1u << bit) == 0) continue;
        bench_.write(0x190070 + 4 * bank, 1u << bit);
        const uint32_t identity = bench_.read(0x190060 + 4 * bank);
        EXPECT_NE(identity & 1u << 31, 0u) << "valid";
        bench_.write(0x190060 + 4 * bank, 1u << 31);
        static constexpr const char* kNames[] = {"rcs", "vcs", "vecs", "bcs", "other", "ccs", "", ""};
        causes[kNames[identity >> 16 & 7] + std::to_string(identity >> 20 & 63)] |= identity & 0xffff;
      }
      bench_.write(0x190018 + 4 * bank, sources);
    }
  }

  EngineBench& bench_;
  bool messages_ = false;
  size_t taken_ = 0;
};

}  // namespace halogen
