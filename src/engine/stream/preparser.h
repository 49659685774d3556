// The pre-parser of Gen12: DG1 PRM vol. 13, "Advanced Command Prefetch" (seed 000). It reads commands ahead of the
// parser, across the start and end of batch buffers. The dwords that it has read are executed even if memory has
// changed since. It is enabled unless GFX_MODE or the context (MI_ARB_CHECK) disables it.
//
// It is part of the option `prefetch_lines`. Without read-ahead every command is executed from memory, which the manual
// allows. Hardware speculates; a wrong guess is not used.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/stream/command_stream.h"

namespace halogen::engine {

class Engine;

class PreParser {
 public:
  explicit PreParser(Engine& engine) : engine_(engine) {}

  // Returns the dwords that were read ahead for this address. Empty: none were.
  std::span<const uint32_t> take(StreamSpace space, GpuVa address);
  // Follows the jumps in the commands that the parser has just fetched and reads up to `lines` cache lines in all.
  void follow(StreamSpace space, GpuVa address, std::span<const uint32_t> commands, unsigned lines);

 private:
  // A contiguous piece of the stream after a jump.
  struct Piece {
    StreamSpace space{};
    GpuVa address;
    std::vector<uint32_t> dwords;
  };
  // Position of the pre-parser: a copy of the parser's levels, some of which it has already entered or left.
  struct Walk;

  bool exists() const;
  bool leads_on(Walk& walk, std::span<const uint32_t> commands) const;
  bool read(const Walk& walk, unsigned lines);

  Engine& engine_;
  std::vector<Piece> pieces_;    // in the order of the stream
  std::vector<uint32_t> taken_;  // the piece that the parser is reading
  uint64_t epoch_ = 0;  // epoch of the parser's stream when the pieces were read; pieces of an older epoch are dropped
};

}  // namespace halogen::engine
