// MI commands that load and store registers.
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

// Registers that are plain storage while nothing is drawn: counters of the vertex fetcher.
constexpr uint32_t kStorage = 0x2310;
constexpr uint32_t kSecond = 0x2318;

class RegisterTest : public ::testing::TestWithParam<const char*> {};

TEST_P(RegisterTest, StoreReturnsTheImmediateThatWasLoaded) {
  COVERS("G45-1.8-02");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go(bench.load(kStorage, 0x12'3456) + bench.save(kStorage, data) + bench.load(kStorage, 0x0a'bcde) +
           bench.save(kStorage, data + 4));
  EXPECT_EQ(bench.peek(data), 0x12'3456u);
  EXPECT_EQ(bench.peek(data + 4), 0x0a'bcdeu);
  EXPECT_EQ(bench.read(kStorage), 0x0a'bcdeu);
}

TEST_P(RegisterTest, EachByteDisableBitProtectsOneByte) {
  COVERS("G45-1.8-01");
  COVERS("G45-1.8-03");
  COVERS("G45-3.2-01");
  MiBench bench(GetParam());
  for (uint32_t disabled = 0; disabled < 16; ++disabled) {
    bench.go(bench.load(kStorage, 0x0011'1111));
    bench.go({0x1100'0001 | disabled << 8, kStorage, 0x002a'5c36});
    uint32_t expected = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      const uint32_t source = (disabled >> byte & 1) != 0 ? 0x0011'1111 : 0x002a'5c36;
      expected |= source & 0xffu << 8 * byte;
    }
    EXPECT_EQ(bench.read(kStorage), expected) << disabled;
  }
}

TEST_P(RegisterTest, LoadImmediateTakesSeveralPairs) {
  COVERS("G45-1.8-06");
  MiBench bench(GetParam());
  bench.go({0x1100'0005, kStorage, 1, kSecond, 2, kStorage, 3});
  EXPECT_EQ(bench.read(kStorage), 3u);
  EXPECT_EQ(bench.read(kSecond), 2u);
}

TEST_P(RegisterTest, RingControlMayForbidRegisterAccess) {
  COVERS("G45-1.8-04");
  MiBench bench(GetParam());
  const uint32_t control = bench.reg("rcs0", EngineBench::kControl);
  bench.go(bench.load(kStorage, 5));
  bench.set_reg("rcs0", EngineBench::kControl, control | 1u << 8);
  bench.go(bench.load(kStorage, 6));
  EXPECT_EQ(bench.read(kStorage), 5u);
  bench.set_reg("rcs0", EngineBench::kControl, control);
  bench.go(bench.load(kStorage, 7));
  EXPECT_EQ(bench.read(kStorage), 7u);
}

INSTANTIATE_TEST_SUITE_P(Chips, RegisterTest,
                         ::testing::Values("i965", "gm965", "g45", "gm45", "snb", "bdw", "skl", "icl", "tgl", "dg1"));

class EarlyRegisterTest : public ::testing::TestWithParam<const char*> {};

TEST_P(EarlyRegisterTest, StoresToGraphicsAndPhysicalMemory) {
  COVERS("G45-1.18-01");
  COVERS("G45-1.18-02");
  COVERS("G45-1.18-03");
  MiBench bench(GetParam());
  bench.host.top = uint64_t{1} << 36;
  const uint64_t data = bench.allocate(1);
  const uint64_t physical = 0x5'0000'1230;
  bench.go(bench.load(kStorage, 0x11) + Dwords{0x1240'0001, kStorage, low(data)} +
           Dwords{0x1200'0001, kStorage | high(physical) << 28, low(physical)} + bench.load(kStorage, 0x22));
  EXPECT_EQ(bench.peek64(data), 0x11u);
  EXPECT_EQ(bench.host.value_at<uint64_t>(physical), 0x11u);
}

TEST_P(EarlyRegisterTest, StoringAProtectedRegisterIsUndefinedBehaviour) {
  COVERS("G45-1.18-04");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const uint32_t offset : {0x3c4u, 0x2020u, 0x3000u}) {  // VGA, PGTBL_CTL, a fence
    bench.host.log.clear();
    bench.go({0x1240'0001, offset, low(data)});
    EXPECT_EQ(bench.undefined(), 1u) << std::hex << offset;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, EarlyRegisterTest, ::testing::Values("i965", "gm965", "g45", "gm45"));

class WideRegisterTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WideRegisterTest, LoadsFromMemoryAndFromRegisters) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.poke(data, 0xabcd'ef01);
  for (const uint32_t async : {0u, 1u << 21}) {
    bench.go(bench.load(bench.gpr(1), 0) + Dwords{0x14c0'0002 | async, bench.gpr(1)} + bench.at(data) +
             Dwords{0x1500'0001, bench.gpr(1), bench.gpr(2)});
    EXPECT_EQ(bench.read(bench.gpr(1)), 0xabcd'ef01u);
    EXPECT_EQ(bench.read(bench.gpr(2)), 0xabcd'ef01u);
  }
}

TEST_P(WideRegisterTest, PredicatedStoreDependsOnThePredicate) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint32_t result = bench.base() + 0x418;
  Dwords store = bench.save(bench.gpr(0), data);
  store[0] |= 1u << 21;
  bench.go(bench.load(bench.gpr(0), 0x77) + bench.load(result, 0) + store);
  EXPECT_EQ(bench.peek(data), 0u);
  bench.go(bench.load(result, 1) + store);
  EXPECT_EQ(bench.peek(data), 0x77u);
}

INSTANTIATE_TEST_SUITE_P(Chips, WideRegisterTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

// Offsets relative to the engine that executes the command: the same commands on another engine access that engine's
// registers.
TEST(RelativeRegisters, EngineBaseIsAdded) {
  COVERS("DG1-CS-12");
  constexpr uint32_t kAdd = 1u << 19, kAddSource = 1u << 18, kGlobal = 1u << 22;
  for (const char* engine : {"rcs0", "bcs0", "vcs0", "vecs0"}) {
    MiBench bench("dg1", engine);
    const uint64_t data = bench.allocate(1);
    bench.poke(data, 0x4444);
    bench.go({0x1100'0003 | kAdd, 0x600, 0x1111, 0x608, 0x2222});            // LRI
    bench.go(Dwords{0x1480'0002 | kAdd | kGlobal, 0x610} + bench.at(data));  // LRM
    bench.go({0x1500'0001 | kAdd | kAddSource, 0x608, 0x618});               // LRR
    bench.go({0x1500'0001 | kAdd, bench.gpr(0), 0x620});
    bench.go({0x1500'0001 | kAddSource, 0x600, bench.gpr(5)});
    bench.go(Dwords{0x1200'0002 | kAdd | kGlobal, 0x618} + bench.at(data + 8));  // SRM
    EXPECT_EQ(bench.read(bench.gpr(0)), 0x1111u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(1)), 0x2222u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(2)), 0x4444u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(3)), 0x2222u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(4)), 0x1111u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(5)), 0x1111u) << engine;
    EXPECT_EQ(bench.peek(data + 8), 0x2222u) << engine;
    // An absolute offset names the same register.
    bench.go({0x1100'0001 | kAdd, bench.gpr(6), 0x6666});
    EXPECT_EQ(bench.read(bench.gpr(6)), 0x6666u) << engine;
    // The base is also added to offsets outside the engine's own block: here a register of the video enhancement
    // engine, reached from a lower base.
    const uint32_t vecs = bench.engine_model("vecs0").mmio_base + 0x638;
    if (vecs > bench.base() + 0x1000) {
      bench.go({0x1100'0001 | kAdd, vecs - bench.base(), 0x7777});
      EXPECT_EQ(bench.read(vecs), 0x7777u) << engine;
    }
    // Byte disables and forced posting.
    bench.go({0x1100'0001 | 1u << 9 | 1u << 12 | kAdd, 0x600, 0xaaaa'aaaa});
    EXPECT_EQ(bench.read(bench.gpr(0)), 0xaaaa'11aau) << engine;
  }
}

// A register of the first unit of a class is remapped to the unit that executes the command.
TEST(RelativeRegisters, UnitRegistersAreRemapped) {
  for (const char* engine : {"vcs0", "vcs2"}) {
    MiBench bench("dg1", engine);
    const uint64_t data = bench.allocate(1);
    bench.poke(data, 0x2222);
    bench.go({0x1100'0001 | 1u << 17, 0x1c'0600, 0x1111});
    bench.go(Dwords{0x14c0'0002 | 1u << 17, 0x1c'0608} + bench.at(data));
    bench.go({0x1500'0001 | 1u << 16 | 1u << 17, 0x1c'0600, 0x1c'0610});
    bench.go(Dwords{0x1240'0002 | 1u << 17, 0x1c'0608} + bench.at(data + 8));
    EXPECT_EQ(bench.read(bench.gpr(0)), 0x1111u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(1)), 0x2222u) << engine;
    EXPECT_EQ(bench.read(bench.gpr(2)), 0x1111u) << engine;
    EXPECT_EQ(bench.peek(data + 8), 0x2222u) << engine;
  }
}

TEST(VideoStreamer, LoadImmediateHonoursByteDisablesAndPrivilege) {
  COVERS("G45-2.6-01");
  MiBench bench("g45", "vcs0");
  bench.go({0x1100'0001, kStorage, 0x3'0000});
  EXPECT_EQ(bench.read(kStorage), 0x3'0000u);
  bench.go({0x1100'0201, kStorage, 0x1111});
  EXPECT_EQ(bench.read(kStorage), 0x0011u);
  bench.go_in_batch({0x1100'0001, kStorage, 0x44}, false);
  EXPECT_EQ(bench.read(kStorage), 0x0011u);
  bench.go_in_batch({0x1100'0001, kStorage, 0x45}, true);
  EXPECT_EQ(bench.read(kStorage), 0x45u);
  bench.set_reg("vcs0", EngineBench::kControl, bench.reg("vcs0", EngineBench::kControl) | 1u << 8);
  bench.go({0x1100'0001, kStorage, 0x55});
  EXPECT_EQ(bench.read(kStorage), 0x45u);
}

TEST(VideoStreamer, NoopWritesItsNumber) {
  COVERS("G45-2.7-01");
  MiBench bench("g45", "vcs0");
  const uint32_t nopid = bench.base() + 0x94;
  bench.go({0x0040'0000 | 0x2a'aaaa});
  EXPECT_EQ(bench.read(nopid), 0x2a'aaaau);
  bench.go({0x0000'0000 | 0x11'1111});  // the enable bit is clear
  EXPECT_EQ(bench.read(nopid), 0x2a'aaaau);
}

TEST(Noop, WritesItsNumberIfEnabled) {
  COVERS("G45-1.11-01");
  COVERS("G45-1.11-02");
  COVERS("G45-3.3-01");
  for (const char* name : {"i965", "gm965", "g45", "gm45"}) {
    MiBench bench(name);
    const uint32_t nopid = bench.base() + 0x94;
    bench.go({0x0040'0000 | 0x3f'ffff});
    EXPECT_EQ(bench.read(nopid), 0x3f'ffffu) << name;
    bench.go({0x0000'0000 | 0x12'3456});
    EXPECT_EQ(bench.read(nopid), 0x3f'ffffu) << name;
    bench.go({0x0040'0000 | 0x12'3456});
    EXPECT_EQ(bench.read(nopid), 0x12'3456u) << name;
  }
}

// Commands of every front end. Display waits, scan lines and flips exist on render and blitter only (DG1-CS-09).
TEST(CommonFrontEnd, EveryEngineHasTheseCommands) {
  COVERS("DG1-CS-10");
  for (const spec::EngineModel& engine : spec::find_device("dg1")->engines) {
    MiBench bench("dg1", engine.name);
    const uint64_t data = bench.allocate(1);
    const uint64_t status = bench.allocate(1);
    bench.set_reg(engine.name, 0x80, low(status));
    bench.poke(data, 5);
    const std::vector<Dwords> commands = {
        {0x0000'0000},                                         // MI_NOOP
        {0x0280'0000},                                         // MI_ARB_CHECK
        {0x0400'0001},                                         // MI_ARB_ON_OFF
        {0x0d00'0000, 0},                                      // MI_MATH
        {0x0380'0000},                                         // MI_REPORT_HEAD
        {0x1040'0002, low(data + 8), 0, 1},                    // MI_STORE_DATA_IMM
        {0x1080'0001, 0x40 << 2, 1},                           // MI_STORE_DATA_INDEX
        {0x17c0'0501, low(data + 16), 0},                      // MI_ATOMIC
        {0x1760'0003, low(data + 24), 0, low(data), 0},        // MI_COPY_MEM_MEM
        {0x1500'0001, bench.gpr(0), bench.gpr(1)},             // MI_LOAD_REGISTER_REG
        {0x14c0'0002, bench.gpr(2), low(data), 0},             // MI_LOAD_REGISTER_MEM
        {0x1240'0002, bench.gpr(2), low(data + 32), 0},        // MI_STORE_REGISTER_MEM
        {0x0100'0000},                                         // MI_USER_INTERRUPT
        {0x0d80'0000, 0},                                      // MI_SEMAPHORE_SIGNAL
        {0x0e40'0002 | 4u << 12 | 1u << 15, 5, low(data), 0},  // MI_SEMAPHORE_WAIT
        {0x1b40'0002 | 1u << 21, 1, low(data), 0},             // MI_CONDITIONAL_BATCH_BUFFER_END
        {0x1040'0002, low(data + 40), 0, 1},
    };
    for (const Dwords& command : commands) {
      bench.go_in_batch(command, true);  // MI_BATCH_BUFFER_START
    }
    EXPECT_EQ(bench.host.log.count(EventKind::unknown_command), 0u) << engine.name;
    // No document names an interrupt of the position-only streamer: MI_USER_INTERRUPT is reported there.
    EXPECT_EQ(bench.host.log.events().size(), engine.name == "pocs0" ? 1u : 0u) << engine.name;
    for (const uint64_t place : {uint64_t{8}, uint64_t{16}, uint64_t{40}}) {
      EXPECT_EQ(bench.peek(data + place), 1u) << engine.name << place;
    }
    EXPECT_EQ(bench.peek(data + 24), 5u) << engine.name;
    EXPECT_EQ(bench.peek(data + 32), 5u) << engine.name;
    EXPECT_EQ(bench.peek(status + 0x100), 1u) << engine.name;
  }
  for (const char* engine : {"rcs0", "bcs0"}) {
    MiBench bench("dg1", engine);
    bench.go({0x0180'0000});             // MI_WAIT_FOR_EVENT: nothing to wait for
    bench.go({0x0900'0000, 0});          // MI_LOAD_SCAN_LINES_INCL
    bench.go({0x0980'0000, 0});          // MI_LOAD_SCAN_LINES_EXCL
    bench.go({0x0a00'0001, 0, 0x1000});  // MI_DISPLAY_FLIP
    EXPECT_EQ(bench.host.log.count(EventKind::unknown_command), 0u) << engine;
    EXPECT_EQ(bench.host.log.count(EventKind::unsupported), 0u) << engine;
  }
}

// A stream may reset the engine that executes it. Later commands of the stream are not executed.
TEST(SelfReset, RegisterLoadEndsTheStream) {
  for (const char* name : {"snb", "bdw", "dg1"}) {
    MiBench bench(name);
    const uint64_t data = bench.allocate(1);
    bench.go(bench.store(data, 1) + bench.load(0x941c, 1) + bench.store(data + 4, 2));
    EXPECT_EQ(bench.peek64(data), 1u) << name;
  }
}

// The same by a PIPE_CONTROL that writes immediate data to a register (bit 23).
TEST(SelfReset, PipeControlEndsTheStream) {
  for (const char* name : {"bdw", "dg1"}) {
    MiBench bench(name);
    const uint64_t data = bench.allocate(1);
    bench.go(bench.store(data, 1) + Dwords{0x7a00'0004, 1u << 23 | 1u << 14, 0x941c, 0, 1, 0} +
             bench.store(data + 4, 2));
    EXPECT_EQ(bench.peek64(data), 1u) << name;
  }
}

}  // namespace
}  // namespace halogen
