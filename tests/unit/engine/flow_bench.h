// FlowBench: MI commands as a driver encodes them, from the manuals, and a status page for each engine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "covers.h"
#include "support/engine_bench.h"

namespace halogen {

inline constexpr uint32_t kNoop = 0;
inline constexpr uint32_t kUserInterrupt = 0x02u << 23;
inline constexpr uint32_t kWaitForEvent = 0x03u << 23;
inline constexpr uint32_t kFlush = 0x04u << 23;
inline constexpr uint32_t kArbCheck = 0x05u << 23;
inline constexpr uint32_t kUnprobe = 0x06u << 23;
inline constexpr uint32_t kReportHead = 0x07u << 23;
inline constexpr uint32_t kArbOnOff = 0x08u << 23;
inline constexpr uint32_t kBatchEnd = 0x0au << 23;
inline constexpr uint32_t kSuspendFlush = 0x0bu << 23;
inline constexpr uint32_t kSetContext = 0x18u << 23;
inline constexpr uint32_t kProbe = 0x25u << 23;
inline constexpr uint32_t kBatchStart = 0x31u << 23;

// Offsets from an engine's base.
inline constexpr uint32_t kIpehr = 0x68, kActhd = 0x74, kHwsPga = 0x80, kNopid = 0x94, kHwstam = 0x98, kMiMode = 0x9c,
                          kEir = 0xb0, kEmr = 0xb4, kEsr = 0xb8, kInstpm = 0xc0, kUhptr = 0x134;

struct FlowBench : EngineBench {
  using Dwords = std::vector<uint32_t>;

  explicit FlowBench(std::string_view name, device::DeviceOptions options = {})
      : EngineBench(name, std::move(options)) {}

  bool is_gen8_on() const { return model.gen >= spec::GenId::gen8; }
  bool has_engine(std::string_view name) const {
    for (const spec::EngineModel& each : model.engines) {
      if (each.name == name) {
        return true;
      }
    }
    return false;
  }

  // Returns how often a command was executed or passed to a back end.
  uint64_t executed(const std::string& command) const {
    const FidelityReport report = device->fidelity();
    const auto found = report.entries().find({FidelityKind::command, command});
    return found == report.entries().end() ? 0 : found->second.count;
  }

  // Returns a store of one dword through the global table.
  Dwords store(uint64_t address, uint32_t value) const {
    const auto low = static_cast<uint32_t>(address);
    return is_gen8_on() ? Dwords{0x1040'0002, low, 0, value} : Dwords{0x1040'0002, 0, low, value};
  }
  // Returns a start of a batch in the global table. Bit 7 selects graphics memory on Gen4.
  Dwords batch(uint64_t address, uint32_t flags = 0) const {
    const auto low = static_cast<uint32_t>(address);
    if (is_gen8_on()) {
      return {kBatchStart | flags | 1, low, 0};
    }
    return {kBatchStart | flags | (is_gen4() ? 0x80u : 0u), low};
  }
  // Concatenates command sequences.
  static Dwords join(std::initializer_list<Dwords> parts) {
    Dwords all;
    for (const Dwords& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  uint64_t place(const Dwords& dwords) {
    const uint64_t at = allocate(dwords.size() * 4 / kPage + 1);
    poke(at, dwords);
    return at;
  }
  void run_all(std::string_view engine, const Dwords& dwords) {
    emit(engine, dwords);
    submit(engine);
    EXPECT_TRUE(device->settle());
  }

  // Allocates the status page of an engine. Gen4 takes its physical address.
  uint64_t give_status_page(std::string_view engine) {
    const uint64_t page = allocate(1);
    const bool physical = model.gen == spec::GenId::gen4;
    const uint32_t at = model.gen == spec::GenId::gen6 ? 0x2080 : kHwsPga;
    set_reg(engine, at, static_cast<uint32_t>(physical ? host_address(page) : page));
    return page;
  }
  size_t undefined() const { return events(EventKind::undefined_behaviour); }
};

inline std::vector<std::string> all_chips() {
  std::vector<std::string> names;
  for (const spec::DeviceModel& model : spec::device_models()) {
    names.emplace_back(model.name);
  }
  return names;
}
inline std::vector<std::string> gen4_chips() {
  return {"i965", "gm965", "g45", "gm45"};
}
inline std::vector<std::string> ring_chips() {
  return {"i965", "gm965", "g45", "gm45", "snb"};
}
inline std::string chip_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace halogen
