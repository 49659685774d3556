// Contexts submitted through the execlist port and the submit queue: execution order and the state that software reads.
#include <gtest/gtest.h>

#include "covers.h"
#include "hw/mi.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kLoadRegister = 0x1100'0001;

class ExeclistTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ExeclistTest, RunsTheRingOfASubmittedContext) {
  COVERS("DG1-EL-03");
  COVERS("DG1-CTX-05");
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("rcs0", 5);
  bench.emit(context, ContextBench::store(data, 0x1234'5678));
  bench.run(context);
  EXPECT_EQ(bench.peek(data), 0x1234'5678u);
  EXPECT_EQ(bench.image(context, ContextBench::kImageHead), 16u);
  EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(context), bench.complete_to_idle(context)}));
  // A second submission continues where the first stopped.
  bench.emit(context, ContextBench::store(data + 4, 2));
  bench.run(context);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.image(context, ContextBench::kImageHead), 32u);
  // An invalid descriptor runs nothing, even if the ring has new commands.
  bench.emit(context, ContextBench::store(data + 8, 3));
  bench.submit_raw("rcs0", {bench.descriptor(context) & ~uint64_t{1}});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 8), 0u);
}

// Records the steps of one engine's context switches.
class StepRecorder final : public device::ContextListener {
 public:
  void on_context_switch(unsigned engine, const engine::ContextStep& step) override {
    if (engine == 0) {
      steps.push_back(step);
    }
  }
  std::vector<engine::ContextStep> steps;
};

TEST_P(ExeclistTest, EveryListenerReceivesTheStepsOfAContextSwitchInOrder) {
  using Kind = engine::ContextStep::Kind;
  ContextBench bench(GetParam());
  StepRecorder first;
  StepRecorder second;
  bench.device->engines().add_context_listener(first);
  bench.device->engines().add_context_listener(second);
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("rcs0", 5);
  bench.emit(context, ContextBench::store(data, 7));
  bench.run(context);
  EXPECT_EQ(bench.peek(data), 7u) << "the memory unit listens as well";
  for (const StepRecorder* each : {&first, &second}) {
    ASSERT_EQ(each->steps.size(), 3u);
    EXPECT_EQ(each->steps[0].kind, Kind::begin);
    EXPECT_EQ(each->steps[1].kind, Kind::launch);
    EXPECT_EQ(each->steps[1].descriptor >> 32, context.id);
    EXPECT_EQ(each->steps[2].kind, Kind::idle);
    EXPECT_LE(each->steps[0].time_ns, each->steps[1].time_ns);
    EXPECT_LT(each->steps[1].time_ns, each->steps[2].time_ns);
  }
}

