// The 256 raster operations at every depth on every chip. Expected values come from the formulas of the manual's table
// (G45 PRM vol. 1b 8.2.1.3, seed 003; eleven of them are in a neighbouring cell there), written as C++ expressions.
// Codes that Windows names are also checked against the meaning of the name.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/blit_bench.h"

namespace halogen {
namespace {

using blit_reference::encode;
using blit_reference::Encoded;
using Formula = uint32_t (*)(uint32_t P, uint32_t S, uint32_t D);

// clang-format off
#define ROP(expression) [](uint32_t P, uint32_t S, uint32_t D) -> uint32_t { (void)P, (void)S, (void)D; return (expression); }
constexpr Formula kFormulas[256] = {
    ROP(0),  // 00
    ROP(~(D | (P | S))),  // 01
    ROP(D & (~(P | S))),  // 02
    ROP(~(P | S)),  // 03
    ROP(S & (~(D | P))),  // 04
    ROP(~(D | P)),  // 05
    ROP(~(P | (~(D ^ S)))),  // 06
    ROP(~(P | (D & S))),  // 07
    ROP(S & (D & (~P))),  // 08
    ROP(~(P | (D ^ S))),  // 09
    ROP(D & (~P)),  // 0A
    ROP(~(P | (S & (~D)))),  // 0B
    ROP(S & (~P)),  // 0C
    ROP(~(P | (D & (~S)))),  // 0D
    ROP(~(P | (~(D | S)))),  // 0E
    ROP(~P),  // 0F
    ROP(P & (~(D | S))),  // 10
    ROP(~(D | S)),  // 11
    ROP(~(S | (~(D ^ P)))),  // 12
    ROP(~(S | (D & P))),  // 13
    ROP(~(D | (~(P ^ S)))),  // 14
    ROP(~(D | (P & S))),  // 15
    ROP(P ^ (S ^ (D & (~(P & S))))),  // 16
    ROP(~(S ^ ((S ^ P) & (D ^ S)))),  // 17
    ROP((S ^ P) & (P ^ D)),  // 18
    ROP(~(S ^ (D & (~(P & S))))),  // 19
    ROP(P ^ (D | (S & P))),  // 1A
    ROP(~(S ^ (D & (P ^ S)))),  // 1B
    ROP(P ^ (S | (D & P))),  // 1C
    ROP(~(D ^ (S & (P ^ D)))),  // 1D
    ROP(P ^ (D | S)),  // 1E
    ROP(~(P & (D | S))),  // 1F
    ROP(D & (P & (~S))),  // 20
    ROP(~(S | (D ^ P))),  // 21
    ROP(D & (~S)),  // 22
    ROP(~(S | (P & (~D)))),  // 23
    ROP((S ^ P) & (D ^ S)),  // 24
    ROP(~(P ^ (D & (~(S & P))))),  // 25
    ROP(S ^ (D | (P & S))),  // 26
    ROP(S ^ (D | (~(P ^ S)))),  // 27
    ROP(D & (P ^ S)),  // 28
    ROP(~(P ^ (S ^ (D | (P & S))))),  // 29
    ROP(D & (~(P & S))),  // 2A
    ROP(~(S ^ ((S ^ P) & (P ^ D)))),  // 2B
    ROP(S ^ (P & (D | S))),  // 2C
    ROP(P ^ (S | (~D))),  // 2D
    ROP(P ^ (S | (D ^ P))),  // 2E
    ROP(~(P & (S | (~D)))),  // 2F
    ROP(P & (~S)),  // 30
    ROP(~(S | (D & (~P)))),  // 31
    ROP(S ^ (D | (P | S))),  // 32
    ROP(~S),  // 33
    ROP(S ^ (P | (D & S))),  // 34
    ROP(S ^ (P | (~(D ^ S)))),  // 35
    ROP(S ^ (D | P)),  // 36
    ROP(~(S & (D | P))),  // 37
    ROP(P ^ (S & (D | P))),  // 38
    ROP(S ^ (P | (~D))),  // 39
    ROP(S ^ (P | (D ^ S))),  // 3A
    ROP(~(S & (P | (~D)))),  // 3B
    ROP(P ^ S),  // 3C
    ROP(S ^ (P | (~(D | S)))),  // 3D
    ROP(S ^ (P | (D & (~S)))),  // 3E
    ROP(~(P & S)),  // 3F
    ROP(P & (S & (~D))),  // 40
    ROP(~(D | (P ^ S))),  // 41
    ROP((S ^ D) & (P ^ D)),  // 42
    ROP(~(S ^ (P & (~(D & S))))),  // 43
    ROP(S & (~D)),  // 44
    ROP(~(D | (P & (~S)))),  // 45
    ROP(D ^ (S | (P & D))),  // 46
    ROP(~(P ^ (S & (D ^ P)))),  // 47
    ROP(S & (D ^ P)),  // 48
    ROP(~(P ^ (D ^ (S | (P & D))))),  // 49
    ROP(D ^ (P & (S | D))),  // 4A
    ROP(P ^ (D | (~S))),  // 4B
    ROP(S & (~(D & P))),  // 4C
    ROP(~(S ^ ((S ^ P) | (D ^ S)))),  // 4D
    ROP(P ^ (D | (S ^ P))),  // 4E
    ROP(~(P & (D | (~S)))),  // 4F
    ROP(P & (~D)),  // 50
    ROP(~(D | (S & (~P)))),  // 51
    ROP(D ^ (P | (S & D))),  // 52
    ROP(~(S ^ (P & (D ^ S)))),  // 53
    ROP(~(D | (~(P | S)))),  // 54
    ROP(~D),  // 55
    ROP(D ^ (P | S)),  // 56
    ROP(~(D & (P | S))),  // 57
    ROP(P ^ (D & (S | P))),  // 58
    ROP(D ^ (P | (~S))),  // 59
    ROP(D ^ P),  // 5A
    ROP(D ^ (P | (~(S | D)))),  // 5B
    ROP(D ^ (P | (S ^ D))),  // 5C
    ROP(~(D & (P | (~S)))),  // 5D
    ROP(D ^ (P | (S & (~D)))),  // 5E
    ROP(~(D & P)),  // 5F
    ROP(P & (D ^ S)),  // 60
    ROP(~(D ^ (S ^ (P | (D & S))))),  // 61
    ROP(D ^ (S & (P | D))),  // 62
    ROP(S ^ (D | (~P))),  // 63
    ROP(S ^ (D & (P | S))),  // 64
    ROP(D ^ (S | (~P))),  // 65
    ROP(D ^ S),  // 66
    ROP(S ^ (D | (~(P | S)))),  // 67
    ROP(~(D ^ (S ^ (P | (~(D | S)))))),  // 68
    ROP(~(P ^ (D ^ S))),  // 69
    ROP(D ^ (P & S)),  // 6A
    ROP(~(P ^ (S ^ (D & (P | S))))),  // 6B
    ROP(S ^ (D & P)),  // 6C
    ROP(~(P ^ (D ^ (S & (P | D))))),  // 6D
    ROP(S ^ (D & (P | (~S)))),  // 6E
    ROP(~(P & (~(D ^ S)))),  // 6F
    ROP(P & (~(D & S))),  // 70
    ROP(~(S ^ ((S ^ D) & (P ^ D)))),  // 71
    ROP(S ^ (D | (P ^ S))),  // 72
    ROP(~(S & (D | (~P)))),  // 73
    ROP(D ^ (S | (P ^ D))),  // 74
    ROP(~(D & (S | (~P)))),  // 75
    ROP(S ^ (D | (P & (~S)))),  // 76
    ROP(~(D & S)),  // 77
    ROP(P ^ (D & S)),  // 78
    ROP(~(D ^ (S ^ (P & (D | S))))),  // 79
    ROP(D ^ (P & (S | (~D)))),  // 7A
    ROP(~(S & (~(D ^ P)))),  // 7B
    ROP(S ^ (P & (D | (~S)))),  // 7C
    ROP(~(D & (~(P ^ S)))),  // 7D
    ROP((S ^ P) | (D ^ S)),  // 7E
    ROP(~(D & (P & S))),  // 7F
    ROP(D & (P & S)),  // 80
    ROP(~((S ^ P) | (D ^ S))),  // 81
    ROP(D & (~(P ^ S))),  // 82
    ROP(~(S ^ (P & (D | (~S))))),  // 83
    ROP(S & (~(D ^ P))),  // 84
    ROP(~(P ^ (D & (S | (~P))))),  // 85
    ROP(D ^ (S ^ (P & (D | S)))),  // 86
    ROP(~(P ^ (D & S))),  // 87
    ROP(D & S),  // 88
    ROP(~(S ^ (D | (P & (~S))))),  // 89
    ROP(D & (S | (~P))),  // 8A
    ROP(~(D ^ (S | (P ^ D)))),  // 8B
    ROP(S & (D | (~P))),  // 8C
    ROP(~(S ^ (D | (P ^ S)))),  // 8D
    ROP(S ^ ((S ^ D) & (P ^ D))),  // 8E
    ROP(~(P & (~(D & S)))),  // 8F
    ROP(P & (~(D ^ S))),  // 90
    ROP(~(S ^ (D & (P | (~S))))),  // 91
    ROP(D ^ (P ^ (S & (D | P)))),  // 92
    ROP(~(S ^ (P & D))),  // 93
    ROP(P ^ (S ^ (D & (P | S)))),  // 94
    ROP(~(D ^ (P & S))),  // 95
    ROP(D ^ (P ^ S)),  // 96
    ROP(P ^ (S ^ (D | (~(P | S))))),  // 97
    ROP(~(S ^ (D | (~(P | S))))),  // 98
    ROP(~(D ^ S)),  // 99
    ROP(D ^ (P & (~S))),  // 9A
    ROP(~(S ^ (D & (P | S)))),  // 9B
    ROP(S ^ (P & (~D))),  // 9C
    ROP(~(D ^ (S & (P | D)))),  // 9D
    ROP(D ^ (S ^ (P | (D & S)))),  // 9E
    ROP(~(P & (D ^ S))),  // 9F
    ROP(D & P),  // A0
    ROP(~(P ^ (D | (S & (~P))))),  // A1
    ROP(D & (P | (~S))),  // A2
    ROP(~(D ^ (P | (S ^ D)))),  // A3
    ROP(~(P ^ (D | (~(S | P))))),  // A4
    ROP(~(P ^ D)),  // A5
    ROP(D ^ (S & (~P))),  // A6
    ROP(~(P ^ (D & (S | P)))),  // A7
    ROP(D & (P | S)),  // A8
    ROP(~(D ^ (P | S))),  // A9
    ROP(D),  // AA
    ROP(D | (~(P | S))),  // AB
    ROP(S ^ (P & (D ^ S))),  // AC
    ROP(~(D ^ (P | (S & D)))),  // AD
    ROP(D | (S & (~P))),  // AE
    ROP(D | (~P)),  // AF
    ROP(P & (D | (~S))),  // B0
    ROP(~(P ^ (D | (S ^ P)))),  // B1
    ROP(S ^ ((S ^ P) | (D ^ S))),  // B2
    ROP(~(S & (~(D & P)))),  // B3
    ROP(P ^ (S & (~D))),  // B4
    ROP(~(D ^ (P & (S | D)))),  // B5
    ROP(D ^ (P ^ (S | (D & P)))),  // B6
    ROP(~(S & (D ^ P))),  // B7
    ROP(P ^ (S & (D ^ P))),  // B8
    ROP(~(D ^ (S | (P & D)))),  // B9
    ROP(D | (P & (~S))),  // BA
    ROP(D | (~S)),  // BB
    ROP(S ^ (P & (~(D & S)))),  // BC
    ROP(~((S ^ D) & (P ^ D))),  // BD
    ROP(D | (P ^ S)),  // BE
    ROP(D | (~(P & S))),  // BF
    ROP(P & S),  // C0
    ROP(~(S ^ (P | (D & (~S))))),  // C1
    ROP(~(S ^ (P | (~(D | S))))),  // C2
    ROP(~(P ^ S)),  // C3
    ROP(S & (P | (~D))),  // C4
    ROP(~(S ^ (P | (D ^ S)))),  // C5
    ROP(S ^ (D & (~P))),  // C6
    ROP(~(P ^ (S & (D | P)))),  // C7
    ROP(S & (D | P)),  // C8
    ROP(~(S ^ (P | D))),  // C9
    ROP(D ^ (P & (S ^ D))),  // CA
    ROP(~(S ^ (P | (D & S)))),  // CB
    ROP(S),  // CC
    ROP(S | (~(D | P))),  // CD
    ROP(S | (D & (~P))),  // CE
    ROP(S | (~P)),  // CF
    ROP(P & (S | (~D))),  // D0
    ROP(~(P ^ (S | (D ^ P)))),  // D1
    ROP(P ^ (D & (~S))),  // D2
    ROP(~(S ^ (P & (D | S)))),  // D3
    ROP(S ^ ((S ^ P) & (P ^ D))),  // D4
    ROP(~(D & (~(P & S)))),  // D5
    ROP(P ^ (S ^ (D | (P & S)))),  // D6
    ROP(~(D & (P ^ S))),  // D7
    ROP(P ^ (D & (S ^ P))),  // D8
    ROP(~(S ^ (D | (P & S)))),  // D9
    ROP(D ^ (P & (~(S & D)))),  // DA
    ROP(~((S ^ P) & (D ^ S))),  // DB
    ROP(S | (P & (~D))),  // DC
    ROP(S | (~D)),  // DD
    ROP(S | (D ^ P)),  // DE
    ROP(S | (~(D & P))),  // DF
    ROP(P & (D | S)),  // E0
    ROP(~(P ^ (D | S))),  // E1
    ROP(D ^ (S & (P ^ D))),  // E2
    ROP(~(P ^ (S | (D & P)))),  // E3
    ROP(S ^ (D & (P ^ S))),  // E4
    ROP(~(P ^ (D | (S & P)))),  // E5
    ROP(S ^ (D & (~(P & S)))),  // E6
    ROP(~((S ^ P) & (P ^ D))),  // E7
    ROP(S ^ ((S ^ P) & (D ^ S))),  // E8
    ROP(~(D ^ (S ^ (P & (~(D & S)))))),  // E9
    ROP(D | (P & S)),  // EA
    ROP(D | (~(P ^ S))),  // EB
    ROP(S | (D & P)),  // EC
    ROP(S | (~(D ^ P))),  // ED
    ROP(D | S),  // EE
    ROP(S | (D | (~P))),  // EF
    ROP(P),  // F0
    ROP(P | (~(D | S))),  // F1
    ROP(P | (D & (~S))),  // F2
    ROP(P | (~S)),  // F3
    ROP(P | (S & (~D))),  // F4
    ROP(P | (~D)),  // F5
    ROP(P | (D ^ S)),  // F6
    ROP(P | (~(D & S))),  // F7
    ROP(P | (D & S)),  // F8
    ROP(P | (~(D ^ S))),  // F9
    ROP(D | P),  // FA
    ROP(D | (P | (~S))),  // FB
    ROP(P | S),  // FC
    ROP(P | (S | (~D))),  // FD
    ROP(D | (P | S)),  // FE
    ROP(~0u),  // FF
};
#undef ROP
// clang-format on

struct Named {
  const char* name;
  unsigned code;
  Formula formula;
};
using U = uint32_t;
constexpr Named kWindows[] = {
    {"BLACKNESS", 0x00, [](U, U, U) { return U{0}; }},
    {"NOTSRCERASE", 0x11, [](U, U s, U d) { return ~(s | d); }},
    {"NOTSRCCOPY", 0x33, [](U, U s, U) { return ~s; }},
    {"SRCERASE", 0x44, [](U, U s, U d) { return s & ~d; }},
    {"DSTINVERT", 0x55, [](U, U, U d) { return ~d; }},
    {"PATINVERT", 0x5a, [](U p, U, U d) { return p ^ d; }},
    {"SRCINVERT", 0x66, [](U, U s, U d) { return s ^ d; }},
    {"SRCAND", 0x88, [](U, U s, U d) { return s & d; }},
    {"MERGEPAINT", 0xbb, [](U, U s, U d) { return ~s | d; }},
    {"MERGECOPY", 0xc0, [](U p, U s, U) { return p & s; }},
    {"SRCCOPY", 0xcc, [](U, U s, U) { return s; }},
    {"SRCPAINT", 0xee, [](U, U s, U d) { return s | d; }},
    {"PATCOPY", 0xf0, [](U p, U, U) { return p; }},
    {"PATPAINT", 0xfb, [](U p, U s, U d) { return d | p | ~s; }},
    {"WHITENESS", 0xff, [](U, U, U) { return ~U{0}; }},
};

// Offsets of the surfaces in the area.
constexpr size_t kSource = 0x4'0000, kPattern = 0x6'0000, kPitch = 128, kSourcePitch = 192;
constexpr uint32_t kWidth = 19, kHeight = 3;

class RasterOperations : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    target_ = std::make_unique<BlitTarget>(GetParam());
    target_->bytes() = random_bytes(target_->bytes().size(), 256);
  }

