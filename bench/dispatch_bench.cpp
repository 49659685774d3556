// A dispatch on one and on several host threads: a matrix product with independent groups, and a histogram in which all
// groups conflict. The kernels are Gen9 code that is assembled here.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "compute/commands.h"
#include "compute/dispatcher.h"
#include "eu/isa/assembler.h"
#include "memory/page_format.h"
#include "spec/device_model.h"

namespace {

using namespace halogen;

constexpr uint64_t kBytes = 16 << 20, kTables = 12 << 20, kVa = 0x7654'0000'0000;
constexpr uint32_t kStates = 0x1000, kCode = 0x2000, kDescriptor = 0x3000, kConstants = 0x4000;
constexpr uint32_t kA = 0x10'0000, kB = 0x20'0000, kC = 0x30'0000;
constexpr uint32_t kThreads = 16, kSize = 256;

class NoFaults final : public memory::FaultHandler {
 public:
  memory::FaultAction on_fault(const memory::Fault&) override { return memory::FaultAction::skip; }
};

// A group computes a row, and a thread computes 16 columns: C[row][x] = sum of A[row][k] * B[k][x].
constexpr std::string_view kProduct = R"(
    (W) mov (8|M0) r2.0<1>:uw 0x76543210:v
    (W) shl (1|M0) r3.0<1>:ud r0.1<0;1,0>:ud 0xa:ud
    (W) shl (1|M0) r3.1<1>:ud r1.0<0;1,0>:ud 0x6:ud
    (W) mov (8|M0) r4.0<1>:ud r2.0<8;8,1>:uw
    (W) add (8|M0) r5.0<1>:ud r4.0<8;8,1>:ud 0x8:ud
    (W) shl (16|M0) r4.0<1>:ud r4.0<8;8,1>:ud 0x2:ud
    (W) add (16|M0) r4.0<1>:ud r4.0<8;8,1>:ud r3.1<0;1,0>:ud
    (W) add (16|M0) r20.0<1>:ud r4.0<8;8,1>:ud r3.0<0;1,0>:ud
    (W) mov (8|M0) r6.0<1>:ud r3.0<0;1,0>:ud
    (W) mov (16|M0) r22.0<1>:f 0.0:f
    (W) mov (1|M0) r3.2<1>:ud 0x0:ud
L1:
    (W) send.dc1 (8|M0) r8 r6 0x0 0x02106e00
    (W) send.dc1 (16|M0) r10 r4 0x0 0x04205e01
    mul (16|M0) r12.0<1>:f r10.0<8;8,1>:f r8.0<0;1,0>:f
    add (16|M0) r22.0<1>:f r22.0<8;8,1>:f r12.0<8;8,1>:f
    (W) add (8|M0) r6.0<1>:ud r6.0<8;8,1>:ud 0x4:ud
    (W) add (16|M0) r4.0<1>:ud r4.0<8;8,1>:ud 0x400:ud
    (W) add (1|M0) r3.2<1>:ud r3.2<0;1,0>:ud 0x1:ud
    (W) cmp (16|M0) (lt)f0.0 null:ud r3.2<0;1,0>:ud 0x100:ud
    (f0.0) while (16|M0) L1
    (W) send.dc1 (16|M0) null r20 0x0 0x08025e02
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null r127 0x0 0x02000010 {EOT}
)";
// Sixteen atomic additions per loop iteration, on 16 words.
constexpr std::string_view kHistogram = R"(
    (W) mov (8|M0) r2.0<1>:uw 0x76543210:v
    (W) mov (8|M0) r4.0<1>:ud r2.0<8;8,1>:uw
    (W) shl (8|M0) r4.0<1>:ud r4.0<8;8,1>:ud 0x2:ud
    (W) mov (8|M0) r5.0<1>:ud 0x1:ud
    (W) mov (1|M0) r3.2<1>:ud 0x0:ud
