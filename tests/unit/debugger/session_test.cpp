// A thread of a dispatch under a debugger: its stops, its answers, and that it changes nothing else. Kernels are for
// Gen9; their instructions begin at 0x40 and have 16 bytes each.
#include "debugger/session.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "unit/compute/dispatch_bench.h"
#include "unit/compute/kernels.h"

namespace halogen::debugger {
namespace {

using compute::Stop;
using nlohmann::json;

constexpr uint32_t kOut = 0x2'0000;
constexpr uint32_t kFirst = 0x40;
constexpr uint32_t kWait = kFirst + 6 * 16;  // in kSwap: the barrier, then 9 more

class Stepping : public compute::DispatchBench {
 protected:
  Stepping() { bind_raw(0, kOut, 0x1'0000); }

  template <size_t N>
  void load(const uint32_t (&code)[N], uint32_t threads) {
    for (size_t i = 0; i < N; ++i) word(kCode + kFirst + i * 4) = code[i];
    const uint32_t descriptor[8] = {kFirst, 0, 0, 0, kTable, 1u << 16, threads | 1u << 16 | 1u << 21, 0};
    std::copy(std::begin(descriptor), std::end(descriptor), &word(kDescriptors));
    for (uint32_t i = 0; i < threads; ++i) word(kConstants + i * 32) = i;
    threads_ = threads;
  }

  compute::Outcome dispatch(uint32_t groups, compute::Observer* observer) {
    const std::vector<uint32_t> command{0x7105'000d, 0, 0,   0,  1u << 30 | (threads_ - 1), 0, 0, groups, 0, 0, 1,
                                        0,           1, ~0u, ~0u};
    compute::Walk walk;
    EXPECT_EQ(prepare(command, walk.job), compute::JobFault::none);
    compute::Dispatcher dispatcher(kernels_);
    dispatcher.set_observer(observer);
    compute::Outcome outcome{.stop = Stop::unfinished};
    uint64_t instructions = 0;
    for (unsigned part = 0; outcome.stop == Stop::unfinished && part < 10; ++part) {
      outcome = dispatcher.run(generation_, settings_, walk, memory_.space(), part == 0);
      instructions += outcome.instructions;
    }
    outcome.instructions = instructions;
    return outcome;
  }
  // Returns a session that runs a script. answers_ gets its answers, each as JSON.
  Session session(Target target, std::deque<std::string> lines) {
    lines_ = std::move(lines);
    Console console;
    console.json = true;
    console.next_line = [this]() -> std::optional<std::string> {
      if (lines_.empty()) return std::nullopt;
      std::string line = lines_.front();
      lines_.pop_front();
      return line;
    };
    console.put = [this](std::string_view text) {
      EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
      answers_.push_back(json::parse(text));
    };
    return {target, console, [this](const memory::WalkContext& tables, uint64_t address, std::span<std::byte> into) {
              EXPECT_EQ(tables.roots[0], memory_.root());
              std::ranges::fill(into, std::byte{0});
              if (address < kVa || address + into.size() > kVa + kBytes) return false;
              std::ranges::copy(memory_.bytes().subspan(address - kVa, into.size()), into.begin());
              return true;
            }};
  }

  uint32_t threads_ = 1;
  std::deque<std::string> lines_;
  std::vector<json> answers_;
};

TEST_P(Stepping, SteppingExecutesEachInstructionOnceWithTheSameResult) {
  load(compute::kernels::kSwap, 4);
  const std::vector<std::byte> before(memory_.bytes().begin(), memory_.bytes().end());
  const compute::Outcome plain = dispatch(3, nullptr);
  const std::vector<std::byte> after(memory_.bytes().begin(), memory_.bytes().end());
  ASSERT_NE(before, after);
  for (uint32_t thread = 0; thread < 4; ++thread) {
    SCOPED_TRACE(thread);
    std::ranges::copy(before, memory_.bytes().begin());
    answers_.clear();
    Session stepped =
        session({.group = std::array{1u, 0u, 0u}, .thread = thread}, std::deque<std::string>(100, "step"));
    const compute::Outcome outcome = dispatch(3, &stepped);
    EXPECT_EQ(outcome.stop, Stop::finished);
    EXPECT_EQ(outcome.instructions, plain.instructions);
    EXPECT_EQ(outcome.channels, plain.channels);
    EXPECT_TRUE(std::ranges::equal(memory_.bytes(), after));
    ASSERT_EQ(answers_.size(), 17u);
    for (uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(answers_[i]["stop"], i == 0 ? "start" : "step");
      EXPECT_EQ(answers_[i]["ip"], kFirst + 16 * i);
      EXPECT_EQ(answers_[i]["instructions"], i);
    }
    EXPECT_EQ(answers_[16]["stop"], "ended");
    EXPECT_EQ(answers_[16]["group"], json({1, 0, 0}));
    EXPECT_EQ(answers_[16]["thread"], thread);
    EXPECT_FALSE(stepped.is_over());
  }
}

TEST_P(Stepping, BreakpointShowsRegistersMasksAndCode) {
  load(compute::kernels::kSwap, 4);
  Session stepped =
      session({.thread = 3}, {"break 0xb0", "break 0x60", "c", "step 2", "delete 0x60", "c", "reg r11<0;1,0>:d 2",
                              "regs r10 2", "masks", "arf", "list", "list 0x40 2", "where", "quit"});
  EXPECT_EQ(dispatch(1, &stepped).stop, Stop::finished);
  ASSERT_EQ(answers_.size(), 15u);
  EXPECT_EQ(answers_[1], json({{"break", 0xb0}}));
  EXPECT_EQ(answers_[3]["stop"], "break");
  EXPECT_EQ(answers_[3]["ip"], 0x60);
  EXPECT_EQ(answers_[4]["stop"], "step");
  EXPECT_EQ(answers_[4]["ip"], 0x80);
  EXPECT_EQ(answers_[6]["ip"], 0xb0) << "behind the barrier";
  EXPECT_EQ(answers_[7]["values"], json({103, 103}));
  EXPECT_EQ(answers_[8]["regs"]["r10"][0], 12) << "four times its number";
  EXPECT_EQ(answers_[8]["regs"]["r11"][0], 103);
  EXPECT_EQ(answers_[9]["masks"]["dispatch"], 0xffff);
  EXPECT_EQ(answers_[9]["masks"]["active"], 0xffff);
  EXPECT_EQ(answers_[10]["arf"]["ip"][0], 0xb0);
  ASSERT_EQ(answers_[11]["list"].size(), 10u);
  EXPECT_EQ(answers_[11]["list"][0]["ip"], 0x70) << "four before it";
  EXPECT_EQ(answers_[11]["list"][4]["here"], true);
  EXPECT_EQ(answers_[11]["list"][4]["break"], true);
  EXPECT_EQ(answers_[11]["list"][3]["here"], false);
  EXPECT_EQ(answers_[12]["list"].size(), 2u);
  EXPECT_THAT(answers_[12]["list"][1]["text"].get<std::string>(), testing::HasSubstr("shl (1|M0) r10.0<1>"));
  EXPECT_EQ(answers_[13]["breaks"], json({0xb0}));
  EXPECT_EQ(answers_[14], json({{"quit", true}}));
  EXPECT_TRUE(stepped.is_over());
  EXPECT_FALSE(stepped.had_errors());
  EXPECT_EQ(word(kOut), 101u) << "a thread that is left alone ends";
}

// mov (8) r11, 7; a send to the data cache (an OWord block read whose header is r11); end of thread.
constexpr uint32_t kBlockRead[] = {0x00600001, 0x2160060c, 0x00000000, 0x00000007, 0x0a000031, 0x2180020c,
                                   0x06000160, 0x02180000, 0x00600001, 0x2fe0020c, 0x008d0000, 0x00000000,
                                   0x07600031, 0x20000204, 0x06000fe0, 0x82000010};

TEST_P(Stepping, PayloadShowsFieldsOfR0AndOfTheNextMessageHeader) {
  load(kBlockRead, 1);
  Session stepped = session({.group = std::array{2u, 0u, 0u}}, {"payload", "step", "payload", "quit"});
  EXPECT_EQ(dispatch(3, &stepped).stop, Stop::finished);
  ASSERT_EQ(answers_.size(), 5u);
  const json first = answers_[1]["payload"];
  ASSERT_EQ(first.size(), 3u) << "the next instruction is not a send";
  EXPECT_EQ(first[0]["item"], "COMPUTE_GROUP_X");
  EXPECT_EQ(first[0]["at"], "r0.1");
  EXPECT_EQ(first[0]["fields"]["x"], 2);
  EXPECT_EQ(first[1]["item"], "THREAD_STATE");
  EXPECT_EQ(first[1]["at"], "r0.3");
  EXPECT_EQ(first[1]["fields"]["binding_table"], kTable);
  EXPECT_EQ(first[1]["fields"]["sampler_table"], 0);
  EXPECT_EQ(first[2]["item"], "COMPUTE_GROUP_YZ");
  EXPECT_EQ(first[2]["fields"]["y"], 0);
  const json second = answers_[3]["payload"];
  ASSERT_EQ(second.size(), 4u);
  EXPECT_EQ(second[3]["item"], "DATA_PORT_HEADER");
  EXPECT_EQ(second[3]["at"], "r11.0");
  EXPECT_EQ(second[3]["fields"]["offset"], 7);
  EXPECT_EQ(second[3]["fields"]["scratch"], 0) << "7 lies below bit 10";
  EXPECT_EQ(second[3]["fields"]["mask"], 7);
}

TEST_P(Stepping, WatchReportsWritesOfThisAndOtherThreads) {
  load(compute::kernels::kSwap, 4);
  const std::string own = std::to_string(kVa + kOut);
  const std::string other = std::to_string(kVa + kOut + 12);
  Session stepped = session({}, {"watch " + own + " 4", "watch " + other + " 4", "c", "c", "memory " + own + " 4",
                                 "delete " + own, "delete " + own, "watch 0x1000 4", "memory 0x1000 4"});
  EXPECT_EQ(dispatch(1, &stepped).stop, Stop::finished);
  ASSERT_EQ(answers_.size(), 10u);
  EXPECT_EQ(answers_[3]["stop"], "watch") << "the last thread continues when it has opened the barrier";
  EXPECT_EQ(answers_[3]["ip"], kWait + 16);
  EXPECT_EQ(answers_[3]["watch"]["address"], kVa + kOut + 12);
  EXPECT_EQ(answers_[3]["watch"]["before"], "00000000");
  EXPECT_EQ(answers_[3]["watch"]["after"], "66000000");
  EXPECT_EQ(answers_[4]["stop"], "watch");
  EXPECT_EQ(answers_[4]["ip"], kFirst + 14 * 16) << "behind the message that stores";
  EXPECT_EQ(answers_[4]["watch"]["after"], "65000000");
  EXPECT_EQ(answers_[5]["memory"]["bytes"], "65000000");
  EXPECT_EQ(answers_[5]["memory"]["mapped"], true);
  EXPECT_EQ(answers_[6], json({{"delete", kVa + kOut}}));
  EXPECT_TRUE(answers_[7].contains("error"));
  EXPECT_TRUE(answers_[8].contains("error")) << "nothing is mapped there";
  EXPECT_EQ(answers_[9]["memory"]["mapped"], false);
  EXPECT_TRUE(stepped.had_errors());
  EXPECT_TRUE(stepped.is_over()) << "so does the end of the input";
}

TEST_P(Stepping, GroupThatWaitsForAnotherCanBeStepped) {
  load(compute::kernels::kSpin, 1);
  Session stepped = session({}, {"break 0xb0", "c", "delete 0xb0", "c", "c"});
  EXPECT_EQ(dispatch(2, &stepped).stop, Stop::finished);
  ASSERT_EQ(answers_.size(), 5u);
  EXPECT_EQ(answers_[2]["stop"], "break");
  EXPECT_EQ(answers_[4]["stop"], "ended");
  EXPECT_EQ(word(kOut + 4), 7u);
}

TEST_P(Stepping, DeadlockedThreadIsReportedAsNotEnded) {
  load(compute::kernels::kAlone, 2);
  Session stepped = session({}, {"continue"});
  EXPECT_EQ(dispatch(1, &stepped).stop, Stop::deadlock);
  EXPECT_FALSE(stepped.is_over());
  stepped.finish(0x1234);
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[1], json({{"stop", "finished"}, {"ended", false}, {"memory", "0x0000000000001234"}}));
}

TEST_P(Stepping, IllegalInstructionIsShown) {
  const uint32_t nonsense[8] = {};
  load(nonsense, 1);
  Session stepped = session({}, {"list 0x40 1", "step"});
  EXPECT_EQ(dispatch(1, &stepped).stop, Stop::illegal);
  ASSERT_EQ(answers_.size(), 3u);
  EXPECT_EQ(answers_[1]["list"][0]["text"], "illegal");
  EXPECT_EQ(answers_[2]["stop"], "illegal");
}

TEST_P(Stepping, DispatchesAreCountedAndThreadsMustExist) {
  load(compute::kernels::kSwap, 4);
  Session second = session({.dispatch = 2}, {"quit"});
  dispatch(1, &second);
  EXPECT_FALSE(second.has_begun());
  dispatch(1, &second);
  EXPECT_TRUE(second.has_begun());
  Session no_group = session({.group = std::array{0u, 1u, 0u}}, {});
  dispatch(2, &no_group);
  EXPECT_TRUE(no_group.is_over());
  EXPECT_EQ(no_group.failure(), "dispatch 1 has no group 0,1,0; its groups end before 2,1,1.");
  Session no_thread = session({.thread = 4}, {});
  dispatch(2, &no_thread);
  EXPECT_EQ(no_thread.failure(), "dispatch 1 has no thread 4; a group has 4, counted from 0.");
}

TEST_P(Stepping, ErrorsAreAnsweredAndTheSessionContinues) {
  load(compute::kernels::kSwap, 4);
  Session stepped = session({}, {"jump", "reg r127:ud 9", "regs r127 2", "# nothing", "", "help", "step"});
  dispatch(1, &stepped);
  ASSERT_EQ(answers_.size(), 6u);
  for (const size_t bad : {1u, 2u, 3u}) EXPECT_TRUE(answers_[bad].contains("error")) << answers_[bad];
  EXPECT_TRUE(answers_[4].contains("help"));
  EXPECT_EQ(answers_[5]["ip"], 0x50);
}

INSTANTIATE_TEST_SUITE_P(Chips, Stepping, testing::Values("skl"), [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::debugger
