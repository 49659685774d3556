// The registers of the memory unit: the effect of a write on tables, caches and fences.
#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "device/memory_unit.h"
#include "hw/context.h"
#include "hw/gam.h"
#include "hw/gtt.h"
#include "hw/l3.h"
#include "hw/mode.h"
#include "spec/item_ids.h"
#include "spec/packing.h"

namespace halogen::device {

namespace {

using spec::RegisterId;

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kCacheLine = 64;
constexpr unsigned kEntriesPerLine = 16;  // of the page directory of Gen6

bool places_tables(RegisterId id) {
  switch (id) {
    case RegisterId::PGTBL_CTL:
    case RegisterId::PGTBL_CTL2:
    case RegisterId::PP_DIR_BASE:
    case RegisterId::PP_DIR_DCLV:
    case RegisterId::PP_DIR_BASE_READ:
    case RegisterId::PDP:
    case RegisterId::LMEM_CFG:
      return true;
    default:
      return false;
  }
}

// PGTBL_CTL and PGTBL_CTL2.
template <class Control>
uint64_t base_of(const Control& control) {
  return control.base_address.value | uint64_t{control.base_address_high} << 32;
}

uint64_t table_bytes(unsigned code) {
  constexpr uint64_t kSizes[] = {512 * kKiB, 256 * kKiB, 128 * kKiB, 1024 * kKiB, 2048 * kKiB, 1536 * kKiB};
  return code < std::size(kSizes) ? kSizes[code] : 0;
}

}  // namespace

void MemoryUnit::attach_registers() {
  mmio::RegisterBank& bank = mmio_.bank();
  for (const mmio::RegisterSlot& slot : bank.map().slots()) {
    const RegisterId id = slot.desc->id;
    if (derives(id) || gam_.owns(id) || faults_.owns(id) || invalidation_.owns(id)) {
      bank.attach(slot, *this);
      slots_.push_back(&slot);
    }
  }
}

// Returns whether this unit derives state from a register. The bank holds its bits.
bool MemoryUnit::derives(RegisterId id) const {
  return places_tables(id) || id == RegisterId::GAB_CTL || trtt_.owns(id) || types_.owns(id);
}

uint32_t MemoryUnit::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  const RegisterId id = slot.desc->id;
  if (faults_.owns(id)) {
    return faults_.read(id);
  }
  if (gam_.owns(id)) {
    return gam_.read(id, slot.index, slot.dword);
  }
  if (invalidation_.owns(id)) {
    return invalidation_.read(id);  // bits stay set until accesses that use old translations are done
  }
  return stored;
}

uint32_t MemoryUnit::on_write(const mmio::RegisterWrite& write) {
  const RegisterId id = write.slot.desc->id;
  if (faults_.owns(id)) {
    faults_.write(id, write.next);
  } else if (invalidation_.owns(id)) {
    invalidation_.write(id, write.value);
    if (id == RegisterId::GFX_FLSH_CNTL) {
      flush_global();
    }
  } else if (gam_.owns(id)) {
    gam_.write(id, write.slot.policy.masked ? write.value : write.next);
  } else if (id == RegisterId::PDP) {
    write_pdp(write.slot, write.next);
  } else {
    const memory::TrttState before = trtt_.state();
    derive(write.slot, write.next);
    if (trtt_.state() != before) {
      invalidate_all();
    }
  }
  return write.next;
}

void MemoryUnit::derive(const mmio::RegisterSlot& slot, uint32_t value) {
  const RegisterId id = slot.desc->id;
  switch (id) {
    case RegisterId::PGTBL_CTL:
      load_global();
      load_flat();
      return;
    case RegisterId::PGTBL_CTL2:
      load_flat();
      return;
    case RegisterId::PP_DIR_BASE:
      load_directory(*slot.engine);
      return;
    case RegisterId::LMEM_CFG:
      gam_.set_table_space(spec::unpack_register<hw::LMEM_CFG>(model_.gen, value).enable ? memory::MemorySpace::local
                                                                                         : memory::MemorySpace::system);
      return;
    case RegisterId::GAB_CTL:
      load_copy_arbiter(value);
      return;
    case RegisterId::PP_DIR_DCLV:
    case RegisterId::PP_DIR_BASE_READ:
    case RegisterId::PDP:
      return;
    default:
      break;
  }
  if (trtt_.owns(id)) {
    trtt_.write(id, slot.index, slot.dword, value);
  } else if (types_.owns(id)) {
    types_.write(id, slot.index, slot.dword, value);
  }
}

