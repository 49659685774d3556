// One connection, without a socket: set-up of every product, every message type, and peers that break the rules.
#include "tbx/session.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/tbx_target.h"
#include "neo_stream.h"

namespace halogen::tbx {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs the messages of a peer on a new simulator and stores the replies.
struct Talk {
  explicit Talk(std::string_view device, std::span<const std::byte> input) : channel(input) {
    Session session({channel,
                     [&]() -> Result<trace::Simulator*> {
                       auto made = trace::Simulator::create(*spec::find_device(device));
                       if (!made) return made.error();
                       simulator = std::move(made).value();
                       return simulator.get();
                     },
                     guard, [this](std::string_view line) { log.emplace_back(line); }});
    session.run();
    fault = session.fault();
    messages = session.messages();
  }
  std::vector<uint32_t> words() const {
    std::vector<uint32_t> result(channel.output().size() / 4);
    std::memcpy(result.data(), channel.output().data(), result.size() * 4);
    return result;
  }

  fuzz::ScriptChannel channel;
  std::unique_ptr<trace::Simulator> simulator;
  std::mutex guard;
  std::vector<std::string> log;
  std::string fault;
  uint64_t messages = 0;
};

// A peer may invent a type for each message.
TEST(Session, UnknownTypesDoNotFillMemoryOrLog) {
  Messages out;
  for (uint32_t type = 1000; type < 6000; ++type) out.message(type, {});
  out.message(7, {});
  const Talk talk("i965", out.bytes());
  EXPECT_EQ(talk.messages, 5001u);
  EXPECT_EQ(talk.log.size(), Session::kMaxNotes + 1);
  EXPECT_EQ(talk.log.back(), "further notes about its messages are left out");
  EXPECT_EQ(talk.words().size(), 3u) << "the connection continues";
}

// Words of the reply to a read, from the address on.
uint32_t data_word(std::span<const uint32_t> words, size_t reply_at, size_t index) {
  return words[reply_at + 6 + index];
}

class Products : public ::testing::TestWithParam<size_t> {};

TEST_P(Products, SubmissionsRunBeforeTheNextMessage) {
  const Product& product = kProducts[GetParam()];
  NeoStream neo(product);
  neo.set_up();
  neo.submit(0x1111, 1);
  const size_t page_reply = 6 + 1024;
  neo.out().read(neo.tag_page, 4096).read(neo.buffer_page, 4096);
  neo.submit(0x2222, 2);  // uploads the older tag again; the submission then completes
  neo.out().read(neo.tag_page, 4096).read(neo.buffer_page, 4096);
  const uint32_t last_id = neo.out().next_id() - 1;
  Talk run(product.device, neo.out().bytes());
  EXPECT_EQ(run.fault, "");
  const auto words = run.words();
  ASSERT_EQ(words.size(), 4 * page_reply);
  EXPECT_EQ(words[0], 6u);
  EXPECT_EQ(words[2], 12u);
  EXPECT_EQ(words[4], neo.tag_page);
  EXPECT_EQ(words[5], 4096u);
  EXPECT_EQ(data_word(words, 0, 0), 1u) << "the tag";
  EXPECT_EQ(data_word(words, page_reply, 4), 0x1111u) << "the store";
  EXPECT_EQ(data_word(words, 2 * page_reply, 0), 2u);
  EXPECT_EQ(data_word(words, 3 * page_reply, 4), 0x2222u);
  EXPECT_EQ(words[3 * page_reply + 1], last_id);
  EXPECT_EQ(run.simulator->device().fidelity().total(FidelityClass::unsupported) != 0, false)
      << run.simulator->device().fidelity().to_json(product.device);
}

INSTANTIATE_TEST_SUITE_P(All, Products, ::testing::Range(size_t{0}, std::size(kProducts)), [](const auto& each) {
  return std::string(kProducts[each.param].device) + (kProducts[each.param].local ? "_local" : "");
});

TEST(TbxSession, RegistersAreReadAndWritten) {
  Messages out;
  out.write_register(0x2600, 0xabcd'1234).read_register(0x2600);
  out.message(39, {1 | 8 << 1, 0x2608, 0x5555'6666, 0x7777'8888})
      .message(39, {8 << 1, 0x2608, 0, 0});  // MMIO2, 8 bytes
  out.message(0, {2 << 1, 0x2602, 0});       // two bytes
  const auto words = Talk("icl", out.bytes()).words();
  EXPECT_THAT(words, ElementsAre(1, 1, 4, 0xabcd'1234, 40, 3, 8, 0x5555'6666, 0x7777'8888, 1, 4, 4, 0xabcd));
}

TEST(TbxSession, OnlyTheGraphicsDeviceHasConfigurationSpace) {
  Messages out;
  const uint32_t ours = 2 << 12 | 4 << 1;
  out.message(14, {ours, 0, 0}).message(14, {ours | 1, 0x3c, 0x5a}).message(14, {ours, 0x3c, 0});
  out.message(14, {3 << 12 | 4 << 1, 0, 0});
  const auto words = Talk("icl", out.bytes()).words();
  ASSERT_EQ(words.size(), 12u);
  EXPECT_EQ(words[0], 15u);
  EXPECT_EQ(words[3] & 0xffff, 0x8086u);
  EXPECT_EQ(words[7] & 0xff, 0x5au);
  EXPECT_EQ(words[11], 0xffff'ffffu);
}

TEST(TbxSession, TableEntriesAreReturnedInTheRequestedFormat) {
  Messages out;
  out.entry(5, 0x12'3456'7001).message(2, {0, 5, 0, 0}).message(2, {0, 5, 0});
  const auto words = Talk("icl", out.bytes()).words();
  EXPECT_THAT(words, ElementsAre(3, 1, 8, 0x3456'7001, 0x12, 3, 2, 4, 0x3456'7001));
}

TEST(TbxSession, LongerBodiesNameAddressAndMemoryType) {
  Messages out;
  // Bodies of 16 bytes with a 64-bit address; the front door has a window to local memory.
  const uint32_t value = 0x1357'9bdf;
  out.message(4, {1 << 2, 0x1000, 4, 0x20}).append(std::as_bytes(std::span(&value, 1)));
  out.message(5, {1 << 1, 0x1000, 4, 0x20});
  out.message(4, {1 << 2, 0x3000, 4, 0x000f'fff0}).append(std::as_bytes(std::span(&value, 1)));
  out.message(5, {1 << 5, 0x3000, 4});  // memory type local
  out.message(5, {0, 0x3000, 4});       // the client has named memory types: system memory
  const auto words = Talk("dg1", out.bytes()).words();
  EXPECT_THAT(words, ElementsAre(6, 1, 16, 0, 0x1000, 4, 0x20, value,  //
                                 6, 3, 12, 0, 0x3000, 4, value,        //
                                 6, 4, 12, 0, 0x3000, 4, 0));
}

TEST(TbxSession, SimulatorQueriesAreAnswered) {
  Messages out;
  const uint32_t value = 7;
  out.message(7, {}).message(9, {100}).message(18, {0, 3, 0}).message(20, {});
  out.message(22, {0, 0, 0}).message(28, {0, 0, 64, 0}).message(30, {}).message(41, {1, 2, 3, 4, 5});
  out.write(0x1000, {7});
  out.message(43, {0, 0x1000, 4}).append(std::as_bytes(std::span(&value, 1)));       // equal
  out.message(43, {1 << 2, 0x1000, 4}).append(std::as_bytes(std::span(&value, 1)));  // not equal
  out.message(43, {0, 0x1000, 4, 8});                                                // data counted in the body
  const auto words = Talk("icl", out.bytes()).words();
  EXPECT_THAT(words, ElementsAre(8, 0, 0, 10, 1, 4, 0, 19, 2, 4, 0, 21, 3, 4, 0, 23, 4, 4, 0xffff'ffff,  //
                                 29, 5, 4, 0, 31, 6, 0, 42, 7, 20, 1, 2, 0, 0, 5,                        //
                                 44, 9, 4, 1, 44, 10, 4, 0, 44, 11, 4, 0));
}

TEST(TbxSession, ControlMessageResetsAndQuits) {
  Messages out;
  out.write_register(0x2600, 5).control(0x0001'0001).read_register(0x2600).control(0x0040'0040).read_register(0x2600);
  const Talk run("icl", out.bytes());
  EXPECT_THAT(run.words(), ElementsAre(1, 2, 4, 0)) << "one answer: nothing is served after quit";
  EXPECT_EQ(run.fault, "");
}

TEST(TbxSession, UnknownMessagesAreSkippedAndReportedOnce) {
  Messages out;
  for (const uint32_t type : {12u, 17u, 17u, 32u, 35u, 99u, 99u}) out.message(type, {1, 2});
  out.message(7, {});
  const Talk run("icl", out.bytes());
  EXPECT_THAT(run.words(), ElementsAre(8, 7, 0));
  EXPECT_THAT(run.log, ElementsAre(HasSubstr("PARAMS"), HasSubstr("EVENT"), HasSubstr("GD2"), HasSubstr("LOCK_PAGE"),
                                   HasSubstr("type 99")));
}

TEST(TbxSession, ProtocolViolationEndsSessionWithAMessage) {
  const auto fault_of = [](const Messages& out) { return Talk("icl", out.bytes()).fault; };
  EXPECT_THAT(fault_of(Messages().words({0, 0})), HasSubstr("inside a message header"));
  EXPECT_THAT(fault_of(Messages().words({0, 5, 12, 9})), HasSubstr("inside a MMIO message"));
  EXPECT_THAT(fault_of(Messages().message(0, {9})), HasSubstr("MMIO message 0 has a body of 4 bytes"));
  EXPECT_THAT(fault_of(Messages().words({4, 0, 0xffff'ffff})), HasSubstr("WRITE_DATA message 0 has a body"));
  EXPECT_THAT(fault_of(Messages().words({77, 0, 0xffff'ffff})), HasSubstr("out of sync"));
  EXPECT_THAT(fault_of(Messages().message(4, {0, 0x1000, 100}).words({1})), HasSubstr("inside a WRITE_DATA"));
  EXPECT_THAT(fault_of(Messages().message(4, {2, 0x1000, 4}).words({1})), HasSubstr("mask"));
  EXPECT_THAT(fault_of(Messages().message(26, {4})), HasSubstr("RPC"));
  EXPECT_THAT(fault_of(Messages().message(43, {0, 0, 0x7fff'ffff})), HasSubstr("COMPARE_DATA"));
  EXPECT_EQ(fault_of(Messages()), "");
}

TEST(TbxSession, LongTransfersAreStreamed) {
  std::vector<std::byte> data(300'001);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 + i / 977);
  Messages out;
  out.write(0x12'3456'7003, data).read(0x12'3456'7003, 300'001);
  const Talk run("bdw", out.bytes());
  ASSERT_EQ(run.channel.output().size(), 24 + data.size());
  EXPECT_TRUE(std::ranges::equal(run.channel.output().subspan(24), data));
}

TEST(TbxSession, PollingClientIsSlowedDown) {
  Messages out;
  for (int i = 0; i < 1000; ++i) out.read(0x1000, 64);
  const Talk run("icl", out.bytes());
  EXPECT_GT(run.channel.pauses(), 900u);
  Messages other;  // reads of different addresses are not a poll
  for (uint32_t i = 0; i < 1000; ++i) other.read(0x1000 * i, 64);
  EXPECT_EQ(Talk("icl", other.bytes()).channel.pauses(), 0u);
}

TEST(TbxSession, PollingAdvancesVirtualTime) {
  Messages out;
  for (int i = 0; i < 8; ++i) out.read_register(0x2358);  // TIMESTAMP of the render engine
  const auto words = Talk("icl", out.bytes()).words();
  EXPECT_LT(words[3], words[words.size() - 1]);
}

TEST(TbxSession, ExhaustedMemoryIsReportedAndHarmless) {
  trace::PageBudget budget(4);
  std::unique_ptr<trace::Simulator> simulator =
      std::move(trace::Simulator::create(*spec::find_device("icl"), {.budget = &budget})).value();
  Messages out;
  for (uint32_t page = 0; page < 10; ++page) out.write(0x1000 * page, {page + 1});
  for (uint32_t page = 0; page < 10; ++page) out.read(0x1000 * page, 4);
  fuzz::ScriptChannel channel(out.bytes());
  std::mutex guard;
  std::vector<std::string> log;
  Session session({channel, [&]() -> Result<trace::Simulator*> { return simulator.get(); }, guard,
                   [&](std::string_view line) { log.emplace_back(line); }});
  session.run();
  EXPECT_THAT(log, ElementsAre(HasSubstr("the memory limit is reached")));
  EXPECT_EQ(channel.output().size(), 10u * 28);
}

// System and local memory of all simulators share one budget; a simulator that ends returns its part.
TEST(TbxSession, LocalMemoryCountsTowardsTheLimit) {
  constexpr uint64_t kLocalPages = 16;  // both allocated at the same time
  trace::PageBudget budget(3 * kLocalPages + 1);
  const auto make = [&] {
    return std::move(trace::Simulator::create(*spec::find_device("dg1"), {.budget = &budget})).value();
  };
  const auto write = [](trace::Simulator& simulator, trace::aub::MemorySpace space, uint64_t address) {
    return simulator.write_memory(space, address, std::as_bytes(std::span("x", 1)));
  };
  const auto local = trace::aub::MemorySpace::local;
  auto first = make();
  EXPECT_TRUE(write(*first, local, 0x10'0000));
  EXPECT_TRUE(write(*first, local, 0x10'8000)) << "the same piece";
  EXPECT_TRUE(write(*first, local, 0x20'0000));
  auto second = make();
  EXPECT_TRUE(write(*second, trace::aub::MemorySpace::system, 0x5000));
  EXPECT_TRUE(write(*second, local, 0x30'0000));
  EXPECT_FALSE(write(*second, local, 0x40'0000)) << "used up";
  EXPECT_FALSE(write(*second, trace::aub::MemorySpace::system, 0x6000));
  std::byte byte{1};
  EXPECT_TRUE(second->read_memory(local, 0x40'0000, std::span(&byte, 1)));
  EXPECT_EQ(byte, std::byte{0});
  first.reset();
  EXPECT_TRUE(write(*second, local, 0x40'0000));
  second.reset();
  EXPECT_TRUE(budget.take(3 * kLocalPages + 1)) << "everything was returned";
}

}  // namespace
}  // namespace halogen::tbx
