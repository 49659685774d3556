// The graphics page walker's view of contexts (GAM). Each command streamer announces a context, writes its descriptors
// and launches it. The walker then knows which tables the engine's streams use, and drops its caches. Ice Lake PRM
// vol. 6, GFX Page Walker (GAM), TLB Caching and Management (seed 001). See also walker.h (the walk),
// gam_invalidation.h (invalidation by MMIO). Not modelled: the time of a context load (page directories are fetched on
// demand since Gen9).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "gen/translation_rules.h"
#include "memory/address_space.h"
#include "memory/fault_unit.h"
#include "memory/memory_type.h"
#include "memory/page_format.h"
#include "memory/tlb_set.h"
#include "memory/vtd.h"
#include "spec/device_model.h"

namespace halogen::memory {

// The state of an engine's handshake.
enum class ContextStage : uint8_t {
  idle,
  ready,      // "available" came, "receive ready" was answered: descriptors may be written
  confirmed,  // "launched" came and was confirmed, so the command streamer runs
};

// A context as its command streamer describes it.
struct ContextDefinition {
  bool valid = false;
  bool legacy = true;
  bool per_process = false;  // legacy: own tables, else the global one
  bool privileged = false;   // advanced
  bool wide = false;         // legacy: 48-bit addresses; advanced contexts always have them
  bool accessed_dirty = false;
  bool deeper_coherency = false;
  FaultModel fault_model = FaultModel::hang;
  uint8_t function = 0;
  uint32_t pasid = 0;
  uint32_t context_id = 0;
  uint64_t pointers[4] = {};  // page directories, or the PML4 table in the first

  WalkMode mode() const;
};

// Decodes `registers`: the element descriptor, then PDP0 to PDP3 as written.
ContextDefinition decode_context(const spec::DeviceModel& model, const std::array<uint64_t, 5>& registers);

// A directed invalidation of shared virtual memory. Each level includes the levels below it.
struct DirectedInvalidation {
  enum class Level : uint8_t { context, pasid, walk, page };
  Level level = Level::page;
  std::optional<unsigned> function;  // for a context; no value: all functions
  std::optional<uint32_t> pasid;     // no value: all PASIDs
  uint64_t address = 0;              // page
};

// The state, as plain data. Everything else is read from the tables again.
struct GamState {
  struct Engine {
    ContextStage stage = ContextStage::idle;
    std::array<uint64_t, 5> registers{};  // as written
    std::array<uint64_t, 5> launched{};   // those that the context in use was launched with
    bool loaded = false;                  // a context is in use
    bool error = false;
    std::optional<uint32_t> counted_pasid;
    bool operator==(const Engine&) const = default;
  };
  std::vector<Engine> engines;
  std::vector<uint32_t> answers;
  uint32_t gtt_cache = 0;
  uint32_t medium_enable = 0;
  bool operator==(const GamState&) const = default;
};

class Gam {
 public:
  // Message bits of both sides: bit 0 available and receive ready, bit 1 launched and confirmed; masks 16 bits above.
  static constexpr uint32_t kAvailable = 1, kLaunched = 2;

  struct Parts {
    const PageFormats& formats;
    TlbSet& tlbs;
    FaultUnit& faults;
    const MemoryTypes& types;
    VtdUnit& vtd;
  };

  struct Engine {
    ContextStage stage = ContextStage::idle;
    std::array<uint64_t, 5> registers{};
    std::array<uint64_t, 5> launched{};  // the registers that `definition` was decoded from
    bool loaded = false;                 // `definition` is valid
    ContextDefinition definition;
    WalkContext walk;
    std::optional<VtdPasid> pasid_cache;  // advanced contexts only
    std::optional<SecondLevel> second_level;
    std::optional<uint32_t> counted_pasid;  // this engine's share of the PASID's use count
    bool error = false;                     // an invalid descriptor was launched
    std::vector<AddressSpace*> spaces;      // the engine's own, not those of the global table
  };

  Gam(const spec::DeviceModel& model, const Parts& parts, EventSink& events, std::string path);
  Gam(const Gam&) = delete;
  Gam& operator=(const Gam&) = delete;

  // Adds a stream of an engine. From now on it is loaded with the engine's context.
  void attach(unsigned engine, AddressSpace& space);
  // Adds a client without a command streamer. Its context is the default one, the global table.
  void attach_default(AddressSpace& space);
  // Sets the walk of the global table.
  void set_global(const WalkContext& walk);
  // Sets the memory that holds page tables, on devices with local memory.
  void set_table_space(MemorySpace space) { table_space_ = space; }

  // Handles a message of a command streamer, which is a masked write. Returns the answer in the same form. 0: none.
  uint32_t on_message(unsigned engine, uint32_t written);
  void write_descriptor(unsigned engine, unsigned part, uint64_t value);  // 0 element, 1 to 4 the pointers
  const Engine& engine(unsigned number) const { return engines_[number]; }

  // Drop cached translations. A context switch drops them too, in on_message().
  void flush(unsigned engine);  // fences and flushes of the command streamer
  void flush_global();          // entries of the global table, everywhere
  void invalidate(const DirectedInvalidation& command);
  bool page_response(const PageResponse& response);

  // Reset. An engine reset keeps the TLBs. False: a page request blocks it. A function level reset keeps the IOMMU.
  bool reset_engine(unsigned engine);
  void reset_device();

  GamState state() const;
  void restore(const GamState& state);

  // Access the registers of this unit: message ports, descriptors, the GTT cache and the enable of 64 KB pages.
  bool owns(spec::RegisterId id) const;
  uint32_t read(spec::RegisterId id, unsigned index, unsigned dword) const;
  void write(spec::RegisterId id, uint32_t value);
  uint32_t take_answer(spec::RegisterId id);  // reads and clears the message port to a command streamer
  bool gtt_cache_enabled() const { return gtt_cache_ != 0; }
  bool medium_pages() const;

 private:
  void launch(unsigned number);
  void resolve(unsigned number);
  void resolve_advanced(unsigned number, Fault& fault);
  void apply_switches(Engine& engine);
  void enter(Engine& engine);
  void leave(Engine& engine);
  void drop_caches(unsigned number);
  void load_spaces(Engine& engine);
  FaultContext fault_context(const Engine& engine) const;
  void raise(unsigned number, EventKind kind, uint64_t value, std::string detail);
  int engine_of(spec::EngineClass engine_class, unsigned number) const;
  unsigned number_in_class(unsigned engine) const;

  const spec::DeviceModel* model_;
  Parts parts_;
  EventSink* events_;
  std::string path_;
  WalkContext global_;
  MemorySpace table_space_ = MemorySpace::system;
  std::deque<Engine> engines_;  // a deque keeps addresses
  std::vector<AddressSpace*> default_spaces_;
  std::vector<uint32_t> answers_;  // message bits not yet seen by a command streamer
  uint32_t gtt_cache_ = 0;
  uint32_t medium_enable_ = 0;
};

}  // namespace halogen::memory
