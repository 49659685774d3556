// The order in which the effects of commands become visible (DG1 PRM vol. 13, posted and non-posted operations, seed
// 000). In the model every effect is visible before the next command starts, which is one of the orders that the manual
// allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "covers.h"
#include "engine_events.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kStep = 1;  // virtual nanoseconds: at most one command, see expect_program_order()
constexpr uint32_t kMark = 0x55;

class OrderTest : public ::testing::TestWithParam<const char*> {};

struct OrderBench : MiBench {
  explicit OrderBench(std::string_view engine) : MiBench("dg1", engine), data(allocate(1)), status(allocate(1)) {
    set_reg(engine, 0x80, low(status));
    poke(data + 0x800, kMark);
  }
  // A command with a memory write, and the dword that becomes nonzero when the write is visible.
  struct Write {
    Dwords dwords;
    uint64_t place;  // in the global table; kTableEntry: a global table entry
  };
  static constexpr uint64_t kTableEntry = ~uint64_t{0};
  static constexpr uint64_t kMappedAt = 0x0ff0'0000;

  // Every command with a posted write, each to its own address.
  std::vector<Write> posted() const {
    const uint64_t to = pte(host_address(data));
    std::vector<Write> out{
        {load(gpr(1), kMark) + save(gpr(1), data), data},                                   // MI_STORE_REGISTER_MEM
        {Dwords{0x1760'0003} + at(data + 4) + at(data + 0x800), data + 4},                  // MI_COPY_MEM_MEM
        {{0x1080'0001, 0x40 << 2, kMark}, status + 0x100},                                  // MI_STORE_DATA_INDEX
        {store(data + 8, kMark), data + 8},                                                 // MI_STORE_DATA_IMM
        {{0x0380'0000}, status + 0x10},                                                     // MI_REPORT_HEAD
        {{0x1180'0002, static_cast<uint32_t>(kMappedAt), low(to), high(to)}, kTableEntry},  // MI_UPDATE_GTT
        {{0x1780'0402 | 1u << 22 | 1u << 18 | 1, low(data + 12), high(data + 12), kMark, 0}, data + 12}};  // MI_ATOMIC
    if (engine_name == "rcs0") {
      out.push_back({{0x1400'0002, low(data + 0x100) | 1, 0, kMark}, data + 0x100});  // MI_REPORT_PERF_COUNT
      out.push_back({{0x7a00'0004, 1u << 14 | 1u << 24, low(data + 0x20), 0, kMark, 0}, data + 0x20});  // PIPE_CONTROL
    }
    return out;
  }
  Dwords all_posted() const {
    Dwords out;
    for (const Write& write : posted()) out = out + write.dwords;
    return out;
  }
  // Every command with a non-posted write, to one address.
  std::vector<Write> non_posted(uint64_t flag) const {
    const bool render = engine_name == "rcs0";
    return {
        {{0x1040'0002 | 1u << 10, low(flag), high(flag), kMark}, flag},  // MI_STORE_DATA_IMM with completion
        {{0x1780'0402 | 1u << 22 | 1u << 18 | 1u << 17 | 1, low(flag), high(flag), kMark, 0}, flag},  // MI_ATOMIC
        {render ? Dwords{0x7a00'0004, 1u << 20 | 1u << 14 | 1u << 24, low(flag), 0, kMark, 0}  // PIPE_CONTROL, stall
                : Dwords{0x1300'0003 | 1u << 14, low(flag) | 4, 0, kMark, 0},                  // MI_FLUSH_DW
         flag}};
  }
  bool visible(const Write& write) {
    return write.place == kTableEntry ? entry(kMappedAt / kPage) == pte(host_address(data)) : peek(write.place) != 0;
  }
  void expect_posted() {
    for (const Write& write : posted()) EXPECT_TRUE(visible(write)) << std::hex << write.place;
  }
  // Runs the commands and looks at memory after each nanosecond. No command takes less, so each look sees at most one
  // more write, and that is the next one in the order of the program.
  void expect_program_order(const std::vector<Write>& writes) {
    Dwords dwords;
    for (const Write& write : writes) {
      EXPECT_FALSE(visible(write)) << std::hex << write.place;
      dwords = dwords + write.dwords;
    }
    emit(engine_name, dwords);
    submit(engine_name);
    size_t seen = 0;
    for (int i = 0; i < 20'000 && seen < writes.size(); ++i) {
      device->advance(kStep);
      if (visible(writes[seen])) ++seen;
      for (size_t later = seen; later < writes.size(); ++later) {
        ASSERT_FALSE(visible(writes[later])) << "write " << later << " before or together with write " << seen;
      }
    }
    EXPECT_EQ(seen, writes.size());
  }
  // Runs until the first dword of `flag` is written.
  void run_until_seen(const Dwords& dwords, uint64_t flag) {
    emit(engine_name, dwords);
    submit(engine_name);
    for (int i = 0; i < 20'000 && peek(flag) != kMark; ++i) {
      device->advance(kStep);
    }
    EXPECT_EQ(peek(flag), kMark);
  }

  uint64_t data;
  uint64_t status;
};

// A non-posted write is visible after all earlier posted writes and before the write of the next command. Each posted
// write is the last one before it in turn.
TEST_P(OrderTest, NonPostedWriteSeparatesEarlierFromLaterWrites) {
  COVERS("DG1-ORD-01");
  COVERS("DG1-ORD-02");
  const size_t commands = OrderBench(GetParam()).posted().size();
  for (size_t number = 0; number < 3; ++number) {
    for (size_t first = 0; first < commands; ++first) {
      SCOPED_TRACE(number);
      SCOPED_TRACE(first);
      OrderBench bench(GetParam());
      std::vector<OrderBench::Write> writes = bench.posted();
      std::rotate(writes.begin(), writes.begin() + static_cast<ptrdiff_t>(first), writes.end());
      writes.push_back(bench.non_posted(bench.data + 0x400)[number]);
      writes.push_back({bench.store(bench.data + 0x404, kMark), bench.data + 0x404});
      bench.expect_program_order(writes);
    }
  }
}

TEST_P(OrderTest, FlushesAndInterruptsFollowEarlierPostedWrites) {
  COVERS("DG1-ORD-03");
  const bool render = std::string_view(GetParam()) == "rcs0";
  {  // a stall alone: its post-sync write marks completion
    OrderBench bench(GetParam());
    const uint64_t flag = bench.data + 0x400;
    bench.run_until_seen(
        bench.all_posted() + (render ? Dwords{0x7a00'0004, 1u << 20 | 1u << 14 | 1u << 24, low(flag), 0, kMark, 0}
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
    bench.emit(GetParam(), bench.all_posted() + push);
    bench.submit(GetParam());
    uint32_t seen = 0;
    for (int i = 0; i < 20'000 && seen == 0; ++i) {
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

// Every command that writes a register, directly before every command that reads it.
TEST_P(OrderTest, RegisterReadersSeeTheLastWrite) {
  COVERS("DG1-ORD-06");
  OrderBench bench(GetParam());
  const bool render = std::string_view(GetParam()) == "rcs0";
  const uint64_t data = bench.data;
  const uint32_t result = bench.base() + 0x418;
  const auto math = [](uint32_t to, uint32_t left, uint32_t right) {
    return Dwords{0x0d00'0003, 0x080u << 20 | 0x20u << 10 | left, 0x080u << 20 | 0x21u << 10 | right, 0x100u << 20,
                  0x180u << 20 | to << 10 | 0x31};
  };
  constexpr unsigned kWriters = 5;
  const auto write = [&](unsigned writer, uint32_t to, uint32_t value) -> Dwords {
    switch (writer) {
      case 0:
        return MiBench::load(to, value);
      case 1:
        return bench.store(data + 0x80, value) + Dwords{0x14c0'0002, to} + bench.at(data + 0x80);
      case 2:
        return bench.load64(bench.gpr(9), value) + Dwords{0x1500'0001, bench.gpr(9), to};
      case 3:  // only general registers
        return bench.load64(bench.gpr(9), value - 1) + bench.load64(bench.gpr(10), 1) +
               math((to - bench.gpr(0)) / 8, 9, 10);
      default:
        return {0x7a00'0004, 1u << 20 | 1u << 23 | 1u << 14, to, 0, value, 0};
    }
  };
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    SCOPED_TRACE(writer);
    if (writer == 4 && !render) continue;
    const uint32_t value = 0x500 + writer;
    const uint32_t gpr = bench.gpr(5);
    const Dwords old = bench.load64(gpr, 0x77) + bench.load64(bench.gpr(8), 0);
    bench.go(old + write(writer, gpr, value) + bench.save(gpr, data));
    EXPECT_EQ(bench.peek(data), value) << "MI_STORE_REGISTER_MEM";
    bench.go(old + write(writer, gpr, value) + Dwords{0x1500'0001, gpr, bench.gpr(6)});
    EXPECT_EQ(bench.read(bench.gpr(6)), value) << "MI_LOAD_REGISTER_REG";
    bench.go(old + write(writer, gpr, value) + math(7, 5, 8));
    EXPECT_EQ(bench.reg64(bench.gpr(7)), value) << "MI_MATH";
    // One look suffices: the wait ends before the first poll, which is a microsecond later.
    bench.emit(bench.engine_name, old + write(writer, gpr, value) +
                                      Dwords{0x0e40'0002 | 4u << 12 | 1u << 15 | 1u << 16, value, gpr, 0} +
                                      bench.store(data + 4, value));
    bench.submit(bench.engine_name);
    bench.device->advance(900);
    EXPECT_EQ(bench.peek(data + 4), value) << "MI_SEMAPHORE_WAIT";
    EXPECT_TRUE(bench.device->settle());
    if (render && writer != 3) {  // MI_PREDICATE: sources equal
      const uint32_t source = bench.base() + 0x400;
      bench.go(bench.load64(source, 0x77) + bench.load64(source + 8, value) + write(writer, source, value) +
               Dwords{0x0600'0000 | 2 | 2u << 6});
      EXPECT_EQ(bench.read(result) & 1, 1u) << "MI_PREDICATE";
    }
    for (const bool skip : {false, true}) {
      if (writer == 3) break;
      bench.go(bench.store(data + 8, 0) + bench.load(result, !skip) + write(writer, result, skip) +
               Dwords{0x0080'0004} + bench.store(data + 8, 1) + Dwords{0x0080'0000});
      EXPECT_EQ(bench.peek(data + 8), skip ? 0u : 1u) << "MI_SET_PREDICATE";
    }
    // MI_SEMAPHORE_SIGNAL: the engine that it wakes reads the register.
    const bool video = bench.engine_name == "vcs0";
    const std::string_view other = video ? "bcs0" : "vcs0";
    bench.poke(data + 0x40, 0);
    bench.poke(data + 0x44, 0);
    bench.start_ring(other);
    bench.emit(other, Dwords{0x0e40'0002 | 4u << 12, 1} + bench.at(data + 0x40) + bench.save(gpr, data + 0x44));
    bench.submit(other);
    bench.device->advance(20'000);
    EXPECT_EQ(bench.peek(data + 0x44), 0u);
    bench.poke(data + 0x40, 1);
    bench.go(old + write(writer, gpr, value) + Dwords{0x0d80'0000 | (video ? 2u : 1u) << 15, 0});
    EXPECT_EQ(bench.peek(data + 0x44), value) << "MI_SEMAPHORE_SIGNAL";
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
