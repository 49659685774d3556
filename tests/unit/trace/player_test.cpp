// Traces on the device: hand-made traces, and those of Intel's OpenCL driver.
#include "trace/player.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aub_builder.h"
#include "support/paths.h"
#include "trace/aub_reader.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/byte_source.h"

namespace halogen::trace {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kSystem = 2;
constexpr uint32_t kGgttEntry = 4;

void play(Player& player, std::span<const std::byte> bytes) {
  const std::unique_ptr<ByteSource> source = open_memory(bytes);
  aub::Reader reader(*source, "trace");
  const Result<void> read = reader.read_all(player);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.message());
}

TEST(Player, RunsAContextThatStoresAndChecksTheResult) {
  AubBuilder aub;
  aub.version(19);  // Ice Lake
  for (uint32_t page = 1; page < 12; ++page) aub.write_qword(kGgttEntry, page * 8, page * 0x1000u | 1);
  aub.write_register(0x229c, 0x8000'8000);  // execlists on
  aub.write_register(0x2080, 0x1000);
  // Ring context: restore of the engine part inhibited, head 0, tail 16, start 0x2000, one page, PML4 at 0x100000.
  aub.write_memory(kSystem, 0x7000,
                   {0, 0x1100'100f, 0x2244, 0x0009'0009, 0x2034, 0, 0x2030, 16, 0x2038, 0x2000, 0x203c, 0x1, 0x2274, 0,
                    0x2270, 0x10'0000, 0x2244, 0x0009'0009, 0x0500'0000});
  aub.write_qword(kSystem, 0x10'0000, 0x10'1003);
  aub.write_qword(kSystem, 0x10'1000, 0x10'2003);
  aub.write_qword(kSystem, 0x10'2000, 0x10'3003);
  aub.write_qword(kSystem, 0x10'3000 + 5 * 8, 0x4'0003);
  // MI_STORE_DATA_IMM to address 0x5010 of the process.
  aub.write_memory(kSystem, 0x2000, {0x1000'0002, 0x5010, 0, 0x1234'5678});
  aub.write_register(0x2510, 0x6119).write_register(0x2514, 0).write_register(0x2550, 1);
  Player player;
  play(player, aub.bytes());
  ASSERT_EQ(player.failure(), "");
  uint32_t stored = 0;
  player.read(aub::MemorySpace::system, 0x4'0010, std::as_writable_bytes(std::span(&stored, 1)));
  EXPECT_EQ(stored, 0x1234'5678u);
  EXPECT_EQ(player.counts().skipped, 0u);
}

// A small version of a driver's submission: state, work, and a flush that writes the tag for which the driver waits.
// Its recording replays to the same memory.
TEST(Player, SubmissionWritesItsTagAndItsRecordingReplays) {
  AubBuilder aub;
  aub.version(19);
  add_icl_context(aub);
  // The same context again, with a longer ring: PIPELINE_SELECT, MI_STORE_DATA_IMM, PIPE_CONTROL with a write of 7.
  aub.write_memory(kSystem, 0x2010,
                   {0x6904'0302, 0x1000'0002, 0x5014, 0, 0x5555'aaaa, 0x7a00'0004, 0x0010'4000, 0x5018, 0, 7, 0, 0});
  aub.write_memory(kSystem, 0x7000 + 7 * 4, {64});
  aub.write_register(0x2510, 0x6119).write_register(0x2514, 0).write_register(0x2550, 1);
  MemorySink sink;
  aub::Writer writer(sink);
  Player player;
  player.record_to(&writer);
  play(player, aub.bytes());
  ASSERT_EQ(player.failure(), "");
  ASSERT_TRUE(writer.finish().ok());
  std::array<uint32_t, 4> stored{};
  player.read(aub::MemorySpace::system, 0x4'0010, std::as_writable_bytes(std::span(stored)));
  EXPECT_THAT(stored, ::testing::ElementsAre(0x1234'5678u, 0x5555'aaaau, 7u, 0u));
  EXPECT_EQ(player.device()->engines().engine(0).state().activity, engine::Activity::idle);
  EXPECT_EQ(player.counts().skipped, 0u);
  Player again;
  play(again, sink.bytes());
  ASSERT_EQ(again.failure(), "");
  EXPECT_EQ(again.simulator()->memory_hash(), player.simulator()->memory_hash());
}

TEST(Player, TraceWithoutDeviceIsReported) {
  AubBuilder aub;
  aub.version(200);
  Player player;
  play(player, aub.bytes());
  EXPECT_THAT(player.failure(), ::testing::HasSubstr("--device"));
}

// `b`: address of the kernel's second buffer in the surface states of the trace.
struct OpenClRun {
  const char* file;
  uint64_t b;
};
class OpenClTrace : public ::testing::TestWithParam<OpenClRun> {};

// The program computes b[i] = a[i] * 3 + i over 1024 numbers, a[i] = i * 7; the last flush writes the tag that the
// driver waits for.
TEST_P(OpenClTrace, LeavesTheResultsOfTheProgram) {
  const fs::path path = test::data_folder() / "aub" / GetParam().file;
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  auto source = open_file(path);
  ASSERT_TRUE(source.ok());
  EventLog events;
  Player player(nullptr, &events);
  aub::Reader reader(*source.value(), path.string());
  std::map<uint64_t, uint64_t> tags;  // address -> value that a PIPE_CONTROL writes there
  Probe<engine::CommandView>::Subscription watching;
  for (;;) {
    const Result<bool> more = reader.next(player);
    ASSERT_TRUE(more.ok());
    if (!more.value()) break;
    ASSERT_EQ(player.failure(), "");
    if (reader.records() == 1) {
      watching =
          player.device()->engines().engine(0).stream().commands().listen([&tags](const engine::CommandView& view) {
            const std::span<const uint32_t> dw = view.dwords;
            if (dw.size() == 6 && dw[0] == 0x7a00'0004 && (dw[1] >> 14 & 3) == 1) {
              tags[dw[2] | uint64_t{dw[3]} << 32] = dw[4] | uint64_t{dw[5]} << 32;
            }
          });
    }
  }
  EXPECT_EQ(player.counts().skipped, 0u);
  EXPECT_EQ(player.counts().failed_checks, 0u);
  device::Device& device = *player.device();
  const engine::Engine& render = device.engines().engine(0);
  EXPECT_EQ(render.state().activity, engine::Activity::idle);
  ASSERT_FALSE(tags.empty());
  for (const auto& [address, value] : tags) {
    EXPECT_EQ(device.space(0, memory::Stream::store_data, memory::TableKind::per_process)
                  .load_value<uint64_t>(GpuVa{address}),
              value);
  }
  const FidelityReport report = device.fidelity();
  std::set<std::string> missing;
  for (const auto& [key, entry] : report.entries()) {
    if (key.first == FidelityKind::command && entry.fidelity == FidelityClass::unsupported) missing.insert(key.second);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "everything is executed";
  memory::AddressSpace& memory = device.space(0, memory::Stream::store_data, memory::TableKind::per_process);
  for (uint32_t i = 0; i < 1024; ++i) {
    ASSERT_EQ(memory.load_value<uint32_t>(GpuVa{GetParam().b + uint64_t{i} * 4}), i * 22) << i;
  }
  EXPECT_EQ(events.count(EventKind::fault), 0u);
  EXPECT_EQ(events.count(EventKind::unmapped_memory), 0u);
}

INSTANTIATE_TEST_SUITE_P(Products, OpenClTrace,
                         ::testing::Values(OpenClRun{"bdw_1x3x8_0_ocl.aub.xz", 0x0000'561b'dd7f'e000},
                                           OpenClRun{"icllp_1x8x8_0_ocl.aub.xz", 0x0000'55ca'c21d'd000},
                                           OpenClRun{"tgllp_1x6x16_0_ocl.aub.xz", 0x0000'55af'727f'0000},
                                           OpenClRun{"dg1_1x6x16_0_ocl.aub.xz", 0x0000'7f89'2c99'0000}),
                         [](const auto& each) { return std::string(each.param.file).substr(0, 3); });

}  // namespace
}  // namespace halogen::trace
