// Execlists: software submits contexts to an engine, and the engine restores, runs, preempts, saves and reports them.
// DG1 PRM vol. 13, "Scheduling and Execlists", "Context Status", "Preemption" and "Workaround Batch Buffers" (seed
// 000).
//
// There are two submission interfaces: the four-dword port of Gen8 (ELSP), and from Gen11 on the submit queue with its
// load bit. A submission is pending until the engine takes it: at once if the engine is idle or if the submission names
// the running context (lite restore), otherwise at a preemption point, when a wait of the running context is not
// satisfied, or when that context is complete.
//
// The parts of a load that run commands (INDIRECT_CTX, BB_PER_CTX_PTR) are levels of the stream above an empty
// outermost level. The progress of a load is part of the state, so a snapshot can be taken at any point.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/context/logical_context.h"
#include "engine/services.h"
#include "engine/submit/context_status.h"
#include "engine/submit/submission.h"
#include "hw/execlist.h"
#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class ExeclistSubmission final : public Submission, public mmio::RegisterHandler {
 public:
  // Virtual time that saving or restoring a context takes.
  static constexpr uint64_t kSwitchTime = 500;

  explicit ExeclistSubmission(Engine& engine);

  bool enabled() const;  // according to the engine's mode register
  ContextStatusBuffer& status_buffer() { return status_; }

  bool prepare() override;
  void on_empty() override;
  bool wants_switch() const override;
  void leave() override;
  bool switches_on_wait(const UnmetWait& wait) override;

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  void tell_switch(ContextStep::Kind step, uint64_t descriptor);
  void write_port(uint32_t value);
  void load_submit_queue();
  void submit(const ExecutionQueue& queue);

  // Steps of prepare(). False: the engine cannot continue now; its activity says why.
  bool take_from_idle();
  bool switch_context();
  bool restore_ring_context();
  bool restore_engine_context();
  bool run_restore_batch();
  bool start_ring();
  bool lite_restore();

  void look_at_stream();
  void begin(std::optional<uint64_t> descriptor);
  void run_commands(GpuVa start, std::optional<GpuVa> end);
  void reload_tables(const hw::CONTEXT_DESCRIPTOR& descriptor, uint64_t raw);
  bool new_queue_may_come() const;
  bool may_be_lite() const;
  bool is_lite() const;
  uint32_t context_timestamp() const;
  uint32_t ticks(uint64_t nanoseconds) const;
  using ProcessReport = uint32_t hw::PER_PROCESS_HARDWARE_STATUS_PAGE::*;
  void report_to_process(uint64_t descriptor, ProcessReport field, uint32_t value);
  uint64_t status() const;

  Engine& engine_;
  LogicalContext context_;
  ContextStatusBuffer status_;
};

}  // namespace halogen::engine
