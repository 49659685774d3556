// State of an execlist port that is not in its registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace halogen::engine {

// A list of contexts to run, in order.
struct ExecutionQueue {
  static constexpr size_t kMaxElements = 8;
  std::array<uint64_t, kMaxElements> descriptors{};
  uint8_t count = 0;
  uint8_t next = 0;  // element that is running, or that runs next

  bool operator==(const ExecutionQueue&) const = default;
};

// Progress of the context in the engine.
enum class ContextPhase : uint8_t {
  none,            // no context in the engine
  ring_context,    // the ring context of its image is restored next
  engine_context,  // the engine context is restored next, from `image_dword` on
  indirect,        // its INDIRECT_CTX commands are running
  restored,        // the image is restored
  batch,           // its BB_PER_CTX_PTR batch is running
  running,         // commands of its ring are running
};

// Why a context leaves. The values are those of ContextSwitchDetail.
enum class LeaveReason : uint8_t { complete, sync_flip, vblank, scan_line, semaphore, preempted };

struct ExeclistState {
  std::array<uint32_t, 4> port{};  // dwords written to the four-dword port
  uint8_t port_writes = 0;
  std::optional<ExecutionQueue> pending;  // submitted, not taken by the engine
  uint64_t pending_since = 0;             // virtual time of the submission
  ExecutionQueue active;
  std::optional<uint64_t> running;  // descriptor of the context in the engine
  ContextPhase phase = ContextPhase::none;
  uint32_t image_dword = 0;    // next dword of the restore
  uint32_t registers_end = 0;  // dword where the registers of the image end, if the image states it
  uint8_t stack_writes = 0;    // writes of the restore to the port of the batch stack
  bool indirect_done = false;  // in this restore
  bool leaving = false;        // the context leaves at the next prepare()
  LeaveReason reason = LeaveReason::complete;
  uint8_t wait_detail = 0;       // of the wait that it leaves for, as in UnmetWait
  bool polls = false;            // the semaphore that it leaves for is in polling mode
  uint8_t current_list = 1;      // index of the current one of Gen8's two execlists
  uint32_t last_switch = 0;      // reason bits of the last switch, as Gen8 reports them
  uint64_t timestamp_since = 0;  // virtual time from which CTX_TIMESTAMP counts

  // Returns whether a restore is in progress. Until the first command of the ring runs, the registers of the context
  // are not those of the running stream.
  bool restoring() const { return phase != ContextPhase::none && phase != ContextPhase::running; }

  bool operator==(const ExeclistState&) const = default;
};

}  // namespace halogen::engine
