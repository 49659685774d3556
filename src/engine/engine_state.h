// The state of an engine that is not in a register. It is plain data, so a snapshot is a copy. Each part's state is
// declared beside the part.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "blit/blit_state.h"
#include "compute/compute_state.h"
#include "engine/backend/long_command_state.h"
#include "engine/backend/render_state.h"
#include "engine/context/power_state.h"
#include "engine/mi/math_state.h"
#include "engine/mi/semaphore_state.h"
#include "engine/stream/command_stream.h"
#include "engine/submit/execlist_state.h"
#include "engine/submit/ring_state.h"
#include "engine/watchdog_state.h"
#include "pipe3d/state/draw_state.h"

namespace halogen::engine {

enum class Activity : uint8_t {
  idle,     // nothing is submitted
  running,  // the stream has commands to parse
  waiting,  // a command is waiting: see Wait
  hung,     // until the engine is reset
};

enum class WaitKind : uint8_t {
  none,
  event,      // MI_WAIT_FOR_EVENT
  semaphore,  // MI_SEMAPHORE_WAIT, MI_SEMAPHORE_MBOX
  rest,       // the ring's tail lies inside a command; software must write the rest first
  page,       // a page response, in fault-and-halt mode
  parser,     // stopped by software (MI_MODE)
};

struct Wait {
  WaitKind kind = WaitKind::none;
  uint32_t detail = 0;  // for an event, the header of the waiting command; for a semaphore, the token
  std::optional<uint64_t>
      until{};  // virtual time of the next check; empty: checked when a register, memory or an event changes

  // Returns whether the stream waits for an event or a semaphore. The value stays true while the engine checks again.
  bool holds_stream() const { return kind == WaitKind::event || kind == WaitKind::semaphore; }

  bool operator==(const Wait&) const = default;
};

// When other work may run between the commands of a batch buffer: G45 PRM vol. 1b 1.5 (seed 003).
enum class Arbitration : uint8_t { at_chain_points, between_commands, never };

// Properties of a level of the stream, besides its address.
struct LevelState {
  bool privileged = true;
  bool second_level = false;
  Arbitration arbitration = Arbitration::between_commands;

  bool operator==(const LevelState&) const = default;
};

// A wait for a point in time. It ends at `at`, even if the display's timing changes before.
struct EventWait {
  GpuVa command;  // the waiting command
  uint64_t at = 0;

  bool operator==(const EventWait&) const = default;
};

struct EngineState {
  StreamState stream;
  std::array<LevelState, StreamState::kMaxLevels> levels{};
  Activity activity = Activity::idle;
  Wait wait;
  std::optional<EventWait> event{};
  uint64_t time = 0;                      // virtual nanoseconds up to which the engine has worked
  uint8_t lone_slices = 0;                // consecutive slices in which no other engine had work
  uint64_t commands = 0;                  // parsed so far; a command that waits counts when it is done
  uint32_t header = 0;                    // of the command that was parsed last
  bool arbitration = true;                // MI_ARB_ON_OFF
  bool lite_restores = false;             // MI_ARB_ON_OFF disabled arbitration, but allowed lite restores
  bool arbitration_off_in_batch = false;  // a batch disabled arbitration and has not enabled it again
  bool preparser = true;                  // MI_ARB_CHECK can disable the pre-parser
  bool lone_scan_lines = false;           // an odd number of consecutive MI_LOAD_SCAN_LINES so far
  uint8_t predicate = 0;                  // predicate enable of the last MI_SET_PREDICATE; 0: none is in force
  bool predicate_bit = false;             // result of that predicate; true: predicated commands are skipped
  MathState math;
  SemaphoreState semaphore;
  RingState ring;
  ExeclistState execlist;
  WatchdogState watchdog;
  PowerState power;
  LongCommandState long_command;
  blit::BlitState blit;
  RenderState render;
  compute::ComputeState compute;
  pipe3d::DrawState draw;

  bool operator==(const EngineState&) const = default;
};

}  // namespace halogen::engine
