// Speed of the EU's decoder, encoder and printer: instructions per second on one core, for valid words of every
// generation. The goal for the decoder is 5 million per second.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "eu/isa/decoder.h"
#include "eu/isa/encoder.h"
#include "eu/isa/printer.h"
#include "spec/device_model.h"

namespace {

using namespace halogen;

// Returns random words that are valid instructions, compact ones included if the generation has them.
std::vector<std::byte> program(spec::GenId gen, size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::byte> out;
  for (size_t found = 0; found < count;) {
    const uint64_t words[2] = {random() & random(), random() & random()};
    std::byte bytes[16];
    std::memcpy(bytes, words, 16);
    const eu::Decoded decoded = eu::decode(gen, bytes);
    if (!decoded.ok()) continue;
    out.insert(out.end(), bytes, bytes + decoded.instruction.size);
    ++found;
  }
  return out;
}

constexpr size_t kCount = 10000;

void decode_all(benchmark::State& state) {
  const auto gen = static_cast<spec::GenId>(state.range(0));
  const std::vector<std::byte> code = program(gen, kCount);
  for (auto _ : state) {
    for (size_t at = 0; at < code.size();) {
      const eu::Decoded decoded = eu::decode(gen, std::span(code).subspan(at));
      benchmark::DoNotOptimize(decoded);
      at += decoded.instruction.size;
    }
  }
  state.SetLabel(std::string(spec::name_of(gen)));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kCount));
}

std::vector<eu::Instruction> instructions(spec::GenId gen) {
  const std::vector<std::byte> code = program(gen, kCount);
  std::vector<eu::Instruction> out;
  for (size_t at = 0; at < code.size(); at += out.back().size) {
    out.push_back(eu::decode(gen, std::span(code).subspan(at)).instruction);
  }
  return out;
}

void encode_all(benchmark::State& state) {
  const auto gen = static_cast<spec::GenId>(state.range(0));
  const std::vector<eu::Instruction> all = instructions(gen);
  for (auto _ : state) {
    for (const eu::Instruction& instruction : all) {
      benchmark::DoNotOptimize(eu::encode(gen, instruction));
    }
  }
  state.SetLabel(std::string(spec::name_of(gen)));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(all.size()));
}

void print_all(benchmark::State& state) {
  const auto gen = static_cast<spec::GenId>(state.range(0));
  const std::vector<eu::Instruction> all = instructions(gen);
  for (auto _ : state) {
    for (const eu::Instruction& instruction : all) {
      benchmark::DoNotOptimize(eu::print(gen, instruction));
    }
  }
  state.SetLabel(std::string(spec::name_of(gen)));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(all.size()));
}

BENCHMARK(decode_all)->DenseRange(0, static_cast<int64_t>(spec::kGenCount) - 1);
BENCHMARK(encode_all)->Arg(0)->Arg(static_cast<int64_t>(spec::kGenCount) - 1);
BENCHMARK(print_all)->Arg(0)->Arg(static_cast<int64_t>(spec::kGenCount) - 1);

}  // namespace

BENCHMARK_MAIN();
