// Tiled resources (TR-TT): a window of 44 address bits is mapped tile by tile (64 KB) to other graphics addresses by a
// table of three levels, in front of the page tables. Seed 001, "Tiled Resources Translation Tables". Gen9 to Gen11
// have one register set for the render engine, Gen12 one for each engine. Left out: the hardware's own TLBs of the
// tables (the results are kept in the client's TLB) and tables in physical memory, which no chip supports.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/event.h"
#include "memory/address_space.h"
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

  // Null and invalid values must differ, tables are virtual, the mask is one of two.
  bool is_well_programmed() const { return null_value != invalid_value && virtual_tables && (mask == 0 || mask == 15); }
  bool hits(uint64_t address) const { return enabled && mask == 15 && ((address >> 44) & 15) == data; }
  bool operator==(const TrttSet&) const = default;
};

// State: plain data.
struct TrttState {
  static constexpr unsigned kSets = 9;
  std::array<TrttSet, kSets> sets;
  bool bypass = false;
  bool operator==(const TrttState&) const = default;
};

// Hears of accesses to invalid tiles: a distinct interrupt.
class InvalidTileSink {
 public:
  virtual ~InvalidTileSink() = default;
  virtual void on_invalid_tile(uint64_t address) = 0;
};

// The register sets of a device. Knows the registers by their ids, not by address.
class TrttRegisters {
 public:
  TrttRegisters(const spec::DeviceModel& model, EventSink& events, std::string path);

  bool owns(spec::RegisterId id) const;
  // A dword was written; `index` counts copies of the register, `value` is what is stored now.
  void write(spec::RegisterId id, unsigned index, unsigned dword, uint32_t value);
  void reset();  // defaults: everything off, and bypassed where there is a bypass control

  // Which set serves an engine; negative: it has no tiled resources.
  int set_of(const spec::EngineModel& engine) const;
  const TrttSet& set(unsigned number) const { return state_.sets[number]; }
  bool bypassed() const { return state_.bypass; }
  spec::GenId gen() const { return model_->gen; }
  void misused(unsigned number, uint64_t address, std::string detail) const;

  // An access met a tile that is not there. Null tiles are counted over all clients; an access to an invalid one is an
  // Event, and an interrupt where somebody listens.
  void on_unmapped_tile(unsigned number, uint64_t address, Tile tile);
  void set_invalid_tile_sink(InvalidTileSink* sink) { sink_ = sink; }
  uint64_t null_tile_accesses() const { return null_tile_accesses_; }

  const TrttState& state() const { return state_; }
  void restore(const TrttState& state) { state_ = state; }

 private:
  void judge(unsigned number);

  const spec::DeviceModel* model_;
  EventSink* events_;
  std::string path_;
  bool per_engine_;  // one set an engine, and no bypass control
  TrttState state_;
  InvalidTileSink* sink_ = nullptr;
  uint64_t null_tile_accesses_ = 0;
};

// The walk for one client. Table entries are read through the client's own page tables; a fault there is the client's.
class TiledResources final : public PreTranslation {
 public:
  TiledResources(TrttRegisters& registers, unsigned set, AddressSpace& space)
      : registers_(&registers), set_(set), space_(&space) {}

  bool covers(uint64_t address) override;
  Result translate(uint64_t address, Access access) override;
  void on_unmapped_tile(uint64_t address, Tile tile) override { registers_->on_unmapped_tile(set_, address, tile); }

 private:
  GpuVa entry_address(uint64_t table, uint64_t offset);
  void report_misuse(uint64_t address, const char* detail);

  TrttRegisters* registers_;
  unsigned set_;
  AddressSpace* space_;
  bool misuse_reported_ = false;  // once is enough
};

}  // namespace halogen::memory
