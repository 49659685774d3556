// Headers that public drivers send, with the lengths that the drivers give them (Linux i915 intel_gpu_commands.h and
// its ring emitters, Mesa genxml lengths, Intel compute runtime). Framing must agree on every generation.
#include <gtest/gtest.h>

#include <array>

#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

struct Sent {
  DeviceId device;
  EngineClass engine;
  uint32_t header;
  const char* name;
  uint32_t dwords;
};

constexpr auto kRender = EngineClass::render;
constexpr auto kBlit = EngineClass::blit;
constexpr auto kVideo = EngineClass::video;

constexpr std::array kSent = {
    // batch starts: two dwords, three from gen8 on
    Sent{DeviceId::i965, kRender, 0x18800080, "MI_BATCH_BUFFER_START", 2},
    Sent{DeviceId::g45, kVideo, 0x18800180, "MI_BATCH_BUFFER_START_VCE", 2},
    Sent{DeviceId::snb, kBlit, 0x18800100, "MI_BATCH_BUFFER_START", 2},
    Sent{DeviceId::bdw, kRender, 0x18800101, "MI_BATCH_BUFFER_START", 3},
    Sent{DeviceId::dg1, kBlit, 0x18800101, "MI_BATCH_BUFFER_START", 3},
    // register loads with many pairs
    Sent{DeviceId::i965, kRender, 0x11000003, "MI_LOAD_REGISTER_IMM", 5},
    Sent{DeviceId::snb, kRender, 0x1100001f, "MI_LOAD_REGISTER_IMM", 33},
    Sent{DeviceId::bdw, kRender, 0x1100101b, "MI_LOAD_REGISTER_IMM", 29},
    Sent{DeviceId::dg1, kRender, 0x11081019, "MI_LOAD_REGISTER_IMM", 27},
    // stores: address in dword 2 before gen8; page tables are filled with one long store later
    Sent{DeviceId::g45, kRender, 0x10400002, "MI_STORE_DATA_IMM", 4},
    Sent{DeviceId::bdw, kRender, 0x10400002, "MI_STORE_DATA_IMM", 4},
    Sent{DeviceId::dg1, kBlit, 0x102003fe, "MI_STORE_DATA_IMM", 0x400},
    Sent{DeviceId::i965, kRender, 0x10800001, "MI_STORE_DATA_INDEX", 3},
    Sent{DeviceId::snb, kRender, 0x12400001, "MI_STORE_REGISTER_MEM", 3},
    Sent{DeviceId::skl, kRender, 0x12400002, "MI_STORE_REGISTER_MEM", 4},
    // flushes of the other engines: short and long data
    Sent{DeviceId::snb, kVideo, 0x13004001, "MI_FLUSH_DW", 3},
    Sent{DeviceId::snb, kBlit, 0x13244001, "MI_FLUSH_DW", 3},
    Sent{DeviceId::bdw, kBlit, 0x13004002, "MI_FLUSH_DW", 4},
    Sent{DeviceId::dg1, kVideo, 0x13004003, "MI_FLUSH_DW", 5},
    // semaphores
    Sent{DeviceId::snb, kRender, 0x0b160001, "MI_SEMAPHORE_MBOX", 3},
    Sent{DeviceId::icl, kRender, 0x0e408002, "MI_SEMAPHORE_WAIT", 4},
    Sent{DeviceId::tgl, kRender, 0x0e408003, "MI_SEMAPHORE_WAIT", 5},
    // atomics with and without inline operands
    Sent{DeviceId::icl, kRender, 0x17800401, "MI_ATOMIC", 3},
    Sent{DeviceId::icl, kRender, 0x17840405, "MI_ATOMIC", 7},
    Sent{DeviceId::dg1, kRender, 0x17840409, "MI_ATOMIC", 11},
    Sent{DeviceId::dg1, kRender, 0x02800101, "MI_ARB_CHECK", 1},
    Sent{DeviceId::dg1, kBlit, 0x118003fe, "MI_UPDATE_GTT", 0x400},
    // common render commands
    Sent{DeviceId::i965, kRender, 0x7a000002, "PIPE_CONTROL", 4},
    Sent{DeviceId::snb, kRender, 0x7a000002, "PIPE_CONTROL", 4},
    Sent{DeviceId::snb, kRender, 0x7a000003, "PIPE_CONTROL", 5},
    Sent{DeviceId::bdw, kRender, 0x7a000004, "PIPE_CONTROL", 6},
    Sent{DeviceId::dg1, kRender, 0x7a000204, "PIPE_CONTROL", 6},
    Sent{DeviceId::g45, kRender, 0x61010004, "STATE_BASE_ADDRESS", 6},
    Sent{DeviceId::snb, kRender, 0x61010008, "STATE_BASE_ADDRESS", 10},
    Sent{DeviceId::bdw, kRender, 0x6101000e, "STATE_BASE_ADDRESS", 16},
    Sent{DeviceId::skl, kRender, 0x61010011, "STATE_BASE_ADDRESS", 19},
    Sent{DeviceId::icl, kRender, 0x61010014, "STATE_BASE_ADDRESS", 22},
    Sent{DeviceId::i965, kRender, 0x61020000, "STATE_SIP", 2},
    Sent{DeviceId::bdw, kRender, 0x61020001, "STATE_SIP", 3},
    Sent{DeviceId::dg1, kRender, 0x61050000, "STATE_COMPUTE_MODE", 2},
    Sent{DeviceId::i965, kRender, 0x60003f01, "URB_FENCE", 3},
    Sent{DeviceId::i965, kRender, 0x60010000, "CS_URB_STATE", 2},
    Sent{DeviceId::g45, kRender, 0x60020100, "CONSTANT_BUFFER", 2},
};

TEST(DriverHeaders, LengthsAgreeWithPublicDrivers) {
  for (const Sent& sent : kSent) {
    EXPECT_EQ(frame(sent.device, sent.engine, sent.header), (Frame{sent.name, sent.dwords}))
        << spec::model(sent.device).name << std::hex << " 0x" << sent.header;
    const spec::CommandTable& table = spec::CommandTable::get(sent.device, sent.engine);
    const spec::CommandDesc* desc = table.find(sent.header);
    ASSERT_NE(desc, nullptr);
    const spec::LengthRule& rule = desc->length_of_gen[static_cast<size_t>(table.gen())];
    EXPECT_LE(rule.min, sent.dwords) << sent.name;
    EXPECT_GE(rule.max, sent.dwords) << sent.name;
    EXPECT_FALSE(spec::has_reserved_set(*desc, table.gen(), Dwords{sent.header})) << sent.name;
  }
}

}  // namespace
}  // namespace halogen::spec_mi
