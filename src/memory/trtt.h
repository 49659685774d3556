// Tiled resources (TR-TT): a window of 44 address bits is mapped tile by tile (64 KB) to other graphics addresses by a
// table of three levels, before the page tables. Ice Lake PRM vol. 6, Tiled Resources Translation Tables (seed 001).
// Gen9 to Gen11 have one register set for the render engine, Gen12 one per engine. Not modelled: hardware TLBs for the
// tables (the client's TLB keeps the results) and tables in physical memory, which no chip supports.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/event.h"
#include "memory/address_space.h"
#include "memory/fault_unit.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen::memory {

// One engine's registers, decoded. Part of the hardware context.
struct TrttSet {
  bool enabled = false;
  bool virtual_tables = false;
  uint8_t mask = 0;  // of address bits 47:44; only 0 (nothing hits) and 15 exist
  uint8_t data = 0;
  uint64_t l3_pointer = 0;
  uint32_t null_value = 0;
  uint32_t invalid_value = 0;

  // Checks the rules for software: null and invalid values differ, tables are virtual, the mask is 0 or 15.
  bool is_well_programmed() const { return null_value != invalid_value && virtual_tables && (mask == 0 || mask == 15); }
  bool hits(uint64_t address) const { return enabled && mask == 15 && ((address >> 44) & 15) == data; }
  bool operator==(const TrttSet&) const = default;
};

// The state, as plain data.
struct TrttState {
  static constexpr unsigned kSets = 9;
  std::array<TrttSet, kSets> sets;
  bool bypass = false;
  bool operator==(const TrttState&) const = default;
};

// The register sets of a device. Registers are named by id, not by offset.
class TrttRegisters {
 public:
  TrttRegisters(const spec::DeviceModel& model, EventSink& events, std::string path);

  bool owns(spec::RegisterId id) const;
  // Handles a write of a dword. `index`: the copy of the register. `value`: the stored value after the write.
  void write(spec::RegisterId id, unsigned index, unsigned dword, uint32_t value);
  void reset();  // everything off, and bypassed if the device has a bypass control

  // Returns the set that serves an engine. Negative: the engine has no tiled resources.
  int set_of(const spec::EngineModel& engine) const;
  const TrttSet& set(unsigned number) const { return state_.sets[number]; }
  bool bypassed() const { return state_.bypass; }
  spec::GenId gen() const { return model_->gen; }
  void misused(unsigned number, uint64_t address, std::string detail) const;

  // Handles an access to a tile that is not mapped. Null tiles are counted across all clients. An access to an invalid
  // tile raises an Event and is reported to the listener.
  void on_unmapped_tile(unsigned number, uint64_t address, Tile tile);
  void set_listener(FaultListener* listener) { listener_ = listener; }
  uint64_t null_tile_accesses() const { return null_tile_accesses_; }

  const TrttState& state() const { return state_; }
  void restore(const TrttState& state) { state_ = state; }

 private:
  void judge(unsigned number);

  const spec::DeviceModel* model_;
  EventSink* events_;
  std::string path_;
  bool per_engine_;  // one set per engine, and no bypass control
  TrttState state_;
  FaultListener* listener_ = nullptr;
  uint64_t null_tile_accesses_ = 0;
};

// The walk for one client. Table entries are read through the client's own page tables, and their faults are its own.
class TiledResources final : public PreTranslation {
 public:
  TiledResources(TrttRegisters& registers, unsigned set, AddressSpace& space)
      : registers_(&registers), set_(set), space_(&space) {}

  bool covers(uint64_t address) override;
  Result translate(uint64_t address, Access access) override;
  void on_unmapped_tile(uint64_t address, Tile tile) override;
  void on_x_tiled_surface(uint64_t base, uint64_t bytes) override;
  void on_load() override { x_tiled_ = {}; }

 private:
  GpuVa entry_address(uint64_t table, uint64_t offset);
  void report_misuse(uint64_t address, const char* detail);

  // The surfaces that were noted last.
  struct Extent {
    uint64_t base = 0;
    uint64_t bytes = 0;
    bool reported = false;
  };

  TrttRegisters* registers_;
  unsigned set_;
  AddressSpace* space_;
  bool misuse_reported_ = false;  // misuse is reported once
  std::array<Extent, 16> x_tiled_;
  unsigned next_extent_ = 0;
};

}  // namespace halogen::memory
