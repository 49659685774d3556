// Secure and non-secure batch buffers of Gen4 (G45 PRM vol. 1b 1.5, 5.3.7.6, seed 003), and the per-process address
// space of GM45.
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kEir = 0xb0, kEmr = 0xb4, kHwsPga = 0x80, kIpehr = 0x68;
constexpr uint32_t kStorage = 0x2310;  // a counter that nothing increments here

struct EarlyBench : MiBench {
  explicit EarlyBench(std::string_view name, std::string_view engine = "rcs0") : MiBench(name, engine) {
    set_reg(engine_name, kEmr, 0);
  }
  uint32_t violation_bit() const { return model.gen == spec::GenId::gen4_5 ? 1u << 3 : 0; }
  bool violated() {
    const bool flagged = (reg(engine_name, kEir) & violation_bit()) != 0;
    set_reg(engine_name, kEir, violation_bit());
    return flagged;
  }
};

class EarlyPrivilege : public ::testing::TestWithParam<const char*> {};

TEST_P(EarlyPrivilege, RingsAndSecureBatchesAreUnrestricted) {
  COVERS("G45-5.3.7-17");
  EarlyBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto commands = [&](uint32_t value) {
    return bench.load(kStorage, value) + bench.save(kStorage, data) + bench.store(data + 4, value) +
           Dwords{0x1000'0002, 0, low(EngineBench::host_address(data + 8)), value};
  };
  bench.go(commands(0x11));
  for (uint32_t at = 0; at < 12; at += 4) {
    EXPECT_EQ(bench.peek(data + at), 0x11u) << at;
  }
  bench.go_in_batch(commands(0x22), true);
  for (uint32_t at = 0; at < 12; at += 4) {
    EXPECT_EQ(bench.peek(data + at), 0x22u) << at;
  }
  EXPECT_FALSE(bench.violated());
}

TEST_P(EarlyPrivilege, NonSecureBatchCannotAccessRegisters) {
  COVERS("G45-1.8-05");
  COVERS("G45-1.18-05");
  EarlyBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go(bench.load(kStorage, 0x11));
  bench.go_in_batch(bench.load(kStorage, 0x22) + bench.save(kStorage, data), false);
  EXPECT_EQ(bench.read(kStorage), 0x11u);
  EXPECT_EQ(bench.peek(data), 0u);
}

TEST_P(EarlyPrivilege, NonSecureStoreHasNoEffect) {
  COVERS("G45-1.16-05");
  EarlyBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go_in_batch(bench.store(data, 1) + Dwords{0x0040'0007}, false);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.reg("rcs0", 0x94), 7u) << "the batch continues";
}

INSTANTIATE_TEST_SUITE_P(Chips, EarlyPrivilege, ::testing::Values("i965", "gm965", "g45", "gm45"));

class PhysicalStore : public ::testing::TestWithParam<const char*> {};

// A command error: header and origin are kept, and only a full reset clears it.
TEST_P(PhysicalStore, NonSecureBatchStopsTheParser) {
  COVERS("G45-5.3.7-14");
  constexpr uint32_t kMasterError = 1u << 15;
  EarlyBench bench(GetParam());
  const uint64_t data = bench.allocate(1), status = bench.allocate(1);
  bench.set_reg("rcs0", kHwsPga, low(EngineBench::host_address(status)));
  bench.set_reg("rcs0", 0x98, ~kMasterError);  // HWSTAM
  bench.write(0x20a8, ~kMasterError);
  const Dwords store{0x1000'0002, 0, low(EngineBench::host_address(data)), 1};
  bench.go_in_batch(store + Dwords{0x0040'0007}, false);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.reg("rcs0", 0x94), 0u) << "no later command is parsed";
  EXPECT_EQ(bench.reg("rcs0", kEir) & 1, 1u);
  EXPECT_EQ(bench.reg("rcs0", kIpehr), 0x1000'0002u);
  EXPECT_EQ(bench.reg("rcs0", 0x64) & 8, 8u) << "the error came from a batch";
  EXPECT_EQ(bench.read(0x20a4) & kMasterError, kMasterError);
  EXPECT_EQ(bench.peek(status) & kMasterError, kMasterError) << "in the status page";
  bench.go({0x0040'0008});
  EXPECT_EQ(bench.reg("rcs0", 0x94), 0u);
  bench.device->config_write(0xc0, 1, 1);  // GDRST: render and media domains
  bench.device->config_write(0xc0, 1, 0);
  bench.enable_table();
  bench.start_ring("rcs0");
  bench.go({0x0040'0009});
  EXPECT_EQ(bench.reg("rcs0", 0x94), 9u);
}

INSTANTIATE_TEST_SUITE_P(Chips, PhysicalStore, ::testing::Values("i965", "gm965"));

TEST(PhysicalStoreOfGm45, NonSecureStoreIsDropped) {
  COVERS("G45-5.3.7-15");
  for (const char* name : {"g45", "gm45"}) {
    EarlyBench bench(name);
    const uint64_t data = bench.allocate(1);
    bench.go_in_batch(Dwords{0x1000'0002, 0, low(EngineBench::host_address(data)), 1} + Dwords{0x0040'0007}, false);
    EXPECT_EQ(bench.peek(data), 0u) << name;
    EXPECT_EQ(bench.reg("rcs0", 0x94), 7u) << name;
    EXPECT_TRUE(bench.violated()) << name;
  }
}

TEST(UpdateGtt, IsUnknownBeforeGm45) {
  COVERS("G45-1.19-02");
  for (const char* name : {"i965", "gm965"}) {
    EarlyBench bench(name);
    const uint64_t page = bench.allocate(1);
    const uint64_t entry = bench.entry(page / 4096);
    bench.go({0x1180'0001, low(page), 0x1234'5001});
    EXPECT_EQ(bench.entry(page / 4096), entry) << name;
    EXPECT_EQ(bench.host.log.count(EventKind::unknown_command), 1u) << name;
  }
}

// The per-process table maps graphics pages to other memory: kOther.
struct ProcessBench : EarlyBench {
  static constexpr uint64_t kTable = 0x0400'0000, kOther = 0x0500'0000;

  explicit ProcessBench(std::string_view engine = "rcs0", bool space = true) : EarlyBench("gm45", engine) {
    for (uint64_t page = 0; page < 1024; ++page) {
      host.put<uint32_t>(kTable + 4 * page, static_cast<uint32_t>(kOther + page * kPage) | 1);
    }
    write(0x20c4, static_cast<uint32_t>(kTable) | 1);
    if (space) {
      set_reg(engine, 0x520, 0x8000'8000);
    }
  }
  uint32_t process(uint64_t address) { return host.value_at<uint32_t>(kOther + address); }
  // Runs a batch at the same address in both tables.
  void go_in_both(const Dwords& dwords, bool privileged) {
    const uint64_t at = allocate(1);
    const Dwords all = dwords + end();
    poke(at, std::span<const uint32_t>(all));
    for (size_t i = 0; i < all.size(); ++i) {
      host.put<uint32_t>(kOther + at + 4 * i, all[i]);
    }
    go(batch(at, privileged));
  }
};

constexpr uint32_t kGlobalStore = 0x1060'0002, kOwnStore = 0x1040'0002;

TEST(ProcessSpace, PrivilegedCommandsSelectTheTable) {
  COVERS("G45-1.5.1-01");
  COVERS("G45-1.5.1-03");  // with Gm45Batch, for the fetch
  COVERS("G45-1.5.1-04");
  ProcessBench bench;
  const uint64_t data = bench.allocate(1);
  for (const bool from_ring : {true, false}) {
    bench.poke64(data, 0);
    bench.host.put<uint64_t>(ProcessBench::kOther + data, 0);
    const Dwords commands = Dwords{kGlobalStore, 0, low(data), 1} + Dwords{kOwnStore, 0, low(data + 4), 2};
    from_ring ? bench.go(commands) : bench.go_in_both(commands, true);
    EXPECT_EQ(bench.peek64(data), 1u);
    EXPECT_EQ(bench.process(data), 0u);
    EXPECT_EQ(bench.process(data + 4), 2u);
  }
  EXPECT_FALSE(bench.violated());
}

TEST(ProcessSpace, GlobalBitIsIgnoredInANonSecureBatch) {
  COVERS("G45-1.16-04");
  ProcessBench bench;
  const uint64_t data = bench.allocate(1);
  bench.go_in_both(Dwords{kGlobalStore, 0, low(data), 1} + Dwords{kOwnStore, 0, low(data + 4), 2}, false);
  EXPECT_EQ(bench.peek64(data), 0u);
  EXPECT_EQ(bench.process(data), 1u);
  EXPECT_EQ(bench.process(data + 4), 2u);
  EXPECT_FALSE(bench.violated());
}

// With the per-process address space disabled, PGTBL_STR2 may still select the per-process table for batch fetches.
TEST(ProcessSpace, StoresUseTheTableOfTheirBuffer) {
  COVERS("G45-1.16-03");
  COVERS("G45-1.18-02");  // with the test of both kinds of address
  ProcessBench bench("rcs0", false);
  const uint64_t data = bench.allocate(1);
  bench.write(0x20c8, 1u << 5);
  bench.go_in_both({kOwnStore, 0, low(data), 1}, true);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.process(data), 1u);
  bench.go({kOwnStore, 0, low(data + 4), 2});
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.process(data + 4), 0u);
  bench.go(bench.load(kStorage, 0x11));
  bench.go_in_both(bench.save(kStorage, data + 8), true);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  EXPECT_EQ(bench.process(data + 8), 0x11u);
  bench.go(bench.save(kStorage, data + 12));
  EXPECT_EQ(bench.peek(data + 12), 0x11u);
  EXPECT_EQ(bench.process(data + 12), 0u);
}

TEST(ProcessSpace, PrivilegedCommandsInANonSecureBatchAreFlagged) {
  COVERS("G45-1.5.2-01");
  COVERS("G45-1.5.2-02");
  COVERS("G45-1.19-04");
  ProcessBench bench;
  const uint64_t data = bench.allocate(1);
  const uint64_t page = bench.allocate(1);
  const uint64_t context = bench.allocate(8);
  const uint64_t status = bench.allocate(1);
  bench.set_reg("rcs0", kHwsPga, low(status));
  bench.set_reg("rcs0", 0x190, low(context) | 1);
  bench.go(bench.load(kStorage, 0x11));

  bench.go_in_both(bench.load(kStorage, 0x22), false);  // byte enables off
  EXPECT_EQ(bench.read(kStorage), 0x11u);
  EXPECT_TRUE(bench.violated());
  const uint64_t entry = bench.entry(page / 4096);
  bench.go_in_both({0x1180'0001, low(page), 0x1234'5001}, false);
  EXPECT_EQ(bench.entry(page / 4096), entry);
  EXPECT_TRUE(bench.violated());
  bench.go_in_both(bench.save(kStorage, data), false);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.process(data), 0u);
  EXPECT_TRUE(bench.violated());
  bench.go_in_both({0x0400'0000}, false);  // MI_ARB_ON_OFF
  EXPECT_TRUE(bench.violated());
  bench.go_in_both({0x0a00'0001, 0, 0}, false);  // MI_DISPLAY_FLIP
  EXPECT_TRUE(bench.violated());
  bench.go_in_both({0x1080'0001, 0x40 << 2, 0x77}, false);  // to the status page of the process
  EXPECT_EQ(bench.peek(status + 0x100), 0u);
  EXPECT_EQ(bench.peek(context + 20 * 1024 + 0x100), 0x77u);
  EXPECT_FALSE(bench.violated());
  bench.go_in_both({kOwnStore, 0, low(data), 3}, false);
  EXPECT_EQ(bench.process(data), 3u);
  EXPECT_FALSE(bench.violated());
}

// If the per-process address space is disabled, the same commands are dropped.
TEST(ProcessSpace, ChecksAlsoApplyWithoutProcessSpace) {
  COVERS("G45-1.5.2-03");
  ProcessBench bench("rcs0", false);
  const uint64_t data = bench.allocate(1);
  const uint64_t page = bench.allocate(1);
  const uint64_t status = bench.allocate(1);
  const uint64_t entry = bench.entry(page / 4096);
  bench.set_reg("rcs0", kHwsPga, low(status));
  bench.go(bench.load(kStorage, 0x11));
  const Dwords dropped[] = {bench.load(kStorage, 0x22),   {0x1180'0001, low(page), 0x1234'5001},
                            bench.save(kStorage, data),   {0x0400'0000},
                            {0x0a00'0001, 0, 0},          {0x1080'0001, 0x40 << 2, 0x77},
                            {kOwnStore, 0, low(data), 3}, {kGlobalStore, 0, low(data), 3}};
  for (const Dwords& command : dropped) {
    bench.go_in_batch(command, false);
    EXPECT_TRUE(bench.violated()) << std::hex << command[0];
  }
  EXPECT_EQ(bench.read(kStorage), 0x11u);
  EXPECT_EQ(bench.entry(page / 4096), entry);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.peek(status + 0x100), 0u);
}

TEST(ProcessSpace, UpdateGttWritesBothTables) {
  COVERS("G45-1.19-01");
  ProcessBench bench;
  const uint64_t page = bench.allocate(3);
  const uint64_t other = bench.allocate(2);
  const auto entry = [&](unsigned number) {
    return static_cast<uint32_t>(bench.pte(EngineBench::host_address(other + 4096 * number)));
  };
  bench.go(Dwords{kOwnStore, 0, low(page), 1} +  // the old translations are in use
           Dwords{kGlobalStore, 0, low(page), 1} + Dwords{0x1180'0002, low(page), entry(0), entry(1)} +
           Dwords{0x11c0'0001, low(page), entry(1)} + Dwords{kGlobalStore, 0, low(page), 5} +
           Dwords{kGlobalStore, 0, low(page + 4096 + 4), 6} + Dwords{kOwnStore, 0, low(page + 8), 7});
  EXPECT_EQ(bench.entry(page / 4096), entry(0));
  EXPECT_EQ(bench.entry(page / 4096 + 1), entry(1));
  EXPECT_EQ(bench.host.value_at<uint32_t>(ProcessBench::kTable + page / 1024), entry(1));
  EXPECT_EQ(bench.peek(other), 5u);
  EXPECT_EQ(bench.peek64(other + 4096), 6ull << 32);
  EXPECT_EQ(bench.peek(other + 4096 + 8), 7u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST(ProcessSpace, UndefinedUpdatesAreReported) {
  COVERS("G45-1.19-05");
  COVERS("G45-1.19-06");
  COVERS("G45-1.19-07");
  ProcessBench bench("rcs0", false);
  bench.go({0x11c0'0001, 0x0010'0000, 0x1234'5001});
  EXPECT_EQ(bench.undefined(), 1u) << "the per-process address space is off";
  EXPECT_EQ(bench.host.value_at<uint32_t>(ProcessBench::kTable + 0x400), ProcessBench::kOther + 0x10'0000 + 1);
  ProcessBench both;
  both.go({0x11c0'0002, 0x003f'f000, 0x1234'5001, 0x1234'6001});
  EXPECT_GE(both.undefined(), 1u) << "entries in two page tables";
  both.go({0x1180'0001, 0xffff'f000, 0x1234'5001});
  EXPECT_EQ(both.host.log.count(EventKind::bad_access), 1u) << "beyond the end of the global table";
}

TEST(ProcessSpace, VideoStoresSelectTheTable) {
  COVERS("G45-2.9-01");
  COVERS("G45-2.9-02");
  COVERS("G45-2.9-03");
  ProcessBench bench("vcs0");
  const uint64_t data = bench.allocate(1);
  bench.go({0x1040'0003, 0, low(data), 1, 2});
  bench.go({0x1000'0002, 0, low(data + 8), 3});
  EXPECT_EQ(bench.peek64(data), 0x2'0000'0001u);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  EXPECT_EQ(bench.process(data + 8), 3u);
  bench.go_in_both({0x1000'0002, 0, low(data + 16), 4}, true);
  EXPECT_EQ(bench.process(data + 16), 4u);
  bench.go_in_both({0x1040'0002, 0, low(data + 24), 5}, false);
  EXPECT_EQ(bench.peek(data + 24), 0u);
  EXPECT_EQ(bench.process(data + 24), 5u);
  EXPECT_FALSE(bench.violated());
  bench.go({0x1040'0003, 0, low(data + 4), 1, 2});
  EXPECT_EQ(bench.undefined(), 1u) << "a qword must be aligned";

  ProcessBench off("vcs0", false);
  const uint64_t other = off.allocate(1);
  off.go_in_batch({0x1040'0002, 0, low(other), 5}, false);
  EXPECT_EQ(off.peek(other), 0u);
  EXPECT_TRUE(off.violated());
}

TEST(ProcessSpace, VideoStatusPageStoresSelectThePage) {
  COVERS("G45-2.10-01");
  COVERS("G45-2.10-02");
  ProcessBench bench("vcs0");
  const uint64_t status = bench.allocate(1);
  const uint64_t context = bench.allocate(8);
  bench.set_reg("vcs0", kHwsPga, low(status));
  bench.set_reg("vcs0", 0x190, low(context) | 1);
  const uint64_t page = context + 20 * 1024;
  bench.go({0x1080'0001, 16 << 2, 1});
  bench.go({0x1080'0002, 21 << 2, 2, 3});  // a qword: bit 2 of the offset is ignored
  EXPECT_EQ(bench.peek(status + 64), 1u);
  EXPECT_EQ(bench.peek64(status + 80), 0x3'0000'0002u);
  bench.go({0x1080'0001 | 1u << 21, 1023 << 2, 4});
  EXPECT_EQ(bench.peek(page + 4092), 4u);
  EXPECT_EQ(bench.peek(status + 4092), 0u);
  bench.go_in_both({0x1080'0001, 24 << 2, 5}, false);  // treated as if the bit were set
  EXPECT_EQ(bench.peek(page + 96), 5u);
  EXPECT_EQ(bench.peek(status + 96), 0u);
  bench.set_reg("vcs0", 0x520, 0x8000'0000);  // per-process space disabled: treated as if the bit were clear
  bench.go({0x1080'0001 | 1u << 21, 28 << 2, 6});
  EXPECT_EQ(bench.peek(status + 112), 6u);
}

TEST(ProcessSpace, SemaphoreMailboxesSelectTheTable) {
  COVERS("G45-3.4-07");
  ProcessBench bench;
  const uint64_t data = bench.allocate(1);
  bench.go({0x0b40'0001 | 1u << 21, 1, low(data)});
  bench.go({0x0b00'0001 | 1u << 21, 1, low(data + 4)});
  EXPECT_EQ(bench.peek64(data), 1u);
  EXPECT_EQ(bench.process(data + 4), 1u);
  bench.go_in_both({0x0b40'0001 | 1u << 21, 1, low(data + 8)}, false);  // a non-secure batch has no access
  EXPECT_EQ(bench.peek(data + 8), 0u);
  EXPECT_EQ(bench.process(data + 8), 1u);
}

// Reads: a mailbox is compared in the address space of the process, whatever the bit is. Fetches: see Gm45Batch.
// Writes: see above.
TEST(ProcessSpace, NonSecureBatchNeverUsesTheGlobalTable) {
  COVERS("G45-1.5.1-02");
  for (const bool in_process : {false, true}) {
    for (const bool privileged : {false, true}) {
      ProcessBench bench;
      const uint64_t data = bench.allocate(1);
      bench.poke(data, in_process ? 0 : 1);
      bench.host.put<uint32_t>(ProcessBench::kOther + data, in_process ? 1 : 0);
      const uint64_t at = bench.allocate(1);
      const Dwords all = Dwords{0x0b50'0001, 1, low(data)} + Dwords{0x0040'0005} + bench.end();
      bench.poke(at, std::span<const uint32_t>(all));
      for (size_t i = 0; i < all.size(); ++i) {
        bench.host.put<uint32_t>(ProcessBench::kOther + at + 4 * i, all[i]);
      }
      bench.emit("rcs0", bench.batch(at, privileged));
      bench.submit("rcs0");
      bench.device->advance(100'000);
      EXPECT_EQ(bench.reg("rcs0", 0x94), in_process != privileged ? 5u : 0u) << in_process << privileged;
    }
  }
}

}  // namespace
}  // namespace halogen
