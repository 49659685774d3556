// The memory side of a device: physical memory, the tables, their caches and faults, and one AddressSpace for each
// stream of each engine. Every access to graphics memory goes through one of these spaces. The unit owns the registers
// with the addresses of tables (PGTBL_CTL, PGTBL_CTL2, PP_DIR_BASE, PDP, LMEM_CFG), those that drop translations, and
// the fault registers. Not modelled: the interrupt that follows a fault (a listener receives it).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/aperture.h"
#include "device/context_listener.h"
#include "device/gtt_port.h"
#include "device/memory_map.h"
#include "hw/gtt.h"
#include "hw/mode.h"
#include "memory/address_space.h"
#include "memory/fault_unit.h"
#include "memory/gam.h"
#include "memory/gam_invalidation.h"
#include "memory/iommu.h"
#include "memory/memory_clients.h"
#include "memory/memory_type.h"
#include "memory/page_format.h"
#include "memory/tlb_set.h"
#include "memory/trtt.h"
#include "memory/vtd.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"

namespace halogen::device {

// The state, as plain data. Registers are in the bank, and translations are walked again.
struct MemoryState {
  SparseMemory own;  // local memory, or the stolen range
  memory::FaultState faults;
  memory::GamState contexts;
  memory::IommuState iommu;
  bool operator==(const MemoryState&) const = default;
};

class MemoryUnit final : public mmio::RegisterHandler, public ContextListener, private memory::IommuPort {
 public:
  MemoryUnit(const spec::DeviceModel& model, const MemoryLayout& layout, uint64_t local_bytes, mmio::MmioSpace& mmio,
             memory::FaultListener& listener, Host& host, const std::string& path);

  // Returns the view of an engine's stream. `asked`: the table that the command names, or that it was fetched through.
  // A rule of the generation takes precedence (memory_clients.h). The space lives as long as the device, but a write to
  // a mode register may select another view: call this function again for each batch.
  memory::AddressSpace& space(unsigned engine, memory::Stream stream,
                              memory::TableKind asked = memory::TableKind::per_process);
  // Returns the view of a stream without an engine: display, cursor, VGA.
  memory::AddressSpace& external_space(memory::Stream stream);

  // Returns the present walk of an engine's streams, for look-ups without an effect (walker.h).
  memory::WalkContext walk_of(unsigned engine, memory::TableKind table) const;

  // Switch the context, from Gen8 on. Between the two calls the context image is restored, with the PDP registers.
  void begin_context(unsigned engine);
  void launch_context(unsigned engine, uint64_t descriptor);
  void on_context_switch(unsigned engine, const engine::ContextStep& step) override;
  // Drops the translations of an engine, with those of the global table, when its streamer flushes or invalidates.
  void flush(unsigned engine);

  // Access physical addresses, which no table maps (G45 PRM vol. 1b 4.7.1, seed 003). False: no memory; an Event is
  // raised.
  bool read_physical(PhysAddr address, std::span<std::byte> into);
  bool write_physical(PhysAddr address, std::span<const std::byte> from);
  // Returns the rest of the page from `address` on. Empty: no memory; an Event is raised.
  std::span<const std::byte> physical_page(PhysAddr address);

  // Writes page table entries for MI_UPDATE_GTT. The page number of `address` is the index of the first entry. False:
  // the table does not exist.
  bool write_entries(unsigned engine, memory::TableKind table, GpuVa address, std::span<const uint32_t> dwords);

  GttPort& gtt_port() { return gtt_port_; }
  Aperture& aperture() { return aperture_; }
  void aperture_write(GgttOffset address, std::span<const std::byte> from);
  MemoryMap& map() { return map_; }
  const MemoryMap& map() const { return map_; }
  memory::FaultUnit& faults() { return faults_; }
  memory::Gam& gam() { return gam_; }
  memory::VtdUnit& vtd() { return vtd_; }
  // Null: the device has no advanced contexts.
  memory::Iommu* iommu() { return iommu_ ? &*iommu_ : nullptr; }
  memory::MemoryTypes& types() { return types_; }
  memory::TlbSet& tlbs() { return tlbs_; }
  memory::TlbInvalidation& invalidation() { return invalidation_; }
  bool table_enabled() const { return table_enabled_; }
  void keep_table_enabled();  // keeps the global table enabled, regardless of PGTBL_CTL

  void reset(bool clear_memory);  // reset of the function
  void reset_gt();
  bool reset_engine(unsigned engine);  // false: a page request blocks its completion
  void refresh();                      // reads registers again that changed without calls of their handlers

