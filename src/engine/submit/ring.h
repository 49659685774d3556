// The ring buffer of an engine: its four registers, the updated head pointer and the outermost level of the stream.
// Seed 003 5.3.4 and 5.3.7; seed 000, ring buffers. Contexts that an execlist loads use the same registers.
//
// While the ring is disabled the registers are storage. Once enabled, the stream knows where the head is, and the
// register is written from it when it is read.
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
  bool empty() const;   // head and tail are in the same quadword, and no batch runs
  bool usable() const;  // head and tail lie in the ring

  // Makes the stream's outermost level from the registers: after software or a context restore has written them.
  void adopt();
  // A command may not lie across the end of the ring.
  void check_place(GpuVa address, size_t bytes) const;
  // An arbitration point: takes the head from UHPTR when that is valid. False: the stream goes on where it is.
  bool take_updated_head();
  // Head reports: MI_REPORT_HEAD (`ahead` is what it is long), and by itself when the head passes a border.
  memory::AccessResult report_head(uint64_t ahead);
  void report_head_at_borders();

  // A context restore writes registers without the effects that software's writes have.
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
  explicit RingSubmission(Engine& engine) : engine_(engine) {}

  bool prepare() override;
  void on_empty() override;
  bool wants_switch() const override;
  void leave() override;
  bool switches_on_wait(const VainWait& wait) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
