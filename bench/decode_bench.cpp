// Decode throughput: framing of a long batch, framing with all fields printed, and a large AUB trace, compared with
// memcpy of the same bytes.
#include <cstring>
#include <random>
#include <variant>
#include <vector>

#include "decode/decoder.h"
#include "decode/memory_image.h"
#include "ratios.h"
#include "spec/command_table.h"
#include "spec/field_visitor.h"
#include "trace/aub_reader.h"

namespace {

using namespace halogen;

constexpr size_t kBatchBytes = size_t{64} << 20;
constexpr uint32_t kMiNoop = 0;
constexpr uint32_t kMiBatchBufferEnd = 0x0a << 23;
constexpr uint32_t kMiStoreDataImm = (0x20 << 23) | 2;
constexpr uint32_t kMiLoadRegisterImm = (0x22 << 23) | 1;
constexpr uint32_t kPipeControl = 0x7a00'0004;

const spec::DeviceModel& device() {
  return *spec::find_device("skl");
}

// Returns a batch like those of drivers: stores, register loads and pipe controls, with some padding.
const std::vector<uint32_t>& batch() {
  static const std::vector<uint32_t> kBatch = [] {
    std::vector<uint32_t> dwords;
    dwords.reserve(kBatchBytes / 4);
    std::mt19937 engine(1);
    const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
    while (dwords.size() < kBatchBytes / 4 - 16) {
      switch (random() % 4) {
        case 0:
          dwords.insert(dwords.end(), {kMiStoreDataImm, 0x1000, 0, random() & 0xffff});
          break;
        case 1:
          dwords.insert(dwords.end(), {kMiLoadRegisterImm, 0x2600, random() & 0xffff});
          break;
        case 2:
          dwords.insert(dwords.end(), {kPipeControl, 0x0010'0000, 0, 0, 0, 0});
          break;
        default:
          dwords.push_back(kMiNoop);
      }
    }
    dwords.push_back(kMiBatchBufferEnd);
    return dwords;
  }();
  return kBatch;
}

void copy_batch(benchmark::State& state) {
  std::vector<uint32_t> target(batch().size());
  for (auto _ : state) {
    std::memcpy(target.data(), batch().data(), batch().size() * 4);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(batch().size() * 4) * state.iterations());
}

void frame_batch(benchmark::State& state) {
  decode::FlatImage image;
  image.add(GpuVa(0x1'0000), batch().size() * 4, batch());
  for (auto _ : state) {
    decode::Decoder decoder(device(), spec::EngineClass::render, image, nullptr);
    decoder.walk({.space = engine::StreamSpace::ppgtt, .address = GpuVa(0x1'0000)}, false);
    benchmark::DoNotOptimize(decoder.counts().commands);
  }
  state.SetBytesProcessed(static_cast<int64_t>(batch().size() * 4) * state.iterations());
}

void format_commands(benchmark::State& state) {
  const auto& table = spec::CommandTable::get(device().id, spec::EngineClass::render);
  const std::vector<uint32_t> dwords{kPipeControl, 0x0010'0000, 0, 0, 0, 0};
  const spec::CommandDesc& desc = *table.find(dwords[0]);
  for (auto _ : state) {
    benchmark::DoNotOptimize(spec::format_fields(desc, device().gen, dwords, "  "));
  }
  state.SetItemsProcessed(state.iterations());
}

// Returns a trace of page-sized memory writes.
const std::vector<std::byte>& trace_bytes() {
  static const std::vector<std::byte> kTrace = [] {
    constexpr uint32_t kPage = 4096;
    constexpr size_t kRecords = kBatchBytes / kPage;
    std::vector<uint32_t> dwords{0xf70e'0005, 0, 0x1004'0c00, 0, 0, 0};  // the version record of a Skylake trace
    for (size_t i = 0; i < kRecords; ++i) {
      const auto address = static_cast<uint32_t>(i * kPage);
      dwords.insert(dwords.end(), {0xf706'0000 + 4 + kPage / 4, address, 0, 2u << 28, kPage});
      dwords.resize(dwords.size() + kPage / 4, address);
    }
    std::vector<std::byte> bytes(dwords.size() * 4);
    std::memcpy(bytes.data(), dwords.data(), bytes.size());
    return bytes;
  }();
  return kTrace;
}

class CountBytes final : public trace::aub::Visitor {
 public:
  void on(const trace::aub::Place&, const trace::aub::Record& record) override {
    if (const auto* write = std::get_if<trace::aub::MemoryWrite>(&record)) {
      bytes += write->data.size();
    }
  }
  size_t bytes = 0;
};

void copy_trace(benchmark::State& state) {
  std::vector<std::byte> target(trace_bytes().size());
  for (auto _ : state) {
    std::memcpy(target.data(), trace_bytes().data(), trace_bytes().size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(trace_bytes().size()) * state.iterations());
}

void read_trace(benchmark::State& state) {
  for (auto _ : state) {
    const auto source = trace::open_memory(trace_bytes());
    trace::aub::Reader reader(*source, "memory");
    CountBytes count;
    const auto done = reader.read_all(count);
    if (!done || count.bytes != kBatchBytes) {
      state.SkipWithError(done ? fmt::format("{} bytes came back", count.bytes).c_str() : done.message().c_str());
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(trace_bytes().size()) * state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const char* name, auto function) {
    benchmark::RegisterBenchmark(name, function)->Repetitions(3)->MinTime(0.3)->Unit(benchmark::kMillisecond);
  };
  add("memcpy_batch", copy_batch);
  add("frame_batch", frame_batch);
  add("format_pipe_control", format_commands);
  add("memcpy_trace", copy_trace);
  add("read_trace", read_trace);
  return halogen::bench::run(argc, argv, {{"frame_batch", "memcpy_batch"}, {"read_trace", "memcpy_trace"}});
}
