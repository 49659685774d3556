// Logical contexts before execlists: MI_SET_CONTEXT of Gen4 to Gen6 and the run lists of the mobile Gen4.5 part. G45
// PRM vol. 1b 1.15 and 5.8 (seed 003). An image holds the streamer's context registers as MI_LOAD_REGISTER_IMM
// commands, in whole cache lines, then the setup state of the BLT engine and the state of the pipelines
// (context_settings.h). The format is the model's own, because software only moves images.
#pragma once

#include <cstdint>

#include "base/strong.h"
#include "memory/access.h"

namespace halogen::engine {

class Engine;

struct ContextAddress {
  bool physical = false;
  uint64_t address = 0;

  bool operator==(const ContextAddress&) const = default;
};

memory::AccessResult save_context(Engine& engine, const ContextAddress& place, bool with_ring);
memory::AccessResult restore_context(Engine& engine, const ContextAddress& place, bool with_ring);

// Probes of pages on the mobile Gen4.5 part. probe_page() tests a page, store_probe() stores a page in the list of the
// context of RCCID, and probe_again() tests all stored pages. False: a page is missing.
inline constexpr unsigned kProbeSlots = 1024;
inline constexpr unsigned kProbesOfRegister = 32;
bool probe_page(Engine& engine, GpuVa page);
memory::AccessResult store_probe(Engine& engine, unsigned slot, uint32_t page);
bool probe_again(Engine& engine);

// Run lists: saves the context of RCCID, loads that of RNCID with its ring and per-process table, and probes its pages.
void switch_run_list_context(Engine& engine);

}  // namespace halogen::engine
