#include "decode/aub_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "recorder.h"
#include "trace/aub_reader.h"
#include "unit/trace/aub_builder.h"

namespace halogen::decode {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using trace::AubBuilder;
using Names = std::vector<std::string>;

constexpr uint32_t kLocal = 1;
constexpr uint32_t kSystem = 2;
constexpr uint32_t kGgttEntry = 4;
constexpr uint32_t kGgttImage = 0x6000;
constexpr uint32_t kRing = 0x2000;
constexpr uint32_t kBatchPage = 0x2'0000;

struct Decoded {
  Recorder out;
  Counts counts;
  std::string failure;
  std::string error;
  const spec::DeviceModel* device = nullptr;
};

Decoded decode(const AubBuilder& aub, const char* device = nullptr) {
  Decoded result;
  const auto source = trace::open_memory(aub.bytes());
  trace::aub::Reader reader(*source, "t.aub");
  AubDecoder decoder(device != nullptr ? spec::find_device(device) : nullptr,
                     [&](const RegisterNames&) { return std::make_unique<Borrowed>(result.out); });
  const auto done = reader.read_all(decoder);
  result.error = done.ok() ? "" : done.message();
  result.counts = decoder.counts();
  result.failure = decoder.failure();
  result.device = decoder.device();
  return result;
}

// Global table entries, ring, context image with one page table tree, and a batch at virtual address 0x5000.
void add_context(AubBuilder& aub, uint32_t space, uint32_t ggtt_flags, uint32_t tail) {
  for (uint32_t page = 1; page < 9; ++page) aub.write_qword(kGgttEntry, page * 8, page * 0x1000u | ggtt_flags);
  std::vector<uint32_t> image(0x800, 1);  // no-operations with an id bit, as the compute driver writes them
  const size_t at = 0x400;
  const auto put = [&](size_t index, uint32_t value) { image[at + index] = value; };
  put(1, 0x1100'101b);
  for (size_t i = 2; i < 0x1e; i += 2) {
    put(i, 0x2244);
    put(i + 1, 0x0001'0001);
  }
  put(4, 0x2034), put(5, 0);
  put(6, 0x2030), put(7, tail);
  put(8, 0x2038), put(9, kRing);
  put(10, 0x203c), put(11, 0x3001);
  put(0x21, 0x1100'1011);
  const uint32_t pointers[] = {0x20d8, 0x228c, 0x2288, 0x2284, 0x2280, 0x227c, 0x2278, 0x2274, 0x2270};
  for (size_t i = 0; i < 9; ++i) put(0x22 + i * 2, pointers[i]), put(0x23 + i * 2, 0);
  put(0x33, 0x10'0000);
  aub.write_memory(space, kGgttImage, image, 48);
  aub.write_qword(space, 0x10'0000, 0x10'1003);
  aub.write_qword(space, 0x10'1000, 0x10'2003);
  aub.write_qword(space, 0x10'2000, 0x10'3003);
  aub.write_qword(space, 0x10'3000 + 5 * 8, kBatchPage | 3);
  aub.write_memory(kSystem, kBatchPage, {0x0, 0x0500'0000});
  aub.write_memory(space, kRing, {0x1880'0101, 0x5000, 0, 0});
}

TEST(AubDecoder, SubmitPortStartsTheContext) {
  AubBuilder aub;
  aub.version(11);
  add_context(aub, kSystem, 1, 16);
  aub.write_register(0x2230, 0).write_register(0x2230, 0).write_register(0x2230, 0).write_register(0x2230, 0x6119);
  const Decoded d = decode(aub);
  EXPECT_EQ(d.error, "");
  EXPECT_EQ(d.failure, "");
  EXPECT_EQ(d.device, spec::find_device("bdw"));
  EXPECT_EQ(d.out.names(), (Names{"MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END", "MI_NOOP"}));
  EXPECT_EQ(d.out.headings, Names{"rcs0: context 0x6000, ring at 0x2000, head 0x0, tail 0x10"});
  EXPECT_FALSE(d.counts.faulty());
}

TEST(AubDecoder, RingRegistersStartTheRing) {
  AubBuilder aub;
  aub.version(6);  // Sandy Bridge
  aub.write_memory(0, 0x2000, {0x1880'0000, 0x5000, 0, 0}).write_memory(0, 0x5000, {0, 0x0500'0000});
  aub.write_register(0x2038, 0x2000).write_register(0x2034, 0).write_register(0x2030, 0);
  aub.write_register(0x2030, 16);  // not enabled, so no command runs
  aub.write_register(0x2030, 0).write_register(0x203c, 1).write_register(0x2030, 16).write_register(0x2030, 8);
  const Decoded d = decode(aub);
  EXPECT_EQ(d.device, spec::find_device("snb"));
  ASSERT_FALSE(d.out.headings.empty());
  EXPECT_EQ(d.out.headings[0], "rcs0: ring at 0x2000, head 0x0, tail 0x10");
  const Names names = d.out.names();
  ASSERT_GE(names.size(), 4u);
  EXPECT_EQ(Names(names.begin(), names.begin() + 4),
            (Names{"MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END", "MI_NOOP"}));
  EXPECT_EQ(d.out.headings.size(), 2u) << "the second tail runs from the first one, round the end";
}

TEST(AubDecoder, SubmitQueueContinuesAtTheSavedHead) {
  AubBuilder aub;
  aub.version(19);
  add_context(aub, kSystem, 1, 16);
  const auto submit = [&] { aub.write_register(0x2510, 0x6119).write_register(0x2514, 0).write_register(0x2550, 1); };
  submit();
  // A second submission moves only the tail: the head is where the first submission stopped.
  aub.write_memory(kSystem, kRing + 16, {0x1880'0101, 0x5004, 0, 0});
  aub.write_memory(kSystem, kGgttImage + 0x101c, {32});
  submit();
  const Decoded d = decode(aub);
  EXPECT_EQ(d.device, spec::find_device("icl"));
  EXPECT_EQ(d.out.headings.back(), "rcs0: context 0x6000, ring at 0x2000, head 0x10, tail 0x20");
  EXPECT_EQ(d.out.names(), (Names{"MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END", "MI_NOOP",
                                  "MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END", "MI_NOOP"}));
}

TEST(AubDecoder, LocalMemoryWithReusedAddressesIsDecoded) {
  AubBuilder aub;
  aub.version(30);
  aub.write_register(0xcf58, 0x8000'0000);  // page tables are in local memory
  add_context(aub, kLocal, 3, 16);
  // An ordinary page lands on the image's local address; the table entry before it identifies it as one.
  aub.write_qword(kLocal, 0x10'3000 + 9 * 8, 0x7803);
  aub.write_memory(kLocal, 0x7000, std::vector<uint32_t>(1024, 0xffff'ffff));
  aub.write_register(0x2510, 0x6119).write_register(0x2514, 0).write_register(0x2550, 1);
  const Decoded d = decode(aub);
  EXPECT_EQ(d.device, spec::find_device("dg1"));
  EXPECT_FALSE(d.counts.faulty());
  EXPECT_EQ(d.out.nodes.size(), 4u);
}

TEST(AubDecoder, ClassicTraceRunsItsRingBlocks) {
  std::vector<uint32_t> version(12, 0);
  version[11] = 14;
  AubBuilder::append_text(version, "PCI-ID=0x29a2");
  AubBuilder aub;
  aub.classic(0x05, version);
  aub.classic(0x41, {0x0004'0001, 0, 0, 8}).dwords({0x20'0003, 0x20'1003});                   // table entries
  aub.classic(0x41, {0x0000'0101, 0, 0x1'0000, 8}).dwords({0, 0x0500'0000});                  // a batch
  aub.classic(0x41, {0x0000'0202, 0, 0x4000, 12}).dwords({0x1880'0000 | 0x80, 0x1'0000, 0});  // the render ring
  const Decoded d = decode(aub);
  EXPECT_EQ(d.error, "");
  EXPECT_EQ(d.device, spec::find_device("i965"));
  EXPECT_EQ(d.out.names(), (Names{"MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END", "MI_NOOP"}));
  EXPECT_EQ(d.counts.records, 4u);
}

TEST(AubDecoder, RecordsAreDescribed) {
  AubBuilder aub;
  aub.version(11, "NEO").comment("esc \x1b[31m").write_register(0x2080, 0x1000).trace(0x3e, {1});
  aub.write_memory(kSystem, 0x5b000, {1, 2});
  const Decoded d = decode(aub);
  EXPECT_EQ(d.counts.unknown_records, 1u);
  EXPECT_EQ(d.counts.records, 5u);
  EXPECT_THAT(d.out.records, Contains("comment: esc ?[31m")) << "control characters are replaced";
  EXPECT_THAT(d.out.records, Contains("memory write: 0x5b000 in system memory, 8 bytes"));
  EXPECT_THAT(d.out.records, Contains("unknown record: opcode 0x2e, sub-opcode 0x3e, 2 dwords"));
}

TEST(AubDecoder, TheDeviceMustBeKnown) {
  AubBuilder aub;
  aub.version(99).comment("x");
  EXPECT_THAT(decode(aub).failure, HasSubstr("device code 99"));
  EXPECT_EQ(decode(aub, "skl").failure, "");
  AubBuilder named;
  named.version(99, "PCI-ID=0x9a49 tgl");
  EXPECT_EQ(decode(named).device, spec::find_device("tgl"));
}

TEST(AubDecoder, MissingContextImageIsReported) {
  AubBuilder aub;
  aub.version(19).write_register(0x2510, 0x0070'0001).write_register(0x2550, 1);
  const Decoded d = decode(aub);
  EXPECT_EQ(d.counts.unmapped, 1u);
  EXPECT_TRUE(d.counts.faulty());
}

}  // namespace
}  // namespace halogen::decode
