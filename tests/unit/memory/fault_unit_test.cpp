// Faults as software sees them: FLT rows of the ledger of Ice Lake PRM vol. 6 (seed 001), and page table errors of G45
// PRM vol. 1b 5.7.2 (seed 003).
#include "memory/fault_unit.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "covers.h"
#include "fault_bench.h"

namespace halogen::memory::rows {
namespace {

// Drivers name this model, but hardware does not support it: the access is dropped without a page request.
TEST(FaultUnit, CarryOnDropsTheAccess) {
  FaultBench one(FaultModel::carry_on);
  EXPECT_EQ(one.read(), AccessResult::ok);
  EXPECT_TRUE(one.listener.requests.empty());
  EXPECT_EQ(one.listener.faults.size(), 1u);
}

TEST(FaultUnit, HangStopsHaltWaitsAndStreamDropsTheAccess) {
  COVERS("ICL-FLT-01");
  {  // Hang: reported, and the engine stops. Optionally the access is skipped.
    FaultBench one(FaultModel::hang);
    EXPECT_EQ(one.read(), AccessResult::hung);
    EXPECT_TRUE(one.listener.requests.empty()) << "no page request";
    EXPECT_EQ(one.listener.faults.size(), 1u);
    FaultBench two(FaultModel::hang);
    two.unit.set_continue_after_fault(0, true);
    EXPECT_EQ(two.read(), AccessResult::ok);
    EXPECT_EQ(two.listener.faults.size(), 1u);
  }
  {  // Halt: a page request; the access waits for the response.
    FaultBench one(FaultModel::halt);
    EXPECT_EQ(one.read(), AccessResult::waits_for_page);
    ASSERT_EQ(one.listener.requests.size(), 1u);
    EXPECT_EQ(one.unit.engine(0).waiting, kVa48 & ~uint64_t{0xfff});
    EXPECT_EQ(one.read(), AccessResult::waits_for_page) << "still waiting";
    EXPECT_EQ(one.listener.requests.size(), 1u) << "requested only once";
    one.mend();
    EXPECT_TRUE(one.unit.respond(one.response(true)));
    EXPECT_EQ(one.listener.resumed, std::vector{0u});
    EXPECT_EQ(one.space.load_value<uint64_t>(GpuVa(kVa48 & ~uint64_t{7})), 0x1234u);
    EXPECT_TRUE(one.listener.faults.empty()) << "no fault is reported";
  }
  {  // Halt with a failure response: the fault is reported.
    FaultBench one(FaultModel::halt);
    EXPECT_EQ(one.read(), AccessResult::waits_for_page);
    EXPECT_TRUE(one.unit.respond(one.response(false)));
    EXPECT_EQ(one.read(), AccessResult::hung);
    EXPECT_EQ(one.listener.faults.size(), 1u);
  }
  {  // Stream: a page request; the access is dropped. The scheduler, which is software, sees each request and may
     // switch the context out after any number of them.
    FaultBench one(FaultModel::stream);
    constexpr uint64_t kPages = 20;
    for (uint64_t page = 0; page < kPages; ++page) {
      EXPECT_EQ(one.read(kVa48 ^ (page << 12)), AccessResult::ok);
      ASSERT_EQ(one.listener.requests.size(), page + 1);
      EXPECT_TRUE(one.listener.requests.back().streaming);
      EXPECT_EQ(one.listener.requests.back().address, (kVa48 ^ (page << 12)) & ~uint64_t{0xfff});
    }
    EXPECT_TRUE(one.listener.faults.empty());
    one.unit.set_context(0, {});
    EXPECT_EQ(one.unit.outstanding(), kPages) << "software still answers them";
  }
}

// A success response without a page: the access waits again, with a new request.
TEST(FaultUnit, ResponseWithoutThePageIsFollowedByANewRequest) {
  FaultBench one(FaultModel::halt);
  for (size_t round = 1; round <= 20; ++round) {
    EXPECT_EQ(one.read(), AccessResult::waits_for_page);
    ASSERT_EQ(one.listener.requests.size(), round);
    EXPECT_TRUE(one.unit.respond(one.response(true)));
    EXPECT_FALSE(one.unit.engine(0).waiting.has_value());
  }
  EXPECT_TRUE(one.listener.faults.empty());
  one.mend();
  EXPECT_EQ(one.read(), AccessResult::ok);
}

TEST(FaultUnit, ClearPresentBitEndsTheWalkAndItsFaultIsCached) {
  COVERS("ICL-FLT-03");
  for (size_t level = 0; level < 4; ++level) {
    FaultBench one(FaultModel::stream);
    one.mend();
    one.chain.set(one.bench, level, one.chain.levels[level].entry & ~kP);
    EXPECT_EQ(one.read(), AccessResult::ok);
    ASSERT_EQ(one.listener.requests.size(), 1u);
    one.chain.write(one.bench);
    // The page is mapped now, but the cached fault filters the access. Three events remove the cached fault.
    EXPECT_EQ(one.space.load_value<uint64_t>(GpuVa(kVa48 & ~uint64_t{7})), 0u);
    EXPECT_GT(one.space.filtered_faults(), 0u);
    EXPECT_EQ(one.listener.requests.size(), 1u) << "no further requests";
    switch (level) {
      case 0:
        one.space.page_response(GpuVa(kVa48));
        break;
      case 1:
        one.space.invalidate();
        break;
      case 2:
        one.space.invalidate_page(GpuVa(kVa48));
        break;
      default:  // least recently allocated: 64 other translations
        for (uint64_t page = 1; page <= 64; ++page) {
          one.chain.set(one.bench, 3, 0);
          const uint64_t index = ((kVa48 >> 12) + page) & 0x1ff;
          one.bench.put(kTables[3] + 8 * index, page_target(Size::k4) | kP | kRw | kUs);
          EXPECT_EQ(one.read((kVa48 & ~mask_of(20, 12)) | (index << 12)), AccessResult::ok);
        }
        one.chain.write(one.bench);
        break;
    }
    EXPECT_EQ(one.space.load_value<uint64_t>(GpuVa(kVa48 & ~uint64_t{7})), 0x1234u) << level;
  }
  // A context with the hang model caches nothing, because there was no page request.
  FaultBench hang(FaultModel::hang);
  hang.unit.set_continue_after_fault(0, true);
  EXPECT_EQ(hang.read(), AccessResult::ok);
  hang.mend();
  EXPECT_EQ(hang.space.load_value<uint64_t>(GpuVa(kVa48 & ~uint64_t{7})), 0x1234u);
}

TEST(FaultUnit, SupervisorPageFaultsInAUserContext) {
  COVERS("ICL-FLT-04");
  for (size_t level = 0; level < 4; ++level) {
    FaultBench one(FaultModel::hang);
    one.mend();
    one.chain.set(one.bench, level, one.chain.levels[level].entry & ~kUs);
    EXPECT_EQ(one.read(), AccessResult::hung);
    ASSERT_EQ(one.listener.faults.size(), 1u);
    EXPECT_EQ(one.listener.faults[0].reason, FaultReason::privilege_denied) << "the report has the reason";
    // With the stream model the fault is cached.
    FaultBench two(FaultModel::stream);
    two.chain.set(two.bench, 3, two.chain.levels[3].entry & ~kUs);
    EXPECT_EQ(two.read(), AccessResult::ok);
    EXPECT_EQ(two.read(), AccessResult::ok);
    EXPECT_EQ(two.listener.requests.size(), 1u);
    EXPECT_EQ(two.space.filtered_faults(), 1u);
  }
}

// If a cached entry lacks the needed right, the page is walked again. Only the new walk may fault.
TEST(FaultUnit, RightsAreDeniedOnlyByANewWalk) {
  COVERS("ICL-FLT-05");
  for (size_t level = 0; level < 4; ++level) {
    FaultBench one(FaultModel::hang);
    one.mend();
    one.chain.context.execute_disable = true;
    one.space.load(one.chain.context);
    // Read-only or execute-disabled at some level, then upgraded without an invalidation.
    one.chain.set(one.bench, level, (one.chain.levels[level].entry & ~kRw) | kXd);
    EXPECT_EQ(one.read(), AccessResult::ok);
    one.chain.write(one.bench);
    EXPECT_EQ(one.space.store_value<uint32_t>(GpuVa(kVa48), 1), AccessResult::ok) << level;
    uint32_t code = 0;
    EXPECT_EQ(one.space.read(GpuVa(kVa48), std::as_writable_bytes(std::span(&code, 1)), true), AccessResult::ok);
    EXPECT_TRUE(one.listener.faults.empty());
    // The tables still deny the access: it faults.
    FaultBench two(FaultModel::hang);
    two.chain.context.execute_disable = true;
    two.space.load(two.chain.context);
    two.chain.write(two.bench);
    two.chain.set(two.bench, level, two.chain.levels[level].entry & ~kRw);
    EXPECT_EQ(two.read(), AccessResult::ok);
    EXPECT_EQ(two.space.store_value<uint32_t>(GpuVa(kVa48), 1), AccessResult::hung);
    EXPECT_EQ(two.listener.faults.back().reason, FaultReason::write_denied);
    two.chain.set(two.bench, level, two.chain.levels[level].entry | kXd);
    two.space.invalidate();  // a downgrade
    EXPECT_EQ(two.read(), AccessResult::ok);
    EXPECT_EQ(two.space.read(GpuVa(kVa48), std::as_writable_bytes(std::span(&code, 1)), true), AccessResult::hung);
    EXPECT_EQ(two.listener.faults.back().reason, FaultReason::execute_denied);
  }
}

// The manual's example: a read caches a read-only page; a write faults and the fault is cached; later writes are
// filtered; a read walks again, and the page is read-only as before.
TEST(FaultUnit, CachedFaultFiltersOnlyMatchingAccesses) {
  COVERS("ICL-FLT-06");
  FaultBench one(FaultModel::stream);
  one.chain.set(one.bench, 3, one.chain.levels[3].entry & ~kRw);
  const GpuVa va(kVa48 & ~uint64_t{7});
  EXPECT_EQ(one.space.load_value<uint64_t>(va), 0x1234u);
  EXPECT_EQ(one.space.store_value<uint64_t>(va, 1), AccessResult::ok);  // dropped, with one request
  ASSERT_EQ(one.listener.requests.size(), 1u);
  EXPECT_TRUE(one.listener.requests[0].write);
  EXPECT_EQ(one.space.store_value<uint64_t>(va, 2), AccessResult::ok);
  EXPECT_EQ(one.space.filtered_faults(), 1u);
  EXPECT_EQ(one.space.load_value<uint64_t>(va), 0x1234u)
      << "a read does not match the cached reason: the page is walked";
  EXPECT_EQ(one.space.store_value<uint64_t>(va, 3), AccessResult::ok);
  EXPECT_EQ(one.space.filtered_faults(), 1u) << "the read-only translation replaced the cached fault";
  EXPECT_EQ(one.listener.requests.size(), 1u) << "the page was requested before";
  // Upgraded and answered: the write succeeds.
  one.mend();
  EXPECT_TRUE(one.unit.respond(one.response(true)));
  one.space.page_response(va);
  EXPECT_EQ(one.space.store_value<uint64_t>(va, 4), AccessResult::ok);
  EXPECT_EQ(one.space.load_value<uint64_t>(va), 4u);
  // An unrecoverable fault is never cached.
  FaultBench two(FaultModel::stream);
  two.chain.set(two.bench, 3, two.chain.levels[3].entry | bit_at(45));
  two.unit.set_continue_after_fault(0, true);
  EXPECT_EQ(two.read(), AccessResult::ok);
  EXPECT_EQ(two.read(), AccessResult::ok);
  EXPECT_EQ(two.space.filtered_faults(), 0u);
  EXPECT_TRUE(two.listener.requests.empty());
  EXPECT_EQ(two.listener.faults.size(), 2u);
}

// The register of Gen8 to Gen12: valid in bit 0, type 2:1, source 10:3, table 11, engine from bit 12 on. Other
// registers hold the address.
TEST(FaultUnit, SharedFaultRegisterHoldsTheFirstFault) {
  COVERS("ICL-FLT-07");
  struct Device {
    const char* name;
    uint32_t fault, data0, data1;
  };
  for (const Device& device : {Device{"bdw", 0x4094, 0x4b10, 0x4b14}, Device{"skl", 0x4094, 0x4b10, 0x4b14},
                               Device{"icl", 0x4094, 0x4b10, 0x4b14}, Device{"tgl", 0xcec4, 0xceb8, 0xcebc},
                               Device{"dg1", 0xcec4, 0xceb8, 0xcebc}}) {
    SCOPED_TRACE(device.name);
    const spec::DeviceModel& model = *spec::find_device(device.name);
    EXPECT_EQ(spec::find_register("FAULT_REG")->offset(model.id), device.fault);
    EXPECT_EQ(spec::find_register("FAULT_TLB_DATA0")->offset(model.id), device.data0);
    EXPECT_EQ(spec::find_register("FAULT_TLB_DATA1")->offset(model.id), device.data1);
    EventLog events;
    // Engine numbers: RCS 0, VCS0 1, BCS 2, VECS0 3, VCS2 6 (where there is one).
    std::vector<std::pair<const char*, unsigned>> engines{{"rcs0", 0}, {"vcs0", 1}, {"bcs0", 2}, {"vecs0", 3}};
    if (model.gen == spec::GenId::gen11 || model.gen == spec::GenId::gen12) {
      engines.emplace_back("vcs2", 6);
    }
    for (const auto& [engine, number] : engines) {
      for (unsigned below = 0; below < 4; ++below) {
        FaultUnit unit(model, {}, events, "gpu0");
        ASSERT_TRUE(unit.owns(id_of("FAULT_REG")));
        const bool global = below == 0 && number == 2;
        Fault fault;
        fault.reason = FaultReason::not_present;
        fault.address = 0xffff'b123'4567'89ab;
        fault.below = static_cast<uint8_t>(below);
        fault.global = global;
        EXPECT_EQ(unit.report(number_of(model, engine), 0xa5, FaultStream::cs, fault), FaultAction::hang);
        EXPECT_EQ(unit.read(id_of("FAULT_REG")),
                  1u | (below << 1) | (0xa5u << 3) | (global ? 1u << 11 : 0u) | (number << 12));
        EXPECT_EQ(unit.read(id_of("FAULT_TLB_DATA0")), 0x1234'5678u) << "address bits 43:12 of ...b12345678 9ab";
        EXPECT_EQ(unit.read(id_of("FAULT_TLB_DATA1")), 0xbu | (global ? 1u << 4 : 0u));
        // The first fault is kept until software clears the valid bit.
        Fault later = fault;
        later.address = 0x1000;
        (void)unit.report(number_of(model, engine), 1, FaultStream::cs, later);
        EXPECT_EQ(unit.read(id_of("FAULT_TLB_DATA0")), 0x1234'5678u);
        unit.write(id_of("FAULT_REG"), unit.read(id_of("FAULT_REG")) & ~1u);
        (void)unit.report(number_of(model, engine), 1, FaultStream::cs, later);
        EXPECT_EQ(unit.read(id_of("FAULT_TLB_DATA0")), 1u);
        EXPECT_EQ(unit.read(id_of("FAULT_REG")) & 1u, 1u);
      }
    }
  }
}

// Gen6: one register per engine, which also holds the address.
TEST(FaultUnit, Gen6HasAFaultRegisterPerEngine) {
  const spec::DeviceModel& model = *spec::find_device("snb");
  EventLog events;
  FaultUnit unit(model, {}, events, "gpu0");
  Fault fault;
  fault.reason = FaultReason::not_present;
  fault.address = 0x1234'5678;
  fault.global = true;
  (void)unit.report(number_of(model, "bcs0"), 0x21, FaultStream::cs, fault);
  EXPECT_EQ(unit.read(id_of("BCS_FAULT_REG")), 0x1234'5000u | (1u << 11) | (0x21u << 3) | 1u);
  EXPECT_EQ(unit.read(id_of("RCS_FAULT_REG")), 0u);
  fault.below = 1;
  fault.global = false;
  (void)unit.report(number_of(model, "rcs0"), 0, FaultStream::cs, fault);
  EXPECT_EQ(unit.read(id_of("RCS_FAULT_REG")), 0x1234'5000u | (1u << 1) | 1u) << "invalid page directory";
  unit.write(id_of("BCS_FAULT_REG"), 0);
  EXPECT_EQ(unit.read(id_of("BCS_FAULT_REG")), 0u);
  EXPECT_EQ(unit.read(id_of("GFX_ARB_ERROR_RPT")), 0x5u) << "page fault and invalid directory entry";
}

// Gen4: the client's bit in PGTBL_ER, which only a device reset clears.
TEST(FaultUnit, Gen4SetsTheClientsBitInPgtblEr) {
  COVERS("G45-5.7.2-01");
  COVERS("G45-5.7.2-05");
  for (const char* device : {"i965", "gm965", "g45", "gm45"}) {
    const spec::DeviceModel& model = *spec::find_device(device);
    EventLog events;
    FaultUnit unit(model, {}, events, "gpu0");
    Fault fault;
    fault.reason = FaultReason::not_present;
    fault.global = true;
    const std::pair<FaultStream, unsigned> streams[] = {{FaultStream::sampler_cache, 26},
                                                        {FaultStream::render_cache, 24},
                                                        {FaultStream::state_cache, 23},
                                                        {FaultStream::vertex_fetch, 21},
                                                        {FaultStream::command_fetch, 20},
                                                        {FaultStream::cs, 19},
                                                        {FaultStream::cursor, 18},
                                                        {FaultStream::overlay, 17},
                                                        {FaultStream::display_b, 8},
                                                        {FaultStream::display_a, 4},
                                                        {FaultStream::host, 0}};
    uint32_t expected = 0;
    for (const auto& [stream, index] : streams) {
      expected |= 1u << index;
      EXPECT_EQ(unit.report(0, 0, stream, fault), FaultAction::skip);
      EXPECT_EQ(unit.read(id_of("PGTBL_ER")), expected);
    }
    unit.write(id_of("PGTBL_ER"), 0xffff'ffff);
    unit.write(id_of("PGTBL_ER"), 0);
    EXPECT_EQ(unit.read(id_of("PGTBL_ER")), expected) << "software cannot clear it";
    (void)unit.reset_engine(0);
    EXPECT_EQ(unit.read(id_of("PGTBL_ER")), expected);
    unit.reset_device();
    EXPECT_EQ(unit.read(id_of("PGTBL_ER")), 0u);
  }
}

// A CPU access to a page outside memory: "invalid PTE data".
TEST(FaultUnit, HostAccessOutsideMemoryIsInvalidPteData) {
  COVERS("G45-5.7.2-03");
  const spec::DeviceModel& model = *spec::find_device("g45");
  EventLog events;
  FaultUnit unit(model, {}, events, "gpu0");
  Fault fault;
  fault.reason = FaultReason::page_hole;
  fault.global = true;
  (void)unit.report(0, 0, FaultStream::host, fault);
  EXPECT_EQ(unit.read(id_of("PGTBL_ER")), 1u << 1);
}

TEST(FaultUnit, NumberOfRequestsIsLimited) {
  FaultBench one(FaultModel::stream, {.queue_entries = 4});
  for (uint64_t page = 0; page < 20; ++page) {
    (void)one.read(kVa48 ^ (page << 12));
  }
  EXPECT_EQ(one.unit.outstanding(), 4u);
  EXPECT_TRUE(one.unit.overflowed());
  EXPECT_EQ(one.listener.requests.size(), 4u);
  // Software reads the requests; they stay outstanding until it responds.
  unsigned taken = 0;
  while (const std::optional<PageRequest> request = one.unit.take_request()) {
    EXPECT_EQ(request->pasid, 0x12345u);
    EXPECT_EQ(request->context_id, 77u);
    EXPECT_EQ(request->address & 0xfff, 0u);
    ++taken;
  }
  EXPECT_EQ(taken, 4u);
  EXPECT_EQ(one.unit.outstanding(), 4u);
  // The queue has room again: the request in the register is sent.
  EXPECT_TRUE(one.unit.respond({0x12345, kVa48, true}));
  EXPECT_EQ(one.unit.outstanding(), 4u);
  EXPECT_EQ(one.listener.requests.size(), 5u);
  EXPECT_FALSE(one.unit.respond({0x12345, 0x7777'7000, true})) << "no such request";
}

// The published layout of a request: PASID at 23:4, device and function at 75:68, the page from bit 76 on.
TEST(FaultUnit, PackedRequestHasThePublishedLayout) {
  PageRequest request;
  request.pasid = 0xabcde;
  request.function = 3;
  request.context_id = 0x1234;
  request.group = 5;
  request.address = 0x7fff'1234'5000;
  request.write = true;
  request.privileged = true;
  request.streaming = true;
  const auto words = pack(request, spec::find_device("icl")->gen);
  EXPECT_EQ(words[0], (0xabcdeu << 4) | (1u << 2) | (1u << 3) | 1u);
  EXPECT_EQ(words[1], (5u << 23) | 0x1234u);
  EXPECT_EQ(words[2], 0x1234'5000u | (((2u << 3) | 3u) << 4) | (1u << 1) | (1u << 3));
  EXPECT_EQ(words[3], 0x7fffu);
}

TEST(FaultUnit, CatastrophicErrorsAreNotRecoverable) {
  FaultBench one(FaultModel::halt);
  one.mend();
  one.chain.context.accessed_dirty = true;
  one.chain.context.writeback_types = 0;
  one.space.load(one.chain.context);
  EXPECT_EQ(one.read(), AccessResult::hung);
  EXPECT_EQ(one.listener.catastrophes, std::vector{0u});
  EXPECT_TRUE(one.listener.requests.empty()) << "no response can repair it";
}

}  // namespace
}  // namespace halogen::memory::rows
