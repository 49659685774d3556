// Positions and codes of instruction fields by docs/requirements/notes.md. They are written here as numbers; every
// value of every field is encoded and decoded again.
#include <gtest/gtest.h>

#include <cstring>

#include "covers.h"
#include "eu/isa/assembler.h"
#include "eu/isa/decoder.h"
#include "eu/isa/encoder.h"
#include "eu/isa/messages.h"
#include "eu/isa/tables.h"

namespace halogen::eu {
namespace {

using spec::GenId;

constexpr GenId kGen = GenId::gen6;

// Returns bits hi:lo of dword `d`.
unsigned at(const Bits128& bits, unsigned d, unsigned hi, unsigned lo) {
  const auto dword = static_cast<uint32_t>(bits.word[d / 2] >> (32 * (d % 2)));
  return static_cast<unsigned>(dword >> lo & ((uint64_t{1} << (hi - lo + 1)) - 1));
}

Instruction line(GenId gen, std::string_view text) {
  const auto in = assemble_line(gen, text);
  EXPECT_TRUE(in.ok()) << text << ": " << in.message();
  return in.ok() ? *in : Instruction{};
}

// Encodes an instruction. The word must decode to the same instruction.
Bits128 word(GenId gen, const Instruction& in) {
  const auto bits = encode(gen, in);
  EXPECT_TRUE(bits.ok()) << bits.message();
  if (!bits) return {};
  std::byte bytes[16];
  std::memcpy(bytes, bits->word, 16);
  const Decoded back = decode(gen, bytes);
  EXPECT_TRUE(back.ok());
  EXPECT_TRUE(back.instruction == in);
  return *bits;
}

Instruction add() {
  return line(kGen, "add (8|M0) r1.0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f");
}

TEST(IsaRows, FirstDwordHoldsOpcodeAndControls) {
  COVERS("NOTES-EU-13");
  Instruction in = add();
  EXPECT_EQ(at(word(kGen, in), 0, 6, 0), 64u);
  EXPECT_EQ(at(word(kGen, in), 0, 31, 7) & ~(3u << 14), 0u) << "all bits but the execution size are 0";
  for (const bool on : {false, true}) {
    in = add();
    in.no_mask = on;
    EXPECT_EQ(at(word(kGen, in), 0, 9, 9), on);
    in.no_dd_clear = on;
    EXPECT_EQ(at(word(kGen, in), 0, 10, 10), on);
    in.no_dd_check = on;
    EXPECT_EQ(at(word(kGen, in), 0, 11, 11), on);
    in.accumulator_write = on;
    EXPECT_EQ(at(word(kGen, in), 0, 28, 28), on);
    in.breakpoint = on;
    EXPECT_EQ(at(word(kGen, in), 0, 30, 30), on);
    in.saturate = on;
    EXPECT_EQ(at(word(kGen, in), 0, 31, 31), on);
    in.predicate = Predicate::normal;
    in.predicate_inverse = on;
    EXPECT_EQ(at(word(kGen, in), 0, 20, 20), on);
  }
  for (unsigned n = 0; n < 6; ++n) {
    in = line(kGen, "mov (1|M0) r1.0<1>:f r2.0<0;1,0>:f");
    in.exec_size = static_cast<uint8_t>(1u << n);
    EXPECT_EQ(at(word(kGen, in), 0, 23, 21), n);
  }
  for (unsigned n = 0; n < 4; ++n) {
    in = add();
    in.first_channel = static_cast<uint8_t>(8 * n);
    EXPECT_EQ(at(word(kGen, in), 0, 13, 12), n);
    in.thread_control = static_cast<uint8_t>(n % 3);
    EXPECT_EQ(at(word(kGen, in), 0, 15, 14), n % 3);
  }
  for (unsigned n = 0; n < 10; ++n) {
    in = add();
    in.condition = static_cast<Condition>(n);
    EXPECT_EQ(at(word(kGen, in), 0, 27, 24), n);
    in.predicate = static_cast<Predicate>(n);
    EXPECT_EQ(at(word(kGen, in), 0, 19, 16), n);
  }
  EXPECT_EQ(at(word(kGen, line(kGen, "mov (8|M0) r1.0<1>.xyzw:f r2.0<4>.xyzw:f {Align16}")), 0, 8, 8), 1u);
  EXPECT_EQ(at(word(kGen, line(kGen, "send.urb (8|M0) null m3 0x0 0x02000000")), 0, 27, 24), 6u);
  // The compact bit is at the same position in the 64-bit form.
  EXPECT_EQ(
      decode(kGen, std::as_bytes(std::span<const uint64_t>(std::array<uint64_t, 1>{0x20000001}))).instruction.size, 8);
}

TEST(IsaRows, SecondDwordHoldsFilesTypesAndDestination) {
  COVERS("NOTES-EU-14");
  Instruction in = add();
  const Bits128 bits = word(kGen, in);
  EXPECT_EQ(at(bits, 1, 1, 0), 1u);
  EXPECT_EQ(at(bits, 1, 4, 2), 7u);
  EXPECT_EQ(at(bits, 1, 6, 5), 1u);
  EXPECT_EQ(at(bits, 1, 9, 7), 7u);
  EXPECT_EQ(at(bits, 1, 11, 10), 1u);
  EXPECT_EQ(at(bits, 1, 14, 12), 7u);
  in = line(kGen, "add (8|M0) m5.0<1>:d acc0.0<8;8,1>:w 0x5:uw");
  const Bits128 other = word(kGen, in);
  EXPECT_EQ(at(other, 1, 1, 0), 2u);
  EXPECT_EQ(at(other, 1, 4, 2), 1u);
  EXPECT_EQ(at(other, 1, 6, 5), 0u);
  EXPECT_EQ(at(other, 1, 9, 7), 3u);
  EXPECT_EQ(at(other, 1, 11, 10), 3u);
  EXPECT_EQ(at(other, 1, 14, 12), 2u);
  in = add();
  for (unsigned n = 0; n < 256; ++n) {
    in.dst.reg = static_cast<uint8_t>(n);
    in.dst.sub = static_cast<uint8_t>(n % 32);
    const Bits128 w = word(kGen, in);
    EXPECT_EQ(at(w, 1, 28, 21), n);
    EXPECT_EQ(at(w, 1, 20, 16), n % 32);
    EXPECT_EQ(at(w, 1, 31, 31), 0u);
  }
  for (const auto& [stride, code] : {std::pair(0u, 0u), std::pair(1u, 1u), std::pair(2u, 2u), std::pair(4u, 3u)}) {
    in.dst.region.horizontal = static_cast<uint8_t>(stride);
    EXPECT_EQ(at(word(kGen, in), 1, 30, 29), code);
  }
  in = add();
  in.dst.reg = 0;
  in.dst.indirect = true;
  for (int n = -512; n < 512; n += 7) {
    in.dst.address_offset = static_cast<int16_t>(n);
    in.dst.address_sub = static_cast<uint8_t>(n & 7);
    const Bits128 w = word(kGen, in);
    EXPECT_EQ(at(w, 1, 25, 16), static_cast<unsigned>(n) & 0x3ff);
    EXPECT_EQ(at(w, 1, 28, 26), static_cast<unsigned>(n) & 7);
    EXPECT_EQ(at(w, 1, 31, 31), 1u);
  }
  in = line(kGen, "mov (8|M0) r1.0<1>.xyzw:f r2.0<4>.xyzw:f {Align16}");
  for (unsigned mask = 0; mask < 16; ++mask) {
    in.dst.write_mask = static_cast<uint8_t>(mask);
    in.dst.sub = mask % 2 != 0 ? 16 : 0;
    EXPECT_EQ(at(word(kGen, in), 1, 19, 16), mask);
    EXPECT_EQ(at(word(kGen, in), 1, 20, 20), mask % 2);
  }
}

TEST(IsaRows, SourceDwordsHoldRegisterModifiersAndRegion) {
  COVERS("NOTES-EU-15");
  for (const unsigned s : {0u, 1u}) {
    const unsigned d = 2 + s;
    Instruction in = add();
    Operand& source = in.src[s];
    for (unsigned n = 0; n < 256; ++n) {
      source.reg = static_cast<uint8_t>(n);
      source.sub = static_cast<uint8_t>(n % 32);
      source.absolute = n % 3 == 0;
      source.negate = n % 5 == 0;
      const Bits128 w = word(kGen, in);
      EXPECT_EQ(at(w, d, 4, 0), n % 32);
      EXPECT_EQ(at(w, d, 12, 5), n);
      EXPECT_EQ(at(w, d, 13, 13), n % 3 == 0);
      EXPECT_EQ(at(w, d, 14, 14), n % 5 == 0);
      EXPECT_EQ(at(w, d, 15, 15), 0u);
    }
    for (unsigned code = 0; code < 7; ++code) {
      source.region = {static_cast<uint8_t>(code == 0 ? 0 : 1u << (code - 1)), static_cast<uint8_t>(1u << (code % 5)),
                       static_cast<uint8_t>(code % 4 == 3 ? 4 : code % 4), false};
      const Bits128 w = word(kGen, in);
      EXPECT_EQ(at(w, d, 24, 21), code);
      EXPECT_EQ(at(w, d, 20, 18), code % 5);
      EXPECT_EQ(at(w, d, 17, 16), code % 4);
    }
    source.reg = 0;
    source.sub = 0;
    source.indirect = true;
    EXPECT_EQ(at(word(kGen, in), d, 15, 15), 1u);
    Instruction groups = line(kGen, "add (8|M0) r1.0<1>.xyzw:f r2.0<4>.xyzw:f r3.0<4>.xyzw:f {Align16}");
    groups.src[s].swizzle = {1, 3, 2, 0};
    groups.src[s].sub = 16;
    const Bits128 w = word(kGen, groups);
    EXPECT_EQ(at(w, d, 3, 0), 1u | 3u << 2);
    EXPECT_EQ(at(w, d, 4, 4), 1u);
    EXPECT_EQ(at(w, d, 17, 16), 2u);
    EXPECT_EQ(at(w, d, 19, 18), 0u);
  }
  Instruction flagged = add();
  flagged.condition = Condition::zero;
  flagged.flag = 1;
  EXPECT_EQ(at(word(kGen, flagged), 2, 25, 25), 1u);
  EXPECT_EQ(at(word(kGen, line(kGen, "add (8|M0) r1.0<1>:d r2.0<8;8,1>:d 0x89abcdef:d")), 3, 31, 0), 0x89abcdefu);
}

TEST(IsaRows, CodesHaveTheListedMeanings) {
  COVERS("NOTES-EU-16");
  const IsaTables& gen6 = isa_tables(kGen);
  const auto code = [](auto value) { return static_cast<uint8_t>(value); };
  const File files[] = {File::arf, File::grf, File::mrf, File::immediate};
  for (unsigned n = 0; n < 4; ++n) EXPECT_EQ(gen6.file[n], code(files[n]));
  const Type types[] = {Type::ud, Type::d, Type::uw, Type::w, Type::ub, Type::b};
  for (unsigned n = 0; n < 6; ++n) EXPECT_EQ(gen6.register_type[n], code(types[n]));
  EXPECT_EQ(gen6.register_type[6], kNone);
  EXPECT_EQ(gen6.register_type[7], code(Type::f));
  const Type immediates[] = {Type::ud, Type::d, Type::uw, Type::w, Type::uv, Type::vf, Type::v, Type::f};
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(gen6.immediate_type[n], code(immediates[n]));
  for (unsigned n = 0; n < 5; ++n) {
    Instruction in = add();
    in.exec_size = 16;
    in.src[0].region = {16, static_cast<uint8_t>(1u << n), 1, false};
    EXPECT_EQ(at(word(kGen, in), 2, 20, 18), n);
  }
  const uint8_t strides[] = {0, 1, 2, 4};
  for (unsigned n = 0; n < 4; ++n) {
    Instruction in = add();
    in.src[0].region.horizontal = strides[n];
    EXPECT_EQ(at(word(kGen, in), 2, 17, 16), n);
  }
  const std::pair<const char*, unsigned> conditions[] = {{"eq", 1}, {"ne", 2}, {"gt", 3}, {"ge", 4},
                                                         {"lt", 5}, {"le", 6}, {"ov", 8}, {"un", 9}};
  for (const auto& [name, number] : conditions) {
    const std::string text = std::string("cmp (8|M0) (") + name + ")f0.0 null<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f";
    EXPECT_EQ(at(word(kGen, line(kGen, text)), 0, 27, 24), number) << name;
  }
  const char* predicates[] = {"",       ".anyv",  ".allv",   ".any2h",  ".all2h",  ".any4h", ".all4h",
                              ".any8h", ".all8h", ".any16h", ".all16h", ".any32h", ".all32h"};
  for (unsigned n = 0; n < 13; ++n) {
    const std::string text = std::string("(f0.0") + predicates[n] + ") mov (8|M0) r1.0<1>:f r2.0<8;8,1>:f";
    EXPECT_EQ(at(word(GenId::gen7, line(GenId::gen7, text)), 0, 19, 16), n + 1) << text;
  }
  const char* channels[] = {".x", ".y", ".z", ".w", ".any4h", ".all4h"};
  for (unsigned n = 0; n < 6; ++n) {
    const std::string text =
        std::string("(f0.0") + channels[n] + ") mov (8|M0) r1.0<1>.xyzw:f r2.0<4>.xyzw:f {Align16}";
    EXPECT_EQ(at(word(kGen, line(kGen, text)), 0, 19, 16), n + 2) << text;
  }
}

TEST(IsaRows, OperationsHaveTheListedOpcodes) {
  COVERS("NOTES-EU-17");
  const std::pair<const char*, unsigned> old[] = {
      {"mov", 1},    {"sel", 2},    {"not", 4},    {"and", 5},   {"or", 6},    {"xor", 7},   {"shr", 8},
      {"shl", 9},    {"asr", 12},   {"cmp", 16},   {"cmpn", 17}, {"jmpi", 32}, {"if", 34},   {"else", 36},
      {"endif", 37}, {"while", 39}, {"break", 40}, {"cont", 41}, {"halt", 42}, {"wait", 48}, {"send", 49},
      {"sendc", 50}, {"math", 56},  {"add", 64},   {"mul", 65},  {"avg", 66},  {"frc", 67},  {"rndu", 68},
      {"rndd", 69},  {"rnde", 70},  {"rndz", 71},  {"mac", 72},  {"mach", 73}, {"lzd", 74},  {"sad2", 80},
      {"sada2", 81}, {"dp4", 84},   {"dph", 85},   {"dp3", 86},  {"dp2", 87},  {"line", 89}, {"pln", 90},
      {"mad", 91},   {"lrp", 92},   {"nop", 126}};
  const std::pair<const char*, unsigned> later[] = {{"bfrev", 23}, {"bfe", 24},  {"bfi1", 25},
                                                    {"bfi2", 26},  {"fbh", 75},  {"fbl", 76},
                                                    {"cbit", 77},  {"addc", 78}, {"subb", 79}};
  for (const GenId gen : {GenId::gen6, GenId::gen7, GenId::gen7_5, GenId::gen8, GenId::gen9}) {
    for (const auto& [name, number] : old) {
      ASSERT_NE(find_op(gen, name), nullptr) << name;
      EXPECT_EQ(find_op(gen, name)->code, number) << name;
    }
    for (const auto& [name, number] : later) {
      const OpRow* row = find_op(gen, name);
      EXPECT_EQ(row != nullptr, gen != GenId::gen6) << name;
      if (row != nullptr) {
        EXPECT_EQ(row->code, number) << name;
      }
    }
  }
  EXPECT_EQ(find_op(GenId::gen7, "csel"), nullptr);
  EXPECT_EQ(find_op(GenId::gen8, "csel")->code, 18);
}

TEST(IsaRows, ImmediatesAreWordsDwordsOrVectors) {
  COVERS("NOTES-EU-07");
  for (unsigned g = 0; g < spec::kGenCount; ++g) {
    for (const Type byte : {Type::ub, Type::b}) {
      Instruction in = line(static_cast<GenId>(g), "mov (8|M0) r1.0<1>:d 0x5:d");
      in.src[0].type = byte;
      EXPECT_FALSE(encode(static_cast<GenId>(g), in).ok());
    }
  }
  for (const char* type : {"w", "uw"}) {
    const Instruction in = line(kGen, std::string("mov (8|M0) r1.0<1>:w 0x1234:") + type);
    EXPECT_EQ(at(word(kGen, in), 3, 31, 0), 0x12341234u);
  }
  EXPECT_EQ(at(word(kGen, line(kGen, "mov (8|M0) r1.0<1>:d 0x12345678:d")), 3, 31, 0), 0x12345678u);
  EXPECT_EQ(at(word(kGen, line(kGen, "mov (8|M0) r1.0<1>:w 0x12345678:v")), 3, 31, 0), 0x12345678u);
  EXPECT_EQ(at(word(kGen, line(kGen, "mov (4|M0) r1.0<1>:f 0x12345678:vf")), 3, 31, 0), 0x12345678u);
  // Gen4 has seven immediate types: five scalars and two vectors.
  unsigned known = 0;
  for (const uint8_t type : isa_tables(GenId::gen4).immediate_type) known += type != kNone;
  EXPECT_EQ(known, 7u);
}

TEST(IsaRows, SharedFunctionsHaveTheListedCodes) {
  const std::pair<const char*, int> gen7[] = {{"null", 0}, {"smpl", 2}, {"gtwy", 3}, {"dpsc", 4}, {"rc", 5},
                                              {"urb", 6},  {"ts", 7},   {"dcro", 9}, {"dc0", 10}, {"pixi", 11}};
  for (const auto& [name, code] : gen7) EXPECT_EQ(function_code(GenId::gen7, name), code) << name;
  EXPECT_EQ(function_code(GenId::gen4, "math"), 1);
  EXPECT_EQ(function_code(GenId::gen5, "math"), 1);
  EXPECT_EQ(function_code(GenId::gen6, "math"), -1);
  EXPECT_EQ(function_code(GenId::gen7_5, "dc1"), 12);
}

TEST(IsaRows, SendDescriptorHoldsLengthsHeaderAndControl) {
  COVERS("NOTES-SF-05");
  for (const GenId gen : {GenId::gen6, GenId::gen7, GenId::gen8}) {
    Instruction in = line(gen, gen == GenId::gen6 ? "send.urb (8|M0) null m3 0x0 0x00000000"
                                                  : "send.urb (8|M0) null r120 0x0 0x00000000");
    for (unsigned n = 0; n < 16; ++n) {
      in.send.descriptor = n << 25 | (2 * n + 1) << 20 | (n % 2) << 19 | n * 0x7777;
      in.send.function = static_cast<uint8_t>(n);
      in.send.end_of_thread = n % 3 == 0;
      const Bits128 w = word(gen, in);
      EXPECT_EQ(at(w, 3, 28, 25), n) << "message length";
      EXPECT_EQ(at(w, 3, 24, 20), 2 * n + 1) << "response length";
      EXPECT_EQ(at(w, 3, 19, 19), n % 2) << "header";
      EXPECT_EQ(at(w, 3, 18, 0), n * 0x7777) << "function control";
      EXPECT_EQ(at(w, 3, 31, 31), n % 3 == 0) << "end of thread";
      EXPECT_EQ(at(w, 0, 27, 24), n) << "function";
    }
    // The extended descriptor in the text holds end of thread in bit 5 and the function in bits 3:0.
    const Instruction text =
        line(gen, gen == GenId::gen6 ? "send (8|M0) null m3 0x26 0x02000000" : "send (8|M0) null r120 0x26 0x02000000");
    EXPECT_EQ(text.send.function, 6);
    EXPECT_TRUE(text.send.end_of_thread);
    EXPECT_EQ(text.send.extended, 0u);
    EXPECT_EQ(at(word(gen, text), 3, 31, 0), 0x82000000u);
  }
}

}  // namespace
}  // namespace halogen::eu
