// The effect of each kind of record when a trace is played: hand-made traces, from the format's description.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aub_builder.h"
#include "trace/aub_reader.h"
#include "trace/aub_writer.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kGgtt = 0, kSystem = 2, kPpgtt = 5;
constexpr uint32_t kIcl = 19;
constexpr uint32_t kGpr = 0x2600;  // a general-purpose register: plain storage

void play(Player& player, std::span<const std::byte> bytes) {
  const std::unique_ptr<ByteSource> source = open_memory(bytes);
  aub::Reader reader(*source, "trace");
  const Result<void> read = reader.read_all(player);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.message());
  EXPECT_EQ(player.failure(), "");
}

AubBuilder icl() {
  AubBuilder aub;
  aub.version(kIcl);
  return aub;
}

template <class T>
T value_at(Player& player, aub::MemorySpace space, uint64_t address) {
  T value{};
  player.read(space, address, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

TEST(PlayRecords, RegisterComparisonsPassOrFail) {
  AubBuilder aub = icl();
  aub.write_register(kGpr, 0x1234'5678);
  aub.trace(0x01, {kGpr, 0x0002'0000, 0xffff, 0, 0xabcd'5678});  // equal in the bits of its mask
  aub.trace(0x01, {kGpr, 0x0002'0000, 0xffff'0000, 0, 0xabcd'5678});
  aub.trace(0x01, {kGpr, 0x0002'0001, 0xffff'ffff, 0, 0});  // only a read, without an expectation
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().checks, 2u);
  EXPECT_EQ(player.counts().failed_checks, 1u);
  EXPECT_THAT(player.faults(), ElementsAre(HasSubstr("record 3 at byte 0x4c: register 0x2600 is 0x12345678")));
}

TEST(PlayRecords, MaskedRegisterWritesKeepTheOtherBits) {
  AubBuilder aub = icl();
  aub.write_register(kGpr, 0x1111'2222);
  aub.trace(0x03, {kGpr, 0x0002'0000, 0x0000'ff00, 0, 0xaaaa'bbbb});
  aub.trace(0x01, {kGpr, 0x0002'0000, 0xffff'ffff, 0, 0x1111'bb22});
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().failed_checks, 0u);
}

TEST(PlayRecords, ConfigurationSpaceIsARegisterSpace) {
  AubBuilder aub = icl();
  aub.trace(0x03, {0x3c, 0x2000'0000, 0xff, 0, 0x5a});
  aub.trace(0x01, {0x3c, 0x2000'0000, 0xff, 0, 0x5a});
  aub.trace(0x01, {0x00, 0x2001'0000, 0xffff, 0, 0x8086});
  aub.trace(0x03, {0x5000, 0x1002'0000, 0xffff'ffff, 0, 1});  // MCHBAR: a register of another device
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().failed_checks, 0u);
  EXPECT_EQ(player.counts().checks, 2u);
  EXPECT_EQ(player.counts().skipped, 1u);
}

TEST(PlayRecords, IommuIsARegisterSpace) {
  AubBuilder aub = icl();
  aub.trace(0x01, {0x38, 0x5002'0000, 0xffff'ffff, 0, 0x8000'0000});  // the event of faults is masked
  aub.trace(0x03, {0x38, 0x5002'0000, 0xffff'ffff, 0, 0});
  aub.trace(0x01, {0x38, 0x5002'0000, 0xffff'ffff, 0, 0});
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().failed_checks, 0u);
  EXPECT_EQ(player.counts().checks, 2u);
  EXPECT_EQ(player.counts().skipped, 0u);
}

TEST(PlayRecords, MemoryComparisonsPassOrFail) {
  AubBuilder aub = icl();
  aub.write_memory(kSystem, 0x1000, {1, 2, 3, 4});
  aub.trace(0x04, {0x1000, 0, kSystem << 28, 16, 1, 2, 3, 4});       // equal: passes
  aub.trace(0x04, {0x1000, 0, kSystem << 28, 16, 1, 2, 9, 4});       // fails
  aub.trace(0x04, {0x1000, 0, kSystem << 28 | 1 << 7, 8, 1, 3});     // not equal: passes
  aub.trace(0x04, {0x1000, 0, kSystem << 28 | 1 << 7, 8, 1, 2});     // fails
  aub.trace(0x04, {0x1000, 0, kSystem << 28 | 1, 8, 0, 0});          // only a read, without an expectation
  aub.trace(0x04, {0x8000, 0, kSystem << 28 | 2, 4096, 0});          // a repeated pattern of zeros
  aub.trace(0x04, {0x1000, 0, kSystem << 28 | 1 << 6, 16, 0x1234});  // by CRC: skipped
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().checks, 5u);
  EXPECT_EQ(player.counts().failed_checks, 2u);
  EXPECT_THAT(player.faults(),
              ElementsAre(HasSubstr("memory differs at"), HasSubstr("match the trace, which expects a difference")));
  EXPECT_THAT(player.faults()[0], HasSubstr("0x1008, byte 0x8 of 0x10"));
  EXPECT_EQ(player.skipped().at("comparison by CRC"), 1u);
  EXPECT_EQ(player.counts().unchecked, 1u);
}

TEST(PlayRecords, UnsupportedChecksAreCounted) {
  AubBuilder aub = icl();
  aub.trace(0x01, {0x5000, 0x1002'0000, 0xffff'ffff, 0, 1});  // MCHBAR
  aub.trace(0x02, {0x5000, 0x1002'0000, 0xffff'ffff, 0, 1});
  aub.trace(0x04, {0, 0, 3u << 28, 4, 0});                              // page table entries of an unknown table
  aub.trace(0x05, {0, 0, 11u << 28 | 2 << 4, 0xffff'ffff, 0, 0});       // the power context
  aub.trace(0x04, {0x1000, 0, kSystem << 28 | 1 << 7 | 1 << 9, 4, 5});  // one part without further parts
  aub.trace(0x01, {0x5000, 0x1002'0001, 0xffff'ffff, 0, 1});            // read only: no expectation
  aub.trace(0x01, {kGpr, 0x0001'0000, 0xffff'ffff, 0xffff'ffff, 0xabcd'0000});  // two bytes are compared
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().unchecked, 4u);
  player.finish();
  EXPECT_EQ(player.counts().unchecked, 5u);
  EXPECT_EQ(player.skipped().at("comparison without its last part"), 1u);
  EXPECT_EQ(player.counts().skipped, 6u);
  EXPECT_EQ(player.counts().checks, 1u);
  EXPECT_EQ(player.counts().failed_checks, 0u);
}

TEST(PlayRecords, UnmappedMemoryEqualsNothing) {
  AubBuilder aub = icl();
  aub.trace(0x04, {0x7000, 0, kGgtt << 28, 4, 0});
  aub.trace(0x04, {0x7000, 0, kGgtt << 28 | 1 << 7, 4, 1});
  aub.trace(0x04, {0x7000, 0, kPpgtt << 28, 4, 0});
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().failed_checks, 3u);
  ASSERT_FALSE(player.faults().empty());
  EXPECT_THAT(player.faults()[0], HasSubstr("4 bytes at GGTT 0x7000 cannot be compared: not mapped"));
}

TEST(PlayRecords, OneDifferentPartFailsTheWholeComparison) {
  AubBuilder aub = icl();
  aub.write_memory(kSystem, 0x1000, {1, 2});
  const uint32_t not_equal = kSystem << 28 | 1 << 7;
  aub.trace(0x04, {0x1000, 0, not_equal | 1 << 9, 4, 5});  // differs; the next part gives the result
  aub.trace(0x04, {0x1004, 0, not_equal, 4, 2});
  aub.trace(0x04, {0x1000, 0, not_equal | 1 << 9, 4, 1});
  aub.trace(0x04, {0x1004, 0, not_equal, 4, 2});  // no part differs
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().checks, 2u);
  EXPECT_EQ(player.counts().failed_checks, 1u);
}

TEST(PlayRecords, TimedOutPollsStopOrContinueAsRecorded) {
  AubBuilder aub = icl();
  aub.write_register(kGpr, 3);
  aub.trace(0x02, {kGpr, 0x0002'0000, 0xff, 0, 3});  // passes
  aub.trace(0x02, {kGpr, 0x0002'0004, 0xff, 0, 4});  // not equal: passes
  aub.trace(0x02, {kGpr, 0x0002'0002, 0xff, 0, 4});  // times out; the trace continues
  aub.write_register(kGpr, 5);
  aub.trace(0x02, {kGpr, 0x0002'0000, 0xff, 0, 4});  // times out; the trace stops
  aub.write_register(kGpr, 6);
  Player player;
  play(player, aub.bytes());
  EXPECT_TRUE(player.aborted());
  EXPECT_EQ(player.counts().checks, 4u);
  EXPECT_EQ(player.counts().ignored_polls, 1u);
  EXPECT_EQ(player.counts().failed_checks, 1u);
  EXPECT_EQ(player.device()->bar_read(0, kGpr, 4), 5u) << "nothing after the abort is played";
}

TEST(PlayRecords, MemoryPollsCompareInEveryWay) {
  struct Case {
    uint32_t comparison, value;
    bool holds;
  };
  constexpr Case kCases[]{{0, 5, true},  {0, 6, false}, {1, 5, true},  {1, 6, false}, {2, 6, true},
                          {2, 5, false}, {3, 6, true},  {3, 5, false}, {4, 5, true},  {4, 4, false},
                          {5, 4, true},  {5, 5, false}, {6, 5, true},  {6, 6, false}};
  for (const Case& each : kCases) {
    AubBuilder aub = icl();
    aub.write_memory(kSystem, 0x1000, {5});
    aub.trace(0x05, {0x1000, 0, kSystem << 28 | each.comparison << 10 | 2 << 4, 0xffff'ffff, 0, each.value});
    Player player;
    play(player, aub.bytes());
    EXPECT_EQ(player.counts().failed_checks, each.holds ? 0u : 1u) << each.comparison << " " << each.value;
    EXPECT_EQ(player.aborted(), !each.holds);
  }
}

TEST(PlayRecords, DelaysPassInVirtualTime) {
  AubBuilder aub = icl();
  Player before;
  play(before, aub.bytes());
  aub.trace(0x09, {123'456});
  Player after;
  play(after, aub.bytes());
  EXPECT_EQ(after.device()->clock().nanoseconds - before.device()->clock().nanoseconds, 123'456u);
}

TEST(PlayRecords, RepeatedWritesFill) {
  AubBuilder aub = icl();
  aub.trace(0x06, {0x1000, 0, kSystem << 28 | 2, 100'001, 0x0403'0201});
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::system, 0x1000 + 99'996), 0x0403'0201u);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::system, 0x1000 + 100'000), 1u) << "one byte of the next";
}

TEST(PlayRecords, PpgttAddressesUseTheLastContext) {
  AubBuilder aub = icl();
  add_icl_context(aub);
  aub.write_memory(kPpgtt, 0x5020, {77});
  aub.trace(0x04, {0x5010, 0, kPpgtt << 28, 4, 0x1234'5678});
  aub.write_memory(kPpgtt, 0x9000, {1});  // not mapped
  aub.write_memory(kGgtt, 0x3004, {88});
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().failed_checks, 0u);
  EXPECT_EQ(player.counts().unmapped, 1u);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::system, 0x4'0020), 77u);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::system, 0x3004), 88u);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::ppgtt, 0x5010), 0x1234'5678u);
}

TEST(PlayRecords, PpgttAddressesAbove47BitsAreReadInBothForms) {
  AubBuilder aub = icl();
  add_icl_context(aub);
  Player player;
  play(player, aub.bytes());
  for (const uint64_t address : {uint64_t{0xffff'8000'0000'5010}, uint64_t{0x0000'8000'0000'5010}}) {
    EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::ppgtt, address), 0x1234'5678u);
    uint32_t value = 0;
    EXPECT_TRUE(player.simulator()->read_context(player.simulator()->contexts().back(), address,
                                                 std::as_writable_bytes(std::span(&value, 1))));
    EXPECT_EQ(value, 0x1234'5678u);
  }
}

// A second context, at 0x9000, has other tables, which map another page at the same address.
TEST(PlayRecords, EveryContextKeepsItsTables) {
  AubBuilder aub = icl();
  add_icl_context(aub);
  add_icl_context(aub, 0x8765'4321, 0x9000, 0x3000, 0x20'0000, 0x5'0000);
  Player player;
  play(player, aub.bytes());
  const auto& seen = player.simulator()->contexts();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].image, 0x6000u);
  EXPECT_EQ(seen[1].image, 0x9000u);
  uint32_t value = 0;
  EXPECT_TRUE(player.simulator()->read_context(seen[0], 0x5010, std::as_writable_bytes(std::span(&value, 1))));
  EXPECT_EQ(value, 0x1234'5678u);
  EXPECT_TRUE(player.simulator()->read_context(seen[1], 0x5010, std::as_writable_bytes(std::span(&value, 1))));
  EXPECT_EQ(value, 0x8765'4321u);
  EXPECT_FALSE(player.simulator()->read_context(seen[1], 0x6010, std::as_writable_bytes(std::span(&value, 1))));
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::ppgtt, 0x5010), 0x8765'4321u) << "the one that ran last";
}

TEST(PlayRecords, DumpsStayInTheFolderThatTheUserGave) {
  const fs::path folder = fs::temp_directory_path() / "halogen_play_dumps";
  fs::remove_all(folder);
  fs::create_directories(folder);
  AubBuilder aub = icl();
  aub.write_memory(kSystem, 0x1000, {0x0403'0201, 0, 0x0807'0605});
  std::vector<uint32_t> body{0x1000, 0, 8, 2, 2, kSystem};
  AubBuilder::append_text(body, "../../up/x y.bin");
  aub.trace(0x0a, body);
  Player without;
  play(without, aub.bytes());
  EXPECT_EQ(without.counts().skipped, 1u);
  Player player;
  player.allow_dumps(folder);
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().dumps, 1u);
  std::ifstream in(folder / "0000_x_y.bin", std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(found, std::string("\x01\x02\x05\x06")) << "two rows of two bytes, 8 bytes apart";
  fs::remove_all(folder);
}

// A classic file: the global table, a batch, a ring that runs it, and a register.
class ClassicTrace : public ::testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};  // PCI id, batch start

TEST_P(ClassicTrace, RunsItsRing) {
  AubBuilder aub;
  std::vector<uint32_t> version(12, 0);
  version[0] = 0x0400'0000;
  const std::string text = fmt::format("PCI-ID={:#06x}", GetParam().first);
  version[11] = static_cast<uint32_t>(text.size() + 1);
  AubBuilder::append_text(version, text);
  aub.classic(0x05, version);
  std::vector<uint32_t> entries;
  for (uint32_t page = 0; page < 64; ++page) entries.push_back(0x20'0000 + page * 0x1000 + 1);
  aub.classic(0x41, {0x0004'0001, 0, 0, static_cast<uint32_t>(entries.size() * 4)}).dwords(entries);
  aub.classic(0x41, {0x0000'0101, 0, 0x3000, 20});
  aub.dwords({0x1040'0002, 0, 0x8010, 0xcafe'f00d, 0x0500'0000});  // store to 0x8010, MI_BATCH_BUFFER_END
  aub.classic(0x41, {0x0000'0202, 0, 0x1000, 16});
  aub.dwords({GetParam().second, 0x3000, 0, 0});  // MI_BATCH_BUFFER_START in the global table
  aub.classic(0x41, {0x0000'0003, 0, 0x20c4, 4}).dwords({0x0001'0001});
  Player player;
  play(player, aub.bytes());
  EXPECT_EQ(player.counts().skipped, 0u);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::ggtt, 0x8010), 0xcafe'f00du);
  EXPECT_EQ(value_at<uint32_t>(player, aub::MemorySpace::system, 0x20'8010), 0xcafe'f00du);
  EXPECT_EQ(player.counts().register_writes, 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, ClassicTrace,
                         ::testing::Values(std::pair{0x29a2u, 0x1880'0080u}, std::pair{0x2e22u, 0x1880'0080u},
                                           std::pair{0x0116u, 0x1880'0000u}));

// The format has no record for a reset; the writer uses a comment instead.
TEST(PlayRecords, ARecordedResetIsPlayed) {
  MemorySink sink;
  aub::Writer writer(sink);
  auto created = Simulator::create(*spec::find_device("icl"), {});
  ASSERT_TRUE(created.ok());
  Simulator& simulator = **created;
  simulator.record_to(&writer);
  EXPECT_TRUE(simulator.write_register(aub::RegisterSpace::mmio, kGpr, 4, 0x1111));
  EXPECT_TRUE(simulator.write_register(aub::RegisterSpace::mmio, kGpr + 8, 4, 0x2222));
  simulator.reset();
  EXPECT_TRUE(simulator.write_register(aub::RegisterSpace::mmio, kGpr + 8, 4, 0x3333));
  Player player;
  play(player, sink.bytes());
  ASSERT_NE(player.simulator(), nullptr);
  EXPECT_EQ(player.simulator()->read_register(aub::RegisterSpace::mmio, kGpr, 4), 0u);
  EXPECT_EQ(player.simulator()->read_register(aub::RegisterSpace::mmio, kGpr + 8, 4), 0x3333u);
  AubBuilder other = icl();
  other.write_register(kGpr, 5).comment("reset");  // another comment
  Player untouched;
  play(untouched, other.bytes());
  EXPECT_EQ(untouched.simulator()->read_register(aub::RegisterSpace::mmio, kGpr, 4), 5u);
}

// A trace is recorded while it is played. The recording is played and recorded again: memory and the recording are
// the same both times.
TEST(PlayRecords, ARecordedRunReplaysToTheSameMemory) {
  AubBuilder aub = icl();
  add_icl_context(aub);
  aub.comment("a comment").trace(0x02, {0x2234, 0x0002'0002, 0x1, 0, 0x1}).trace(0x09, {5'000'000});
  aub.trace(0x01, {0x2358, 0x0002'0001, 0xffff'ffff, 0, 0});
  aub.write_memory(kSystem, 0x2000, {0x1000'0002, 0x5018, 0, 9, 0, 0, 0, 0}).write_memory(kSystem, 0x7014, {0});
  aub.write_register(0x2510, 0x6119).write_register(0x2514, 0).write_register(0x2550, 1);
  std::array<MemorySink, 2> sinks;
  std::array<uint64_t, 3> hashes{};
  Player first;
  aub::Writer first_writer(sinks[0]);
  first.record_to(&first_writer);
  play(first, aub.bytes());
  hashes[0] = first.simulator()->memory_hash();
  Player second;
  aub::Writer second_writer(sinks[1]);
  second.record_to(&second_writer);
  play(second, sinks[0].bytes());
  hashes[1] = second.simulator()->memory_hash();
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(first.device()->clock().nanoseconds, second.device()->clock().nanoseconds);
  EXPECT_EQ(value_at<uint32_t>(second, aub::MemorySpace::ppgtt, 0x5010), 0x1234'5678u);
  // The second writer adds its own version record after the recorded one; everything else is the same.
  EXPECT_TRUE(std::ranges::equal(sinks[0].bytes(), sinks[1].bytes()));
  // A different byte gives a different hash.
  second.simulator()->write_memory(aub::MemorySpace::system, 0x77'0000, std::as_bytes(std::span("x", 1)));
  EXPECT_NE(second.simulator()->memory_hash(), hashes[0]);
}

// Adds a record of every kind, of both families.
AubBuilder every_record() {
  AubBuilder aub = icl();
  add_icl_context(aub);
  aub.trace(0x00, {1, 2, 3});                                                   // the superseded version record
  aub.trace(0x01, {kGpr, 0x0002'0000, 0xffff'ffff, 0, 0});                      // register comparison
  aub.trace(0x01, {0x5000, 0x1002'0000, 0xffff'ffff, 0, 1});                    // of another device
  aub.trace(0x02, {kGpr, 0x0002'0002, 0xffff'ffff, 0, 9});                      // a poll that times out and continues
  aub.trace(0x03, {kGpr, 0x0002'0000, 0x00ff'ff00, 0, 0x1234'5678});            // masked write
  aub.trace(0x03, {0x3c, 0x2000'0000, 0xff, 0, 0x5a});                          // configuration space
  aub.trace(0x04, {0x1000, 0, kSystem << 28, 4, 0});                            // memory comparisons
  aub.trace(0x04, {0x1000, 0, kSystem << 28 | 1 << 6, 16, 0x1234});             // by CRC
  aub.trace(0x04, {0x5010, 0, kPpgtt << 28 | 1, 4});                            // only a read
  aub.trace(0x05, {0x1000, 0, kSystem << 28 | 2 << 4, 0xffff'ffff, 0, 0});      // memory poll
  aub.trace(0x06, {0x1'0000, 0, kSystem << 28 | 2, 10'000, 0x0403'0201});       // a fill
  aub.trace(0x06, {0x5100, 0, kPpgtt << 28 | 1 | 1 << 2 | 42 << 20, 5, 1, 2});  // tiled, by the front door, five bytes
  aub.trace(0x06, {0x3100, 0, kGgtt << 28, 4, 77}).trace(0x06, {0x4100, 0, 7u << 28, 4, 78});
  aub.trace(0x06, {0, 0, 3u << 28, 4, 1}).trace(0x06, {0, 0, 11u << 28, 4, 1});  // skipped
  aub.trace(0x07, {3}).comment("a comment").trace(0x09, {1000});
  std::vector<uint32_t> dump{0x1000, 0, 8, 2, 2, kSystem};
  AubBuilder::append_text(dump, "x.bin");
  aub.trace(0x0a, dump);
  std::vector<uint32_t> pieces(1 + 63 * 3);
  pieces[0] = kSystem << 28 | 2 << 4;
  pieces[1] = 0x2'0000;
  pieces[3] = 4;
  pieces[4] = 0x2'1000;
  pieces[6] = 8;
  pieces.insert(pieces.end(), {11, 12, 13});
  aub.trace(0x0b, pieces).trace(0x0c, {0x1002}).trace(0x0d, {0x1000, 0, 0x1000, 0}).trace(0x0f, {3});
  aub.trace(0x10, std::vector<uint32_t>(24, 5)).trace(0x11, {1, 2});  // a compressed surface; an unknown record
  aub.classic(0x14, {1, 2, 0x10'0000, 0, 0, 0, 0, 0, 0, 0});          // a process's tables
  aub.classic(0x15, {0x1000, 0, 8, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0x006e'6962});
  aub.classic(0x44, std::vector<uint32_t>(10, 1)).classic(0x1e, {1, 2, 3, 4, 5, 6});
  aub.classic(0x41, {0x0002'0101, 0, 0x3'0000, 8, 0}).dwords({5, 6});  // blocks: memory, a register, a ring
  aub.classic(0x41, {0x0000'0003, 0, kGpr + 8, 4, 0}).dwords({0x99});
  aub.classic(0x41, {0x0000'0000, 0, 0, 4, 0}).dwords({0x41});
  return aub;
}

TEST(PlayRecords, RecordsOfEveryKindReplayToTheSame) {
  const auto played = [](std::span<const std::byte> bytes, MemorySink& sink) {
    auto player = std::make_unique<Player>();
    aub::Writer writer(sink);
    player->record_to(&writer);
    play(*player, bytes);
    EXPECT_TRUE(writer.finish().ok());
    player->simulator()->record_to(nullptr);
    return player;
  };
  std::array<MemorySink, 2> sinks;
  const auto first = played(every_record().bytes(), sinks[0]);
  EXPECT_FALSE(first->aborted());
  EXPECT_EQ(first->counts().records, 57u) << "none is lost";
  const auto second = played(sinks[0].bytes(), sinks[1]);
  EXPECT_EQ(first->simulator()->memory_hash(), second->simulator()->memory_hash());
  EXPECT_EQ(first->device()->clock().nanoseconds, second->device()->clock().nanoseconds);
  EXPECT_EQ(first->counts().checks, second->counts().checks);
  EXPECT_EQ(first->counts().unchecked, second->counts().unchecked);
  EXPECT_EQ(first->counts().failed_checks, second->counts().failed_checks);
  EXPECT_EQ(value_at<uint64_t>(*second, aub::MemorySpace::system, 0x2'1000), 0xd'0000'000cu);
  EXPECT_EQ(value_at<uint64_t>(*second, aub::MemorySpace::system, 0x3'0000), 0x6'0000'0005u);
  EXPECT_EQ(value_at<uint64_t>(*second, aub::MemorySpace::system, 0x4'0100), 0x2'0000'0001u & 0xff'ffff'ffffu);
  EXPECT_EQ(second->device()->bar_read(0, kGpr, 4), 0x0034'5600u);
  EXPECT_EQ(second->device()->bar_read(0, kGpr + 8, 4), 0x99u);
  EXPECT_TRUE(std::ranges::equal(sinks[0].bytes(), sinks[1].bytes()));
}

}  // namespace
}  // namespace halogen::trace
