// Context images in memory: what a switch saves and restores, and what belongs to the engine instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kLoadRegister = 0x1100'0001;
constexpr uint32_t kReportHead = 0x0380'0000;

class ContextImageTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ContextImageTest, ImageHoldsStatusPageRingContextAndEngineContextInOrder) {
  COVERS("DG1-CTX-01");
  ContextBench bench(GetParam());
  Context context = bench.create("rcs0", 1);
  for (unsigned dword = 0; dword < 1024; ++dword) {
    bench.poke(context.address + dword * 4, 0x5a5a'5a5a);
  }
  bench.emit(context, {kLoadRegister, 0x2600, 0x1234});
  bench.run(context);
  unsigned reports = 0;
  for (unsigned dword = 0; dword < 1024; ++dword) {
    const bool own = dword < 16;  // the first line holds hardware reports
    reports += bench.process_page(context, dword) != 0x5a5a'5a5a ? 1u : 0u;
    EXPECT_TRUE(own || bench.process_page(context, dword) == 0x5a5a'5a5a) << dword;
  }
  EXPECT_EQ(reports, bench.model.gen == spec::GenId::gen8 ? 0u : 3u) << "time stamps";
  // The ring context begins at the next page. The engine context follows five lines later.
  EXPECT_EQ(bench.peek(context.address + 0x1000 + 4), bench.image(context, 1));
  EXPECT_EQ(bench.image(context, 1) >> 23, 0x22u) << "MI_LOAD_REGISTER_IMM";
  EXPECT_EQ(bench.image(context, ContextBench::kImageTail), context.tail);
  EXPECT_EQ(bench.image(context, 0x51) >> 23, 0x22u);
  const auto is_gpr = [&](unsigned dword) { return (bench.image(context, dword) & 0xfff) == 0x600; };
  bool found = false;
  for (unsigned dword = 0x52; dword < 0xb8; dword += 2) {
    found |= is_gpr(dword) && bench.image(context, dword + 1) == 0x1234;
  }
  EXPECT_TRUE(found);
}

// The ring context is restored first. Its control register determines whether the engine context is restored and saved.
TEST_P(ContextImageTest, ControlRegisterSelectsEngineContextRestoreAndSave) {
  COVERS("DG1-CTX-02");
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const uint32_t control : {0u, ContextBench::kRestoreInhibit, ContextBench::kSaveInhibit}) {
    Context context = bench.create("rcs0", 1, control | ContextBench::kNoSwitchOnWait);
    bench.set_image(context, 0x50, kLoadRegister);  // the first dword after five lines
    bench.set_image(context, 0x51, 0x2600);
    bench.set_image(context, 0x52, 0xe0e0);
    bench.set_reg("rcs0", ContextBench::kGpr, 5);
    bench.emit(context, ContextBench::store(data, control + 1));
    bench.run(context);
    EXPECT_EQ(bench.peek(data), control + 1) << "the ring is restored in either case";
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kGpr), control == ContextBench::kRestoreInhibit ? 5u : 0xe0e0u);
    // Saved when the context leaves.
    EXPECT_EQ(bench.image(context, ContextBench::kImageHead), context.tail);
    EXPECT_EQ(bench.image(context, ContextBench::kImageControl) & 0xffff, control | ContextBench::kNoSwitchOnWait);
    const bool saved = bench.image(context, 0x51) != 0x2600;
    EXPECT_EQ(saved, control != ContextBench::kSaveInhibit);
  }
}

// The registers of an engine context, from the manual (seed 000, ledger DG1-CTX-08, 10 and 12): those that software
// programs here, and those that show what the engine does.
struct ContextRegisters {
  std::vector<std::pair<uint32_t, uint32_t>> programmed;  // address, value
  std::vector<uint32_t> others;
};

