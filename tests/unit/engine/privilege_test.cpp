// Restrictions of a batch buffer in the per-process tables. The rows of DG1 are DG1 PRM vol. 13, "User Mode Privileged
// Commands", which also gives the lists of registers (seed 000).
#include <gtest/gtest.h>

#include "covers.h"
#include "engine_events.h"
#include "user_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kStatusMask = 0x98, kSource0 = 0x400, kSource1 = 0x408, kMode = 0x29c;
constexpr uint32_t kGlobal = 1u << 22;

TEST(Privilege, RingAndGlobalBatchesArePrivileged) {
  COVERS("DG1-PRIV-01");
  UserBench bench("dg1");
  bench.ring(bench.load(kStatusMask, 0x11));
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  bench.kernel(bench.load(kStatusMask, 0x22));
  EXPECT_EQ(bench.value(kStatusMask), 0x22u);
  EXPECT_FALSE(bench.violated());
  bench.user(bench.load(kStatusMask, 0x33));
  EXPECT_EQ(bench.value(kStatusMask), 0x22u);
  EXPECT_TRUE(bench.violated());
}

// The error sets EIR and raises the parser error interrupt of the engine. The check can be disabled.
TEST(Privilege, ViolationSetsEirAndInterrupts) {
  COVERS("DG1-PRIV-02");  // with the tests of each command
  UserBench bench("dg1");
  bench.write(0x190030, 0xffff'ffff);  // render and blitter: all causes
  bench.write(0x190090, 0);
  bench.user(bench.load(kStatusMask, 0x33));
  EXPECT_EQ(bench.value(kErrorIdentity) & kPrivilegeViolation, kPrivilegeViolation);
  ASSERT_EQ(bench.read(0x190018) & 1, 1u);  // first bank: RCS
  bench.write(0x190070, 1);
  const uint32_t identity = bench.read(0x190060);
  EXPECT_EQ(identity >> 31, 1u);
  EXPECT_EQ(identity & 1u << 3, 1u << 3);  // command parser error
  bench.set_reg("rcs0", kErrorIdentity, kPrivilegeViolation);
  bench.set_reg("rcs0", kMode, 0x0001'0001);
  bench.user(bench.load(kStatusMask, 0x44) + Dwords{0x1040'0002, low(bench.data), 0, 5});
  EXPECT_EQ(bench.value(kStatusMask), 0x44u);
  EXPECT_EQ(bench.peek(bench.data), 5u);
  EXPECT_FALSE(bench.violated());
}

// ESR, EMR and EIR. An identity bit stays set until software writes one to it; the interrupt follows it.
TEST(Privilege, ErrorRegistersRecordTheViolation) {
  COVERS("DG1-HWSP-05");  // with ErrorTest, for the bits that cannot be cleared
  constexpr uint32_t kEsr = 0xb8;
  for (const char* const engine : {"rcs0", "bcs0", "vcs0", "vecs0"}) {
    UserBench bench("dg1", engine);
    EngineEvents events(bench);
    bench.set_reg(engine, kErrorMask, ~0u);
    bench.user(bench.load(kStatusMask, 0x33));
    EXPECT_EQ(bench.value(kEsr), kPrivilegeViolation) << "the status register is not masked";
    EXPECT_EQ(bench.value(kErrorIdentity), 0u) << "masked";
    EXPECT_EQ(events.take(engine) & kErrorEvent, 0u);
    bench.set_reg(engine, kErrorMask, ~kPrivilegeViolation);
    EXPECT_EQ(bench.value(kErrorIdentity), kPrivilegeViolation);
    EXPECT_EQ(events.take(engine) & kErrorEvent, kErrorEvent) << engine;
    bench.set_reg(engine, kErrorIdentity, ~kPrivilegeViolation);
    EXPECT_EQ(bench.value(kErrorIdentity), kPrivilegeViolation) << "writing zero leaves it set";
    bench.user(bench.load(kStatusMask, 0x33));
    EXPECT_EQ(events.take(engine) & kErrorEvent, 0u) << "the bit was already set";
    bench.set_reg(engine, kErrorIdentity, kPrivilegeViolation);
    EXPECT_EQ(bench.value(kErrorIdentity), 0u);
    bench.user(bench.load(kStatusMask, 0x33));
    EXPECT_EQ(bench.value(kErrorIdentity), kPrivilegeViolation);
    EXPECT_EQ(events.take(engine) & kErrorEvent, kErrorEvent) << engine;
  }
}

class PrivilegeTest : public ::testing::TestWithParam<const char*> {};

// The commands work without the global table bit, and are dropped with it.
TEST_P(PrivilegeTest, CommandsThatUseTheGlobalTableAreDropped) {
  UserBench bench(GetParam());
  const uint64_t own = UserBench::kData;
  const uint64_t global = bench.data;
  bench.user({0x1000'0002, low(own), 0, 1});  // MI_STORE_DATA_IMM
  EXPECT_EQ(bench.peek(global), 1u);
  EXPECT_FALSE(bench.violated());
  bench.user({0x1000'0002 | kGlobal, low(global), 0, 2});
  EXPECT_EQ(bench.peek(global), 1u);
  EXPECT_TRUE(bench.violated());

  bench.user({0x1480'0002, bench.base + kSource0, low(own), 0});  // MI_LOAD_REGISTER_MEM
  EXPECT_EQ(bench.value(kSource0), 1u);
  EXPECT_FALSE(bench.violated());
  bench.poke(global, 7);
  bench.user({0x1480'0002 | kGlobal, bench.base + kSource0, low(global), 0});
  EXPECT_EQ(bench.value(kSource0), 1u);
  EXPECT_TRUE(bench.violated());

  bench.user({0x1200'0002, bench.base + kSource0, low(own + 8), 0});  // MI_STORE_REGISTER_MEM
  EXPECT_EQ(bench.peek(global + 8), 1u);
  EXPECT_FALSE(bench.violated());
  bench.user({0x1200'0002 | kGlobal, bench.base + kSource0, low(global + 12), 0});
  EXPECT_EQ(bench.peek(global + 12), 0u);
  EXPECT_TRUE(bench.violated());

  bench.user({0x1400'0002, low(own + 0x100), 0, 9});  // MI_REPORT_PERF_COUNT
  EXPECT_EQ(bench.peek(global + 0x100), 9u);
  EXPECT_FALSE(bench.violated());
  bench.user({0x1400'0002, low(global + 0x200) | 1, 0, 9});
  EXPECT_EQ(bench.peek(global + 0x200), 0u);
  EXPECT_TRUE(bench.violated());

  bench.user({0x1780'0501, low(own + 0x40), 0});  // MI_ATOMIC: increment
  EXPECT_EQ(bench.peek(global + 0x40), 1u);
  EXPECT_FALSE(bench.violated());
  bench.user({0x1780'0501 | kGlobal, low(global + 0x40), 0});
  EXPECT_EQ(bench.peek(global + 0x40), 1u);
  EXPECT_TRUE(bench.violated());

  bench.user({0x1700'0003, low(own + 0x48), 0, low(own), 0});  // MI_COPY_MEM_MEM
  EXPECT_EQ(bench.peek(global + 0x48), 7u);
  EXPECT_FALSE(bench.violated());
  bench.user({0x1700'0003 | 1u << 22, low(own + 0x4c), 0, low(global), 0});
  EXPECT_TRUE(bench.violated());
  bench.user({0x1700'0003 | 1u << 21, low(global + 0x4c), 0, low(own), 0});
  EXPECT_TRUE(bench.violated());
  EXPECT_EQ(bench.peek(global + 0x4c), 0u);

  // A wait that would never end is skipped, and a conditional batch end is ignored.
  bench.user(Dwords{0x0e00'0002 | kGlobal | 4u << 12 | 1u << 15, 0x1234, low(global), 0} +
             Dwords{0x1000'0002, low(own + 0x50), 0, 3});
  EXPECT_EQ(bench.peek(global + 0x50), 3u);
  EXPECT_TRUE(bench.violated());
  bench.user(Dwords{0x1b00'0002 | kGlobal | 1u << 21, 0xffff'ffff, low(global), 0} +
             Dwords{0x1000'0002, low(own + 0x54), 0, 3});
  EXPECT_EQ(bench.peek(global + 0x54), 3u);
  EXPECT_TRUE(bench.violated());
  bench.user(Dwords{0x1b00'0002 | 1u << 21, 0xffff'ffff, low(own), 0} + Dwords{0x1000'0002, low(own + 0x58), 0, 3});
  EXPECT_EQ(bench.peek(global + 0x58), 0u);
  EXPECT_FALSE(bench.violated());
}

TEST_P(PrivilegeTest, PrivilegedCommandsAreDropped) {
  UserBench bench(GetParam());
  const uint64_t page = bench.allocate(1);
  const uint64_t entry = bench.entry(page / 4096);
  bench.user({0x1180'0002, low(page), 0x1234'5001, 0});  // MI_UPDATE_GTT
  EXPECT_EQ(bench.entry(page / 4096), entry);
  EXPECT_TRUE(bench.violated());
  for (const uint32_t process : {0u, 1u << 21}) {
    bench.user({0x1080'0001 | process, 0x40 << 2, 0x77});  // MI_STORE_DATA_INDEX
    EXPECT_EQ(bench.peek(bench.status_page("rcs0") + 0x100), 0u);
    EXPECT_EQ(bench.process_page(bench.context, 0x40), 0u);
    EXPECT_TRUE(bench.violated());
  }
  bench.user({0x0c00'0000, 0x0010'0000 | 1u << 8});  // MI_SET_CONTEXT
  EXPECT_EQ(bench.value(ContextBench::kContextId) & ~0xfffu, bench.context.address);
  EXPECT_TRUE(bench.violated());
}

// MI_DISPLAY_FLIP: the plane keeps its surface, unless the batch is privileged or the check is disabled.
TEST_P(PrivilegeTest, FlipsAreDropped) {
  UserBench bench(GetParam());
  constexpr uint32_t kSurface = 0x7019c;
  const auto surface = static_cast<uint32_t>(bench.allocate(64));
  const Dwords flip{0x0a00'0001, 4096, surface};
  ASSERT_NE(bench.read(kSurface), surface);
  bench.user(flip);
  EXPECT_NE(bench.read(kSurface), surface);
  EXPECT_TRUE(bench.violated());
  bench.kernel(flip);
  EXPECT_EQ(bench.read(kSurface), surface);
  EXPECT_FALSE(bench.violated());
  bench.kernel({0x0a00'0001, 4096, surface + 0x1000});
  ASSERT_EQ(bench.read(kSurface), surface + 0x1000);
  bench.set_reg("rcs0", kMode, 0x0001'0001);
  bench.user(flip);
  EXPECT_EQ(bench.read(kSurface), surface);
  EXPECT_FALSE(bench.violated());
}

// MI_ARB_ON_OFF: a batch of the process cannot suppress preemption, unless the check is disabled.
TEST_P(PrivilegeTest, ArbitrationStaysOn) {
  for (const bool checked : {true, false}) {
    UserBench bench(GetParam());
    ContextBench::Context other = bench.create("rcs0", 2);
    bench.emit(other, {0, 0});
    if (!checked) {
      bench.set_reg("rcs0", kMode, 0x0001'0001);
    }
    Dwords batch{0x0400'0000};
    batch.insert(batch.end(), 500, 0x0280'0000);  // MI_ARB_CHECK
    batch.insert(batch.end(), {0x1000'0002, low(UserBench::kData), 0, 1});
    bench.poke(bench.code, std::span<const uint32_t>(batch + Dwords{0x0500'0000}));
    bench.emit(bench.context, {0x1880'0101, low(UserBench::kCode), high(UserBench::kCode)});
    bench.submit({&bench.context});
    bench.device->advance(2000);
    bench.submit({&other});
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(bench.data), checked ? 0u : 1u) << "the end of the batch";
    EXPECT_EQ(bench.violated(), checked);
  }
}

// The flush is performed, its post-sync write is not.
TEST_P(PrivilegeTest, PostSyncWritesToGlobalMemoryAreDropped) {
  UserBench bench(GetParam());
  const auto control = [](uint32_t bits, uint64_t address) {
    return Dwords{0x7a00'0004, 1u << 20 | 1u << 14 | bits, low(address), high(address), 0x55, 0};
  };
  bench.user(control(0, UserBench::kData + 0x40));
  EXPECT_EQ(bench.peek(bench.data + 0x40), 0x55u);
  EXPECT_FALSE(bench.violated());
  bench.user(control(1u << 24, bench.data + 0x48));  // the global table
  EXPECT_EQ(bench.peek(bench.data + 0x48), 0u);
  EXPECT_TRUE(bench.violated());
  bench.user(control(1u << 21, 0x100));  // an index of the status page
  EXPECT_EQ(bench.peek(bench.status_page("rcs0") + 0x100), 0u);
  EXPECT_EQ(bench.process_page(bench.context, 0x40), 0u);
  EXPECT_TRUE(bench.violated());

  UserBench blitter(GetParam(), "bcs0");
  const auto flush = [](uint32_t bits, uint64_t address) {
    return Dwords{0x1300'0003 | 1u << 14 | bits, low(address), high(address), 0x66, 0};
  };
  blitter.user(flush(0, UserBench::kData + 0x40));
  EXPECT_EQ(blitter.peek(blitter.data + 0x40), 0x66u);
  EXPECT_FALSE(blitter.violated());
  blitter.user(flush(0, (blitter.data + 0x48) | 1u << 2));
  EXPECT_EQ(blitter.peek(blitter.data + 0x48), 0u);
  EXPECT_TRUE(blitter.violated());
  blitter.user(flush(1u << 21, 0x100));
  EXPECT_EQ(blitter.peek(blitter.status_page("bcs0") + 0x100), 0u);
  EXPECT_TRUE(blitter.violated());
}

TEST_P(PrivilegeTest, ProcessBatchCannotStartAPrivilegedBatch) {
  COVERS("DG1-PRIV-04");
  UserBench bench(GetParam());
  for (const uint32_t second_level : {0u, 1u << 22}) {
    const uint64_t other = bench.allocate(1);
    bench.poke(bench.data, 0);
    bench.map_process(bench.context, other, other);  // the same address in both address spaces
    bench.poke(other, std::span<const uint32_t>(Dwords{0x1000'0002 | kGlobal, low(bench.data), 0, 1, 0x0500'0000}));
    bench.user({0x1880'0001 | second_level, low(other), high(other)});
    EXPECT_EQ(bench.peek(bench.data), 0u);
    EXPECT_TRUE(bench.violated());
    // A batch that a privileged batch starts keeps or loses privilege.
    bench.kernel({0x1880'0101 | second_level, low(other), high(other)});
    EXPECT_EQ(bench.peek(bench.data), 0u);
    EXPECT_TRUE(bench.violated());
    bench.kernel({0x1880'0001 | second_level, low(other), high(other)});
    EXPECT_EQ(bench.peek(bench.data), 1u);
    EXPECT_FALSE(bench.violated());
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, PrivilegeTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

TEST(PrivilegedRegisters, WritesOutsideTheListAreDropped) {
  COVERS("DG1-PRIV-03");  // with the tests above
  COVERS("DG1-PRIV-05");
  UserBench bench("dg1");
  bench.ring(bench.load(kStatusMask, 0x11));
  const uint32_t mask = bench.base + kStatusMask;
  const uint32_t open = bench.base + kSource0;
  bench.user({0x1100'0003, open, 0x21, mask, 0x22});  // MI_LOAD_REGISTER_IMM: dropped as a whole
  EXPECT_EQ(bench.value(kSource0), 0u);
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  EXPECT_TRUE(bench.violated());
  bench.user({0x1100'0001, open, 0x21});
  EXPECT_EQ(bench.value(kSource0), 0x21u);
  EXPECT_FALSE(bench.violated());
  bench.user({0x1100'0001 | 1u << 19, kStatusMask, 0x22});  // relative to the engine
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  EXPECT_TRUE(bench.violated());
  bench.poke(bench.data, 0x33);
  bench.user({0x1480'0002, mask, low(UserBench::kData), 0});  // MI_LOAD_REGISTER_MEM
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  EXPECT_TRUE(bench.violated());
  bench.user({0x1500'0001, open, mask});  // MI_LOAD_REGISTER_REG
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  EXPECT_TRUE(bench.violated());
  bench.user({0x1500'0001, open, bench.base + kSource1});
  EXPECT_EQ(bench.value(kSource1), 0x21u);
  EXPECT_FALSE(bench.violated());
  const auto control = [](uint32_t offset) {
    return Dwords{0x7a00'0004, 1u << 20 | 1u << 23 | 1u << 14, offset, 0, 0x44, 0};
  };
  bench.user(control(mask));  // PIPE_CONTROL that loads a register
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  EXPECT_TRUE(bench.violated());
  bench.user(control(open));
  EXPECT_EQ(bench.value(kSource0), 0x44u);
  EXPECT_FALSE(bench.violated());
}

// Registers of the write lists and of the read lists are readable; others read as zero.
TEST(PrivilegedRegisters, ReadsOutsideTheListsReturnZero) {
  COVERS("DG1-PRIV-06");
  UserBench bench("dg1");
  bench.ring(bench.load(kStatusMask, 0x11) + bench.load(kSource0, 0x21));
  const auto stored = [&](uint32_t offset) {
    bench.poke(bench.data, 0xffff'ffff);
    bench.user({0x1200'0002, offset, low(UserBench::kData), 0});
    return bench.peek(bench.data);
  };
  EXPECT_EQ(stored(bench.base + kSource0), 0x21u);  // from the write list
  bench.device->advance(10'000'000);
  EXPECT_NE(stored(bench.base + 0x358), 0u);  // TIMESTAMP, from the read list
  EXPECT_FALSE(bench.violated());
  EXPECT_EQ(stored(bench.base + kStatusMask), 0u);
  EXPECT_TRUE(bench.violated());
  EXPECT_EQ(bench.value(kStatusMask), 0x11u);
  // As the source of MI_LOAD_REGISTER_REG, and polled by MI_SEMAPHORE_WAIT until it is zero.
  bench.user({0x1500'0001, bench.base + kStatusMask, bench.base + kSource1});
  EXPECT_EQ(bench.value(kSource1), 0u);
  EXPECT_TRUE(bench.violated());
  bench.user({0x1500'0001, bench.base + kSource0, bench.base + kSource1});
  EXPECT_EQ(bench.value(kSource1), 0x21u);
  EXPECT_FALSE(bench.violated());
  bench.poke(bench.data, 0);
  bench.user(Dwords{0x0e00'0003 | 1u << 16 | 1u << 15 | 4u << 12, 0, bench.base + kStatusMask, 0, 0} +
             Dwords{0x1000'0002, low(UserBench::kData), 0, 3});
  EXPECT_EQ(bench.peek(bench.data), 3u);
  EXPECT_TRUE(bench.violated());
}

// Slots add registers to the lists or remove them: address, kind of access, range.
TEST(PrivilegedRegisters, SlotsExtendTheLists) {
  COVERS("DG1-PRIV-07");
  UserBench bench("dg1");
  const uint32_t mask = bench.base + kStatusMask;
  const auto writes = [&](uint32_t offset, uint32_t value) {
    bench.user({0x1100'0001, offset, value});
    return !bench.violated() && bench.read(offset) == value;
  };
  const auto reads = [&](uint32_t offset) {
    bench.poke(bench.data, 0xffff'ffff);
    bench.user({0x1200'0002, offset, low(UserBench::kData), 0});
    bench.violated();
    return bench.peek(bench.data) == bench.read(offset);
  };
  uint32_t value = 0x100;
  for (unsigned slot = 0; slot < 20; ++slot) {
    const uint32_t at = slot < 12 ? 0x4d0 + 4 * slot : slot < 16 ? 0x010 + 4 * (slot - 12) : 0x1d0 + 4 * (slot - 16);
    EXPECT_FALSE(writes(mask, ++value)) << slot;
    bench.set_reg("rcs0", at, mask);
    EXPECT_TRUE(writes(mask, ++value)) << slot;
    EXPECT_TRUE(reads(mask)) << slot;
    bench.set_reg("rcs0", at, mask | 1u << 28);  // read only
    EXPECT_FALSE(writes(mask, ++value)) << slot;
    EXPECT_TRUE(reads(mask)) << slot;
    bench.set_reg("rcs0", at, mask | 2u << 28);  // write only
    EXPECT_TRUE(writes(mask, ++value)) << slot;
    EXPECT_FALSE(reads(mask)) << slot;
    bench.set_reg("rcs0", at, (bench.base + kSource0) | 1u << 30);  // denies what the list allows
    EXPECT_FALSE(writes(bench.base + kSource0, ++value)) << slot;
    bench.set_reg("rcs0", at, 0);
  }
  // Ranges of 1, 4, 16 and 64 dwords, naturally aligned: HWSTAM is dword 26h of the block.
  for (unsigned range = 0; range < 4; ++range) {
    const uint32_t bytes = 4u << 2 * range;
    bench.set_reg("rcs0", 0x4d0, (mask & ~(bytes - 1)) | range);
    EXPECT_TRUE(writes(mask, ++value)) << range;
    bench.set_reg("rcs0", 0x4d0, ((mask & ~(bytes - 1)) + bytes) | range);
    EXPECT_FALSE(writes(mask, ++value)) << range;
  }
}

}  // namespace
}  // namespace halogen
