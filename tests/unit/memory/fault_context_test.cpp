// The contents of page requests, the engines that a response wakes, and the state that survives a context switch or a
// reset.
#include <gtest/gtest.h>

#include <vector>

#include "fault_bench.h"
#include "memory/trtt.h"

namespace halogen::memory::rows {
namespace {

TEST(FaultUnit, RequestHoldsContextAndAccess) {
  for (const bool privileged : {false, true}) {
    FaultBench one(FaultModel::halt);
    one.unit.set_context(0, {FaultModel::halt, true, 0x54321, 0x1234, 6, privileged});
    one.chain.context.supervisor = privileged;
    one.space.load(one.chain.context);
    EXPECT_EQ(one.read(), AccessResult::waits_for_page);
    EXPECT_EQ(one.space.store_value<uint32_t>(GpuVa(kVa48), 1), AccessResult::waits_for_page);
    uint32_t code = 0;
    EXPECT_EQ(one.space.read(GpuVa(kVa48), std::as_writable_bytes(std::span(&code, 1)), true),
              AccessResult::waits_for_page);
    ASSERT_EQ(one.listener.requests.size(), 3u) << "a write and a fetch request more than a read";
    for (uint16_t i = 0; i < 3; ++i) {
      const PageRequest& request = one.listener.requests[i];
      EXPECT_EQ(request.pasid, 0x54321u);
      EXPECT_EQ(request.context_id, 0x1234u);
      EXPECT_EQ(request.function, 6);
      EXPECT_EQ(request.privileged, privileged);
      EXPECT_EQ(request.address, kVa48 & ~uint64_t{0xfff});
      EXPECT_EQ(request.group, i);
      EXPECT_FALSE(request.streaming);
      EXPECT_EQ(request.read, i != 1);
      EXPECT_EQ(request.write, i == 1);
      EXPECT_EQ(request.execute, i == 2);
    }
  }
}

// Two engines run one process, a third engine another; all wait for the same page.
TEST(FaultUnit, ResponseWakesTheEnginesOfItsProcess) {
  FaultBench one(FaultModel::halt);
  ASSERT_GE(one.bench.model.engines.size(), 3u);
  Fault fault;
  fault.reason = FaultReason::not_present;
  fault.address = kVa48;
  one.unit.set_context(1, {FaultModel::halt, true, 0x12345, 78, 0, false});
  one.unit.set_context(2, {FaultModel::halt, true, 0x00777, 79, 0, false});
  for (unsigned engine = 0; engine < 3; ++engine) {
    EXPECT_EQ(one.unit.report(engine, 0, FaultStream::cs, fault), FaultAction::wait);
  }
  ASSERT_EQ(one.listener.requests.size(), 3u) << "one request per engine";
  EXPECT_TRUE(one.unit.respond(one.response(true)));
  EXPECT_EQ(one.listener.resumed, (std::vector{0u, 1u}));
  EXPECT_TRUE(one.unit.engine(2).waiting.has_value()) << "another process is not woken";
  EXPECT_EQ(one.unit.outstanding(), 1u);
  EXPECT_TRUE(one.unit.respond({0x00777, kVa48, true}));
  EXPECT_EQ(one.listener.resumed, (std::vector{0u, 1u, 2u}));
}

TEST(FaultUnit, ResponseToAQueuedRequestIsAccepted) {
  FaultBench one(FaultModel::halt, {.queue_entries = 1});
  EXPECT_EQ(one.read(), AccessResult::waits_for_page);
  EXPECT_EQ(one.read(kVa48 ^ 0x1000),
            AccessResult::waits_for_page);  // the queue is full: the request stays in a register
  EXPECT_EQ(one.unit.outstanding(), 1u);
  EXPECT_TRUE(one.unit.respond(one.response(true, kVa48 ^ 0x1000)));
  EXPECT_FALSE(one.unit.respond(one.response(true, kVa48 ^ 0x1000))) << "already answered";
  EXPECT_EQ(one.unit.outstanding(), 1u);
}

// A new context does not inherit faults, the wait or refused requests of the previous one.
TEST(FaultUnit, NewContextStartsWithoutFaultState) {
  FaultBench one(FaultModel::halt);
  const FaultContext context = one.unit.engine(0).context;
  EXPECT_EQ(one.read(), AccessResult::waits_for_page);
  one.unit.set_context(0, context);
  EXPECT_TRUE(one.unit.respond(one.response(true)));
  EXPECT_TRUE(one.listener.resumed.empty()) << "no engine is waiting";
  EXPECT_EQ(one.read(), AccessResult::waits_for_page);
  EXPECT_TRUE(one.unit.respond(one.response(false)));
  EXPECT_TRUE(one.unit.engine(0).refused.has_value());
  one.unit.set_context(0, context);
  EXPECT_EQ(one.read(), AccessResult::waits_for_page) << "requested again, not refused";
}

TEST(FaultUnit, EngineResetKeepsReportsAndSettings) {
  FaultBench one(FaultModel::hang);
  EXPECT_EQ(one.read(), AccessResult::hung);
  EXPECT_TRUE(one.unit.reset_engine(0));
  EXPECT_EQ(one.unit.read(id_of("FAULT_REG")) & 1u, 1u) << "the report is kept";
  one.unit.set_continue_after_fault(0, true);
  EXPECT_TRUE(one.unit.reset_engine(0));
  EXPECT_TRUE(one.unit.engine(0).continue_after_fault) << "the setting lies outside the engine";
  EXPECT_EQ(one.read(), AccessResult::ok);

  const spec::DeviceModel& model = *spec::find_device("snb");
  EventLog events;
  FaultUnit unit(model, {}, events, "gpu0");
  Fault fault;
  fault.reason = FaultReason::not_present;
  fault.address = 0x1234'5678;
  (void)unit.report(number_of(model, "rcs0"), 0, FaultStream::cs, fault);
  EXPECT_TRUE(unit.reset_engine(number_of(model, "rcs0")));
  EXPECT_EQ(unit.read(id_of("RCS_FAULT_REG")), 0x1234'5001u);
}

TEST(FaultUnit, DeviceResetClearsEveryRegister) {
  FaultBench one(FaultModel::hang);
  EXPECT_EQ(one.read(), AccessResult::hung);
  const char* registers[] = {"FAULT_REG", "FAULT_TLB_DATA0", "FAULT_TLB_DATA1"};
  for (const char* name : registers) {
    EXPECT_NE(one.unit.read(id_of(name)), 0u) << name;
  }
  one.unit.reset_device();
  for (const char* name : registers) {
    EXPECT_EQ(one.unit.read(id_of(name)), 0u) << name;
  }

  const spec::DeviceModel& model = *spec::find_device("snb");
  EventLog events;
  FaultUnit unit(model, {}, events, "gpu0");
  Fault fault;
  fault.reason = FaultReason::not_present;
  (void)unit.report(0, 0, FaultStream::cs, fault);
  EXPECT_NE(unit.read(id_of("GFX_ARB_ERROR_RPT")), 0u);
  unit.reset_device();
  EXPECT_EQ(unit.read(id_of("GFX_ARB_ERROR_RPT")), 0u);
  EXPECT_EQ(unit.read(id_of("RCS_FAULT_REG")), 0u);
}

// While a request in a register blocks its reset, an engine sends no new request, even if the queue has room again.
TEST(FaultUnit, EngineInResetSendsNoRequests) {
  FaultBench one(FaultModel::halt, {.queue_entries = 2});
  for (uint64_t page = 0; page < 3; ++page) {
    EXPECT_EQ(one.read(kVa48 ^ (page << 12)), AccessResult::waits_for_page);
  }
  EXPECT_FALSE(one.unit.reset_engine(0));
  EXPECT_TRUE(one.unit.respond(one.response(true)));
  EXPECT_TRUE(one.unit.respond(one.response(true, kVa48 ^ 0x1000)));
  EXPECT_EQ(one.unit.outstanding(), 1u) << "only the request that was in the register";
  EXPECT_EQ(one.read(kVa48 ^ 0x7000), AccessResult::stopped);
  EXPECT_EQ(one.unit.outstanding(), 1u);
  EXPECT_TRUE(one.unit.reset_engine(0));
}

// Reads of tiled-resource tables use fault and halt, whatever the fault model of the context is (seed 001).
TEST(FaultUnit, TiledResourceTableReadsHalt) {
  FaultBench one(FaultModel::stream);
  Fault fault;
  fault.reason = FaultReason::not_present;
  fault.address = kVa48;
  fault.tile_table = true;
  EXPECT_EQ(one.unit.report(0, 0, FaultStream::cs, fault), FaultAction::wait);
  ASSERT_EQ(one.listener.requests.size(), 1u);
  EXPECT_FALSE(one.listener.requests[0].streaming);
  EXPECT_TRUE(one.unit.engine(0).waiting.has_value());
  EXPECT_TRUE(one.unit.respond(one.response(true)));
  EXPECT_EQ(one.listener.resumed, std::vector{0u});
  // The response reports failure: the walk continues with wrong data, and software must reset.
  EXPECT_EQ(one.unit.report(0, 0, FaultStream::cs, fault), FaultAction::wait);
  EXPECT_TRUE(one.unit.respond(one.response(false)));
  EXPECT_EQ(one.unit.report(0, 0, FaultStream::cs, fault), FaultAction::skip);
  EXPECT_TRUE(one.unit.engine(0).reset_expected);
}

}  // namespace
}  // namespace halogen::memory::rows
