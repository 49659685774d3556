// A slow, literal BLT engine: G45 PRM vol. 1b chapter 8 (seed 003), one pixel and one bit at a time, on plain bytes.
// Tests compare the real engine with this reference, which shares no code with it: it has its own tables of dwords and
// reads no generated descriptions. Where the manual does not define the result, the reference reports that instead of
// choosing one. Beyond chapter 8: the 64-bit address forms of Gen8, Y tiles by BCS_SWCTRL, and XY_FAST_COPY_BLT on
// linear, X and Y surfaces. Not supported: Yf and Ys tiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace halogen::blit_reference {

// Properties of the chip.
struct Rules {
  bool wide = false;           // Gen8: two dwords per address
  unsigned address_bits = 29;  // 29 on Gen4, 32 on Gen6, 48 from Gen8 on
  bool fast_copy = false;      // Gen9
  bool y_source = false;       // BCS_SWCTRL: "tiled" means Y
  bool y_destination = false;
};

enum class Verdict : uint8_t {
  done,       // drawn, or correctly not drawn
  undefined,  // the manual does not define it, or forbids it
  hangs,      // the manual says that the engine hangs
  fault,      // outside the memory; what was drawn before stays
};

struct Outcome {
  Verdict verdict = Verdict::done;
  const char* why = nullptr;
  size_t dwords = 1;    // of the command
  bool placed = false;  // the affected pixels are defined, so that pages() includes them
};

// Graphics memory that starts at `base`. Accesses are not checked: callers must ask holds() first. Tracks which bytes
// the current command has read (as source or pattern) and written, and can undo the command.
class Memory {
 public:
  Memory(uint64_t base, size_t bytes) : base_(base), bytes_(bytes), read_(bytes), pattern_(bytes), written_(bytes) {}

  uint64_t base() const { return base_; }
  std::span<uint8_t> bytes() { return bytes_; }
  bool holds(uint64_t address, uint64_t count) const {
    return address >= base_ && address - base_ <= bytes_.size() && count <= bytes_.size() - (address - base_);
  }

  void begin();
  void take_back();
  uint8_t peek(uint64_t address) { return bytes_[address - base_]; }
  uint8_t read_source(uint64_t address);
  uint8_t read_pattern(uint64_t address);  // or a mono source: must not overlap at all
  void write(uint64_t address, uint8_t value);
  bool read_after_write() const { return read_after_write_; }
  bool overlap() const { return overlap_; }
  bool pattern_overlap() const { return pattern_overlap_; }

 private:
  struct Change {
    size_t index;
    uint8_t old;
  };
  uint64_t base_;
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> read_, pattern_, written_;  // number of the last command that did it
  std::vector<Change> changes_;
  uint32_t command_ = 0;
  bool overlap_ = false, pattern_overlap_ = false, read_after_write_ = false;
};

enum class Tile : uint8_t { linear, x, y };

struct Plane {
  uint64_t base = 0;
  int64_t pitch_B = 0;
  Tile tile = Tile::linear;

  uint64_t address(int64_t x_B, int64_t y) const;
  // Returns null, or why a driver must not request it.
  const char* fault(unsigned pixel_B, int64_t last_x_B, int64_t lines) const;
};

enum class SourceKind : uint8_t { none, color, mono, mono_immediate };
enum class PatternKind : uint8_t { none, solid, color, color_immediate, mono };
enum class Packing : uint8_t { word, byte, bit };

// One drawing, independent of its command.
struct Job {
  unsigned depth = 0;    // 0: 8, 1: 565, 2: 1555, 3: 32 bits
  unsigned pixel_B = 1;  // fast copies also support 8 and 16
  uint8_t rop = 0;
  unsigned byte_mask = 3;  // bit 1: alpha, bit 0: RGB
  int64_t x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool clip = false;
  int64_t clip_x1 = 0, clip_y1 = 0, clip_x2 = 0, clip_y2 = 0;
  Plane destination;

  SourceKind source = SourceKind::none;
  Plane source_plane;  // a mono source in memory: base only
  int64_t source_x1 = 0, source_y1 = 0;
  unsigned mono_start = 0;
  Packing packing = Packing::word;
  bool source_transparent = false;
  uint32_t source_background = 0, source_foreground = 0;

  PatternKind pattern = PatternKind::none;
  uint64_t pattern_base = 0;
  unsigned seed_x = 0, seed_y = 0;
  bool pattern_transparent = false;
  uint32_t pattern_background = 0, pattern_foreground = 0;
  std::array<uint8_t, 8> mono_pattern{};

  std::vector<uint8_t> immediate;  // of the source or the pattern

  unsigned chroma = 0;  // transparency range mode
  uint32_t chroma_low = 0, chroma_high = 0;

  bool linear_command = false;  // COLOR_BLT and SRC_COPY_BLT state their direction
  bool x_backwards = false;
};

// Computes the operation bit by bit. The code is the truth table, indexed by 4P + 2S + D.
uint32_t raster_operation(uint8_t code, uint32_t pattern, uint32_t source, uint32_t destination);
bool uses_pattern(uint8_t code);
bool uses_source(uint8_t code);
bool uses_destination(uint8_t code);
// Returns whether every component of the pixel is inside [low, high].
bool in_chroma_range(unsigned depth, bool with_alpha, uint32_t pixel, uint32_t low, uint32_t high);

constexpr uint64_t kWatchedPages = 0x1000;
Outcome draw(const Job& job, Memory& memory, std::set<uint64_t>& pages);

class Blitter {
 public:
  Blitter(Memory& memory, Rules rules) : memory_(memory), rules_(rules) {}

  // Executes one command at the front of the stream. Unless the result is `done` or `fault`, memory and state stay
  // unchanged.
  Outcome run(std::span<const uint32_t> stream);
  // Returns the pages that the executed commands may have changed, as far as their effects are defined.
  const std::set<uint64_t>& pages() const { return pages_; }
  Rules& rules() { return rules_; }

 private:
  struct Setup {
    bool ready = false;
    bool mono = false;         // by XY_SETUP_MONO_PATTERN_SL_BLT
    bool pattern_kept = true;  // no other mono pattern was loaded into BR20 and BR21 since
    uint32_t header = 0, control = 0, background = 0, foreground = 0, pattern_0 = 0, pattern_1 = 0;
    uint64_t base = 0, pattern = 0;
  };
  struct Words;  // the command's dwords by the register that each loads

  Outcome classic(std::span<const uint32_t> stream);
  Outcome fast_copy(std::span<const uint32_t> stream);
  const char* fill_job(const Words& words, Job& job) const;
  const char* fill_source(const Words& words, Job& job) const;
  const char* fill_pattern(const Words& words, Job& job) const;
  const char* load_setup(const Words& words);
  uint64_t pattern_mask(unsigned opcode) const;

  Memory& memory_;
  Rules rules_;
  Setup setup_;
  bool clip_ready_ = false;
  uint32_t clip_1_ = 0, clip_2_ = 0;
  std::set<uint64_t> pages_;
};

// A command of chapter 8 by the registers that it loads, for generators of streams.
struct Encoded {
  unsigned opcode = 0;
  uint32_t header = 0;  // without client, opcode and length
  std::array<uint64_t, 27> br{};
  std::vector<uint32_t> immediate;
};
std::vector<uint32_t> encode(const Encoded& command, bool wide);
std::vector<unsigned> opcodes();

// Returns one of the ten fixed patterns of 8.9.14, line by line. Null: a reserved number.
const std::array<uint8_t, 8>* fixed_pattern(unsigned number);

}  // namespace halogen::blit_reference
