// Frames a command stream: finds the start and end of each command, once, for every user. Executing, printing, counting
// and recording are visitors. A visitor also decides where the stream continues (next, jump, call, leave).
//
// The walker has no knowledge of particular commands: lengths come from the description, and a batch starts because a
// visitor says so. Commands may cross pages and wrap around the end of a ring. The walker does not allocate per
// command.
//
// A guest may write a command while it is parsed. Each dword of a command is therefore read once, into a copy, and
// visitors see only the copy: the command that was checked is the one that executes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/probe.h"
#include "base/strong.h"
#include "hw/header_bits.h"
#include "spec/command_table.h"

namespace halogen::engine {

// The translation that a stream is fetched through.
enum class StreamSpace : uint8_t { ggtt, ppgtt, physical };

// The source of dwords.
class CommandMemory {
 public:
  virtual ~CommandMemory() = default;

  // Returns the contiguous dwords from `address` on, as many as is convenient. Empty: nothing is mapped. The span is
  // valid until the memory's mapping changes (CommandStream::invalidate()).
  virtual std::span<const uint32_t> dwords_at(StreamSpace space, GpuVa address) = 0;
};

// One nesting level: the ring, a batch buffer, a second-level batch buffer. Plain data.
struct StreamLevel {
  static constexpr GpuVa kNoEnd{~uint64_t{0}};

  StreamSpace space = StreamSpace::ggtt;
  GpuVa address;           // of the next command
  GpuVa end = kNoEnd;      // first address after the stream: the tail of a ring, the known end of a batch
  GpuVa wrap_to;           // start of a ring...
  GpuVa wrap_at = kNoEnd;  // ...and its end, where the stream wraps
  uint32_t wraps = 0;      // number of times it has wrapped

  bool operator==(const StreamLevel&) const = default;
};

struct StreamState {
  static constexpr size_t kMaxLevels = 8;
  std::array<StreamLevel, kMaxLevels> levels{};
  uint8_t depth = 0;  // index of the level that runs

  bool operator==(const StreamState&) const = default;
};

// The location of a command in the stream.
struct CommandPlace {
  StreamSpace space;
  uint8_t level;
  GpuVa address;
};

// A complete command, as a listener of the stream's probe gets it before the visitor does.
struct CommandView {
  const spec::CommandDesc* desc;     // null: no description matches
  std::span<const uint32_t> dwords;  // valid during the call
  CommandPlace place;
};

// The next step of the stream, as a visitor chooses it.
struct Next {
  enum class Action : uint8_t { advance, jump, call, leave, stop, hold };
  Action action = Action::advance;
  StreamSpace space = StreamSpace::ggtt;
  GpuVa address;
  GpuVa end = StreamLevel::kNoEnd;  // of the target of a jump or call, if known

  static constexpr Next advance() { return {}; }
  static constexpr Next jump(StreamSpace space, GpuVa to, GpuVa end = StreamLevel::kNoEnd) {
    return {Action::jump, space, to, end};
  }
  static constexpr Next call(StreamSpace space, GpuVa to, GpuVa end = StreamLevel::kNoEnd) {
    return {Action::call, space, to, end};
  }
  static constexpr Next leave() { return {Action::leave, {}, {}}; }
  static constexpr Next stop() { return {Action::stop, {}, {}}; }  // the command is consumed
  static constexpr Next hold() {
    return {Action::hold, {}, {}};
  }  // the command is not consumed, so the next run() visits it again
};

enum class StreamStop : uint8_t {
  budget,     // `budget` commands are done; run() can continue
  exhausted,  // the end of the level is reached: an empty ring, or a batch without an end command
  left,       // the outermost level has ended
  stopped,    // the visitor returned stop()
  held,       // the visitor returned hold(), so the command is still the next one
  unmapped,   // the address is not readable
  truncated,  // the last command is longer than the rest of the stream
  too_deep,   // a call exceeds kMaxLevels
};

// Visits commands. `dwords` spans the whole command and is valid until the visitor returns.
class CommandVisitor {
 public:
  virtual ~CommandVisitor() = default;
  virtual Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                          const CommandPlace& place) = 0;
  // Called if no description matches. `dwords` has the length that the command's client implies.
  virtual Next on_unknown(std::span<const uint32_t> dwords, const CommandPlace& place) = 0;
  // Called if only `present` of `total` dwords exist. `desc` is null for an unknown command. The stream stops.
  virtual void on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                            const CommandPlace& place) = 0;
};

