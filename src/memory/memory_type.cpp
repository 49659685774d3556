#include "memory/memory_type.h"

#include <span>

#include "base/bits.h"
#include "hw/mocs.h"
#include "memory/has_register.h"
#include "spec/item_ids.h"

namespace halogen::memory {
namespace {

using spec::EngineClass;
using spec::RegisterId;

struct MocsRow {
  RegisterId id;
  uint8_t table;
};

constexpr MocsRow kMocsRows[] = {
    {RegisterId::GLOBAL_MOCS, 0}, {RegisterId::GFX_MOCS, 0},   {RegisterId::MFX0_MOCS, 1}, {RegisterId::MFX1_MOCS, 2},
    {RegisterId::MFX2_MOCS, 3},   {RegisterId::VEBOX_MOCS, 4}, {RegisterId::BLT_MOCS, 5},
};

const MocsRow* find_row(RegisterId id) {
  for (const MocsRow& row : kMocsRows) {
    if (row.id == id) {
      return &row;
    }
  }
  return nullptr;
}

unsigned table_of(EngineClass engine, unsigned number) {
  switch (engine) {
    case EngineClass::render:
    case EngineClass::compute:
    case EngineClass::posh:
      return 0;
    case EngineClass::video:
      return 1 + (number < 3 ? number : 2);
    case EngineClass::vebox:
      return 4;
    case EngineClass::blit:
      return 5;
  }
  return 0;
}

}  // namespace

std::string_view name_of(MemoryType type) {
  switch (type) {
    case MemoryType::uc:
      return "UC";
    case MemoryType::wc:
      return "WC";
    case MemoryType::wt:
      return "WT";
    case MemoryType::wb:
      return "WB";
  }
  return "invalid";
}

MemoryTypes::MemoryTypes(const spec::DeviceModel& model)
    : model_(&model), shared_mocs_(has_register(model, RegisterId::GLOBAL_MOCS)) {}

bool MemoryTypes::owns(RegisterId id) const {
  return (id == RegisterId::PRIVATE_PAT || id == RegisterId::PAT_INDEX || find_row(id) != nullptr) &&
         has_register(*model_, id);
}

void MemoryTypes::write(RegisterId id, unsigned index, unsigned dword, uint32_t value) {
  if (id == RegisterId::PRIVATE_PAT) {  // one byte per entry
    for (unsigned i = 0; i < 4 && dword < 2; ++i) {
      state_.pat[4 * dword + i] = static_cast<uint8_t>(value >> (8 * i));
    }
  } else if (id == RegisterId::PAT_INDEX) {  // one dword per entry
    if (index < MemoryTypeState::kEntries) {
      state_.pat[index] = static_cast<uint8_t>(value);
    }
  } else if (const MocsRow* row = find_row(id); row != nullptr && index < MemoryTypeState::kMocsEntries) {
    state_.mocs[row->table][index] = value;
  }
}

PatEntry MemoryTypes::pat(uint8_t type_index) const {
  const uint8_t entry = state_.pat[type_index % MemoryTypeState::kEntries];
  return {static_cast<MemoryType>(bits(entry, 1, 0)), static_cast<uint8_t>(bits(entry, 3, 2)),
          static_cast<uint8_t>(bits(entry, 5, 4))};
}

MemoryType MemoryTypes::access_type(EngineClass engine, unsigned number, unsigned mocs_index,
                                    uint8_t type_index) const {
  if (!shared_mocs_ && !has_register(*model_, RegisterId::GFX_MOCS)) {
    return page_type(type_index);  // there are no tables before Gen9
  }
  const unsigned table = shared_mocs_ ? 0 : table_of(engine, number);
  const std::span entry(&state_.mocs[table][mocs_index % MemoryTypeState::kMocsEntries], 1);
  using Cacheability = hw::GFX_MOCS::Cacheability;  // every table has the same field
  const auto cacheability = shared_mocs_
                                ? static_cast<Cacheability>(hw::GLOBAL_MOCS::unpack(model_->gen, entry).cacheability)
                                : hw::GFX_MOCS::unpack(model_->gen, entry).cacheability;
  switch (cacheability) {
    case Cacheability::uc:
      return MemoryType::uc;
    case Cacheability::wt:
      return MemoryType::wt;
    case Cacheability::wb:
      return MemoryType::wb;
    case Cacheability::page_table:
      break;
  }
  return page_type(type_index);
}

}  // namespace halogen::memory
