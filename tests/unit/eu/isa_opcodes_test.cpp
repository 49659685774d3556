// Opcodes by generation, from the opcode lists of Mesa and IGA.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "eu/isa/tables.h"
#include "spec/device_model.h"

namespace halogen::eu {
namespace {

using spec::GenId;

struct Code {
  const char* name;
  unsigned before;  // on Gen4 to Gen11
  unsigned later;   // on Gen12
  GenId first, last;
};
constexpr GenId k4 = GenId::gen4;
constexpr GenId k45 = GenId::gen4_5;
constexpr GenId k5 = GenId::gen5;
constexpr GenId k6 = GenId::gen6;
constexpr GenId k7 = GenId::gen7;
constexpr GenId k75 = GenId::gen7_5;
constexpr GenId k8 = GenId::gen8;
constexpr GenId k9 = GenId::gen9;
constexpr GenId k11 = GenId::gen11;
constexpr GenId k12 = GenId::gen12;

constexpr Code kCodes[]{{"illegal", 0, 0, k4, k12},     {"mov", 0x01, 0x61, k4, k12},   {"sel", 0x02, 0x62, k4, k12},
                        {"not", 0x04, 0x64, k4, k12},   {"and", 0x05, 0x65, k4, k12},   {"or", 0x06, 0x66, k4, k12},
                        {"xor", 0x07, 0x67, k4, k12},   {"shr", 0x08, 0x68, k4, k12},   {"shl", 0x09, 0x69, k4, k12},
                        {"asr", 0x0c, 0x6c, k4, k12},   {"ror", 0x0e, 0x6e, k11, k12},  {"rol", 0x0f, 0x6f, k11, k12},
                        {"cmp", 0x10, 0x70, k4, k12},   {"cmpn", 0x11, 0x71, k4, k12},  {"csel", 0x12, 0x72, k8, k12},
                        {"bfrev", 0x17, 0x77, k7, k12}, {"bfe", 0x18, 0x78, k7, k12},   {"bfi1", 0x19, 0x79, k7, k12},
                        {"bfi2", 0x1a, 0x7a, k7, k12},  {"jmpi", 0x20, 0x20, k4, k12},  {"if", 0x22, 0x22, k4, k12},
                        {"iff", 0x23, 0, k4, k5},       {"else", 0x24, 0x24, k4, k12},  {"endif", 0x25, 0x25, k4, k12},
                        {"do", 0x26, 0, k4, k5},        {"while", 0x27, 0x27, k4, k12}, {"break", 0x28, 0x28, k4, k12},
                        {"cont", 0x29, 0x29, k4, k12},  {"halt", 0x2a, 0x2a, k4, k12},  {"calla", 0x2b, 0x2b, k75, k12},
                        {"call", 0x2c, 0x2c, k6, k12},  {"ret", 0x2d, 0x2d, k6, k12},   {"goto", 0x2e, 0x2e, k8, k12},
                        {"join", 0x2f, 0x2f, k8, k12},  {"wait", 0x30, 0, k4, k11},     {"send", 0x31, 0x31, k4, k12},
                        {"sendc", 0x32, 0x32, k6, k12}, {"sends", 0x33, 0, k9, k11},    {"sendsc", 0x34, 0, k9, k11},
                        {"math", 0x38, 0x38, k6, k12},  {"add", 0x40, 0x40, k4, k12},   {"mul", 0x41, 0x41, k4, k12},
                        {"avg", 0x42, 0x42, k4, k12},   {"frc", 0x43, 0x43, k4, k12},   {"rndu", 0x44, 0x44, k4, k12},
                        {"rndd", 0x45, 0x45, k4, k12},  {"rnde", 0x46, 0x46, k4, k12},  {"rndz", 0x47, 0x47, k4, k12},
                        {"mac", 0x48, 0x48, k4, k12},   {"mach", 0x49, 0x49, k4, k12},  {"lzd", 0x4a, 0x4a, k4, k12},
                        {"fbh", 0x4b, 0x4b, k7, k12},   {"fbl", 0x4c, 0x4c, k7, k12},   {"cbit", 0x4d, 0x4d, k7, k12},
                        {"addc", 0x4e, 0x4e, k7, k12},  {"subb", 0x4f, 0x4f, k7, k12},  {"sad2", 0x50, 0, k4, k9},
                        {"sada2", 0x51, 0, k4, k9},     {"dp4", 0x54, 0, k4, k9},       {"dph", 0x55, 0, k4, k9},
                        {"dp3", 0x56, 0, k4, k9},       {"dp2", 0x57, 0, k4, k9},       {"dp4a", 0, 0x58, k12, k12},
                        {"line", 0x59, 0, k4, k9},      {"pln", 0x5a, 0, k45, k9},      {"mad", 0x5b, 0x5b, k6, k12},
                        {"lrp", 0x5c, 0, k6, k9},       {"madm", 0x5d, 0, k8, k11},     {"sync", 0, 0x01, k12, k12},
                        {"f32to16", 0x13, 0, k7, k75},  {"f16to32", 0x14, 0, k7, k75},  {"nop", 0x7e, 0x60, k4, k12}};

TEST(IsaOpcodes, OpcodesAreThoseOfThePublicLists) {
  for (unsigned number = 0; number < spec::kGenCount; ++number) {
    const auto gen = static_cast<GenId>(number);
    for (const Code& code : kCodes) {
      const OpRow* const row = find_op(gen, std::string_view(code.name));
      const bool there = gen >= code.first && gen <= code.last;
      EXPECT_EQ(row != nullptr, there) << code.name << " on " << spec::name_of(gen);
      if (there && row != nullptr) {
        EXPECT_EQ(row->code, gen == k12 ? code.later : code.before) << code.name << " on " << spec::name_of(gen);
      }
    }
  }
}

}  // namespace
}  // namespace halogen::eu
