#include "memory/trtt.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "base/graphics_address.h"
#include "hw/page_tables.h"
#include "hw/trtt.h"
#include "memory/has_register.h"

namespace halogen::memory {
namespace {

using spec::EngineClass;
using spec::RegisterId;

constexpr unsigned kTileBits = 16;

// The part of a set that a register holds, whatever its name in a generation is.
enum class Part : uint8_t { control, range, l3_low, l3_high, null_value, invalid_value, bypass };

struct RegisterRow {
  RegisterId id;
  Part part;
  uint8_t first_set;
};

// Gen12 numbers its second run of sets (from VDBOX 2 on) separately.
constexpr uint8_t kSecondRun = 5;
constexpr RegisterRow kRows[] = {
    {RegisterId::TRTTE, Part::control, 0},
    {RegisterId::TRVADR, Part::range, 0},
    {RegisterId::TRVATTL3PTR, Part::l3_low, 0},
    {RegisterId::TRNULLDETCT, Part::null_value, 0},
    {RegisterId::TRINVTILEDETCT, Part::invalid_value, 0},
    {RegisterId::TR_BYPASS_DISABLE, Part::bypass, 0},
    {RegisterId::TRTT_CR, Part::control, 0},
    {RegisterId::TRTT_VA_RANGE, Part::range, 0},
    {RegisterId::TRTT_L3_BASE_LOW, Part::l3_low, 0},
    {RegisterId::TRTT_L3_BASE_HIGH, Part::l3_high, 0},
    {RegisterId::TRTT_NULL, Part::null_value, 0},
    {RegisterId::TRTT_INVAL, Part::invalid_value, 0},
    {RegisterId::TRTT_CR_2, Part::control, kSecondRun},
    {RegisterId::TRTT_VA_RANGE_2, Part::range, kSecondRun},
    {RegisterId::TRTT_L3_BASE_LOW_2, Part::l3_low, kSecondRun},
    {RegisterId::TRTT_L3_BASE_HIGH_2, Part::l3_high, kSecondRun},
    {RegisterId::TRTT_NULL_2, Part::null_value, kSecondRun},
    {RegisterId::TRTT_INVAL_2, Part::invalid_value, kSecondRun},
};

struct SetRow {
  EngineClass engine_class;
  uint8_t instance;
  int8_t set;
};

constexpr SetRow kSetOfEngine[] = {
    {EngineClass::render, 0, 0}, {EngineClass::posh, 0, 0},    {EngineClass::video, 0, 1}, {EngineClass::video, 1, 2},
    {EngineClass::vebox, 0, 3},  {EngineClass::blit, 0, 4},    {EngineClass::video, 2, 5}, {EngineClass::video, 3, 6},
    {EngineClass::vebox, 1, 7},  {EngineClass::compute, 0, 8},
};

const RegisterRow* find_row(RegisterId id) {
  for (const RegisterRow& row : kRows) {
    if (row.id == id) {
      return &row;
    }
  }
  return nullptr;
}

uint64_t with_low(uint64_t value, uint64_t low) {
  return (value & ~low_mask(32)) | low;
}
uint64_t with_high(uint64_t value, uint64_t high) {
  return (value & low_mask(32)) | (high << 32);
}

}  // namespace

TrttRegisters::TrttRegisters(const spec::DeviceModel& model, EventSink& events, std::string path)
    : model_(&model), events_(&events), path_(std::move(path)), per_engine_(has_register(model, RegisterId::TRTT_CR)) {
  reset();
}

bool TrttRegisters::owns(RegisterId id) const {
  return find_row(id) != nullptr && has_register(*model_, id);
}

void TrttRegisters::reset() {
  state_ = {};
  state_.bypass = has_register(*model_, RegisterId::TR_BYPASS_DISABLE);
  for (TrttSet& set : state_.sets) {
    set.virtual_tables = per_engine_;  // always on Gen12
  }
}

void TrttRegisters::write(RegisterId id, unsigned index, unsigned dword, uint32_t value) {
  const RegisterRow* row = find_row(id);
  check(row != nullptr, "a register of the tiled resource walk");
  const unsigned number = row->first_set + index;
  if (number >= TrttState::kSets) {
    return;
  }
  TrttSet& set = state_.sets[number];
  const std::span<const uint32_t> in(&value, 1);
  const spec::GenId gen = model_->gen;
  switch (row->part) {
    case Part::control:
      if (per_engine_) {
        set.enabled = hw::TRTT_CR::unpack(gen, in).trtt_enable;
      } else {
        const hw::TRTTE control = hw::TRTTE::unpack(gen, in);
        set.enabled = control.tr_tt_enable;
        set.virtual_tables =
            control.tr_va_translation_table_memory_location == hw::TRTTE::TrVaTranslationTableMemoryLocation::virtual_;
      }
      break;
    case Part::range: {
      const auto [mask, data] = per_engine_ ? [&] {
        const auto range = hw::TRTT_VA_RANGE::unpack(gen, in);
        return std::pair(range.trva_mask_value, range.trva_data_value);
      }() : [&] {
        const auto range = hw::TRVADR::unpack(gen, in);
        return std::pair(range.trva_mask_value, range.trva_data_value);
      }();
      set.mask = mask;
      set.data = data;
      break;
    }
    case Part::l3_low:
      if (per_engine_) {
        set.l3_pointer = with_low(set.l3_pointer, hw::TRTT_L3_BASE_LOW::unpack(gen, in).l3_pointer_low);
      } else {
        // A register of two dwords: the dword that was not written keeps its value.
        const uint32_t both[2] = {dword == 0 ? value : static_cast<uint32_t>(set.l3_pointer),
                                  dword == 1 ? value : static_cast<uint32_t>(set.l3_pointer >> 32)};
        set.l3_pointer = hw::TRVATTL3PTR::unpack(gen, both).l3_pointer.value;
      }
      break;
    case Part::l3_high:
      set.l3_pointer = with_high(set.l3_pointer, hw::TRTT_L3_BASE_HIGH::unpack(gen, in).l3_pointer_high);
      break;
    case Part::null_value:
      set.null_value = value;
      break;
    case Part::invalid_value:
      set.invalid_value = value;
      break;
    case Part::bypass:
      state_.bypass = !hw::TR_BYPASS_DISABLE::unpack(gen, in).bypass_disable;
      return;
  }
  judge(number);
}

// Checks the rules for software when the walk is enabled, or changed while it is enabled.
void TrttRegisters::judge(unsigned number) {
  const TrttSet& set = state_.sets[number];
  if (!set.enabled || set.is_well_programmed()) {
    return;
  }
  const char* detail = set.null_value == set.invalid_value ? "null and invalid tile values are equal"
                       : !set.virtual_tables               ? "tables placed in physical memory"
                                                           : "address mask is neither 0 nor 15";
  misused(number, set.l3_pointer, detail);
}

void TrttRegisters::misused(unsigned number, uint64_t address, std::string detail) const {
  events_->on_event({EventKind::undefined_behaviour, "TR-TT", path_, address, number, std::move(detail)});
}

void TrttRegisters::on_unmapped_tile(unsigned number, uint64_t address, Tile tile) {
  if (tile == Tile::null) {
    ++null_tile_accesses_;
    return;
  }
  events_->on_event({EventKind::fault, "TR-TT", path_, address, number, "access to an invalid tile"});
  if (listener_ != nullptr) {
    listener_->on_invalid_tile();
  }
}

int TrttRegisters::set_of(const spec::EngineModel& engine) const {
  if (!model_->has(spec::Feature::tr_tt)) {
    return -1;
  }
  for (const SetRow& row : kSetOfEngine) {
    if (row.engine_class == engine.engine_class && row.instance == engine.instance) {
      return per_engine_ || row.set == 0 ? row.set : -1;
    }
  }
  return -1;
}

void TiledResources::report_misuse(uint64_t address, const char* detail) {
  if (!std::exchange(misuse_reported_, true)) {
    registers_->misused(set_, address, detail);
  }
}

void TiledResources::on_x_tiled_surface(uint64_t base, uint64_t bytes) {
  const uint64_t first = plain_address(base);
  const auto is_known = [&](const Extent& extent) { return extent.base == first && extent.bytes == bytes; };
  if (std::ranges::none_of(x_tiled_, is_known)) {
    x_tiled_[next_extent_++ % x_tiled_.size()] = {first, bytes};
  }
}

// Null and invalid tiles are not supported on X-tiled surfaces; what hardware then does is not stated. They behave as
// on any surface, and the first one of a surface is reported.
void TiledResources::on_unmapped_tile(uint64_t address, Tile tile) {
  registers_->on_unmapped_tile(set_, address, tile);
  for (Extent& extent : x_tiled_) {
    if (plain_address(address) - extent.base < extent.bytes && !std::exchange(extent.reported, true)) {
      registers_->misused(set_, address, "null or invalid tile on an X-tiled surface");
    }
  }
}

bool TiledResources::covers(uint64_t address) {
  if (registers_->bypassed() || !registers_->set(set_).enabled) {
    return false;
  }
  const PageFormat* format = space_->context().format;
  if (format == nullptr || format->address_bits != kGraphicsAddressBits) {
    report_misuse(address, "enabled in a context without 48-bit addresses");
    return false;
  }
  return is_canonical(address) && registers_->set(set_).hits(address);
}

// Returns the address of an entry. Tables must lie outside the window: their addresses are not translated again.
GpuVa TiledResources::entry_address(uint64_t table, uint64_t offset) {
  const uint64_t address = wrapped_address(table).value + offset;
  if (registers_->set(set_).hits(address)) {
    report_misuse(address, "table inside the tiled resource window");
  }
  return GpuVa(address);
}

PreTranslation::Result TiledResources::translate(uint64_t address, Access /*access*/) {
  const TrttSet& set = registers_->set(set_);
  Result result;
  uint64_t table = set.l3_pointer;
  // Two levels of 512 entries that point to the next table. If a fault is not repaired, the entry reads as zero and the
  // walk continues with it, because hardware does not tell this walker either.
  for (const unsigned shift : {35u, 26u}) {
    uint64_t entry = 0;
    const GpuVa at = entry_address(table, 8 * bits(address, shift + 8, shift));
    result.result = space_->read(at, std::as_writable_bytes(std::span(&entry, 1)));
    if (!ok(result.result)) {
      return result;
    }
    const uint32_t dwords[2] = {static_cast<uint32_t>(entry), static_cast<uint32_t>(entry >> 32)};
    const hw::TRTT_DIRECTORY_ENTRY directory = hw::TRTT_DIRECTORY_ENTRY::unpack(registers_->gen(), dwords);
    if (directory.invalid || directory.null) {
      result.tile = directory.invalid ? Tile::invalid : Tile::null;
      return result;
    }
    table = directory.table.value;
  }
  uint32_t tile = 0;
  const GpuVa at = entry_address(table, 4 * bits(address, 25, kTileBits));
  result.result = space_->read(at, std::as_writable_bytes(std::span(&tile, 1)));
  if (!ok(result.result)) {
    return result;
  }
  if (tile == set.null_value) {
    result.tile = Tile::null;
  } else if (tile == set.invalid_value) {
    result.tile = Tile::invalid;
  } else {
    const uint64_t mapped = (uint64_t{tile} << kTileBits) | bits(address, kTileBits - 1, 0);
    result.address = wrapped_address(mapped).value;
  }
  return result;
}

}  // namespace halogen::memory
