// Ledger rows of the memory chapters that need a whole device: registers that later chips no longer have, bits without
// effect, pending invalidations, the kinds of addresses of Gen4.
#include <gtest/gtest.h>

#include "covers.h"
#include "memory/gam_invalidation.h"
#include "memory_bench.h"

namespace halogen::device {
namespace {

bool has_wide_entries(const spec::DeviceModel& model) {
  return model.gen >= spec::GenId::gen8;
}

// The manual of Gen11 still mentions PGTBL_CTL, dword entries and tables of at most 512 KB; these apply to older chips.
TEST(MemoryRows, LaterChipsHaveNoOldTableRegisters) {
  COVERS("ICL-AS-10");
  unsigned later = 0;
  for (const spec::DeviceModel* model : every_model()) {
    if (!has_wide_entries(*model)) {
      continue;
    }
    ++later;
    SCOPED_TRACE(model->name);
    MemoryBench bench(*model);
    for (const char* name : {"PGTBL_CTL", "PGTBL_CTL2", "PGTBL_STR2"}) {
      EXPECT_EQ(bench.device->mmio().bank().map().find(name), nullptr) << name;
    }
    // The table works without an enable, with entries of eight bytes and far more entries than fit into 512 KB.
    const uint64_t page = model->gtt_bytes / 8 - 1;
    EXPECT_GT(page, uint64_t{512 * 1024 / 4});
    const bool local = model->local_bytes != 0;
    bench.map(page, 0x12'3000, local);
    EXPECT_EQ(bench.device->bar_read(0, model->gtt_offset + page * 8 + 4, 4), 0u)
        << "the upper half is part of the entry";
    memory::AddressSpace& space = bench.device->space(0, memory::Stream::blit, memory::TableKind::global);
    EXPECT_TRUE(ok(space.store_value<uint32_t>(GpuVa(page << 12), 7)));
    EXPECT_EQ(local ? bench.device->bar_read(2, 0x12'3000, 4) : bench.host.value_at<uint32_t>(0x12'3000), 7u);
  }
  EXPECT_GE(later, 6u);
}

// Firmware may reserve any part of DSM. A register shows where the part is.
TEST(MemoryRows, FirmwarePartOfStolenMemoryIsPublished) {
  COVERS("ICL-AS-06");
  constexpr uint64_t kMiB = 0x10'0000;
  const auto published = [](MemoryBench& bench) { return bench.read(0x1082c0) | uint64_t{bench.read(0x1082c4)} << 32; };
  constexpr uint64_t kBase = 0x7c00'0000;
  for (const uint64_t offset : {uint64_t{0}, 5 * kMiB, 62 * kMiB}) {
    MemoryBench bench("icl", {.stolen_bytes = 64 * kMiB, .stolen_base = kBase, .wopcm_offset = offset});
    EXPECT_EQ(published(bench) & ~(kMiB - 1), kBase + offset);
    EXPECT_EQ(published(bench) & 1, 1u) << "enabled";
    EXPECT_EQ(published(bench) >> 7 & 3, 1u) << "2 MB";
    // It is part of data stolen memory: hidden from the CPU, at its physical address.
    const memory::PhysicalMemory& memory = bench.device->memory().map().physical();
    for (const uint64_t at : {offset, offset + 2 * kMiB - 1}) {
      EXPECT_TRUE(bench.device->closes_memory(PhysAddr(kBase + at)));
      EXPECT_EQ(memory.window_at(memory::MemorySpace::system, PhysAddr(kBase + at))->kind, memory::MemoryKind::wopcm);
    }
    const uint64_t after = offset + 2 * kMiB;
    if (after < 64 * kMiB) {
      EXPECT_EQ(memory.window_at(memory::MemorySpace::system, PhysAddr(kBase + after))->kind,
                memory::MemoryKind::data_stolen);
    }
  }
  // By default the part is at the end of DSM, also in local memory.
  MemoryBench icl("icl", {.stolen_bytes = 64 * kMiB, .stolen_base = kBase});
  EXPECT_EQ(published(icl) & ~(kMiB - 1), kBase + 62 * kMiB);
  MemoryBench dg1("dg1", {.stolen_bytes = 64 * kMiB, .wopcm_offset = 3 * kMiB});
  EXPECT_EQ(published(dg1) & ~(kMiB - 1), 0x1'0000'0000 - 61 * kMiB);
  // Never beyond DSM.
  TestHost host;
  const spec::DeviceModel& model = *spec::find_device("icl");
  for (const uint64_t offset : {63 * kMiB, 64 * kMiB, kMiB / 2, ~uint64_t{0} - kMiB + 1}) {
    EXPECT_FALSE(
        Device::create(model, host, {.stolen_bytes = 64 * kMiB, .stolen_base = kBase, .wopcm_offset = offset}).ok());
  }
}

// The bit only affects throughput: software can set it, and translations do not change.
TEST(MemoryRows, ConcurrentColorAndDepthBitHasNoEffect) {
  COVERS("ICL-TLB-06");
  MemoryBench bench("icl");
  bench.map(3, 0x1'0000);
  bench.host.put<uint32_t>(0x1'0000, 0x77);
  for (const uint32_t value : {1u << 31, 0u}) {
    bench.write(0x4a30, value);
    EXPECT_EQ(bench.read(0x4a30) & 1u << 31, value);
    for (const memory::Stream stream : {memory::Stream::render_cache, memory::Stream::depth}) {
      EXPECT_EQ(bench.engine_reads(stream, 0x3000, memory::TableKind::global), 0x77u);
    }
  }
  EXPECT_EQ(bench.events(), 0u);
}

// An invalidation register shows its bit until every access that used old translations is done.
TEST(MemoryRows, InvalidationIsPendingDuringAccesses) {
  COVERS("ICL-TLB-16");
  for (const auto& [name, at, other] :
       {std::tuple{"skl", 0x4260u, 0x426cu}, {"icl", 0x4260u, 0x426cu}, {"tgl", 0xced8u, 0xcee4u}}) {
    SCOPED_TRACE(name);
    MemoryBench bench(name);
    memory::TlbInvalidation& unit = bench.device->memory().invalidation();
    bench.write(at, 1);
    EXPECT_EQ(bench.read(at), 0u) << "no access is outstanding: complete immediately";
    {
      const memory::AccessHold reading(unit);
      {
        const memory::AccessHold writing(unit);
        bench.write(at, 1);
        EXPECT_EQ(bench.read(at), 1u);
        EXPECT_EQ(bench.read(other), 0u) << "the invalidation of another engine was not requested";
      }
      EXPECT_EQ(bench.read(at), 1u) << "one access is outstanding";
    }
    EXPECT_EQ(bench.read(at), 0u);
    EXPECT_EQ(bench.events(), 0u);
  }
}

// A driver's whole set-up through registers: the window, the tables in the context's address space, and engine
// accesses.
TEST(MemoryRows, TiledResourcesAreTranslatedPerEngine) {
  struct Case {
    const char* device;
    uint32_t base;  // of the registers, in the order of writes below
    bool later;
  };
  for (const Case& one : {Case{"icl", 0x4de0, false}, Case{"tgl", 0x4400, true}}) {
    SCOPED_TRACE(one.device);
    MemoryBench bench(one.device);
    // Addresses 2 MB to 2 MB + 64 KB are pages at 1 MB; they hold the three tables, and the tile at 64 KB more.
    for (const auto& [at, value] :
         {std::pair{0x40'0000u, 0x40'1003u}, {0x40'1000u, 0x40'2003u}, {0x40'2008u, 0x40'3003u}}) {
      bench.host.put<uint64_t>(at, value);
    }
    for (uint64_t page = 0; page < 32; ++page) {
      bench.host.put<uint64_t>(0x40'3000 + page * 8, (0x10'0000 + page * 0x1000) | 3);
    }
    constexpr uint64_t kWindow = 0x3000'0000'0000;  // address bits 47:44 are 3
    bench.host.put<uint64_t>(0x10'0000, 0x20'1000);
    bench.host.put<uint64_t>(0x10'1000, 0x20'2000);
    bench.host.put<uint32_t>(0x10'2000, 0x20'0000 >> 16 | 1);  // tile 0: 64 KB after 2 MB
    bench.host.put<uint32_t>(0x10'2004, 0xaaaa);               // tile 1: null
    bench.host.put<uint32_t>(0x10'2008, 0xbbbb);               // tile 2: invalid
    bench.host.put<uint32_t>(0x11'0010, 0x77);
    if (one.later) {
      for (const auto& [offset, value] :
           {std::pair{8u, 0x20'0000u}, {12u, 0u}, {16u, 0xaaaau}, {20u, 0xbbbbu}, {4u, 0xf3u}, {0u, 1u}}) {
        bench.write(one.base + offset, value);
      }
    } else {
      for (const auto& [offset, value] :
           {std::pair{0u, 0x20'0000u}, {4u, 0u}, {8u, 0xaaaau}, {12u, 0xbbbbu}, {16u, 0xf3u}, {28u, 1u}, {20u, 3u}}) {
        bench.write(one.base + offset, value);
      }
    }
    bench.device->memory().begin_context(0);
    bench.write(0x2270, 0x40'0000);
    bench.write(0x2274, 0);
    bench.device->memory().launch_context(0, 0x119);
    EXPECT_EQ(bench.events(), 0u);
    const auto read = [&](uint64_t address) {
      return bench.engine_reads(memory::Stream::sampler, address, memory::TableKind::per_process);
    };
    EXPECT_EQ(read(kWindow + 0x10), 0x77u);
    EXPECT_EQ(read(0x21'0010), 0x77u) << "the address of the tile itself";
    EXPECT_EQ(read(kWindow + 0x1'0010), 0u);
    EXPECT_EQ(bench.events(), 0u) << "a null tile raises no Event";
    EXPECT_EQ(read(kWindow + 0x2'0010), 0u);
    ASSERT_EQ(bench.events(EventKind::fault), 1u) << "an invalid tile does";
    EXPECT_EQ(bench.host.log.events().back().item, "TR-TT");
    EXPECT_EQ(bench.host.log.events().back().address, kWindow + 0x2'0010);
    // Register writes take effect immediately, without stale translations. The window moves, moves back, and is
    // disabled.
    const uint32_t range = one.base + (one.later ? 4 : 16), control = one.base + (one.later ? 0 : 20);
    bench.write(range, 0xf4);
    bench.host.log.clear();
    EXPECT_EQ(read(kWindow + 0x10), 0u);
    EXPECT_EQ(bench.events(EventKind::fault), 1u) << "the address is unmapped now";
    EXPECT_EQ(read(kWindow + 0x1000'0000'0010), 0x77u);
    bench.write(range, 0xf3);
    EXPECT_EQ(read(kWindow + 0x10), 0x77u);
    bench.write(control, 0);
    EXPECT_EQ(read(kWindow + 0x10), 0u);
    bench.write(control, one.later ? 1 : 3);
    EXPECT_EQ(read(kWindow + 0x10), 0x77u);
    // Another engine of Gen11 has no such window; on Gen12 it has its own, which is disabled.
    bench.host.log.clear();
    EXPECT_EQ(bench.device->space(1, memory::Stream::blit, memory::TableKind::per_process)
                  .load_value<uint32_t>(GpuVa(kWindow + 0x10)),
              0u);
    EXPECT_EQ(bench.events(EventKind::fault), 1u);
    EXPECT_NE(bench.host.log.events().back().item, "TR-TT");
  }
}

// Gen6: DCLV gives the number of directory lines that are loaded, by its low ones; a line has sixteen entries.
TEST(MemoryRows, DclvLimitsTheDirectory) {
  MemoryBench bench("snb");
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  for (uint64_t entry = 0; entry < 64; ++entry) {
    bench.set_entry(0x6000 + entry, 0x40'0001);
  }
  bench.host.put<uint32_t>(0x40'0000, 0x2'0001);
  bench.write(0x2520, 0x0200'0200);  // GFX_MODE: per-process tables on
  for (const uint32_t lines : {1u, 2u, 3u}) {
    bench.write(0x2220, (1u << lines) - 1);
    bench.write(0x2228, 0x6000 * 4 / 64 << 16);
    bench.host.log.clear();
    for (uint64_t entry = 0; entry < 16 * lines; ++entry) {
      ASSERT_EQ(bench.engine_reads(memory::Stream::batch, entry << 22, memory::TableKind::per_process), 0x222u)
          << entry;
    }
    EXPECT_EQ(bench.events(), 0u);
    EXPECT_EQ(bench.engine_reads(memory::Stream::batch, uint64_t{16 * lines} << 22, memory::TableKind::per_process),
              0u);
    EXPECT_EQ(bench.events(EventKind::fault), 1u);
  }
}

// A flush of the command streamer drops all cached translations of an engine's streams, including upper levels.
TEST(MemoryRows, FlushDropsUpperLevels) {
  MemoryBench bench("snb");
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  bench.host.put<uint32_t>(0x3'0000, 0x333);
  bench.set_entry(0x6001, 0x40'0001);
  bench.host.put<uint32_t>(0x40'0000, 0x2'0001);
  bench.host.put<uint32_t>(0x50'0000, 0x3'0001);
  bench.write(0x2220, 0xffff'ffff);
  bench.write(0x2228, 0x6000 * 4 / 64 << 16);
  bench.write(0x2520, 0x0200'0200);
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x40'0000, memory::TableKind::per_process), 0x222u);
  bench.set_entry(0x6001, 0x50'0001);  // another page table
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x40'0000, memory::TableKind::per_process), 0x222u)
      << "still cached";
  bench.device->memory().flush(0);
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x40'0000, memory::TableKind::per_process), 0x333u);
}

// One access may write two entries of four bytes: both pages are translated again.
TEST(MemoryRows, WideEntryWriteDropsBothTranslations) {
  for (const char* name : {"g45", "snb"}) {
    MemoryBench bench(name);
    bench.host.put<uint32_t>(0x1000, 1);
    bench.host.put<uint32_t>(0x2000, 2);
    bench.map(4, 0x1000);
    bench.map(5, 0x1000);
    EXPECT_EQ(bench.aperture(0x4000), 1u);
    EXPECT_EQ(bench.aperture(0x5000), 1u);
    bench.device->bar_write(0, bench.model.gtt_offset + 4 * 4, 8, 0x2001'0000'2001);
    EXPECT_EQ(bench.aperture(0x4000), 2u) << name;
    EXPECT_EQ(bench.aperture(0x5000), 2u) << name;
  }
}

// After an engine reset the pointers of the old context are cleared.
TEST(MemoryRows, EngineResetClearsThePointers) {
  MemoryBench bench("icl");
  bench.device->memory().begin_context(0);
  bench.write(0x2270, 0x40'0000);
  bench.device->memory().launch_context(0, 0x119);
  EXPECT_EQ(bench.device->memory().gam().engine(0).walk.roots[0], 0x40'0000u);
  bench.device->reset_engine(bench.model.engines[0]);
  bench.device->memory().begin_context(0);
  bench.device->memory().launch_context(0, 0x119);
  EXPECT_EQ(bench.device->memory().gam().engine(0).walk.roots[0], 0u);
}

// Three kinds of graphics addresses and two of physical memory: the same number names a different byte in each.
TEST(MemoryRows, Gen4AddressKindsReachDifferentMemory) {
  COVERS("G45-4.4-04");
  MemoryBench bench("gm45");
  Device& device = *bench.device;
  constexpr uint64_t kNumber = 0x3000;
  bench.map(kNumber >> 12, 0x1'0000);              // main memory through the global table
  bench.set_entry((kNumber >> 12) + 1, 0x2'0007);  // snooped system memory, through the global table
  bench.host.put<uint32_t>(0x90'0000 + 4 * (kNumber >> 12), 0x3'0001);  // the per-process table
  bench.write(0x20c4, 0x0090'0001);
  bench.write(0x20c8, 1);  // the render cache uses it
  bench.host.put<uint32_t>(0x1'0000, 0x11);
  bench.host.put<uint32_t>(0x2'0000, 0x22);
  bench.host.put<uint32_t>(0x3'0000, 0x33);
  bench.host.put<uint32_t>(kNumber, 0x44);
  // The CPU address minus the base of the range.
  device.config_write(0x18, 4, 0xd000'0000);
  const auto hit = device.config().decode_memory(0xd000'0000 + kNumber);
  ASSERT_TRUE(hit);
  EXPECT_EQ(device.bar_read(hit->bar, hit->offset, 4), 0x11u);
  // The graphics address of an internal client, and the per-process one.
  EXPECT_EQ(bench.engine_reads(memory::Stream::sampler, kNumber, memory::TableKind::global), 0x11u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, kNumber, memory::TableKind::per_process), 0x33u);
  // Physical address: unchanged.
  uint32_t value = 0;
  EXPECT_TRUE(device.memory().read_physical(PhysAddr(kNumber), std::as_writable_bytes(std::span(&value, 1))));
  EXPECT_EQ(value, 0x44u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::sampler, kNumber + 0x1000, memory::TableKind::global), 0x22u)
      << "snooped";
  EXPECT_EQ(bench.events(), 0u);
}

// The CPU reaches a per-process page only if the global table maps it too. The size is that of the table.
TEST(MemoryRows, CpuReachesProcessPagesOnlyThroughTheGlobalTable) {
  MemoryBench bench("gm45");
  bench.host.put<uint32_t>(0x90'0000, 0x3'0001);
  bench.write(0x20c4, 0x0090'0001);
  bench.write(0x20c8, 1);
  bench.host.put<uint32_t>(0x3'0000, 0x33);
  EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, 0, memory::TableKind::per_process), 0x33u);
  EXPECT_EQ(bench.aperture(0), 0u);
  EXPECT_EQ(bench.events(EventKind::fault), 1u);
  bench.map(7, 0x3'0000);
  EXPECT_EQ(bench.aperture(0x7000), 0x33u);
  bench.host.log.clear();
  for (const auto& [code, megabytes] : {std::pair{2u, 128u}, {1u, 256u}, {0u, 512u}, {3u, 1024u}}) {
    const uint64_t bytes = uint64_t{megabytes} << 20;
    bench.host.put<uint32_t>(0x90'0000 + (bytes >> 12) * 4 - 4, 0x3'0001);
    bench.host.put<uint32_t>(0x90'0000 + (bytes >> 12) * 4, 0x3'0001);
    bench.write(0x20c4, 0x0090'0001 | code << 1);
    EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, bytes - 0x1000, memory::TableKind::per_process), 0x33u)
        << megabytes;
    EXPECT_EQ(bench.events(), 0u);
    EXPECT_EQ(bench.engine_reads(memory::Stream::render_cache, bytes, memory::TableKind::per_process), 0u) << megabytes;
    EXPECT_EQ(bench.events(EventKind::fault), 1u);
    bench.host.log.clear();
  }
}

}  // namespace
}  // namespace halogen::device
