// The commands: which dword loads which register (the tables of 8.8 and 8.9), and the parameters of a drawing.
#include "support/blit_reference.h"

#include <algorithm>

namespace halogen::blit_reference {
namespace {

// Register numbers of the tables; kData: the rest is immediate data.
constexpr unsigned kData = 99;
struct Command {
  unsigned opcode;
  std::vector<unsigned> registers;
};

const std::vector<Command>& commands() {
  static const std::vector<Command> kAll = {
      {0x40, {13, 14, 9, 16}},                              // COLOR_BLT
      {0x43, {13, 14, 9, 11, 12}},                          // SRC_COPY_BLT
      {0x01, {1, 24, 25, 9, 5, 6, 7}},                      // XY_SETUP_BLT
      {0x11, {1, 24, 25, 9, 5, 6, 20, 21}},                 // XY_SETUP_MONO_PATTERN_SL_BLT
      {0x03, {24, 25}},                                     // XY_SETUP_CLIP_BLT
      {0x24, {22}},                                         // XY_PIXEL_BLT
      {0x25, {22, 23}},                                     // XY_SCANLINES_BLT
      {0x26, {22, 23, 12}},                                 // XY_TEXT_BLT
      {0x31, {22, 23, kData}},                              // XY_TEXT_IMMEDIATE_BLT
      {0x50, {13, 22, 23, 9, 16}},                          // XY_COLOR_BLT
      {0x51, {13, 22, 23, 9, 15}},                          // XY_PAT_BLT
      {0x76, {13, 22, 23, 9, 15, 18, 19}},                  // XY_PAT_CHROMA_BLT
      {0x72, {13, 22, 23, 9, kData}},                       // XY_PAT_BLT_IMMEDIATE
      {0x77, {13, 22, 23, 9, 18, 19, kData}},               // XY_PAT_CHROMA_BLT_IMMEDIATE
      {0x52, {13, 22, 23, 9, 16, 17, 20, 21}},              // XY_MONO_PAT_BLT
      {0x59, {13, 22, 23, 9, 16, 17}},                      // XY_MONO_PAT_FIXED_BLT
      {0x53, {13, 22, 23, 9, 26, 11, 12}},                  // XY_SRC_COPY_BLT
      {0x73, {13, 22, 23, 9, 26, 11, 12, 18, 19}},          // XY_SRC_COPY_CHROMA_BLT
      {0x54, {13, 22, 23, 9, 12, 18, 19}},                  // XY_MONO_SRC_COPY_BLT
      {0x71, {13, 22, 23, 9, 18, 19, kData}},               // XY_MONO_SRC_COPY_IMMEDIATE_BLT
      {0x55, {13, 22, 23, 9, 11, 26, 12, 15}},              // XY_FULL_BLT
      {0x74, {13, 22, 23, 9, 11, 26, 12, kData}},           // XY_FULL_IMMEDIATE_PATTERN_BLT
      {0x56, {13, 22, 23, 9, 12, 18, 19, 15}},              // XY_FULL_MONO_SRC_BLT
      {0x75, {13, 22, 23, 9, 12, 18, 19, kData}},           // XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT
      {0x57, {13, 22, 23, 9, 11, 26, 12, 16, 17, 20, 21}},  // XY_FULL_MONO_PATTERN_BLT
      {0x58, {13, 22, 23, 9, 12, 18, 19, 16, 17, 20, 21}},  // XY_FULL_MONO_PATTERN_MONO_SRC_BLT
  };
  return kAll;
}

bool is_address(unsigned number) {
  return number == 7 || number == 9 || number == 12 || number == 15;
}
bool one_of(unsigned opcode, std::initializer_list<unsigned> list) {
  return std::ranges::count(list, opcode) != 0;
}
int64_t signed16(uint32_t value) {
  return static_cast<int16_t>(value & 0xffff);
}

void set_mono_pattern(Job& job, uint32_t low, uint32_t high) {
  for (unsigned line = 0; line < 8; ++line) {
    job.mono_pattern[line] = static_cast<uint8_t>((line < 4 ? low : high) >> (line % 4 * 8));
  }
}

}  // namespace

struct Blitter::Words {
  uint32_t header = 0;
  unsigned opcode = 0;
  size_t dwords = 1;
  std::array<uint64_t, 27> br{};
  std::vector<uint8_t> immediate;
};

const std::array<uint8_t, 8>* fixed_pattern(unsigned number) {
  static constexpr std::array<uint8_t, 8> kAll[] = {{0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00},
                                                    {0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08},
                                                    {0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01},
                                                    {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80},
                                                    {0x08, 0x08, 0x08, 0xff, 0x08, 0x08, 0x08, 0x08},
                                                    {0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81},
                                                    {},
                                                    {},
                                                    {0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa},
                                                    {0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33},
                                                    {0x88, 0x44, 0x22, 0x11, 0x88, 0x44, 0x22, 0x11},
                                                    {0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee}};
  return number >= std::size(kAll) || number == 6 || number == 7 ? nullptr : &kAll[number];
}

std::vector<uint32_t> encode(const Encoded& command, bool wide) {
  std::vector<uint32_t> dwords = {0x4000'0000 | command.opcode << 22 | command.header};
  for (const unsigned number : std::ranges::find(commands(), command.opcode, &Command::opcode)->registers) {
    if (number == kData) {
      dwords.insert(dwords.end(), command.immediate.begin(), command.immediate.end());
    } else {
      dwords.push_back(static_cast<uint32_t>(command.br[number]));
      if (is_address(number) && wide) dwords.push_back(static_cast<uint32_t>(command.br[number] >> 32));
    }
  }
  dwords[0] |= static_cast<uint32_t>(dwords.size() - 2);
  return dwords;
}

std::vector<unsigned> opcodes() {
  std::vector<unsigned> all;
  for (const Command& command : commands()) all.push_back(command.opcode);
  return all;
}

Outcome Blitter::run(std::span<const uint32_t> stream) {
  if (stream.empty() || stream[0] >> 29 != 2) return {Verdict::undefined, "not a BLT command"};
  return (stream[0] >> 22 & 0x7f) == 0x42 && rules_.fast_copy ? fast_copy(stream) : classic(stream);
}

Outcome Blitter::classic(std::span<const uint32_t> stream) {
  Words words;
  words.header = stream[0];
  words.opcode = stream[0] >> 22 & 0x7f;
  const bool linear = one_of(words.opcode, {0x40, 0x43});
  words.dwords = (stream[0] & (linear ? 0x1f : 0xff)) + 2;
  const auto say = [&](Verdict verdict, const char* why) { return Outcome{verdict, why, words.dwords, false}; };
  const auto command = std::ranges::find(commands(), words.opcode, &Command::opcode);
  if (command == commands().end()) return say(Verdict::undefined, "no such command");
  if (words.dwords > stream.size()) return say(Verdict::undefined, "the command does not end");
  size_t next = 1;
  for (const unsigned number : command->registers) {
    if (number == kData) break;
    const size_t count = is_address(number) && rules_.wide ? 2 : 1;
    if (next + count > words.dwords) return say(Verdict::undefined, "the command is too short");
    words.br[number] = stream[next];
    if (count == 2) words.br[number] |= uint64_t{stream[next + 1]} << 32;
    next += count;
    if (is_address(number) && words.br[number] >> rules_.address_bits != 0 && number != 7 && number != 15) {
      return say(Verdict::undefined, "address bits that are not there");
    }
  }
  if (command->registers.back() != kData) {
    if (next != words.dwords) return say(Verdict::undefined, "the command is too long");
  } else {
    if ((words.dwords - next) % 2 != 0) return say(Verdict::hangs, "an odd number of immediate dwords");
    for (; next < words.dwords; ++next) {
      for (unsigned i = 0; i < 4; ++i) words.immediate.push_back(static_cast<uint8_t>(stream[next] >> (8 * i)));
    }
  }
  if (one_of(words.opcode, {0x01, 0x11, 0x03})) {
    const char* wrong = load_setup(words);
    return {wrong != nullptr ? Verdict::undefined : Verdict::done, wrong, words.dwords, wrong == nullptr};
  }
  Job job;
  if (const char* wrong = fill_job(words, job)) return say(Verdict::undefined, wrong);
  if (const char* wrong = fill_source(words, job)) return say(Verdict::undefined, wrong);
  if (const char* wrong = fill_pattern(words, job)) return say(Verdict::undefined, wrong);
  Outcome outcome = draw(job, memory_, pages_);
  if (outcome.verdict == Verdict::done && one_of(words.opcode, {0x52, 0x57, 0x58, 0x59})) setup_.pattern_kept = false;
  outcome.dwords = words.dwords;
  return outcome;
}

const char* Blitter::load_setup(const Words& words) {
  for (const unsigned number : {24u, 25u}) {
    if ((words.br[number] & 0x8000'8000) != 0) return "clip coordinates are positive";
  }
  clip_ready_ = true;
  clip_1_ = static_cast<uint32_t>(words.br[24]);
  clip_2_ = static_cast<uint32_t>(words.br[25]);
  if (words.opcode == 0x03) return nullptr;
  const auto low = [&](unsigned number) { return static_cast<uint32_t>(words.br[number]); };
  setup_ = {.ready = true,
            .mono = words.opcode == 0x11,
            .pattern_kept = true,
            .header = words.header,
            .control = low(1),
            .background = low(5),
            .foreground = low(6),
            .pattern_0 = low(20),
            .pattern_1 = low(21),
            .base = words.br[9],
            .pattern = words.br[7]};
  return nullptr;
}

// Depth, mask, rectangle, clip and destination.
const char* Blitter::fill_job(const Words& words, Job& job) const {
  const bool by_setup = one_of(words.opcode, {0x24, 0x25, 0x26, 0x31});
  if (by_setup && !setup_.ready) return "nothing was set up";
  if (by_setup && ((words.header ^ setup_.header) >> 11 & 1) != 0) return "the tiling is not that of the setup";
  const auto control = by_setup ? setup_.control : static_cast<uint32_t>(words.br[13]);
  const uint32_t mask_word = by_setup ? setup_.header : words.header;
  job.depth = control >> 24 & 3;
  job.pixel_B = job.depth == 0 ? 1 : job.depth == 3 ? 4 : 2;
  job.rop = static_cast<uint8_t>(control >> 16);
  job.byte_mask = mask_word >> 20 & 3;
  job.destination.base = by_setup ? setup_.base : words.br[9];
  if (one_of(words.opcode, {0x40, 0x43})) {
    job.linear_command = true;
    job.x_backwards = words.opcode == 0x43 && (control >> 30 & 1) != 0;
    job.destination.pitch_B = signed16(control);
    const auto size = static_cast<uint32_t>(words.br[14]);
    if ((size & 0xffff) % job.pixel_B != 0) return "a width of broken pixels";
    job.x2 = (size & 0xffff) / job.pixel_B;
    job.y2 = size >> 16;
    // The address is that of the first byte to be written, which is the last one of the line when drawing leftwards.
    if (job.x_backwards && job.x2 != 0) job.destination.base -= (size & 0xffff) - 1;
    return nullptr;
  }
  const bool tiled = (words.header >> 11 & 1) != 0;
  if (tiled) job.destination.tile = rules_.y_destination ? Tile::y : Tile::x;
  job.destination.pitch_B = signed16(control) * (tiled ? 4 : 1);
  const auto first = static_cast<uint32_t>(words.br[22]);
  const auto last = static_cast<uint32_t>(words.br[23]);
  job.x1 = signed16(first), job.y1 = signed16(first >> 16);
  job.x2 = signed16(last), job.y2 = signed16(last >> 16);
  if (words.opcode == 0x24) job.x2 = job.x1 + 1, job.y2 = job.y1 + 1;
  if (one_of(words.opcode, {0x24, 0x26, 0x31}) && job.destination.pitch_B < 0) return "a negative pitch";
  job.clip = (control >> 30 & 1) != 0;
  if (job.clip && !clip_ready_) return "no clip rectangle was set";
  job.clip_x1 = clip_1_ & 0x7fff, job.clip_y1 = clip_1_ >> 16 & 0x7fff;
  job.clip_x2 = clip_2_ & 0x7fff, job.clip_y2 = clip_2_ >> 16 & 0x7fff;
  return nullptr;
}

const char* Blitter::fill_source(const Words& words, Job& job) const {
  const unsigned opcode = words.opcode;
  const auto low = [&](unsigned number) { return static_cast<uint32_t>(words.br[number]); };
  job.source_plane.base = words.br[12];
  if (one_of(opcode, {0x43, 0x53, 0x73, 0x55, 0x74, 0x57})) {
    job.source = SourceKind::color;
    const bool tiled = opcode != 0x43 && (words.header >> 15 & 1) != 0;
    if (tiled) job.source_plane.tile = rules_.y_source ? Tile::y : Tile::x;
    job.source_plane.pitch_B = signed16(low(11)) * (tiled ? 4 : 1);
    job.source_x1 = signed16(low(26)), job.source_y1 = signed16(low(26) >> 16);
    if (job.x_backwards && job.x2 != 0) job.source_plane.base -= (low(14) & 0xffff) - 1;
  }
  if (one_of(opcode, {0x26, 0x31, 0x54, 0x71, 0x56, 0x75, 0x58})) {
    const bool text = one_of(opcode, {0x26, 0x31});
    if (text && setup_.mono) return "text after a setup for scan lines";
    job.source = one_of(opcode, {0x31, 0x71}) ? SourceKind::mono_immediate : SourceKind::mono;
    const uint32_t control = text ? setup_.control : low(13);
    job.source_transparent = (control >> 29 & 1) != 0;
    job.source_background = text ? setup_.background : low(18);
    job.source_foreground = text ? setup_.foreground : low(19);
    job.mono_start = text ? 0 : words.header >> 17 & 7;
    if (text) job.packing = (words.header >> 16 & 1) != 0 ? Packing::byte : Packing::bit;
    if (job.source == SourceKind::mono_immediate) job.immediate = words.immediate;
  }
  if (one_of(opcode, {0x73, 0x76, 0x77})) {
    job.chroma = words.header >> 17 & 7;
    if ((job.chroma & 1) == 0) job.chroma = 0;
    job.chroma_low = low(18), job.chroma_high = low(19);
  }
  return nullptr;
}

const char* Blitter::fill_pattern(const Words& words, Job& job) const {
  const unsigned opcode = words.opcode;
  const auto low = [&](unsigned number) { return static_cast<uint32_t>(words.br[number]); };
  job.seed_x = words.header >> 12 & 7, job.seed_y = words.header >> 8 & 7;
  if (one_of(opcode, {0x40, 0x50})) {
    job.pattern = PatternKind::solid;
    job.pattern_background = low(16);
  } else if (opcode == 0x24) {
    if (setup_.mono && (setup_.control >> 28 & 1) != 0) return "a pixel with a transparent pattern";
    job.pattern = PatternKind::solid;
    job.pattern_background = setup_.background;
  } else if (opcode == 0x25 && !setup_.mono) {
    job.pattern = PatternKind::color;
    job.pattern_base = setup_.pattern & pattern_mask(opcode);
  } else if (opcode == 0x25) {
    if (!setup_.pattern_kept) return "the setup's mono pattern was overwritten";
    job.pattern = (setup_.control >> 31 & 1) != 0 ? PatternKind::solid : PatternKind::mono;
    job.pattern_transparent = (setup_.control >> 28 & 1) != 0;
    job.pattern_background = setup_.background, job.pattern_foreground = setup_.foreground;
    set_mono_pattern(job, setup_.pattern_0, setup_.pattern_1);
  } else if (one_of(opcode, {0x51, 0x76, 0x55, 0x56})) {
    job.pattern = PatternKind::color;
    job.pattern_base = words.br[15] & pattern_mask(opcode);
  } else if (one_of(opcode, {0x72, 0x77, 0x74, 0x75})) {
    job.pattern = PatternKind::color_immediate;
    job.immediate = words.immediate;
  } else if (one_of(opcode, {0x52, 0x59, 0x57, 0x58})) {
    job.pattern = PatternKind::mono;
    if (one_of(opcode, {0x57, 0x58}) && (low(13) >> 31 & 1) != 0) job.pattern = PatternKind::solid;
    job.pattern_transparent = (low(13) >> 28 & 1) != 0;
    job.pattern_background = low(16), job.pattern_foreground = low(17);
    set_mono_pattern(job, low(20), low(21));
    if (opcode == 0x59) {
      const auto* pattern = fixed_pattern(words.header >> 15 & 15);
      if (pattern == nullptr) return "a reserved fixed pattern";
      job.mono_pattern = *pattern;
    }
  }
  return nullptr;
}

// Bits 28:6 on Gen4, 26:6 where XY_PAT_CHROMA_BLT says so; all of the address later.
uint64_t Blitter::pattern_mask(unsigned opcode) const {
  const unsigned bits = opcode == 0x76 && rules_.address_bits == 29 ? 27 : rules_.address_bits;
  return ((uint64_t{1} << bits) - 1) & ~uint64_t{63};
}

// Not in chapter 8: Gen9's copy. Tile mode 20 and 13 (0 linear, 1 X, 2 Y, 3 Ys), depth in DW1[26:24] as log2 of bytes
// with 2 reserved, pitch in dwords if tiled.
Outcome Blitter::fast_copy(std::span<const uint32_t> stream) {
  constexpr size_t kDwords = 10;
  const auto say = [](const char* why) { return Outcome{Verdict::undefined, why, kDwords, false}; };
  if (stream.size() < kDwords || (stream[0] & 0xff) + 2 != kDwords) return say("the length is wrong");
  constexpr unsigned kBytes[] = {1, 2, 0, 4, 8, 16, 0, 0};
  Job job;
  job.rop = 0xcc;
  job.depth = 3;
  job.pixel_B = kBytes[stream[1] >> 24 & 7];
  if (job.pixel_B == 0) return say("a reserved depth");
  const unsigned from = stream[0] >> 20 & 3, to = stream[0] >> 13 & 3;
  if (from == 3 || to == 3 || (from == 2 && stream[1] >> 31 != 0) || (to == 2 && (stream[1] >> 30 & 1) != 0)) {
    return say("Yf and Ys are left out");
  }
  job.destination = {stream[4] | uint64_t{stream[5]} << 32, signed16(stream[1]) * (to != 0 ? 4 : 1), Tile(to)};
  job.x1 = signed16(stream[2]), job.y1 = signed16(stream[2] >> 16);
  job.x2 = signed16(stream[3]), job.y2 = signed16(stream[3] >> 16);
  job.source = SourceKind::color;
  job.source_plane = {stream[8] | uint64_t{stream[9]} << 32, signed16(stream[7]) * (from != 0 ? 4 : 1), Tile(from)};
  job.source_x1 = signed16(stream[6]), job.source_y1 = signed16(stream[6] >> 16);
  if ((job.source_plane.base | job.destination.base) >> rules_.address_bits != 0) {
    return say("address bits that are not there");
  }
  if (job.x1 < 0 || job.y1 < 0 || job.source_x1 < 0 || job.source_y1 < 0) return say("a negative coordinate");
  if (job.source_plane.base % 64 != 0 || job.destination.base % 64 != 0) return say("a base is not aligned");
  if (job.source_plane.pitch_B <= 0 || job.destination.pitch_B <= 0) return say("a pitch is not positive");
  if (job.source_plane.pitch_B % 16 != 0 || job.destination.pitch_B % 16 != 0) return say("a pitch is not aligned");
  Outcome outcome = draw(job, memory_, pages_);
  if (outcome.verdict == Verdict::done && memory_.overlap()) {
    memory_.take_back();
    outcome.verdict = Verdict::undefined, outcome.why = "a fast copy that overlaps";
  }
  outcome.dwords = kDwords;
  return outcome;
}

}  // namespace halogen::blit_reference
