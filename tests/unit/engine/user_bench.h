// UserBench: a context whose commands run in a batch of the process (without privilege), a batch of the global table,
// or the ring. For execlist engines.
#pragma once

#include <cstdint>
#include <string_view>

#include "mi_bench.h"
#include "support/context_bench.h"

namespace halogen {

inline constexpr uint32_t kErrorIdentity = 0xb0, kErrorMask = 0xb4;
inline constexpr uint32_t kPrivilegeViolation = 1u << 2;

// A context with one page of commands and one page of data in its own tables. The data page is also mapped in the
// global table.
struct UserBench : ContextBench {
  static constexpr uint64_t kCode = 0x20'0000, kData = 0x30'0000;

  explicit UserBench(std::string_view chip, std::string_view name = "rcs0")
      : ContextBench(chip), engine(name), base(engine_model(name).mmio_base), context(create(name, 1)) {
    code = allocate(1);
    data = allocate(1);
    map_process(context, kCode, code);
    map_process(context, kData, data);
    set_reg(engine, kErrorMask, 0);
  }

  // Runs commands in a batch of the process.
  void user(const Dwords& dwords) {
    poke(code, std::span<const uint32_t>(dwords + Dwords{0x0500'0000}));
    ring({0x1880'0101, low(kCode), high(kCode)});
  }
  // Runs commands in a batch of the global table.
  void kernel(const Dwords& dwords) {
    poke(code, std::span<const uint32_t>(dwords + Dwords{0x0500'0000}));
    ring({0x1880'0001, low(code), high(code)});
  }
  void ring(const Dwords& dwords) {
    emit(context, dwords);
    run(context);
  }
  // Returns whether an error was flagged since the last call.
  bool violated() {
    const bool flagged = (reg(engine, kErrorIdentity) & kPrivilegeViolation) != 0;
    set_reg(engine, kErrorIdentity, kPrivilegeViolation);
    EXPECT_EQ(reg(engine, kErrorIdentity) & kPrivilegeViolation, 0u);
    return flagged;
  }
  Dwords load(uint32_t offset, uint32_t value) const { return {0x1100'0001, base + offset, value}; }
  uint32_t value(uint32_t offset) { return reg(engine, offset); }

  std::string_view engine;
  uint32_t base;
  Context context;
  uint64_t code = 0;
  uint64_t data = 0;
};

}  // namespace halogen
