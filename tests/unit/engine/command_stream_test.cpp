#include "engine/stream/command_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spec/device_model.h"

namespace halogen::engine {
namespace {

constexpr uint32_t kNoop = 0;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kLoadImm = 0x1100'0001;  // one register: three dwords
constexpr uint32_t kPipeControl = 0x7a00'0004;
constexpr uint32_t kUnknown2D = 0x5fc0'0001;  // client 2, unknown opcode: three dwords by the length rule of the client

// Memory with pages at chosen addresses, so that contiguous runs end where a test needs it.
class Pages final : public CommandMemory {
 public:
  void put(uint64_t address, std::vector<uint32_t> dwords) { pages_[address] = std::move(dwords); }
  std::span<const uint32_t> dwords_at(StreamSpace space, GpuVa address) override {
    ++fetches;
    spaces.push_back(space);
    auto it = pages_.upper_bound(address.value);
    if (it == pages_.begin()) return {};
    --it;
    const uint64_t index = (address.value - it->first) / 4;
    return index < it->second.size() ? std::span<const uint32_t>(it->second).subspan(index)
                                     : std::span<const uint32_t>{};
  }
  int fetches = 0;
  std::vector<StreamSpace> spaces;

 private:
  std::map<uint64_t, std::vector<uint32_t>> pages_;
};

// Records what it sees, and performs the action that a test planned for an address.
class Script final : public CommandVisitor {
 public:
  Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const CommandPlace& place) override {
    seen.push_back(std::string(desc.name));
    places.push_back(place);
    last.assign(dwords.begin(), dwords.end());
    const auto it = plan.find(place.address.value);
    return it != plan.end() ? it->second : Next::advance();
  }
  Next on_unknown(std::span<const uint32_t> dwords, const CommandPlace&) override {
    seen.push_back("unknown " + std::to_string(dwords.size()));
    return Next::advance();
  }
  void on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                    const CommandPlace&) override {
    seen.push_back("truncated " + std::string(desc != nullptr ? desc->name : "unknown") + " " +
                   std::to_string(present.size()) + "/" + std::to_string(total));
  }
  std::map<uint64_t, Next> plan;
  std::vector<std::string> seen;
  std::vector<CommandPlace> places;
  std::vector<uint32_t> last;
};

class CommandStreamTest : public ::testing::Test {
 protected:
  StreamStop run(StreamLevel level, uint64_t budget = 1000) {
    stream.start(level);
    return stream.run(script, budget);
  }
  static StreamLevel from(uint64_t address) { return {.space = StreamSpace::ppgtt, .address = GpuVa{address}}; }

  Pages memory;
  Script script;
  CommandStream stream{spec::CommandTable::get(spec::find_device("bdw")->id, spec::EngineClass::render), memory};
};

using Seen = std::vector<std::string>;

TEST_F(CommandStreamTest, FramesCommandsByTheirLength) {
  memory.put(0x1000, {kNoop, kLoadImm, 0x2244, 1, kPipeControl, 0, 0, 0, 0, 0, kBatchEnd});
  auto level = from(0x1000);
  level.end = GpuVa{0x1000 + 44};
  EXPECT_EQ(run(level), StreamStop::exhausted);
  EXPECT_EQ(script.seen, (Seen{"MI_NOOP", "MI_LOAD_REGISTER_IMM", "PIPE_CONTROL", "MI_BATCH_BUFFER_END"}));
  EXPECT_EQ(script.places[2].address.value, 0x1010u);
}

