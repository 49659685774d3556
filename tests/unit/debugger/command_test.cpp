// The command language of the debugger, and the text form of registers.
#include "debugger/command.h"

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halogen::debugger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Command parsed(std::string_view line) {
  const Result<Command> command = parse_command(line);
  EXPECT_TRUE(command.ok()) << line << ": " << (command ? "" : command.message());
  return command ? *command : Command{};
}

TEST(Commands, EveryCommandParsesInAllForms) {
  EXPECT_EQ(parsed("").verb, Verb::none);
  EXPECT_EQ(parsed("  # a note").verb, Verb::none);
  EXPECT_EQ(parsed("step").count, std::nullopt);
  EXPECT_EQ(parsed(" s\t12 \r").count, 12u);
  EXPECT_EQ(parsed("continue").verb, Verb::go_on);
  EXPECT_EQ(parsed("break 0x40").address, 0x40u);
  EXPECT_EQ(parsed("b 64").address, 64u);
  EXPECT_EQ(parsed("delete 0x7654000000").verb, Verb::delete_at);
  EXPECT_EQ(parsed("watch 0xffff800000001000 8").address, 0x8000'0000'1000u) << "canonical form";
  EXPECT_EQ(parsed("watch 0x1000 8").count, 8u);
  EXPECT_EQ(parsed("regs r10").region->reg, 10);
  EXPECT_EQ(parsed("regs acc0 2").count, 2u);
  EXPECT_EQ(parsed("reg r1.2<4;4,1>:w 4").region->region.vertical, 4);
  EXPECT_EQ(parsed("arf").verb, Verb::arf);
  EXPECT_EQ(parsed("masks").verb, Verb::masks);
  EXPECT_EQ(parsed("list").address, std::nullopt);
  EXPECT_EQ(parsed("list 0x80 3").count, 3u);
  EXPECT_EQ(parsed("memory 0x1000 16").verb, Verb::memory);
  EXPECT_EQ(parsed("where").verb, Verb::where);
  EXPECT_EQ(parsed("q").verb, Verb::quit);
  EXPECT_EQ(parsed("help").verb, Verb::help);
}

TEST(Commands, ParseErrorsAreSentences) {
  for (const std::string_view line : {"jump",
                                      "step x",
                                      "step 0",
                                      "step -1",
                                      "step 1 2",
                                      "continue 1",
                                      "break",
                                      "break 0x100000000",
                                      "break 0x",
                                      "break 12z",
                                      "watch 0x1000",
                                      "watch 0x1000 4097",
                                      "watch 0x1000000000000 4",
                                      "memory 0 65537",
                                      "regs",
                                      "regs r0 129",
                                      "reg",
                                      "reg x1",
                                      "list 1 2 3",
                                      "list 0 1001",
                                      "step 99999999999999999999",
                                      "watch  r0 4"}) {
    const Result<Command> command = parse_command(line);
    ASSERT_FALSE(command.ok()) << line;
    EXPECT_TRUE(command.message().ends_with('.')) << command.message();
  }
  EXPECT_THAT(parse_command("break").message(), HasSubstr("break ADDR"));
}

TEST(Regions, ParsesInstructionNotation) {
  const Result<RegisterRegion> region = parse_region("r10.2<8;4,2>:f");
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(*region, (RegisterRegion{false, 10, 2, {.vertical = 8, .width = 4, .horizontal = 2}, eu::Type::f}));
  EXPECT_EQ(print_region(*region), "r10.2<8;4,2>:f");
  EXPECT_EQ(print_region(*parse_region("acc1")), "acc1.0<8;8,1>:ud");
  EXPECT_EQ(*parse_region("r1<0,1,0>:q"), *parse_region("r1.0<0;1,0>:q"));
  for (const std::string_view text :
       {"",        "r",    "r128",           "acc10",     "r1.",        "r1.8",      "r1.4:q",
        "r1.32:b", "r1<",  "r1<8;8>",        "r1<3;8,1>", "r1<8;32,1>", "r1<8;8,3>", "r1:v",
        "r1:",     "r1:x", "r1.0<8;8,1>:f ", "r1x",       "m1",         "r-1",       "r99999999999"}) {
    const Result<RegisterRegion> bad = parse_region(text);
    ASSERT_FALSE(bad.ok()) << text;
    EXPECT_TRUE(bad.message().ends_with('.')) << bad.message();
  }
}

class Registers : public ::testing::Test {
 protected:
  Registers() {
    for (uint32_t i = 0; i < eu::kGrfs * 8; ++i) std::memcpy(thread_.grf.data() + i * 4, &i, 4);
  }
  std::vector<uint64_t> read(std::string_view text, unsigned count) {
    const auto values = read_region(thread_, *parse_region(text), count);
    EXPECT_TRUE(values.ok());
    return values ? *values : std::vector<uint64_t>{};
  }
  eu::Thread thread_;  // each dword of the registers holds its number
};

TEST_F(Registers, RegistersAreReadByRegion) {
  EXPECT_THAT(read("r1.2<8;8,1>:ud", 8), ElementsAre(10, 11, 12, 13, 14, 15, 16, 17));
  EXPECT_THAT(read("r2<0;1,0>:ud", 3), ElementsAre(16, 16, 16));
  EXPECT_THAT(read("r0.1<8;2,2>:ud", 6), ElementsAre(1, 3, 9, 11, 17, 19));
  EXPECT_THAT(read("r0<2;1,0>:uw", 4), ElementsAre(0, 1, 2, 3)) << "every other word";
  EXPECT_THAT(read("r0.4<4;4,1>:ub", 5), ElementsAre(1, 0, 0, 0, 2));
  EXPECT_THAT(read("r127.7<8;8,1>:ud", 1), ElementsAre(1023));
  EXPECT_THAT(read("r0.1:uq", 1), ElementsAre(0x3'0000'0002));
  thread_.accumulator[32] = std::byte{9};
  EXPECT_THAT(read("acc1:ud", 1), ElementsAre(9));
  EXPECT_FALSE(read_region(thread_, *parse_region("r127.7:ud"), 2).ok());
}

TEST_F(Registers, ElementsAreFormattedByType) {
  EXPECT_EQ(value_text(eu::Type::ud, 0xff), "0xff");
  EXPECT_EQ(value_json(eu::Type::ud, 0xff), "255");
  EXPECT_EQ(value_text(eu::Type::b, 0xff), "-1");
  EXPECT_EQ(value_json(eu::Type::w, 0x8000), "-32768");
  EXPECT_EQ(value_json(eu::Type::q, ~uint64_t{0}), "-1");
  EXPECT_EQ(value_text(eu::Type::f, std::bit_cast<uint32_t>(0.1f)), "0.1");
  EXPECT_EQ(value_text(eu::Type::df, std::bit_cast<uint64_t>(-0.1)), "-0.1");
  EXPECT_EQ(value_text(eu::Type::hf, 0x3e00), "1.5");
  EXPECT_EQ(value_json(eu::Type::f, 0x7f80'0000), "\"inf\"");
  EXPECT_EQ(value_json(eu::Type::hf, 0xfc00), "\"-inf\"");
  EXPECT_THAT(value_json(eu::Type::f, 0x7fc0'0000), HasSubstr("nan\""));
}

}  // namespace
}  // namespace halogen::debugger
