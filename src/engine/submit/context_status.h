// Context status buffer: an entry for each context switch, in the hardware status page and in registers, and the
// interrupt that follows it. DG1 PRM vol. 13, "Context Status" and "Context Status Buffer in Global Hardware Status
// Page" (seed 000).
//
// The manual puts the buffer at dword 28h of the page and the last written index at 47h. Drivers use 10h, with the
// index at 1Fh (Gen8, Gen9) or 2Fh. The model follows the drivers; kManualFirstDword selects the manual's offsets. In
// both cases the index is in the lower byte of its dword.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/submit/execlist_state.h"
#include "hw/mi.h"
#include "memory/access.h"

namespace halogen::engine {

class Engine;

// Unpacks a descriptor as it was submitted.
hw::CONTEXT_DESCRIPTOR descriptor_of(spec::GenId gen, uint64_t value);

struct ContextSwitch {
  bool new_queue = false;
  std::optional<uint64_t> away;  // descriptors; empty: the engine was idle, or becomes idle
  std::optional<uint64_t> to;
  LeaveReason reason = LeaveReason::complete;
  uint8_t wait_detail = 0;  // of a wait: plane as flips select it, pipe from 0, or token
  bool lite_restore = false;
  bool polls = false;  // the context left for a semaphore in polling mode
};

class ContextStatusBuffer {
 public:
  static constexpr unsigned kManualFirstDword = 0x28;  // dword offset that the manual states

  explicit ContextStatusBuffer(Engine& engine);

  unsigned entries() const { return entries_; }
  // Sets the first dword of the buffer in the status page. The distance to the index stays the same.
  void set_first_dword(unsigned dword);

  // Writes an entry and raises the interrupt, unless CSB_INTERRUPT_MASK masks the switch. Returns the result of the
  // write to the status page.
  memory::AccessResult report(const ContextSwitch& change);

 private:
  bool masked(const ContextSwitch& change) const;
  uint64_t pack(const ContextSwitch& change) const;

  Engine& engine_;
  unsigned entries_;
  unsigned upper_first_;  // first entry that CTXT_ST_BUF_UPPER holds
  unsigned first_dword_ = 0;
  unsigned index_dword_ = 0;
  bool names_both_ = false;  // an entry names the new context too
};

}  // namespace halogen::engine
