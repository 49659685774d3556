// Costs of contexts on execlist engines: a preemption and the switch back, and many contexts on five engines at once,
// where the cost of a context must not grow with their number.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/flat_host.h"
#include "ratios.h"

namespace {

using namespace halogen;

constexpr uint64_t kPage = 4096;
constexpr uint32_t kBatchEnd = 0x0500'0000;
constexpr uint32_t kArbCheck = 0x0280'0000;
constexpr uint32_t kBatchStart = 0x1880'0101;  // in the per-process tables, three dwords
constexpr uint64_t kQueue = 8;                 // elements of a submit queue
constexpr uint64_t kEngines = 5;               // render, blit, two video engines, video enhancement

// A DG1 with contexts in system memory. A context has a status page, an image, a ring, a root table and a batch. All
// contexts share the lower tables, which map all memory at its own address.
class ContextBench {
 public:
  static constexpr uint64_t kPages = 6;  // of a context: status page, image (two), ring, table, batch
  static constexpr uint64_t kFirst = 0x80'0000;

  struct Context {
    uint64_t at = 0;
    uint32_t engine = 0;  // base of the engine's registers
    uint64_t descriptor = 0;
    uint32_t tail = 0;

    uint64_t image() const { return at + kPage; }
    uint64_t ring() const { return at + 3 * kPage; }
    uint64_t table() const { return at + 4 * kPage; }
    uint64_t batch() const { return at + 5 * kPage; }
    uint64_t data() const { return at + 0xf00; }  // in the status page, at an offset that the engine does not write
  };

