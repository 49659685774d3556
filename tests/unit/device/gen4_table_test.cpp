// Gen4: the global table in main memory, its enable bit, its errors, and the table of each client (G45 PRM vol. 1b 4.6,
// 5.7, seed 003).
#include <gtest/gtest.h>

#include <array>

#include "covers.h"
#include "memory_bench.h"

namespace halogen::device {
namespace {

constexpr uint32_t kPgtblCtl = 0x2020;
constexpr uint32_t kPgtblEr = 0x2024;
constexpr uint32_t kPgtblCtl2 = 0x20c4;
constexpr uint32_t kPgtblStr2 = 0x20c8;

constexpr std::array kInternal{memory::Stream::ring,      memory::Stream::batch,        memory::Stream::indirect_state,
                               memory::Stream::constants, memory::Stream::media_data,   memory::Stream::vertex,
                               memory::Stream::sampler,   memory::Stream::render_cache, memory::Stream::depth,
                               memory::Stream::blit,      memory::Stream::store_data,   memory::Stream::post_sync};
constexpr std::array kDisplay{memory::Stream::display_a, memory::Stream::display_b, memory::Stream::overlay,
                              memory::Stream::cursor, memory::Stream::vga};

std::vector<const spec::DeviceModel*> gen4_models() {
  return {spec::find_device("i965"), spec::find_device("gm965"), spec::find_device("g45"), spec::find_device("gm45")};
}

class Gen4Table : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  MemoryBench bench{*GetParam(), {.aperture_bytes = 0x2000'0000}};

  uint32_t external(memory::Stream stream, uint64_t address) {
    return bench.device->memory().external_space(stream).load_value<uint32_t>(GpuVa(address));
  }
};

TEST_P(Gen4Table, PgtblCtlLocatesTheTableInMainMemory) {
  // Firmware has set its base: entries work before software writes the base.
  bench.map(0, 0x1000);
  bench.put_aperture(0, 1);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x1000), 1u);
  // Now in host memory: 128 K entries of four bytes in 128 contiguous pages map 512 MB.
  bench.write(kPgtblCtl, 0x0080'0001);
  bench.map(0, 0x2000);
  bench.map(0x1'ffff, 0x3000);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x80'0000), 0x2001u);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x80'0000 + 0x7'fffc), 0x3001u);
  bench.put_aperture(0x1fff'fff8, 3);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x3ff8), 3u);
  EXPECT_EQ(bench.events(), 0u);
  // Smaller tables end earlier.
  for (const auto& [code, bytes] : {std::pair{2u, 0x2'0000u}, std::pair{1u, 0x4'0000u}}) {
    bench.host.log.clear();
    bench.write(kPgtblCtl, 0x0080'0001 | code << 1);
    bench.map(bytes / 4 - 1, 0x5000);
    bench.put_aperture((uint64_t{bytes} / 4 - 1) << 12, code);
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x5000), code);
    EXPECT_EQ(bench.events(), 0u);
    bench.put_aperture(uint64_t{bytes} / 4 << 12, code);
    EXPECT_EQ(bench.events(EventKind::fault), 1u);
  }
  // Above 4 GB: bits 35:32 of the base are in 7:4.
  bench.host.top = uint64_t{1} << 36;
  bench.write(kPgtblCtl, 0x0080'0031);
  bench.map(7, 0x6000);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x3'0080'001c), 0x6001u);
}

TEST_P(Gen4Table, TableMayBeOutsideHostMemory) {
  bench.write(kPgtblCtl, 0x0080'0031);  // above host memory
  bench.map(4, 0x1000);
  EXPECT_EQ(bench.entry(4), 0x1001u);
  bench.put_aperture(0x4000, 9);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x1000), 9u);
  EXPECT_EQ(bench.events(), 0u);
}

