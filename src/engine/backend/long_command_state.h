// The unfinished long command of a streamer, if there is one: see long_command.h.
#pragma once

#include <cstdint>
#include <vector>

namespace halogen::engine {

enum class LongWork : uint8_t { none, blit, dispatch, draw };

struct LongCommandState {
  LongWork work = LongWork::none;
  uint64_t address = 0;            // of the command
  uint64_t commands = 0;           // number of commands that the streamer had done before it
  uint64_t missed = 0;             // number of accesses without memory
  std::vector<uint32_t> dwords{};  // the command as its first part saw it; empty during that part

  bool is_of(uint64_t where, uint64_t done) const {
    return work != LongWork::none && address == where && commands == done;
  }
  bool operator==(const LongCommandState&) const = default;
};

}  // namespace halogen::engine