TEST_F(CommandStreamTest, UnknownCommandLengthFollowsTheCommandType) {
  memory.put(0x1000, {kUnknown2D, kBatchEnd, kBatchEnd, kNoop});
  auto level = from(0x1000);
  level.end = GpuVa{0x1010};
  EXPECT_EQ(run(level), StreamStop::exhausted);
  EXPECT_EQ(script.seen, (Seen{"unknown 3", "MI_NOOP"}));
  // MI commands with an opcode below 10h are one dword long, whatever their low bits are.
  EXPECT_EQ(length_of_unknown(0x0780'00ff), 1u);
  EXPECT_EQ(length_of_unknown(0x1f80'0003), 5u);
  EXPECT_EQ(length_of_unknown(0xe000'00ff), 1u);
}

// Changes memory while a command is visited, as a guest on another CPU does.
class Changer final {
 public:
  explicit Changer(std::vector<uint32_t*> places) : places_(std::move(places)) {}
  Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords, const CommandPlace& /*place*/) {
    names.emplace_back(desc.name);
    before.assign(dwords.begin(), dwords.end());
    for (uint32_t* const place : places_) *place = ~*place;
    after.assign(dwords.begin(), dwords.end());
    return Next::leave();
  }
  static Next on_unknown(std::span<const uint32_t> /*dwords*/, const CommandPlace& /*place*/) { return Next::leave(); }
  static void on_truncated(const spec::CommandDesc* /*desc*/, std::span<const uint32_t> /*present*/, uint32_t /*total*/,
                           const CommandPlace& /*place*/) {}
  std::vector<std::string> names;
  std::vector<uint32_t> before;
  std::vector<uint32_t> after;

 private:
  std::vector<uint32_t*> places_;
};

TEST_F(CommandStreamTest, VisitorSeesOneCopyOfACommand) {
  const std::vector<uint32_t> command{kPipeControl, 1, 2, 3, 4, 5};
  memory.put(0x1000, command);
  std::vector<uint32_t*> places;
  for (const uint32_t& dword : memory.dwords_at(StreamSpace::ppgtt, GpuVa{0x1000})) {
    places.push_back(const_cast<uint32_t*>(&dword));
  }
  Changer changer(places);
  stream.start(from(0x1000));
  EXPECT_EQ(stream.run(changer), StreamStop::left);
  EXPECT_EQ(changer.before, command);
  EXPECT_EQ(changer.after, command) << "memory has changed, the command has not";
}

// Memory whose first dword changes when the rest of a split command is fetched.
class ChangingHeader final : public CommandMemory {
 public:
  std::span<const uint32_t> dwords_at(StreamSpace /*space*/, GpuVa address) override {
    if (address.value != 0x1000) {
      first_[0] = kBatchEnd;
      return rest_;
    }
    return first_;
  }

 private:
  std::array<uint32_t, 2> first_{kPipeControl, 1};
  std::array<uint32_t, 4> rest_{2, 3, 4, 5};
};

TEST(SplitCommand, HeaderIsReadOnce) {
  ChangingHeader memory;
  CommandStream stream(spec::CommandTable::get(spec::find_device("bdw")->id, spec::EngineClass::render), memory);
  Changer changer({});
  stream.start({.space = StreamSpace::ppgtt, .address = GpuVa{0x1000}});
  EXPECT_EQ(stream.run(changer), StreamStop::left);
  EXPECT_EQ(changer.names, Seen{"PIPE_CONTROL"});
  EXPECT_EQ(changer.before, (std::vector<uint32_t>{kPipeControl, 1, 2, 3, 4, 5}));
}

TEST_F(CommandStreamTest, CommandMayCrossAPageBoundary) {
  memory.put(0x1000, {kNoop, kPipeControl, 1});
  memory.put(0x100c, {2, 3, 4, 5, kBatchEnd});
  script.plan[0x101c] = Next::leave();
  EXPECT_EQ(run(from(0x1000)), StreamStop::left);
  EXPECT_EQ(script.seen, (Seen{"MI_NOOP", "PIPE_CONTROL", "MI_BATCH_BUFFER_END"}));
}

TEST_F(CommandStreamTest, CommandMayWrapAtTheEndOfARing) {
  memory.put(0x1000, {0x2244, 7, kNoop, 0xdead'beef});
  memory.put(0x1ff8, {kNoop, kLoadImm});
  StreamLevel ring{.space = StreamSpace::ggtt,
                   .address = GpuVa{0x1ff8},
                   .end = GpuVa{0x100c},
                   .wrap_to = GpuVa{0x1000},
                   .wrap_at = GpuVa{0x2000}};
  EXPECT_EQ(run(ring), StreamStop::exhausted);
  EXPECT_EQ(script.seen, (Seen{"MI_NOOP", "MI_LOAD_REGISTER_IMM", "MI_NOOP"}));
  EXPECT_EQ(script.places[2].address.value, 0x1008u);
}

TEST_F(CommandStreamTest, RingContinuesWhenItsTailMoves) {
  memory.put(0x1000, {kNoop, kNoop, kNoop, kNoop});
  StreamLevel ring{.space = StreamSpace::ggtt,
                   .address = GpuVa{0x1000},
                   .end = GpuVa{0x1008},
                   .wrap_to = GpuVa{0x1000},
                   .wrap_at = GpuVa{0x2000}};
  EXPECT_EQ(run(ring), StreamStop::exhausted);
  EXPECT_EQ(script.seen.size(), 2u);
  stream.level().end = GpuVa{0x1010};
  stream.invalidate();
  EXPECT_EQ(stream.run(script), StreamStop::exhausted);
  EXPECT_EQ(script.seen.size(), 4u);
}

TEST_F(CommandStreamTest, CallJumpAndReturnFollowTheVisitor) {
  memory.put(0x1000, {kNoop, kNoop, kNoop});
  memory.put(0x2000, {kNoop});
  memory.put(0x3000, {kPipeControl, 0, 0, 0, 0, 0, kBatchEnd});
  script.plan[0x1004] = Next::call(StreamSpace::ppgtt, GpuVa{0x2000});
  script.plan[0x2000] = Next::jump(StreamSpace::ggtt, GpuVa{0x3000});
  script.plan[0x3018] = Next::leave();
  auto level = from(0x1000);
  level.end = GpuVa{0x100c};
  EXPECT_EQ(run(level), StreamStop::exhausted);
  std::vector<std::pair<uint64_t, int>> order;
  for (const CommandPlace& place : script.places) order.emplace_back(place.address.value, place.level);
  EXPECT_EQ(order, (std::vector<std::pair<uint64_t, int>>{
                       {0x1000, 0}, {0x1004, 0}, {0x2000, 1}, {0x3000, 1}, {0x3018, 1}, {0x1008, 0}}));
  EXPECT_EQ(script.places[3].space, StreamSpace::ggtt);
}

TEST_F(CommandStreamTest, StopsAtUnmappedMemory) {
  memory.put(0x1000, {kNoop});
  EXPECT_EQ(run(from(0x1000)), StreamStop::unmapped);
  EXPECT_EQ(stream.level().address.value, 0x1004u);
  EXPECT_EQ(run(from(0x9000'0000)), StreamStop::unmapped);
}

TEST_F(CommandStreamTest, TruncatedCommandIsReported) {
  memory.put(0x1000, {kNoop, kPipeControl, 1, 2, 3, 4, 5});
  auto level = from(0x1000);
  level.end = GpuVa{0x1010};  // the level ends inside the command
  EXPECT_EQ(run(level), StreamStop::truncated);
  EXPECT_EQ(script.seen.back(), "truncated PIPE_CONTROL 3/6");
  memory.put(0x5000, {kUnknown2D});  // memory ends inside the command
  EXPECT_EQ(run(from(0x5000)), StreamStop::truncated);
  EXPECT_EQ(script.seen.back(), "truncated unknown 1/3");
}

TEST_F(CommandStreamTest, WalkResumesAfterABudgetOrStop) {
  memory.put(0x1000, {kNoop, kNoop, kBatchEnd});
  script.plan[0x1004] = Next::stop();
  script.plan[0x1008] = Next::leave();
  EXPECT_EQ(run(from(0x1000), 1), StreamStop::budget);
  EXPECT_EQ(stream.run(script), StreamStop::stopped);
  const StreamState state = stream.state();
  EXPECT_EQ(stream.run(script), StreamStop::left);
  stream.restore(state);
  EXPECT_EQ(stream.run(script), StreamStop::left);
  EXPECT_EQ(script.seen, (Seen{"MI_NOOP", "MI_NOOP", "MI_BATCH_BUFFER_END", "MI_BATCH_BUFFER_END"}));
}

TEST_F(CommandStreamTest, CallsFailAtTheMaximumDepth) {
  memory.put(0x1000, {kNoop});
  script.plan[0x1000] = Next::call(StreamSpace::ppgtt, GpuVa{0x1000});
  EXPECT_EQ(run(from(0x1000)), StreamStop::too_deep);
  EXPECT_EQ(script.seen.size(), StreamState::kMaxLevels);
}

TEST_F(CommandStreamTest, ContiguousRunIsFetchedOnce) {
  memory.put(0x1000, std::vector<uint32_t>(1024, kNoop));
  auto level = from(0x1000);
  level.end = GpuVa{0x2000};
  EXPECT_EQ(run(level, 5000), StreamStop::exhausted);
  EXPECT_EQ(script.seen.size(), 1024u);
  EXPECT_EQ(memory.fetches, 1);
}

TEST_F(CommandStreamTest, MisalignedEndTerminates) {
  memory.put(0x1000, {kNoop, kNoop});
  auto level = from(0x1000);
  level.end = GpuVa{0x1006};
  EXPECT_EQ(run(level), StreamStop::unmapped);
  EXPECT_EQ(script.seen.size(), 1u);
}

TEST_F(CommandStreamTest, AttachedProbeSeesEveryCompleteCommand) {
  memory.put(0x1000, {kLoadImm, 0x2244, 7, kUnknown2D, 0, 0, kNoop, kPipeControl});
  auto level = from(0x1000);
  level.end = GpuVa{0x1000 + 32};
  Seen shown;
  size_t visited = 0;
  {
    const auto listener = stream.commands().listen([&](const CommandView& view) {
      shown.push_back(view.desc != nullptr ? std::string(view.desc->name) : "unknown");
      shown.push_back(std::to_string(view.dwords.size()) + "@" + std::to_string(view.place.address.value - 0x1000));
      EXPECT_EQ(script.seen.size(), visited++) << "the probe is called before the visitor";
    });
    EXPECT_TRUE(stream.commands().watched());
    EXPECT_EQ(run(level), StreamStop::truncated);
  }
  EXPECT_EQ(shown, (Seen{"MI_LOAD_REGISTER_IMM", "3@0", "unknown", "3@12", "MI_NOOP", "1@24"}));
  EXPECT_FALSE(stream.commands().watched());
  run(level);
  EXPECT_EQ(shown.size(), 6u) << "the probe is detached";
}

TEST_F(CommandStreamTest, VisitorMayInvalidateItsOwnWindow) {
  memory.put(0x1000, {kNoop, kNoop, kNoop});
  class Remap final : public CommandVisitor {
   public:
    Remap(CommandStream& stream, Pages& pages) : stream_(stream), pages_(pages) {}
    Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t>, const CommandPlace& place) override {
      seen.push_back(std::string(desc.name));
      if (place.address.value == 0x1000) {
        pages_.put(0x1000, {kNoop, kBatchEnd, kNoop});
        stream_.invalidate();
      }
      return seen.back() == "MI_BATCH_BUFFER_END" ? Next::leave() : Next::advance();
    }
    Next on_unknown(std::span<const uint32_t>, const CommandPlace&) override { return Next::stop(); }
    void on_truncated(const spec::CommandDesc*, std::span<const uint32_t>, uint32_t, const CommandPlace&) override {}
    std::vector<std::string> seen;

   private:
    CommandStream& stream_;
    Pages& pages_;
  } remap(stream, memory);
  stream.start(from(0x1000));
  EXPECT_EQ(stream.run(remap), StreamStop::left);
  EXPECT_EQ(remap.seen, (Seen{"MI_NOOP", "MI_BATCH_BUFFER_END"}));
}

// The walker's shortcut through the table must give the same results as the plain look-ups.
TEST(Framing, ShortcutAgreesWithFindAndLengthOnEveryEngine) {
  uint32_t random = 1;
  const auto next = [&] { return random = random * 1664525u + 1013904223u; };
  for (const spec::DeviceModel& device : spec::device_models()) {
    for (size_t e = 0; e < spec::kEngineClassCount; ++e) {
      const spec::CommandTable& table = spec::CommandTable::get(device.id, static_cast<spec::EngineClass>(e));
      for (const spec::CommandDesc* desc : spec::commands()) {
        const spec::MatchRule& match = desc->match_of_gen[static_cast<size_t>(device.gen)];
        const uint32_t header = match.value | (next() & ~match.mask);
        const auto [found, dwords] = table.frame(header);
        ASSERT_EQ(found, table.find(header)) << desc->name << " on " << device.name;
        if (found != nullptr) {
          ASSERT_EQ(dwords, table.length(*found, header)) << found->name << " on " << device.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace halogen::engine
