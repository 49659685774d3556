// Contexts of the page walker: GAM and MODE rows of the ledger of Ice Lake PRM vol. 6 (seed 001).
#include "memory/gam.h"

#include <gtest/gtest.h>

#include <vector>

#include "covers.h"
#include "gam_bench.h"

namespace halogen::memory::rows {
namespace {

// Each engine has its own page at the same address.
uint64_t put_page(GamBench& bench, unsigned number, uint64_t va, uint64_t value) {
  return rows::put_page(bench, 0x4000'0000 + number * uint64_t{0x10'0000}, va, value);
}

// Engines run different contexts at the same time, and each uses its own tables.
TEST(Gam, OneWalkerServesAllEngines) {
  COVERS("ICL-GAM-01");
  COVERS("ICL-AS-12");
  GamBench bench;
  const struct {
    const char* engine;
    TlbClient client;
  } rows[] = {{"rcs0", TlbClient::l3},
              {"vcs0", TlbClient::mfx0},
              {"vcs2", TlbClient::mfx1},
              {"vecs0", TlbClient::gav},
              {"bcs0", TlbClient::blt}};
  std::vector<std::unique_ptr<Stream>> streams;
  for (unsigned i = 0; i < std::size(rows); ++i) {
    const unsigned engine = bench.engine(rows[i].engine);
    streams.push_back(std::make_unique<Stream>(bench, engine, rows[i].client, static_cast<SpaceTag>(i + 1)));
    const uint64_t pml4 = put_page(bench, i, kVa48, 0x1000 + i);
    if (i == 2) {  // any mixture of kinds
      bench.put_pasid(5, pml4 | kPasidP);
      bench.launch_advanced(engine, 5);
    } else {
      bench.launch_legacy48(engine, pml4);
    }
  }
  for (int round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < std::size(rows); ++i) {
      EXPECT_EQ(streams[i]->read(kVa48 & ~uint64_t{7}), 0x1000u + i) << rows[i].engine;
    }
  }
  EXPECT_EQ(bench.events.events().size(), 0u);
}