  MemoryState snapshot() const;
  void restore(const MemoryState& state);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  struct Client {
    std::unique_ptr<memory::FaultHandler> faults;
    memory::AddressSpace space;
    std::unique_ptr<memory::TiledResources> tiles;

    Client(std::unique_ptr<memory::FaultHandler> handler, const memory::PhysicalMemory& memory, memory::Tlb& tlb,
           memory::SpaceTag tag)
        : faults(std::move(handler)), space(memory, tlb, tag, *faults) {}
  };
  using ClientKey = std::tuple<unsigned, memory::Stream, memory::TableKind>;
  static constexpr unsigned kNoEngine = ~0u;  // in keys of streams without an engine

  // Handles faults of the CPU and the display. While the table is off, accesses that may still use it raise no error.
  class ExternalFaults final : public memory::FaultHandler {
   public:
    ExternalFaults(MemoryUnit& unit, memory::Stream stream) : unit_(unit), stream_(stream) {}
    memory::FaultAction on_fault(const memory::Fault& fault) override;
    void on_snooped_page(uint64_t address) override { unit_.snooped_page(stream_, address); }

   private:
    MemoryUnit& unit_;
    memory::Stream stream_;
  };

  class StreamFaults final : public memory::FaultHandler {
   public:
    StreamFaults(MemoryUnit& unit, unsigned engine, memory::Stream stream)
        : unit_(unit), engine_(engine), stream_(stream) {}
    memory::FaultAction on_fault(const memory::Fault& fault) override {
      return unit_.faults_.report(engine_, 0, memory::fault_stream(stream_), fault);
    }
    void on_large_page(uint64_t address) override { unit_.faults_.report_large_page(engine_, address); }
    void on_snooped_page(uint64_t address) override { unit_.snooped_page(stream_, address); }

   private:
    MemoryUnit& unit_;
    unsigned engine_;
    memory::Stream stream_;
  };

  bool read(PhysAddr address, std::span<std::byte> into) override;
  bool write(PhysAddr address, std::span<const std::byte> from) override;
  void send_message(PhysAddr address, uint32_t data) override { host_.send_message_interrupt(address, data); }
  void snooped_page(memory::Stream stream, uint64_t address);
  void check_status_page(unsigned engine, uint64_t descriptor);
  void attach_registers();
  bool derives(spec::RegisterId id) const;
  void derive(const mmio::RegisterSlot& slot, uint32_t value);
  TablePlace global_place() const;
  void load_global();
  void load_flat();
  void load_directory(const spec::EngineModel& engine);
  void load_copy_arbiter(uint32_t value);
  void load_process_walk(unsigned engine, const memory::WalkContext& walk);
  void write_pdp(const mmio::RegisterSlot& slot, uint32_t value);
  bool write_process_entries(unsigned engine, GpuVa address, std::span<const uint32_t> dwords);
  void entries_changed(uint64_t first, uint64_t last);
  void flush_global();
  void invalidate_all();
  bool has_own_tables() const;  // this unit loads per-process tables, not the contexts of the page walker
  bool process_tables_off(unsigned engine) const;
  unsigned number_in_class(unsigned engine) const;
  unsigned index_of(const spec::EngineModel& engine) const;
  memory::WalkContext global_walk() const;
  void raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail);

  const spec::DeviceModel& model_;
  mmio::MmioSpace& mmio_;
  Host& host_;
  std::string path_;
  TablePlace home_;  // of the global table, as firmware placed it
  MemoryMap map_;
  memory::PageFormats formats_;
  memory::TlbSet tlbs_;
  memory::Tlb external_tlb_;
  memory::MemoryTypes types_;
  memory::VtdUnit vtd_;
  memory::FaultUnit faults_;
  memory::Gam gam_;
  std::optional<memory::Iommu> iommu_;
  memory::TlbInvalidation invalidation_;
  memory::TrttRegisters trtt_;
  GttPort gtt_port_;
  ExternalFaults host_faults_;
  memory::AddressSpace host_space_;
  Aperture aperture_;
  bool table_enabled_ = true;
  bool table_stays_enabled_ = false;
  std::vector<memory::WalkContext> process_walks_;  // of engines, with has_own_tables
  std::vector<const mmio::RegisterSlot*> slots_;    // that this unit handles
  mmio::Register<hw::PGTBL_CTL> table_control_;
  mmio::Register<hw::PGTBL_CTL2> process_table_control_;
  mmio::Register<hw::PGTBL_STR2> table_select_;
  std::vector<mmio::Register<hw::GFX_MODE>> modes_;  // of each engine, where it enables tables
  std::map<ClientKey, std::unique_ptr<Client>> clients_;
  std::vector<std::array<std::array<memory::AddressSpace*, 2>, memory::kStreams>> spaces_;  // of engines: into clients_
};

}  // namespace halogen::device
