// The lower half of the driver on every chip: work is submitted through rings or execlists and completes in order, by
// priority and after its dependencies; a hung request is removed.
#include "driver/hw/gpu.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "base/event.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kBatch = 0x40'0000;
constexpr uint64_t kData = 0x50'0000;

class GpuTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    HardwareOptions options;
    options.memory_bytes = uint64_t{1} << 30;
    options.events = &log;
    if (spec::find_device(GetParam())->gtt_bytes > 0x20'0000) options.device.gtt_bytes = 0x20'0000;  // quicker to clear
    auto started = Gpu::start(*spec::find_device(GetParam()), options);
    ASSERT_TRUE(started.ok()) << started.message();
    gpu = std::move(started).value();
    data = *gpu->hardware().allocate(kPageBytes);
  }

  // An address space with one page for a batch and one for data.
  struct Space {
    std::shared_ptr<PageTables> tables;
    uint64_t batch = kBatch;
    PageRun page;
  };
  Space make_space() {
    Space space;
    space.page = *gpu->hardware().allocate(kPageBytes);
    space.batch += next_ * 0x1'0000;
    ++next_;
    space.tables = gpu->shares_space() ? gpu->shared_tables() : std::shared_ptr(make_own_tables(gpu->hardware()));
    EXPECT_TRUE(space.tables->map(space.batch, space.page));
    EXPECT_TRUE(space.tables->map(kData, data));
    return space;
  }
  // MI_STORE_DATA_IMM to the data page: through the tables that the batch came from.
  std::vector<uint32_t> store(uint32_t offset, uint32_t value) const {
    const bool narrow = gpu->hardware().entry_bytes() == 4;
    const bool global = !gpu->hardware().has(spec::Feature::ppgtt_2level) && narrow;
    const auto address = static_cast<uint32_t>(kData + offset);
    return narrow ? std::vector<uint32_t>{0x1000'0002u | (global ? 1u << 22 : 0), 0, address, value}
                  : std::vector<uint32_t>{0x1000'0002, address, 0, value};
  }
  void write(const Space& space, std::vector<uint32_t> commands) {
    commands.push_back(0x0500'0000);  // MI_BATCH_BUFFER_END
    for (size_t i = 0; i < commands.size(); ++i) gpu->hardware().store(space.page, i * 4, commands[i]);
  }
  // Writes a batch that jumps to itself forever.
  void write_endless(const Space& space) {
    const auto address = static_cast<uint32_t>(space.batch);
    const bool narrow = gpu->hardware().entry_bytes() == 4;
    const std::vector<uint32_t> jump =
        narrow ? std::vector<uint32_t>{0x1880'0180, address} : std::vector<uint32_t>{0x1880'0101, address, 0};
    for (size_t i = 0; i < jump.size(); ++i) gpu->hardware().store(space.page, i * 4, jump[i]);
  }
  RequestRef request(const std::shared_ptr<EngineContext>& context, const Space& space) {
    auto made = std::make_shared<Request>();
    made->context = context;
    made->batch = space.batch;
    // The first chips drop stores of non-privileged batches.
    made->secure = gpu->shares_space() && !gpu->hardware().has(spec::Feature::ppgtt_2level);
    return made;
  }
  bool finish(const RequestRef& request) {
    for (int i = 0; i < 1000 && !request->done; ++i) gpu->work(10'000);
    return request->done;
  }
  uint32_t value(uint32_t offset) const { return gpu->hardware().load<uint32_t>(data, offset); }

  EventLog log;
  std::unique_ptr<Gpu> gpu;
  PageRun data;
  uint64_t next_ = 0;
};

TEST_P(GpuTest, EveryEngineExecutesRequests) {
  std::vector<RequestRef> all;
  uint32_t number = 0;
  for (const auto& queue : gpu->queues()) {
    if (queue->engine().engine_class == spec::EngineClass::video && gpu->shares_space() &&
        !gpu->hardware().has(spec::Feature::ppgtt_2level)) {
      continue;  // its stores have another format
    }
    const Space space = make_space();
    write(space, store(8 * number, 0x100 + number));
    const auto context = queue->make_context(space.tables);
    ASSERT_NE(context, nullptr);
    all.push_back(request(context, space));
    queue->add(all.back());
    ++number;
  }
  gpu->update();
  for (uint32_t i = 0; i < number; ++i) {
    EXPECT_TRUE(finish(all[i])) << i;
    EXPECT_EQ(value(8 * i), 0x100 + i);
  }
  EXPECT_TRUE(gpu->idle());
  for (const Event& event : log.events()) ADD_FAILURE() << event.to_string();
}

TEST_P(GpuTest, RequestsWaitForFencesInOrder) {
  EngineQueue& queue = *gpu->queues().front();
  const Space first = make_space();
  const Space second = make_space();
  write(first, store(0, 1));
  write(second, store(0, 2));
  const auto context = queue.make_context(first.tables);
  EXPECT_TRUE(first.tables->map(second.batch, second.page));
  const auto gate = std::make_shared<Fence>();
  const RequestRef held = request(context, first);
  held->waits.push_back(gate);
  const RequestRef after = request(context, second);
  queue.add(held);
  queue.add(after);
  gpu->update();
  gpu->work(100'000);
  EXPECT_FALSE(held->done);
  EXPECT_FALSE(after->done) << "same context: not before the waiting request";
  EXPECT_EQ(value(0), 0u);
  gate->done = true;
  gpu->update();
  EXPECT_TRUE(finish(after));
  EXPECT_TRUE(held->done);
  EXPECT_EQ(value(0), 2u);
}

TEST_P(GpuTest, RequestsWrapTheRing) {
  EngineQueue& queue = *gpu->queues().front();
  const Space space = make_space();
  write(space, store(4, 7));
  const auto context = queue.make_context(space.tables);
  std::vector<RequestRef> all;
  // More than a ring holds; rings of contexts are smaller than rings of engines.
  const int count = Generation(*spec::find_device(GetParam())).has_execlists() ? 700 : 4500;
  for (int i = 0; i < count; ++i) {
    all.push_back(request(context, space));
    queue.add(all.back());
  }
  gpu->update();
  EXPECT_TRUE(finish(all.back()));
  unsigned rounds = 0;
  uint64_t before = 0;
  for (const RequestRef& each : all) {
    EXPECT_TRUE(each->done);
    rounds += each->start < before;
    before = each->start;
  }
  EXPECT_GE(rounds, 1u) << "the ring wraps";
  EXPECT_EQ(value(4), 7u);
}

TEST_P(GpuTest, HungRequestIsRemoved) {
  EngineQueue& queue = *gpu->queues().front();
  const Space bad = make_space();
  const Space good = make_space();
  write_endless(bad);
  write(good, store(12, 9));
  const RequestRef hung = request(queue.make_context(bad.tables), bad);
  const RequestRef other = request(queue.make_context(good.tables), good);
  queue.add(hung);
  queue.add(other);
  gpu->update();
  gpu->work(200'000);
  EXPECT_FALSE(hung->done);
  EXPECT_EQ(queue.current(), hung);
  queue.recover(-EIO);
  EXPECT_TRUE(hung->done);
  EXPECT_EQ(hung->error, -EIO);
  EXPECT_TRUE(finish(other));
  EXPECT_EQ(other->error, 0);
  EXPECT_EQ(value(12), 9u);
}

std::vector<std::string> chips() {
  std::vector<std::string> all;
  for (const spec::DeviceModel& model : spec::device_models()) all.emplace_back(model.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Chips, GpuTest, ::testing::ValuesIn(chips()), [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::driver
