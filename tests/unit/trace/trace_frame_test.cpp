// Frames of the display at vertical blanks during a trace and after its end.
#include "trace/trace_frame.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "trace/aub_writer.h"
#include "trace/byte_source.h"

namespace halogen::trace {
namespace {

constexpr uint32_t kRed = 0xc01020;
constexpr uint32_t kGreen = 0x20d030;
constexpr uint32_t kBlue = 0x3040e0;
constexpr uint32_t kFrame = 16'666'667;
constexpr uint64_t kSettle = 1000;  // virtual time of a register write
constexpr uint32_t kWidth = 32;
constexpr uint32_t kHeight = 16;

// Three surfaces of one colour each; every frame shows the next one.
std::vector<std::byte> recorded() {
  MemorySink sink;
  aub::Writer writer(sink);
  auto created = Simulator::create(*spec::find_device("skl"), {.settle_limit = kSettle});
  EXPECT_TRUE(created.ok());
  Simulator& simulator = **created;
  simulator.record_to(&writer);
  const auto set = [&](uint32_t offset, uint32_t value) {
    EXPECT_TRUE(simulator.write_register(aub::RegisterSpace::mmio, offset, 4, value));
  };
  uint64_t page = 0;
  for (const uint32_t color : {kRed, kGreen, kBlue}) {
    const uint64_t entry = (0x10'0000 + page * 4096) | 1;
    EXPECT_TRUE(simulator.write_memory(aub::MemorySpace::ggtt_entry, page * 8, std::as_bytes(std::span(&entry, 1))));
    const std::vector<uint32_t> pixels(1024, color);
    EXPECT_TRUE(
        simulator.write_memory(aub::MemorySpace::system, 0x10'0000 + page * 4096, std::as_bytes(std::span(pixels))));
    ++page;
  }
  set(0x60000, 63u << 16 | (kWidth - 1));
  set(0x60004, 63u << 16 | (kWidth - 1));
  set(0x60008, 50u << 16 | 40);
  set(0x6000c, 31u << 16 | (kHeight - 1));
  set(0x60010, 31u << 16 | (kHeight - 1));
  set(0x60014, 24u << 16 | 20);
  set(0x6001c, (kWidth - 1) << 16 | (kHeight - 1));
  set(0x70008, 0x8000'0000);
  set(0x70188, kWidth * 4 / 64);
  set(0x70190, (kHeight - 1) << 16 | (kWidth - 1));
  set(0x70180, 0x8400'0000);
  for (uint32_t surface = 0; surface < 3; ++surface) {
    set(0x7019c, surface * 4096);
    simulator.advance(kFrame);
  }
  EXPECT_TRUE(writer.finish().ok());
  return {sink.bytes().begin(), sink.bytes().end()};
}

Result<picture::Image> frame(const std::vector<std::byte>& trace, const FrameWish& wish) {
  const auto source = open_memory(trace);
  aub::Reader reader(*source, "t.aub");
  Player player(spec::find_device("skl"));
  player.set_settle_limit(kSettle);
  return frame_of_trace(reader, player, wish);
}

TEST(TraceFrame, FrameIsTheOutputAtTheVerticalBlank) {
  const std::vector<std::byte> trace = recorded();
  const std::pair<std::optional<uint64_t>, uint32_t> rows[] = {
      {1, kRed}, {2, kGreen}, {3, kBlue}, {40, kBlue}, {std::nullopt, kBlue}};
  for (const auto& [vblank, color] : rows) {
    const auto image = frame(trace, {.pipe = 0, .vblank = vblank});
    ASSERT_TRUE(image.ok()) << image.message();
    const picture::Rgba wanted{static_cast<uint8_t>(color >> 16), static_cast<uint8_t>(color >> 8),
                               static_cast<uint8_t>(color), 255};
    EXPECT_EQ(*image, picture::Image(kWidth, kHeight, wanted)) << vblank.value_or(0);
  }
}

TEST(TraceFrame, MissingFrameIsExplained) {
  const std::vector<std::byte> trace = recorded();
  for (const FrameWish& wish : {FrameWish{.pipe = 1}, FrameWish{.pipe = 1, .vblank = 3}, FrameWish{.pipe = 9},
                                FrameWish{.pipe = 0, .vblank = 0}, FrameWish{.pipe = 0, .vblank = ~uint64_t{0}}}) {
    const auto image = frame(trace, wish);
    ASSERT_FALSE(image.ok());
    EXPECT_FALSE(std::string(image.message()).empty());
  }
}

}  // namespace
}  // namespace halogen::trace
