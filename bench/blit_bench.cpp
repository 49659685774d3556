// Speed of the BLT engine: whole commands through the ring of a Broadwell's copy engine, compared with memcpy, memset
// and pixman for the same bytes. docs/performance.md has the goals.
#include <pixman.h>

#include <cstring>
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/flat_host.h"
#include "ratios.h"

namespace {

using namespace halogen;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMemoryBytes = uint64_t{160} << 20;
constexpr uint64_t kSource = 0x200'0000, kTarget = 0x500'0000, kBits = 0x10'0000, kPattern = 0x8000;
constexpr int kWidth = 3840, kHeight = 2160, kPitch = kWidth * 4;
constexpr size_t kFrame = size_t{kPitch} * kHeight;
constexpr uint32_t kTiled = 1u << 11, kSourceTiled = 1u << 15, kAll = 3u << 20;
constexpr size_t kSmall = size_t{1} << 14;

using Dwords = std::vector<uint32_t>;

// A Broadwell whose copy engine starts a batch. Graphics addresses equal physical addresses.
struct RingBench {
  static constexpr uint32_t kWake = 0xa188, kRing = 0x2'2000;
  static constexpr uint64_t kRingAt = 0x1'0000, kBatchAt = 0x80'0000;

  explicit RingBench(const Dwords& command, size_t times = 1) {
    device = std::move(device::Device::create(*spec::find_device("bdw"), host).value());
    device->config_write(4, 2, 6);  // memory decode and bus mastering
    device->bar_write(0, kWake, 4, 0x0001'0001);
    const uint64_t table = spec::find_device("bdw")->gtt_offset;
    for (uint64_t page = 0; page < kMemoryBytes / kPage; ++page) {
      device->bar_write(0, table + 8 * page, 8, page * kPage | 1);
    }
    Dwords batch;
    for (size_t i = 0; i < times; ++i) batch.insert(batch.end(), command.begin(), command.end());
    batch.push_back(0x0500'0000);
    host.write_memory(PhysAddr{kBatchAt}, std::as_bytes(std::span(batch)));
    device->bar_write(0, kRing + 0x38, 4, kRingAt);
    device->bar_write(0, kRing + 0x3c, 4, 1);
    for (size_t i = 0; i < kFrame; i += 64) {
      at(kSource)[i] = static_cast<std::byte>(i >> 6);
      at(kTarget)[i] = std::byte{1};
    }
    for (size_t i = 0; i < 0x40'0000; ++i) at(kBits)[i] = static_cast<std::byte>(i * 37 >> 3);
  }
  void run() {
    const uint32_t start[4] = {0x1880'0001, kBatchAt, 0, 0};
    host.write_memory(PhysAddr{kRingAt + tail}, std::as_bytes(std::span(start)));
    tail = (tail + sizeof(start)) % kPage;
    device->bar_write(0, kRing + 0x30, 4, tail);
    if (!device->settle() || host.events != 0) std::abort();
  }

  std::byte* at(uint64_t address) { return host.map_memory(PhysAddr{address}, 1).data(); }

  device::FlatHost host{kMemoryBytes};
  std::unique_ptr<device::Device> device;
  uint32_t tail = 0;
};

Dwords command(uint32_t opcode, uint32_t flags, Dwords rest) {
  rest.insert(rest.begin(), 2u << 29 | opcode << 22 | flags | static_cast<uint32_t>(rest.size() - 1));
  return rest;
}
uint32_t control(uint32_t rop, uint32_t flags = 0, bool tiled = false) {
  return flags | 3u << 24 | rop << 16 | static_cast<uint32_t>(tiled ? kPitch / 4 : kPitch);
}
constexpr uint32_t kEnd = static_cast<uint32_t>(kHeight) << 16 | kWidth;

Dwords copy(uint32_t flags) {
  return command(0x53, kAll | flags,
                 {control(0xcc, 0, (flags & kTiled) != 0), 0, kEnd, kTarget, 0, 0,
                  static_cast<uint32_t>((flags & kSourceTiled) != 0 ? kPitch / 4 : kPitch), kSource, 0});
}
Dwords fill(uint32_t end) {
  return command(0x50, kAll, {control(0xf0), 0, end, kTarget, 0, 0x1234'5678});
}
Dwords full(uint32_t rop) {
  return command(0x55, kAll, {control(rop), 0, kEnd, kTarget, 0, kPitch, 0, kSource, 0, kPattern, 0});
}
Dwords mono(uint32_t flags) {
  return command(0x54, kAll, {control(0xcc, flags), 0, kEnd, kTarget, 0, kBits, 0, 0xff11'2233, 0xff44'5566});
}

void run_blits(benchmark::State& state, const Dwords& commands, size_t times) {
  RingBench machine(commands, times);
  machine.run();
  for (auto _ : state) machine.run();
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(times));
}

void copy_memory(benchmark::State& state) {
  std::vector<std::byte> source(kFrame, std::byte{1});
  std::vector<std::byte> target(kFrame);
  for (auto _ : state) {
    std::memcpy(target.data(), source.data(), kFrame);
    benchmark::ClobberMemory();
  }
}

void set_memory(benchmark::State& state) {
  std::vector<std::byte> target(kFrame);
  for (auto _ : state) {
    std::memset(target.data(), 0x5a, kFrame);
    benchmark::ClobberMemory();
  }
}

// Draws the same picture with pixman: a colour through a 1-bit mask, over a background if the mask is opaque.
void pixman_mono(benchmark::State& state, bool transparent) {
  std::vector<uint32_t> target(size_t{kWidth} * kHeight);
  std::vector<uint32_t> bits(kFrame / 128, 0x1234'5678);
  pixman_image_t* const to = pixman_image_create_bits(PIXMAN_a8r8g8b8, kWidth, kHeight, target.data(), kPitch);
  pixman_image_t* const mask = pixman_image_create_bits(PIXMAN_a1, kWidth, kHeight, bits.data(), kWidth / 8);
  const pixman_color_t ink{0x4444, 0x5555, 0x6666, 0xffff};
  const pixman_color_t paper{0x1111, 0x2222, 0x3333, 0xffff};
  pixman_image_t* const color = pixman_image_create_solid_fill(&ink);
  const pixman_box32_t whole{0, 0, kWidth, kHeight};
  for (auto _ : state) {
    if (!transparent) pixman_image_fill_boxes(PIXMAN_OP_SRC, to, &paper, 1, &whole);
    pixman_image_composite32(PIXMAN_OP_OVER, color, mask, to, 0, 0, 0, 0, 0, 0, kWidth, kHeight);
    benchmark::ClobberMemory();
  }
  pixman_image_unref(color);
  pixman_image_unref(mask);
  pixman_image_unref(to);
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const char* name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name, function, arguments...)->Repetitions(3)->MinTime(0.2);
  };
  add("memcpy", copy_memory);
  add("memset", set_memory);
  add("src_copy", run_blits, copy(0), 1);
  add("color", run_blits, fill(kEnd), 1);
  add("x_to_linear", run_blits, copy(kSourceTiled), 1);
  add("linear_to_x", run_blits, copy(kTiled), 1);
  add("rop_96", run_blits, full(0x96), 1);  // all three operands
  add("rop_ca", run_blits, full(0xca), 1);
  add("rop_5a", run_blits, full(0x5a), 1);
  add("mono", run_blits, mono(0), 1);
  add("mono_transparent", run_blits, mono(1u << 29), 1);
  add("pixman_mono", pixman_mono, false);
  add("pixman_mono_transparent", pixman_mono, true);
  add("small_fills", run_blits, fill(16u << 16 | 16), kSmall);
  Dwords small = copy(0);
  small[3] = 16u << 16 | 16;
  add("small_copies", run_blits, small, kSmall);
  return halogen::bench::run(argc, argv,
                             {{"src_copy", "memcpy"},
                              {"color", "memset"},
                              {"x_to_linear", "memcpy"},
                              {"linear_to_x", "memcpy"},
                              {"rop_96", "memcpy"},
                              {"rop_ca", "memcpy"},
                              {"rop_5a", "memcpy"},
                              {"mono", "pixman_mono"},
                              {"mono_transparent", "pixman_mono_transparent"}});
}