// Returns the length of a command that no description matches, by the rule of its client.
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

// Satisfied by visitors that take runs of MI_NOOP without an identification (zero dwords) at once.
template <class Visitor>
concept TakesNoops = requires(Visitor& visitor, size_t count) {
  visitor.on_noops(count);
};

// Satisfied by visitors that are called when the stream reaches another page, batch or level, before its next command.
template <class Visitor>
concept SeesPages = requires(Visitor& visitor) {
  visitor.on_page();
};

// Returns the number of zero dwords at the start.
inline size_t leading_zeros(std::span<const uint32_t> dwords) {
  constexpr size_t kBlock = 16;
  size_t count = 0;
  for (; dwords.size() - count >= kBlock; count += kBlock) {
    const uint32_t* const block = dwords.data() + count;  // an index check per dword would cost a third of the rate
    uint32_t any = 0;
    for (size_t i = 0; i < kBlock; ++i) any |= block[i];
    if (any != 0) break;
  }
  while (count < dwords.size() && dwords[count] == 0) ++count;
  return count;
}

// Satisfied by visitors of memory that does not change, for example an image of a file. They see commands in place.
template <class Visitor>
concept ReadsInPlace = Visitor::kReadsInPlace;

// Satisfied by visitors that keep a copy of the command that holds the stream, and continue with it.
template <class Visitor>
concept KeepsCommands = requires(Visitor& visitor) {
  { visitor.kept_command() } -> std::convertible_to<std::span<const uint32_t>>;
};

// Reads a dword once, although other threads may write it; the compiler must not read it again.
inline uint32_t read_once(const uint32_t* dword) {
  return __atomic_load_n(dword, __ATOMIC_RELAXED);
}

class CommandStream {
 public:
  CommandStream(const spec::CommandTable& table, CommandMemory& memory) : table_(&table), memory_(&memory) {}

  // Restarts the stream with a single level.
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

  // Drops the window. Called when the memory's mapping or a level's end has changed.
  void invalidate() {
    window_ = {};
    ++epoch_;
  }

  uint64_t epoch() const { return epoch_; }  // counts invalidations

  // Listeners of this probe are tracing and reports. Without a listener it costs one load.
  Probe<CommandView>& commands() { return commands_; }

  // Visits up to `budget` commands. `Visitor` is a CommandVisitor or has its functions; small visitors are inlined into
  // the loop.
  template <class Visitor>
  StreamStop run(Visitor& visitor, uint64_t budget = ~uint64_t{0});

 private:
  static constexpr uint32_t kUsualDwords = 64;  // room for a copy at first; it grows
  static constexpr uint32_t kShortDwords = 8;

  bool open_window();
  template <class Visitor>
  Next visit(Visitor& visitor, const spec::CommandDesc* desc, std::span<const uint32_t> dwords,
             const CommandPlace& place);
  // Visits a command that crosses the end of the window. False: the stream ends inside the command.
  template <class Visitor>
  bool visit_split(Visitor& visitor, const spec::CommandDesc* desc, uint32_t header, uint32_t total, Next& next);
  // Collects a command that crosses the end of the window. The result is shorter than `total` if the stream ends inside
  // it.
  std::span<const uint32_t> gather(uint32_t header, uint32_t total);
  // Copies a command whose header has been read. `readable`: number of dwords from the command on that may be read.
  std::span<const uint32_t> copy(uint32_t header, const uint32_t* command, uint32_t total, size_t readable);
  void wrap();
  bool follow(const Next& next, StreamStop& reason);

