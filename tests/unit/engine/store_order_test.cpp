// The order in which the effects of commands become visible (DG1 PRM vol. 13, posted and non-posted operations, seed
// 000). In the model every effect is visible before the next command starts, which is one of the orders that the manual
// allows.
#include <gtest/gtest.h>

#include "covers.h"
#include "engine_events.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kStep = 10;  // virtual nanoseconds: about one command
constexpr uint32_t kMark = 0x55;

class OrderTest : public ::testing::TestWithParam<const char*> {};

struct OrderBench : MiBench {
  explicit OrderBench(std::string_view engine) : MiBench("dg1", engine), data(allocate(1)), status(allocate(1)) {
    set_reg(engine, 0x80, low(status));
    poke(data + 0x800, kMark);
  }
  // Every command with a posted write, each to its own address.
  Dwords posted() const {
    const uint64_t entry = pte(host_address(data));
    const bool render = engine_name == "rcs0";
    return load(gpr(1), kMark) + save(gpr(1), data) +                   // MI_STORE_REGISTER_MEM
           Dwords{0x1760'0003} + at(data + 4) + at(data + 0x800) +      // MI_COPY_MEM_MEM
           Dwords{0x1080'0001, 0x40 << 2, kMark} +                      // MI_STORE_DATA_INDEX
           store(data + 8, kMark) +                                     // MI_STORE_DATA_IMM
           Dwords{0x0380'0000} +                                        // MI_REPORT_HEAD
           Dwords{0x1180'0002, 0x0ff0'0000, low(entry), high(entry)} +  // MI_UPDATE_GTT
           Dwords{0x1780'0401 | 1u << 22 | 1u << 18 | 2, low(data + 12), high(data + 12), kMark,
                  0} +                                                                   // MI_ATOMIC: move
           (render ? Dwords{0x1400'0002, low(data + 0x100) | 1, 0, kMark} : Dwords{}) +  // MI_REPORT_PERF_COUNT
           (render ? Dwords{0x7a00'0004, 1u << 14 | 1u << 24, low(data + 0x20), 0, kMark, 0} : Dwords{});
  }
  void expect_posted() {
    for (uint64_t place = 0; place < 16; place += 4) {
      EXPECT_EQ(peek(data + place), kMark) << place;
    }
    EXPECT_EQ(peek(status + 0x100), kMark);
    EXPECT_NE(peek(status + 0x10), 0u);
    EXPECT_EQ(entry(0x0ff0'0000 / kPage), pte(host_address(data)));
    if (engine_name == "rcs0") {
      EXPECT_EQ(peek(data + 0x100), kMark);
      EXPECT_EQ(peek(data + 0x20), kMark);
    }
  }
  // Runs until the first dword of `flag` is written.
  void run_until_seen(const Dwords& dwords, uint64_t flag) {
    emit(engine_name, dwords);
    submit(engine_name);
    for (int i = 0; i < 1000 && peek(flag) != kMark; ++i) {
      device->advance(kStep);
    }
    EXPECT_EQ(peek(flag), kMark);
  }

  uint64_t data;
  uint64_t status;
};

// When a non-posted write is visible, all earlier posted writes are.
TEST_P(OrderTest, NonPostedWriteIsVisibleAfterEarlierPostedWrites) {
  COVERS("DG1-ORD-01");
  COVERS("DG1-ORD-02");
  const bool render = std::string_view(GetParam()) == "rcs0";
  const auto non_posted = [&](const OrderBench& bench, unsigned number, uint64_t flag) -> Dwords {
    switch (number) {
      case 0:  // MI_STORE_DATA_IMM with completion
        return {0x1040'0002 | 1u << 10, low(flag), high(flag), kMark};
      case 1:  // MI_ATOMIC with a stall
        return {0x1780'0400 | 1u << 22 | 1u << 18 | 1u << 17 | 3, low(flag), high(flag), kMark, 0};
      default:  // PIPE_CONTROL with a stall, or MI_FLUSH_DW
        static_cast<void>(bench);
        return render ? Dwords{0x7a00'0004, 1u << 20 | 1u << 14 | 1u << 24, low(flag), 0, kMark, 0}
                      : Dwords{0x1300'0003 | 1u << 14, low(flag) | 4, 0, kMark, 0};
    }
  };
  for (unsigned number = 0; number < 3; ++number) {
    OrderBench bench(GetParam());
    const uint64_t flag = bench.data + 0x400;
    bench.run_until_seen(bench.posted() + non_posted(bench, number, flag), flag);
    bench.expect_posted();
  }
}

TEST_P(OrderTest, FlushesAndInterruptsFollowEarlierPostedWrites) {
  COVERS("DG1-ORD-03");
  const bool render = std::string_view(GetParam()) == "rcs0";
  {  // a stall alone: its post-sync write marks completion
    OrderBench bench(GetParam());
    const uint64_t flag = bench.data + 0x400;
    bench.run_until_seen(
        bench.posted() + (render ? Dwords{0x7a00'0004, 1u << 20 | 1u << 14 | 1u << 24, low(flag), 0, kMark, 0}
                                 : Dwords{0x1300'0003 | 1u << 14, low(flag) | 4, 0, kMark, 0}),
        flag);
    bench.expect_posted();
  }
  const std::pair<Dwords, uint32_t> pushes[] = {
      {{0x0100'0000}, kUserEvent},  // MI_USER_INTERRUPT
      {render ? Dwords{0x7a00'0004, 1u << 8, 0, 0, 0, 0} : Dwords{0x1300'0003 | 1u << 8, 0, 0, 0, 0}, kNotifyEvent}};
  for (const auto& [push, sign] : pushes) {
    OrderBench bench(GetParam());
    EngineEvents events(bench);
    bench.emit(GetParam(), bench.posted() + push);
    bench.submit(GetParam());
    uint32_t seen = 0;
    for (int i = 0; i < 1000 && seen == 0; ++i) {
      bench.device->advance(kStep);
      seen = events.take(GetParam());
    }
    EXPECT_EQ(seen, sign);
    bench.expect_posted();
  }
}

// Every producer before every consumer. Three consumers see the write without further help; batch starts and
// conditional batch ends see it if software puts a non-posted write in between.
TEST_P(OrderTest, ConsumersSeeEarlierWritesOfTheirEngine) {
  COVERS("DG1-ORD-04");
  OrderBench bench(GetParam());
  const uint64_t data = bench.data;
  for (uint32_t number = 0; number < 4; ++number) {
    SCOPED_TRACE(number);
    const auto produce = [&](uint64_t to, uint32_t value) -> Dwords {
      switch (number) {
        case 0:
          return bench.store(to, value);
        case 1:
          return bench.load(bench.gpr(6), value) + bench.save(bench.gpr(6), to);
        case 2:
          return bench.store(data + 0x80, value) + Dwords{0x1760'0003} + bench.at(to) + bench.at(data + 0x80);
        default:  // MI_ATOMIC: move
          return {0x1780'0401 | 1u << 22 | 1u << 18 | 2, low(to), high(to), value, 0};
      }
    };
    const uint32_t value = 0x100 + number;
    bench.go(bench.store(data, 0) + produce(data, value) + Dwords{0x14c0'0002, bench.gpr(2)} + bench.at(data));
    EXPECT_EQ(bench.read(bench.gpr(2)), value) << "MI_LOAD_REGISTER_MEM";
    bench.go(produce(data, value) + Dwords{0x1780'0501 | 1u << 22 | 1u << 16} + bench.at(data));
    EXPECT_EQ(bench.peek(data), value + 1) << "MI_ATOMIC: increment";
    bench.go(produce(data, value) + Dwords{0x0e40'0002 | 4u << 12 | 1u << 15, value} + bench.at(data) +
             bench.store(data + 4, value));
    EXPECT_EQ(bench.peek(data + 4), value) << "MI_SEMAPHORE_WAIT";
    // MI_STORE_DATA_IMM with completion orders the rest.
    const Dwords fence{0x1040'0002 | 1u << 10, low(data + 0x90), high(data + 0x90), 1};
    const uint64_t batch = bench.allocate(1);
    const Dwords commands = bench.store(data + 8, 0) + MiBench::end();
    bench.poke(batch, std::span<const uint32_t>(commands));
    bench.go(produce(batch + 12, value) + fence + bench.batch(batch, true));
    EXPECT_EQ(bench.peek(data + 8), value) << "MI_BATCH_BUFFER_START";
    for (const bool ends : {false, true}) {  // continues while memory is greater
      bench.go_in_batch(bench.store(data, ends ? value : 0) + produce(data, ends ? 0 : value) + fence +
                            Dwords{0x1b40'0002 | 1u << 21, 5} + bench.at(data) + bench.store(data + 12, value + ends),
                        true);
      EXPECT_EQ(bench.peek(data + 12), value) << "MI_CONDITIONAL_BATCH_BUFFER_END";
    }
  }
  bench.go(bench.store(data, 7) + Dwords{0x14c0'0002, bench.gpr(2)} + bench.at(data));  // MI_LOAD_REGISTER_MEM
  EXPECT_EQ(bench.read(bench.gpr(2)), 7u);
  bench.go(bench.store(data, 8) + Dwords{0x1780'0501 | 1u << 22 | 1u << 16} + bench.at(data));  // MI_ATOMIC
  EXPECT_EQ(bench.peek(data), 9u);
  EXPECT_EQ(bench.read(bench.gpr(4)), 8u);
  bench.go(bench.store(data, 10) + Dwords{0x0e40'0002 | 4u << 12 | 1u << 15, 10} + bench.at(data) +
           bench.store(data + 4, 1));  // MI_SEMAPHORE_WAIT
  EXPECT_EQ(bench.peek(data + 4), 1u);
}

TEST_P(OrderTest, RegisterWritesCompleteBeforeTheNextCommand) {
  COVERS("DG1-ORD-05");
  OrderBench bench(GetParam());
  const uint64_t data = bench.data;
  const auto gpr = [&](unsigned index) { return bench.gpr(index); };
  const uint32_t result = bench.base() + 0x418;
  bench.poke(data + 0x40, 0x44);
  const Dwords add{0x0d00'0003, 0x080u << 20 | 0x20u << 10 | 1, 0x080u << 20 | 0x21u << 10 | 2, 0x100u << 20,
                   0x180u << 20 | 3u << 10 | 0x31};
  bench.go(bench.load(gpr(1), 5) + bench.save(gpr(1), data) +                                    // LRI, SRM
           bench.load(gpr(1), 6) + Dwords{0x1500'0001, gpr(1), gpr(2)} +                         // LRI, LRR
           add + bench.save(gpr(3), data + 4) +                                                  // LRR, MATH, SRM
           Dwords{0x14c0'0002, gpr(1)} + bench.at(data + 0x40) + bench.save(gpr(1), data + 8) +  // LRM, SRM
           Dwords{0x0e40'0002 | 4u << 12 | 1u << 15 | 1u << 16, 0x44, gpr(1), 0} +               // register poll
           bench.load(result, 1) + Dwords{0x0080'0004} + bench.store(data + 12, 1) +             // SET_PREDICATE: no-op
           Dwords{0x0080'0000} + bench.load(result, 0) + Dwords{0x0080'0004} + bench.store(data + 16, 1) +
           Dwords{0x0080'0000});
  EXPECT_EQ(bench.peek(data), 5u);
  EXPECT_EQ(bench.peek(data + 4), 12u);
  EXPECT_EQ(bench.peek(data + 8), 0x44u);
  EXPECT_EQ(bench.peek(data + 12), 0u);
  EXPECT_EQ(bench.peek(data + 16), 1u);
  if (std::string_view(GetParam()) == "rcs0") {
    const Dwords control{0x7a00'0004, 1u << 20 | 1u << 23 | 1u << 14, gpr(1), 0, 0x77, 0};
    bench.go(control + bench.save(gpr(1), data + 20) + bench.load(bench.base() + 0x400, 3) +
             bench.load(bench.base() + 0x408, 3) + Dwords{0x0600'0000 | 2 | 2u << 6});  // MI_PREDICATE: equal
    EXPECT_EQ(bench.peek(data + 20), 0x77u);
    EXPECT_EQ(bench.read(result) & 1, 1u);
  }
}

// Software may let the load complete after the next command; it must complete.
TEST_P(OrderTest, AsyncRegisterLoadIsVisibleToLaterCommands) {
  COVERS("DG1-ORD-05");
  OrderBench bench(GetParam());
  bench.poke(bench.data, 0x1234);
  bench.go(Dwords{0x14c0'0002 | 1u << 21, bench.gpr(5)} + bench.at(bench.data) + bench.store(bench.data + 4, 1));
  EXPECT_EQ(bench.read(bench.gpr(5)), 0x1234u);
  EXPECT_EQ(bench.peek(bench.data + 4), 1u);
}

INSTANTIATE_TEST_SUITE_P(Engines, OrderTest, ::testing::Values("rcs0", "bcs0", "vcs0", "vecs0"));

}  // namespace
}  // namespace halogen
