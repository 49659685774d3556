// The recording of a session contains every message that affects the simulator. A replay produces the same memory at
// the same virtual time and checks everything that the client read, and readers of the format know every record.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decode/aub_decoder.h"
#include "fuzz/tbx_target.h"
#include "neo_stream.h"
#include "trace/aub_reader.h"
#include "trace/player.h"

namespace halogen::tbx {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSettleLimit = 20'000;

struct Recording {
  Recording(std::string_view device, const Messages& messages) : writer(sink) {
    fuzz::ScriptChannel channel(messages.bytes());
    simulator = std::move(trace::Simulator::create(*spec::find_device(device), {.settle_limit = kSettleLimit})).value();
    simulator->record_to(&writer);
    std::mutex guard;
    Session session({channel, [&]() -> Result<trace::Simulator*> { return simulator.get(); }, guard,
                     [this](std::string_view line) { log.emplace_back(line); }});
    session.run();
    EXPECT_EQ(session.fault(), "");
    EXPECT_TRUE(writer.finish().ok());
  }

  trace::MemorySink sink;
  trace::aub::Writer writer;
  std::unique_ptr<trace::Simulator> simulator;
  std::vector<std::string> log;
};

void play(trace::Player& player, std::span<const std::byte> bytes) {
  player.set_settle_limit(kSettleLimit);
  const auto source = trace::open_memory(bytes);
  trace::aub::Reader reader(*source, "recorded");
  const auto read = reader.read_all(player);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.message());
  player.finish();
  EXPECT_EQ(player.failure(), "");
}

