// A device whose engines are driven as by a kernel driver: pages in the global table, rings, registers through the BAR.
// The encodings that a test needs are written out here and in the tests, independent of the model's own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "unit/device/memory_bench.h"

namespace halogen {

struct EngineBench : device::MemoryBench {
  static constexpr uint64_t kPage = 4096;
  // Register offsets from an engine's base, from the manual.
  static constexpr uint32_t kTail = 0x30, kHead = 0x34, kStart = 0x38, kControl = 0x3c;

  explicit EngineBench(const spec::DeviceModel& chosen, device::DeviceOptions options = {})
      : MemoryBench(chosen, std::move(options)) {}
  explicit EngineBench(std::string_view name, device::DeviceOptions options = {})
      : EngineBench(*spec::find_device(name), std::move(options)) {}

  // Allocates zeroed pages. Returns their address in the global table; host_address() returns their physical address.
  uint64_t allocate(size_t pages) {
    const uint64_t at = next_page_ * kPage;
    for (size_t i = 0; i < pages; ++i, ++next_page_) {
      map(next_page_, host_address(next_page_ * kPage));
    }
    return at;
  }
  // Returns the physical address of a global address of allocate().
  static uint64_t host_address(uint64_t global) { return kMemory + global; }
  uint32_t peek(uint64_t global) { return host.value_at<uint32_t>(host_address(global)); }
  void poke(uint64_t global, uint32_t value) { host.put<uint32_t>(host_address(global), value); }
  void poke(uint64_t global, std::span<const uint32_t> values) {
    for (const uint32_t value : values) {
      poke(global, value);
      global += 4;
    }
  }
  void poke(uint64_t global, std::initializer_list<uint32_t> values) { poke(global, std::span(values)); }

  const spec::EngineModel& engine_model(std::string_view engine) const {
    for (const spec::EngineModel& each : model.engines) {
      if (each.name == engine) {
        return each;
      }
    }
    ADD_FAILURE() << "no engine " << engine;
    return model.engines[0];
  }
  uint32_t reg(std::string_view engine, uint32_t offset) { return read(engine_model(engine).mmio_base + offset); }
  void set_reg(std::string_view engine, uint32_t offset, uint32_t value) {
    write(engine_model(engine).mmio_base + offset, value);
  }

  // Gives an engine its own ring, empty and enabled.
  void start_ring(std::string_view engine, size_t pages = 4) {
    Ring& ring = rings_[engine];
    ring = {allocate(pages), pages * kPage, 0};
    set_reg(engine, kControl, 0);
    set_reg(engine, kStart, static_cast<uint32_t>(ring.start));
    set_reg(engine, kHead, 0);
    set_reg(engine, kTail, 0);
    set_reg(engine, kControl, static_cast<uint32_t>(((pages - 1) << 12) | 1));
  }
  // Puts commands at the tail, padded to a qword, without telling the engine.
  void emit(std::string_view engine, std::span<const uint32_t> dwords) {
    Ring& ring = rings_[engine];
    for (const uint32_t dword : dwords) {
      push(ring, dword);
    }
    if (ring.tail % 8 != 0) {
      push(ring, 0);
    }
  }
  void emit(std::string_view engine, std::initializer_list<uint32_t> dwords) { emit(engine, std::span(dwords)); }
  void submit(std::string_view engine) { set_reg(engine, kTail, static_cast<uint32_t>(rings_[engine].tail)); }
  // Runs commands in the ring until the device settles.
  void run(std::string_view engine, std::initializer_list<uint32_t> dwords) {
    emit(engine, dwords);
    submit(engine);
    EXPECT_TRUE(device->settle());
  }
  uint64_t ring_start(std::string_view engine) { return rings_[engine].start; }
  uint64_t ring_tail(std::string_view engine) { return rings_[engine].tail; }

 private:
  static constexpr uint64_t kMemory = 0x1000'0000;

  struct Ring {
    uint64_t start = 0;
    uint64_t bytes = 0;
    uint64_t tail = 0;
  };

  void push(Ring& ring, uint32_t dword) {
    poke(ring.start + ring.tail, dword);
    ring.tail = (ring.tail + 4) % ring.bytes;
  }

  uint64_t next_page_ = 0x100;
  std::map<std::string_view, Ring> rings_;
};

}  // namespace halogen
