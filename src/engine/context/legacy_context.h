// Logical contexts before execlists: MI_SET_CONTEXT of Gen4 to Gen6 and the run lists of the mobile Gen4.5 part. Seed
// 003 5.8 and 1.15. The image holds the streamer's context registers as MI_LOAD_REGISTER_IMM commands, in whole cache
// lines, the setup state of the BLT engine, and what the pipelines are set to (context_settings.h); its form is the
// device's own, software only moves it.
#pragma once

#include <cstdint>

#include "base/strong.h"
#include "memory/access.h"

namespace halogen::engine {

class Engine;

struct ContextPlace {
  bool physical = false;
  uint64_t address = 0;

  bool operator==(const ContextPlace&) const = default;
};

memory::AccessResult save_context(Engine& engine, const ContextPlace& place, bool with_ring);
memory::AccessResult restore_context(Engine& engine, const ContextPlace& place, bool with_ring);

// Probes of surfaces, of the mobile Gen4.5 part: a test access; the list that lies with the context of RCCID; and all
// that are in it once more. False: no page.
inline constexpr unsigned kProbeSlots = 1024;
inline constexpr unsigned kProbesOfRegister = 32;
bool probe_page(Engine& engine, GpuVa page);
memory::AccessResult store_probe(Engine& engine, unsigned slot, uint32_t page);
bool probe_again(Engine& engine);

// Run lists: saves the context of RCCID and loads that of RNCID, with ring and per-process table, and probes its pages.
void switch_run_list_context(Engine& engine);

}  // namespace halogen::engine
