// Layouts of 965 to GM45: flips, overlay, scan line windows, event waits. G45 PRM vol. 1b 1.6, 1.9, 1.12, 1.21 (seed
// 003).
#include <gtest/gtest.h>

#include <string>

#include "covers.h"
#include "hw/mi_display.h"
#include "spec/field_visitor.h"
#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

constexpr auto kRender = EngineClass::render;

TEST(Gen4MiDisplay, DisplayFlipMatchesTheManual) {
  COVERS("G45-1.6-01");
  using Command = hw::MI_DISPLAY_FLIP;
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x14, 1)).name, "MI_DISPLAY_FLIP");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const Dwords legal = {mi(0x14, 2), 0, 0, 0};
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 0), ones(19, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 1), ones(31, 30) | ones(28, 15) | ones(2, 0));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 2), ones(11, 1));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, legal, 3), ones(29, 28) | ones(15, 12));

    const Dwords dwords = {mi(0x14, 1u << 22 | 1u << 20 | 2), 1u << 29 | 0x155u << 3, 0xabcde000u | 1,
                           1u << 31 | 1u << 30 | 1023u << 16 | 767u};
    const Command c = Command::unpack(gen, dwords);
    EXPECT_TRUE(c.asynchronous_flip);
    EXPECT_EQ(c.display_plane_select, hw::FlipPlane::DISPLAY_PLANE_B);
    EXPECT_EQ(c.flip_queue_select, Command::FlipQueueSelect::enqueue_flip);
    EXPECT_EQ(c.display_buffer_pitch, 0x155);
    EXPECT_EQ(c.display_buffer_base_address.value, 0xabcde000u);
    EXPECT_EQ(c.tile_parameter, 1);
    EXPECT_TRUE(c.panel_fitter_enable);
    EXPECT_EQ(c.panel_fitter_select, Command::PanelFitterSelect::select_3x3);
    EXPECT_EQ(c.pipe_horizontal_source_image_size, 1023);
    EXPECT_EQ(c.pipe_vertical_source_image_size, 767);
  }
}

TEST(Gen4MiDisplay, DisplayFlipHasThreeOrFourDwords) {
  COVERS("G45-1.6-02");
  EXPECT_EQ(frame(DeviceId::gm965, kRender, mi(0x14, 1)), (Frame{"MI_DISPLAY_FLIP", 3}));
  EXPECT_EQ(frame(DeviceId::gm965, kRender, mi(0x14, 2)), (Frame{"MI_DISPLAY_FLIP", 4}));
  const spec::LengthRule& rule = hw::MI_DISPLAY_FLIP::kDesc.length_of_gen[static_cast<size_t>(GenId::gen4)];
  EXPECT_EQ(rule.min, 3);
  EXPECT_EQ(rule.max, 4);
  const Dwords dwords = {mi(0x14, 1), 0, 0, 0x80000000u};  // the dword after a short flip is not part of it
  EXPECT_FALSE(hw::MI_DISPLAY_FLIP::unpack(GenId::gen4, std::span(dwords).first(3)).panel_fitter_enable);
  EXPECT_TRUE(hw::MI_DISPLAY_FLIP::unpack(GenId::gen4, dwords).panel_fitter_enable);
}

TEST(Gen4MiDisplay, Bit22IsTheAsynchronousFlip) {
  COVERS("G45-1.6-03");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_TRUE(hw::MI_DISPLAY_FLIP::unpack(gen, Dwords{mi(0x14, 1u << 22 | 1), 0, 0}).asynchronous_flip);
    EXPECT_FALSE(hw::MI_DISPLAY_FLIP::unpack(gen, Dwords{mi(0x14, 1), 0, 0}).asynchronous_flip);
  }
}