L1:
    (W) send.dc1 (8|M0) r8 r4 0x0 0x0410b702
    (W) add (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud r8.0<8;8,1>:ud
    (W) add (1|M0) r3.2<1>:ud r3.2<0;1,0>:ud 0x1:ud
    (W) cmp (8|M0) (lt)f0.0 null:ud r3.2<0;1,0>:ud 0x20:ud
    (f0.0) while (8|M0) L1
    (W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null r127 0x0 0x02000010 {EOT}
)";

class DispatchBench {
 public:
  explicit DispatchBench(std::string_view text) {
    memory_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, kBytes, &frames_});
    memory::WalkContext context;
    context.format = formats_.find(memory::WalkMode::legacy48);
    context.roots[0] = kTables;
    const uint64_t indices[] = {kVa >> 39 & 511, kVa >> 30 & 511};
    for (uint64_t level = 0; level < 2; ++level) {
      put<uint64_t>(kTables + level * 4096 + indices[level] * 8, (kTables + (level + 1) * 4096) | 3);
    }
    for (uint64_t table = 0; table < 4; ++table) {  // 8 MB
      put<uint64_t>(kTables + 2 * 4096 + ((kVa >> 21 & 511) + table) * 8, (kTables + (3 + table) * 4096) | 3);
      for (uint64_t page = 0; page < 512; ++page) {
        put<uint64_t>(kTables + (3 + table) * 4096 + page * 8, (table * 512 + page) * 4096 | 3);
      }
    }
    space_.load(context);
    bases_.surface = kVa + kStates;
    bases_.dynamic = kVa;
    bases_.instruction = kVa + kCode;
    settings_.max_threads = 447;
    settings_.descriptors_offset = kDescriptor;
    settings_.descriptors_B = 32;
    settings_.constants_offset = kConstants;
    settings_.constants_B = kThreads * 32;
    uint32_t surface = 0;
    for (const uint32_t at : {kA, kB, kC}) {
      put<uint32_t>(kStates + surface * 4, 0x100 + surface * 64);
      const uint32_t last = 0x4'0000 - 1;
      const uint32_t state[10] = {0x87fd'4000,
                                  0,
                                  (last & 0x7f) | (last >> 7 & 0x3fff) << 16,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  static_cast<uint32_t>(kVa + at),
                                  static_cast<uint32_t>(kVa >> 32)};
      std::memcpy(bytes_.data() + kStates + 0x100 + surface * 64, state, sizeof(state));
      ++surface;
    }
    for (uint32_t i = 0; i < kThreads; ++i) put<uint32_t>(kConstants + i * 32, i);
    for (uint32_t i = 0; i < kSize * kSize; ++i) {
      put<float>(kA + i * 4, static_cast<float>(i % 7));
      put<float>(kB + i * 4, static_cast<float>(i % 5));
    }
    const auto code = eu::assemble(model_.gen, text);
    if (!code) {
      fmt::print(stderr, "{}\n", code.message());
      std::abort();
    }
    std::memcpy(bytes_.data() + kCode, code->data(), code->size());
    const uint32_t descriptor[8] = {0, 0, 0, 0, 0, 1u << 16, kThreads, 0};
    std::memcpy(bytes_.data() + kDescriptor, descriptor, sizeof(descriptor));
  }
  uint64_t run(WorkerPool& pool, uint32_t groups) {
    dispatcher_.set_pool(&pool);
    compute::Walk walk;
    const std::vector<uint32_t> command = {0x7105'000d, 0, 0,      0,  1u << 30 | (kThreads - 1), 0, 0, groups, 0, 0, 1,
                                           0,           1, 0xffff, ~0u};
    compute::make_job(generation_, settings_, bases_, command, nullptr, space_, walk.job);
    bool first = true;
    while (dispatcher_.run(generation_, settings_, walk, space_, first).stop == compute::Stop::unfinished) {
      first = false;
    }
    return walk.instructions;
  }

 private:
  template <class T>
  void put(uint64_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kBytes);
  memory::FlatFrames frames_{bytes_};
  memory::PhysicalMemory memory_;
  const spec::DeviceModel& model_ = *spec::find_device("skl");
  Generation generation_{model_};
  memory::PageFormats formats_{*spec::find_device("dg1"), 39};
  NoFaults faults_;
  memory::Tlb tlb_{1024};
  memory::AddressSpace space_{memory_, tlb_, 3, faults_};
  compute::Settings settings_;
  message::StateBases bases_;
  eu::KernelLibrary kernels_{model_.gen};
  compute::Dispatcher dispatcher_{kernels_};
};

void dispatch(benchmark::State& state, std::string_view text, uint32_t groups) {
  DispatchBench machine(text);
  WorkerPool pool(static_cast<unsigned>(state.range(0)));
  uint64_t instructions = 0;
  for (auto _ : state) instructions += machine.run(pool, groups);
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

BENCHMARK_CAPTURE(dispatch, matrix_product, kProduct, kSize)
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(dispatch, histogram, kHistogram, 64u)->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace

BENCHMARK_MAIN();
