// Random streams through a whole device and through the reference must leave the same bytes, for every instruction on
// every chip, alone and mixed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "covers.h"
#include "support/blit_bench.h"
#include "support/blit_stream.h"

namespace halogen {
namespace {

using blit_reference::Blitter;
using blit_reference::Memory;
using blit_reference::RandomBlits;
using blit_reference::Verdict;

std::string text_of(const Dwords& command) {
  std::string text;
  for (const uint32_t dword : command) text += fmt::format("{:#010x} ", dword);
  return text;
}

// A chip and the reference, on the same bytes.
class Pair {
 public:
  explicit Pair(const std::string& chip)
      : bench_(chip), memory_(bench_.area, bench_.bytes()), blitter_(memory_, bench_.rules()) {}

  JudgedBench& bench() { return bench_; }
  Blitter& blitter() { return blitter_; }

  void load(unsigned seed) {
    const std::vector<uint8_t> bytes = random_bytes(bench_.bytes(), seed);
    std::ranges::copy(bytes, memory_.bytes().begin());
    bench_.load(bytes);
  }
  // Keeps a piece of a stream if the manual defines its effect. Returns the number of commands kept.
  size_t add(const Dwords& piece) {
    size_t kept = 0;
    for (size_t at = 0; at < piece.size();) {
      const std::span<const uint32_t> rest = std::span(piece).subspan(at);
      const auto outcome = blitter_.run(rest);
      at += outcome.dwords;
      if (outcome.verdict == Verdict::fault) memory_.take_back();
      if (outcome.verdict != Verdict::done) continue;
      commands_.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(outcome.dwords));
      ++kept;
    }
    return kept;
  }
  void expect_same() {
    Dwords stream;
    for (const Dwords& command : commands_) stream.insert(stream.end(), command.begin(), command.end());
    EXPECT_TRUE(bench_.draw(stream)) << "the engine did not reach the end of the stream";
    result_ = difference(bench_.content(), memory_.bytes());
  }
  const std::string& result() const { return result_; }
  const std::vector<Dwords>& commands() const { return commands_; }

