// State of a BLT engine between commands: registers BR00 to BR26 (G45 PRM vol. 1b 8.10, seed 003;
// spec/structs/blt.toml) as plain numbers. Software can read only BR16. Only setup commands and the clip rectangle
// affect later commands (8.4). Drawing commands load "a temporary version" of the setup registers (8.9.1): a fill
// between a setup and its text does not change the setup.
#pragma once

#include <array>
#include <cstdint>

namespace halogen::blit {

// Loaded by XY_SETUP_*; belongs to the logical context (8.4).
struct SetupState {
  uint32_t control = 0;      // BR01
  uint32_t background = 0;   // BR05
  uint32_t foreground = 0;   // BR06
  uint64_t pattern = 0;      // BR07, an address
  uint64_t destination = 0;  // BR09 of a setup command, an address
  uint32_t pattern_low = 0;  // BR20: lines 0 to 3 of a monochrome pattern
  uint32_t pattern_high = 0;
  uint32_t clip_first = 0;  // BR24: y1, x1
  uint32_t clip_end = 0;    // BR25: y2, x2
  bool mono_pattern = false;
  bool tiled = false;

  bool operator==(const SetupState&) const = default;
};

// The position in a command that is done in part or was stopped by a fault. The command resumes there when it is parsed
// again.
struct Progress {
  uint32_t lines = 0;                  // completed scan lines
  uint32_t chunks = 0;                 // completed chunks of the next line
  bool has_pattern = false;            // the colour pattern was read
  std::array<uint32_t, 64> pattern{};  // the rectangle may cover the memory of the pattern

  // Keeps `pattern`, which is overwritten before its next use.
  void restart() {
    lines = chunks = 0;
    has_pattern = false;
  }

  bool operator==(const Progress&) const = default;
};

struct BlitState {
  SetupState setup;
  // The working registers by number, as the last command left them. The setup registers are above.
  std::array<uint64_t, 27> br{};
  Progress progress;

  bool operator==(const BlitState&) const = default;
};

}  // namespace halogen::blit
