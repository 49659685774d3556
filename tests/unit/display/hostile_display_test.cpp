// The fuzz target of the display with built-in inputs: random operations, mostly register writes.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/display_target.h"

namespace halogen::display {
namespace {

TEST(HostileDisplay, RandomOperationsDoNotCrash) {
  std::mt19937 random(5);
  for (unsigned round = 0; round < 55; ++round) {
    std::vector<uint8_t> input{static_cast<uint8_t>(round)};
    for (unsigned operation = 0; operation < 400; ++operation) {
      const uint64_t bits = uint64_t{random()} << 32 | random();
      for (unsigned byte = 0; byte < 8; ++byte) {
        input.push_back(static_cast<uint8_t>(bits >> 8 * byte));
      }
      // Few frames, and short times.
      uint8_t& kind = input[input.size() - 8];
      kind = static_cast<uint8_t>(operation % 20 == 19 ? 15 : kind % 15);
    }
    fuzz::display(input);
  }
}

// The largest size that the registers can express, with the largest pixel format, is clipped and not refused.
TEST(HostileDisplay, FrameSizeIsLimited) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    fuzz::MemoryHost host;
    auto created = device::Device::create(model, host, {});
    ASSERT_TRUE(created.ok());
    device::Device& chip = **created;
    mmio::RegisterBank& bank = chip.mmio().bank();
    const auto set = [&](std::string_view name, uint32_t value) {
      ASSERT_NE(bank.map().find(name), nullptr) << name;
      bank.write(*bank.map().find(name), value);
    };
    for (const char* name : {"HTOTAL", "HBLANK"}) set(name, 0x00ff'003f);
    for (const char* name : {"VTOTAL", "VBLANK"}) set(name, 0x00ff'003f);
    set("HSYNC", 0x0060'0050);
    set("VSYNC", 0x0060'0050);
    set("PIPESRC", 0xffff'ffff);
    set("PIPECONF", 0x8000'0000);
    ASSERT_TRUE(chip.display().pipe_running(0)) << model.name;
    const Extent size = chip.display().source_size(0);
    const uint64_t asked = uint64_t{size.width} * size.height;
    ASSERT_GE(asked, uint64_t{4096} * 4096) << model.name;
    const auto image = chip.take_frame(0);
    ASSERT_TRUE(image.has_value());
    EXPECT_EQ(image->width, size.width);
    EXPECT_EQ(image->height, std::min<uint64_t>(size.height, uint64_t{7680} * 4320 / size.width)) << model.name;
  }
}

}  // namespace
}  // namespace halogen::display
