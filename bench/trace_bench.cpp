// Traces on the device: a whole trace of Intel's OpenCL driver from its bytes to an idle engine, and large memory
// records into existing pages, compared with memcpy of the same bytes.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ratios.h"
#include "trace/aub_reader.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace {

using namespace halogen;
namespace fs = std::filesystem;

constexpr size_t kBytes = size_t{64} << 20;

fs::path data_folder() {
  const char* const given = std::getenv("HALOGEN_DATA");
  return given != nullptr ? fs::path(given) : fs::path("../shared/data");
}

std::vector<std::byte> unpacked(const fs::path& path) {
  auto source = trace::open_file(path);
  if (!source) return {};
  auto content = trace::read_rest(**source, 0, size_t{1} << 30, path.string());
  if (!content) return {};
  const auto bytes = content->as_bytes();
  return {bytes.begin(), bytes.end()};
}

void play_whole(benchmark::State& state, const std::vector<std::byte>& bytes) {
  for (auto _ : state) {
    const auto source = trace::open_memory(bytes);
    trace::aub::Reader reader(*source, "memory");
    trace::Player player;
    const auto done = reader.read_all(player);
    if (!done || !player.failure().empty()) state.SkipWithError("trace playback failed");
  }
}

// Returns a trace of writes of one size.
std::vector<std::byte> writes_of(size_t record) {
  trace::MemorySink sink;
  trace::aub::Writer writer(sink);
  writer.open(*spec::find_device("icl"), "bench");
  std::vector<std::byte> data(record, std::byte{0x5a});
  for (size_t at = 0; at + record <= kBytes; at += record) {
    writer.write(trace::aub::MemoryWrite{at, false, false, trace::aub::Tiling::none, 0, trace::aub::MemorySpace::system,
                                         data, data.size()});
  }
  return {sink.bytes().begin(), sink.bytes().end()};
}

void play_writes(benchmark::State& state, const std::vector<std::byte>& bytes, trace::aub::Writer* copy) {
  trace::Player player;
  if (copy != nullptr) player.record_to(copy);
  const auto play = [&] {
    const auto source = trace::open_memory(bytes);
    trace::aub::Reader reader(*source, "memory");
    if (!reader.read_all(player)) state.SkipWithError("trace playback failed");
  };
  play();  // creates the pages
  for (auto _ : state) play();
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size()) * state.iterations());
}

void copy_bytes(benchmark::State& state, const std::vector<std::byte>& bytes) {
  std::vector<std::byte> target(bytes.size());
  for (auto _ : state) {
    std::memcpy(target.data(), bytes.data(), bytes.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size()) * state.iterations());
}

struct Nowhere final : trace::ByteSink {
  Result<void> write(std::span<const std::byte> bytes) override {
    total += bytes.size();
    return {};
  }
  Result<void> flush() override { return {}; }
  size_t total = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::string& name, auto function) {
    benchmark::RegisterBenchmark(name.c_str(), function)->Repetitions(3)->Iterations(10)->Unit(benchmark::kMillisecond);
  };
  for (const char* name : {"bdw_1x3x8_0_ocl", "icllp_1x8x8_0_ocl", "tgllp_1x6x16_0_ocl", "dg1_1x6x16_0_ocl"}) {
    const fs::path path = data_folder() / "aub" / (std::string(name) + ".aub.xz");
    if (!fs::exists(path)) continue;
    add(std::string("play_") + name, [bytes = unpacked(path)](benchmark::State& state) { play_whole(state, bytes); });
  }
  const std::vector<std::byte> large = writes_of(256 * 1024 - 4096);
  const std::vector<std::byte> pages = writes_of(4096);
  add("memcpy_trace", [&](benchmark::State& state) { copy_bytes(state, large); });
  add("play_large_records", [&](benchmark::State& state) { play_writes(state, large, nullptr); });
  add("play_page_records", [&](benchmark::State& state) { play_writes(state, pages, nullptr); });
  Nowhere nowhere;
  trace::aub::Writer writer(nowhere);
  add("play_and_record_large", [&](benchmark::State& state) { play_writes(state, large, &writer); });
  return halogen::bench::run(argc, argv,
                             {{"play_large_records", "memcpy_trace"},
                              {"play_page_records", "memcpy_trace"},
                              {"play_and_record_large", "memcpy_trace"}});
}