// Entries that are not written through the alias are seen only after the cached entries are dropped.
TEST_P(Gen4Table, OnlyTheAliasDropsCachedEntries) {
  COVERS("G45-4.6-03");
  bench.write(kPgtblCtl, 0x0080'0001);
  bench.host.put<uint32_t>(0x1000, 1);
  bench.host.put<uint32_t>(0x2000, 2);
  bench.map(5, 0x1000);
  EXPECT_EQ(bench.aperture(0x5000), 1u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x5000, memory::TableKind::global), 1u);
  bench.host.put<uint32_t>(0x80'0014, 0x2001);
  EXPECT_EQ(bench.aperture(0x5000), 1u) << "stale";
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x5000, memory::TableKind::global), 1u);
  bench.map(5, 0x2000);
  EXPECT_EQ(bench.aperture(0x5000), 2u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x5000, memory::TableKind::global), 2u);
  bench.host.put<uint32_t>(0x80'0014, 0x1001);
  bench.write(0x2170, 1);  // GFX_FLSH_CNTL
  EXPECT_EQ(bench.aperture(0x5000), 1u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x5000, memory::TableKind::global), 1u);
}

TEST_P(Gen4Table, DisabledTableAllowsOnlyCpuReadsCursorAndVga) {
  COVERS("G45-4.6-04");
  bench.map(0, 0x1000);
  bench.host.put<uint32_t>(0x1000, 0x77);
  bench.disable_table();
  EXPECT_EQ(bench.aperture(0), 0x77u);
  EXPECT_EQ(external(memory::Stream::cursor, 0), 0x77u);
  EXPECT_EQ(external(memory::Stream::vga, 0), 0x77u);
  EXPECT_EQ(bench.aperture(0x8000), 0u) << "unmapped, without an error";
  EXPECT_EQ(bench.events(), 0u);
  EXPECT_EQ(bench.read(kPgtblEr), 0u);

  bench.put_aperture(0, 1);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x1000), 0x77u);
  EXPECT_EQ(bench.events(EventKind::fault), 1u);
  EXPECT_NE(bench.read(kPgtblEr), 0u);
  for (const memory::Stream stream : kInternal) {
    bench.host.log.clear();
    EXPECT_EQ(bench.engine_reads(stream, 0, memory::TableKind::global), 0u) << name_of(stream);
    EXPECT_EQ(bench.events(EventKind::fault), 1u) << name_of(stream);
  }
  for (const memory::Stream stream : {memory::Stream::display_a, memory::Stream::display_b, memory::Stream::overlay}) {
    bench.host.log.clear();
    EXPECT_EQ(external(stream, 0), 0u) << name_of(stream);
    EXPECT_EQ(bench.events(EventKind::fault), 1u) << name_of(stream);
  }
  bench.host.log.clear();
  bench.enable_table();
  for (const memory::Stream stream : kInternal) {
    EXPECT_EQ(bench.engine_reads(stream, 0, memory::TableKind::global), 0x77u) << name_of(stream);
  }
  for (const memory::Stream stream : kDisplay) {
    EXPECT_EQ(external(stream, 0), 0x77u) << name_of(stream);
  }
  EXPECT_EQ(bench.events(), 0u);
}

// After a reset the table is disabled, and its base is still the firmware's.
TEST_P(Gen4Table, TableIsDisabledAfterReset) {
  const uint32_t base = bench.read(kPgtblCtl) & ~1u;
  bench.map(0, 0x1000);
  bench.device->config_write(0xc0, 1, 1);
  EXPECT_EQ(bench.read(kPgtblCtl), base);
  EXPECT_FALSE(bench.device->memory().table_enabled());
  bench.enable_table();
  bench.put_aperture(0, 5);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x1000), 5u);
}