// Gen6: the arbiter of the copy engine selects what a page fault of that engine does.
void MemoryUnit::load_copy_arbiter(uint32_t value) {
  const bool skip = spec::unpack_register<hw::GAB_CTL>(model_.gen, value).continue_after_page_fault;
  for (unsigned engine = 0; engine < model_.engines.size(); ++engine) {
    if (model_.engines[engine].engine_class == spec::EngineClass::blit) {
      faults_.set_continue_after_fault(engine, skip);
    }
  }
}

// Derives state from a register. Cached translations stay unless their source has changed; an engine reset keeps them.
void MemoryUnit::refresh() {
  const memory::TrttState before = trtt_.state();
  trtt_.reset();
  types_.reset();
  load_global();
  load_flat();
  for (const mmio::RegisterSlot* slot : slots_) {
    if (derives(slot->desc->id)) {
      derive(*slot, mmio_.bank().peek(*slot));
    }
  }
  aperture_.refresh();
  if (trtt_.state() != before) {
    invalidate_all();
  }
}

// Sets the address of the global table. Gen4 reads PGTBL_CTL; if the host has no memory at its base, the table stays in
// the device's own memory.
TablePlace MemoryUnit::global_place() const {
  if (!table_control_.exists()) {
    return home_;
  }
  const hw::PGTBL_CTL control = table_control_.get();
  TablePlace place = home_;
  place.bytes = std::min(home_.bytes, table_bytes(static_cast<unsigned>(control.table_size)));
  const uint64_t base = base_of(control);
  const bool backed = place.bytes != 0 &&
                      map_.physical().frame(memory::MemorySpace::system, PhysAddr(base)) != nullptr &&
                      map_.physical().frame(memory::MemorySpace::system, PhysAddr(base + place.bytes - 1)) != nullptr;
  if (backed) {
    place.base = base;
  }
  return place;
}

memory::WalkContext MemoryUnit::global_walk() const {
  const TablePlace& place = gtt_port_.table();
  memory::WalkContext walk;
  walk.format = place.bytes != 0 ? formats_.find(memory::WalkMode::ggtt) : nullptr;
  walk.table_space = place.space;
  walk.roots[0] = place.base;
  walk.entries = place.bytes / gtt_port_.entry_bytes();
  walk.local_memory = model_.has(spec::Feature::local_memory);
  return walk;
}

void MemoryUnit::keep_table_enabled() {
  table_stays_enabled_ = true;
  load_global();
}

void MemoryUnit::load_global() {
  const TablePlace place = global_place();
  const bool enable = table_stays_enabled_ || !table_control_.exists() || table_control_.get().page_table_enable;
  if (place == gtt_port_.table() && enable == table_enabled_) {
    return;
  }
  gtt_port_.place(place);
  table_enabled_ = enable;
  const memory::WalkContext walk = global_walk();
  memory::WalkContext enabled = walk;
  if (!table_enabled_) {
    enabled.format = nullptr;
  }
  gam_.set_global(enabled);
  host_space_.load(walk);
  for (const auto& [key, client] : clients_) {
    const auto& [engine, stream, table] = key;
    if (table != memory::TableKind::global) {
      continue;
    }
    if (memory::works_without_table(stream)) {
      client->space.load(walk);
    } else if (engine != kNoEngine) {
      client->space.load(enabled);  // the others are attached to gam_
    }
  }
  aperture_.set_writable(table_enabled_);
  aperture_.forget();
}

void MemoryUnit::load_process_walk(unsigned engine, const memory::WalkContext& walk) {
  process_walks_[engine] = walk;
  for (const auto& [key, client] : clients_) {
    if (std::get<0>(key) == engine && std::get<2>(key) == memory::TableKind::per_process) {
      client->space.load(walk);
    }
  }
}