  // Code c draws from line 3c of one surface, reading from line c of another.
  void draw(unsigned depth) {
    const uint32_t pixel = pixel_B(depth);
    Dwords stream;
    for (uint32_t code = 0; code < 256; ++code) {
      Encoded command{.opcode = 0x55, .header = 3u << 20 | 5u << 12 | 6u << 8, .br = {}, .immediate = {}};
      command.br[13] = depth << 24 | code << 16 | kPitch;
      command.br[22] = code * kHeight << 16 | kLeft;
      command.br[23] = (code + 1) * kHeight << 16 | (kLeft + kWidth);
      command.br[9] = target_->at(0);
      command.br[11] = kSourcePitch;
      command.br[26] = code << 16 | 7u;
      command.br[12] = target_->at(kSource);
      command.br[15] = target_->at(kPattern + 256 * pixel);
      const Dwords one = encode(command, target_->wide());
      stream.insert(stream.end(), one.begin(), one.end());
    }
    target_->draw(stream);
  }

  void expect(unsigned code, Formula formula, unsigned depth, const std::vector<uint8_t>& before) {
    const unsigned pixel = pixel_B(depth);
    const auto value = [&](size_t at) {
      uint32_t found = 0;
      for (unsigned i = 0; i < pixel; ++i) found |= uint32_t{before[at + i]} << (8 * i);
      return found;
    };
    const uint32_t mask = pixel == 4 ? ~0u : (1u << (8 * pixel)) - 1;
    for (size_t y = 0; y < kHeight; ++y) {
      for (size_t x = 0; x < kWidth; ++x) {
        const size_t line = code * kHeight + y, column = kLeft + x;
        const size_t at = line * kPitch + column * pixel;
        const uint32_t s = value(kSource + (code + y) * kSourcePitch + (7 + x) * pixel);
        const uint32_t p = value(kPattern + 256 * pixel + ((line + 6) % 8 * 8 + (column + 5) % 8) * pixel);
        ASSERT_EQ(target_->pixel(at, pixel), formula(p, s, value(at)) & mask) << code << " at " << x << "," << y;
      }
    }
  }

