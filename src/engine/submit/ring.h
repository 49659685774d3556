// The ring buffer of an engine: its four registers, the updated head pointer and the outermost level of the stream. G45
// PRM vol. 1b 5.3.4 and 5.3.7 (seed 003); DG1 PRM vol. 13, ring buffers (seed 000). Contexts of an execlist use the
// same registers.
//
// While the ring is disabled, the registers are storage. While it is enabled, the stream holds the head, and the head
// register is written from the stream when it is read.
#pragma once

#include <cstdint>

#include "engine/submit/submission.h"
#include "memory/access.h"
#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class Ring final : public mmio::RegisterHandler {
 public:
  explicit Ring(Engine& engine);

  bool enabled() const;
  bool empty() const;   // head and tail are in the same quadword, and no batch is running
  bool usable() const;  // head and tail are inside the ring

  // Sets the stream's outermost level from the registers. Called after software or a context restore has written them.
  void adopt();
  // Reports a command that crosses the end of the ring.
  void check_end_of_ring(GpuVa address, size_t bytes) const;
  // Sets the head from UHPTR if UHPTR is valid (an arbitration point). False: the head does not change.
  bool take_updated_head();
  // Report the head: for MI_REPORT_HEAD (`ahead` is the command's length in bytes), and automatically when the head
  // passes a border.
  memory::AccessResult report_head(uint64_t ahead);
  void report_head_at_borders();

  // Marks register writes of a context restore, which have none of the effects of software's writes.
  void set_restoring(bool restoring) { restoring_ = restoring; }

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  uint64_t borders_passed() const;
  uint32_t read_tail(uint32_t stored);
  uint32_t read_control(uint32_t stored) const;
  void cancel_wait(uint32_t written);
  void check_tail() const;
  void disabled();

  Engine& engine_;
  bool restoring_ = false;
};

// Takes work from the registers of the ring.
class RingSubmission final : public Submission {
 public:
  explicit RingSubmission(Engine& engine);

  bool prepare() override;
  void on_empty() override;
  bool wants_switch() const override;
  void leave() override;
  bool switches_on_wait(const UnmetWait& wait) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
