// Streams of engines from Gen6 on: the table of an access, contexts, invalidation and faults, all through registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "covers.h"
#include "memory_bench.h"

namespace halogen::device {
namespace {

std::vector<const spec::DeviceModel*> gen8_models() {
  std::vector<const spec::DeviceModel*> models;
  for (const spec::DeviceModel* model : every_model()) {
    if (Generation(*model).has_execlists()) {
      models.push_back(model);
    }
  }
  return models;
}

// Element descriptor: valid, legacy, 48 bits, per-process.
constexpr uint64_t kLegacy32 = 0x109;
constexpr uint64_t kLegacy48 = 0x119;
constexpr uint64_t kGlobalContext = 0x019;

class Contexts : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  MemoryBench bench{*GetParam()};
  const spec::DeviceModel& model = *GetParam();
  bool local = model.local_bytes != 0;
  bool wide = model.has(spec::Feature::ppgtt_4level);

  void put(uint64_t address, uint64_t value) {
    if (local) {
      bench.device->bar_write(2, address, 8, value);
    } else {
      bench.host.put<uint64_t>(address, value);
    }
  }
  // Writes tables from `at` on that map one page at 2 MB. Returns the pointer for PDP0.
  uint64_t tables(uint64_t at, uint64_t page, uint64_t leaf_bits = 3) {
    if (wide) {
      put(at, at + 0x1003);
      put(at + 0x1000, at + 0x2003);
      put(at + 0x2000 + 8, at + 0x3003);
    } else {
      put(at + 8, at + 0x3003);
    }
    put(at + 0x3000, page | leaf_bits);
    return at;
  }
  void set_pdp(const spec::EngineModel& engine, unsigned number, uint64_t value) {
    bench.write(engine.mmio_base + 0x270 + 8 * number, static_cast<uint32_t>(value));
    bench.write(engine.mmio_base + 0x274 + 8 * number, static_cast<uint32_t>(value >> 32));
  }
  void load(unsigned engine, uint64_t pointer) {
    bench.device->memory().begin_context(engine);
    set_pdp(model.engines[engine], 0, pointer);
    bench.device->memory().launch_context(engine, wide ? kLegacy48 : kLegacy32);
  }
  uint32_t reads(unsigned engine, memory::TableKind table, uint64_t address = 0x20'0000) {
    return bench.device->space(engine, memory::Stream::batch, table).load_value<uint32_t>(GpuVa(address));
  }
};

TEST_P(Contexts, EnginesMayUseEitherTable) {
  COVERS("ICL-MODE-05");
  bench.host.put<uint32_t>(0x1'0000, 0x111);
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  bench.map(0x200, 0x1'0000);
  for (unsigned engine = 0; engine < model.engines.size(); ++engine) {
    load(engine, tables(0x40'0000 + engine * 0x1'0000, 0x2'0000));
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(reads(engine, memory::TableKind::per_process), 0x222u) << model.engines[engine].name;
      EXPECT_EQ(reads(engine, memory::TableKind::global), 0x111u);
    }
  }
  for (const memory::Stream stream : {memory::Stream::display_a, memory::Stream::cursor, memory::Stream::vga}) {
    EXPECT_EQ(bench.device->memory().external_space(stream).load_value<uint32_t>(GpuVa(0x20'0000)), 0x111u);
  }
  if (bench.has_aperture()) {
    EXPECT_EQ(bench.aperture(0x20'0000), 0x111u);
  }
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(Contexts, ContextWithoutTablesUsesTheGlobalTable) {
  bench.host.put<uint32_t>(0x1'0000, 0x111);
  bench.host.put<uint32_t>(0x3'0000, 0x333);
  bench.map(0x200, 0x1'0000);
  bench.device->memory().begin_context(0);
  bench.device->memory().launch_context(0, kGlobalContext);
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x111u);
  bench.map(0x200, 0x3'0000);
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x333u) << "entry writes are tracked for it too";
}

TEST_P(Contexts, PointersWrittenWhileAContextRunsTakeEffect) {
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  bench.host.put<uint32_t>(0x3'0000, 0x333);
  load(0, tables(0x40'0000, 0x2'0000));
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x222u);
  set_pdp(model.engines[0], 0, tables(0x50'0000, 0x3'0000));
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x333u);
}

TEST_P(Contexts, InvalidationRegistersDropTranslationsAndReadZero) {
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  bench.host.put<uint32_t>(0x3'0000, 0x333);
  const bool gen12 = model.gen == spec::GenId::gen12;
  const auto invalidate_register = [&](const spec::EngineModel& engine) -> uint32_t {
    switch (engine.engine_class) {
      case spec::EngineClass::render:
      case spec::EngineClass::posh:
        return gen12 ? 0xced8 : 0x4260;
      case spec::EngineClass::blit:
        return gen12 ? 0xcee4 : 0x426c;
      case spec::EngineClass::video:
        return gen12 ? 0xcedc : engine.instance == 0 ? 0x4264 : 0x4268;
      case spec::EngineClass::vebox:
        return gen12 ? 0xcee0 : 0x4270;
      case spec::EngineClass::compute:
        return 0xcf04;
    }
    return 0;
  };
  for (unsigned number = 0; number < model.engines.size(); ++number) {
    const spec::EngineModel& engine = model.engines[number];
    load(number, tables(0x40'0000, 0x2'0000));
    EXPECT_EQ(reads(number, memory::TableKind::per_process), 0x222u);
    put(0x40'3000, 0x3'0003);
    EXPECT_EQ(reads(number, memory::TableKind::per_process), 0x222u) << "stale until software invalidates";
    const uint32_t at = invalidate_register(engine);
    bench.write(at, gen12 ? 1u << engine.instance : 1u);
    EXPECT_EQ(bench.read(at), 0u) << engine.name;
    EXPECT_EQ(reads(number, memory::TableKind::per_process), 0x333u) << engine.name;
  }
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(Contexts, FaultRegistersHoldTheFirstFault) {
  const bool gen12 = model.gen == spec::GenId::gen12;
  const uint32_t fault = gen12 ? 0xcec4 : 0x4094;
  const uint32_t data0 = gen12 ? 0xceb8 : 0x4b10;
  const uint32_t data1 = gen12 ? 0xcebc : 0x4b14;
  load(0, tables(0x40'0000, 0x2'0000));
  EXPECT_EQ(bench.read(fault), 0u);
  reads(0, memory::TableKind::per_process, 0x20'5000);
  EXPECT_EQ(bench.read(fault) & 0xfff, 1u) << "valid, a page table entry, per-process";
  EXPECT_EQ(bench.read(data0), 0x205u);
  EXPECT_EQ(bench.read(data1), 0u);
  reads(0, memory::TableKind::global, 0x30'6000);
  EXPECT_EQ(bench.read(data0), 0x205u) << "the first fault is kept";
  memory::AddressSpace& batch = bench.device->space(0, memory::Stream::batch, memory::TableKind::per_process);
  EXPECT_EQ(batch.store_value<uint32_t>(GpuVa(0x20'5000), 1), memory::AccessResult::hung);
  const DeviceState saved = bench.device->snapshot();
  bench.write(fault, 0);
  reads(0, memory::TableKind::global, 0x30'6000);
  EXPECT_EQ(bench.read(fault) & 0xfff, 0x801u) << "through the global table";
  EXPECT_EQ(bench.read(data0), 0x306u);
  EXPECT_EQ(bench.read(data1), 0x10u);
  bench.device->restore(saved);
  EXPECT_EQ(bench.read(data0), 0x205u);
  EXPECT_EQ(bench.device->snapshot(), saved);
  bench.write(0x941c, 1);
  EXPECT_EQ(bench.read(fault), 0u) << "cleared by a full reset";
}

TEST_P(Contexts, SnapshotRestoresTheContext) {
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  bench.host.put<uint32_t>(0x3'0000, 0x333);
  load(0, tables(0x40'0000, 0x2'0000));
  const DeviceState saved = bench.device->snapshot();
  load(0, tables(0x50'0000, 0x3'0000));
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x333u);
  if (!local) {
    tables(0x40'0000, 0x2'0000);
  }
  bench.device->restore(saved);
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x222u);
  // A device that never loaded the context continues from the same state.
  Bench other(model);
  Device& copy = *other.device;
  for (const auto& [number, page] : bench.host.pages) {
    other.host.write_memory(PhysAddr(number * 4096), *page);
  }
  copy.restore(saved);
  EXPECT_EQ(copy.space(0, memory::Stream::batch).load_value<uint32_t>(GpuVa(0x20'0000)), 0x222u);
}

// An engine reset clears the context's registers but keeps cached translations; a device reset clears both.
TEST_P(Contexts, EngineResetKeepsTheTlbs) {
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  load(0, tables(0x40'0000, 0x2'0000));
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x222u);
  put(0x40'3000, 0);
  bench.device->reset_engine(model.engines[0]);
  EXPECT_EQ(bench.read(model.engines[0].mmio_base + 0x270), 0u);
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0x222u) << "still cached: software must invalidate";
  bench.device->reset(ResetKind::function_level);
  bench.enable();
  EXPECT_EQ(reads(0, memory::TableKind::per_process), 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Contexts, ::testing::ValuesIn(gen8_models()), model_name);

// Gen6: the directory is in the global table, and the mode register enables it.
TEST(SnbContexts, DirectoryLiesInsideTheGlobalTable) {
  MemoryBench bench("snb");
  constexpr uint32_t kDclv = 0x2220, kBase = 0x2228, kBaseRead = 0x2518, kGfxMode = 0x2520, kFault = 0x4094;
  bench.host.put<uint32_t>(0x1'0000, 0x111);
  bench.host.put<uint32_t>(0x2'0000, 0x222);
  bench.map(0x400, 0x1'0000);
  // 512 directory entries from entry 0x6000 of the table on; each covers 4 MB.
  bench.set_entry(0x6001, 0x40'0001);
  bench.host.put<uint32_t>(0x40'0000, 0x2'0001);
  const auto reads = [&](uint64_t address) {
    return bench.engine_reads(memory::Stream::batch, address, memory::TableKind::per_process);
  };
  bench.write(kDclv, 0xffff'ffff);
  bench.write(kBase, 0x6000 * 4 / 64 << 16);
  EXPECT_EQ(bench.read(kBaseRead), bench.read(kBase));
  EXPECT_EQ(reads(0x40'0000), 0x111u) << "not enabled: the global table";
  bench.write(kGfxMode, 0x0200'0200);
  EXPECT_EQ(reads(0x40'0000), 0x222u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::batch, 0x40'0000, memory::TableKind::global), 0x111u);
  EXPECT_EQ(bench.aperture(0x40'0000), 0x111u);
  EXPECT_EQ(bench.events(), 0u);
  // Other engines have their own directory, but no enable bit of their own.
  bench.host.put<uint32_t>(0x3'0000, 0x333);
  bench.host.put<uint32_t>(0x50'0000, 0x3'0001);
  bench.set_entry(0x7001, 0x50'0001);
  bench.write(0x2'2220, 0xffff'ffff);
  bench.write(0x2'2228, 0x7000 * 4 / 64 << 16);
  EXPECT_EQ(bench.device->space(2, memory::Stream::blit).load_value<uint32_t>(GpuVa(0x40'0000)), 0x333u);
  reads(0x80'0000);
  EXPECT_EQ(bench.read(kFault), 0x80'0000u | 1u << 1 | 1u) << "an invalid directory entry";
  bench.write(kDclv, 0);
  bench.write(kBase, 0x6000 * 4 / 64 << 16);
  bench.host.log.clear();
  reads(0x40'0000);
  EXPECT_EQ(bench.events(EventKind::fault), 1u) << "no part of the directory is loaded";
}

// Gen6: GAB_CTL (Linux i915, intel_gt_regs.h) makes the copy engine continue after a page fault. A full reset clears
// it.
TEST(SnbFaults, CopyArbiterSelectsWhetherTheCopyEngineHangs) {
  MemoryBench bench("snb");
  constexpr uint32_t kControl = 0x24000, kContinue = 1u << 8, kReset = 0x941c;
  constexpr uint64_t kUnmapped = 0x30'6000;
  const auto store = [&](spec::EngineClass wanted) {
    const auto found = std::ranges::find(bench.model.engines, wanted, &spec::EngineModel::engine_class);
    const auto number = static_cast<unsigned>(found - bench.model.engines.begin());
    return bench.device->space(number, memory::Stream::batch, memory::TableKind::global)
        .store_value<uint32_t>(GpuVa(kUnmapped), 1);
  };
  EXPECT_EQ(store(spec::EngineClass::blit), memory::AccessResult::hung);
  bench.write(kControl, kContinue);
  EXPECT_EQ(bench.read(kControl), kContinue);
  bench.host.log.clear();
  EXPECT_EQ(store(spec::EngineClass::blit), memory::AccessResult::ok);
  EXPECT_EQ(bench.events(EventKind::fault), 1u) << "the fault is reported";
  EXPECT_EQ(store(spec::EngineClass::render), memory::AccessResult::hung) << "the other engines are not concerned";
  const DeviceState saved = bench.device->snapshot();
  bench.write(kControl, 0);
  EXPECT_EQ(store(spec::EngineClass::blit), memory::AccessResult::hung);
  bench.device->restore(saved);
  EXPECT_EQ(store(spec::EngineClass::blit), memory::AccessResult::ok);
  bench.write(kReset, 1);
  bench.wake_all();
  EXPECT_EQ(bench.read(kControl), 0u);
  EXPECT_EQ(store(spec::EngineClass::blit), memory::AccessResult::hung);
}

// Observed in traces of the OpenCL driver: tables are in local memory if LMEM_CFG selects it.
TEST(Dg1Contexts, LmemCfgSelectsTheMemoryOfTables) {
  const auto run = [](bool firmware, bool write_enable) {
    MemoryBench bench("dg1", {.local_tables = firmware});
    for (const auto& [at, value] : {std::pair{0x40'0000u, 0x40'1003u},
                                    {0x40'1000u, 0x40'2003u},
                                    {0x40'2008u, 0x40'3003u},
                                    {0x40'3000u, 0x2'0003u}}) {
      bench.host.put<uint64_t>(at, value);
      bench.device->bar_write(2, at, 8, at == 0x40'3000u ? 0x3'0003u : value);
    }
    bench.device->bar_write(2, 0x40'3008, 8, 0x5'0803);  // a page in local memory: bit 11
    bench.device->bar_write(2, 0x5'0000, 4, 0x555);
    bench.host.put<uint32_t>(0x2'0000, 0x222);
    bench.host.put<uint32_t>(0x3'0000, 0x333);
    if (write_enable) {
      bench.write(0xcf58, 1u << 31);
    }
    bench.device->memory().begin_context(0);
    bench.write(0x2270, 0x40'0000);
    bench.write(0x2274, 0);
    bench.device->memory().launch_context(0, kLegacy48);
    memory::AddressSpace& space = bench.device->space(0, memory::Stream::batch);
    if (firmware || write_enable) {
      EXPECT_EQ(space.load_value<uint32_t>(GpuVa(0x20'1000)), 0x555u);
    }
    return space.load_value<uint32_t>(GpuVa(0x20'0000));
  };
  EXPECT_EQ(run(true, false), 0x333u);
  EXPECT_EQ(run(false, false), 0x222u);
  EXPECT_EQ(run(false, true), 0x333u);
}

}  // namespace
}  // namespace halogen::device
