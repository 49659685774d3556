#include "decode/decoder.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "recorder.h"

namespace halogen::decode {
namespace {

using engine::StreamLevel;
using engine::StreamSpace;
using Names = std::vector<std::string>;

constexpr uint32_t kNoop = 0;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kStart64 = 0x1880'0101;        // per-process address, three dwords
constexpr uint32_t kStart64Second = 0x18c0'0101;  // the same, second level
constexpr uint32_t kUnknown = 0x5fc0'0000;        // two dwords

// Memory in pieces, decoded for one device.
class DecoderTest : public ::testing::Test {
 protected:
  void put(uint64_t address, std::vector<uint32_t> dwords) {
    pieces_.push_back(std::make_unique<std::vector<uint32_t>>(std::move(dwords)));
    memory_.add(GpuVa{address}, pieces_.back()->size() * 4, *pieces_.back());
  }
  Counts decode(const char* device, StreamLevel level, bool is_ring = false,
                spec::EngineClass engine = spec::EngineClass::render) {
    Decoder decoder(*spec::find_device(device), engine, memory_, &out_);
    decoder.set_command_limit(1000);
    decoder.walk(level, is_ring);
    Decoder counter(*spec::find_device(device), engine, memory_, nullptr);
    counter.set_command_limit(1000);
    counter.walk(level, is_ring);
    EXPECT_EQ(counter.counts().commands, decoder.counts().commands) << "counting must see what printing sees";
    EXPECT_EQ(counter.counts().unknown, decoder.counts().unknown);
    EXPECT_EQ(counter.counts().leftover_dwords, decoder.counts().leftover_dwords);
    return decoder.counts();
  }
  static StreamLevel batch(uint64_t address, uint64_t end = 0) {
    StreamLevel level{.space = StreamSpace::ppgtt, .address = GpuVa{address}};
    if (end != 0) level.end = GpuVa{end};
    return level;
  }

  FlatImage memory_;
  Recorder out_;

