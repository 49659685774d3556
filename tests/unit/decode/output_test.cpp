#include "decode/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "decode/decoder.h"
#include "decode/register_names.h"

namespace halogen::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The batch holds a register load with a reserved bit set, an unknown command and its end.
constexpr std::array<uint32_t, 6> kBatch{0x1100'0001, 0x2030, 0x18, 0x5fc0'0000, 0, 0x0500'0000};

template <class Make>
std::string print(const Make& make) {
  const spec::DeviceModel& device = *spec::find_device("bdw");
  const RegisterNames registers(device);
  FlatImage memory;
  memory.add(GpuVa{0x1000}, sizeof kBatch, kBatch);
  std::string text;
  {
    const auto output = make(
        [&](std::string_view part) {
          text += part;
          return true;
        },
        &registers);
    output->heading("a \"heading\"");
    output->record({12, 3, "comment", "text"});
    Decoder decoder(device, spec::EngineClass::render, memory, output.get());
    decoder.walk({.space = engine::StreamSpace::ppgtt, .address = GpuVa{0x1000}}, false);
  }
  return text;
}

TEST(TextOutput, NamesCommandsFieldsAndRegisters) {
  const std::string text =
      print([](TextSink sink, const RegisterNames* names) { return make_text_output(std::move(sink), {}, names); });
  EXPECT_THAT(text, HasSubstr("0x0000000000001000  MI_LOAD_REGISTER_IMM  3 dwords, 0x11000001\n"));
  EXPECT_THAT(text, HasSubstr("0x2030 RING"));
  EXPECT_THAT(text, HasSubstr("UNKNOWN COMMAND  2 dwords, 0x5fc00000\n"));
  EXPECT_THAT(text, HasSubstr("[3 at 0xc] comment: text\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(TextOutput, ColoursAreWrittenOnlyOnRequest) {
  const std::string text = print([](TextSink sink, const RegisterNames* names) {
    return make_text_output(std::move(sink), {.color = true}, names);
  });
  EXPECT_THAT(text, HasSubstr("\x1b[1;32mMI_LOAD_REGISTER_IMM\x1b[0m"));
}

TEST(JsonOutput, EveryLineIsAnObject) {
  const std::string text =
      print([](TextSink sink, const RegisterNames* names) { return make_json_output(std::move(sink), {}, names); });
  std::istringstream lines(text);
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(objects.size(), 5u);
  EXPECT_EQ(objects[0]["text"], "a \"heading\"");
  EXPECT_EQ(objects[1]["kind"], "record");
  EXPECT_EQ(objects[2]["name"], "MI_LOAD_REGISTER_IMM");
  EXPECT_EQ(objects[2]["address"], "0x1000");
  EXPECT_EQ(objects[2]["level"], 1);
  EXPECT_EQ(objects[2]["dwords"], (std::vector<uint32_t>{0x1100'0001, 0x2030, 0x18}));
  EXPECT_FALSE(objects[2]["fields"].empty());
  EXPECT_FALSE(objects[2]["registers"].empty());
  EXPECT_EQ(objects[3]["kind"], "unknown_command");
  EXPECT_EQ(objects[4]["name"], "MI_BATCH_BUFFER_END");
}

TEST(Output, ClosedReaderStopsOutput) {
  int calls = 0;
  const auto output = make_text_output(
      [&](std::string_view) {
        ++calls;
        return false;
      },
      {}, nullptr);
  const std::string long_text(100'000, 'x');
  output->heading(long_text);
  EXPECT_FALSE(output->open());
  output->heading(long_text);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace halogen::decode
