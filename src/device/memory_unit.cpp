#include "device/memory_unit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bits.h"
#include "base/check.h"
#include "engine/process_space.h"
#include "hw/mi.h"
#include "hw/mode.h"
#include "memory/walker.h"
#include "spec/packing.h"

namespace halogen::device {

namespace {

constexpr unsigned kExternalTlbEntries = 64;

// Records the step that read the entry of the page.
struct LeafRecorder final : memory::WalkRecorder {
  explicit LeafRecorder(const memory::PageFormat& walked) : format(walked) {}
  void on_step(const memory::WalkStep& step) override {
    if (step.level == &format.levels.back()) {
      leaf = step;
    }
  }
  const memory::PageFormat& format;
  std::optional<memory::WalkStep> leaf;
};

}  // namespace

MemoryUnit::MemoryUnit(const spec::DeviceModel& model, const MemoryLayout& layout, uint64_t local_bytes,
                       mmio::MmioSpace& mmio, memory::FaultListener& listener, Host& host, const std::string& path)
    : model_(model),
      mmio_(mmio),
      host_(host),
      path_(path + ".memory"),
      home_{local_bytes != 0 ? memory::MemorySpace::local : memory::MemorySpace::system, layout.gsm_base,
            layout.gsm_bytes},
      map_(model, layout, local_bytes, host),
      formats_(model, model.physical_bits),
      tlbs_(model),
      external_tlb_(kExternalTlbEntries),
      types_(model),
      vtd_(model, map_.physical(), {.host_address_bits = model.physical_bits}),
      faults_(model, {}, host, path_, &listener),
      gam_(model, {formats_, tlbs_, faults_, types_, vtd_}, host, path_),
      invalidation_(model, gam_),
      trtt_(model, host, path_),
      gtt_port_(mmio.generation(), map_.physical(), host, path + ".gtt",
                [this](uint64_t first, uint64_t last) { entries_changed(first, last); }),
      host_faults_(*this, memory::Stream::host),
      host_space_(map_.physical(), external_tlb_, memory::kGlobalSpace, host_faults_),
      aperture_(model, mmio.bank(), map_, host_space_, host, path + ".aperture"),
      process_walks_(model.engines.size()),
      table_control_(mmio.bank()),
      process_table_control_(mmio.bank()),
      table_select_(mmio.bank()),
      spaces_(model.engines.size()) {
  for (const spec::EngineModel& engine : model.engines) {
    const bool enables_tables =
        engine.engine_class == spec::EngineClass::render && formats_.find(memory::WalkMode::ppgtt_directory) != nullptr;
    const bool used = enables_tables || model.has(spec::Feature::run_lists);
    modes_.push_back(used ? mmio::Register<hw::GFX_MODE>(mmio.bank(), engine.name) : mmio::Register<hw::GFX_MODE>());
  }
  if (formats_.find(memory::WalkMode::advanced48) != nullptr) {
    iommu_.emplace(model, memory::Iommu::Parts{vtd_, gam_, faults_, *this}, host, path_ + ".iommu");
    faults_.set_remapping(&*iommu_);
  }
  trtt_.set_listener(&listener);
  attach_registers();
  refresh();
}

bool MemoryUnit::read(PhysAddr address, std::span<std::byte> into) {
  return map_.physical().read(memory::MemorySpace::system, address, into);
}

// The IOMMU may not write what the processor may not write either.
bool MemoryUnit::write(PhysAddr address, std::span<const std::byte> from) {
  const uint64_t last = address.value + from.size() - 1;
  return !map_.is_stolen(memory::MemorySpace::system, address.value) &&
         !map_.is_stolen(memory::MemorySpace::system, last) &&
         map_.physical().write(memory::MemorySpace::system, address, from);
}

memory::FaultAction MemoryUnit::ExternalFaults::on_fault(const memory::Fault& fault) {
  const bool refused = fault.reason == memory::FaultReason::table_disabled;
  if (unit_.table_enabled_ || refused) {
    unit_.faults_.report_external(memory::fault_stream(stream_), fault);
  }
  return memory::FaultAction::skip;
}

// Reports a snooped page of a client that may not use it (G45 PRM vol. 1b 4.6.1, seed 003). Such a client does not see
// coherent data (4.3.1).
void MemoryUnit::snooped_page(memory::Stream stream, uint64_t address) {
  if (!memory::may_snoop(stream)) {
    raise(EventKind::undefined_behaviour, name_of(stream), address, 0,
          "snooped page used by a client that cannot snoop");
  }
}

unsigned MemoryUnit::number_in_class(unsigned engine) const {
  const auto engine_class = model_.engines[engine].engine_class;
  return static_cast<unsigned>(
      std::ranges::count(model_.engines.first(engine), engine_class, &spec::EngineModel::engine_class));
}

unsigned MemoryUnit::index_of(const spec::EngineModel& engine) const {
  return static_cast<unsigned>(&engine - model_.engines.data());
}

bool MemoryUnit::has_own_tables() const {
  return formats_.find(memory::WalkMode::legacy32) == nullptr && formats_.find(memory::WalkMode::legacy48) == nullptr;
}

memory::AddressSpace& MemoryUnit::space(unsigned engine, memory::Stream stream, memory::TableKind asked) {
  check(engine < model_.engines.size() && !memory::is_external(stream), "a stream of an engine");
  const bool fetches = stream == memory::Stream::ring || stream == memory::Stream::batch;
  const bool by_command = fetches && engine::has_process_space(model_, modes_[engine]);
  std::optional<uint32_t> select;
  if (table_select_.exists() && !by_command) {
    select = static_cast<uint32_t>(table_select_.raw());
  }
  memory::TableKind table = table_of(stream, asked, select);
  if (table == memory::TableKind::per_process && process_tables_off(engine)) {
    table = memory::TableKind::global;
  }
  memory::AddressSpace*& known = spaces_[engine][static_cast<size_t>(stream)][static_cast<size_t>(table)];
  if (known != nullptr) {
    return *known;
  }
  const spec::EngineModel& model = model_.engines[engine];
  const bool global = table == memory::TableKind::global;
  memory::Tlb& tlb = tlbs_.of(memory::tlb_client(model.engine_class, number_in_class(engine), stream));
  auto client = std::make_unique<Client>(std::make_unique<StreamFaults>(*this, engine, stream), map_.physical(), tlb,
                                         static_cast<memory::SpaceTag>(global ? memory::kGlobalSpace : engine + 1));
  memory::AddressSpace& space = client->space;
  if (global) {
    memory::WalkContext walk = global_walk();
    if (!table_enabled_) {
      walk.format = nullptr;
    }
    space.load(walk);
  } else if (has_own_tables()) {
    space.load(process_walks_[engine]);
  } else {
    gam_.attach(engine, space);
    if (const int set = trtt_.set_of(model); set >= 0) {
      client->tiles = std::make_unique<memory::TiledResources>(trtt_, static_cast<unsigned>(set), space);
      space.set_pre_translation(client->tiles.get());
    }
  }
  clients_.emplace(ClientKey{engine, stream, table}, std::move(client));
  known = &space;
  return space;
}

memory::AddressSpace& MemoryUnit::external_space(memory::Stream stream) {
  check(memory::is_external(stream), "a stream without an engine");
  if (stream == memory::Stream::host) {
    return host_space_;
  }
  const ClientKey key{kNoEngine, stream, memory::TableKind::global};
  if (const auto found = clients_.find(key); found != clients_.end()) {
    return found->second->space;
  }
  auto client = std::make_unique<Client>(std::make_unique<ExternalFaults>(*this, stream), map_.physical(),
                                         external_tlb_, memory::kGlobalSpace);
  memory::AddressSpace& space = client->space;
  if (memory::works_without_table(stream)) {
    space.load(global_walk());
  } else {
    gam_.attach_default(space);
  }
  clients_.emplace(key, std::move(client));
  return space;
}

memory::WalkContext MemoryUnit::walk_of(unsigned engine, memory::TableKind table) const {
  if (table == memory::TableKind::global || process_tables_off(engine)) {
    return global_walk();
  }
  return has_own_tables() ? process_walks_[engine] : gam_.engine(engine).walk;
}

void MemoryUnit::begin_context(unsigned engine) {
  gam_.on_message(engine, memory::Gam::kAvailable | memory::Gam::kAvailable << 16);
}

void MemoryUnit::launch_context(unsigned engine, uint64_t descriptor) {
  gam_.write_descriptor(engine, 0, descriptor);
  gam_.on_message(engine, memory::Gam::kLaunched | memory::Gam::kLaunched << 16);
}

// Reports a context whose status page lies in stolen memory: accesses to the page are snooped, and stolen memory cannot
// be (DG1 PRM vol. 13, The Per-Process Hardware Status Page, seed 000).
void MemoryUnit::check_status_page(unsigned engine, uint64_t descriptor) {
  const uint32_t dwords[2] = {static_cast<uint32_t>(descriptor), static_cast<uint32_t>(descriptor >> 32)};
  const uint64_t page = hw::CONTEXT_DESCRIPTOR::unpack(model_.gen, dwords).logical_ring_context_address.value;
  const memory::WalkResult found = walk(map_.physical(), global_walk(), page, {}, nullptr, false);
  if (!found.fault && map_.is_stolen(found.mapping.space, found.mapping.address)) {
    raise(EventKind::undefined_behaviour, model_.engines[engine].name, page, found.entry,
          "status page of a context placed in stolen memory");
  }
}

void MemoryUnit::on_context_switch(unsigned engine, const engine::ContextStep& step) {
  switch (step.kind) {
    case engine::ContextStep::Kind::begin:
      check_status_page(engine, step.descriptor);
      return begin_context(engine);
    case engine::ContextStep::Kind::launch:
      return launch_context(engine, step.descriptor);
    case engine::ContextStep::Kind::rename:
    case engine::ContextStep::Kind::idle:
      return;
  }
}

void MemoryUnit::flush(unsigned engine) {
  gam_.flush(engine);
  for (const auto& [key, client] : clients_) {
    if (std::get<0>(key) == engine) {
      client->space.invalidate();
    }
  }
}

bool MemoryUnit::read_physical(PhysAddr address, std::span<std::byte> into) {
  const bool whole = map_.physical().read(memory::MemorySpace::system, address, into);
  if (!whole) {
    raise(EventKind::unmapped_memory, {}, address.value, 0, fmt::format("read of {} bytes", into.size()));
  }
  return whole;
}

bool MemoryUnit::write_physical(PhysAddr address, std::span<const std::byte> from) {
  const bool whole = map_.physical().write(memory::MemorySpace::system, address, from);
  if (!whole) {
    raise(EventKind::unmapped_memory, {}, address.value, 0, fmt::format("write of {} bytes", from.size()));
  }
  return whole;
}

std::span<const std::byte> MemoryUnit::physical_page(PhysAddr address) {
  const std::byte* const frame = map_.physical().frame(memory::MemorySpace::system, address);
  if (frame == nullptr) {
    raise(EventKind::unmapped_memory, {}, address.value, 0, "read of a page outside memory");
    return {};
  }
  const uint64_t offset = address.value % memory::kFrameBytes;
  return {frame + offset, memory::kFrameBytes - offset};
}

// Entries of pages whose page table does not exist are dropped.
bool MemoryUnit::write_process_entries(unsigned engine, GpuVa address, std::span<const uint32_t> dwords) {
  const memory::WalkContext walked = process_walks_[engine];
  if (walked.format == nullptr || process_tables_off(engine)) {
    return false;
  }
  bool all = true;
  for (const uint32_t entry : dwords) {
    LeafRecorder recorder(*walked.format);
    walk(map_.physical(), walked, address.value, {}, &recorder, false);
    if (recorder.leaf) {
      map_.physical().write(recorder.leaf->space, PhysAddr{recorder.leaf->entry_address},
                            std::as_bytes(std::span(&entry, 1)));
      for (const auto& [key, client] : clients_) {
        if (std::get<2>(key) == memory::TableKind::per_process) {
          client->space.invalidate_page(address);
        }
      }
    }
    all &= recorder.leaf.has_value();
    address += memory::kFrameBytes;
  }
  return all;
}

bool MemoryUnit::write_entries(unsigned engine, memory::TableKind table, GpuVa address,
                               std::span<const uint32_t> dwords) {
  if (table != memory::TableKind::global) {
    return write_process_entries(engine, address, dwords);
  }
  const unsigned bytes = gtt_port_.entry_bytes();
  const size_t each = bytes / sizeof(uint32_t);
  uint64_t offset = (address.value >> memory::kFrameBits) * bytes;
  for (; dwords.size() >= each; dwords = dwords.subspan(each), offset += bytes) {
    const uint64_t high = each == 2 ? uint64_t{dwords[1]} << 32 : 0;
    gtt_port_.write(offset, bytes, dwords[0] | high);
  }
  return true;
}

void MemoryUnit::aperture_write(GgttOffset address, std::span<const std::byte> from) {
  if (!aperture_.write(address, from)) {
    memory::Fault fault;
    fault.reason = memory::FaultReason::table_disabled;
    fault.address = address.value;
    fault.direction = memory::Direction::write;
    fault.global = true;
    host_faults_.on_fault(fault);
  }
}

// Drops cached translations of these pages, because hardware watches the alias.
void MemoryUnit::entries_changed(uint64_t first, uint64_t last) {
  constexpr uint64_t kMany = 256;  // from this number on, dropping all entries costs less than searching for each
  if (last - first >= kMany) {
    for (const auto& tlb : tlbs_.all()) {
      tlb->invalidate_space(memory::kGlobalSpace);
    }
    external_tlb_.invalidate_space(memory::kGlobalSpace);
    for (unsigned engine = 0; engine < model_.engines.size(); ++engine) {
      const memory::PageFormat* format = gam_.engine(engine).walk.format;
      if (format != nullptr && format->mode == memory::WalkMode::ggtt) {
        for (memory::AddressSpace* space : gam_.engine(engine).spaces) {
          space->invalidate();
        }
      }
    }
    return;
  }
  for (uint64_t page = first; page <= last; ++page) {
    for (const auto& tlb : tlbs_.all()) {
      tlb->invalidate_page(memory::kGlobalSpace, page);
    }
    external_tlb_.invalidate_page(memory::kGlobalSpace, page);
    for (unsigned engine = 0; engine < model_.engines.size(); ++engine) {
      const memory::PageFormat* format = gam_.engine(engine).walk.format;
      if (format != nullptr && format->mode == memory::WalkMode::ggtt) {  // a context without tables of its own
        for (memory::AddressSpace* space : gam_.engine(engine).spaces) {
          space->invalidate_page(GpuVa(page << memory::kFrameBits));
        }
      }
    }
  }
  aperture_.forget();
}

void MemoryUnit::flush_global() {
  gam_.flush_global();
  external_tlb_.invalidate_all();
  aperture_.forget();
}

void MemoryUnit::invalidate_all() {
  tlbs_.invalidate_all();
  external_tlb_.invalidate_all();
  for (const auto& [key, client] : clients_) {
    client->space.invalidate();
  }
  aperture_.forget();
}

void MemoryUnit::reset(bool clear_memory) {
  if (clear_memory) {
    map_.own().clear();
  }
  reset_gt();
}

void MemoryUnit::reset_gt() {
  gam_.reset_device();
  refresh();
  invalidate_all();
}

bool MemoryUnit::reset_engine(unsigned engine) {
  const bool done = gam_.reset_engine(engine);
  for (unsigned part = 1; part < 5; ++part) {
    gam_.write_descriptor(engine, part, 0);
  }
  for (const mmio::RegisterSlot* slot : slots_) {
    if (slot->engine == &model_.engines[engine] && derives(slot->desc->id)) {
      derive(*slot, mmio_.bank().peek(*slot));
    }
  }
  return done;
}

MemoryState MemoryUnit::snapshot() const {
  return {map_.own().save(), faults_.state(), gam_.state(), iommu_ ? iommu_->state() : memory::IommuState{}};
}

void MemoryUnit::restore(const MemoryState& state) {
  map_.own().load(state.own);
  if (iommu_) {
    iommu_->restore(state.iommu);
  }
  refresh();
  invalidate_all();
  gam_.restore(state.contexts);
  faults_.restore(state.faults);
}

void MemoryUnit::raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail) {
  host_.on_event({kind, item, path_, address, value, std::move(detail)});
}

}  // namespace halogen::device