  explicit ContextBench(uint64_t count)
      : host(kFirst + count * kPages * kPage), bytes_(kFirst + count * kPages * kPage) {
    device::DeviceOptions options;
    options.power_gating = false;
    options.local_tables = false;
    device = std::move(device::Device::create(model(), host, options).value());
    device->config_write(4, 2, 6);  // memory decode and bus mastering
    for (uint64_t page = 0; page < bytes_ / kPage; ++page) {
      device->bar_write(0, model().gtt_offset + 8 * page, 8, page * kPage | 1);
    }
    build_tables();
    uint64_t status_page = 0x1000;
    for (const spec::EngineModel& engine : model().engines) {
      write(engine.mmio_base, 0x80, static_cast<uint32_t>(status_page));
      write(engine.mmio_base, 0x29c, 0x0008'0008);  // disables the legacy ring
      status_page += kPage;
    }
    contexts.resize(count);
    for (uint64_t number = 0; number < count; ++number) {
      build(contexts[number], number);
    }
  }

  static const spec::DeviceModel& model() { return *spec::find_device("dg1"); }

  void write(uint32_t base, uint32_t offset, uint32_t value) { device->bar_write(0, base + offset, 4, value); }

  // Appends the batch to the ring once more.
  void ask(Context& context) {
    const uint32_t dwords[] = {kBatchStart, static_cast<uint32_t>(context.batch()), 0, 0};
    for (const uint32_t dword : dwords) {
      host.put(context.ring() + context.tail, dword);
      context.tail = (context.tail + 4) % kPage;
    }
    host.put(context.image() + 7 * 4, context.tail);
  }

  void submit(uint32_t base, const std::vector<uint64_t>& descriptors) {
    for (uint32_t element = 0; element < kQueue; ++element) {
      const uint64_t descriptor = element < descriptors.size() ? descriptors[element] : 0;
      write(base, 0x510 + 8 * element, static_cast<uint32_t>(descriptor));
      write(base, 0x514 + 8 * element, static_cast<uint32_t>(descriptor >> 32));
    }
    write(base, 0x550, 1);
  }

  bool busy() {
    for (unsigned number = 0; number < kEngines; ++number) {
      if (device->engines().engine(number).busy()) return true;
    }
    return false;
  }

  void put_batch(const Context& context, const std::vector<uint32_t>& commands) {
    host.write_memory(PhysAddr{context.batch()}, std::as_bytes(std::span(commands)));
  }

  device::FlatHost host;
  std::unique_ptr<device::Device> device;
  std::vector<Context> contexts;

 private:
  static constexpr uint64_t kPointers = 0x10'0000, kDirectory = 0x10'1000, kTables = 0x10'2000;

  void build_tables() {
    host.put<uint64_t>(kPointers, kDirectory | 3);
    for (uint64_t page = 0; page < bytes_ / kPage; ++page) {
      const uint64_t table = kTables + page / 512 * kPage;
      if (page % 512 == 0) host.put<uint64_t>(kDirectory + page / 512 * 8, table | 3);
      host.put<uint64_t>(table + page % 512 * 8, page * kPage | 3);
    }
  }

  void load(const Context& context, uint64_t dword, const std::vector<uint32_t>& offsets) {
    host.put<uint32_t>(context.image() + dword * 4, 0x1108'1000 | static_cast<uint32_t>(2 * offsets.size() - 1));
    for (const uint32_t offset : offsets) {
      host.put<uint32_t>(context.image() + ++dword * 4, offset);
      host.put<uint32_t>(context.image() + ++dword * 4, 0);
    }
  }

  void build(Context& context, uint64_t number) {
    const spec::EngineModel& engine = model().engines[number % kEngines];
    context.at = kFirst + number * kPages * kPage;
    context.engine = engine.mmio_base;
    // A valid descriptor with 48-bit tables of the context. Context IDs start at one and wrap.
    context.descriptor = (number % 0x7f0 + 1) << 37 | uint64_t{engine.instance} << 48 | context.at | 0x119;
    load(context, 0x01, {0x244, 0x34, 0x30, 0x38, 0x3c, 0x168, 0x140, 0x110, 0x1c0, 0x1c4, 0x1c8, 0x180, 0x2b4});
    load(context, 0x21, {0x3a8, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, 0x270});
    host.put<uint32_t>(context.image() + 0x03 * 4, 0xffff'0009);  // no engine context, no switch on waits
    host.put<uint32_t>(context.image() + 0x09 * 4, static_cast<uint32_t>(context.ring()));
    host.put<uint32_t>(context.image() + 0x0b * 4, 1);
    host.put<uint32_t>(context.image() + 0x33 * 4, static_cast<uint32_t>(context.table()));
    host.put<uint64_t>(context.table(), kPointers | 3);
    // Increments a dword in memory: R0 = memory, R1 = 1, R0 += R1, memory = R0.
    const auto data = static_cast<uint32_t>(context.data());
    put_batch(context, {0x1488'0002, 0x600, data, 0,                                      //
                        0x1108'0003, 0x608, 1, 0x60c, 0,                                  //
                        0x0d00'0003, 0x0800'8000, 0x0800'8401, 0x1000'0000, 0x1800'0031,  //
                        0x1208'0002, 0x600, data, 0, kBatchEnd});
  }

  uint64_t bytes_;
};

// Two endless contexts with preemption points. Each submission preempts one with the other.
void round_trip(benchmark::State& state) {
  ContextBench machine(6);
  ContextBench::Context& one = machine.contexts[0];
  ContextBench::Context& other = machine.contexts[kEngines];
  for (ContextBench::Context* const context : {&one, &other}) {
    std::vector<uint32_t> loop(16, kArbCheck);
    loop.insert(loop.end(), {kBatchStart, static_cast<uint32_t>(context->batch()), 0});
    machine.put_batch(*context, loop);
    machine.ask(*context);
  }
  const auto runs = [&](const ContextBench::Context& context) {
    return (machine.device->bar_read(0, context.engine + 0x180, 4) & ~0xfffull) == context.at;  // CCID
  };
  const auto change = [&](const ContextBench::Context& to) {
    machine.submit(to.engine, {to.descriptor});
    while (!runs(to)) machine.device->advance(200);
  };
  change(one);
  const uint64_t began = machine.device->clock().nanoseconds;
  for (auto _ : state) {
    change(other);
    change(one);
  }
  state.counters["virtual_ns"] =
      static_cast<double>(machine.device->clock().nanoseconds - began) / static_cast<double>(state.iterations());
  if (machine.host.events != 0) std::abort();
}

// Each iteration submits a full queue to every engine, taken from all contexts in turn.
void schedule(benchmark::State& state, uint64_t count) {
  ContextBench machine(count);
  const uint64_t each = count / kEngines;
  uint64_t next = 0;
  uint64_t turns = 0;
  std::vector<uint64_t> descriptors(kQueue);
  const uint64_t began = machine.device->clock().nanoseconds;
  for (auto _ : state) {
    for (uint64_t engine = 0; engine < kEngines; ++engine) {
      for (uint64_t element = 0; element < kQueue; ++element) {
        ContextBench::Context& context = machine.contexts[(next + element) % each * kEngines + engine];
        machine.ask(context);
        descriptors[element] = context.descriptor;
      }
      machine.submit(ContextBench::model().engines[engine].mmio_base, descriptors);
    }
    while (machine.busy()) machine.device->advance(2000);
    next = (next + kQueue) % each;
    ++turns;
  }
  uint64_t runs = 0;
  for (const ContextBench::Context& context : machine.contexts) runs += machine.host.get<uint32_t>(context.data());
  if (runs != turns * kQueue * kEngines || machine.host.events != 0) std::abort();
  state.SetItemsProcessed(static_cast<int64_t>(runs));
  state.counters["virtual_ns"] = static_cast<double>(machine.device->clock().nanoseconds - began) *
                                 static_cast<double>(kEngines) / static_cast<double>(runs);
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->Repetitions(3)->MinTime(0.3);
  };
  add("round_trip", round_trip);
  for (const uint64_t count : {100u, 1000u, 10'000u}) add("schedule_" + std::to_string(count), schedule, count);
  return bench::run(argc, argv, {{"schedule_10000", "schedule_1000"}, {"schedule_1000", "schedule_100"}});
}
