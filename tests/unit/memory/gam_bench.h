// GamBench: a device's page walker with all its parts, over memory with tables of advanced contexts.
#pragma once

#include "engine_faults.h"
#include "memory/gam.h"
#include "memory/gam_invalidation.h"
#include "spec/descriptors.h"
#include "vtd_bench.h"

namespace halogen::memory::rows {

// Element descriptor bits (seed 001): 0 valid, 1 always one, 3 legacy, 4 48-bit or A/D, 5 coherency, 7:6 fault model,
// 8 per-process or privileged, 11:9 function, 31:12 LRCA, 63:32 context id.
inline constexpr uint64_t kElementValid = bit_at(0) | bit_at(1), kElementLegacy = bit_at(3), kElementWide = bit_at(4),
                          kElementDirty = bit_at(4), kElementPpgtt = bit_at(8), kElementPrivileged = bit_at(8);
inline constexpr uint64_t kHalt = uint64_t{1} << 6, kStream = uint64_t{2} << 6;

struct GamBench : VtdBench {
  explicit GamBench(const char* device = "icl", const FaultUnit::Config& config = {}, FaultListener* listener = nullptr)
      : VtdBench(device),
        tlbs(model),
        types(model),
        vtd(model, memory, {}),
        faults(model, config, events, "gpu0", listener),
        gam(model, {formats, tlbs, faults, types, vtd}, events, "gpu0"),
        invalidation(model, gam) {
    vtd.set_root(kRootRegister);
    WalkContext global;
    global.format = formats.find(WalkMode::ggtt);
    global.roots[0] = 0x7f80'0000;
    global.entries = bit_at(20);
    gam.set_global(global);
  }

  unsigned engine(std::string_view name) const {
    for (unsigned i = 0; i < model.engines.size(); ++i) {
      if (model.engines[i].name == name) {
        return i;
      }
    }
    ADD_FAILURE() << name;
    return 0;
  }
  static spec::RegisterId id(const char* name) { return spec::find_register(name)->id; }

  // Performs the whole context launch handshake.
  void launch(unsigned number, uint64_t element, const std::array<uint64_t, 4>& pointers) {
    EXPECT_EQ(gam.on_message(number, 0x1'0001), 0x1'0001u);
    gam.write_descriptor(number, 0, element);
    for (unsigned i = 0; i < 4; ++i) {
      gam.write_descriptor(number, 1 + i, pointers[i]);
    }
    EXPECT_EQ(gam.on_message(number, 0x2'0002), 0x2'0002u);
  }
  void launch_legacy48(unsigned number, uint64_t pml4) {
    launch(number, kElementValid | kElementLegacy | kElementWide | kElementPpgtt, {pml4, 0, 0, 0});
  }
  void launch_advanced(unsigned number, uint32_t pasid, uint64_t bits = kHalt) {
    launch(number, kElementValid | bits, {pasid, 0, 0, 0});
  }
  EventLog events;
  TlbSet tlbs;
  MemoryTypes types;
  VtdUnit vtd;
  FaultUnit faults;
  Gam gam;
  TlbInvalidation invalidation;
};

// Fills one page into a TLB, in address space 1.
inline bool holds(Tlb& tlb, uint64_t page) {
  return tlb.look_up(1, page, kRead) != nullptr;
}
inline void fill(Tlb& tlb, uint64_t page) {
  TlbEntry entry;
  entry.page = page;
  entry.space = 1;
  entry.writable = entry.dirty = entry.executable = entry.user = true;
  tlb.fill(entry);
}

// Writes tables for one page at `va`, from `base` on (one page each), valid for legacy and advanced contexts. The page
// holds `value`. Returns the PML4 table.
inline uint64_t put_page(Bench& bench, uint64_t base, uint64_t va, uint64_t value) {
  unsigned shift = 39;
  for (uint64_t level = 0; level < 4; ++level, shift -= 9) {
    bench.put(base + level * 0x1000 + ((va >> shift) & 0x1ff) * 8, (base + (level + 1) * 0x1000) | kP | kRw | kUs);
  }
  bench.put(base + 0x4000 + (va & 0xff8), value);
  return base;
}

// A stream of an engine with its own address space.
struct Stream {
  Stream(GamBench& bench, unsigned engine, TlbClient client, SpaceTag tag)
      : handler(bench.faults, engine), space(bench.memory, bench.tlbs.of(client), tag, handler) {
    bench.gam.attach(engine, space);
  }
  uint64_t read(uint64_t va) { return space.load_value<uint64_t>(GpuVa(va)); }

  EngineFaults handler;
  AddressSpace space;
};

}  // namespace halogen::memory::rows
