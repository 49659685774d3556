// Frames a command stream: finds where each command starts and ends, once, for every user. Executing, printing,
// counting and recording are visitors; they also decide where the stream goes on (next, jump, call, leave).
//
// The walker knows nothing of particular commands: lengths come from the description, and a batch starts because a
// visitor says so. Commands may cross pages and wrap around the end of a ring. Nothing is allocated per command.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/probe.h"
#include "base/strong.h"
#include "hw/header_bits.h"
#include "spec/command_table.h"

namespace halogen::engine {

// Which translation a stream is fetched through.
enum class StreamSpace : uint8_t { ggtt, ppgtt, physical };

// The source of dwords.
class CommandMemory {
 public:
  virtual ~CommandMemory() = default;

  // What can be read in one run from `address` on, as long as is convenient; empty where nothing is mapped.
  // The span stays good until the memory's mapping changes (CommandStream::invalidate()).
  virtual std::span<const uint32_t> dwords_at(StreamSpace space, GpuVa address) = 0;
};

// One nesting level: the ring, a batch buffer, a second-level batch buffer... Plain data.
struct StreamLevel {
  static constexpr GpuVa kNoEnd{~uint64_t{0}};

  StreamSpace space = StreamSpace::ggtt;
  GpuVa address;           // of the next command
  GpuVa end = kNoEnd;      // the stream holds nothing from here on: a ring's tail, a batch's known end
  GpuVa wrap_to;           // a ring goes on here...
  GpuVa wrap_at = kNoEnd;  // ...when it reaches this address
  uint32_t wraps = 0;      // how often it did

  bool operator==(const StreamLevel&) const = default;
};

struct StreamState {
  static constexpr size_t kMaxLevels = 8;
  std::array<StreamLevel, kMaxLevels> levels{};
  uint8_t depth = 0;  // index of the level that runs

  bool operator==(const StreamState&) const = default;
};

// The location of a command.
struct CommandPlace {
  StreamSpace space;
  uint8_t level;
  GpuVa address;
};

// What the walker's probe shows of each whole command, before the visitor gets it.
struct CommandView {
  const spec::CommandDesc* desc;     // null: no description matches
  std::span<const uint32_t> dwords;  // live during the call
  CommandPlace place;
};

// What a visitor wants next.
struct Next {
  enum class Action : uint8_t { advance, jump, call, leave, stop, hold };
  Action action = Action::advance;
  StreamSpace space = StreamSpace::ggtt;
  GpuVa address;
  GpuVa end = StreamLevel::kNoEnd;  // of what is jumped to or called, where that is known

  static constexpr Next advance() { return {}; }
  static constexpr Next jump(StreamSpace space, GpuVa to, GpuVa end = StreamLevel::kNoEnd) {
    return {Action::jump, space, to, end};
  }
  static constexpr Next call(StreamSpace space, GpuVa to, GpuVa end = StreamLevel::kNoEnd) {
    return {Action::call, space, to, end};
  }
  static constexpr Next leave() { return {Action::leave, {}, {}}; }
  static constexpr Next stop() { return {Action::stop, {}, {}}; }  // the command counts as consumed
  static constexpr Next hold() { return {Action::hold, {}, {}}; }  // it does not: run() again visits it again
};

enum class StreamStop : uint8_t {
  budget,     // the number of commands asked for is done; run() again goes on
  exhausted,  // the level's end is reached: an empty ring, the end of a batch without an end command
  left,       // the outermost level was left
  stopped,    // the visitor said so
  held,       // the visitor said so, and the command is still the next one
  unmapped,   // nothing can be read at the address
  truncated,  // the last command is longer than what is left
  too_deep,   // a call beyond kMaxLevels
};

// The dwords of a command span the whole command and live until the visitor returns.
class CommandVisitor {
 public:
  virtual ~CommandVisitor() = default;
  virtual Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                          const CommandPlace& place) = 0;
  // No description matches; `dwords` has the length that the command's client would give it.
  virtual Next on_unknown(std::span<const uint32_t> dwords, const CommandPlace& place) = 0;
  // `desc` is null for an unknown command, `present` what is there of `total` dwords. The stream stops.
  virtual void on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                            const CommandPlace& place) = 0;
};

// Length of a command that no description matches: the rule that all commands of its client follow.
constexpr uint32_t length_of_unknown(uint32_t header) {
  constexpr uint32_t kFirstLongMiOpcode = 0x10;  // MI commands below are one dword
  constexpr uint32_t kLengthBias = 2;
  switch (hw::ClientHeader::kClient.of(header)) {
    case hw::ClientHeader::mi:
      return hw::MiHeader::kOpcode.of(header) < kFirstLongMiOpcode ? 1 : hw::MiHeader::kLength.of(header) + kLengthBias;
    case hw::ClientHeader::blit:
      return hw::BlitHeader::kLength.of(header) + kLengthBias;
    case hw::ClientHeader::render:
      return hw::RenderHeader::kLength.of(header) + kLengthBias;
    default:
      return 1;
  }
}

// A visitor may take runs of MI_NOOP without an identification (zero dwords) at once.
template <class Visitor>
concept TakesNoops = requires(Visitor& visitor, size_t count) {
  visitor.on_noops(count);
};

// A visitor may look whenever the stream comes to another page, batch or level, before the next command.
template <class Visitor>
concept SeesPages = requires(Visitor& visitor) {
  visitor.on_page();
};

// How many of the dwords at the start are zero.
inline size_t leading_zeros(std::span<const uint32_t> dwords) {
  constexpr size_t kBlock = 16;
  size_t count = 0;
  for (; dwords.size() - count >= kBlock; count += kBlock) {
    uint32_t any = 0;
    for (size_t i = 0; i < kBlock; ++i) any |= dwords[count + i];
    if (any != 0) break;
  }
  while (count < dwords.size() && dwords[count] == 0) ++count;
  return count;
}

