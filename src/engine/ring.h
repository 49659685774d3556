// The ring buffer of an engine: its four registers and the outermost level of the stream. Seed 003 5.3.4; seed 000,
// ring buffers. Contexts that an execlist loads use the same registers.
#pragma once

#include <cstdint>

#include "engine/registers.h"
#include "engine/submission.h"

namespace halogen::engine {

class Engine;

class Ring final : public RegisterHandler {
 public:
  explicit Ring(Engine& engine);

  bool enabled() const;
  bool empty() const;  // head equals tail, nothing of the ring is left to parse

  // Makes the stream's outermost level from the registers: after software or a context restore has written them.
  void adopt();
  // Head reports: MI_REPORT_HEAD, and by itself when the head passes a border.
  void report_head();
  void report_head_at_borders();

  // A context restore writes registers without the effects that software's writes have.
  void set_restoring(bool restoring) { restoring_ = restoring; }

  uint32_t on_read(const RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const RegisterWrite& write) override;

 private:
  friend class RingSubmission;
  Engine& engine_;
  bool restoring_ = false;
};

// Work comes through the registers of the ring.
class RingSubmission final : public Submission {
 public:
  explicit RingSubmission(Engine& engine) : engine_(engine) {}

  bool prepare() override;
  void on_empty() override;
  bool wants_switch() const override;
  void leave() override;
  bool switches_on_wait(WaitKind kind) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
