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
  running,  // there are commands to parse
  waiting,  // a command waits: see Wait
  hung,     // only a reset helps
};

enum class WaitKind : uint8_t {
  none,
  event,      // MI_WAIT_FOR_EVENT
  semaphore,  // MI_SEMAPHORE_WAIT, MI_SEMAPHORE_MBOX
  rest,       // the ring's tail lies inside a command: software must write the rest first
  page,       // fault and halt: a page response
  parser,     // stopped by software (MI_MODE)
};

struct Wait {
  WaitKind kind = WaitKind::none;
  uint32_t detail = 0;              // of an event: what was waited for; of a semaphore: the token
  std::optional<uint64_t> until{};  // virtual time of the next check; nothing: when something changes

  // Returns whether a command waits for a condition that registers show, also after the engine was told to check again.
  bool holds_stream() const { return kind == WaitKind::event || kind == WaitKind::semaphore; }

  bool operator==(const Wait&) const = default;
};

// When other work may run between the commands of a batch buffer (seed 003 1.5).
enum class Arbitration : uint8_t { at_chain_points, between_commands, never };

// Properties of a level of the stream, besides its address.
struct LevelState {
  bool privileged = true;
  bool second_level = false;
  Arbitration arbitration = Arbitration::between_commands;

  bool operator==(const LevelState&) const = default;
};

// A wait for a point in time. It ends at `at`, even if the display's timing changes in between.
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
  uint64_t commands = 0;                  // parsed so far; those that wait count when they are done
  uint32_t header = 0;                    // of the command parsed last
  bool arbitration = true;                // MI_ARB_ON_OFF
  bool lite_restores = false;             // ... switched it off but for lite restores
  bool arbitration_off_in_batch = false;  // ... by a batch that has not switched it on again
  bool preparser = true;                  // MI_ARB_CHECK may switch the pre-parser off
  bool lone_scan_lines = false;           // an odd number of consecutive MI_LOAD_SCAN_LINES so far
  uint8_t predicate = 0;                  // what MI_SET_PREDICATE asked for; 0: nothing
  bool predicate_bit = false;             // ... and found: some commands are no-operations
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