uint64_t unknown_records(std::span<const std::byte> bytes) {
  const auto source = trace::open_memory(bytes);
  trace::aub::Reader reader(*source, "recorded");
  decode::AubDecoder decoder(nullptr, [](const decode::RegisterNames&) { return nullptr; });
  decoder.set_command_limit(10'000);
  EXPECT_TRUE(reader.read_all(decoder).ok());
  EXPECT_EQ(decoder.failure(), "");
  EXPECT_GT(decoder.counts().records, 1u);
  return decoder.counts().unknown_records;
}

// Adds a ring of Gen4.5 that runs a batch which restarts itself without end.
void add_endless_batch(Messages& out) {
  for (uint32_t page = 1; page < 8; ++page) out.message(2, {1, page, page * 0x1000 | 1});
  out.write(0x2000, {0x1880'0080, 0x3000}).write(0x3000, {0x1880'0080, 0x3000});
  out.write_register(0x203c, 0).write_register(0x2038, 0x2000).write_register(0x2034, 0).write_register(0x2030, 0);
  out.write_register(0x203c, 1).write_register(0x2030, 8);
}

Messages everything() {
  Messages out;
  const uint32_t value = 7;
  const auto word = std::as_bytes(std::span(&value, 1));
  std::vector<std::byte> large(200'000, std::byte{0x5a});
  const uint32_t ours = 2 << 12 | 4 << 1;
  out.control();
  add_endless_batch(out);
  for (int i = 0; i < 4; ++i) {
    out.read_register(0x2074);  // reads the position of the engine; time passes between the reads
  }
  out.message(9, {100});     // REPORT_REND_END
  out.control(0x1000'1000);  // flush
  out.read_register(0x2074);
  out.message(0, {2 << 1, 0x2036, 0}).message(39, {8 << 1, 0x2030, 0, 0});  // two bytes, eight bytes
  out.message(14, {ours | 1, 0x3c, 0x5a}).message(14, {ours, 0x3c, 0}).message(14, {ours, 0, 0});
  out.message(24, {4u << 29, 0x3c4, 0});      // IO
  out.message(2, {0, 5, 0});                  // reads a table entry
  out.write(0x9000, {7, 8}).read(0x9000, 8);  // memory
  out.message(43, {0, 0x9000, 4}).append(word).message(43, {1 << 2, 0x9004, 4}).append(word);
  out.write(0x10'0000, large);
  out.message(43, {0, 0x10'0000, 200'000}).append(large);
  large.back() = std::byte{1};
  out.message(43, {1 << 2, 0x10'0000, 200'000}).append(large);  // a comparison that fails in its last part
  const uint32_t start = 0x2000;
  out.message(43, {1, 0x2038, 4}).append(std::as_bytes(std::span(&start, 1)));  // compares a register
  out.message(43, {1 | 1 << 2, 0x2038, 4}).append(word);
  for (int i = 0; i < 40; ++i) out.read(0x9000, 64);  // polls
  out.control(0x0001'0001);                           // reset
  out.read_register(0x2038).message(7, {});
  return out;
}

TEST(TbxRecording, RecordedSessionReplaysToSameMemoryAndTime) {
  Recording run("g45", everything());
  const std::string_view text(reinterpret_cast<const char*>(run.sink.bytes().data()), run.sink.bytes().size());
  EXPECT_NE(text.find(trace::Simulator::kFinishNote), text.npos) << "the engine was still at work";
  trace::Player player;
  trace::MemorySink again;
  trace::aub::Writer writer(again);
  player.record_to(&writer);
  play(player, run.sink.bytes());
  EXPECT_THAT(player.faults(), IsEmpty());
  EXPECT_EQ(player.counts().failed_checks, 0u);
  EXPECT_EQ(player.counts().unchecked, 0u);
  EXPECT_EQ(player.counts().skipped, 0u);
  EXPECT_GT(player.counts().checks, 20u);
  EXPECT_EQ(player.simulator()->memory_hash(), run.simulator->memory_hash());
  EXPECT_EQ(player.device()->clock().nanoseconds, run.simulator->device().clock().nanoseconds);
  EXPECT_TRUE(writer.finish().ok());
  EXPECT_TRUE(std::ranges::equal(run.sink.bytes(), again.bytes())) << "a replay records the same";
  EXPECT_EQ(unknown_records(run.sink.bytes()), 0u);
}

TEST(TbxRecording, ReplayChecksWhatTheClientRead) {
  Messages out;
  out.write_register(0x2600, 0xabcd'1234).read_register(0x2600);
  out.write(0x1000, {0x600d'600d}).read(0x1000, 4).entry(5, 0x0333'3001).message(2, {0, 5, 0, 0});
  const Recording run("icl", out);
  const auto bytes = run.sink.bytes();
  for (const uint32_t seen : {0xabcd'1234u, 0x600d'600du, 0x0333'3001u}) {
    std::vector<std::byte> other(bytes.begin(), bytes.end());
    const auto pattern = std::as_bytes(std::span(&seen, 1));
    const auto last = std::find_end(other.begin(), other.end(), pattern.begin(), pattern.end());
    ASSERT_NE(last, other.end()) << std::hex << seen;
    *last ^= std::byte{1};
    trace::Player player;
    play(player, other);
    EXPECT_EQ(player.counts().checks, 3u);
    EXPECT_EQ(player.counts().failed_checks, 1u) << std::hex << seen;
  }
}

TEST(TbxRecording, ComparisonOfClientIsRecorded) {
  Messages out;
  const uint32_t value = 7;
  out.message(43, {0, 0x9000, 4}).append(std::as_bytes(std::span(&value, 1)));  // a comparison that fails
  out.message(43, {1 << 2, 0x9000, 4}).append(std::as_bytes(std::span(&value, 1)));
  const Recording run("icl", out);
  trace::Player player;
  play(player, run.sink.bytes());
  EXPECT_EQ(player.counts().checks, 2u);
  EXPECT_THAT(player.faults(), ::testing::ElementsAre(HasSubstr("memory differs at")));
}

class RecordedProducts : public ::testing::TestWithParam<size_t> {};

TEST_P(RecordedProducts, DecodeWithoutUnknownRecords) {
  const Product& product = kProducts[GetParam()];
  NeoStream neo(product);
  neo.set_up();
  neo.submit(0x1111, 1);
  neo.out().read(neo.tag_page, 4096).read(neo.buffer_page, 4096).read_register(0x2234);
  neo.submit(0x2222, 2);
  neo.out().read(neo.tag_page, 4096).read(neo.buffer_page, 4096);
  const Recording run(product.device, neo.out());
  EXPECT_EQ(unknown_records(run.sink.bytes()), 0u);
  trace::Player player;
  play(player, run.sink.bytes());
  EXPECT_THAT(player.faults(), IsEmpty());
  EXPECT_EQ(player.simulator()->memory_hash(), run.simulator->memory_hash());
}

INSTANTIATE_TEST_SUITE_P(All, RecordedProducts, ::testing::Range(size_t{0}, std::size(kProducts)),
                         [](const auto& each) {
                           return std::string(kProducts[each.param].device) +
                                  (kProducts[each.param].local ? "_local" : "");
                         });

}  // namespace
}  // namespace halogen::tbx