TEST(Gen4MiDisplay, FlipPlanesMatchTheManual) {
  COVERS("G45-1.6-04");
  const auto plane = [](GenId gen, uint64_t value) {
    return value_name(hw::MI_DISPLAY_FLIP::kDesc, gen, "display_plane_select", value);
  };
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_EQ(plane(gen, 0), "DISPLAY_PLANE_A");
    EXPECT_EQ(plane(gen, 1), "DISPLAY_PLANE_B");
  }
  EXPECT_EQ(plane(GenId::gen4, 2), "DISPLAY_PLANE_C");
  EXPECT_EQ(plane(GenId::gen4, 3), "");
  EXPECT_EQ(plane(GenId::gen4_5, 2), "DISPLAY_SPRITE_A");
  EXPECT_EQ(plane(GenId::gen4_5, 3), "DISPLAY_SPRITE_B");
}

TEST(Gen4MiDisplay, LoadScanLinesExclMatchesTheManual) {
  COVERS("G45-1.9-01");
  using Command = hw::MI_LOAD_SCAN_LINES_EXCL;
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x13)), (Frame{"MI_LOAD_SCAN_LINES_EXCL", 2}));
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x13), 0}, 0), ones(22, 22) | ones(19, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x13), 0}, 1), 0u);
    const Command c = Command::unpack(gen, Dwords{mi(0x13, 1u << 20), 0x0100u << 16 | 0x02ffu});
    EXPECT_EQ(c.display_pipe_select, hw::ScanLineDisplay::DISPLAY_PIPE_B);
    EXPECT_EQ(c.start_scan_line_number, 0x100);
    EXPECT_EQ(c.end_scan_line_number, 0x2ff);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x13), 0}).display_pipe_select, hw::ScanLineDisplay::DISPLAY_PIPE_A);
  }
}

TEST(Gen4MiDisplay, EndScanLineIsInTheLowHalf) {
  COVERS("G45-1.9-05");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    const Dwords excl = {mi(0x13), 0x0000ffffu};
    EXPECT_EQ(hw::MI_LOAD_SCAN_LINES_EXCL::unpack(gen, excl).end_scan_line_number, 0xffff);
    EXPECT_EQ(hw::MI_LOAD_SCAN_LINES_EXCL::unpack(gen, excl).start_scan_line_number, 0);
    const Dwords incl = {mi(0x12), 0x0000ffffu};
    EXPECT_EQ(hw::MI_LOAD_SCAN_LINES_INCL::unpack(gen, incl).end_scan_line_number, 0xffff);
    EXPECT_EQ(hw::MI_LOAD_SCAN_LINES_INCL::unpack(gen, incl).start_scan_line_number, 0);
  }
}

TEST(Gen4MiDisplay, OverlayFlipMatchesTheManual) {
  COVERS("G45-1.12-01");
  using Command = hw::MI_OVERLAY_FLIP;
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    const GenId gen = spec::model(device).gen;
    EXPECT_EQ(frame(device, kRender, 0x11u << 23), (Frame{"MI_OVERLAY_FLIP", 2}));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x11), 0}, 0), ones(20, 6));
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x11), 0}, 1), ones(11, 1));
    Command c = Command::unpack(gen, Dwords{mi(0x11, 1u << 21), 0xfffff000u});
    EXPECT_EQ(c.mode_flags, Command::ModeFlags::flip_on);
    EXPECT_EQ(c.register_and_coefficient_update_address.value, 0xfffff000u);
    EXPECT_FALSE(c.overlay_filter_coefficient_register_update);
    c = Command::unpack(gen, Dwords{mi(0x11, 2u << 21), 1});
    EXPECT_EQ(c.mode_flags, Command::ModeFlags::flip_off);
    EXPECT_TRUE(c.overlay_filter_coefficient_register_update);
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x11), 0}).mode_flags, Command::ModeFlags::flip_continue);
  }
}