// The global table has one level in its own memory. Private tables have two to four levels, shared tables four. They
// may be anywhere: here at the top of the address range.
TEST(Gam, EachKindOfTableIsWalked) {
  COVERS("ICL-GAM-02");
  constexpr uint64_t kTop = 0x7f'ffff'b000;  // five pages, the last of which ends the range of 39 bits
  constexpr uint64_t kVa = 0x4b25'1358;      // in the second GB
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  const auto levels = [&] { return bench.gam.engine(rcs).walk.format->levels.size(); };
  // Only the global table maps another page there.
  bench.put(0x7f80'0000 + (kVa >> 12) * 8, 0x5'5555'5000 | kP);
  bench.put(0x5'5555'5000 + (kVa & 0xff8), 1);
  put_page(bench, 0, kVa, 0);  // other tables that no context uses
  rows::put_page(bench, kTop, kVa, 2);
  bench.launch(rcs, kElementValid | kElementLegacy, {kTop, kTop, kTop, kTop});
  EXPECT_EQ(levels(), 1u);
  EXPECT_EQ(stream.read(kVa), 1u) << "the pointers are ignored";
  bench.launch(rcs, kElementValid | kElementLegacy | kElementPpgtt, {0x1000, kTop + 0x2000, 0x3000, 0x4000});
  EXPECT_EQ(levels(), 2u);
  EXPECT_EQ(stream.read(kVa), 2u);
  bench.launch_legacy48(rcs, kTop);
  EXPECT_EQ(levels(), 4u);
  EXPECT_EQ(stream.read(kVa), 2u);
  bench.put_pasid(5, kTop | kPasidP);
  bench.launch_advanced(rcs, 5);
  EXPECT_EQ(levels(), 4u);
  EXPECT_EQ(stream.read(kVa), 2u);
}

TEST(Gam, ElementDescriptorSelectsTheMode) {
  COVERS("ICL-GAM-03");
  COVERS("ICL-GAM-04");
  const spec::DeviceModel& model = *spec::find_device("icl");
  const std::array<uint64_t, 4> pointers{0x11'1111'1fff, 0x22'2222'2fff, 0x33'3333'3fff, 0x44'4444'4fff};
  const auto decode = [&](uint64_t element) {
    return decode_context(model, {element, pointers[0], pointers[1], pointers[2], pointers[3]});
  };
  // Every combination of the mode bits; the other fields vary with them.
  for (unsigned low = 0; low < 512; ++low) {
    const uint64_t element = low | (uint64_t{0x12345} << 12) | (uint64_t{0xabcd'ef01} << 32) | (uint64_t{5} << 9);
    const ContextDefinition context = decode(element);
    SCOPED_TRACE(low);
    const bool legacy = (low >> 3) & 1, four = (low >> 4) & 1, eight = (low >> 8) & 1;
    EXPECT_EQ(context.valid, (low & 1) != 0);
    EXPECT_EQ(context.legacy, legacy);
    EXPECT_EQ(context.per_process, legacy && eight);
    EXPECT_EQ(context.privileged, !legacy && eight);
    EXPECT_EQ(context.wide, !legacy || four);
    EXPECT_EQ(context.accessed_dirty, !legacy && four);
    EXPECT_EQ(context.deeper_coherency, !legacy && ((low >> 5) & 1) != 0);
    EXPECT_EQ(static_cast<unsigned>(context.fault_model), (low >> 6) & 3);
    EXPECT_EQ(context.function, 5);
    EXPECT_EQ(context.context_id, 0xabcd'ef01u);
  }
  // An invalid descriptor is used, but flags an error.
  GamBench bench;
  const uint64_t pml4 = put_page(bench, 0, kVa48, 99);
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  bench.launch(rcs, bit_at(1) | kElementLegacy | kElementWide | kElementPpgtt, {pml4, 0, 0, 0});
  EXPECT_TRUE(bench.gam.engine(rcs).error);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(bench.gam.engine(rcs).stage, ContextStage::confirmed);
  EXPECT_EQ(stream.read(kVa48 & ~uint64_t{7}), 99u);
}

TEST(Gam, DescriptorSelectsTheFaultModel) {
  COVERS("ICL-FLT-02");
  GamBench bench;
  put_page(bench, 0, kVa48, 0);
  const unsigned rcs = bench.engine("rcs0");
  for (const auto& [bits, model] : {std::pair{uint64_t{0}, FaultModel::hang},
                                    {uint64_t{1}, FaultModel::halt},
                                    {uint64_t{2}, FaultModel::stream},
                                    {uint64_t{3}, FaultModel::carry_on}}) {
    bench.launch_advanced(rcs, 5, bits << 6);
    EXPECT_EQ(bench.faults.engine(rcs).context.model, model);
    EXPECT_TRUE(bench.faults.engine(rcs).context.page_requests);
    EXPECT_EQ(bench.faults.engine(rcs).context.pasid, 5u);
  }
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u) << "an advanced context cannot use the hang model";
  bench.launch(rcs, kElementValid | kElementLegacy | kElementWide | kElementPpgtt | kStream, {0x1000, 0, 0, 0});
  EXPECT_EQ(bench.faults.engine(rcs).context.model, FaultModel::hang) << "a legacy context has only the hang model";
  EXPECT_FALSE(bench.faults.engine(rcs).context.page_requests);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 2u);
}

TEST(Gam, ContextPointersDependOnTheMode) {
  COVERS("ICL-GAM-05");
  COVERS("ICL-GAM-06");
  COVERS("ICL-PTE-27");
  COVERS("ICL-MODE-02");
  COVERS("ICL-MODE-03");
  const spec::DeviceModel& model = *spec::find_device("icl");
  const std::array<uint64_t, 5> ones{0, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
  auto registers = ones;
  registers[0] = kElementValid;  // advanced: PASID in bits 19:0
  EXPECT_EQ(decode_context(model, registers).pasid, 0xf'ffffu);
  registers[1] = 0x1'2345;
  EXPECT_EQ(decode_context(model, registers).pasid, 0x1'2345u);
  registers = ones;
  registers[0] = kElementValid | kElementLegacy | kElementWide | kElementPpgtt;  // PML4 in bits 38:12
  EXPECT_EQ(decode_context(model, registers).pointers[0], mask_of(38, 12));
  registers[0] = kElementValid | kElementLegacy | kElementPpgtt;  // four directories
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(decode_context(model, registers).pointers[i], mask_of(38, 12));
  }
  // Each pointer covers one gigabyte.
  GamBench bench;
  const unsigned bcs = bench.engine("bcs0");
  bench.launch(bcs, registers[0], {0x10'0000, 0x20'0000, 0x30'0000, 0x40'0000});
  for (uint64_t gigabyte = 0; gigabyte < 4; ++gigabyte) {
    Steps steps;
    const uint64_t va = (gigabyte << 30) + 0x1234'5678;
    (void)walk(bench.memory, bench.gam.engine(bcs).walk, va, kRead, &steps);
    ASSERT_EQ(steps.addresses.size(), 1u);
    EXPECT_EQ(steps.addresses[0], (gigabyte + 1) * 0x10'0000 + ((va >> 21) & 0x1ff) * 8);
  }
}

TEST(Gam, DescriptorRegistersAreAtTheirOffsets) {
  COVERS("ICL-GAM-07");
  GamBench bench;
  const auto device = bench.model.id;
  const struct {
    const char* prefix;
    const char* engine;
    uint32_t base;
  } rows[] = {{"GAM_RENDER", "rcs0", 0x4400},
              {"GAM_MEDIA0", "vcs0", 0x4440},
              {"GAM_MEDIA1", "vcs2", 0x4480},
              {"GAM_VEBOX", "vecs0", 0x44c0},
              {"GAM_BLITTER", "bcs0", 0x4500}};
  uint64_t value = 0x1111'2222'3333'4400;
  for (const auto& row : rows) {
    const std::string prefix = row.prefix;
    const spec::RegisterDesc& element = *spec::find_register(prefix + "_ELEMENT_DESCRIPTOR");
    const spec::RegisterDesc& pdp0 = *spec::find_register(prefix + "_PDP0");
    const spec::RegisterDesc& pdp = *spec::find_register(prefix + "_PDP");
    EXPECT_EQ(element.offset(device), row.base);
    EXPECT_EQ(pdp0.offset(device), row.base + 8);
    EXPECT_EQ(pdp.offset(device), row.base + 0x10);
    EXPECT_EQ(pdp.count, 3u);
    EXPECT_EQ(pdp.stride, 8u);
    // The registers show what the command streamer wrote; software cannot write them.
    const unsigned engine = bench.engine(row.engine);
    for (unsigned part = 0; part < 5; ++part) {
      bench.gam.write_descriptor(engine, part, value + part);
    }
    EXPECT_EQ(bench.gam.read(element.id, 0, 0), static_cast<uint32_t>(value));
    EXPECT_EQ(bench.gam.read(element.id, 0, 1), 0x1111'2222u);
    EXPECT_EQ(bench.gam.read(pdp0.id, 0, 0), static_cast<uint32_t>(value + 1));
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(bench.gam.read(pdp.id, i, 0), static_cast<uint32_t>(value + 2 + i));
    }
    bench.gam.write(element.id, 0);
    EXPECT_EQ(bench.gam.read(element.id, 0, 0), static_cast<uint32_t>(value));
    for (const spec::RegisterDesc* desc : {&element, &pdp0, &pdp}) {
      EXPECT_EQ(desc->access, spec::Access::ro);
    }
    value += 0x10;
  }
  // Gen12 has other registers at these offsets.
  EXPECT_EQ(spec::find_register("GAM_RENDER_PDP0")->offset(spec::find_device("tgl")->id), spec::kNoOffset);
}

TEST(Gam, HandshakeAnnouncesThenLaunches) {
  COVERS("ICL-GAM-08");
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0");
  const uint64_t pml4 = put_page(bench, 0, kVa48, 7);
  Stream stream(bench, rcs, TlbClient::l3, 1);
  EXPECT_EQ(bench.gam.engine(rcs).stage, ContextStage::idle);
  EXPECT_EQ(bench.gam.on_message(rcs, 0x1'0001), 0x1'0001u) << "available: ready to receive";
  EXPECT_EQ(bench.gam.engine(rcs).stage, ContextStage::ready);
  bench.gam.write_descriptor(rcs, 0, kElementValid | kElementLegacy | kElementWide | kElementPpgtt);
  bench.gam.write_descriptor(rcs, 1, pml4);
  EXPECT_EQ(stream.space.context().format, nullptr) << "not before the launch";
  EXPECT_EQ(bench.gam.on_message(rcs, 0x2'0002), 0x2'0002u) << "launched: confirmed";
  EXPECT_EQ(bench.gam.engine(rcs).stage, ContextStage::confirmed);
  EXPECT_EQ(stream.read(kVa48 & ~uint64_t{7}), 7u);
  EXPECT_TRUE(bench.events.events().empty());
  // A launch without announcement is performed but reported.
  EXPECT_EQ(bench.gam.on_message(rcs, 0x2'0002), 0x2'0002u);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  // Without its mask bit a message is ignored.
  EXPECT_EQ(bench.gam.on_message(rcs, 0x3), 0u);
  EXPECT_EQ(bench.gam.on_message(rcs, 0x3'0000), 0u);
}

TEST(Gam, EachEngineHasItsMessagePorts) {
  COVERS("ICL-GAM-09");
  const struct {
    const char* from;
    const char* to;
    const char* engine;
    uint32_t from_at, to_at;
  } rows[] = {{"GAM_MSG_FROM_RCS", "GAM_MSG_TO_RCS", "rcs0", 0x4004, 0x3438},
              {"GAM_MSG_FROM_VCS0", "GAM_MSG_TO_VCS0", "vcs0", 0x4008, 0x13438},
              {"GAM_MSG_FROM_VCS1", "GAM_MSG_TO_VCS1", "vcs2", 0x400c, 0x1d438},
              {"GAM_MSG_FROM_VECS", "GAM_MSG_TO_VECS", "vecs0", 0x4010, 0x1b438},
              {"GAM_MSG_FROM_BCS", "GAM_MSG_TO_BCS", "bcs0", 0x4014, 0x23438}};
  GamBench bench;
  for (const auto& row : rows) {
    EXPECT_EQ(spec::find_register(row.from)->offset(bench.model.id), row.from_at);
    EXPECT_EQ(spec::find_register(row.to)->offset(bench.model.id), row.to_at);
    EXPECT_EQ(spec::find_register(row.from)->access, spec::Access::masked);
    const unsigned engine = bench.engine(row.engine);
    bench.gam.write(GamBench::id(row.from), 0x1'0001);
    EXPECT_EQ(bench.gam.engine(engine).stage, ContextStage::ready);
    EXPECT_EQ(bench.gam.take_answer(GamBench::id(row.to)), 1u);
    EXPECT_EQ(bench.gam.take_answer(GamBench::id(row.to)), 0u) << "clears itself";
    EXPECT_EQ(bench.gam.read(GamBench::id(row.from), 0, 0), 0u) << "clears itself";
    bench.gam.write_descriptor(engine, 0, kElementValid | kElementLegacy);
    bench.gam.write(GamBench::id(row.from), 0x2'0002);
    EXPECT_EQ(bench.gam.engine(engine).stage, ContextStage::confirmed);
    EXPECT_EQ(bench.gam.take_answer(GamBench::id(row.to)), 2u);
  }
}

// Bus 0, device 2; the function number selects the context entry.
TEST(Gam, FunctionNumberSelectsTheContextEntry) {
  COVERS("ICL-GAM-11");
  GamBench bench;
  for (unsigned function = 0; function < 8; ++function) {
    auto entry = VtdBench::base_context();
    const uint64_t table = 0x0060'0000 + function * 0x1000;
    entry[2] = table | 4;
    bench.put_context(function, entry);
    bench.put(table + 9 * 8, (0x0070'0000 + function * 0x1000) | kPasidP);
    bench.launch(0, kElementValid | kHalt | (uint64_t{function} << 9), {9, 0, 0, 0});
    EXPECT_EQ(bench.gam.engine(0).walk.roots[0], 0x0070'0000u + function * 0x1000);
  }
}

// A client without a command streamer has the default context: the global table.
TEST(Gam, ClientWithoutAnEngineUsesTheGlobalTable) {
  COVERS("ICL-GAM-10");
  const ContextDefinition none;
  EXPECT_EQ(none.mode(), WalkMode::ggtt);
  GamBench bench;
  FaultProbe probe;
  AddressSpace space(bench.memory, bench.tlbs.of(TlbClient::widi), kGlobalSpace, probe);
  bench.gam.attach_default(space);
  bench.put(0x7f80'0000 + 0x12345 * 8, 0x5'5555'5000 | kP);
  bench.put(0x5'5555'5678, 0xabcd);
  EXPECT_EQ(space.load_value<uint64_t>(GpuVa(0x1234'5678)), 0xabcdu);
  bench.launch_legacy48(0, 0x1000);  // contexts of engines do not affect it
  EXPECT_EQ(space.load_value<uint64_t>(GpuVa(0x1234'5678)), 0xabcdu);
}

TEST(Gam, ModeComesFromTheDescriptor) {
  COVERS("ICL-MODE-06");
  COVERS("ICL-MODE-07");
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0");
  const auto mode = [&](uint64_t element) {
    bench.launch(rcs, kElementValid | element, {5, 0, 0, 0});
    return bench.gam.engine(rcs).walk.format->mode;
  };
  EXPECT_EQ(mode(kElementLegacy), WalkMode::ggtt);
  EXPECT_EQ(mode(kElementLegacy | kElementWide), WalkMode::ggtt);
  EXPECT_EQ(mode(kElementLegacy | kElementPpgtt), WalkMode::legacy32);
  EXPECT_EQ(mode(kElementLegacy | kElementPpgtt | kElementWide), WalkMode::legacy48);
  for (const uint64_t bits : {uint64_t{0}, kElementDirty}) {  // advanced contexts always have 48-bit addresses
    EXPECT_EQ(mode(bits | kHalt), WalkMode::advanced48);
    EXPECT_EQ(bench.gam.engine(rcs).walk.format->address_bits, 48);
    EXPECT_EQ(bench.gam.engine(rcs).walk.accessed_dirty, bits != 0);
  }
  // A device without the tables reports an error.
  GamBench chv("chv");
  chv.launch(0, kElementValid | kElementLegacy | kElementPpgtt | kElementWide, {0x1000, 0, 0, 0});
  EXPECT_EQ(chv.gam.engine(0).walk.format, nullptr);
  EXPECT_EQ(chv.events.count(EventKind::unsupported), 1u);
}

// If a table cannot be resolved, the first access faults with the reason.
TEST(Gam, UnresolvedAdvancedContextFaultsAtTheFirstAccess) {
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  const auto reason = [&](uint32_t pasid, uint64_t bits) {
    bench.launch_advanced(rcs, pasid, bits);
    (void)stream.read(0x1000);
    return bench.gam.engine(rcs).walk.unusable;
  };
  EXPECT_EQ(reason(7, kHalt), FaultReason::pasid_not_present);
  EXPECT_EQ(reason(100'000, kHalt), FaultReason::pasid_out_of_range);
  EXPECT_EQ(reason(5, kHalt | kElementPrivileged), FaultReason::request_denied);
  bench.vtd.set_root(0);
  EXPECT_EQ(reason(5, kHalt), FaultReason::root_not_present);
  EXPECT_EQ(stream.space.store_value<uint32_t>(GpuVa(0x1000), 1), AccessResult::hung);
}

TEST(Gam, EngineResetKeepsTranslationsAndRequests) {
  COVERS("ICL-GAM-12");
  GamBench bench("icl", {.queue_entries = 1});
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  const uint64_t pml4 = put_page(bench, 0, kVa48, 42);
  bench.put_pasid(5, pml4 | kPasidP);
  bench.launch_advanced(rcs, 5, kHalt);
  const uint64_t va = kVa48 & ~uint64_t{7};
  EXPECT_EQ(stream.read(va), 42u);
  // The page is removed and the engine is reset: the TLB keeps the translation until software invalidates it.
  bench.put(0x4000'3000 + ((kVa48 >> 12) & 0x1ff) * 8, 0);
  EXPECT_TRUE(bench.gam.reset_engine(rcs));
  EXPECT_EQ(bench.gam.engine(rcs).stage, ContextStage::idle);
  EXPECT_EQ(stream.read(va), 42u);
  bench.gam.flush(rcs);
  bench.launch_advanced(rcs, 5, kHalt);
  EXPECT_EQ(stream.read(va), 0u);
  EXPECT_EQ(bench.faults.outstanding(), 1u);
  // An outstanding request survives the reset; the engine sends no new requests until the reset is done.
  EXPECT_TRUE(bench.gam.reset_engine(rcs));
  EXPECT_EQ(bench.faults.outstanding(), 1u);
  // A request in the registers (the queue is full) blocks the reset until software has made room.
  bench.launch_advanced(rcs, 5, kHalt);
  (void)stream.read(0x7000);
  EXPECT_FALSE(bench.gam.reset_engine(rcs));
  const size_t requests = bench.faults.outstanding();
  (void)stream.read(0x9000);
  EXPECT_EQ(bench.faults.outstanding(), requests);
  EXPECT_TRUE(bench.gam.page_response({5, va, false}));
  EXPECT_TRUE(bench.gam.reset_engine(rcs));
}

TEST(Gam, FunctionLevelResetClearsUseCounts) {
  COVERS("ICL-GAM-13");
  GamBench bench;
  auto entry = VtdBench::base_context();
  entry[0] |= kCtxDinve;
  bench.put_context(0, entry);
  const uint64_t at = kStates + 5 * 8;
  const auto uses = [&] { return (bench.get(at) >> 32) & 0xffff; };
  const unsigned rcs = bench.engine("rcs0"), bcs = bench.engine("bcs0");
  bench.launch_advanced(rcs, 5);
  EXPECT_EQ(uses(), 1u);
  bench.launch_advanced(bcs, 5);
  EXPECT_EQ(uses(), 2u);
  bench.launch_advanced(bcs, 5);  // a switch to the same context
  EXPECT_EQ(uses(), 2u);
  EXPECT_TRUE(bench.gam.reset_engine(rcs));
  EXPECT_EQ(uses(), 1u);
  EXPECT_TRUE(bench.gam.reset_engine(rcs));
  EXPECT_EQ(uses(), 1u) << "counted once";
  bench.launch_legacy48(bcs, 0x1000);
  EXPECT_EQ(uses(), 0u);
  bench.launch_advanced(rcs, 5);
  bench.launch_advanced(bcs, 5);
  EXPECT_EQ(uses(), 2u);
  bench.gam.reset_device();
  EXPECT_EQ(uses(), 0u);
  EXPECT_EQ(bench.gam.engine(rcs).stage, ContextStage::idle);
  // The tables of the system are not reset: the root pointer still works.
  EXPECT_EQ(bench.vtd.root(), kRoot);
  bench.launch_advanced(rcs, 5);
  EXPECT_EQ(bench.gam.engine(rcs).walk.roots[0], kTables[0]);
}

TEST(Gam, GttCacheIsOnlyForSmallPagesOfLegacyContexts) {
  COVERS("ICL-GAM-14");
  GamBench bench;
  const unsigned rcs = bench.engine("rcs0");
  Stream stream(bench, rcs, TlbClient::l3, 1);
  bench.gam.write(GamBench::id("GTT_CACHE_EN"), 0xf0'07ff);
  EXPECT_TRUE(bench.gam.gtt_cache_enabled());
  EXPECT_EQ(bench.gam.read(GamBench::id("GTT_CACHE_EN"), 0, 0), 0xf0'07ffu);
  // Pages of 4 and 64 KB are allowed.
  for (const Size size : {Size::k4, Size::k64, Size::m2, Size::g1}) {
    const Chain chain = make_chain(bench, WalkMode::legacy48, size, kVa48, kRw);
    bench.launch_legacy48(rcs, kTables[0]);
    bench.events.clear();
    (void)stream.read(chain.va & ~uint64_t{7});
    const bool large = size == Size::m2 || size == Size::g1;
    EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), large ? 1u : 0u) << page_bits_of(size);
  }
  bench.events.clear();
  bench.launch_advanced(rcs, 5);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u) << "not allowed with advanced contexts";
  bench.gam.write(GamBench::id("GTT_CACHE_EN"), 0);
  bench.events.clear();
  bench.launch_advanced(rcs, 5);
  EXPECT_TRUE(bench.events.events().empty());
}

}  // namespace
}  // namespace halogen::memory::rows