 private:
  JudgedBench bench_;
  Memory memory_;
  Blitter blitter_;
  std::vector<Dwords> commands_;
  std::string result_;
};

// BCS_SWCTRL, from Gen6 on: bit 0 selects tile Y for tiled sources, bit 1 for tiled destinations.
void set_y(Pair& pair, unsigned y) {
  if (y != 0) pair.bench().set_reg("bcs0", 0x200, 0x3'0000 | y);
  pair.blitter().rules().y_source = (y & 1) != 0;
  pair.blitter().rules().y_destination = (y & 2) != 0;
}

// Finds the first command after which the two differ.
std::string first_difference(const std::string& chip, unsigned seed, const std::vector<Dwords>& commands, unsigned y) {
  Pair pair(chip);
  pair.load(seed);
  set_y(pair, y);
  const std::vector<uint8_t> before = random_bytes(pair.bench().bytes(), seed);
  Memory memory(pair.bench().area, pair.bench().bytes());
  std::ranges::copy(before, memory.bytes().begin());
  Blitter blitter(memory, pair.blitter().rules());
  for (const Dwords& command : commands) {
    blitter.run(command);
    pair.bench().draw(command);
    const std::string found = difference(pair.bench().content(), memory.bytes());
    if (!found.empty()) return fmt::format("{}: {}", text_of(command), found);
  }
  return "only together";
}

void compare(const std::string& chip, unsigned seed, size_t count, const std::function<Dwords(RandomBlits&)>& make,
             unsigned y = 0) {
  Pair pair(chip);
  pair.load(seed);
  set_y(pair, y);
  std::mt19937 random(seed);
  RandomBlits blits([&] { return static_cast<uint32_t>(random()); }, pair.bench().rules(), pair.bench().area,
                    pair.bench().bytes());
  blits.rules() = pair.blitter().rules();
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) kept += pair.add(make(blits));
  EXPECT_GT(kept, count / 2);
  pair.expect_same();
  EXPECT_EQ(pair.result(), "") << chip << " seed " << seed << ": "
                               << (pair.result().empty() ? "" : first_difference(chip, seed, pair.commands(), y));
}

// The ledger rows of one instruction.
void mark(unsigned opcode) {
  switch (opcode) {
    case 0x40:
      COVERS("G45-8.8.1-01");
      COVERS("G45-8.8.1-02");
      break;
    case 0x43:
      COVERS("G45-8.8.2-01");
      COVERS("G45-8.8.2-02");
      break;
    case 0x24:
      COVERS("G45-8.9.4-01");
      break;
    case 0x25:
      COVERS("G45-8.9.1-01");  // each command has its setup before it
      COVERS("G45-8.9.2-01");
      COVERS("G45-8.9.5-01");
      break;
    case 0x26:
      COVERS("G45-8.9.6-01");
      COVERS("G45-8.9.6-02");
      break;
    case 0x31:
      COVERS("G45-8.9.7-01");
      break;
    case 0x50:
      COVERS("G45-8.9.8-01");
      break;
    case 0x51:
      COVERS("G45-8.9.9-01");
      break;
    case 0x76:
      COVERS("G45-8.9.10-01");
      break;
    case 0x72:
      COVERS("G45-8.9.11-01");
      break;
    case 0x77:
      COVERS("G45-8.9.12-01");
      break;
    case 0x52:
      COVERS("G45-8.9.13-01");
      break;
    case 0x59:
      COVERS("G45-8.9.14-01");
      break;
    case 0x53:
      COVERS("G45-8.9.15-01");
      break;
    case 0x73:
      COVERS("G45-8.9.16-01");
      break;
    case 0x54:
      COVERS("G45-8.9.17-01");
      break;
    case 0x71:
      COVERS("G45-8.9.18-01");
      break;
    case 0x55:
      COVERS("G45-8.9.19-01");
      break;
    case 0x74:
      COVERS("G45-8.9.20-01");
      break;
    case 0x56:
      COVERS("G45-8.9.21-01");
      break;
    case 0x75:
      COVERS("G45-8.9.22-01");
      break;
    case 0x57:
      COVERS("G45-8.9.23-01");
      break;
    case 0x58:
      COVERS("G45-8.9.24-01");
      break;
    default:
      break;
  }
}

class EveryInstruction : public ::testing::TestWithParam<std::tuple<std::string, unsigned>> {};

TEST_P(EveryInstruction, MatchesTheReference) {
  mark(std::get<1>(GetParam()));
  const auto& [chip, opcode] = GetParam();
  compare(chip, opcode, 150, [opcode = opcode](RandomBlits& blits) { return blits.next(opcode); });
}

INSTANTIATE_TEST_SUITE_P(On, EveryInstruction,
                         ::testing::Combine(::testing::ValuesIn(blit_chips()),
                                            ::testing::ValuesIn(blit_reference::opcodes())),
                         [](const auto& row) {
                           return fmt::format("{}_{:02x}", std::get<0>(row.param), std::get<1>(row.param));
                         });

class MixedStreams : public ::testing::TestWithParam<std::string> {};

TEST_P(MixedStreams, MatchTheReference) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    compare(GetParam(), seed, 400, [](RandomBlits& blits) { return blits.next(); });
  }
}

TEST_P(MixedStreams, MatchTheReferenceWithYTiles) {
  if (blit_rules(*spec::find_device(GetParam())).address_bits == 29) GTEST_SKIP() << "tile Y exists from Gen6 on";
  for (unsigned y = 1; y <= 3; ++y) {
    compare(
        GetParam(), y, 400, [](RandomBlits& blits) { return blits.next(); }, y);
  }
}

TEST_P(MixedStreams, MatchTheReferenceWithFastCopies) {
  if (!blit_rules(*spec::find_device(GetParam())).fast_copy) GTEST_SKIP() << "XY_FAST_COPY_BLT exists from Gen9 on";
  for (unsigned seed = 1; seed <= 4; ++seed) {
    compare(GetParam(), seed, 400, [](RandomBlits& blits) { return blits.next_fast_copy(); });
  }
}

INSTANTIATE_TEST_SUITE_P(On, MixedStreams, ::testing::ValuesIn(blit_chips()),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace halogen