class CommandStream {
 public:
  CommandStream(const spec::CommandTable& table, CommandMemory& memory) : table_(&table), memory_(&memory) {}

  // Starts over at one outermost level.
  void start(const StreamLevel& level) {
    state_ = {};
    state_.levels[0] = level;
    invalidate();
  }

  const StreamState& state() const { return state_; }
  void restore(const StreamState& state) {
    state_ = state;
    invalidate();
  }
  StreamLevel& level() { return state_.levels[state_.depth]; }
  const StreamLevel& level() const { return state_.levels[state_.depth]; }

  // The memory's mapping, or a level's end, has changed.
  void invalidate() {
    window_ = {};
    ++epoch_;
  }

  uint64_t epoch() const { return epoch_; }  // counts invalidations

  // Used by tracing and reports. Without a listener it costs one load.
  Probe<CommandView>& commands() { return commands_; }

  // Visits up to `budget` commands. `Visitor` is a CommandVisitor or has its functions; small ones become part of the
  // loop.
  template <class Visitor>
  StreamStop run(Visitor& visitor, uint64_t budget = ~uint64_t{0});

 private:
  bool open_window();
  template <class Visitor>
  Next visit(Visitor& visitor, const spec::CommandDesc* desc, std::span<const uint32_t> dwords,
             const CommandPlace& place);
  // A command that does not lie in the window in one piece. False when it is cut off.
  template <class Visitor>
  bool visit_split(Visitor& visitor, const spec::CommandDesc* desc, uint32_t total, Next& next);
  // Collects a command that does not lie in the window in one piece; shorter than `total` where the stream ends.
  std::span<const uint32_t> gather(uint32_t total);
  void wrap();
  bool follow(const Next& next, StreamStop& reason);

  const spec::CommandTable* table_;
  CommandMemory* memory_;
  StreamState state_;
  std::span<const uint32_t> window_;  // what is readable at level().address; stale while run() is in a visitor
  uint64_t epoch_ = 0;                // counts invalidations, so that run() notices those that a visitor makes
  std::vector<uint32_t> scratch_;
  Probe<CommandView> commands_;
};

template <class Visitor>
[[gnu::always_inline]] inline Next CommandStream::visit(Visitor& visitor, const spec::CommandDesc* desc,
                                                        std::span<const uint32_t> dwords, const CommandPlace& place) {
  if (commands_.watched()) [[unlikely]] {
    commands_(CommandView{desc, dwords, place});
  }
  return desc != nullptr ? visitor.on_command(*desc, dwords, place) : visitor.on_unknown(dwords, place);
}

template <class Visitor>
bool CommandStream::visit_split(Visitor& visitor, const spec::CommandDesc* desc, uint32_t total, Next& next) {
  const CommandPlace place{level().space, state_.depth, level().address};
  const std::span<const uint32_t> dwords = gather(total);
  if (dwords.size() < total) {
    visitor.on_truncated(desc, dwords, total, place);
    return false;
  }
  next = visit(visitor, desc, dwords, place);
  if (next.action != Next::Action::hold) level().address += uint64_t{total} * sizeof(uint32_t);
  window_ = {};
  return true;
}

// The inner loop holds its place in locals: the next header's address depends on this command's length, and a trip
// through memory would be part of that chain for every command.
template <class Visitor>
StreamStop CommandStream::run(Visitor& visitor, uint64_t budget) {
  while (budget != 0) {
    if (window_.empty() && !open_window()) {
      return level().address == level().end ? StreamStop::exhausted : StreamStop::unmapped;
    }
    if constexpr (SeesPages<Visitor>) visitor.on_page();
    StreamLevel& here = level();
    const uint64_t epoch = epoch_;
    const uint32_t* cursor = window_.data();
    size_t left = window_.size();
    CommandPlace place{here.space, state_.depth, here.address};
    Next next;
    do {
      if constexpr (TakesNoops<Visitor>) {
        if (*cursor == 0 && !commands_.watched()) {
          const size_t noops = leading_zeros({cursor, std::min<uint64_t>(left, budget)});
          visitor.on_noops(noops);
          cursor += noops;
          left -= noops;
          place.address += uint64_t{noops} * sizeof(uint32_t);
          here.address = place.address;
          budget -= noops;
          continue;
        }
      }
      const auto [desc, described] = table_->frame(*cursor);
      const uint32_t total = desc != nullptr ? described : length_of_unknown(*cursor);
      if (total > left) [[unlikely]] {
        window_ = {cursor, left};
        if (!visit_split(visitor, desc, total, next)) return StreamStop::truncated;
        --budget;
        left = 0;
        break;
      }
      next = visit(visitor, desc, {cursor, total}, place);
      if (next.action == Next::Action::hold) [[unlikely]] {
        break;
      }
      cursor += total;
      left -= total;
      place.address += uint64_t{total} * sizeof(uint32_t);
      here.address = place.address;
      --budget;
    } while (left != 0 && next.action == Next::Action::advance && budget != 0 && epoch == epoch_);
    window_ = epoch == epoch_ ? std::span(cursor, left) : std::span<const uint32_t>{};
    if (left == 0) wrap();
    if (next.action != Next::Action::advance) {
      StreamStop reason{};
      if (!follow(next, reason)) return reason;
    }
  }
  return StreamStop::budget;
}

inline void CommandStream::wrap() {
  StreamLevel& here = level();
  if (here.address >= here.wrap_at) {
    here.address = here.wrap_to + (here.address - here.wrap_at);
    ++here.wraps;
  }
}

}  // namespace halogen::engine
