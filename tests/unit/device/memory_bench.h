// A device with memory around it, driven as a driver does: entries of the global table through the BAR, data through
// the aperture. The encodings are written out here, apart from the model's own.
#pragma once

#include <string>
#include <utility>

#include "test_host.h"

namespace halogen::device {

struct MemoryBench : Bench {
  explicit MemoryBench(const spec::DeviceModel& chosen, DeviceOptions options = {})
      : Bench(chosen, std::move(options)), model(chosen) {
    wake_all();
    if (is_gen4()) {
      enable_table();
    }
    host.log.clear();
  }
  explicit MemoryBench(std::string_view name, DeviceOptions options = {})
      : MemoryBench(*spec::find_device(name), std::move(options)) {}

  bool is_gen4() const { return model.gen == spec::GenId::gen4 || model.gen == spec::GenId::gen4_5; }
  bool has_aperture() const { return model.local_bytes == 0; }
  unsigned entry_bytes() const { return is_gen4() || model.gen == spec::GenId::gen6 ? 4 : 8; }

  void enable_table() { write(0x2020, read(0x2020) | 1); }
  void disable_table() { write(0x2020, read(0x2020) & ~1u); }

  // A valid entry. Gen4 keeps address bits 35:32 in bits 7:4, Gen6 bits 39:32 in 11:4.
  uint64_t pte(uint64_t address, bool local = false) const {
    if (entry_bytes() == 8) {
      return address | (local ? 2u : 0u) | 1u;
    }
    const uint64_t high = is_gen4() ? (address >> 32 & 0xf) << 4 : (address >> 32 & 0xff) << 4;
    return (address & 0xffff'f000) | high | 1u;
  }
  void set_entry(uint64_t page, uint64_t entry) {
    device->bar_write(0, model.gtt_offset + page * entry_bytes(), entry_bytes(), entry);
  }
  uint64_t entry(uint64_t page) { return device->bar_read(0, model.gtt_offset + page * entry_bytes(), entry_bytes()); }
  void map(uint64_t page, uint64_t address, bool local = false) { set_entry(page, pte(address, local)); }

  uint32_t aperture(uint64_t address) { return static_cast<uint32_t>(device->bar_read(2, address, 4)); }
  void put_aperture(uint64_t address, uint32_t value) { device->bar_write(2, address, 4, value); }

  // A fence: first and last page, pitch in bytes.
  void set_fence(unsigned number, uint64_t start, uint64_t last_page, uint32_t pitch_B, bool y_walk) {
    const uint64_t units = pitch_B / 128 - 1;
    const uint64_t raw = last_page << 44 | start | (is_gen4() ? units << 2 : units << 32) | (y_walk ? 2u : 0u) | 1u;
    const uint32_t at = (is_gen4() ? 0x3000 : 0x100000) + 8 * number;
    write(at, 0);
    write(at + 4, static_cast<uint32_t>(raw >> 32));
    write(at, static_cast<uint32_t>(raw));
  }

  // The value that a stream of the first engine reads.
  uint32_t engine_reads(memory::Stream stream, uint64_t address, memory::TableKind table) {
    return device->space(0, stream, table).load_value<uint32_t>(GpuVa(address));
  }

  const spec::DeviceModel& model;
};

// The formulas of the manual (ledger G45-4.5.3), in bytes and rows.
inline uint64_t x_tiled(uint64_t x, uint64_t y, uint64_t pitch_B) {
  return y / 8 * 8 * pitch_B + x / 512 * 4096 + y % 8 * 512 + x % 512;
}
inline uint64_t y_tiled(uint64_t x, uint64_t y, uint64_t pitch_B) {
  return y / 32 * 32 * pitch_B + x / 128 * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
}

inline std::vector<const spec::DeviceModel*> models_with_aperture() {
  std::vector<const spec::DeviceModel*> models;
  for (const spec::DeviceModel* model : every_model()) {
    if (model->local_bytes == 0) {
      models.push_back(model);
    }
  }
  return models;
}

}  // namespace halogen::device
