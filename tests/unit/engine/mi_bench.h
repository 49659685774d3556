// MiBench: MI commands as the manuals encode them, for the tests of their handlers. Addresses are in the global table
// unless a name says otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "support/engine_bench.h"

namespace halogen {

using Dwords = std::vector<uint32_t>;

inline uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}
inline uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}
inline Dwords operator+(Dwords left, const Dwords& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

struct MiBench : EngineBench {
  explicit MiBench(std::string_view name, std::string_view engine = "rcs0") : EngineBench(name), engine_name(engine) {
    start_ring(engine);
  }

  bool wide() const { return entry_bytes() == 8; }  // 64-bit addresses in commands
  uint32_t base() const { return engine_model(engine_name).mmio_base; }
  uint32_t gpr(unsigned index) const { return base() + 0x600 + 8 * index; }

  // Returns an address as one or two dwords.
  Dwords at(uint64_t address) const { return wide() ? Dwords{low(address), high(address)} : Dwords{low(address)}; }

  Dwords store(uint64_t address, uint32_t value) const {
    return wide() ? Dwords{0x1040'0002, low(address), high(address), value}
                  : Dwords{0x1040'0002, 0, low(address), value};
  }
  static Dwords load(uint32_t offset, uint32_t value) { return {0x1100'0001, offset, value}; }
  Dwords load64(uint32_t offset, uint64_t value) const {
    return load(offset, low(value)) + load(offset + 4, high(value));
  }
  Dwords save(uint32_t offset, uint64_t address) const {
    return Dwords{wide() ? 0x1240'0002u : 0x1240'0001u, offset} + at(address);
  }
  // Returns the start of a batch in the global table (secure), or of a non-secure batch.
  Dwords batch(uint64_t address, bool privileged) const {
    if (wide()) {
      return Dwords{privileged ? 0x1880'0001u : 0x1880'0101u} + at(address);
    }
    return {is_gen4() ? (privileged ? 0x1880'0080u : 0x1880'0180u) : (privileged ? 0x1880'0000u : 0x1880'0100u),
            low(address)};
  }
  static Dwords end() { return {0x0500'0000}; }

  void go(const Dwords& dwords) {
    emit(engine_name, dwords);
    submit(engine_name);
    EXPECT_TRUE(device->settle());
  }
  // Runs commands in a batch buffer of their own.
  void go_in_batch(const Dwords& dwords, bool privileged) {
    const uint64_t at = allocate(1);
    poke(at, std::span<const uint32_t>(dwords + end()));
    go(batch(at, privileged));
  }
  uint64_t peek64(uint64_t address) { return peek(address) | uint64_t{peek(address + 4)} << 32; }
  void poke64(uint64_t address, uint64_t value) {
    poke(address, low(value));
    poke(address + 4, high(value));
  }
  uint64_t reg64(uint32_t offset) { return read(offset) | uint64_t{read(offset + 4)} << 32; }
  size_t undefined() const { return host.log.count(EventKind::undefined_behaviour); }

  std::string_view engine_name;
};

}  // namespace halogen
