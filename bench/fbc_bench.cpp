// Run-length compression of a desktop-like frame in the format of GM965 on one thread, compared with memcpy of the same
// pixels in the same run. The goal is 1 GB/s of pixels. The frame has a flat background, a task bar, windows with text
// in two colours, and a photograph that does not compress.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "display/fbc/dpfc_code.h"
#include "display/fbc/fbc_run_code.h"
#include "ratios.h"

namespace {

using namespace halogen;

constexpr uint32_t kWidth = 1280;
constexpr uint32_t kLines = 800;
constexpr size_t kLine_B = kWidth * 4;
constexpr size_t kFrame_B = kLine_B * kLines;

class Frame {
 public:
  Frame() : bytes_(kFrame_B) {
    std::mt19937 random(1);
    rectangle(0, 0, kWidth, kLines, 0x3a6ea5);
    rectangle(0, 770, kWidth, 30, 0xd4d0c8);
    rectangle(80, 60, 700, 600, 0xffffff);
    rectangle(80, 60, 700, 20, 0x0a246a);
    for (uint32_t y = 100; y < 640; ++y) {
      for (uint32_t x = 90; x < 760 && y % 16 < 11; ++x) {  // strokes of a few pixels
        if (random() % 5 == 0) {
          pixel(x, y) = 0;
        }
      }
    }
    for (uint32_t y = 300; y < 500; ++y) {
      for (uint32_t x = 900; x < 1200; ++x) {
        pixel(x, y) = static_cast<uint32_t>(random()) & 0xff'ffff;
      }
    }
    std::memcpy(bytes_.data(), pixels_.data(), kFrame_B);
  }
  std::span<const std::byte> line(uint32_t y) const { return std::span(bytes_).subspan(y * kLine_B, kLine_B); }
  const std::byte* data() const { return bytes_.data(); }

 private:
  uint32_t& pixel(uint32_t x, uint32_t y) { return pixels_[size_t{y} * kWidth + x]; }
  void rectangle(uint32_t left, uint32_t top, uint32_t width, uint32_t height, uint32_t colour) {
    for (uint32_t y = top; y < top + height; ++y) {
      for (uint32_t x = left; x < left + width; ++x) {
        pixel(x, y) = colour;
      }
    }
  }
  std::vector<uint32_t> pixels_ = std::vector<uint32_t>(size_t{kWidth} * kLines);
  std::vector<std::byte> bytes_;
};

const Frame& frame() {
  static const Frame kFrame;
  return kFrame;
}

void copy(benchmark::State& state) {
  std::vector<std::byte> into(kFrame_B);
  frame();
  for (auto _ : state) {
    std::memcpy(into.data(), frame().data(), kFrame_B);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(kFrame_B) * state.iterations());
}

void run_length_encode(benchmark::State& state) {
  std::vector<uint32_t> runs(kWidth);
  size_t total = 0;
  for (auto _ : state) {
    total = 0;
    for (uint32_t y = 0; y < kLines; ++y) {
      total += display::fbc::encode(frame().line(y), display::fbc::PixelKind::bits32, runs).value_or(0);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(kFrame_B) * state.iterations());
  state.counters["compressed_to"] = static_cast<double>(total * 4) / kFrame_B;
}

void run_length_decode(benchmark::State& state) {
  std::vector<std::vector<uint32_t>> lines;
  for (uint32_t y = 0; y < kLines; ++y) {
    lines.emplace_back(kWidth);
    lines.back().resize(
        display::fbc::encode(frame().line(y), display::fbc::PixelKind::bits32, lines.back()).value_or(0));
  }
  std::vector<std::byte> into(kLine_B);
  for (auto _ : state) {
    for (const std::vector<uint32_t>& runs : lines) {
      display::fbc::decode(runs, display::fbc::PixelKind::bits32, into);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(kFrame_B) * state.iterations());
}

void plane_code_encode(benchmark::State& state) {
  std::vector<std::byte> code(2 * kLine_B);
  size_t total = 0;
  for (auto _ : state) {
    total = 0;
    for (uint32_t y = 0; y < kLines; ++y) {
      total += display::dpfc::encode(frame().line(y), 4, 0, code).value_or(0);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(kFrame_B) * state.iterations());
  state.counters["compressed_to"] = static_cast<double>(total) / kFrame_B;
}

BENCHMARK(copy)->Repetitions(3);
BENCHMARK(run_length_encode)->Repetitions(3);
BENCHMARK(run_length_decode)->Repetitions(3);
BENCHMARK(plane_code_encode)->Repetitions(3);

}  // namespace

int main(int argc, char** argv) {
  return halogen::bench::run(
      argc, argv, {{"run_length_encode", "copy"}, {"run_length_decode", "copy"}, {"plane_code_encode", "copy"}});
}
