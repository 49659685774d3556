// Decodes command streams: counts commands, follows batch buffers and, with an output, passes on every command with its
// fields and the state it points to. One Decoder serves one engine. State (base addresses, the last command of each
// kind) persists between streams, as in hardware.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/event.h"
#include "decode/follower.h"
#include "decode/memory_image.h"
#include "decode/output.h"
#include "engine/stream/command_stream.h"
#include "spec/device_model.h"

namespace halogen::decode {

struct Counts {
  uint64_t commands = 0;         // with a description
  uint64_t unknown = 0;          // commands without a description
  uint64_t leftover_dwords = 0;  // inside the bounds of a stream, but not part of a whole command
  uint64_t unknown_records = 0;  // of the trace file
  uint64_t records = 0;
  uint64_t streams = 0;     // rings and batches walked from outside
  uint64_t bad_length = 0;  // commands whose length is outside the description's range
  uint64_t reserved = 0;    // commands and structures with a reserved bit set; not checked when only counting
  uint64_t unmapped = 0;    // streams that lead to unmapped memory
  uint64_t runaway = 0;     // streams that were stopped: endless loop, too many commands, too deep

  void add(const Counts& other);
  bool faulty() const { return unknown + leftover_dwords + unknown_records + bad_length + unmapped + runaway != 0; }
};

class Decoder final : public engine::CommandVisitor {
 public:
  // Maximum number of commands of one stream; longer ones count as endless.
  static constexpr uint64_t kCommandLimit = uint64_t{1} << 28;
  static constexpr size_t kJumpLimit = size_t{1} << 20;

  // `output` null: the decoder only counts.
  Decoder(const spec::DeviceModel& device, spec::EngineClass engine, MemoryImage& memory, Output* output);

  // Walks one stream to its end. `is_ring`: its batches return to it.
  void walk(const engine::StreamLevel& start, bool is_ring);

  const spec::CommandTable& table() const { return table_; }
  const Counts& counts() const { return counts_; }
  // Only used with an output.
  const Follower::State& state() const { return follower_.state(); }
  void set_state(Follower::State state) { follower_.set_state(std::move(state)); }
  void set_command_limit(uint64_t commands) { command_limit_ = commands; }

  // Reports mistakes in the stream as events of `path`: unknown commands, bad lengths, reserved bits of commands and
  // their state, streams without memory. Null: no events, and reserved bits are not checked.
  void set_events(EventSink* events, std::string path) {
    events_ = events;
    path_ = std::move(path);
  }
  // Fires for every command.
  Probe<engine::CommandView>& commands() { return stream_.commands(); }

  engine::Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                          const engine::CommandPlace& place) override;
  engine::Next on_unknown(std::span<const uint32_t> dwords, const engine::CommandPlace& place) override;
  void on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                    const engine::CommandPlace& place) override;

 private:
  struct BatchStart {
    const spec::CommandDesc* desc = nullptr;
    const spec::FieldDesc* address = nullptr;
    const spec::FieldDesc* space = nullptr;
    const spec::FieldDesc* second_level = nullptr;
  };

  struct Counter;                                            // the visitor without an output
  bool count(const spec::CommandDesc& desc, size_t dwords);  // false: a bad length
  engine::Next route(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                     const engine::CommandPlace& place);
  engine::Next start_batch(std::span<const uint32_t> dwords, const engine::CommandPlace& place);
  bool seen_before(const engine::CommandPlace& place, GpuVa target);
  Node make_node(NodeKind kind, std::span<const uint32_t> dwords, const engine::CommandPlace& place) const;
  void examine(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const engine::CommandPlace& place,
               bool bad_length);
  void raise(EventKind kind, std::string_view item, GpuVa address, uint64_t value, std::string detail) const;
  void raise_reserved(const Node& node) const;
  void count_leftover(const engine::StreamLevel& start);
  void report_unmapped(const engine::StreamLevel& level);

  spec::GenId gen_;
  const spec::CommandTable& table_;
  MemoryImage& memory_;
  Output* output_;
  engine::CommandStream stream_;
  Follower follower_;
  Counts counts_;
  uint64_t command_limit_ = kCommandLimit;
  EventSink* events_ = nullptr;
  std::string path_;

  BatchStart batch_start_;
  const spec::CommandDesc* batch_end_;
  bool is_ring_ = false;
  std::unordered_set<uint64_t> jumps_;  // states of the walk at the jumps so far
};

}  // namespace halogen::decode
