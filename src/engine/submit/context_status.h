// Context status buffer: a report for each context switch, in the hardware status page and in registers, and the
// interrupt that follows it. Seed 000, "Context Status" and "Context Status Buffer in Global Hardware Status Page".
//
// Where the buffer lies in the page: the seed says dword 28h with the last written index at 47h, drivers use 10h with
// 1Fh (Gen8, Gen9) or 2Fh; the drivers' place is ours, the seed's can be chosen (kManualPlace). In both the index is in
// the lower byte of its dword.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/submit/execlist_state.h"
#include "hw/mi.h"
#include "memory/access.h"

namespace halogen::engine {

class Engine;

// A descriptor as it was submitted, taken apart.
hw::CONTEXT_DESCRIPTOR descriptor_of(spec::GenId gen, uint64_t value);

struct ContextSwitch {
  bool new_queue = false;
  std::optional<uint64_t> away;  // descriptors; nothing: the engine was, or is now, idle
  std::optional<uint64_t> to;
  LeaveReason reason = LeaveReason::complete;
  uint8_t wait_detail = 0;  // of a wait: plane as flips select it, pipe from 0, or token
  bool lite_restore = false;
  bool polls = false;  // it left for a semaphore that is polled
};

class ContextStatusBuffer {
 public:
  static constexpr unsigned kManualPlace = 0x28;  // dword, as the seed prints it

  explicit ContextStatusBuffer(Engine& engine);

  unsigned entries() const { return entries_; }
  // First dword of the buffer in the status page. The index keeps its distance.
  void set_place(unsigned dword);

  // Returns the result of the write to the status page.
  memory::AccessResult report(const ContextSwitch& change);

 private:
  bool masked(const ContextSwitch& change) const;
  uint64_t pack(const ContextSwitch& change) const;

  Engine& engine_;
  unsigned entries_;
  unsigned upper_first_;  // first entry that the second run of registers holds
  unsigned first_dword_ = 0;
  unsigned index_dword_ = 0;
  bool names_both_ = false;  // an entry names the context that comes too
};

}  // namespace halogen::engine