// As in Linux i915 (intel_migrate.c): the ring stores page table entries of the process, then draws through them.
TEST_P(ExeclistTest, BlitsInARingUseTheProcessTables) {
  ContextBench bench(GetParam());
  constexpr uint32_t kAddress = 0x4020'3000;
  const uint64_t page = bench.allocate(1);
  Context context = bench.create("bcs0", 5);
  bench.map_process(context, kAddress, page);
  // XY_COLOR_BLT of 32 bits, 8 pixels of one line.
  bench.emit(context, {0x5430'0005, 0x03f0'1000, 0, 0x0001'0008, kAddress, 0, 0xcafe'f00d});
  bench.emit(context, {0});
  bench.run(context);
  EXPECT_EQ(bench.peek(page), 0xcafe'f00du);
  EXPECT_EQ(bench.peek(page + 28), 0xcafe'f00du);
  EXPECT_EQ(bench.peek(page + 32), 0u);
}

// Every engine runs its own context with its own tables at the same time.
TEST_P(ExeclistTest, EnginesRunDifferentContextsConcurrently) {
  COVERS("DG1-EL-01");
  COVERS("DG1-CTX-04");
  ContextBench bench(GetParam());
  constexpr uint64_t kAddress = 0x4020'3000;
  std::vector<Context> contexts;
  std::vector<uint64_t> pages;
  const uint64_t done = bench.allocate(1);
  for (const spec::EngineModel& engine : bench.model.engines) {
    const auto number = static_cast<uint32_t>(pages.size());
    Context context = bench.create(engine.name, 0x20 + number);
    pages.push_back(bench.allocate(1));
    const uint64_t batch = bench.allocate(1);
    bench.map_process(context, kAddress, pages.back());
    bench.map_process(context, kAddress + 0x1000, batch);
    // The same addresses in every context: a batch of the process stores the number of its engine 200 times.
    std::vector<uint32_t> commands;
    for (uint32_t i = 0; i < 200; ++i) {
      commands.insert(commands.end(), {0x1000'0002, static_cast<uint32_t>(kAddress + 4 * i), 0, 100 * number + i});
    }
    commands.push_back(0x0500'0000);
    bench.poke(batch, commands);
    bench.emit(context, {0x1880'0101, static_cast<uint32_t>(kAddress + 0x1000), 0});
    bench.emit(context, ContextBench::store(done + 4 * number, 1));
    contexts.push_back(context);
  }
  for (const Context& context : contexts) {
    bench.submit({&context});
  }
  bench.device->advance(2000);  // all engines are busy
  for (const uint64_t page : pages) {
    EXPECT_NE(bench.peek(page + 4), 0u);
    EXPECT_EQ(bench.peek(page + 4 * 199), 0u);
  }
  EXPECT_TRUE(bench.device->settle());
  for (uint32_t number = 0; number < pages.size(); ++number) {
    EXPECT_EQ(bench.peek(pages[number] + 4 * 199), 100 * number + 199);
    EXPECT_EQ(bench.peek(done + 4 * number), 1u);
    const Context& context = contexts[number];
    EXPECT_EQ(bench.statuses(context.engine),
              (std::vector{bench.idle_to_active(context), bench.complete_to_idle(context)}));
  }
}

// Images have a different layout for each engine class.
TEST(Execlist, ImageIsRestoredOnlyByItsEngineClass) {
  COVERS("DG1-EL-02");
  ContextBench bench("dg1");
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("bcs0", 7);
  bench.emit(context, {kLoadRegister, 0x22600, 0xabcd'0001});
  bench.run(context);
  // Saved at the descriptor's address in the global table, with the absolute register offset of the copy engine.
  EXPECT_EQ(bench.image(context, 0x51), 0x1100'1063u);
  EXPECT_EQ(bench.image(context, 0x74), 0x22600u);
  EXPECT_EQ(bench.image(context, 0x75), 0xabcd'0001u);
  EXPECT_EQ(bench.image(context, 0x42), 0x22200u);
  // The copy engine restores its state from the image.
  bench.set_reg("bcs0", ContextBench::kGpr, 0);
  bench.set_image(context, ContextBench::kImageControl, 0xffff'0008);
  bench.emit(context, ContextBench::store(data, 1));
  bench.run(context);
  EXPECT_EQ(bench.reg("bcs0", ContextBench::kGpr), 0xabcd'0001u);
  // A video engine does not.
  bench.set_reg("bcs0", ContextBench::kGpr, 0);
  bench.emit(context, ContextBench::store(data + 4, 1));
  bench.submit_raw("vcs0", {bench.descriptor(context)});
  EXPECT_TRUE(bench.device->settle());
  EXPECT_NE(bench.reg("vcs0", ContextBench::kGpr), 0xabcd'0001u);
  EXPECT_NE(bench.image(context, 0x42), 0x22200u) << "the video engine saves its own layout";
}

TEST_P(ExeclistTest, NothingRunsWhileExeclistsAreOff) {
  COVERS("DG1-EL-04");
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const spec::EngineModel& engine : bench.model.engines) {
    bench.set_reg(engine.name, ContextBench::kMode, 0x8000'0000);
    Context context = bench.create(engine.name, 9);
    bench.emit(context, ContextBench::store(data, 1));
    bench.host.log.clear();
    bench.run(context);
    EXPECT_EQ(bench.peek(data), 0u);
    EXPECT_TRUE(bench.statuses(engine.name).empty());
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
    // With the bit clear the ring runs instead; with the bit set the context runs.
    bench.start_ring(engine.name);
    bench.EngineBench::run(engine.name, {0x1040'0002, static_cast<uint32_t>(data), 0, 2});
    EXPECT_EQ(bench.peek(data), 2u);
    bench.set_reg(engine.name, ContextBench::kControl, 0);
    bench.set_reg(engine.name, ContextBench::kMode, 0x8000'8000);
    bench.run(context);
    EXPECT_EQ(bench.peek(data), 1u);
    bench.poke(data, 0);
  }
  // Gen11: disabling legacy mode has the same meaning.
  if (bench.has_queue()) {
    bench.set_reg("rcs0", ContextBench::kMode, 0x8008'0008);
    Context context = bench.create("rcs0", 10);
    bench.emit(context, ContextBench::store(data, 3));
    bench.run(context);
    EXPECT_EQ(bench.peek(data), 3u);
  }
}

// A new image holds ring registers, page directories and the bit that inhibits the engine context restore.
TEST_P(ExeclistTest, NewImageNeedsOnlyRingAndTables) {
  COVERS("DG1-EL-05");
  ContextBench bench(GetParam());
  constexpr uint64_t kAddress = 0x10'0000;
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("rcs0", 3);
  bench.map_process(context, kAddress, data);
  for (unsigned dword = 0x50; dword < 0x400; ++dword) {
    bench.set_image(context, dword, 0xdead'beef);  // not a valid command on any engine
  }
  bench.emit(context, {0x1000'0002, static_cast<uint32_t>(kAddress), 0, 77});
  bench.run(context);
  EXPECT_EQ(bench.peek(data), 77u) << "a store without the bit for the global table uses the tables of the process";
  const uint64_t batch = bench.allocate(1);
  bench.map_process(context, kAddress + 0x1000, batch);
  bench.poke(batch, {0x1000'0002, static_cast<uint32_t>(kAddress), 0, 78, 0x0500'0000});
  Context other = bench.create("rcs0", 4);
  other.tables = context.tables;
  other.at = context.at;
  bench.map_process(other, kAddress + 0x1000, batch);
  for (const unsigned value : {0x31u, 0x33u, 0x2du, 0x2fu, 0x29u, 0x2bu, 0x25u, 0x27u}) {
    bench.set_image(other, value, bench.image(context, value));
  }
  for (unsigned dword = 0x50; dword < 0x400; ++dword) {
    bench.set_image(other, dword, 0xdead'beef);
  }
  bench.emit(other, {0x1880'0101, static_cast<uint32_t>(kAddress + 0x1000), 0});
  bench.run(other);
  EXPECT_EQ(bench.peek(data), 78u);
  // Without the bit the engine restores the invalid commands and hangs. A reset recovers it.
  Context bad = bench.create("rcs0", 6, 0);
  bench.set_image(bad, 0x50, 0xdead'beef);
  bench.emit(bad, ContextBench::store(data, 79));
  bench.run(bad);
  EXPECT_EQ(bench.peek(data), 78u);
}

// The upper dword belongs to software and is reported unchanged, whether it holds an index or an address.
TEST(Execlist, UpperDwordIsReportedUnchanged) {
  COVERS("DG1-EL-06");
  for (const char* const chip : {"bdw", "skl"}) {
    ContextBench bench(chip);
    Context direct = bench.create("rcs0", 0x0001'2345);
    Context proxy = bench.create("rcs0", 0);
    proxy.id = 1u << 20 | static_cast<uint32_t>(proxy.address >> 12);
    bench.submit({&direct, &proxy});
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.statuses("rcs0"), (std::vector{bench.idle_to_active(direct), ContextBench::old_form(0x14, &direct),
                                                   ContextBench::old_form(0x18, &proxy)}));
  }
  // Gen12: the same context on two engines, distinguished by engine and counter.
  ContextBench bench("dg1");
  Context render = bench.create("rcs0", 0x123);
  Context video = bench.create("vcs2", 0x123);
  render.id |= 0x15u << 23;
  video.id |= 0x2au << 23;
  bench.run(render);
  bench.run(video);
  const std::vector<uint64_t> first = bench.statuses("rcs0");
  const std::vector<uint64_t> second = bench.statuses("vcs2");
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(first[1] >> 47 & 0x7ff, 0x123u);
  EXPECT_EQ(first[1] >> 58, 0x15u);
  EXPECT_EQ(first[1] >> 3 & 0x1ff, 0u) << "class 0, instance 0";
  EXPECT_EQ(second[1] >> 47 & 0x7ff, 0x123u);
  EXPECT_EQ(second[1] >> 58, 0x2au);
  EXPECT_EQ(second[1] >> 3 & 7, 1u);
  EXPECT_EQ(second[1] >> 6 & 0x3f, 2u);
}

// Several images with one context ID run in queue order. An image that waits is not overtaken.
TEST_P(ExeclistTest, ImagesWithOneContextIdRunInOrder) {
  COVERS("DG1-EL-08");
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context first = bench.create("rcs0", 0x11);
  Context second = bench.create("rcs0", 0x11);
  bench.emit(first, bench.wait_for(data + 0x40, 1));
  bench.emit(first, ContextBench::store(data, 1));
  bench.emit(second, ContextBench::store(data, 2));
  bench.submit({&first, &second});
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.peek(data), 0u) << "the second image does not overtake the first";
  EXPECT_EQ(bench.statuses("rcs0").size(), 1u);
  bench.poke(data + 0x40, 1);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.peek(data), 2u);
  EXPECT_EQ(bench.statuses("rcs0"),
            (std::vector{bench.complete_to_element(first, second), bench.complete_to_idle(second)}));
  // The second image cannot signal the first.
  bench.emit(first, bench.wait_for(data + 0x80, 1));
  bench.emit(second, ContextBench::store(data + 0x80, 1));
  bench.submit({&first, &second});
  bench.device->advance(10'000'000);
  EXPECT_EQ(bench.peek(data + 0x80), 0u);
  // A fault of the first image blocks the second.
  ContextBench other(GetParam());
  const uint64_t page = other.allocate(1);
  Context faulting = other.create("rcs0", 0x12);
  Context blocked = other.create("rcs0", 0x12);
  other.map_process(faulting, 0x10'0000, page);
  other.emit(faulting, {0x1880'0101, 0x7000'0000, 0});
  other.emit(blocked, ContextBench::store(page, 1));
  other.submit({&faulting, &blocked});
  EXPECT_TRUE(other.device->settle());
  EXPECT_EQ(other.peek(page), 0u);
}

TEST(Execlist, DescriptorFieldsAreHonoured) {
  const uint32_t dwords[2] = {0x8765'4000 | 2u << 9 | 1u << 8 | 2u << 6 | 1u << 5 | 3u << 3 | 1u << 2 | 1u << 1 | 1u,
                              5u << 29 | 0x2bu << 23 | 0x35u << 16 | 0x5a5u << 5};
  for (const spec::GenId gen : {spec::GenId::gen11, spec::GenId::gen12}) {
    const auto descriptor = hw::CONTEXT_DESCRIPTOR::unpack(gen, dwords);
    EXPECT_TRUE(descriptor.valid);
    EXPECT_TRUE(descriptor.force_page_directory_restore);
    EXPECT_TRUE(descriptor.force_restore);
    EXPECT_EQ(descriptor.addressing_mode, hw::ContextAddressingMode::LEGACY_64B);
    EXPECT_TRUE(descriptor.l3_llc_coherency_support);
    EXPECT_EQ(static_cast<unsigned>(descriptor.fault_handling), 2u);
    EXPECT_TRUE(descriptor.privilege_access);
    EXPECT_EQ(descriptor.priority, 2u);
    EXPECT_EQ(descriptor.logical_ring_context_address.value, 0x8765'4000u);
    EXPECT_EQ(descriptor.sw_context_id, 0x5a5u);
    EXPECT_EQ(descriptor.engine_instance, 0x35u);
    EXPECT_EQ(descriptor.sw_counter, 0x2bu);
    EXPECT_EQ(descriptor.engine_class, 5u);
  }
  for (uint32_t mode = 0; mode < 4; ++mode) {
    const uint32_t low[2] = {mode << 3, 0};
    EXPECT_EQ(static_cast<uint32_t>(hw::CONTEXT_DESCRIPTOR::unpack(spec::GenId::gen12, low).addressing_mode), mode);
  }
}

TEST(Execlist, QueueAndPortSubmitTheSameWay) {
  COVERS("DG1-EL-10");
  for (const char* const chip : {"icl", "tgl", "dg1"}) {
    ContextBench bench(chip);
    const uint64_t data = bench.allocate(1);
    std::vector<Context> contexts;
    std::vector<uint64_t> descriptors;
    for (uint32_t i = 0; i < 8; ++i) {
      contexts.push_back(bench.create("rcs0", 0x40 + i));
      bench.emit(contexts[i], std::vector<uint32_t>(100, 0));
      bench.emit(contexts[i], ContextBench::store(data + 4 * i, i + 1));
      descriptors.push_back(bench.descriptor(contexts[i]));
    }
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus) & 1, 1u) << "no execlist is pending";
    bench.submit_raw("rcs0", descriptors);  // the queue: low then high dwords from 510 on, load by bit 0 of 550
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kSubmitQueue + 8), static_cast<uint32_t>(descriptors[1]));
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus) & 1, 0u);
    bench.device->advance(1000);
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus + 4), contexts[0].id);
    EXPECT_TRUE(bench.device->settle());
    for (uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.peek(data + 4 * i), i + 1);
    }
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus) & 0x8001, 0x8001u) << "idle, and no execlist is pending";
    std::vector<uint64_t> expected{bench.idle_to_active(contexts[0])};
    for (uint32_t i = 0; i + 1 < 8; ++i) {
      expected.push_back(bench.complete_to_element(contexts[i], contexts[i + 1]));
    }
    expected.push_back(bench.complete_to_idle(contexts[7]));
    EXPECT_EQ(bench.statuses("rcs0"), expected);
    // The old port: element 1 first, upper dwords first, the fourth write submits.
    bench.emit(contexts[0], ContextBench::store(data + 0x40, 9));
    bench.emit(contexts[1], ContextBench::store(data + 0x40, 10));
    for (const Context* const context : {&contexts[1], &contexts[0]}) {
      EXPECT_TRUE(bench.device->settle());
      EXPECT_EQ(bench.peek(data + 0x40), 0u);
      bench.set_reg("rcs0", ContextBench::kPort, static_cast<uint32_t>(bench.descriptor(*context) >> 32));
      bench.set_reg("rcs0", ContextBench::kPort, static_cast<uint32_t>(bench.descriptor(*context)));
    }
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data + 0x40), 10u);
    EXPECT_EQ(bench.statuses("rcs0"),
              (std::vector{bench.idle_to_active(contexts[0]), bench.complete_to_element(contexts[0], contexts[1]),
                           bench.complete_to_idle(contexts[1])}));
  }
}

// Gen8 shows the state of both lists; simulator clients poll single bits.
TEST(Execlist, StatusShowsBothLists) {
  for (const char* const chip : {"bdw", "chv", "skl"}) {
    ContextBench bench(chip);
    const uint64_t data = bench.allocate(1);
    Context first = bench.create("rcs0", 0x31);
    Context second = bench.create("rcs0", 0x32);
    bench.emit(first, std::vector<uint32_t>(400, 0));
    bench.emit(first, ContextBench::store(data, 1));
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus) & 0x1c, 0u);
    bench.submit({&first});
    bench.device->advance(1500);
    const uint32_t running = bench.reg("rcs0", ContextBench::kListStatus);
    EXPECT_EQ(running & 0x10, 0x10u) << "execlist 0 is valid";
    EXPECT_EQ(running & 0xc000, 0x4000u) << "element 0 runs";
    EXPECT_EQ(running & 4, 0u);
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus + 4), first.id);
    bench.submit({&second});
    EXPECT_EQ(bench.reg("rcs0", ContextBench::kListStatus) & 0x1c, 0x1cu)
        << "both lists are valid and the queue is full";
    EXPECT_TRUE(bench.device->settle());
    const uint32_t idle = bench.reg("rcs0", ContextBench::kListStatus);
    EXPECT_EQ(idle & 0x100, 0x100u) << "last switch: active to idle";
    EXPECT_EQ(idle & 0xc01c, 0u);
  }
}

// CTX_TIMESTAMP counts only while the context is on the engine.
TEST_P(ExeclistTest, ContextTimestampStopsWithTheContext) {
  ContextBench bench(GetParam());
  Context context = bench.create("rcs0", 8);
  bench.set_image(context, ContextBench::kImageTime, 1000);
  const auto run = [&] {
    bench.emit(context, std::vector<uint32_t>(800, 0));
    bench.run(context);
    return bench.image(context, ContextBench::kImageTime);
  };
  const uint64_t hz = bench.model.timestamp_hz;
  const uint32_t first = run() - 1000;
  EXPECT_GE(first, 8000 * hz / 1'000'000'000) << "800 commands of 10 ns";
  EXPECT_LE(first, 12000 * hz / 1'000'000'000);
  bench.device->advance(50'000'000);
  EXPECT_EQ(bench.reg("rcs0", ContextBench::kContextTime), 1000 + first) << "no context runs";
  const uint32_t second = run() - first - 1000;
  EXPECT_GE(second, first - 2);
  EXPECT_LE(second, first + 2);
}

INSTANTIATE_TEST_SUITE_P(Chips, ExeclistTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