 private:
  std::vector<std::unique_ptr<std::vector<uint32_t>>> pieces_;
};

TEST_F(DecoderTest, ChainsAndSecondLevelBatchesAreFollowed) {
  put(0x1000, {kNoop, kStart64Second, 0x3000, 0, kStart64, 0x2000, 0});
  put(0x2000, {kBatchEnd});
  put(0x3000, {kNoop, kNoop, kBatchEnd});
  const Counts counts = decode("bdw", batch(0x1000));
  EXPECT_FALSE(counts.faulty());
  EXPECT_EQ(counts.commands, 7u);
  EXPECT_EQ(out_.names(), (Names{"MI_NOOP", "MI_BATCH_BUFFER_START", "MI_NOOP", "MI_NOOP", "MI_BATCH_BUFFER_END",
                                 "MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END"}));
  EXPECT_EQ(out_.nodes[0].level, 1);
  EXPECT_EQ(out_.nodes[2].level, 2);
  EXPECT_EQ(out_.nodes[6].level, 1);
}

TEST_F(DecoderTest, BatchesReturnToTheRing) {
  put(0x8000, {kStart64, 0x1000, 0, kNoop, kStart64, 0x7777'0000, 0, kNoop});
  put(0x1000, {kBatchEnd});
  const Counts counts =
      decode("bdw", {.space = StreamSpace::ggtt, .address = GpuVa{0x8000}, .end = GpuVa{0x8020}}, true);
  EXPECT_EQ(counts.unmapped, 1u) << "the second batch is not there";
  EXPECT_EQ(counts.commands, 5u) << "but the ring continues";
  EXPECT_EQ(out_.nodes[0].level, 0);
}

TEST_F(DecoderTest, UnknownLeftoverAndBadLengthsAreCounted) {
  put(0x1000, {kUnknown, 1, kNoop, 0x1100'0000, 7, 0x7a00'0004, 1, 2});
  const Counts counts = decode("bdw", batch(0x1000, 0x1020));
  EXPECT_EQ(counts.unknown, 1u);
  EXPECT_EQ(counts.leftover_dwords, 3u) << "PIPE_CONTROL is cut off";
  EXPECT_EQ(counts.bad_length, 1u) << "a register load without a whole pair";
  EXPECT_TRUE(counts.faulty());
}

TEST_F(DecoderTest, NonZeroDwordsAfterBatchEndAreLeftover) {
  put(0x1000, {kBatchEnd, 0, 0x1234, 0, 0x5678, 0});
  EXPECT_EQ(decode("bdw", batch(0x1000, 0x1018)).leftover_dwords, 2u);
  EXPECT_EQ(decode("bdw", batch(0x1000, 0x1008)).leftover_dwords, 0u);
  EXPECT_EQ(decode("bdw", batch(0x1000)).leftover_dwords, 0u) << "unknown end: nothing to compare with";
}

TEST_F(DecoderTest, EndlessStreamsAreStopped) {
  put(0x1000, {kNoop, kStart64, 0x1000, 0});
  EXPECT_EQ(decode("bdw", batch(0x1000)).runaway, 1u);
  put(0x4000, {kStart64Second, 0x4000, 0});
  EXPECT_EQ(decode("bdw", batch(0x4000)).runaway, 1u);
  put(0x10000, std::vector<uint32_t>(5000, kNoop));
  EXPECT_EQ(decode("bdw", batch(0x10000)).runaway, 1u);
}

TEST_F(DecoderTest, SecondLevelBatchCanBeCalledTwice) {
  put(0x1000, {kStart64Second, 0x3000, 0, kStart64Second, 0x3000, 0, kBatchEnd});
  put(0x3000, {kNoop, kBatchEnd});
  const Counts counts = decode("bdw", batch(0x1000));
  EXPECT_FALSE(counts.faulty());
  EXPECT_EQ(counts.commands, 7u);
}

TEST_F(DecoderTest, ReservedBitsAreCounted) {
  put(0x2000, {kBatchEnd | 0x10});
  const Counts counts = decode("bdw", batch(0x2000));
  EXPECT_EQ(counts.reserved, 1u);
  ASSERT_EQ(out_.nodes.size(), 1u);
  EXPECT_EQ(out_.nodes[0].fields.reserved.size(), 1u);
}

// Compute: bases, descriptor, kernel, binding table, surfaces and the thread payload.
TEST_F(DecoderTest, FollowsADispatch) {
  std::vector<uint32_t> sba(16, 0);
  sba[0] = 0x6101'000e;
  sba[4] = 0x0010'0000 | 1;   // surface state
  sba[6] = 0x0020'0000 | 1;   // dynamic state
  sba[8] = 0x0030'0000 | 1;   // indirect objects
  sba[10] = 0x0040'0000 | 1;  // instructions
  std::vector<uint32_t> walker(15, 0);
  walker[0] = 0x7105'000d;
  walker[2] = 64;      // indirect data length
  walker[3] = 0x1000;  // indirect data start
  std::vector<uint32_t> all = sba;
  all.insert(all.end(), {0x7002'0002, 0, 32, 0x80});  // MEDIA_INTERFACE_DESCRIPTOR_LOAD
  all.insert(all.end(), walker.begin(), walker.end());
  all.push_back(kBatchEnd);
  put(0x1000, all);
  put(0x20'0080, {0x200, 0, 0, 0, 0x40 | 2, 0, 0, 0});  // kernel at 200h, two entries in the table at 40h
  put(0x10'0040, {0x100, 0x140});
  put(0x10'0100, std::vector<uint32_t>(32, 0));
  put(0x40'0200, {1, 2, 3, 4});
  put(0x30'1000, std::vector<uint32_t>(16, 0xabcd));
  const Counts counts = decode("bdw", batch(0x1000));
  EXPECT_FALSE(counts.faulty());
  const Node* load = out_.find("MEDIA_INTERFACE_DESCRIPTOR_LOAD");
  const Node* descriptor = child(load, "interface_descriptor_data_start_address");
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(descriptor->item->name, "INTERFACE_DESCRIPTOR_DATA");
  const Node* kernel = child(descriptor, "kernel_start_pointer");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->kind, NodeKind::kernel);
  EXPECT_EQ(kernel->address.value, 0x40'0200u);
  const Node* surface = child(descriptor, "binding_table_pointer[1]");
  ASSERT_NE(surface, nullptr);
  EXPECT_EQ(surface->address.value, 0x10'0140u);
  EXPECT_EQ(surface->item->name, "RENDER_SURFACE_STATE");
  EXPECT_FALSE(surface->guessed);
  const Node* payload = child(out_.find("GPGPU_WALKER"), "indirect_data_start_address");
  ASSERT_NE(payload, nullptr);
  EXPECT_EQ(payload->address.value, 0x30'1000u);
  EXPECT_EQ(payload->bytes, 64u);
  EXPECT_EQ(payload->dwords.size(), 16u);
}

// Gen4: unit states, their kernels and viewports, samplers with a border colour.
TEST_F(DecoderTest, FollowsUnitStates) {
  put(0x1000, {0x7800'0005, 0x2000, 0, 0, 0x2100, 0x2200, 0x2300, kBatchEnd});
  put(0x2000, {0x3000, 0, 0, 0, 0, 0, 0});                               // VS_STATE: kernel
  put(0x2100, {0x3040, 0, 0, 0, 0, 0x2400, 0, 0});                       // SF_STATE: kernel, viewport
  put(0x2200, {0x3080, 0, 0, 0, 0x2500 | (1u << 2), 0, 0, 0, 0, 0, 0});  // WM_STATE: kernel, one group of samplers
  put(0x2300, {0, 0, 0, 0, 0x2600, 0, 0, 0});                            // COLOR_CALC_STATE: viewport
  put(0x2400, std::vector<uint32_t>(8, 0));
  put(0x2500, {0, 0, 0x2700, 0, 0, 0, 0, 0});
  put(0x2600, {0, 0x3f80'0000});
  put(0x2700, std::vector<uint32_t>(32, 0));
  put(0x3000, std::vector<uint32_t>(64, 0));
  const Counts counts = decode("i965", batch(0x1000));
  EXPECT_FALSE(counts.faulty());
  const Node* pointers = out_.find("3DSTATE_PIPELINED_POINTERS");
  const Node* vs = child(pointers, "vs_state_pointer");
  ASSERT_NE(vs, nullptr);
  EXPECT_EQ(child(vs, "kernel_start_pointer")->address.value, 0x3000u);
  EXPECT_EQ(child(pointers, "gs_state_pointer"), nullptr) << "not enabled";
  EXPECT_EQ(child(child(pointers, "sf_state_pointer"), "setup_viewport_state_offset")->item->name, "SF_VIEWPORT");
  const Node* wm = child(pointers, "wm_state_pointer");
  const Node* sampler = child(wm, "sampler_state_pointer[0]");
  ASSERT_NE(sampler, nullptr);
  EXPECT_FALSE(sampler->guessed);
  EXPECT_NE(child(sampler, "border_color_pointer"), nullptr);
  ASSERT_NE(child(wm, "sampler_state_pointer[1]"), nullptr);
  EXPECT_TRUE(child(wm, "sampler_state_pointer[1]")->guessed) << "counts of samplers are rounded up to four";
  EXPECT_EQ(child(child(pointers, "color_calc_state_pointer"), "cc_viewport_state_pointer")->item->name, "CC_VIEWPORT");
}

TEST_F(DecoderTest, PointersToUnmappedMemoryAreReported) {
  put(0x1000, {0x7800'0005, 0x9000'0000, 0, 0, 0, 0, 0, kBatchEnd});
  decode("i965", batch(0x1000));
  const Node* missing = child(out_.find("3DSTATE_PIPELINED_POINTERS"), "vs_state_pointer");
  ASSERT_NE(missing, nullptr);
  EXPECT_EQ(missing->kind, NodeKind::missing);
}

TEST_F(DecoderTest, VertexBuffersAreFollowedWithTheirSize) {
  put(0x1000, {0x7808'0003, 0, 0x5000, 0, 48, kBatchEnd});  // 3DSTATE_VERTEX_BUFFERS, one buffer
  put(0x5000, std::vector<uint32_t>(12, 0x3f80'0000));
  decode("bdw", batch(0x1000));
  const Node* command = out_.find("3DSTATE_VERTEX_BUFFERS");
  ASSERT_NE(command, nullptr);
  ASSERT_EQ(command->children.size(), 1u);
  EXPECT_EQ(command->children[0].kind, NodeKind::data);
  EXPECT_EQ(command->children[0].bytes, 48u);
}

TEST_F(DecoderTest, MistakesBecomeEvents) {
  // An unknown command; PIPE_CONTROL of two dwords; an end with a reserved bit. The cut-off command is not reached.
  put(0x1000, {kUnknown, 0, 0x7a00'0000, 0, 0x0500'0001, 0x7a00'0004});
  EventLog log;
  Decoder decoder(*spec::find_device("bdw"), spec::EngineClass::render, memory_, nullptr);
  decoder.set_events(&log, "gpu0.rcs0");
  decoder.walk(batch(0x1000, 0x1018), false);
  ASSERT_GE(log.events().size(), 3u);
  EXPECT_EQ(log.events()[0].kind, EventKind::unknown_command);
  EXPECT_EQ(log.events()[0].path, "gpu0.rcs0");
  EXPECT_EQ(log.events()[0].address, 0x1000u);
  EXPECT_EQ(log.events()[0].value, kUnknown);
  EXPECT_EQ(log.events()[1].kind, EventKind::bad_length);
  EXPECT_EQ(log.events()[1].item, "PIPE_CONTROL");
  EXPECT_EQ(log.events()[1].address, 0x1008u);
  EXPECT_EQ(log.events()[1].value, 0x7a00'0000u);
  EXPECT_EQ(log.events()[1].detail, "2 dwords, not 6..6");
  EXPECT_EQ(log.events()[2].kind, EventKind::reserved_bits);
  EXPECT_EQ(log.events()[2].item, "MI_BATCH_BUFFER_END");
  EXPECT_EQ(log.events()[2].address, 0x1010u);
  EXPECT_EQ(log.events()[2].value, 1u);
  EXPECT_EQ(log.count(EventKind::reserved_bits), 1u);
}

TEST_F(DecoderTest, CutOffAndUnmappedStreamsBecomeEvents) {
  put(0x1000, {kNoop, 0x7a00'0004, 0});
  EventLog log;
  Decoder decoder(*spec::find_device("bdw"), spec::EngineClass::render, memory_, nullptr);
  decoder.set_events(&log, "p");
  decoder.walk(batch(0x1000), false);
  ASSERT_EQ(log.events().size(), 1u);
  EXPECT_EQ(log.events()[0].kind, EventKind::bad_length);
  EXPECT_EQ(log.events()[0].item, "PIPE_CONTROL");
  EXPECT_EQ(log.events()[0].detail, "cut off: 2 of 6 dwords");
  log.clear();
  decoder.walk(batch(0x9000), false);
  ASSERT_EQ(log.events().size(), 1u);
  EXPECT_EQ(log.events()[0].kind, EventKind::unmapped_memory);
  EXPECT_EQ(log.events()[0].address, 0x9000u);
}

TEST_F(DecoderTest, ProbeSeesCommandsOfAllLevels) {
  put(0x1000, {kStart64Second, 0x2000, 0, kBatchEnd});
  put(0x2000, {kNoop, kBatchEnd});
  Decoder decoder(*spec::find_device("bdw"), spec::EngineClass::render, memory_, nullptr);
  std::vector<uint64_t> addresses;
  const auto listener = decoder.commands().listen(
      [&](const engine::CommandView& view) { addresses.push_back(view.place.address.value); });
  decoder.walk(batch(0x1000), false);
  EXPECT_EQ(addresses, (std::vector<uint64_t>{0x1000, 0x2000, 0x2004, 0x100c}));
}

TEST_F(DecoderTest, ConstantsAndMediaStateOfTheOldestGenerationAreFollowed) {
  put(0x1000, {0x6002'0100, 0x5000 | 1, 0x7000'0001, 0, 0x6000, kBatchEnd});  // two blocks of constants; media pointers
  put(0x5000, std::vector<uint32_t>(32, 7));
  put(0x6000, {0, 0, 0x6100});
  put(0x6100, {0x3000, 0, 0, 0});
  put(0x3000, {1, 2, 3, 4});
  EXPECT_FALSE(decode("i965", batch(0x1000)).faulty());
  const Node* constants = child(out_.find("CONSTANT_BUFFER"), "buffer_starting_address");
  ASSERT_NE(constants, nullptr);
  EXPECT_EQ(constants->bytes, 128u);
  const Node* vfe = child(out_.find("MEDIA_STATE_POINTERS"), "vfe_state_pointer");
  const Node* descriptor = child(vfe, "interface_descriptor_base_pointer");
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(child(descriptor, "kernel_start_pointer")->address.value, 0x3000u);
}

}  // namespace
}  // namespace halogen::decode
