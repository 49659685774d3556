// The pre-parser of Gen12 (seed 000, "Advanced Command Prefetch"): reads commands ahead of the parser over the start
// and end of batch buffers. What was read is executed as it was then, also when a command has changed it since. It is
// on unless GFX_MODE or the context (MI_ARB_CHECK) switches it off.
//
// Part of the option `prefetch_lines`: without read-ahead every command is executed as it lies in memory, which the
// manual allows. Hardware guesses; a guess that is wrong is not used.
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

  // What was read ahead for this place; empty: nothing.
  std::span<const uint32_t> take(StreamSpace space, GpuVa address);
  // The parser has just got these commands: looks where they lead, `lines` cache lines in all.
  void follow(StreamSpace space, GpuVa address, std::span<const uint32_t> commands, unsigned lines);

 private:
  // A piece of the stream behind a jump.
  struct Piece {
    StreamSpace space{};
    GpuVa address;
    std::vector<uint32_t> dwords;
  };
  // Where the pre-parser is: levels as the parser's, a few of which it has entered or left already.
  struct Walk;

  bool exists() const;
  bool leads_on(Walk& walk, std::span<const uint32_t> commands) const;
  bool read(const Walk& walk, unsigned lines);

  Engine& engine_;
  std::vector<Piece> pieces_;    // in the order of the stream
  std::vector<uint32_t> taken_;  // the piece that the parser has
  uint64_t epoch_ = 0;           // of the parser's stream, when they were read: no later one may use them
};

}  // namespace halogen::engine