// Linux's GTT driver clears the enable bit on G4x at the start and after each reset, and continues to use the table.
TEST_P(Gen4Table, TableMayIgnoreItsEnableBit) {
  MemoryBench linux_bench{*GetParam(), {.table_enabled = true}};
  const uint32_t base = linux_bench.read(kPgtblCtl) & ~1u;
  linux_bench.map(0, 0x1000);
  linux_bench.host.put<uint32_t>(0x1000, 0x77);
  linux_bench.write(kPgtblCtl, base);
  EXPECT_EQ(linux_bench.engine_reads(memory::Stream::batch, 0, memory::TableKind::global), 0x77u);
  linux_bench.device->config_write(0xc0, 1, 1);
  linux_bench.write(kPgtblCtl, base);
  EXPECT_EQ(linux_bench.engine_reads(memory::Stream::batch, 0, memory::TableKind::global), 0x77u);
  EXPECT_EQ(linux_bench.events(EventKind::fault), 0u);
}

TEST_P(Gen4Table, PageTableErrorsNameTheStreamUntilReset) {
  COVERS("G45-5.7.2-01");
  COVERS("G45-5.7.2-05");
  struct Row {
    memory::Stream stream;
    unsigned bit;
  };
  // Bits of PGTBL_ER as igt-gpu-tools decodes them.
  constexpr Row kRows[] = {
      {memory::Stream::ring, 20},      {memory::Stream::batch, 20},        {memory::Stream::indirect_state, 23},
      {memory::Stream::constants, 19}, {memory::Stream::store_data, 19},   {memory::Stream::vertex, 21},
      {memory::Stream::sampler, 26},   {memory::Stream::render_cache, 24}, {memory::Stream::depth, 24},
      {memory::Stream::blit, 24},      {memory::Stream::cursor, 18},       {memory::Stream::overlay, 17},
      {memory::Stream::display_b, 8},  {memory::Stream::display_a, 4},     {memory::Stream::host, 0}};
  uint32_t expected = 0;
  for (const Row& row : kRows) {
    if (memory::is_external(row.stream)) {
      external(row.stream, 0x10'0000);
    } else {
      bench.engine_reads(row.stream, 0x10'0000, memory::TableKind::global);
    }
    expected |= 1u << row.bit;
    EXPECT_EQ(bench.read(kPgtblEr), expected) << name_of(row.stream);
  }
  bench.write(kPgtblEr, 0xffff'ffff);
  EXPECT_EQ(bench.read(kPgtblEr), expected) << "software cannot clear it";
  const DeviceState saved = bench.device->snapshot();
  bench.device->config_write(0xc0, 1, 1);
  EXPECT_EQ(bench.read(kPgtblEr), 0u) << "a reset clears it";
  bench.device->restore(saved);
  EXPECT_EQ(bench.read(kPgtblEr), expected);
}

TEST_P(Gen4Table, CpuAccessOutsideMemoryHasItsOwnErrorBit) {
  COVERS("G45-5.7.2-03");
  bench.map(0, 0x2'0000'0000);
  bench.aperture(0);
  EXPECT_EQ(bench.read(kPgtblEr), 2u);
}

// A snooped page is accessible. An access by a client that must not use it raises an Event.
TEST_P(Gen4Table, SnoopedPagesAreOnlyForSomeClients) {
  COVERS("G45-4.3-02");
  COVERS("G45-4.6.1-01");
  bench.set_entry(0, 0x1007);  // snooped
  bench.set_entry(1, 0x2001);  // main memory
  bench.host.put<uint32_t>(0x1000, 0x33);
  bench.host.put<uint32_t>(0x2000, 0x44);
  EXPECT_EQ(bench.aperture(0x1000), 0x44u);
  EXPECT_EQ(bench.events(), 0u);
  EXPECT_EQ(bench.aperture(0), 0x33u);
  ASSERT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "CPU accesses must not use snooped pages";
  EXPECT_EQ(bench.aperture(0x2000), 0u);
  EXPECT_EQ(bench.events(EventKind::fault), 1u) << "an invalid entry";
}

TEST_P(Gen4Table, EachClientUsesItsTableAndMemoryType) {
  if (!bench.model.has(spec::Feature::ppgtt_1level)) {
    return;  // no per-process table: everything is global
  }
  COVERS("G45-4.6.1-02");
  // The same address in both tables.
  bench.map(0, 0x1000);
  bench.host.put<uint32_t>(0x1000, 0x111);
  bench.host.put<uint32_t>(0x90'0000, 0x2001);  // per-process table at 9 MB
  bench.host.put<uint32_t>(0x2000, 0x222);
  bench.write(kPgtblCtl2, 0x0090'0001);
  const auto table = [&](memory::Stream stream, memory::TableKind asked) {
    const uint32_t value = bench.engine_reads(stream, 0, asked);
    EXPECT_TRUE(value == 0x111 || value == 0x222) << name_of(stream);
    return value == 0x222 ? memory::TableKind::per_process : memory::TableKind::global;
  };
  struct Row {
    memory::Stream stream;
    int bit;  // bit of PGTBL_STR2; -1: the command selects
    bool snooped;
  };
  constexpr Row kRows[] = {{memory::Stream::ring, 2, false},           {memory::Stream::batch, 5, false},
                           {memory::Stream::indirect_state, 4, false}, {memory::Stream::constants, -1, false},
                           {memory::Stream::media_data, -1, false},    {memory::Stream::vertex, 3, true},
                           {memory::Stream::sampler, 1, true},         {memory::Stream::render_cache, 0, true},
                           {memory::Stream::depth, 0, false},          {memory::Stream::blit, 0, true},
                           {memory::Stream::store_data, -1, true},     {memory::Stream::post_sync, -1, true}};
  for (const Row& row : kRows) {
    for (uint32_t select = 0; select < 64; ++select) {
      bench.write(kPgtblStr2, select);
      for (const memory::TableKind asked : {memory::TableKind::global, memory::TableKind::per_process}) {
        const memory::TableKind expected = row.bit < 0                    ? asked
                                           : (select >> row.bit & 1) != 0 ? memory::TableKind::per_process
                                                                          : memory::TableKind::global;
        ASSERT_EQ(table(row.stream, asked), expected) << name_of(row.stream) << " " << select;
      }
    }
  }
  bench.write(kPgtblStr2, 63);
  for (const memory::Stream stream : kDisplay) {
    EXPECT_EQ(external(stream, 0), 0x111u) << name_of(stream);
  }
  EXPECT_EQ(bench.aperture(0), 0x111u);
  EXPECT_EQ(bench.events(), 0u);
  // Clients that may use snooped memory.
  bench.write(kPgtblStr2, 0);
  bench.set_entry(0, 0x1007);
  for (const Row& row : kRows) {
    bench.host.log.clear();
    bench.device->memory().tlbs().invalidate_all();
    bench.engine_reads(row.stream, 0, memory::TableKind::global);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), row.snooped ? 0u : 1u) << name_of(row.stream);
  }
  bench.host.log.clear();
  EXPECT_EQ(external(memory::Stream::display_a, 0), 0x111u);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
}

TEST_P(Gen4Table, CpuAndDisplayUseOnlyTheGlobalTable) {
  COVERS("G45-4.6-05");
  bench.map(0, 0x1000);
  bench.host.put<uint32_t>(0x1000, 0x111);
  bench.host.put<uint32_t>(0x90'0000, 0x2001);
  bench.host.put<uint32_t>(0x2000, 0x222);
  bench.write(kPgtblCtl2, 0x0090'0001);
  bench.write(kPgtblStr2, 63);
  EXPECT_EQ(bench.aperture(0), 0x111u);
  for (const memory::Stream stream : kDisplay) {
    EXPECT_EQ(external(stream, 0), 0x111u) << name_of(stream);
  }
}

// Sixteen fences, for CPU accesses only.
TEST_P(Gen4Table, FencesApplyToCpuAccessesOnly) {
  COVERS("G45-4.5.4-02");
  EXPECT_EQ(bench.device->memory().aperture().fences().count(), 16u);
  for (uint64_t page = 0; page < 2; ++page) {
    bench.map(page, 0x1'0000 + (page << 12));
    bench.host.put<uint32_t>(0x90'0000 + 4 * page, static_cast<uint32_t>(0x1'0001 + (page << 12)));
  }
  bench.write(kPgtblCtl2, 0x0090'0001);
  bench.set_fence(15, 0, 1, 1024, false);
  bench.put_aperture(1024, 0xf00d);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x1'0000 + 512), 0xf00du);
  for (const uint32_t select : {0u, 63u}) {
    bench.write(kPgtblStr2, select);
    for (const memory::Stream stream : kInternal) {
      EXPECT_EQ(bench.engine_reads(stream, 512, memory::TableKind::per_process), 0xf00du) << name_of(stream);
      EXPECT_EQ(bench.engine_reads(stream, 1024, memory::TableKind::per_process), 0u) << name_of(stream);
    }
  }
  for (const memory::Stream stream : kDisplay) {
    EXPECT_EQ(external(stream, 512), 0xf00du) << name_of(stream);
  }
}

TEST_P(Gen4Table, PhysicalAddressesAreNeitherTiledNorMapped) {
  COVERS("G45-4.7.1-01");
  bench.map(1, 0x8000);
  bench.set_fence(0, 0, 0x1f, 1024, true);
  std::array<std::byte, 4> data{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_TRUE(bench.device->memory().write_physical(PhysAddr(0x1404), data));
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x1404), 0x0403'0201u);
  std::array<std::byte, 4> back{};
  EXPECT_TRUE(bench.device->memory().read_physical(PhysAddr(0x1404), back));
  EXPECT_EQ(back, data);
  EXPECT_EQ(bench.events(), 0u);
  EXPECT_FALSE(bench.device->memory().read_physical(PhysAddr(0x5'0000'0000), back));
  EXPECT_EQ(bench.events(EventKind::unmapped_memory), 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Gen4Table, ::testing::ValuesIn(gen4_models()), model_name);

TEST(Gm45ProcessTable, ProcessTableMapsUpTo2GigabytesFromAPhysicalBase) {
  COVERS("G45-4.6-01");
  MemoryBench bench("gm45", {.aperture_bytes = 0x2000'0000});
  // The global table: 128 pages at any 4 KB boundary.
  bench.write(kPgtblCtl, 0x0070'1001);
  bench.map(0x1'ffff, 0x3000);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x70'1000 + 127 * 4096 + 4092), 0x3001u);
  bench.put_aperture(0x1fff'f000, 6);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x3000), 6u);
  // The per-process table: 512 pages map 2 GB.
  bench.write(kPgtblStr2, 1u << 0);
  const uint64_t last = 512 * 1024 - 1;
  bench.host.put<uint32_t>(0x90'1000 + 4 * last, 0x4001);
  bench.host.put<uint32_t>(0x4ffc, 8);
  bench.write(kPgtblCtl2, 0x0090'1001 | 4u << 1);
  EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, (last << 12) + 0xffc, memory::TableKind::per_process), 8u);
  EXPECT_EQ(bench.events(), 0u);
  // A smaller table: addresses beyond its end are unmapped, whatever the memory holds.
  bench.write(kPgtblCtl2, 0x0090'1001);
  EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, (last << 12) + 0xffc, memory::TableKind::per_process), 0u);
  EXPECT_EQ(bench.events(EventKind::fault), 1u);
  // Disabled: the global table is used.
  bench.host.log.clear();
  bench.write(kPgtblCtl2, 0x0090'1000);
  EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, 0x1fff'f000, memory::TableKind::per_process), 6u);
}

}  // namespace
}  // namespace halogen::device