// Loads the per-process table of Gen4, which all engines share.
void MemoryUnit::load_flat() {
  const memory::PageFormat* format = formats_.find(memory::WalkMode::ppgtt_flat);
  if (!has_own_tables() || formats_.find(memory::WalkMode::ppgtt_directory) != nullptr) {
    return;
  }
  memory::WalkContext walk;
  walk.unusable = memory::FaultReason::none;  // the global table serves while it is off
  if (process_table_control_.exists()) {
    const hw::PGTBL_CTL2 control = process_table_control_.get();
    if (control.page_table_enable && format != nullptr) {
      walk.format = format;
      walk.roots[0] = base_of(control);
      walk.entries = table_bytes(control.table_size) / gtt_port_.entry_bytes();
      if (walk.entries == 0) {
        walk.format = nullptr;
        walk.unusable = memory::FaultReason::out_of_range;
      }
    } else if (control.page_table_enable) {
      raise(EventKind::unsupported, "PGTBL_CTL2", 0, process_table_control_.raw(),
            "per-process table not supported by the device");
    }
  }
  for (unsigned engine = 0; engine < model_.engines.size(); ++engine) {
    load_process_walk(engine, walk);
  }
}

// Returns whether per-process accesses use the global table: by PGTBL_CTL2 on Gen4, by the mode register on Gen6. On
// later parts the context decides.
bool MemoryUnit::process_tables_off(unsigned engine) const {
  if (!has_own_tables()) {
    return false;
  }
  if (formats_.find(memory::WalkMode::ppgtt_directory) != nullptr) {
    // The render engine's register enables them for all engines (Linux i915, gen6_ppgtt_enable).
    const auto render = std::ranges::find(model_.engines, spec::EngineClass::render, &spec::EngineModel::engine_class);
    const auto number = static_cast<unsigned>(render - model_.engines.begin());
    return render == model_.engines.end() || !modes_[number].get().ppgtt_enable;
  }
  return process_walks_[engine].format == nullptr && process_walks_[engine].unusable == memory::FaultReason::none;
}

// Loads the page directory of Gen6. It lies in the global table's memory; DCLV gives its length.
void MemoryUnit::load_directory(const spec::EngineModel& engine) {
  const mmio::Register<hw::PP_DIR_BASE> base(mmio_.bank(), engine.name);
  const auto lines = static_cast<uint32_t>(mmio::Register<hw::PP_DIR_DCLV>(mmio_.bank(), engine.name).raw());
  const auto loaded = static_cast<unsigned>(std::countr_one(lines));
  if (loaded != 32 && lines >> loaded != 0) {
    raise(EventKind::approximation, "PP_DIR_DCLV", 0, lines,
          "directory loaded only up to the first cache line that is not valid");
  }
  memory::WalkContext walk;
  if (loaded != 0) {
    walk.format = formats_.find(memory::WalkMode::ppgtt_directory);
    walk.table_space = gtt_port_.table().space;
    walk.roots[0] = gtt_port_.table().base + base.get().page_directory_base_offset * kCacheLine;
    walk.entries = uint64_t{loaded} * kEntriesPerLine;
  }
  load_process_walk(index_of(engine), walk);
  mmio::Register<hw::PP_DIR_BASE_READ>(mmio_.bank(), engine.name).set_raw(base.raw());
}

// Writes a page directory pointer of the running context. During a context restore it takes effect with the launch.
void MemoryUnit::write_pdp(const mmio::RegisterSlot& slot, uint32_t value) {
  const unsigned engine = index_of(*slot.engine);
  const unsigned part = 1u + slot.index;
  const uint64_t old = gam_.engine(engine).registers[part];
  const uint64_t next = slot.dword == 0 ? (old & ~low_mask(32)) | value : (old & low_mask(32)) | uint64_t{value} << 32;
  if (next == old) {
    return;
  }
  gam_.write_descriptor(engine, part, next);
  if (gam_.engine(engine).stage == memory::ContextStage::confirmed) {
    begin_context(engine);
    launch_context(engine, gam_.engine(engine).registers[0]);
  }
}

}  // namespace halogen::device