  static unsigned pixel_B(unsigned depth) { return depth == 0 ? 1 : depth == 3 ? 4 : 2; }
  static constexpr uint32_t kLeft = 3;
  std::unique_ptr<BlitTarget> target_;
};

TEST_P(RasterOperations, AllCodesMatchTheReferenceAtAllDepths) {
  COVERS("G45-8.2.1.3-01");
  COVERS("G45-8.2.1.3-02");
  COVERS("G45-8.2.1.3-03");
  COVERS("G45-8.2-01");
  COVERS("G45-8.2.1-01");
  for (unsigned depth = 0; depth < 4; ++depth) {
    SCOPED_TRACE(depth);
    const std::vector<uint8_t> before = target_->bytes();
    draw(depth);
    for (unsigned code = 0; code < 256; ++code) expect(code, kFormulas[code], depth, before);
    for (const Named& named : kWindows) {
      SCOPED_TRACE(named.name);
      expect(named.code, named.formula, depth, before);
    }
    // Nothing outside of the rectangles is written.
    std::vector<uint8_t> rest = target_->bytes();
    for (size_t line = 0; line < 256 * kHeight; ++line) {
      const auto at = static_cast<std::ptrdiff_t>(line * kPitch + kLeft * pixel_B(depth));
      std::copy_n(before.begin() + at, kWidth * pixel_B(depth), rest.begin() + at);
    }
    EXPECT_EQ(difference(rest, before), "");
  }
}

// The code is the truth table: the value of the formula for P = F0, S = CC, D = AA.
TEST(RasterTable, CodesAreTheTruthTablesOfTheFormulas) {
  for (unsigned code = 0; code < 256; ++code) EXPECT_EQ(kFormulas[code](0xf0, 0xcc, 0xaa) & 0xff, code);
  for (const Named& named : kWindows) EXPECT_EQ(named.formula(0xf0, 0xcc, 0xaa) & 0xff, named.code) << named.name;
}

INSTANTIATE_TEST_SUITE_P(On, RasterOperations, ::testing::ValuesIn(with_reference(blit_chips())),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace halogen
