// Registers that threads start with, as the decoder prints them. Expected positions are those of the manuals' payload
// tables.
#include "decode/thread_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "decode/output.h"
#include "row_items.h"

namespace halogen::decode {
namespace {

using spec::ThreadKind;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ThreadKinds, EveryRowNamesExistingFields) {
  for (const ThreadRow& row : thread_rows()) {
    const spec::ItemDesc* owner = find_item(row.owner);
    ASSERT_NE(owner, nullptr) << row.owner;
    for (std::string_view rest = row.only_if; !rest.empty();) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      EXPECT_TRUE(has_field(*owner, rest.substr(0, bar))) << row.owner << " " << rest;
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    if (!row.mode.empty()) {
      EXPECT_TRUE(has_field(*owner, row.mode)) << row.owner << " " << row.mode;
    }
  }
}

// Sets one bit of a command. Positions are those of Mesa's genxml.
std::vector<uint32_t> with(std::vector<uint32_t> dwords, size_t dword, uint32_t bits) {
  dwords[dword] |= bits;
  return dwords;
}

std::optional<ThreadKind> kind_of(std::string_view item, std::string_view device, const std::vector<uint32_t>& dwords) {
  return thread_kind(*find_item(item), spec::find_device(device)->gen, dwords);
}

TEST(ThreadKinds, DispatchModesChooseThePayload) {
  const std::vector<uint32_t> vs(9, 0);
  EXPECT_EQ(kind_of("3DSTATE_VS", "skl", vs), std::nullopt) << "not enabled";
  EXPECT_EQ(kind_of("3DSTATE_VS", "skl", with(vs, 7, 1)), ThreadKind::vertex_pair);
  EXPECT_EQ(kind_of("3DSTATE_VS", "skl", with(vs, 7, 1 | 1u << 2)), ThreadKind::vertex_simd8);
  const std::vector<uint32_t> gs = with(std::vector<uint32_t>(10, 0), 7, 1);
  EXPECT_EQ(kind_of("3DSTATE_GS", "skl", with(gs, 7, 3u << 11)), ThreadKind::geometry_simd8);
  EXPECT_EQ(kind_of("3DSTATE_GS", "skl", with(gs, 7, 1u << 11)), std::nullopt) << "no description";
  const std::vector<uint32_t> hs = with(std::vector<uint32_t>(9, 0), 2, 1u << 31);
  EXPECT_EQ(kind_of("3DSTATE_HS", "icl", with(hs, 7, 2u << 17)), ThreadKind::hull_eight);
  EXPECT_EQ(kind_of("3DSTATE_HS", "icl", hs), ThreadKind::hull_single);
  EXPECT_EQ(kind_of("3DSTATE_HS", "bdw", hs), ThreadKind::hull_single);
  EXPECT_EQ(kind_of("3DSTATE_WM", "snb", with(std::vector<uint32_t>(9, 0), 5, 1u << 1)), ThreadKind::pixel);
  EXPECT_EQ(kind_of("3DSTATE_WM", "skl", {0x7814'0000, ~0u}), std::nullopt) << "3DSTATE_PS starts the threads";
}

// A pixel shader of 16 pixels, a dispatch, the end.
std::vector<uint32_t> batch() {
  std::vector<uint32_t> dwords(12 + 15 + 1, 0);
  dwords[0] = 0x7820'000a;  // 3DSTATE_PS
  dwords[6] = 1u << 1;
  dwords[12] = 0x7105'000d;  // GPGPU_WALKER
  dwords.back() = 0x0500'0000;
  return dwords;
}

template <class Make>
std::string print(const Make& make, OutputStyle style) {
  const spec::DeviceModel& device = *spec::find_device("skl");
  const RegisterNames registers(device);
  const std::vector<uint32_t> dwords = batch();  // must outlive the image
  FlatImage memory;
  memory.add(GpuVa{0x1000}, dwords.size() * sizeof(uint32_t), dwords);
  std::string text;
  const auto sink = [&](std::string_view part) {
    text += part;
    return true;
  };
  {
    const auto output = make(sink, style, &registers);  // writes its output on destruction
    Decoder decoder(device, spec::EngineClass::render, memory, output.get());
    decoder.walk({.space = engine::StreamSpace::ppgtt, .address = GpuVa{0x1000}}, false);
  }
  return text;
}

TEST(Payloads, TextHasTheRegistersOfEachDispatch) {
  const auto printed = [](OutputStyle style) {
    return print(
        [](const TextSink& sink, OutputStyle s, const RegisterNames* r) { return make_text_output(sink, s, r); },
        style);
  };
  const std::string text = printed({.payloads = true});
  EXPECT_THAT(text, HasSubstr("      payload of pixel threads\n"
                              "          r0.0 PIXEL_PRIMITIVE\n"
                              "              r0.0[5:0] topology\n"
                              "              r0.0[15] back_facing\n"
                              "              r0.0[26:16] layer\n"
                              "              r0.0[30:27] viewport\n"
                              "          r0.3 THREAD_STATE\n"
                              "              r0.3[3:0] scratch_size\n"));
  EXPECT_THAT(text, HasSubstr("              r1.3[31:16] squares[1].y\n"));
  EXPECT_THAT(text, HasSubstr("      payload of compute threads\n"
                              "          r0.1 COMPUTE_GROUP_X\n"));
  EXPECT_THAT(printed({}), Not(HasSubstr("payload of")));
}

TEST(Payloads, JsonHasTheRegistersOfEachField) {
  const std::string text =
      print([](const TextSink& sink, OutputStyle s, const RegisterNames* r) { return make_json_output(sink, s, r); },
            {.payloads = true});
  const auto first = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(first["name"], "3DSTATE_PS");
  EXPECT_EQ(first["threads"], "pixel");
  EXPECT_EQ(first["payload"][0]["item"], "PIXEL_PRIMITIVE");
  EXPECT_EQ(first["payload"][0]["fields"]["back_facing"], "r0.0[15]");
  EXPECT_EQ(first["payload"][2]["at"], "r1.0");
  EXPECT_EQ(first["payload"][2]["fields"]["mask"], "r1.7[15:0]");
}

}  // namespace
}  // namespace halogen::decode
