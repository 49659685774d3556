// What an execlist port remembers besides its registers.
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
  uint8_t next = 0;  // element that runs, or is to run next

  bool operator==(const ExecutionQueue&) const = default;
};

// How far the context in the engine is.
enum class ContextPhase : uint8_t {
  none,            // there is no context
  ring_context,    // the first part of its image is to be restored
  engine_context,  // the second part, from `image_dword` on
  indirect,        // its INDIRECT_CTX commands run
  restored,        // the image is restored
  batch,           // its BB_PER_CTX_PTR batch runs
  running,         // commands of its ring run
};

// Why a context leaves; numbers as in ContextSwitchDetail.
enum class LeaveReason : uint8_t { complete, sync_flip, vblank, scan_line, semaphore, preempted };

struct ExeclistState {
  std::array<uint32_t, 4> port{};  // writes to the four-dword port so far
  uint8_t port_writes = 0;
  std::optional<ExecutionQueue> pending;  // submitted, not yet taken
  uint64_t pending_since = 0;             // virtual time of the submission
  ExecutionQueue active;
  std::optional<uint64_t> running;  // descriptor of the context in the engine
  ContextPhase phase = ContextPhase::none;
  uint32_t image_dword = 0;    // where the restore goes on
  uint8_t stack_writes = 0;    // of the restore, to the port of the batch stack
  bool indirect_done = false;  // in this restore
  bool leaving = false;        // the context leaves when the engine looks next
  LeaveReason reason = LeaveReason::complete;
  uint8_t wait_detail = 0;       // of a wait that it leaves for, as in VainWait
  bool polls = false;            // the semaphore that it leaves for is polled
  uint8_t list = 1;              // which of the two execlists of Gen8 is the current one
  uint32_t last_switch = 0;      // reasons of the last switch, as Gen8 reports them
  uint64_t timestamp_since = 0;  // virtual time from which on CTX_TIMESTAMP counts

  // Between the first register of a restore and the first command of its ring the registers of the context are not
  // those of the stream that runs.
  bool restoring() const { return phase != ContextPhase::none && phase != ContextPhase::running; }

  bool operator==(const ExeclistState&) const = default;
};

}  // namespace halogen::engine