  const spec::CommandTable* table_;
  CommandMemory* memory_;
  StreamState state_;
  std::span<const uint32_t> window_;  // readable dwords at level().address; stale while run() is in a visitor
  uint64_t epoch_ = 0;                // number of invalidations, so that run() notices an invalidation by a visitor
  std::vector<uint32_t> scratch_;
  std::vector<uint32_t> copy_ = std::vector<uint32_t>(kUsualDwords);
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
bool CommandStream::visit_split(Visitor& visitor, const spec::CommandDesc* desc, uint32_t header, uint32_t total,
                                Next& next) {
  const CommandPlace place{level().space, state_.depth, level().address};
  const std::span<const uint32_t> dwords = gather(header, total);
  if (dwords.size() < total) {
    visitor.on_truncated(desc, dwords, total, place);
    return false;
  }
  next = visit(visitor, desc, dwords, place);
  if (next.action != Next::Action::hold) level().address += uint64_t{total} * sizeof(uint32_t);
  window_ = {};
  return true;
}

[[gnu::always_inline]] inline std::span<const uint32_t> CommandStream::copy(uint32_t header, const uint32_t* command,
                                                                            uint32_t total, size_t readable) {
  if (total > copy_.size()) [[unlikely]] {
    copy_.resize(total);
  }
  uint32_t* const into = copy_.data();
  if (total <= kShortDwords && readable >= kShortDwords) {  // a fixed size is copied without a call
    std::memcpy(into, command, kShortDwords * sizeof(uint32_t));
  } else {
    std::memcpy(into, command, total * sizeof(uint32_t));
  }
  into[0] = header;                                     // memory may have changed since the header was read
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler must not read the original instead
  return {into, total};
}

// The inner loop keeps its position in locals. The address of the next header depends on the length of this command, so
// a store and load per command would lengthen that dependency chain.
template <class Visitor>
StreamStop CommandStream::run(Visitor& visitor, uint64_t budget) {
  while (budget != 0) {
    bool kept = false;
    if constexpr (KeepsCommands<Visitor>) {
      if (const std::span<const uint32_t> command = visitor.kept_command(); !command.empty()) [[unlikely]] {
        window_ = command;
        kept = true;
      }
    }
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
      const uint32_t header = read_once(cursor);
      if constexpr (TakesNoops<Visitor>) {
        if (header == 0 && !commands_.watched()) {
          const size_t noops = std::max<size_t>(leading_zeros({cursor, std::min<uint64_t>(left, budget)}), 1);
          visitor.on_noops(noops);
          cursor += noops;
          left -= noops;
          place.address += uint64_t{noops} * sizeof(uint32_t);
          here.address = place.address;
          budget -= noops;
          continue;
        }
      }
      const auto [desc, described] = table_->frame(header);
      const uint32_t total = desc != nullptr ? described : length_of_unknown(header);
      if (total > left) [[unlikely]] {
        window_ = {cursor, left};
        if (!visit_split(visitor, desc, header, total, next)) return StreamStop::truncated;
        --budget;
        left = 0;
        break;
      }
      if constexpr (ReadsInPlace<Visitor>) {
        next = visit(visitor, desc, {cursor, total}, place);
      } else {
        next = visit(visitor, desc, copy(header, cursor, total, left), place);
      }
      if (next.action == Next::Action::hold) [[unlikely]] {
        break;
      }
      cursor += total;
      left -= total;
      place.address += uint64_t{total} * sizeof(uint32_t);
      here.address = place.address;
      --budget;
    } while (left != 0 && next.action == Next::Action::advance && budget != 0 && epoch == epoch_);
    window_ = epoch == epoch_ && !kept ? std::span(cursor, left) : std::span<const uint32_t>{};
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