TEST(Gen4MiDisplay, WaitForEventMatchesTheManual) {
  COVERS("G45-1.21-01");
  using Command = hw::MI_WAIT_FOR_EVENT;
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x03)), (Frame{"MI_WAIT_FOR_EVENT_965G", 1}));
  for (const DeviceId device : {DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    EXPECT_EQ(frame(device, kRender, mi(0x03)), (Frame{"MI_WAIT_FOR_EVENT", 1}));
  }
  struct Bit {
    unsigned bit;
    bool Command::*member;
  };
  const auto check = [](GenId gen, const Bit& b) {
    Command expected{};
    expected.*b.member = true;
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x03, 1u << b.bit)}), expected) << "bit " << b.bit;
  };
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    EXPECT_EQ(must_be_zero(Command::kDesc, gen, {mi(0x03)}, 0), ones(22, 19) | ones(15, 15) | ones(0, 0));
    check(gen, {18, &Command::display_pipe_b_start_of_v_blank_wait_enable});
    check(gen, {17, &Command::display_pipe_a_start_of_v_blank_wait_enable});
    check(gen, {14, &Command::display_pipe_b_horizontal_blank_wait_enable});
    check(gen, {13, &Command::display_pipe_a_horizontal_blank_wait_enable});
    check(gen, {7, &Command::display_pipe_b_vertical_blank_wait_enable});
    check(gen, {6, &Command::display_plane_b_flip_pending_wait_enable});
    check(gen, {5, &Command::display_pipe_b_scan_line_wait_enable});
    check(gen, {4, &Command::frame_buffer_compression_idle_wait_enable});
    check(gen, {3, &Command::display_pipe_a_vertical_blank_wait_enable});
    check(gen, {2, &Command::display_plane_a_flip_pending_wait_enable});
    check(gen, {1, &Command::display_pipe_a_scan_line_wait_enable});
    Command expected{};
    expected.condition_code_wait_select = 5;
    EXPECT_EQ(Command::unpack(gen, Dwords{mi(0x03, 5u << 9)}), expected);
  }
  check(GenId::gen4, {16, &Command::overlay_flip_pending_wait_enable});
  check(GenId::gen4, {8, &Command::display_plane_c_flip_pending_wait_enable});
  check(GenId::gen4_5, {16, &Command::display_sprite_b_flip_pending_wait_enable});
  check(GenId::gen4_5, {8, &Command::display_sprite_a_flip_pending_wait_enable});
}

TEST(Gen4MiDisplay, WaitForEventOn965GMatchesTheManual) {
  COVERS("G45-1.21-05");
  using Command = hw::MI_WAIT_FOR_EVENT_965G;
  using Other = hw::MI_WAIT_FOR_EVENT;
  EXPECT_EQ(Command::kDesc.manual_name, "MI_WAIT_FOR_EVENT");
  EXPECT_EQ(frame(DeviceId::i965, kRender, mi(0x03, 3u << 17)).name, "MI_WAIT_FOR_EVENT_965G");
  EXPECT_EQ(must_be_zero(Command::kDesc, GenId::gen4, {mi(0x03)}, 0), ones(22, 17) | ones(15, 15) | ones(0, 0));
  // All other bits have the same meaning as on GM965.
  for (unsigned bit = 0; bit < 17; ++bit) {
    const Dwords dwords = {mi(0x03, 1u << bit)};
    EXPECT_EQ(spec::format_fields(Command::kDesc, GenId::gen4, dwords, "").find("= true") != std::string::npos,
              spec::format_fields(Other::kDesc, GenId::gen4, dwords, "").find("= true") != std::string::npos)
        << bit;
  }
  const Command c = Command::unpack(GenId::gen4, Dwords{mi(0x03, 1u << 16 | 5u << 9 | 1u << 8 | 1u << 1)});
  EXPECT_TRUE(c.overlay_flip_pending_wait_enable);
  EXPECT_EQ(c.condition_code_wait_select, 5);
  EXPECT_TRUE(c.display_plane_c_flip_pending_wait_enable);
  EXPECT_TRUE(c.display_pipe_a_scan_line_wait_enable);
}

TEST(Gen4MiDisplay, WaitForEventMatchesTheBlitterChapter) {
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    EXPECT_EQ(frame(device, EngineClass::blit, mi(0x03)), (Frame{"MI_WAIT_FOR_EVENT_BLT", 1}));
    EXPECT_EQ(must_be_zero(hw::MI_WAIT_FOR_EVENT_BLT::kDesc, spec::model(device).gen, {mi(0x03)}, 0), ones(22, 0));
  }
  EXPECT_EQ(hw::MI_WAIT_FOR_EVENT_BLT::kDesc.manual_name, "MI_WAIT_FOR_EVENT");
}

}  // namespace
}  // namespace halogen::spec_mi
