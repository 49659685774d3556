// Changes while contexts run: settings in registers, invalidations, resets, snapshots.
#include <gtest/gtest.h>

#include <vector>

#include "covers.h"
#include "fault_bench.h"
#include "gam_bench.h"

namespace halogen::memory::rows {
namespace {

constexpr uint64_t kGlobalTable = 0x7f80'0000;
constexpr uint64_t kAligned = kVa48 & ~uint64_t{7};

// An engine that waits for a page continues to wait when caches are invalidated; the response still wakes it.
TEST(GamContext, InvalidationKeepsAWaitingEngine) {
  using Level = DirectedInvalidation::Level;
  for (const Level level : {Level::context, Level::pasid, Level::walk, Level::page}) {
    Listener listener;
    GamBench bench("icl", {}, &listener);
    const unsigned rcs = bench.engine("rcs0");
    Stream stream(bench, rcs, TlbClient::l3, 1);
    const uint64_t pml4 = put_page(bench, 0x4000'0000, kVa48, 42);
    const uint64_t leaf = 0x4000'3000 + ((kVa48 >> 12) & 0x1ff) * 8;
    const uint64_t entry = bench.get(leaf);
    bench.put(leaf, 0);
    bench.put_pasid(5, pml4 | kPasidP);
    bench.launch_advanced(rcs, 5, kHalt);
    EXPECT_EQ(stream.read(kAligned), 0u);
    ASSERT_TRUE(bench.faults.engine(rcs).waiting.has_value());
    bench.gam.invalidate({level, {}, 5, kAligned});
    bench.put(leaf, entry);
    EXPECT_TRUE(bench.gam.page_response({5, kAligned, true}));
    EXPECT_EQ(listener.resumed, std::vector{rcs});
    EXPECT_EQ(stream.read(kAligned), 42u);
  }
}

// A reset does not drop cached translations, so a directed invalidation still applies to a reset engine. The engine
// uses no PASID.
TEST(GamContext, DirectedInvalidationReachesAResetEngine) {
  using Level = DirectedInvalidation::Level;
  GamBench bench;
  auto context = VtdBench::base_context();
  context[0] |= kCtxDinve;
  bench.put_context(0, context);
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  for (const Level level : {Level::context, Level::pasid, Level::walk, Level::page}) {
    bench.put_pasid(5, put_page(bench, 0x4000'0000, kVa48, 42) | kPasidP);
    bench.launch_advanced(rcs, 5, kHalt);
    EXPECT_EQ(stream.read(kAligned), 42u);
    bench.put(0x4000'3000 + ((kVa48 >> 12) & 0x1ff) * 8, 0x4444'4000 | kP | kRw | kUs);
    EXPECT_TRUE(bench.gam.reset_engine(rcs));
    EXPECT_EQ(stream.read(kAligned), 42u) << "the reset dropped nothing";
    bench.gam.invalidate({level, {}, 5, kAligned});
    EXPECT_EQ(stream.read(kAligned), 0u) << "translated again, to the new page";
    EXPECT_EQ((bench.get(kStates + 5 * 8) >> 32) & 0xffff, 0u) << "no context uses the PASID";
    EXPECT_FALSE(bench.faults.engine(rcs).context.page_requests) << "the engine cannot send page requests";
  }
}

// Engines of two functions use one PASID: an invalidation for one function keeps the caches of the other.
TEST(GamContext, DirectedInvalidationReachesOneFunction) {
  using Level = DirectedInvalidation::Level;
  GamBench bench;
  bench.put_context(1, VtdBench::base_context());
  const unsigned rcs = bench.engine("rcs0"), bcs = bench.engine("bcs0");
  Stream first(bench, rcs, TlbClient::l3, 1), second(bench, bcs, TlbClient::blt, 2);
  for (const Level level : {Level::context, Level::pasid, Level::walk, Level::page}) {
    bench.put_pasid(5, put_page(bench, 0x4000'0000, kVa48, 42) | kPasidP);
    bench.launch_advanced(rcs, 5, kHalt);
    bench.launch_advanced(bcs, 5, kHalt | uint64_t{1} << 9);
    EXPECT_EQ(first.read(kAligned), 42u);
    EXPECT_EQ(second.read(kAligned), 42u);
    bench.put(0x4000'3000 + ((kVa48 >> 12) & 0x1ff) * 8, 0x4444'4000 | kP | kRw | kUs);
    bench.gam.invalidate({level, 1, 5, kAligned});
    EXPECT_EQ(first.read(kAligned), 42u) << "still cached: another function";
    EXPECT_EQ(second.read(kAligned), 0u) << "translated again, to the new page";
  }
}

// The use count is in memory: restoring an engine from a snapshot does not count again.
TEST(GamContext, SnapshotCountsNoPasidTwice) {
  GamBench bench;
  auto context = VtdBench::base_context();
  context[0] |= kCtxDinve;
  bench.put_context(0, context);
  const auto uses = [&] { return (bench.get(kStates + 5 * 8) >> 32) & 0xffff; };
  const unsigned rcs = bench.engine("rcs0");
  bench.launch_advanced(rcs, 5);
  EXPECT_EQ(uses(), 1u);
  const GamState running = bench.gam.state();
  bench.gam.restore(running);
  EXPECT_EQ(uses(), 1u);
  EXPECT_EQ(bench.gam.state(), running);
  EXPECT_TRUE(bench.gam.reset_engine(rcs));
  EXPECT_EQ(uses(), 0u);
  const GamState after_reset = bench.gam.state();
  bench.gam.restore(after_reset);
  EXPECT_EQ(uses(), 0u);
  // A use is counted when the entry exists: the context is launched before that, then invalidated as software must.
  bench.put_pasid(7, 0);
  bench.launch_advanced(rcs, 7);
  bench.put_pasid(7, kTables[0] | kPasidP);
  bench.gam.invalidate({DirectedInvalidation::Level::pasid, {}, 7, 0});
  EXPECT_EQ((bench.get(kStates + 7 * 8) >> 32) & 0xffff, 1u);
}

TEST(GamContext, SnapshotRestoresEverything) {
  GamBench bench("skl");
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  const uint64_t first = put_page(bench, 0x4000'0000, kVa48, 1), second = put_page(bench, 0x5000'0000, kVa48, 2);
  bench.gam.write(GamBench::id("GAMW_ECO_DEV_RW_IA"), 15);
  bench.gam.write(GamBench::id("GTT_CACHE_EN"), 1);
  bench.launch_legacy48(rcs, first);
  bench.gam.write_descriptor(rcs, 1, second);  // written, but not launched
  const GamState saved = bench.gam.state();
  const uint32_t answer = bench.gam.take_answer(GamBench::id("GAM_MSG_TO_RCS"));
  EXPECT_EQ(answer, 3u);
  bench.launch_legacy48(rcs, second);
  bench.gam.write(GamBench::id("GAMW_ECO_DEV_RW_IA"), 0);
  bench.gam.write(GamBench::id("GTT_CACHE_EN"), 0);
  EXPECT_EQ(stream.read(kAligned), 2u);
  bench.gam.restore(saved);
  EXPECT_EQ(stream.read(kAligned), 1u) << "the launched context";
  EXPECT_EQ(bench.gam.read(GamBench::id("GAM_RENDER_PDP0"), 0, 0), static_cast<uint32_t>(second));
  EXPECT_EQ(bench.gam.take_answer(GamBench::id("GAM_MSG_TO_RCS")), answer);
  EXPECT_TRUE(bench.gam.medium_pages());
  EXPECT_TRUE(bench.gam.gtt_cache_enabled());
  bench.gam.reset_device();
  EXPECT_FALSE(bench.gam.medium_pages());
  EXPECT_FALSE(bench.gam.gtt_cache_enabled());
  EXPECT_EQ(bench.gam.take_answer(GamBench::id("GAM_MSG_TO_RCS")), 0u);
}

TEST(GamContext, EngineResetClearsAContextError) {
  GamBench bench;
  bench.launch(0, kElementLegacy, {});
  EXPECT_TRUE(bench.gam.engine(0).error);
  EXPECT_TRUE(bench.gam.reset_engine(0));
  EXPECT_FALSE(bench.gam.engine(0).error);
}

// Old translations are dropped when the next context is announced, not only when it runs.
TEST(GamContext, AnnouncedContextDropsOldTranslations) {
  GamBench bench;
  const unsigned bcs = bench.engine("bcs0");
  Stream stream(bench, bcs, TlbClient::blt, 1);
  bench.launch_legacy48(bcs, put_page(bench, 0x4000'0000, kVa48, 1));
  EXPECT_EQ(stream.read(kAligned), 1u);
  bench.put(0x4000'3000 + ((kVa48 >> 12) & 0x1ff) * 8, 0x4444'4000 | kP | kRw | kUs);
  EXPECT_EQ(stream.read(kAligned), 1u);
  bench.gam.on_message(bcs, 0x1'0001);
  EXPECT_EQ(stream.read(kAligned), 0u);
  EXPECT_EQ(bench.gam.on_message(bcs, 0x2'0002), 0x2'0002u);
  EXPECT_EQ(stream.read(kAligned), 0u);
  // A launch without announcement drops them too, including those of the global table.
  put_page(bench, 0x4000'0000, kVa48, 1);
  EXPECT_EQ(stream.read(kAligned), 0u) << "still cached by the running context";
  TlbEntry global;
  global.page = 8;
  global.space = kGlobalSpace;
  bench.tlbs.of(TlbClient::blt).fill(global);
  EXPECT_EQ(bench.gam.on_message(bcs, 0x2'0002), 0x2'0002u);
  EXPECT_EQ(stream.read(kAligned), 1u);
  EXPECT_EQ(bench.tlbs.of(TlbClient::blt).look_up(kGlobalSpace, 8, kRead), nullptr);
}

// Contexts without their own tables use the global table, and lose their cached translations with its flush.
TEST(GamContext, GlobalTableFlushReachesContextsThatUseTheTable) {
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0"), bcs = bench.engine("bcs0");
  Stream global(bench, rcs, TlbClient::l3, 1), own(bench, bcs, TlbClient::blt, 2);
  bench.launch(rcs, kElementValid | kElementLegacy, {});
  bench.launch_legacy48(bcs, put_page(bench, 0x4000'0000, 0x12'3000, 9));
  bench.put(kGlobalTable + 0x123 * 8, 0x5'5555'5000 | kP);
  bench.put(0x5'5555'5000, 1);
  bench.put(0x6'6666'6000, 2);
  EXPECT_EQ(global.read(0x12'3000), 1u);
  EXPECT_EQ(own.read(0x12'3000), 9u);
  bench.put(kGlobalTable + 0x123 * 8, 0x6'6666'6000 | kP);
  put_page(bench, 0x4000'0000, 0x12'3000, 10);
  bench.put(0x4000'3000 + 0x123 * 8, 0x4444'4000 | kP | kRw);
  EXPECT_EQ(global.read(0x12'3000), 1u) << "still cached";
  bench.gam.flush_global();
  EXPECT_EQ(global.read(0x12'3000), 2u);
  EXPECT_EQ(own.read(0x12'3000), 10u) << "another table: still the old page";
  // The table moves to another address.
  WalkContext moved;
  moved.format = bench.formats.find(WalkMode::ggtt);
  moved.roots[0] = 0x7000'0000;
  moved.entries = bit_at(20);
  bench.put(0x7000'0000 + 0x123 * 8, 0x5'5555'5000 | kP);
  bench.gam.set_global(moved);
  EXPECT_EQ(global.read(0x12'3000), 1u);
  EXPECT_EQ(own.read(0x12'3000), 10u);
}

TEST(GamContext, WalkerSettingsApplyToRunningContexts) {
  GamBench bench("skl");
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  const Chain chain = make_chain(bench, WalkMode::legacy48, Size::k64, kVa48, kRw);
  bench.put(page_target(Size::k64) + (kVa48 & 0xfff8), 64);
  bench.launch_legacy48(rcs, kTables[0]);
  EXPECT_EQ(stream.read(kAligned), 0u) << "64 KB pages are disabled, and the 4 KB entry is empty";
  bench.gam.write(GamBench::id("GAMW_ECO_DEV_RW_IA"), 15);
  EXPECT_EQ(stream.read(kAligned), 64u);
  bench.gam.write(GamBench::id("GAMW_ECO_DEV_RW_IA"), 0);
  EXPECT_EQ(stream.read(kAligned), 0u);
  make_chain(bench, WalkMode::legacy48, Size::m2, kVa48, kRw);
  bench.gam.flush(rcs);
  bench.events.clear();
  (void)stream.read(kAligned);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 0u);
  bench.gam.write(GamBench::id("GTT_CACHE_EN"), 1);
  (void)stream.read(kAligned);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u) << "large pages while the GTT cache is enabled";
}

// 64 KB pages of an advanced context need two enables: in the register and in the PASID entry.
TEST(GamContext, MediumPagesOfAdvancedContextsNeedBothEnables) {
  GamBench bench("skl");
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  make_chain(bench, WalkMode::advanced48, Size::k64, kVa48, kRw | kUs);
  bench.put(page_target(Size::k64) + (kVa48 & 0xfff8), 64);
  for (const bool enabled : {false, true}) {
    for (const bool in_entry : {false, true}) {
      bench.gam.write(GamBench::id("GAMW_ECO_DEV_RW_IA"), enabled ? 15 : 0);
      bench.put_pasid(5, kTables[0] | kPasidP | (in_entry ? kPasid64k : 0));
      bench.launch_advanced(rcs, 5, kHalt);
      EXPECT_EQ(stream.read(kAligned), enabled && in_entry ? 64u : 0u) << enabled << in_entry;
    }
  }
}

// All addresses of a guest's context, of tables and of pages, go through the second level.
TEST(GamContext, NestedContextUsesTheSecondLevel) {
  GamBench bench;
  auto entry = VtdBench::base_context();
  entry[0] |= kCtxNeste | kSecondLevel;
  bench.put_context(0, entry);
  // Guest memory below 1 GB is mapped 1 GB higher in the host, by one page of 1 GB.
  bench.put(kSecondLevel, (kSecondLevel + 0x1000) | 3);
  bench.put(kSecondLevel + 0x1000, 0x4000'0000 | bit_at(7) | 3);
  bench.put(0x4000'0000 + kPasids + 5 * 8, 0x0300'0000 | kPasidP);
  const uint64_t guest = 0x0300'0000;
  unsigned shift = 39;
  for (uint64_t level = 0; level < 4; ++level, shift -= 9) {
    bench.put(0x4000'0000 + guest + level * 0x1000 + ((kVa48 >> shift) & 0x1ff) * 8,
              (guest + (level + 1) * 0x1000) | kP | kRw | kUs);
  }
  bench.put(0x4000'0000 + guest + 0x4000 + (kVa48 & 0xff8), 77);
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  bench.launch_advanced(rcs, 5, kHalt);
  EXPECT_EQ(stream.read(kAligned), 77u);
  EXPECT_TRUE(bench.events.events().empty());
}

// Whether the local memory bit is valid depends on the device, and the launched context passes this to the walk.
TEST(GamContext, LaunchedContextHonoursTheLocalMemoryBitOfItsDevice) {
  COVERS("ICL-PTE-20");
  for (const char* device : {"skl", "icl", "tgl", "dg1"}) {
    GamBench bench(device);
    const bool has_local = std::string_view(device) == "dg1";
    const unsigned rcs = bench.engine("rcs0");
    Stream stream(bench, rcs, TlbClient::l3, 1);
    bench.gam.write(GamBench::id("GAMW_ECO_DEV_RW_IA"), 15);
    for (const Size size : {Size::k64, Size::m2, Size::g1}) {
      Chain chain = make_chain(bench, WalkMode::legacy48, size, kVa48, kRw);
      const uint64_t page = page_target(size) & ~mask_of(38, 30);  // a page that both memories have
      const uint64_t data = page + (kAligned & (bit_at(page_bits_of(size)) - 1));
      chain.leaf().entry = (chain.leaf().entry & ~mask_of(38, 30)) | kLm;
      chain.write(bench);
      bench.put(data, 1);
      bench.put(data, 2, MemorySpace::local);
      bench.launch_legacy48(rcs, kTables[0]);
      EXPECT_EQ(stream.read(kAligned), has_local ? 2u : 1u) << device;
      chain.set(bench, chain.levels.size() - 1, chain.leaf().entry & ~kLm);
      bench.gam.flush(rcs);
      EXPECT_EQ(stream.read(kAligned), 1u) << device;
    }
  }
}

}  // namespace
}  // namespace halogen::memory::rows