ContextRegisters context_registers(const spec::EngineModel& engine) {
  ContextRegisters out;
  const uint32_t base = engine.mmio_base;
  for (uint32_t number = 0; number < 32; ++number) {
    out.programmed.emplace_back(base + 0x600 + 4 * number, 0x1000'0001 * (number + 1));
  }
  out.programmed.emplace_back(base + 0x41c, 1);
  out.programmed.emplace_back(base + 0x17c, 0x1234);
  for (const uint32_t offset : {0x28u, 0x9cu, 0xc0u, 0x178u, 0x358u, 0x170u, 0x150u, 0x154u, 0x158u, 0x68u}) {
    out.others.push_back(base + offset);
  }
  // The auxiliary table and the tiled resources of the engine; the walk stays off.
  const std::map<std::string_view, std::pair<uint32_t, uint32_t>> tables{
      {"rcs0", {0x4200, 0x4400}}, {"vcs0", {0x4210, 0x4420}}, {"vecs0", {0x4230, 0x4460}}, {"bcs0", {0, 0x4480}}};
  if (const auto found = tables.find(engine.name); found != tables.end()) {
    const auto [aux, tiles] = found->second;
    if (aux != 0) {
      out.programmed.emplace_back(aux, 0x0765'8000);
      out.programmed.emplace_back(aux + 4, 0x12);
    }
    out.others.push_back(tiles);
    const uint32_t values[] = {0x0e, 0x1234'5000, 0x0678, 0x1111'0001, 0x2222'0002};
    for (uint32_t number = 0; number < 5; ++number) {
      out.programmed.emplace_back(tiles + 4 + 4 * number, values[number]);
    }
  }
  return out;
}

// Returns the registers that the commands of an engine context load, with their values.
std::map<uint32_t, uint32_t> loaded_registers(ContextBench& bench, const Context& context) {
  std::map<uint32_t, uint32_t> out;
  const uint32_t base = bench.engine_model(context.engine).mmio_base;
  for (unsigned at = 0x50; at < 0x400;) {
    const uint32_t header = bench.image(context, at++);
    if (header >> 23 == 0x1d) {  // MI_FORCE_WAKEUP
      ++at;
    } else if (header >> 23 == 0x22) {
      for (unsigned pairs = ((header & 0xff) + 1) / 2; pairs > 0; --pairs, at += 2) {
        out[bench.image(context, at) + ((header >> 19 & 1) != 0 ? base : 0)] = bench.image(context, at + 1);
      }
    } else if (header != 0) {
      break;
    }
  }
  return out;
}

// Software initialises one context from its ring without restoring an engine context. The image that the engine then
// saves is complete, and copies of it restore everything.
TEST(GoldenImage, InhibitedRestoreLeavesStateToTheRingAndTheSaveIsComplete) {
  COVERS("DG1-CTX-03");
  for (const char* const chip : {"tgl", "dg1"}) {
    ContextBench bench(chip);
    for (const std::string_view name : {"rcs0", "bcs0", "vcs0", "vecs0"}) {
      SCOPED_TRACE(std::string(chip) + ' ' + std::string(name));
      const spec::EngineModel& engine = bench.engine_model(name);
      const ContextRegisters registers = context_registers(engine);
      const uint32_t left = engine.mmio_base + 0x67c;  // the last register that the ring could program
      // The image says something else. It counts only if the restore is not inhibited.
      for (const bool inhibited : {false, true}) {
        Context golden = bench.create(name, inhibited ? 1 : 2, (inhibited ? 1u : 0u) | ContextBench::kNoSwitchOnWait);
        bench.set_image(golden, 0x50, kLoadRegister);
        bench.set_image(golden, 0x51, left);
        bench.set_image(golden, 0x52, 0xbad0'bad0);
        bench.write(left, 0x7777);
        for (const auto& [address, value] : registers.programmed) {
          if (address != left) bench.emit(golden, {kLoadRegister, address, value});
        }
        bench.run(golden);
        EXPECT_EQ(bench.read(left), inhibited ? 0x7777u : 0xbad0'bad0u);
        if (!inhibited) continue;
        std::map<uint32_t, uint32_t> saved = loaded_registers(bench, golden);
        for (const uint32_t address : registers.others) {
          EXPECT_TRUE(saved.contains(address)) << std::hex << address;
        }
        for (const auto& [address, value] : registers.programmed) {
          EXPECT_TRUE(saved.contains(address)) << std::hex << address;
          EXPECT_EQ(saved[address], address == left ? 0x7777u : value) << std::hex << address;
          bench.write(address, 0);
        }
        Context copy = bench.create(name, 3, ContextBench::kNoSwitchOnWait);
        for (unsigned dword = 0x50; dword < 0x800; ++dword) {
          bench.set_image(copy, dword, bench.image(golden, dword));
        }
        bench.emit(copy, {0});
        bench.run(copy);
        for (const auto& [address, value] : registers.programmed) {
          EXPECT_EQ(bench.read(address), address == left ? 0x7777u : value) << std::hex << address;
        }
      }
    }
  }
}

// The same on every chip, for the registers that all of them save.
TEST_P(ContextImageTest, CopiedGoldenImageRestoresItsState) {
  ContextBench bench(GetParam());
  for (const spec::EngineModel& engine : bench.model.engines) {
    Context golden = bench.create(engine.name, 1);
    for (uint32_t number = 0; number < 32; ++number) {
      bench.emit(golden, {kLoadRegister, engine.mmio_base + 0x600 + 4 * number, 0x100 + number});
    }
    bench.emit(golden, {kLoadRegister, engine.mmio_base + 0x41c, 1});
    bench.run(golden);
    for (uint32_t number = 0; number < 32; ++number) {
      bench.set_reg(engine.name, 0x600 + 4 * number, 0);
    }
    bench.set_reg(engine.name, 0x41c, 0);
    Context copy = bench.create(engine.name, 2);
    for (unsigned dword = 0x50; dword < 0x400; ++dword) {
      bench.set_image(copy, dword, bench.image(golden, dword));
    }
    bench.set_image(copy, ContextBench::kImageControl, 0xffff'0008);  // no restore or save is inhibited
    bench.emit(copy, {0});
    bench.run(copy);
    for (uint32_t number = 0; number < 32; ++number) {
      EXPECT_EQ(bench.reg(engine.name, 0x600 + 4 * number), 0x100 + number) << engine.name;
    }
    EXPECT_EQ(bench.reg(engine.name, 0x41c), 1u);
  }
}

// State changes only by commands of its context, and only while the context runs.
TEST_P(ContextImageTest, StateIsSavedAndRestoredPerContext) {
  COVERS("DG1-CTX-13");
  ContextBench bench(GetParam());
  for (const spec::EngineModel& engine : bench.model.engines) {
    Context first = bench.create(engine.name, 1);
    Context second = bench.create(engine.name, 2);
    const uint32_t gpr = engine.mmio_base + 0x608;
    bench.emit(first, {kLoadRegister, gpr, 11});
    bench.emit(second, {kLoadRegister, gpr, 22});
    // The process may map other pages at the address of the image: images are in the global table.
    const uint64_t elsewhere = bench.allocate(1);
    bench.map_process(first, first.address + 0x1000, elsewhere);
    bench.run(first);
    bench.run(second);
    EXPECT_EQ(bench.peek(elsewhere + 4 * ContextBench::kImageHead), 0u);
    for (unsigned turn = 0; turn < 3; ++turn) {
      for (Context* const context : {&first, &second}) {
        bench.set_image(*context, ContextBench::kImageControl, 0xffff'0008);
        bench.set_reg(engine.name, 0x608, 99);  // belongs to no context
        bench.emit(*context, {0});
        bench.run(*context);
        EXPECT_EQ(bench.reg(engine.name, 0x608), context == &first ? 11u : 22u);
      }
    }
  }
}

TEST(ContextImage, TiledResourceRegistersBelongToTheContext) {
  COVERS("ICL-TRTT-15");
  struct Set {
    const char* chip;
    const char* engine;
    uint32_t first;
    std::vector<uint32_t> values;
  };
  const Set sets[] = {
      {"icl", "rcs0", 0x4de0, {0x1234'5000, 0x1, 0x11, 0x22, 0xf2, 0x3}},
      {"skl", "rcs0", 0x4de0, {0x1234'5000, 0x1, 0x11, 0x22, 0xf2, 0x3}},
      {"dg1", "rcs0", 0x4400, {1, 0xf3, 0x5000, 0x1, 0x11, 0x22}},
      {"dg1", "bcs0", 0x4480, {1, 0xf3, 0x5000, 0x1, 0x11, 0x22}},
      {"dg1", "vcs0", 0x4420, {1, 0xf3, 0x5000, 0x1, 0x11, 0x22}},
      {"dg1",
       "vcs2",
       0x4520,
       {1, 0xf3, 0x5000, 0x1, 0x11, 0x22}},  // named as VDBOX 0, remapped to the engine's own registers
      {"dg1", "vecs0", 0x4460, {1, 0xf3, 0x5000, 0x1, 0x11, 0x22}},
      {"dg1", "ccs0", 0x4580, {1, 0xf3, 0x5000, 0x1, 0x11, 0x22}},
  };
  for (const Set& set : sets) {
    ContextBench bench(set.chip);
    Context owner = bench.create(set.engine, 1);
    Context other = bench.create(set.engine, 2);
    for (size_t i = 0; i < set.values.size(); ++i) {
      const auto at = static_cast<uint32_t>(set.first + 4 * i);
      bench.emit(owner, {kLoadRegister, at, set.values[i]});
      bench.emit(other, {kLoadRegister, at, 0});
    }
    bench.run(owner);
    bench.run(other);
    for (size_t i = 0; i < set.values.size(); ++i) {
      EXPECT_EQ(bench.read(static_cast<uint32_t>(set.first + 4 * i)), 0u);
    }
    bench.set_image(owner, ContextBench::kImageControl, 0xffff'0008);
    bench.run(owner);
    for (size_t i = 0; i < set.values.size(); ++i) {
      EXPECT_EQ(bench.read(static_cast<uint32_t>(set.first + 4 * i)), set.values[i]) << set.chip << set.engine << i;
    }
  }
}

// The image that Intel's simulator clients write: absolute offsets everywhere, no batch registers, and MI_NOOP in all
// other dwords.
TEST_P(ContextImageTest, ImageOfSimulatorClientsIsAccepted) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("rcs0", 0);
  for (unsigned dword = 0; dword < 1024; ++dword) {
    bench.set_image(context, dword, 1);
  }
  std::vector<uint32_t> load{
      0x1100'101b, 0x2244, 0x0001'0001, 0x2034, 0, 0x2030, 0, 0x2038, static_cast<uint32_t>(context.ring), 0x203c, 1};
  for (unsigned filler = 0; filler < 9; ++filler) {
    load.insert(load.end(), {0x2244, 0x0001'0001});
  }
  bench.poke(context.address + 0x1004, load);
  std::vector<uint32_t> tables{0x1100'1011, 0x20d8, 0x0020'0020};
  for (const uint32_t offset : {0x228cu, 0x2288u, 0x2284u, 0x2280u, 0x227cu, 0x2278u, 0x2274u, 0x2270u}) {
    tables.insert(tables.end(), {offset, 0});
  }
  bench.poke(context.address + 0x1000 + 0x84, tables);
  bench.poke(context.address + 0x1000 + 0x104, {0x1100'0001, 0x2094, 0});
  bench.emit(context, {0x1100'0001, 0x2244, 0x0001'0000});
  bench.emit(context, ContextBench::store(data, 1));
  bench.run(context);
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.image(context, ContextBench::kImageHead), context.tail);
  bench.emit(context, ContextBench::store(data, 2));
  bench.run(context);
  EXPECT_EQ(bench.peek(data), 2u);
  EXPECT_EQ(bench.image(context, ContextBench::kImageHead), context.tail);
}

TEST_P(ContextImageTest, StatusPageIsAtTheAddressInItsRegister) {
  COVERS("DG1-HWSP-01");
  ContextBench bench(GetParam());
  for (const spec::EngineModel& engine : bench.model.engines) {
    const uint64_t page = bench.allocate(1);
    bench.set_reg(engine.name, ContextBench::kStatusPageAddress, static_cast<uint32_t>(page | 0xfff));
    EXPECT_EQ(bench.reg(engine.name, ContextBench::kStatusPageAddress), page) << "aligned to the size of the page";
    Context context = bench.create(engine.name, 1);
    bench.run(context);
    EXPECT_EQ(bench.peek(page + bench.status_index_dword() * 4), 1u);
    EXPECT_EQ(bench.peek(bench.status_page(engine.name) + bench.status_index_dword() * 4), 0u);
  }
}

// Hardware reports of the context: head and time stamps in the first lines. The other lines are for stores by its
// commands. The page is that of the global table at the address of the descriptor, whatever the process maps there.
TEST_P(ContextImageTest, HeadAndTimeStampsAreReportedToTheProcessStatusPage) {
  COVERS("DG1-HWSP-02");
  ContextBench bench(GetParam());
  constexpr uint32_t kStoreIndex = 0x10a0'0001;  // MI_STORE_DATA_INDEX, page of the process
  constexpr uint32_t kArbCheck = 0x0280'0000;
  Context context = bench.create("rcs0", 1);
  const uint64_t elsewhere = bench.allocate(1);
  bench.map_process(context, context.address, elsewhere);
  bench.emit(context, {0, 0, 0, kReportHead});
  bench.emit(context, {kStoreIndex, 0x40, 0xfe0c});
  bench.emit(context, {kStoreIndex, 0xffc, 0xfe0d});
  bench.device->advance(5'000'000);
  bench.run(context);
  EXPECT_EQ(bench.process_page(context, 4), 16u) << "the head after the command";
  EXPECT_EQ(bench.process_page(context, 0x10), 0xfe0cu);
  EXPECT_EQ(bench.process_page(context, 0x3ff), 0xfe0du);
  for (unsigned dword = 0; dword < 0x400; ++dword) {
    EXPECT_EQ(bench.peek(elsewhere + 4 * dword), 0u) << dword;
  }
  EXPECT_EQ(bench.peek(bench.status_page("rcs0") + 0xffc), 0u) << "the page of the engine";
  if (bench.model.gen != spec::GenId::gen8) {
    const uint32_t saved = bench.process_page(context, 8);
    const uint32_t restored = bench.process_page(context, 9);
    const uint32_t switched = bench.process_page(context, 11);
    const uint64_t from = 5'000'000 * bench.model.timestamp_hz / 1'000'000'000;
    EXPECT_GE(switched, from);
    EXPECT_LE(switched, restored);
    EXPECT_LT(restored, saved);
    EXPECT_LE(saved, bench.reg("rcs0", 0x358));
  }
  // Automatic head reports, at every 4 KB boundary.
  Context automatic = bench.create("rcs0", 2, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  bench.set_image(automatic, ContextBench::kImageRingControl, 3u << 12 | 2u << 1 | 1);
  bench.emit(automatic, std::vector<uint32_t>(1022, kArbCheck));
  bench.run(automatic);
  EXPECT_EQ(bench.process_page(automatic, 4), 0u) << "not reported before the boundary";
  bench.set_image(automatic, ContextBench::kImageControl, 0xffff'0008);
  bench.emit(automatic, std::vector<uint32_t>(500, kArbCheck));
  bench.run(automatic);
  EXPECT_EQ(bench.process_page(automatic, 4), 4096u);
}

// The page is snooped, and stolen memory cannot be. Software that places it there makes a mistake, which is reported
// each time the context runs.
TEST(ProcessStatusPage, PlaceInStolenMemoryIsReported) {
  COVERS("DG1-HWSP-02");
  for (const char* const chip : {"skl", "icl", "dg1"}) {
    const bool local = spec::find_device(chip)->local_bytes != 0;
    device::DeviceOptions options;
    if (!local) options.stolen_base = 0xa000'0000;
    ContextBench bench(chip, options);
    const uint64_t stolen = bench.device->memory_layout().dsm_base + 0x1'0000;
    for (const bool misplaced : {false, true}) {
      Context context = bench.create("rcs0", misplaced ? 2 : 1);
      context.bits = 1u << 3;  // without tables of its own
      if (misplaced) bench.map(context.address / ContextBench::kPage, stolen, local);
      bench.emit(context, {0, 0});
      bench.host.log.clear();
      bench.run(context);
      EXPECT_EQ(bench.host.log.count(EventKind::undefined_behaviour), misplaced ? 1u : 0u) << chip;
      bench.run(context);
      EXPECT_EQ(bench.host.log.count(EventKind::undefined_behaviour), misplaced ? 2u : 0u) << chip;
    }
  }
}

TEST_P(ContextImageTest, CurrentContextRegisterShowsTheRunningContext) {
  ContextBench bench(GetParam());
  Context context = bench.create("rcs0", 1);
  bench.emit(context, std::vector<uint32_t>(400, 0));
  bench.submit({&context});
  bench.device->advance(2000);
  EXPECT_EQ(bench.reg("rcs0", ContextBench::kContextId) & 0xffff'f001, context.address | 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg("rcs0", ContextBench::kContextId) & 1, 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, ContextImageTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
