// Invalidation of cached translations: contexts, PASIDs, flushes, directed invalidations, page responses, invalidation
// registers; and memory types. The other TLB rows of the ledger of Ice Lake PRM vol. 6 (seed 001).
#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "covers.h"
#include "gam_bench.h"

namespace halogen::memory::rows {
namespace {

// The context cache and the PASID cache, and the lower caches that are dropped with them.
TEST(TlbRows, ContextAndPasidCachesAreInvalidated) {
  COVERS("ICL-TLB-01");
  using Level = DirectedInvalidation::Level;
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0"), bcs = bench.engine("bcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  EXPECT_FALSE(bench.vtd.is_cached(0));
  const Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  const uint64_t data = page_target(Size::k4) + (kVa48 & 0xff8);
  bench.put(data, 1);
  bench.launch_advanced(rcs, 5);
  EXPECT_TRUE(bench.vtd.is_cached(0));
  EXPECT_TRUE(bench.gam.engine(rcs).pasid_cache.has_value());
  EXPECT_FALSE(bench.gam.engine(bcs).pasid_cache.has_value()) << "each engine has its own";
  const uint64_t va = kVa48 & ~uint64_t{7};
  EXPECT_EQ(stream.read(va), 1u);
  // A second process image; the PASID entry is changed in memory but still cached.
  const uint64_t other_pml4 = 0x0a00'0000;
  bench.put(other_pml4 + ((kVa48 >> 39) & 0x1ff) * 8, 0x0a00'1000 | kP | kRw | kUs);
  bench.put(0x0a00'1000 + ((kVa48 >> 30) & 0x1ff) * 8, 0x0a00'2000 | kP | kRw | kUs);
  bench.put(0x0a00'2000 + ((kVa48 >> 21) & 0x1ff) * 8, 0x0a00'3000 | kP | kRw | kUs);
  bench.put(0x0a00'3000 + ((kVa48 >> 12) & 0x1ff) * 8, 0x0a00'4000 | kP | kRw | kUs);
  bench.put(0x0a00'4000 + (kVa48 & 0xff8), 2);
  bench.put_pasid(5, other_pml4 | kPasidP);
  EXPECT_EQ(stream.read(va), 1u);
  bench.gam.invalidate({Level::walk, {}, 5, 0});
  EXPECT_EQ(stream.read(va), 1u) << "the lower caches were dropped, the PASID cache was not";
  bench.gam.invalidate({Level::pasid, {}, 6, 0});
  EXPECT_EQ(stream.read(va), 1u) << "another PASID";
  bench.gam.invalidate({Level::pasid, {}, 5, 0});
  EXPECT_EQ(stream.read(va), 2u) << "reloaded before the context continues, with all lower caches";
  // The context entry names another PASID table, in which PASID 5 is the first process again.
  auto entry = VtdBench::base_context();
  entry[2] = 0x0b00'0000 | 4;
  bench.put(0x0b00'0000 + 5 * 8, kTables[0] | kPasidP);
  bench.put_context(0, entry);
  bench.gam.invalidate({Level::pasid, {}, 5, 0});
  EXPECT_EQ(stream.read(va), 2u) << "the context cache was not dropped";
  bench.gam.invalidate({Level::context, 1, {}, 0});
  EXPECT_EQ(stream.read(va), 2u) << "another function";
  bench.gam.invalidate({Level::context, 0, {}, 0});
  EXPECT_EQ(stream.read(va), 1u) << "dropped with all lower caches";
  // A legacy context has no PASID entry.
  bench.launch_legacy48(rcs, kTables[0]);
  EXPECT_FALSE(bench.gam.engine(rcs).pasid_cache.has_value());
}

// Four events invalidate the TLB: a flush of the command streamer, a directed invalidation, a context switch, a page
// response.
TEST(TlbRows, FourEventsInvalidateTheTlb) {
  COVERS("ICL-TLB-15");
  using Level = DirectedInvalidation::Level;
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  const Chain chain = make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs);
  const uint64_t va = kVa48 & ~uint64_t{7};
  const uint64_t moved = 0x0c00'0000;
  bench.put(page_target(Size::k4) + (va & 0xfff), 1);
  bench.put(moved + (va & 0xfff), 2);
  const auto set_up = [&] {
    chain.write(bench);
    bench.launch_advanced(rcs, 5, kStream);
    EXPECT_EQ(stream.read(va), 1u);
    chain.set(bench, 3, moved | kP | kRw | kUs);
    EXPECT_EQ(stream.read(va), 1u) << "cached";
  };
  set_up();
  bench.gam.flush(rcs);
  EXPECT_EQ(stream.read(va), 2u);
  set_up();
  bench.gam.invalidate({Level::page, {}, 5, va});
  EXPECT_EQ(stream.read(va), 2u);
  set_up();
  bench.gam.invalidate({Level::page, {}, 5, va ^ 0x1000});
  EXPECT_EQ(stream.read(va), 1u) << "another page";
  bench.gam.invalidate({Level::page, {}, 9, va});
  EXPECT_EQ(stream.read(va), 1u) << "another PASID";
  set_up();
  bench.launch_advanced(rcs, 5, kStream);  // a context switch, even to the same context
  EXPECT_EQ(stream.read(va), 2u);
  set_up();
  (void)bench.gam.page_response({5, va, true});
  EXPECT_EQ(stream.read(va), 1u) << "drops only faulted entries";
  // A faulted entry stays until the response for its page and PASID.
  bench.gam.flush(rcs);
  chain.set(bench, 3, 0);
  EXPECT_EQ(stream.read(va), 0u);
  chain.write(bench);
  EXPECT_EQ(stream.read(va), 0u) << "filtered by the cached fault";
  (void)bench.gam.page_response({6, va, true});
  EXPECT_EQ(stream.read(va), 0u) << "another PASID";
  (void)bench.gam.page_response({5, va ^ 0x1000, true});
  EXPECT_EQ(stream.read(va), 0u) << "another page";
  EXPECT_TRUE(bench.gam.page_response({5, va, true}));
  EXPECT_EQ(stream.read(va), 1u);
}

// The invalidation completes when every access that uses the old entries is done.
TEST(TlbRows, InvalidationWaitsForOutstandingAccesses) {
  GamBench bench;
  const spec::RegisterId rtcr = GamBench::id("RTCR"), btcr = GamBench::id("BTCR");
  bench.invalidation.write(rtcr, 1);
  EXPECT_EQ(bench.invalidation.read(rtcr), 0u) << "no access is outstanding: complete immediately";
  {
    const AccessHold first(bench.invalidation);
    {
      const AccessHold second(bench.invalidation);
      bench.invalidation.write(rtcr, 1);
      EXPECT_EQ(bench.invalidation.read(rtcr), 1u);
      EXPECT_EQ(bench.invalidation.read(btcr), 0u);
      bench.invalidation.write(rtcr, 0);  // does not cancel the invalidation
      EXPECT_EQ(bench.invalidation.read(rtcr), 1u);
    }
    EXPECT_EQ(bench.invalidation.read(rtcr), 1u);
  }
  EXPECT_EQ(bench.invalidation.read(rtcr), 0u);
}

TEST(TlbRows, PendingInvalidationsOfOneRegisterAreCombined) {
  GamBench bench("tgl");
  const spec::RegisterId video = GamBench::id("VD_TLB_INV_CR");
  {
    const AccessHold hold(bench.invalidation);
    bench.invalidation.write(video, 1);
    bench.invalidation.write(video, 4);
    EXPECT_EQ(bench.invalidation.read(video), 5u);
  }
  EXPECT_EQ(bench.invalidation.read(video), 0u);
}

TEST(TlbRows, InvalidationRegistersReachTheirEngines) {
  COVERS("ICL-TLB-21");
  struct Row {
    const char* device;
    const char* name;
    uint32_t offset;
    uint32_t value;
    std::vector<const char*> engines;
  };
  const Row rows[] = {
      {"icl", "RTCR", 0x4260, 1, {"rcs0", "pocs0"}},
      {"icl", "M1TCR", 0x4264, 1, {"vcs0"}},
      {"icl", "M2TCR", 0x4268, 1, {"vcs2"}},
      {"icl", "BTCR", 0x426c, 1, {"bcs0"}},
      {"icl", "VTCR", 0x4270, 1, {"vecs0"}},
      {"skl", "RTCR", 0x4260, 1, {"rcs0"}},
      {"icl", "RTCR", 0x4260, 0, {}},
      {"tgl", "GFX_TLB_INV_CR", 0xced8, 1, {"rcs0", "pocs0"}},
      {"tgl", "VD_TLB_INV_CR", 0xcedc, 1, {"vcs0"}},
      {"tgl", "VD_TLB_INV_CR", 0xcedc, 1 << 2, {"vcs2"}},
      {"tgl", "VD_TLB_INV_CR", 0xcedc, 5, {"vcs0", "vcs2"}},
      {"tgl", "VE_TLB_INV_CR", 0xcee0, 1, {"vecs0"}},
      {"dg1", "BLT_TLB_INV_CR", 0xcee4, 1, {"bcs0"}},
      {"dg1", "COMPCTX_TLB_INV_CR", 0xcf04, 1, {"ccs0"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    GamBench bench(row.device);
    EXPECT_EQ(spec::find_register(row.name)->offset(bench.model.id), row.offset);
    const spec::RegisterId id = GamBench::id(row.name);
    ASSERT_TRUE(bench.invalidation.owns(id));
    uint32_t expected = 0;
    for (const char* engine : row.engines) {
      expected |= 1u << bench.engine(engine);
    }
    EXPECT_EQ(bench.invalidation.engines_of(id, row.value), expected);
    // Every TLB of those engines is empty afterwards; the others are not.
    for (const auto& tlb : bench.tlbs.all()) {
      fill(*tlb, 7);
    }
    bench.invalidation.write(id, row.value);
    EXPECT_EQ(bench.invalidation.read(id), 0u) << "the bit clears itself";
    std::set<const Tlb*> emptied;
    for (const char* name : row.engines) {
      const spec::EngineModel& engine = bench.model.engines[bench.engine(name)];
      const unsigned number = engine.instance == 0 ? 0 : 1;
      for (const TlbClient client : TlbSet::clients_of(engine.engine_class, number)) {
        emptied.insert(&bench.tlbs.of(client));
      }
    }
    for (const auto& tlb : bench.tlbs.all()) {
      EXPECT_EQ(holds(*tlb, 7), !emptied.contains(tlb.get()));
    }
  }
  // The flush of the global table drops its entries in every TLB and keeps all others.
  GamBench bench;
  const spec::RegisterId flush = GamBench::id("GFX_FLSH_CNTL");
  EXPECT_EQ(spec::desc(flush).offset(bench.model.id), 0x101008u);
  Tlb& tlb = bench.tlbs.of(TlbClient::blt);
  fill(tlb, 7);
  TlbEntry global;
  global.page = 8;
  global.space = kGlobalSpace;
  tlb.fill(global);
  bench.invalidation.write(flush, 1);
  EXPECT_EQ(tlb.look_up(kGlobalSpace, 8, kRead), nullptr);
  EXPECT_TRUE(holds(tlb, 7));
}

// The private page attribute table: PAT, PCD and PWT of an entry select one of eight types.
TEST(PteRows, PatPcdAndPwtSelectTheMemoryType) {
  COVERS("ICL-PTE-25");
  struct Device {
    const char* name;
    uint32_t offset;
    bool bytes;  // eight bytes in one register, else one register each
  };
  for (const Device& device : {Device{"bdw", 0x40e0, true}, Device{"skl", 0x40e0, true}, Device{"icl", 0x40e0, false},
                               Device{"tgl", 0x4800, false}}) {
    SCOPED_TRACE(device.name);
    Bench bench(device.name);
    MemoryTypes types(bench.model);
    const spec::RegisterDesc& desc = *spec::find_register(device.bytes ? "PRIVATE_PAT" : "PAT_INDEX");
    EXPECT_EQ(desc.offset(bench.model.id), device.offset);
    EXPECT_EQ(desc.width_bits, device.bytes ? 64 : 32);
    EXPECT_EQ(desc.count, device.bytes ? 1u : 8u);
    EXPECT_EQ(device.bytes ? 4u : desc.stride, 4u);
    ASSERT_TRUE(types.owns(desc.id));
    // Entry n: type n mod 4, target cache n / 2 mod 4, age 3 - n mod 4.
    const auto value = [](unsigned n) { return (n & 3) | ((n / 2 & 3) << 2) | ((3 - (n & 3)) << 4); };
    for (unsigned n = 0; n < 8; ++n) {
      if (!device.bytes) {
        types.write(desc.id, n, 0, value(n));
      }
    }
    for (unsigned dword = 0; dword < 2 && device.bytes; ++dword) {
      uint32_t packed = 0;
      for (unsigned i = 0; i < 4; ++i) {
        packed |= value(4 * dword + i) << (8 * i);
      }
      types.write(desc.id, 0, dword, packed);
    }
    for (unsigned n = 0; n < 8; ++n) {
      const uint64_t bits = (n & 1 ? kPwt : 0) | (n & 2 ? kPcd : 0) | (n & 4 ? kPatSmall : 0);
      Chain chain = make_chain(bench, WalkMode::legacy48, Size::k4, kVa48, kRw);
      chain.set(bench, 3, chain.levels[3].entry | bits);
      const uint8_t index = walk_of(bench, chain, kRead).mapping.type_index;
      EXPECT_EQ(index, n);
      EXPECT_EQ(static_cast<unsigned>(types.page_type(index)), n & 3);
      EXPECT_EQ(types.pat(index).target_cache, n / 2 & 3);
      EXPECT_EQ(types.pat(index).age, 3 - (n & 3));
    }
    EXPECT_EQ(static_cast<int>(MemoryType::uc), 0);
    EXPECT_EQ(static_cast<int>(MemoryType::wc), 1);
    EXPECT_EQ(static_cast<int>(MemoryType::wt), 2);
    EXPECT_EQ(static_cast<int>(MemoryType::wb), 3);
  }
}

// Writes past the eight entries have no effect.
TEST(MemoryTypes, PatHasEightEntries) {
  for (const char* device : {"skl", "icl"}) {
    MemoryTypes types(*spec::find_device(device));
    const MemoryTypeState before = types.state();
    types.write(GamBench::id("PRIVATE_PAT"), 0, 2, 0xffff'ffff);
    for (const unsigned index : {8u, 9u, 0xffff'ffffu}) {
      types.write(GamBench::id("PAT_INDEX"), index, 0, 0xff);
    }
    EXPECT_EQ(types.state(), before);
  }
}

}  // namespace
}  // namespace halogen::memory::rows
